//! What rules read: one record with its origin, its format and the results of costly analyses.
//!
//! ```text
//!              ┌ toolset, origin ......... as the reader made them
//!    Subject ──┼ compiled schemas ........ per tool and side, on first use
//!              └ facts about code ........ per function, on first use
//! ```
//!
//! Compiling a schema and parsing JavaScript take far longer than anything else a rule does, and
//! several rules need the results. So the subject computes each at most once, and only if a rule
//! asks. Rules never compile or parse themselves.

use std::sync::OnceLock;

use toolwright_model::{
    Conventions, Draft, ExampleKind, FormatId, Function, InputSchema, Json, Toolset,
};
use toolwright_schema::{Schema, SchemaError, ValidationErrors};
use toolwright_script::{ParseGoal, ScriptAnalyzer, ScriptFacts};
use toolwright_source::{Node, Origin, RecordPath, ValueKind};

/// A record to be checked. It borrows everything, so it is cheap to create one for each document.
pub struct Subject<'a> {
    /// The format it was read from.
    pub format: FormatId,
    /// The version of the format, such as `2.0` for AIOS, as the reader determined it. `None` for
    /// formats without versions.
    pub dialect: Option<&'a str>,
    /// The record that the format's reader made. It may lack anything that the document lacks.
    pub toolset: &'a Toolset<Draft>,
    /// Which value of the document each part of the record was read from.
    pub origin: &'a Origin,
    /// Parses JavaScript. The caller chooses the implementation, because code from a definition is
    /// untrusted and it is the caller's decision in which process to parse it.
    analyzer: &'a dyn ScriptAnalyzer,
    /// One entry for each tool, in the order of the record.
    schemas: OnceLock<Vec<CompiledSchemas>>,
    /// All functions that have code; see [`Subject::functions`].
    functions: OnceLock<Vec<CheckedFunction<'a>>>,
}

/// The schemas of one tool, each compiled when a rule first asks for it. `None` inside a cell means
/// that the tool has no such schema.
#[derive(Default)]
pub(crate) struct CompiledSchemas {
    /// Whether the quick test found the input schema valid, which makes compiling it unnecessary.
    /// Kept because every rule about parameters asks.
    plain: OnceLock<bool>,
    input: OnceLock<Option<Result<Schema, SchemaError>>>,
    output: OnceLock<Option<Result<Schema, SchemaError>>>,
}

/// One of the two schemas of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichSchema {
    Input,
    Output,
}

impl WhichSchema {
    /// Both schemas, in the order in which their findings are reported.
    pub(crate) const BOTH: [WhichSchema; 2] = [WhichSchema::Input, WhichSchema::Output];

    /// The name of the schema in the record, and in most formats.
    pub(crate) fn name(self) -> &'static str {
        match self {
            WhichSchema::Input => "inputSchema",
            WhichSchema::Output => "outputSchema",
        }
    }

    /// The schema as it was written. `None` if the document has no such schema, if its value cannot
    /// be a schema at all (the shape reports that), or if a server will supply it later.
    pub(crate) fn written(self, tool: &Draft) -> Option<&Json> {
        match self {
            WhichSchema::Input => match tool.input.ok()? {
                InputSchema::Written(schema) => Some(schema),
                InputSchema::Deferred => None,
            },
            WhichSchema::Output => tool.output.ok(),
        }
    }
}

/// One of the three lists of functions under `executable_knowledge` of an AIOS tool. The list
/// decides which names the sandbox gives to the code and what the code must return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionList {
    Helper,
    Processor,
    Validator,
}

impl FunctionList {
    /// The key of the list in the record.
    pub(crate) fn list(self) -> &'static str {
        match self {
            FunctionList::Helper => "helpers",
            FunctionList::Processor => "processors",
            FunctionList::Validator => "validators",
        }
    }

    /// What messages call a function of this list.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FunctionList::Helper => "helper",
            FunctionList::Processor => "processor",
            FunctionList::Validator => "validator",
        }
    }
}

/// The position of a tool in the record. Pointers allocate, and most tools break no rule, so rules
/// carry this number and make a pointer only to report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolPath(pub(crate) usize);

impl ToolPath {
    /// The pointer to the tool itself.
    pub(crate) fn pointer(self) -> RecordPath {
        RecordPath::path(&[&"tools", &self.0])
    }

    /// The pointer to a part of the tool, such as `name`.
    pub(crate) fn child(self, part: &str) -> RecordPath {
        RecordPath::path(&[&"tools", &self.0, &part])
    }
}

/// A function of the definition that has code, with what the analyzer found in the code.
pub(crate) struct CheckedFunction<'a> {
    /// The list that the function belongs to.
    pub(crate) role: FunctionList,
    /// The id as it is written; the shape reports a missing one.
    pub(crate) id: Option<&'a str>,
    /// The pointer to the code, which is a text. Findings add a range inside that text.
    pub(crate) at: RecordPath,
    /// Syntax errors, forbidden calls, free names and the entry point.
    pub(crate) script: ScriptFacts,
}

