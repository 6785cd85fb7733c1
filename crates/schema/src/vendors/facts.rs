//! What the vendors reject or ignore, each fact with its source. Facts that could not be confirmed
//! are absent.
//!
//! "Errors" below are responses of the vendors' APIs as users quoted them; the vendors do not
//! document most of this. The client libraries that were read: openai 3.49.0 (Python), anthropic
//! 2.8.0 (Python), google-genai 3.1.0 (Python) and `@google/genai` 2.32.0, in November 2026.

use super::Vendor::{Anthropic, Gemini, OpenAi};
use super::VendorEffect::{Ignores, Rejects};
use super::{Vendor, VendorEffect};

/// One thing that at least one vendor does not accept.
pub(super) struct VendorFact {
    /// The vendors, and what each does with it.
    pub vendors: &'static [(Vendor, VendorEffect)],
    /// Why, and what to write instead; shown as help.
    pub note: &'static str,
}

// ---- The root of an input schema ----

/// OpenAI, error: "schema must be a JSON Schema of 'type: "object"', got 'type: "array"'"
/// (vercel/ai#1485), the same with "null" where it is missing (chatanywhere/GPT_API_free#403).
/// Anthropic: `type` is a required literal `"object"` in its client's `ToolParam.input_schema`.
/// Gemini, error: "functionDeclaration parameters schema should be of type OBJECT"
/// (diegosouzapw/OmniRoute#3360, spring-projects/spring-ai#1373; Gemini API: livekit/agents#2689).
pub(super) static NOT_AN_OBJECT: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects), (Anthropic, Rejects), (Gemini, Rejects)],
    note: "the `type` of an input schema has to be `object`",
};

/// OpenAI, error: "schema must have type 'object' and not have
/// 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"
/// (goruck/home-generative-agent#545, feigeCode/navop#247, both 2026). Anthropic, error:
/// "input_schema does not support oneOf, allOf, or anyOf at the top level"
/// (anthropics/claude-code#4886 and many more; MoonshotAI/kimi-code#2328 in July 2026). Gemini has
/// the field `anyOf`, see [`NO_FIELD`].
pub(super) static TOP_ANY_OF: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects), (Anthropic, Rejects)],
    note: "not accepted at the top of an input schema; move the choice into a property",
};

/// As [`TOP_ANY_OF`]; Gemini has neither field, see [`NO_FIELD`].
pub(super) static TOP_ONE_OF_ALL_OF: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects), (Anthropic, Rejects), (Gemini, Rejects)],
    note: "not accepted at the top of an input schema; move the choice into a property",
};

/// OpenAI as for [`TOP_ANY_OF`]. Gemini has no `const` and no `not` ([`NO_FIELD`]), and its `enum`
/// holds strings only ([`ENUM_NOT_STRING`]), while an input schema describes objects.
pub(super) static TOP_VALUE: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects), (Gemini, Rejects)],
    note: "not accepted at the top of an input schema",
};

/// OpenAI, error: "In context=(), object schema missing properties" (karakeep-app/karakeep#1696,
/// spring-projects/spring-ai#4776, everruns/everruns#984); quoted for the root only.
pub(super) static NO_PROPERTIES: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects)],
    note: "an input schema needs `properties`, for no parameters an empty one",
};

/// Anthropic, error: "input_schema.properties: Property keys should match pattern
/// '^[a-zA-Z0-9_.-]{1,64}$'" (anthropics/claude-code#79418, reproduced by its maintainer in August
/// 2026; the top level only: decocms/studio#6874).
pub(super) static PROPERTY_NAME: VendorFact = VendorFact {
    vendors: &[(Anthropic, Rejects)],
    note: "names of parameters are 1 to 64 of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`",
};

// ---- Arrays ----

/// OpenAI, error: "array schema missing items" (sigoden/aichat#1049; below `anyOf`:
/// LionSR/TeXRA#2323; with a list of types: campfirein/byterover-cli#42; `prefixItems` does not
/// help: community.openai.com/t/1357778). Gemini, error: "items: missing field" (cline/cline#7339,
/// DEEIX-AI/DEEIX-Chat#546).
pub(super) static NO_ITEMS: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects), (Gemini, Rejects)],
    note: "an array needs `items`, also beside `prefixItems`",
};

/// Gemini: an empty `items` gives the same "items: missing field" (spiritledsoftware/caplets#178
/// and, after its `$ref` was stripped, DEEIX-AI/DEEIX-Chat#546).
pub(super) static EMPTY_ITEMS: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "an empty `items` counts as none; give it a `type`",
};

/// Anthropic, error: "JSON schema is invalid. It must match JSON Schema draft 2020-12", where
/// `items` is one schema (openclaw/openclaw#98588 and NousResearch/hermes-agent#63674, both tried
/// on the API in July 2026). Gemini: `Schema.items` is one `Schema` (`@google/genai`); a list there
/// is an error as in [`TYPE_LIST`].
pub(super) static ITEMS_LIST: VendorFact = VendorFact {
    vendors: &[(Anthropic, Rejects), (Gemini, Rejects)],
    note: "a list of schemas in `items` is draft-07; 2020-12 has `prefixItems`, Gemini neither",
};

// ---- Patterns ----

/// OpenAI, error: "'…\\p{Cc}…' is not a 'regex'" (BerriAI/litellm#40485,
/// Alishahryar1/free-claude-code#1730, both September 2026): the message of Python's `jsonschema`,
/// which compiles with Python's `re` (pleaseai/shunt#488). What `re` rejects was tried with Python
/// 3.11.
pub(super) static NOT_PYTHON: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects)],
    note: "patterns are compiled by Python's `re`, which has no `\\p{…}`, `\\u{…}` or `(?<name>…)`",
};

