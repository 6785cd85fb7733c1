//! What a format demands of its definitions beyond the shape of single fields.
//!
//! Rules of the checker relate several values: is a name unique, does an example match the schema.
//! Which of them hold, and how strictly, depends on the format. Each format states that once, as
//! data, and the record carries it; so a rule asks the record, not for the name of a format, and a
//! new format gets the rules that it wants by filling in this struct.

/// What a format demands of names, examples and schemas.
#[derive(Debug, PartialEq, Eq)]
pub struct Conventions {
    /// How names are spelled.
    pub names: NameStyle,
    /// What an entry of its examples consists of.
    pub examples: ExampleKind,
    /// What two tools of one document may not share.
    pub unique_tools: UniqueTools,
    /// Whether every toolset has a namespace of its own, so that a missing one is a mistake that is
    /// reported elsewhere and two toolsets without one do not clash.
    pub needs_namespace: bool,
    /// Whether a tool should declare the schema of its result.
    pub wants_output_schema: bool,
    /// Whether the input schema must say `type: object`; otherwise its absence is a warning.
    pub requires_object_input: bool,
    /// Whether a description is a required field, so that the table of fields reports its absence.
    pub requires_description: bool,
    /// Whether a tool without a description of its own has that of its toolset.
    pub inherits_description: bool,
    /// Whether a document is one tool with a `type`, a section for that type (`cli_specific` and
    /// the like) and code under `executable_knowledge` (AIOS). Rules look for these only then.
    pub has_typed_sections: bool,
    /// Whether schemas may be written in Gemini's variant of OpenAPI's, in which the record does
    /// not hold them.
    pub has_openapi_schemas: bool,
}

impl Conventions {
    /// A format without conventions of its own.
    pub const NONE: Conventions = Conventions {
        names: NameStyle::Free,
        examples: ExampleKind::Calls,
        unique_tools: UniqueTools::ById,
        needs_namespace: false,
        wants_output_schema: false,
        requires_object_input: false,
        requires_description: false,
        inherits_description: false,
        has_typed_sections: false,
        has_openapi_schemas: false,
    };
}

/// How the names of a format are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStyle {
    /// As the author likes.
    Free,
    /// Tools in camelCase, a verb and a noun (BTCP).
    CamelCaseVerbs,
    /// Ids in kebab-case, commands in snake_case or kebab-case (AIOS).
    KebabCaseIds,
}

/// What the examples of a format are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleKind {
    /// Calls with their results, which must match the schemas of the tool.
    Calls,
    /// Scenarios that the validators of the command must accept or refuse (AIOS).
    Scenarios,
}

/// What two tools of one document may not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniqueTools {
    /// Their name (BTCP).
    ByName,
    /// Their id in one version.
    ById,
}
