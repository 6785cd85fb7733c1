//! What rules read: one record with its origin, its format and the results of costly analyses.
//!
//! ```text
//!              ┌ toolset, origin ......... as the reader made them
//!    Subject ──┼ compiled schemas ........ per tool and side, on first use
//!              └ facts about code ........ of all functions, before the rules run
//! ```
//!
//! Compiling a schema and parsing JavaScript take far longer than anything else a rule does, and
//! several rules need the results. So each is computed once: schemas if a rule asks, facts about
//! code for many documents at a time, because the analyzer works in another process. Rules never
//! compile or parse themselves.

use std::sync::OnceLock;

use toolwright_model::{Conventions, Draft, ExampleKind, Function, InputSchema, Json, Toolset};
use toolwright_schema::{Schema, SchemaError, SchemaSide, TargetSet, ValidationErrors};
use toolwright_script::{ParseGoal, ScriptAnalyzer, ScriptFacts, ScriptSource};
use toolwright_source::{Document, Finding, Node, Origin, RecordFinding, RecordPath, ValueKind};

use crate::report::Report;
use crate::rule::RuleScope;

/// A record to be checked. It borrows everything, so it is cheap to create one for each document.
///
/// Rules ask it and nothing else, so a test can make one from any text; see `testing`.
pub struct Subject<'a> {
    /// The version of the format, such as `2.0` for AIOS, as the reader determined it. `None` for
    /// formats without versions.
    pub dialect: Option<&'a str>,
    /// The record that the format's reader made. It may lack anything that the document lacks.
    pub toolset: &'a Toolset<Draft>,
    /// Which value of the document each part of the record was read from.
    origin: &'a Origin,
    /// The APIs that the tools are going to be sent to.
    targets: TargetSet,
    /// Whether other documents could define what this one names, and were not read.
    pub(crate) is_beside_unread: bool,
    /// One entry for each tool, in the order of the record.
    schemas: OnceLock<Vec<CompiledSchemas>>,
    /// Set by [`analyze_functions`].
    functions: OnceLock<Vec<CheckedFunction<'a>>>,
}

/// The schemas of one tool, each compiled when a rule first asks for it. `None` inside a cell means
/// that the tool has no such schema. Cells, because rules have a shared reference.
#[derive(Default)]
pub(crate) struct CompiledSchemas {
    /// Whether the quick test found the input schema valid, and the output schema, which makes
    /// compiling it unnecessary. Kept because several rules ask.
    plain: [OnceLock<bool>; 2],
    input: OnceLock<Option<Result<Schema, SchemaError>>>,
    output: OnceLock<Option<Result<Schema, SchemaError>>>,
}

/// A schema as it was written. `None` if the document has no such schema, if its value cannot be a
/// schema at all (the shape reports that), or if a server will supply it later. Also used where a
/// schema is compared or walked without compiling it.
pub(crate) fn written_schema(tool: &Draft, side: SchemaSide) -> Option<&Json> {
    match side {
        SchemaSide::Input => match tool.input.ok()? {
            InputSchema::Written(schema) => Some(schema),
            InputSchema::Deferred => None,
        },
        SchemaSide::Output => tool.output.ok(),
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

/// The same before the analyzer has seen it.
struct UnreadFunction<'a> {
    role: FunctionList,
    id: Option<&'a str>,
    at: RecordPath,
    code: &'a str,
    /// Names that exist for this code beside those of the sandbox.
    provided: &'static [&'static str],
}

