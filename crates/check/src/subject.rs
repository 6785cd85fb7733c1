//! What rules look at: a record with its origin, its schemas compiled and its code read, once for
//! all rules.

use std::sync::OnceLock;

use toolwright_model::{Draft, FormatId, Function, InputSchema, Json, Toolset};
use toolwright_schema::{Failures, Schema, SchemaError};
use toolwright_script::{ParseGoal, ScriptFacts};
use toolwright_source::{Kind, Node, Origin, Pointer};

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
    functions: OnceLock<Vec<Code<'a>>>,
}

/// The schemas of one tool, compiled when somebody asks.
#[derive(Default)]
pub(crate) struct Schemas {
    /// Whether the input schema is good at a glance; several rules ask.
    plain: OnceLock<bool>,
    input: OnceLock<Option<Result<Schema, SchemaError>>>,
    output: OnceLock<Option<Result<Schema, SchemaError>>>,
}

/// Which schema of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Input,
    Output,
}

impl Which {
    /// Both.
    pub(crate) const BOTH: [Which; 2] = [Which::Input, Which::Output];

    /// What it is called in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Which::Input => "inputSchema",
            Which::Output => "outputSchema",
        }
    }

    /// The schema as it was written; nothing if there is none, or none that is one.
    pub(crate) fn written(self, tool: &Draft) -> Option<&Json> {
        match self {
            Which::Input => match tool.input.ok()? {
                InputSchema::Written(schema) => Some(schema),
                InputSchema::Deferred => None,
            },
            Which::Output => tool.output.ok(),
        }
    }
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

/// Where a tool stands in the record, by its number. Most rules ask for no pointer at all: nothing
/// is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolPlace(pub(crate) usize);

impl ToolPlace {
    /// The place of the tool itself.
    pub(crate) fn pointer(self) -> Pointer {
        Pointer::path(&[&"tools", &self.0])
    }

    /// The place of a part of it.
    pub(crate) fn child(self, part: &str) -> Pointer {
        Pointer::path(&[&"tools", &self.0, &part])
    }
}

/// A piece of code of the definition, read.
pub(crate) struct Code<'a> {
    pub(crate) role: Role,
    pub(crate) id: Option<&'a str>,
    /// Where the code stands in the record.
    pub(crate) at: Pointer,
    pub(crate) script: ScriptFacts,
}

impl<'a> Subject<'a> {
    /// A subject of a reading's parts.
    pub fn new(
        format: FormatId,
        dialect: Option<&'a str>,
        toolset: &'a Toolset<Draft>,
        origin: &'a Origin,
    ) -> Subject<'a> {
        Subject {
            format,
            dialect,
            toolset,
            origin,
            schemas: OnceLock::new(),
            functions: OnceLock::new(),
        }
    }

    /// Whether it was read from this format: conventions differ.
    pub(crate) fn is(&self, format: &str) -> bool {
        self.format.0 == format
    }

    /// The tools with their places in the record.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (ToolPlace, &'a Draft)> + use<'a> {
        self.toolset.tools.iter().enumerate().map(|(n, tool)| (ToolPlace(n), tool))
    }

    /// The value of the document behind a part of the record.
    pub(crate) fn value(&self, at: &Pointer) -> Option<Node<'a>> {
        self.origin.value(at)
    }

    /// A schema of the `n`th tool, compiled; nothing if there is none.
    pub(crate) fn schema(&self, n: usize, which: Which) -> Option<&Result<Schema, SchemaError>> {
        let (schemas, tool) = (self.cells().get(n)?, self.toolset.tools.get(n)?);
        let cell = match which {
            Which::Input => &schemas.input,
            Which::Output => &schemas.output,
        };
        cell.get_or_init(|| which.written(tool).map(Schema::compile)).as_ref()
    }

    /// Whether a schema of the `n`th tool is one. Compiling it takes several times as long as
    /// reading the tool, so that is done only where it must be.
    pub(crate) fn is_good(&self, n: usize, which: Which) -> bool {
        let Some(schema) = self.toolset.tools.get(n).and_then(|tool| which.written(tool)) else {
            return false;
        };
        let is_plain = match which {
            Which::Input => {
                *self.cells()[n].plain.get_or_init(|| toolwright_schema::is_plain(schema))
            }
            Which::Output => toolwright_schema::is_plain(schema),
        };
        is_plain || matches!(self.schema(n, which), Some(Ok(_)))
    }

    /// How an instance fails a schema of the `n`th tool; nothing if it does not, or if there is no
    /// good schema to fail.
    pub(crate) fn failures(&self, n: usize, which: Which, instance: &Json) -> Option<Failures> {
        let schema = which.written(self.toolset.tools.get(n)?)?;
        if self.is_good(n, which) && toolwright_schema::is_plainly_valid(schema, instance) {
            return None;
        }
        self.schema(n, which)?.as_ref().ok()?.validate(instance).err()
    }

    fn cells(&self) -> &[Schemas] {
        self.schemas.get_or_init(|| self.toolset.tools.iter().map(|_| Schemas::default()).collect())
    }

    /// All functions that have code, in the order helpers, processors, validators.
    pub(crate) fn functions(&self) -> &[Code<'a>] {
        self.functions.get_or_init(|| {
            let knowledge = &self.toolset.knowledge;
            let helpers = knowledge.helpers.iter().map(|helper| (Role::Helper, helper));
            let processors = knowledge.processors.iter().map(|p| (Role::Processor, &p.function));
            let validators = knowledge.validators.iter().map(|v| (Role::Validator, &v.function));
            let read = |(n, (role, function)): (usize, (Role, &'a Function))| {
                // Blank code is missing code, which its shape tells.
                let code = function.code.as_deref().filter(|code| !code.trim().is_empty())?;
                let at = place(role, n).child("function");
                let lent: &[&str] = match role {
                    Role::Helper if self.is_orchestrator(function.id.as_deref()) => &["tools"],
                    Role::Processor => &["data", "fields"],
                    _ => &[],
                };
                let script = toolwright_script::read(code, ParseGoal::Function, lent);
                Some(Code { role, id: function.id.as_deref(), at, script })
            };
            let (helpers, processors) = (helpers.enumerate(), processors.enumerate());
            helpers.chain(processors).chain(validators.enumerate()).filter_map(read).collect()
        })
    }

    /// Whether a helper is the one that calls other tools. What names it is looked at as it is
    /// written: a tool whose type is wrong has the same code. Where the name cannot be read, it may
    /// be any.
    fn is_orchestrator(&self, id: Option<&str>) -> bool {
        let section = Pointer::root().child("meta_specific");
        let Some(written) = self.value(&section) else { return false };
        match written.get("orchestration").and_then(Node::text) {
            Some(named) => {
                id.is_some_and(|id| named.strip_prefix("helpers.").unwrap_or(named) == id)
            }
            None => written.kind() != Kind::Map || written.has("orchestration"),
        }
    }
}

/// Where the `n`th function of a role stands in the record.
pub(crate) fn place(role: Role, n: usize) -> Pointer {
    Pointer::path(&[&"knowledge", &role.list(), &n])
}
