//! Knowledge: what an aios definition adds to the schemas of its tools, as code and as prose.
//!
//! ```text
//! arguments ─▶ validators ─▶ request processors ─▶ call ─▶ response processors ─▶ result
//!                                                          payload schemas, field mappings
//! ```
//!
//! `exec::knowledge` runs the functions around a call, in the sandbox. Quirks and anti-patterns are
//! prose for the model and are never run; `agent_text` is how it gets to read them.
//!
//! Fields are optional, although the specification requires many of them: items keep what could be
//! read, so that a helper without an id still has its code checked.

use crate::{Json, Object};

/// How the knowledge about a toolset is given to agents (see `agent_text`). It has no effect on
/// calls: functions run in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnowledgeStrategy {
    /// In the descriptions of the tools.
    #[default]
    Embedded,
    /// As a document, which the descriptions name.
    External,
    /// In short in the descriptions, and as a whole as a document.
    Hybrid,
    /// Only by the functions of the definition, when they refuse a call.
    Executable,
    /// Not at all.
    None,
}

impl KnowledgeStrategy {
    /// All variants, to find one by its name.
    pub const ALL: [KnowledgeStrategy; 5] = [
        KnowledgeStrategy::Embedded,
        KnowledgeStrategy::External,
        KnowledgeStrategy::Hybrid,
        KnowledgeStrategy::Executable,
        KnowledgeStrategy::None,
    ];

    /// The name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            KnowledgeStrategy::Embedded => "embedded",
            KnowledgeStrategy::External => "external",
            KnowledgeStrategy::Hybrid => "hybrid",
            KnowledgeStrategy::Executable => "executable",
            KnowledgeStrategy::None => "none",
        }
    }
}

/// All knowledge of a toolset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// How it is given to agents.
    pub strategy: KnowledgeStrategy,
    /// Functions that other functions call, as `helpers.ID`.
    pub helpers: Vec<Function>,
    /// Functions that change arguments or results.
    pub processors: Vec<Processor>,
    /// Functions that refuse bad arguments before a call.
    pub validators: Vec<Validator>,
    /// The shapes that a result may have, in the order in which they are tried.
    pub payload_schemas: Vec<PayloadSchema>,
    /// Fields of a result that need a helper to be read.
    pub field_mappings: Vec<FieldMapping>,
    /// Unexpected behaviour of the API behind the tools.
    pub quirks: Vec<Quirk>,
    /// Mistakes that callers have made.
    pub anti_patterns: Vec<AntiPattern>,
}

/// A function, in JavaScript unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// The id, unique among functions of the same list.
    pub id: Option<String>,
    /// The language that its author names.
    pub language: Option<String>,
    /// What it does, for people.
    pub description: Option<String>,
    /// JavaScript, as the definition has it. `None` if it is missing, which is a finding.
    pub code: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}

impl Function {
    /// The language of the code, if it is not JavaScript: such a function is never run. A
    /// definition that names no language means JavaScript.
    pub fn foreign_language(&self) -> Option<&str> {
        let is_javascript =
            |name: &&str| ["javascript", "js"].iter().any(|known| name.eq_ignore_ascii_case(known));
        self.language.as_deref().map(str::trim).filter(|name| !is_javascript(name))
    }
}

/// Which data of a call a processor changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessorStage {
    /// The arguments, before the call.
    Request,
    /// The result, after the call.
    #[default]
    Response,
}

/// A function that changes arguments or results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// Its id and its code, which gets `data` and `fields` and returns the new data.
    pub function: Function,
    /// The command whose calls it is applied to. Without one no call runs it; `eval` does.
    pub processes: Option<String>,
    /// Which data it changes.
    pub stage: ProcessorStage,
}

/// A function that accepts or refuses arguments before a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validator {
    /// Its id and its code, which gets the arguments and returns a verdict.
    pub function: Function,
    /// The command whose arguments it validates.
    pub validates: Option<String>,
    /// Checks that need no code. They run before the function.
    pub checks: Vec<ValidatorCheck>,
}

/// A check that needs no code.
#[derive(Clone, Debug, PartialEq)]
pub enum ValidatorCheck {
    /// These arguments must be present and not null.
    RequiredFields(Vec<String>),
    /// An argument that is given must be a text of this format, such as `email`. A format that is
    /// not known is documentation.
    Format {
        /// The name of the argument.
        field: String,
        /// The format, as JSON Schema calls it.
        format: String,
    },
    /// Any other check. It is documentation, because no meaning is specified.
    Other(Json),
}

/// One shape that a result may have. The first whose detection matches is used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadSchema {
    /// The name of the shape.
    pub kind: Option<String>,
    /// How to recognise it; see [`crate::Detection`].
    pub detection: Option<String>,
    /// The path to the data in a payload of this shape.
    pub payload_path: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}

/// A field of a result with a structure of its own, such as a list of `{id, value}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldMapping {
    /// The names that lead to the field.
    pub path: Vec<String>,
    /// A description of the structure, for people and models.
    pub structure: Option<Json>,
    /// The id of the helper that turns the field into a plain value.
    pub extraction: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}

/// Unexpected behaviour of an API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quirk {
    /// A short name.
    pub name: Option<String>,
    /// What the API does.
    pub description: Option<String>,
    /// What follows from it for callers.
    pub impact: Option<String>,
    /// How to work around it.
    pub mitigation: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}

/// A mistake that callers have made, and the right way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AntiPattern {
    /// A short name.
    pub name: Option<String>,
    /// Why it is wrong.
    pub description: Option<String>,
    /// The kind of mistake. Any word is allowed.
    pub category: Option<String>,
    /// An example of the mistake.
    pub wrong: Option<String>,
    /// The same done right.
    pub correct: Option<String>,
    /// Why the right way is right.
    pub rationale: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}
