//! What rules look at: a record with its origin, its schemas compiled and its code read, once for
//! all rules.

use std::sync::OnceLock;

use toolwright_model::{
    Conventions, Draft, ExampleKind, FormatId, Function, InputSchema, Json, Toolset,
};
use toolwright_schema::{Schema, SchemaError, ValidationErrors};
use toolwright_script::{ParseGoal, ScriptAnalyzer, ScriptFacts};
use toolwright_source::{Node, Origin, RecordPath, ValueKind};

/// A record to be checked.
pub struct Subject<'a> {
    /// The format it was read from.
    pub format: FormatId,
    /// The format's own version, where the document or its features tell.
    pub dialect: Option<&'a str>,
    /// The record.
    pub toolset: &'a Toolset<Draft>,
    /// Where its parts come from.
    pub origin: &'a Origin,
    analyzer: &'a dyn ScriptAnalyzer,
    schemas: OnceLock<Vec<CompiledSchemas>>,
    functions: OnceLock<Vec<CheckedFunction<'a>>>,
}

/// The schemas of one tool, compiled when somebody asks.
#[derive(Default)]
pub(crate) struct CompiledSchemas {
    /// Whether the input schema is good at a glance; several rules ask.
    plain: OnceLock<bool>,
    input: OnceLock<Option<Result<Schema, SchemaError>>>,
    output: OnceLock<Option<Result<Schema, SchemaError>>>,
}

/// WhichSchema schema of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichSchema {
    Input,
    Output,
}

impl WhichSchema {
    /// Both.
    pub(crate) const BOTH: [WhichSchema; 2] = [WhichSchema::Input, WhichSchema::Output];

    /// What it is called in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            WhichSchema::Input => "inputSchema",
            WhichSchema::Output => "outputSchema",
        }
    }

    /// The schema as it was written; nothing if there is none, or none that is one.
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

/// WhichSchema list a function stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionList {
    Helper,
    Processor,
    Validator,
}

impl FunctionList {
    /// The list it stands in, in the record.
    pub(crate) fn list(self) -> &'static str {
        match self {
            FunctionList::Helper => "helpers",
            FunctionList::Processor => "processors",
            FunctionList::Validator => "validators",
        }
    }

    /// What to call one of them.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FunctionList::Helper => "helper",
            FunctionList::Processor => "processor",
            FunctionList::Validator => "validator",
        }
    }
}

/// Where a tool stands in the record, by its number. Most rules ask for no pointer at all: nothing
/// is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolPath(pub(crate) usize);

impl ToolPath {
    /// The place of the tool itself.
    pub(crate) fn pointer(self) -> RecordPath {
        RecordPath::path(&[&"tools", &self.0])
    }

    /// The place of a part of it.
    pub(crate) fn child(self, part: &str) -> RecordPath {
        RecordPath::path(&[&"tools", &self.0, &part])
    }
}

/// A piece of code of the definition, read.
pub(crate) struct CheckedFunction<'a> {
    pub(crate) role: FunctionList,
    pub(crate) id: Option<&'a str>,
    /// Where the code stands in the record.
    pub(crate) at: RecordPath,
    pub(crate) script: ScriptFacts,
}

impl<'a> Subject<'a> {
    /// A subject of a reading's parts.
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

    /// What its format demands of names, examples and schemas.
    pub(crate) fn conventions(&self) -> &'static Conventions {
        self.toolset.conventions
    }

    /// Whether it was read from this format. Only rules about sections that no other format has ask
    /// this; everything else is in [`Subject::conventions`].
    pub(crate) fn is_format(&self, format: &str) -> bool {
        self.format.0 == format
    }

    /// Whether its examples are scenarios that validators judge.
    pub(crate) fn has_scenarios(&self) -> bool {
        self.conventions().examples == ExampleKind::Scenarios
    }

    /// The tools with their places in the record.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (ToolPath, &'a Draft)> + use<'a> {
        self.toolset.tools.iter().enumerate().map(|(n, tool)| (ToolPath(n), tool))
    }

    /// The value of the document that a part of the record was read from. This is the one way for
    /// a rule to see the document: for what the record does not hold, such as a section that is
    /// present but empty, or a value of a wrong type.
    pub(crate) fn document_value(&self, at: &RecordPath) -> Option<Node<'a>> {
        self.origin.value(at)
    }

    /// A schema of the `n`th tool, compiled; nothing if there is none.
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

    /// Whether a schema of the `n`th tool is one. Compiling it takes several times as long as
    /// reading the tool, so that is done only where it must be.
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

    /// How an instance fails a schema of the `n`th tool; nothing if it does not, or if there is no
    /// good schema to fail.
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

    fn cells(&self) -> &[CompiledSchemas] {
        self.schemas
            .get_or_init(|| self.toolset.tools.iter().map(|_| CompiledSchemas::default()).collect())
    }

    /// All functions that have code, in the order helpers, processors, validators.
    pub(crate) fn functions(&self) -> &[CheckedFunction<'a>] {
        self.functions.get_or_init(|| {
            let knowledge = &self.toolset.knowledge;
            let helpers = knowledge.helpers.iter().map(|helper| (FunctionList::Helper, helper));
            let processors =
                knowledge.processors.iter().map(|p| (FunctionList::Processor, &p.function));
            let validators =
                knowledge.validators.iter().map(|v| (FunctionList::Validator, &v.function));
            let read = |(n, (role, function)): (usize, (FunctionList, &'a Function))| {
                // Blank code is missing code, which its shape tells.
                let code = function.code.as_deref().filter(|code| !code.trim().is_empty())?;
                let at = place(role, n).child("function");
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

    /// Whether a helper is the one that calls other tools. What names it is looked at as it is
    /// written: a tool whose type is wrong has the same code. Where the name cannot be read, it may
    /// be any.
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

/// Where the `n`th function of a role stands in the record.
pub(crate) fn place(role: FunctionList, n: usize) -> RecordPath {
    RecordPath::path(&[&"knowledge", &role.list(), &n])
}