impl<'a> Subject<'a> {
    /// A subject made of the parts of a `formats::Reading`. Computes nothing yet.
    pub fn new(
        format: FormatId,
        dialect: Option<&'a str>,
        toolset: &'a Toolset<Draft>,
        origin: &'a Origin,
        analyzer: &'a dyn ScriptAnalyzer,
    ) -> Subject<'a> {
        Subject {
            format,
            dialect,
            toolset,
            origin,
            analyzer,
            schemas: OnceLock::new(),
            functions: OnceLock::new(),
        }
    }

    /// What the format of the record demands of names, examples and schemas.
    pub(crate) fn conventions(&self) -> &'static Conventions {
        self.toolset.conventions
    }

    /// Whether the record was read from this format. Only for rules about sections that no other
    /// format has; a difference between formats belongs in [`Subject::conventions`].
    pub(crate) fn is_format(&self, format: &str) -> bool {
        self.format.0 == format
    }

    /// Whether the format's examples are scenarios (AIOS) and not plain calls with results.
    pub(crate) fn has_scenarios(&self) -> bool {
        self.conventions().examples == ExampleKind::Scenarios
    }

    /// The tools with their positions in the record.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (ToolPath, &'a Draft)> + use<'a> {
        self.toolset.tools.iter().enumerate().map(|(n, tool)| (ToolPath(n), tool))
    }

    /// The value of the document that a part of the record was read from. This is the one way for
    /// a rule to see the document: for what the record does not hold, such as a section that is
    /// present but empty, or a value of a wrong type.
    pub(crate) fn document_value(&self, at: &RecordPath) -> Option<Node<'a>> {
        self.origin.value(at)
    }

    /// A compiled schema of the `n`th tool, or why it cannot be compiled. `None` if the tool has no
    /// such schema. Prefer [`Subject::is_good`], which usually avoids the compilation.
    pub(crate) fn schema(
        &self,
        n: usize,
        which: WhichSchema,
    ) -> Option<&Result<Schema, SchemaError>> {
        let (schemas, tool) = (self.cells().get(n)?, self.toolset.tools.get(n)?);
        let cell = match which {
            WhichSchema::Input => &schemas.input,
            WhichSchema::Output => &schemas.output,
        };
        cell.get_or_init(|| which.written(tool).map(Schema::compile)).as_ref()
    }

    /// Whether the `n`th tool has this schema and it is valid. Compiling takes several times as
    /// long as reading the tool, so a quick test comes first that accepts nearly all valid schemas
    /// and no invalid one.
    pub(crate) fn is_good(&self, n: usize, which: WhichSchema) -> bool {
        let Some(schema) = self.toolset.tools.get(n).and_then(|tool| which.written(tool)) else {
            return false;
        };
        let is_plain = match which {
            WhichSchema::Input => *self.cells()[n]
                .plain
                .get_or_init(|| toolwright_schema::is_certainly_valid_schema(schema)),
            WhichSchema::Output => toolwright_schema::is_certainly_valid_schema(schema),
        };
        is_plain || matches!(self.schema(n, which), Some(Ok(_)))
    }

    /// The errors of an instance against a schema of the `n`th tool. `None` if the instance is
    /// valid, or if there is no valid schema: the schema itself is reported then, by
    /// `INVALID_SCHEMA`.
    pub(crate) fn failures(
        &self,
        n: usize,
        which: WhichSchema,
        instance: &Json,
    ) -> Option<ValidationErrors> {
        let schema = which.written(self.toolset.tools.get(n)?)?;
        if self.is_good(n, which)
            && toolwright_schema::is_certainly_valid_instance(schema, instance)
        {
            return None;
        }
        self.schema(n, which)?.as_ref().ok()?.validate(instance).err()
    }

    /// The cells for all tools, created empty on first use.
    fn cells(&self) -> &[CompiledSchemas] {
        self.schemas
            .get_or_init(|| self.toolset.tools.iter().map(|_| CompiledSchemas::default()).collect())
    }

    /// All functions that have code, in the order helpers, processors, validators. The first call
    /// analyzes all of them; documents without functions pay nothing.
    pub(crate) fn functions(&self) -> &[CheckedFunction<'a>] {
        self.functions.get_or_init(|| {
            let knowledge = &self.toolset.knowledge;
            let helpers = knowledge.helpers.iter().map(|helper| (FunctionList::Helper, helper));
            let processors =
                knowledge.processors.iter().map(|p| (FunctionList::Processor, &p.function));
            let validators =
                knowledge.validators.iter().map(|v| (FunctionList::Validator, &v.function));
            let read = |(n, (role, function)): (usize, (FunctionList, &'a Function))| {
                // Blank code counts as missing code, which the table of fields reports.
                let code = function.code.as_deref().filter(|code| !code.trim().is_empty())?;
                let at = place(role, n).child("function");
                // Names that the runner defines around the code (AIOS: a processor receives `data`
                // and `fields`, the orchestration of a meta tool calls `tools`).
                let lent: &[&str] = match role {
                    FunctionList::Helper if self.is_orchestrator(function.id.as_deref()) => {
                        &["tools"]
                    }
                    FunctionList::Processor => &["data", "fields"],
                    _ => &[],
                };
                let script = self.analyzer.analyze(code, ParseGoal::Function, lent);
                Some(CheckedFunction { role, id: function.id.as_deref(), at, script })
            };
            let (helpers, processors) = (helpers.enumerate(), processors.enumerate());
            helpers.chain(processors).chain(validators.enumerate()).filter_map(read).collect()
        })
    }

    /// Whether a helper is the one that calls the other tools of a meta tool. This reads the
    /// section as it is written and not the binding of the tool, because a tool with a misspelled
    /// `type` has no binding, but its code uses `tools` all the same. If `orchestration` is there
    /// and is not a text, every helper counts, so that no rule blames code for a mistake elsewhere.
    fn is_orchestrator(&self, id: Option<&str>) -> bool {
        let section = RecordPath::root().child("meta_specific");
        let Some(written) = self.document_value(&section) else { return false };
        match written.get("orchestration").and_then(Node::text) {
            Some(named) => {
                id.is_some_and(|id| named.strip_prefix("helpers.").unwrap_or(named) == id)
            }
            None => written.kind() != ValueKind::Map || written.has("orchestration"),
        }
    }
}

/// The pointer to the `n`th function of a list.
pub(crate) fn place(role: FunctionList, n: usize) -> RecordPath {
    RecordPath::path(&[&"knowledge", &role.list(), &n])
}
