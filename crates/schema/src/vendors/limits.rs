//! What the targets limit: names of tools, descriptions, tools of a request, sizes of schemas.
//! Limits that nobody documents and no error shows are absent.

use serde_json::{Map, Value};

use super::VendorTarget::{self, *};
use crate::limits::MAX_DEPTH;
use crate::subschema_keywords::keyword_value;
use crate::{Dialect, subschema_keywords};

/// The names of tools that a target accepts: ASCII letters, digits and a few other characters.
#[derive(Debug, PartialEq, Eq)]
pub struct NameRule {
    /// The longest name, in characters.
    pub max: usize,
    /// Characters beside letters and digits.
    others: &'static str,
    /// Whether the first character is a letter or `_`.
    starts_with_letter: bool,
    /// The rule as a sentence, for help.
    pub about: &'static str,
}

impl NameRule {
    /// Whether the target accepts `name`.
    pub fn allows(&self, name: &str) -> bool {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || self.others.contains(c);
        let start = name.chars().next();
        (1..=self.max).contains(&name.chars().count())
            && name.chars().all(is_allowed)
            && (!self.starts_with_letter
                || start.is_some_and(|c| c.is_ascii_alphabetic() || c == '_'))
    }
}

/// OpenAI, chat: `^[a-zA-Z0-9_-]{1,64}$` in errors and in its documentation. Anthropic documents
/// the same; since August 2025 the API takes 128 (microsoft/wassette#56), but not where a tool is
/// referred to (`tool_reference.tool_name`, mims-harvard/ToolUniverse#65). Bedrock: `ToolName` in
/// botocore 1.44.0. Mistral, error: "must be a-z, A-Z, 0-9, or contain underscores and dashes, with
/// a maximum length of 64" (Kochava-Studios/witsy#164).
static NAME_64: NameRule = NameRule {
    max: 64,
    others: "_-",
    starts_with_letter: false,
    about: "letters, digits, `_` and `-`, at most 64 of them, are accepted everywhere",
};

/// OpenAI's OpenAPI document (f85dbe2, August 2026), `FunctionToolParam.name`.
static NAME_128: NameRule = NameRule {
    max: 128,
    others: "_-",
    starts_with_letter: false,
    about: "OpenAI's responses accept letters, digits, `_` and `-`, at most 128 of them",
};

/// Error: "Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9),
/// underscores (_), dots (.) or dashes (-), with a maximum length of 64" (gemini-cli#6704,
/// BerriAI/litellm#12543; until December 2025). The documentation in google-genai 3.1.0 adds `:`
/// and says 128, which no answer of the API has confirmed.
static NAME_GEMINI: NameRule = NameRule {
    max: 64,
    others: "_-.:",
    starts_with_letter: true,
    about: "Gemini's names start with a letter or `_`, and have at most 64 characters",
};

/// Something that is counted over all tools of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// The tools themselves.
    Tools,
    /// Parameters that are not required, at all levels.
    OptionalParameters,
    /// Parameters with `anyOf` or a list of types.
    UnionParameters,
    /// Parameters at all levels.
    Parameters,
}

impl RequestPart {
    /// What is counted, in the plural.
    pub const fn words(self) -> &'static str {
        match self {
            RequestPart::Tools => "tools",
            RequestPart::OptionalParameters => "optional parameters",
            RequestPart::UnionParameters => "parameters of several types",
            // Only Cohere limits them.
            RequestPart::Parameters => "parameters with `strict_tools`",
        }
    }

    /// How many of it a tool has.
    pub const fn count(self, tool: &SchemaCounts) -> usize {
        match self {
            RequestPart::Tools => 1,
            RequestPart::OptionalParameters => tool.optional,
            RequestPart::UnionParameters => tool.unions,
            RequestPart::Parameters => tool.properties,
        }
    }
}

impl VendorTarget {
    /// The names that the target accepts; `None` if it accepts any.
    pub fn name_rule(self) -> Option<&'static NameRule> {
        match self {
            OpenAi | OpenAiStrict | Anthropic | AnthropicStrict | Bedrock | Mistral => {
                Some(&NAME_64)
            }
            OpenAiResponses | OpenAiResponsesStrict => Some(&NAME_128),
            Gemini | GeminiOpenapi => Some(&NAME_GEMINI),
            Cohere | Ollama => None,
        }
    }

    /// The longest description of a tool, in characters.
    pub fn max_description(self) -> Option<usize> {
        match self {
            // Errors of 2025: getsentry/sentry-mcp#106, langchain-ai/open_deep_research#80; not in
            // OpenAI's current documents.
            OpenAi | OpenAiStrict => Some(1024),
            _ => None,
        }
    }

    /// Whether the target rejects a description that is there and empty.
    pub fn rejects_empty_description(self) -> bool {
        // botocore 1.44.0: `NonEmptyString`.
        self == Bedrock
    }

    /// What one request may have at most.
    pub fn request_limits(self) -> &'static [(RequestPart, usize)] {
        match self {
            // Errors: zed-industries/zed#32946, openai/openai-dotnet#317.
            OpenAi | OpenAiStrict => &[(RequestPart::Tools, 128)],
            // Anthropic, structured outputs, "Schema complexity limits".
            AnthropicStrict => &[
                (RequestPart::Tools, 20),
                (RequestPart::OptionalParameters, 24),
                (RequestPart::UnionParameters, 16),
            ],
            // google-genai 3.1.0, documentation of `Tool.function_declarations`.
            Gemini | GeminiOpenapi => &[(RequestPart::Tools, 512)],
            // docs.cohere.com, "Structured outputs (tools)": with `strict_tools`.
            Cohere => &[(RequestPart::Parameters, 200)],
            _ => &[],
        }
    }
}

