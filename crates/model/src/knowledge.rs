//! What a definition knows about its tools beyond their schemas: code and experience.
//!
//! Items keep what could be read, so that a helper without an id still has its code checked.

use crate::{Json, Object};

/// Where an agent finds a tool's knowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnowledgeStrategy {
    /// In the definition.
    #[default]
    Embedded,
    /// Elsewhere.
    External,
    /// Both.
    Hybrid,
    /// In code.
    Executable,
    /// Nowhere.
    None,
}

impl KnowledgeStrategy {
    /// All of them.
    pub const ALL: [KnowledgeStrategy; 5] = [
        KnowledgeStrategy::Embedded,
        KnowledgeStrategy::External,
        KnowledgeStrategy::Hybrid,
        KnowledgeStrategy::Executable,
        KnowledgeStrategy::None,
    ];

    /// The word for it.
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

/// Everything a toolset knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// Where it is to be found.
    pub strategy: KnowledgeStrategy,
    /// Functions to call by name.
    pub helpers: Vec<Function>,
    /// Functions that change requests or responses.
    pub processors: Vec<Processor>,
    /// Functions that refuse bad arguments.
    pub validators: Vec<Validator>,
    /// The shapes a payload may have, in the order they are tried.
    pub payload_schemas: Vec<PayloadSchema>,
    /// Fields with a structure of their own, by their path of names.
    pub field_mappings: Vec<FieldMapping>,
    /// What is odd about the API behind the tools.
    pub quirks: Vec<Quirk>,
    /// Mistakes that were made before.
    pub anti_patterns: Vec<AntiPattern>,
}

/// A piece of JavaScript with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Its name among its kind.
    pub id: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The code.
    pub code: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}

/// When a processor works on a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessorStage {
    /// On the arguments, before the call.
    Request,
    /// On the result, behind it.
    #[default]
    Response,
}

/// A function that changes data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// The code.
    pub function: Function,
    /// The command whose calls it belongs to; without one it is called by name.
    pub processes: Option<String>,
    /// When.
    pub stage: ProcessorStage,
}

/// A function that judges arguments before a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validator {
    /// The code.
    pub function: Function,
    /// The command it judges.
    pub validates: Option<String>,
    /// Checks that need no code, run first.
    pub checks: Vec<ValidatorCheck>,
}

/// A check that needs no code.
#[derive(Clone, Debug, PartialEq)]
pub enum ValidatorCheck {
    /// These fields are there and not null.
    RequiredFields(Vec<String>),
    /// Anything else: documentation.
    Other(Json),
}

/// One shape a payload may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadSchema {
    /// Its name.
    pub kind: Option<String>,
    /// How to tell it from the others.
    pub detection: Option<String>,
    /// Where the data is.
    pub payload_path: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}

/// A field with a structure of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldMapping {
    /// The names that lead to it.
    pub path: Vec<String>,
    /// What it looks like.
    pub structure: Option<Json>,
    /// The helper that gets it out.
    pub extraction: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}

/// Something odd about an API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quirk {
    /// Its name.
    pub name: Option<String>,
    /// What happens.
    pub description: Option<String>,
    /// What that does.
    pub impact: Option<String>,
    /// What to do about it.
    pub mitigation: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}

/// A mistake that was made before, and how it is done right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AntiPattern {
    /// Its name.
    pub name: Option<String>,
    /// What is wrong.
    pub description: Option<String>,
    /// What kind of mistake it is; an open set.
    pub category: Option<String>,
    /// The mistake.
    pub wrong: Option<String>,
    /// The right way.
    pub correct: Option<String>,
    /// Why.
    pub rationale: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}