/// Analyzes the functions of all subjects with one call of the analyzer. Documents without
/// functions cost nothing.
pub(crate) fn analyze_functions(subjects: &[Subject<'_>], analyzer: &dyn ScriptAnalyzer) {
    let unread: Vec<Vec<UnreadFunction<'_>>> =
        subjects.iter().map(|subject| subject.unread_functions().collect()).collect();
    let source = |(document, functions)| {
        let functions: &Vec<UnreadFunction<'_>> = functions;
        functions.iter().map(move |UnreadFunction { code, provided, .. }| ScriptSource {
            code,
            goal: ParseGoal::Function,
            provided,
            document,
        })
    };
    let sources: Vec<ScriptSource<'_>> = unread.iter().enumerate().flat_map(source).collect();
    if sources.is_empty() {
        return;
    }
    let mut facts = analyzer.analyze_all(&sources).into_iter();
    for (subject, functions) in subjects.iter().zip(unread) {
        let read = |UnreadFunction { role, id, at, .. }| {
            let script = facts.next().expect("facts about each script");
            CheckedFunction { role, id, at, script }
        };
        // A subject that was checked before keeps its facts.
        let _ = subject.functions.set(functions.into_iter().map(read).collect());
    }
}

impl<'a> Subject<'a> {
    /// A subject made of the parts of a `formats::Reading`. Computes nothing yet.
    pub fn new(
        dialect: Option<&'a str>,
        toolset: &'a Toolset<Draft>,
        origin: &'a Origin,
    ) -> Subject<'a> {
        Subject {
            dialect,
            toolset,
            origin,
            targets: TargetSet::default(),
            is_beside_unread: false,
            schemas: OnceLock::new(),
            functions: OnceLock::new(),
        }
    }

    /// The same subject, to be checked for these targets as well.
    #[must_use]
    pub fn for_targets(mut self, targets: TargetSet) -> Subject<'a> {
        self.targets = targets;
        self
    }

    /// The same subject, beside documents that were not read.
    #[must_use]
    pub fn beside_unread(mut self, is_beside_unread: bool) -> Subject<'a> {
        self.is_beside_unread = is_beside_unread;
        self
    }

    /// The APIs that the tools are going to be sent to; none if the user named none.
    pub(crate) fn targets(&self) -> TargetSet {
        self.targets
    }

    /// What the format of the record demands of names, examples and schemas.
    pub(crate) fn conventions(&self) -> &'static Conventions {
        self.toolset.conventions
    }

    /// Whether the document has the sections of an AIOS tool; see [`Conventions`].
    pub(crate) fn has_typed_sections(&self) -> bool {
        self.conventions().has_typed_sections
    }

    /// Whether the format's examples are scenarios (AIOS) and not plain calls with results.
    pub(crate) fn has_scenarios(&self) -> bool {
        self.conventions().examples == ExampleKind::Scenarios
    }

    /// The tools with their positions in the record.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (ToolPath, &'a Draft)> + use<'a> {
        self.toolset.tools.iter().enumerate().map(|(n, tool)| (ToolPath(n), tool))
    }

    /// The value of the document that a part of the record was read from, for what the record does
    /// not hold: a section that is present but empty, or a value of a wrong type. `None` if the
    /// reader made the part up or inherited it, which is how rules recognise what its author did
    /// not write.
    pub(crate) fn document_value(&self, at: &RecordPath) -> Option<Node<'a>> {
        self.origin.value(at)
    }

    /// The whole document. Only for the rules about texts, which also read what no format defines.
    /// All others ask for single values, by [`Subject::document_value`].
    pub(crate) fn document(&self) -> &'a Document {
        self.origin.document()
    }

    /// The name of the file, for messages about several documents.
    pub(crate) fn file_name(&self) -> &'a str {
        self.document().source().name()
    }

    /// Whether it is what a server or a program answered.
    pub(crate) fn is_answer(&self) -> bool {
        self.document().source().is_answer()
    }

    /// Whether a syntax error ended the reading inside this part of the record. What seems to be
    /// missing there may follow in the text that was not read, so rules about missing things stay
    /// silent.
    pub(crate) fn is_unfinished(&self, at: &RecordPath) -> bool {
        self.document_value(at).is_some_and(|node| self.document().is_unfinished(node))
    }

    /// An empty report about this document.
    pub(crate) fn report(&self, scope: RuleScope) -> Report<'a> {
        Report::new(self.origin, scope)
    }

    /// A finding about the record as one about the document.
    pub(crate) fn in_document(&self, finding: RecordFinding) -> Finding {
        self.origin.in_document(finding)
    }

    /// A compiled schema of a tool, or why it cannot be compiled. `None` if the tool has no such
    /// schema. Prefer [`Subject::has_valid_schema`], which usually avoids the compilation.
    pub(crate) fn schema(
        &self,
        tool_index: usize,
        side: SchemaSide,
    ) -> Option<&Result<Schema, SchemaError>> {
        let (schemas, tool) = (self.cells().get(tool_index)?, self.toolset.tools.get(tool_index)?);
        let cell = match side {
            SchemaSide::Input => &schemas.input,
            SchemaSide::Output => &schemas.output,
        };
        cell.get_or_init(|| written_schema(tool, side).map(Schema::compile)).as_ref()
    }

    /// Whether a tool has this schema and it is valid. Compiling takes several times as
    /// long as reading the tool, so a quick test comes first that accepts nearly all valid schemas
    /// and no invalid one.
    pub(crate) fn has_valid_schema(&self, tool_index: usize, side: SchemaSide) -> bool {
        let tool = self.toolset.tools.get(tool_index);
        let Some(schema) = tool.and_then(|tool| written_schema(tool, side)) else {
            return false;
        };
        let is_plain = *self.cells()[tool_index].plain[usize::from(side == SchemaSide::Output)]
            .get_or_init(|| toolwright_schema::is_certainly_valid_schema(schema));
        is_plain || matches!(self.schema(tool_index, side), Some(Ok(_)))
    }

    /// The errors of an instance against a schema of a tool. `None` if the instance is
    /// valid, or if there is no valid schema: the schema itself is reported then, by
    /// `INVALID_SCHEMA`.
    pub(crate) fn failures(
        &self,
        tool_index: usize,
        side: SchemaSide,
        instance: &Json,
    ) -> Option<ValidationErrors> {
        let schema = written_schema(self.toolset.tools.get(tool_index)?, side)?;
        if self.has_valid_schema(tool_index, side)
            && toolwright_schema::is_certainly_valid_instance(schema, instance)
        {
            return None;
        }
        self.schema(tool_index, side)?.as_ref().ok()?.validate(instance).err()
    }

    /// The cells for all tools, created empty on first use.
    fn cells(&self) -> &[CompiledSchemas] {
        self.schemas
            .get_or_init(|| self.toolset.tools.iter().map(|_| CompiledSchemas::default()).collect())
    }

    /// All functions that have code, in the order helpers, processors, validators. Empty until
    /// [`analyze_functions`] has run.
    pub(crate) fn functions(&self) -> &[CheckedFunction<'a>] {
        self.functions.get().map_or(&[], Vec::as_slice)
    }

    /// The functions that have code, without facts about it, and what the analyzer needs.
    ///
    /// The position `n` counts the whole list, also functions without code, so that pointers are
    /// right.
    fn unread_functions(&self) -> impl Iterator<Item = UnreadFunction<'a>> {
        let knowledge = &self.toolset.knowledge;
        let helpers = knowledge.helpers.iter().map(|helper| (FunctionList::Helper, helper));
        let processors =
            knowledge.processors.iter().map(|p| (FunctionList::Processor, &p.function));
        let validators =
            knowledge.validators.iter().map(|v| (FunctionList::Validator, &v.function));
        let unread = |(n, (role, function)): (usize, (FunctionList, &'a Function))| {
            // Blank code counts as missing code, which the table of fields reports.
            let code = function.code.as_deref().filter(|code| !code.trim().is_empty())?;
            // Names that the runner defines around the code (AIOS: a processor receives `data` and
            // `fields`, the orchestration of a meta tool `tools` and `command`; all see `helpers`).
            let provided: &[&str] = match role {
                _ if knowledge.helpers.is_empty() => match role {
                    FunctionList::Processor => &["data", "fields"],
                    _ => &[],
                },
                FunctionList::Helper if self.is_orchestrator(function.id.as_deref()) => {
                    &["command", "helpers", "tools"]
                }
                FunctionList::Processor => &["data", "fields", "helpers"],
                _ => &["helpers"],
            };
            let at = function_path(role, n).child("function");
            Some(UnreadFunction { role, id: function.id.as_deref(), at, code, provided })
        };
        let (helpers, processors) = (helpers.enumerate(), processors.enumerate());
        helpers.chain(processors).chain(validators.enumerate()).filter_map(unread)
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
pub(crate) fn function_path(role: FunctionList, n: usize) -> RecordPath {
    RecordPath::path(&[&"knowledge", &role.list(), &n])
}