/// How much of each countable thing a schema has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaCounts {
    /// Properties, definitions included.
    pub properties: usize,
    /// Properties that are not required, outside of definitions.
    pub optional: usize,
    /// Properties with `anyOf` or a list of types, outside of definitions.
    pub unions: usize,
    /// Objects inside each other, the outermost included, in the schema or in one definition.
    pub object_levels: usize,
    /// Values of all enums.
    pub enum_values: usize,
    /// Characters of the values of the longest enum that has more than 250 values.
    pub long_enum_characters: usize,
    /// Characters of all names of properties and definitions, enum values and `const` values.
    pub characters: usize,
}

impl SchemaCounts {
    /// Counts the parts of an input schema. References are not followed.
    pub fn of(schema: &Value) -> SchemaCounts {
        let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft202012);
        let mut counts = SchemaCounts::default();
        if let Value::Object(members) = schema {
            counts.add(members, dialect, Position::default());
        }
        counts
    }

    /// Adds a schema and those inside it. The recursion ends at the depth that a schema may have.
    fn add(&mut self, members: &Map<String, Value>, dialect: Dialect, at: Position) {
        // One pass over the keywords: looking each one up would hash it for every subschema.
        let (mut properties, mut required, mut is_object) = (None, None, false);
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => properties = Some(named),
                ("required", Value::Array(names)) => required = Some(names),
                ("type", value) => is_object = value == "object",
                ("$defs" | "definitions", Value::Object(named)) => {
                    self.characters += named.keys().map(|name| name.chars().count()).sum::<usize>();
                }
                ("enum", Value::Array(values)) => {
                    let characters = values.iter().map(text_length).sum();
                    self.enum_values += values.len();
                    self.characters += characters;
                    if values.len() > LONG_ENUM {
                        self.long_enum_characters = self.long_enum_characters.max(characters);
                    }
                }
                ("const", value) => self.characters += text_length(value),
                _ => {}
            }
        }
        let is_object = is_object || properties.is_some();
        let object_levels = at.object_levels + usize::from(is_object);
        self.object_levels = self.object_levels.max(object_levels);
        if let Some(properties) = properties {
            for (name, property) in properties {
                self.properties += 1;
                self.characters += name.chars().count();
                let is_required =
                    required.is_some_and(|names| names.iter().any(|other| other == name.as_str()));
                let keyword = |name| keyword_value(property.as_object()?, name);
                let is_union =
                    keyword("anyOf").is_some() || keyword("type").is_some_and(Value::is_array);
                self.optional += usize::from(!at.in_definition && !is_required);
                self.unions += usize::from(!at.in_definition && is_union);
            }
        }
        if at.depth == MAX_DEPTH {
            return;
        }
        subschema_keywords::subschemas(members, dialect, |target, value| {
            let Value::Object(members) = value else { return };
            let is_definition = target == subschema_keywords::SubschemaTarget::Definition;
            let inside = Position {
                depth: at.depth + 1,
                object_levels: if is_definition { 0 } else { object_levels },
                in_definition: at.in_definition || is_definition,
            };
            self.add(members, dialect, inside);
        });
    }

    /// What exceeds the limits of OpenAI's strict mode: the count, the limit, and what is counted.
    ///
    /// OpenAI, structured outputs, "Supported schemas" (copies of August 2026; older ones say 100
    /// properties, 5 levels and 500 values).
    pub(super) fn beyond_openai_strict(
        &self,
    ) -> impl Iterator<Item = (usize, usize, &'static str)> {
        [
            (self.properties, 5000, "properties"),
            (self.object_levels, 10, "levels of objects"),
            (self.enum_values, 1000, "enum values"),
            (self.long_enum_characters, 15_000, "characters in an enum of more than 250 values"),
            (self.characters, 120_000, "characters in names and enum values"),
        ]
        .into_iter()
        .filter(|(count, max, _)| count > max)
    }
}

/// From this number of values on, OpenAI also limits the characters of an enum.
const LONG_ENUM: usize = 250;

/// Where a schema is, for [`SchemaCounts::add`].
#[derive(Clone, Copy, Default)]
struct Position {
    depth: usize,
    object_levels: usize,
    in_definition: bool,
}

/// Characters of a text; other values count little, so their exact text is not made.
fn text_length(value: &Value) -> usize {
    value.as_str().map_or(1, |text| text.chars().count())
}
