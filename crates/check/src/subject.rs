//! What rules look at: a record with its origin, its schemas compiled and its code read, once for
//! all rules.

use std::sync::OnceLock;

use toolwright_model::{Draft, FormatId, Function, InputSchema, Json, Toolset};
use toolwright_schema::{Schema, SchemaError};
use toolwright_script::{Goal, Script};
use toolwright_source::{Node, Origin, Pointer};

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
    schemas: OnceLock<Vec<Schemas>>,
    functions: OnceLock<Vec<Code>>,
}

/// The compiled schemas of one tool; nothing where there is none that could be compiled.
pub(crate) struct Schemas {
    pub(crate) input: Option<Result<Schema, SchemaError>>,
    pub(crate) output: Option<Result<Schema, SchemaError>>,
}

/// Which list a function stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Helper,
    Processor,
    Validator,
}

impl Role {
    /// The list it stands in, in the record.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Role::Helper => "helpers",
            Role::Processor => "processors",
            Role::Validator => "validators",
        }
    }

    /// What to call one of them.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Helper => "helper",
            Role::Processor => "processor",
            Role::Validator => "validator",
        }
    }
}

/// A piece of code of the definition, read.
pub(crate) struct Code {
    pub(crate) role: Role,
    /// Where the code stands in the record.
    pub(crate) at: Pointer,
    pub(crate) script: Script,
}

impl<'a> Subject<'a> {
    /// A subject of a reading's parts.
    pub fn new(
        format: FormatId,
        dialect: Option<&'a str>,
        toolset: &'a Toolset<Draft>,
        origin: &'a Origin,
    ) -> Subject<'a> {
        Subject { format, dialect, toolset, origin, schemas: OnceLock::new(), functions: OnceLock::new() }
    }

    /// Whether it was read from this format: conventions differ.
    pub(crate) fn is(&self, format: &str) -> bool {
        self.format.0 == format
    }

    /// The tools with their places in the record.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (Pointer, &'a Draft)> {
        let list = Pointer::root().child("tools");
        self.toolset.tools.iter().enumerate().map(move |(n, tool)| (list.child(n), tool))
    }

    /// The value of the document behind a part of the record.
    pub(crate) fn value(&self, at: &Pointer) -> Option<Node<'a>> {
        self.origin.value(at)
    }

    /// The schemas of the tools, in the order of the tools.
    pub(crate) fn schemas(&self) -> &[Schemas] {
        self.schemas.get_or_init(|| self.toolset.tools.iter().map(Schemas::compile).collect())
    }

    /// All functions that have code, in the order helpers, processors, validators.
    pub(crate) fn functions(&self) -> &[Code] {
        self.functions.get_or_init(|| {
            let knowledge = &self.toolset.knowledge;
            let orchestrator = self.orchestrator();
            let helpers = knowledge.helpers.iter().map(|helper| (Role::Helper, helper));
            let processors = knowledge.processors.iter().map(|p| (Role::Processor, &p.function));
            let validators = knowledge.validators.iter().map(|v| (Role::Validator, &v.function));
            let read = |(n, (role, function)): (usize, (Role, &'a Function))| {
                // Blank code is missing code, which its shape tells.
                let code = function.code.as_deref().filter(|code| !code.trim().is_empty())?;
                let at = place(role, n).child("function");
                let lent: &[&str] = match role {
                    Role::Helper if function.id.as_deref() == orchestrator => &["tools"],
                    Role::Processor => &["data"],
                    _ => &[],
                };
                let script = toolwright_script::read(code, Goal::Function, lent);
                Some(Code { role, at, script })
            };
            let (helpers, processors) = (helpers.enumerate(), processors.enumerate());
            helpers.chain(processors).chain(validators.enumerate()).filter_map(read).collect()
        })
    }

    /// The helper that calls other tools, if there is one.
    fn orchestrator(&self) -> Option<&'a str> {
        self.toolset.tools.iter().find_map(|tool| match &tool.details.binding {
            toolwright_model::Binding::Orchestration { helper, .. } => Some(helper.as_str()),
            _ => None,
        })
    }
}

/// Where the `n`th function of a role stands in the record.
pub(crate) fn place(role: Role, n: usize) -> Pointer {
    Pointer::root().child("knowledge").child(role.list()).child(n)
}

impl Schemas {
    fn compile(tool: &Draft) -> Schemas {
        let input = match tool.input.ok() {
            Some(InputSchema::Written(schema)) => Some(Schema::compile(schema)),
            _ => None,
        };
        let output = tool.output.ok().map(|schema: &Json| Schema::compile(schema));
        Schemas { input, output }
    }
}