/// OpenAI, error: "Invalid JSON schema: regex lookaround is not supported" (decolua/9router#1556,
/// tombii/better-ccflare#357, nicobailon/pi-interactive-shell#69, vercel/ai#20021, May to September
/// 2026). All of them are of the responses API and of newer models, the first with `strict` left
/// out (the others do not show their request); pleaseai/shunt#488 saw look-ahead pass.
pub(super) static LOOK_AROUND: VendorFact = VendorFact {
    vendors: &[(OpenAi, Rejects)],
    note: "newer models reject look-around in patterns (responses API)",
};

// ---- Gemini's `Schema` ----

/// Error: "Proto field is not repeating, cannot start list" (TableProApp/TablePro#1276,
/// zed-industries/zed#53919, taylorwilsdon/google_workspace_mcp#1099 in September 2026). `NULL` is
/// a type, so `"null"` alone is fine.
pub(super) static TYPE_LIST: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini accepts one type; write `nullable` or `anyOf` for the others",
};

/// Error: `Invalid value at '….properties[…].value' (Schema), true` (wangyingsm/dr-strange#5,
/// August 2026).
pub(super) static BOOLEAN: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini accepts no boolean schemas; describe the value",
};

/// Error: `Invalid value at '….enum[0]' (TYPE_STRING), false` (nicobailon/pi-subagents#1950,
/// September 2026; integers: microsoft/azure-devops-mcp#139). `Schema.enum` is `string[]` in
/// `@google/genai`.
pub(super) static ENUM_NOT_STRING: VendorFact =
    VendorFact { vendors: &[(Gemini, Rejects)], note: "Gemini's `enum` holds strings only" };

/// Error: `enum[1]: cannot be empty` (Bobsilvio/ha-claude#32).
pub(super) static ENUM_EMPTY_STRING: VendorFact =
    VendorFact { vendors: &[(Gemini, Rejects)], note: "Gemini's `enum` holds no empty string" };

/// Error: "enum: only allowed for STRING type", where `type` is missing (decolua/9router#359 and
/// #380). `type: integer` beside strings is documented as fine (`Schema.enum` in `@google/genai`).
pub(super) static ENUM_WITHOUT_TYPE: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini requires `type: string` beside `enum`",
};

/// Errors: "properties: only allowed for OBJECT type", "required: only allowed for OBJECT type"
/// (anomalyco/opencode#11889; where `type` is missing: #13150; February 2026).
pub(super) static ONLY_OBJECTS: VendorFact =
    VendorFact { vendors: &[(Gemini, Rejects)], note: "Gemini requires `type: object` beside it" };

/// Error: `parameters.required[0]: property is not defined` (MarkusPfundstein/mcp-obsidian#105,
/// moltis-org/moltis#747, April 2026; below the top: Kilo-Org/kilocode#11955, July 2026).
pub(super) static REQUIRED_UNKNOWN: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini rejects `required` names that `properties` lacks",
};

/// "included here and ignored so that developers who send schemas with a `default` field don't get
/// unknown-field errors" (ai.google.dev/api/caching#Schema).
pub(super) static DEFAULT: VendorFact = VendorFact {
    vendors: &[(Gemini, Ignores)],
    note: "Gemini ignores it; name the default in `description`",
};

/// Error: "Invalid JSON payload received. Unknown name "…": Cannot find field", for every keyword
/// that is not a field of `Schema`, standard or not: `$schema` (tashfeenahmed/freellmapi#65),
/// `exclusiveMinimum` (pizza-bot-app/pizza-bot#62), `uniqueItems` (decolua/9router#3018),
/// `patternProperties` (Wei-Shaw/sub2api#795), `propertyNames` (openswarm-ai/openswarm#24,
/// langchain-ai/langchainjs#11606), made-up `values`
/// (google-gemini/deprecated-generative-ai-js#320). The fields are listed in `rules`.
pub(super) static NO_FIELD: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "not a field of Gemini's `parameters`; only `parametersJsonSchema` accepts JSON Schema",
};

/// As [`NO_FIELD`]: "Unknown name "$defs"", "Unknown name "$ref"" (pydantic/pydantic-ai#1598).
/// Google's own Python client inlines definitions before sending (`process_schema`), and loses
/// those that contain themselves.
pub(super) static REFERENCE: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini's `parameters` has no references; write the definition where it is used",
};

/// As [`NO_FIELD`] (taylorwilsdon/google_workspace_mcp#1099, zed-industries/zed#59938). Google's
/// own Python client writes an `enum` of one string.
pub(super) static CONST: VendorFact = VendorFact {
    vendors: &[(Gemini, Rejects)],
    note: "Gemini has no `const`; an `enum` of one string means the same",
};

/// As [`NO_FIELD`]; `anyOf` is a field (`Schema.anyOf` in `@google/genai`).
pub(super) static ONE_OF: VendorFact =
    VendorFact { vendors: &[(Gemini, Rejects)], note: "Gemini has no `oneOf`; it has `anyOf`" };

/// As [`NO_FIELD`] (pydantic/pydantic-ai#3538, BerriAI/litellm#14330). Google's own Python client
/// rejects it for the Gemini API and accepts it for Vertex AI.
pub(super) static ADDITIONAL_PROPERTIES: VendorFact =
    VendorFact { vendors: &[(Gemini, Rejects)], note: "Vertex AI has it, the Gemini API does not" };
