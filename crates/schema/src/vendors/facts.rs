//! What each target does with each part of a schema, every fact with its source.
//!
//! A row has one letter for each target, in the order of `VendorTarget::ALL`: two of OpenAI
//! without and two with `strict`, two of Anthropic, two of Gemini, then Bedrock, Mistral, Cohere
//! and Ollama. A row is about a keyword, or about a keyword in a certain place or with a certain
//! value; `rules` chooses the most specific row, so each is complete by itself.
//!
//! "Errors" below are responses of the vendors' APIs as users quoted them. Sources by letter, all
//! read in November 2026:
//!
//! | | |
//! |---|---|
//! | O1 | OpenAI, structured outputs, "Supported schemas" |
//! | O3 | pydantic-ai 2.66.0, `profiles/openai.py`, whose authors try it on the API |
//! | A1 | Anthropic, structured outputs, "JSON Schema limitations" |
//! | A2 | anthropic 2.8.0 (Python), `lib/_parse/_transform.py` |
//! | G1 | `interface Schema` of `@google/genai` 2.32.0 |
//! | G2 | google-genai 3.1.0 (Python), `types.py`, documentation of `response_json_schema` |
//! | G3 | google-genai 3.1.0 (Python), `_gaos/types/interactions/function.py` |
//! | L1 | ollama, `api/types.go` at fb30760 (August 2026): unknown members are dropped |
//!
//! The other APIs take the schema as a free object, hand it to the model as text and enforce
//! nothing: OpenAI and Anthropic without `strict`, Bedrock (botocore 1.44.0: `inputSchema.json` is
//! a document), Mistral (mistralai 3.7.0: `Function.parameters` is a dictionary). Cohere documents
//! no more than types (`tool-use-parameter-types`). For Gemini's `parametersJsonSchema` nothing is
//! documented but G2 and G3, about fields of the same kind.

use super::VendorSupport::{
    self, Ignored as I, Kept as K, Passed as P, Rejected as R, Undocumented as U,
};

/// What the targets do with one part of a schema.
pub(super) struct VendorFact {
    /// By target, in the order of `VendorTarget::ALL`.
    pub support: [VendorSupport; 12],
    /// What to write instead, or why; shown as help.
    pub note: &'static str,
}

impl VendorFact {
    /// Whether it is about keywords that describe without restricting.
    pub(super) fn is_annotation(&self) -> bool {
        // Facts are statics, so the address tells them apart.
        std::ptr::eq(self, &ANNOTATION)
    }
}

/// A fact; the arguments of the macro are the letters of the row.
macro_rules! fact {
    ($($letter:ident)*, $note:expr) => {
        VendorFact { support: [$($letter),*], note: $note }
    };
}

// ---- The root of an input schema ----

/// OpenAI, error: "schema must be a JSON Schema of 'type: "object"', got 'type: "array"'"
/// (vercel/ai#1485), the same with "null" where it is missing (chatanywhere/GPT_API_free#403).
/// Anthropic: `type` is a required literal `"object"` in its client's `ToolParam.input_schema`.
/// Gemini, error: "functionDeclaration parameters schema should be of type OBJECT"
/// (diegosouzapw/OmniRoute#3360, spring-projects/spring-ai#1373; Gemini API: livekit/agents#2689).
pub(super) static NOT_AN_OBJECT: VendorFact =
    fact!(R R R R R R U R P P U U, "the `type` of an input schema has to be `object`");

/// OpenAI, error: "schema must have type 'object' and not have
/// 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"
/// (goruck/home-generative-agent#545, feigeCode/navop#247, both 2026). Anthropic, error:
/// "input_schema does not support oneOf, allOf, or anyOf at the top level"
/// (anthropics/claude-code#4886 and many more; MoonshotAI/kimi-code#2328 in July 2026). Gemini has
/// the field `anyOf` (G1). L1: the parameters have no `anyOf`, only properties have it.
pub(super) static TOP_ANY_OF: VendorFact = fact!(R R R R R R K K P P U I,
    "not accepted at the top of an input schema; move the choice into a property");

/// As [`TOP_ANY_OF`]; Gemini's `parameters` has neither field (G1).
pub(super) static TOP_ONE_OF_ALL_OF: VendorFact = fact!(R R R R R R U R P P U I,
    "not accepted at the top of an input schema; move the choice into a property");

/// OpenAI as for [`TOP_ANY_OF`]. Gemini's `parameters` has no `const` and no `not` ([`NO_FIELD`]),
/// and its `enum` holds strings only ([`ENUM_NOT_STRING`]), while an input schema describes
/// objects.
pub(super) static TOP_VALUE: VendorFact =
    fact!(R R R R P U U R P P U I, "not accepted at the top of an input schema");

/// OpenAI, error: "In context=(), object schema missing properties" (karakeep-app/karakeep#1696,
/// spring-projects/spring-ai#4776, everruns/everruns#984); quoted for the root only.
pub(super) static NO_PROPERTIES: VendorFact = fact!(R R R R P P K K P P U K,
    "an input schema needs `properties`, for no parameters an empty one");

/// Anthropic, error: "input_schema.properties: Property keys should match pattern
/// '^[a-zA-Z0-9_.-]{1,64}$'" (anthropics/claude-code#79418, reproduced by its maintainer in August
/// 2026; the top level only: decocms/studio#6874).
pub(super) static PROPERTY_NAME: VendorFact = fact!(P P K K R R U U P P U K,
    "names of parameters are 1 to 64 of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`");

/// As [`PROPERTY_NAME`], for names that Anthropic accepts and Gemini does not. Documentation of
/// `FunctionDeclaration.parameters` in google-genai 3.1.0: names start with a letter or `_`, and
/// have letters, digits and `_`, at most 64. No error was found quoted.
pub(super) static GEMINI_PROPERTY_NAME: VendorFact = fact!(P P K K K K U R P P U K,
    "names of parameters are letters, digits and `_`, at most 64, and start with no digit");

/// As [`PROPERTY_NAME`], for names that neither Anthropic nor Gemini accepts.
pub(super) static NO_PROPERTY_NAME: VendorFact = fact!(P P K K R R U R P P U K,
    "names of parameters that every vendor accepts are letters, digits and `_`, at most 64");

// ---- Objects ----

/// O1: "All fields or function parameters must be specified as required". Error: "'required' is
/// required to be supplied and to be an array including every key in properties. Missing 'id'"
/// (ash-project/ash_ai#155, docker/docker-agent#1871, topoteretes/cognee#4204 in July 2026).
pub(super) static OPTIONAL_PROPERTY: VendorFact = fact!(P P R R P K K K P P U K,
    "strict mode wants every property in `required`; let an optional one be `null` instead");

/// O1: "`additionalProperties: false` must always be set in objects"; error:
/// "'additionalProperties' is required to be supplied and to be false" (Soju06/codex-lb#495). A1
/// demands the same.
pub(super) static OPEN_OBJECT: VendorFact = fact!(P P R R P R K K P P U K,
    "strict mode wants `additionalProperties: false` in every object");

/// As [`OPEN_OBJECT`], where the keyword is written. Gemini as [`NO_FIELD`].
pub(super) static ADDITIONAL_PROPERTIES_SCHEMA: VendorFact = fact!(P P R R P R K R P P U I,
    "strict modes want `false`, and Gemini's `parameters` has no such field");

/// `additionalProperties: true`, which changes nothing where it is dropped.
pub(super) static ADDITIONAL_PROPERTIES_TRUE: VendorFact = fact!(P P R R P R K R P P U K,
    "strict modes want `false`, and Gemini's `parameters` has no such field");

/// As [`NO_FIELD`] (pydantic/pydantic-ai#3538, BerriAI/litellm#14330). Google's own Python client
/// rejects it for the Gemini API and accepts it for Vertex AI. Ollama: L1.
pub(super) static ADDITIONAL_PROPERTIES_FALSE: VendorFact =
    fact!(P P K K P K K R P P U I, "of Gemini's APIs only Vertex AI has it in `parameters`");

/// O1 lists it as unsupported, A1 demands closed objects; G1 and L1 lack it.
pub(super) static PATTERN_PROPERTIES: VendorFact = fact!(P P R R P R U R P P U I,
    "name the properties, or take a list of keys and values");

/// Gemini, errors: "properties: only allowed for OBJECT type", "required: only allowed for OBJECT
/// type" (anomalyco/opencode#11889; where `type` is missing: #13150; February 2026;
/// goruck/home-generative-agent#525 in August 2026).
pub(super) static ONLY_OBJECTS: VendorFact =
    fact!(P P U U P U U R P P U K, "Gemini requires `type: object` beside it");

/// Gemini, error: `parameters.required[0]: property is not defined`
/// (MarkusPfundstein/mcp-obsidian#105, moltis-org/moltis#747, April 2026; below the top:
/// Kilo-Org/kilocode#11955, July 2026).
pub(super) static REQUIRED_UNKNOWN: VendorFact =
    fact!(P P U U P U U R P P U K, "Gemini rejects `required` names that `properties` lacks");

/// O3: not supported in strict mode. G1 has `minProperties` and `maxProperties`; G3: accepted, no
/// effect.
pub(super) static PROPERTY_COUNT: VendorFact =
    fact!(P P R R P U I K P P U I, "say it in `description`, and check it in the tool");

/// As [`PROPERTY_COUNT`], but not in G1.
pub(super) static PROPERTY_NAMES: VendorFact =
    fact!(P P R R P U U R P P U I, "say it in `description`, and check it in the tool");

// ---- Arrays ----

/// OpenAI, error: "array schema missing items" (sigoden/aichat#1049; below `anyOf`:
/// LionSR/TeXRA#2323; with a list of types: campfirein/byterover-cli#42; `prefixItems` does not
/// help: community.openai.com/t/1357778). Gemini, error: "items: missing field" (cline/cline#7339,
/// DEEIX-AI/DEEIX-Chat#546).
pub(super) static NO_ITEMS: VendorFact =
    fact!(R R R R P U U R P P U K, "an array needs `items`, also beside `prefixItems`");

/// Gemini: an empty `items` gives the same "items: missing field" (spiritledsoftware/caplets#178
/// and, after its `$ref` was stripped, DEEIX-AI/DEEIX-Chat#546).
pub(super) static EMPTY_ITEMS: VendorFact =
    fact!(P P U U P U U R P P U K, "an empty `items` counts as none; give it a `type`");

/// Anthropic, error: "JSON schema is invalid. It must match JSON Schema draft 2020-12", where
/// `items` is one schema (openclaw/openclaw#98588 and NousResearch/hermes-agent#63674, both tried
/// on the API in July 2026). Gemini: `items` is one `Schema` (G1); a list there is an error as in
/// [`TYPE_LIST`].
pub(super) static ITEMS_LIST: VendorFact = fact!(P P U U R R U R P P U I,
    "a list of schemas in `items` is draft-07; 2020-12 has `prefixItems`");

/// O3 refuses it. G2 has it, G1 and L1 do not.
pub(super) static PREFIX_ITEMS: VendorFact =
    fact!(P P R R P U K R P P U I, "write one `items` for all, or an object with named properties");

/// Draft-07's rest of a tuple: G1 and L1 lack it, nobody else documents it.
pub(super) static ADDITIONAL_ITEMS: VendorFact =
    fact!(P P U U P U U R P P U I, "write one `items` for all items");

/// A1: `minItems` supports only 0 and 1.
pub(super) static MIN_ITEMS: VendorFact = fact!(P P K K P R K K P P U I,
    "Anthropic's strict mode knows `minItems` 0 and 1 only; say the rest in `description`");

/// A `minItems` of 0 or 1, see [`MIN_ITEMS`].
pub(super) static MIN_ITEMS_SMALL: VendorFact =
    fact!(P P K K P K K K P P U I, "say it in `description`, and check it in the tool");

/// A1 lists array constraints beyond `minItems` as unsupported.
pub(super) static MAX_ITEMS: VendorFact =
    fact!(P P K K P R K K P P U I, "say it in `description`, and check it in the tool");

/// O3: not supported in strict mode; A1 as [`MAX_ITEMS`]; G3: accepted, no effect. Gemini's
/// `parameters`: as [`NO_FIELD`] (decolua/9router#3018).
pub(super) static UNIQUE_CONTAINS: VendorFact =
    fact!(P P R R P R I R P P U I, "say it in `description`, and check it in the tool");

// ---- Numbers and strings ----

/// A1: "numerical constraints" are unsupported. O1, G1 and G2 list them.
pub(super) static MINIMUM_MAXIMUM: VendorFact =
    fact!(P P K K P R K K P P U I, "say it in `description`, and check it in the tool");

/// As [`MINIMUM_MAXIMUM`], but G1 lacks them: as [`NO_FIELD`] (pizza-bot-app/pizza-bot#62).
pub(super) static EXCLUSIVE_BOUND: VendorFact = fact!(P P K K P R U R P P U I,
    "for integers write `minimum` and `maximum`, else say it in `description`");

/// As [`EXCLUSIVE_BOUND`].
pub(super) static MULTIPLE_OF: VendorFact =
    fact!(P P K K P R U R P P U I, "say it in `description`, and check it in the tool");

/// A1: "string constraints" are unsupported. O1 does not list them for strict mode and O3 keeps
/// them, so nothing is stated here. G1 has them; G3: accepted, no effect.
pub(super) static LENGTH: VendorFact =
    fact!(P P U U P R I K P P U I, "say it in `description`, and check it in the tool");

/// A pattern without the parts below. O1, A1 and G1 have it.
pub(super) static PATTERN: VendorFact =
    fact!(P P K K P K U K P P U I, "say it in `description`, and check it in the tool");

/// OpenAI, error: "'…\\p{Cc}…' is not a 'regex'" (BerriAI/litellm#40485,
/// Alishahryar1/free-claude-code#1730, both September 2026): the message of Python's `jsonschema`,
/// which compiles with Python's `re` (pleaseai/shunt#488). What `re` rejects was tried with Python
/// 3.11.
pub(super) static NOT_PYTHON: VendorFact = fact!(R R R R P U U K P P U I,
    "OpenAI uses Python's `re`, which has no `\\p{…}`, `\\u{…}` and `(?<name>…)`");

/// OpenAI, error: "Invalid JSON schema: regex lookaround is not supported" (decolua/9router#1556,
/// tombii/better-ccflare#357, nicobailon/pi-interactive-shell#69, vercel/ai#20021, May to September
/// 2026), all of the responses API, the first with `strict` left out; pleaseai/shunt#488 saw
/// look-ahead pass elsewhere. O1 and A1 exclude it from their strict modes.
pub(super) static LOOK_AROUND: VendorFact =
    fact!(P R R R P R U K P P U I, "write the pattern without look-around");

/// A1: patterns have no back-references and no `\b`.
pub(super) static WORD_BOUNDARY_BACKREFERENCE: VendorFact = fact!(P P K K P R U K P P U I,
    "Anthropic's strict mode has no `\\b` and no back-references in patterns");

/// A format that O1 and A1 list: `date-time`, `time`, `date`, `duration`, `email`, `hostname`,
/// `ipv4`, `ipv6`, `uuid`. G1 takes any text.
pub(super) static FORMAT: VendorFact =
    fact!(P P K K P K K K P P U I, "say it in `description`, and check it in the tool");

/// OpenAI, error: "'uri' is not a valid format" (can1357/oh-my-pi#206, 1jehuang/jcode#543,
/// cyanheads/git-mcp-server#47, February to July 2026). A1 lists `uri`.
pub(super) static FORMAT_URI: VendorFact =
    fact!(P P R R P K K K P P U I, "leave `format` out and say it in `description`");

/// As [`FORMAT_URI`], for a format that A1 does not list either.
pub(super) static FORMAT_OTHER: VendorFact =
    fact!(P P R R P R K K P P U I, "leave `format` out and say it in `description`");

// ---- Types, values and choices ----

/// Gemini, error: "Proto field is not repeating, cannot start list" (TableProApp/TablePro#1276,
/// zed-industries/zed#53919, WordPress/ai-provider-for-google#33, July to September 2026). `NULL`
/// is a type, so `"null"` alone is fine. O1, A1 and G2 have lists of types.
pub(super) static TYPE_LIST: VendorFact = fact!(P P K K P K K R P P U K,
    "write one type, with `nullable` or `anyOf` for the others");

/// O3: a boolean is not a schema in strict mode. Gemini, error: `Invalid value at
/// '….properties[…].value' (Schema), true` (wangyingsm/dr-strange#5, August 2026).
pub(super) static BOOLEAN: VendorFact =
    fact!(P P R R P U U R P P U U, "describe the value instead: give it a `type`");

/// Gemini, error: `Invalid value at '….enum[0]' (TYPE_STRING), false`
/// (nicobailon/pi-subagents#1950, September 2026; integers: microsoft/azure-devops-mcp#139). `enum`
/// is `string[]` in G1.
pub(super) static ENUM_NOT_STRING: VendorFact =
    fact!(P P K K P K K R P P U K, "Gemini's `parameters` has enums of strings only");

/// As [`ENUM_NOT_STRING`]; A1: no complex types in enums.
pub(super) static ENUM_OBJECT: VendorFact =
    fact!(P P U U P R U R P P U K, "an enum of strings, numbers, booleans or `null` is accepted");

/// Gemini, error: `enum[1]: cannot be empty` (Bobsilvio/ha-claude#32).
pub(super) static ENUM_EMPTY_STRING: VendorFact =
    fact!(P P K K P K K R P P U K, "Gemini's enums hold no empty string");

/// Gemini, error: "enum: only allowed for STRING type", where `type` is missing
/// (decolua/9router#359 and #380). `type: integer` beside strings is documented as fine (G1).
pub(super) static ENUM_WITHOUT_TYPE: VendorFact =
    fact!(P P K K P K K R P P U K, "Gemini requires `type: string` beside `enum`");

/// As [`NO_FIELD`] (taylorwilsdon/google_workspace_mcp#1099, zed-industries/zed#59938). Google's
/// own Python client writes an `enum` of one string. O1 counts `const`, A1 lists it; L1 lacks it.
pub(super) static CONST: VendorFact =
    fact!(P P K K P K U R P P U I, "an `enum` of one value means the same");

/// Vertex AI, error: "schema specified other fields alongside any_of. When using any_of, it must be
/// the only field set" (anomalyco/opencode#14700 in February, lambda-alpha-labs/Graphenium#37 in
/// July, patlux/pi-commandcode-provider#103 in September 2026).
pub(super) static ANY_OF_SIBLINGS: VendorFact = fact!(P P K K P K K R P P U K,
    "Vertex AI accepts nothing beside `anyOf`; move it into the branches");

/// O1 lists `anyOf` only; A2 rewrites it to `anyOf`; G2 reads it as `anyOf`; G1 and L1 lack it.
pub(super) static ONE_OF: VendorFact =
    fact!(P P R R P U K R P P U I, "write `anyOf`, which more vendors accept");

/// O1 lists it as unsupported. A1 has it (without `$ref` in it), G1 and L1 do not.
pub(super) static ALL_OF: VendorFact =
    fact!(P P R R P K U R P P U I, "merge the branches into one schema");

/// O1 lists them as unsupported; G1 and L1 lack them.
pub(super) static CONDITION: VendorFact =
    fact!(P P R R P U U R P P U I, "say it in `description`, and check it in the tool");

/// O3: rejected in strict mode; G1 and L1 lack them.
pub(super) static DYNAMIC_UNEVALUATED: VendorFact =
    fact!(P P R R P U U R P P U I, "write the schema without it");

// ---- References ----

/// Gemini, as [`NO_FIELD`]: "Unknown name "$ref"" (pydantic/pydantic-ai#1598). Google's own Python
/// client inlines definitions before sending (`process_schema`), and loses those that contain
/// themselves. L1: a property has no `$ref`.
pub(super) static REFERENCE: VendorFact =
    fact!(P P K K P K K R P P U I, "write the definition where it is used");

/// As [`REFERENCE`]; L1 keeps `$defs`.
pub(super) static DEFINITIONS: VendorFact =
    fact!(P P K K P K K R P P U K, "write the definitions where they are used");

/// OpenAI's own helpers inline such a reference (openai 3.49.0, `lib/_pydantic.py`), O3 wraps it.
/// G2: beside `$ref` only members that start with `$` may be set.
pub(super) static REFERENCE_SIBLINGS: VendorFact = fact!(P P R R P K R R P P U I,
    "put nothing beside `$ref`: write `anyOf` with the reference as its only branch");

/// A1: no recursive schemas. O1 allows them, G2 unrolls them.
pub(super) static RECURSION: VendorFact =
    fact!(P P K K P R K R P P U I, "limit the depth: write out as many levels as calls need");

/// A1: references have to be internal; O3: only `#` and `#/$defs/…`.
pub(super) static OTHER_REFERENCE: VendorFact =
    fact!(P P R R P K K R P P U I, "put the definition under `$defs` and refer to it there");

// ---- Annotations ----

/// Gemini: "included here and ignored so that developers who send schemas with a `default` field
/// don't get unknown-field errors" (ai.google.dev/api/caching#Schema). Sources about OpenAI's
/// strict mode disagree. A1 lists it. L1 lacks it.
pub(super) static DEFAULT: VendorFact =
    fact!(P P U U P K U I P P U I, "name the default in `description`");

/// Gemini's `parameters` has the field (G1).
pub(super) static NULLABLE: VendorFact =
    fact!(P P U U P U U K P P U I, "write `type` with `null`, or `anyOf`");

/// `$schema`, `$id`, `examples`, `deprecated` and the like: no effect on calls anywhere, but not
/// fields of G1: as [`NO_FIELD`], `$schema` in tashfeenahmed/freellmapi#65.
pub(super) static ANNOTATION: VendorFact = fact!(P P I I P U U R P P U I,
    "not a field of Gemini's `parameters`; only `parametersJsonSchema` accepts JSON Schema");

/// Gemini, error: "Invalid JSON payload received. Unknown name "…": Cannot find field", for every
/// keyword that is not a field of `Schema` (G1), standard or not: `patternProperties`
/// (Wei-Shaw/sub2api#795), `propertyNames` (openswarm-ai/openswarm#24,
/// langchain-ai/langchainjs#11606), made-up `values`
/// (google-gemini/deprecated-generative-ai-js#320).
pub(super) static NO_FIELD: VendorFact = fact!(P P U U P U U R P P U U,
    "not a field of Gemini's `parameters`; only `parametersJsonSchema` accepts JSON Schema");

/// The members of a property that Ollama's server reads (L1). It drops all others, and of the
/// parameters as a whole `anyOf`, `description` and `enum`, too.
pub(super) const OLLAMA_FIELDS: [&str; 8] =
    ["$defs", "anyOf", "description", "enum", "items", "properties", "required", "type"];

/// The fact about a keyword wherever it is and whatever its value; `None` for keywords that every
/// target accepts, or whose facts depend on the value.
pub(super) fn of_keyword(keyword: &str) -> Option<&'static VendorFact> {
    super::keywords::traits_of(keyword).fact
}

/// Keywords that describe without restricting. That a target drops one is not worth a finding.
pub(super) fn is_annotation(keyword: &str) -> bool {
    of_keyword(keyword).is_some_and(VendorFact::is_annotation)
}

/// Who states what a target accepts, in a few words, for reports of changes.
pub(super) fn authority(target: super::VendorTarget) -> &'static str {
    use super::VendorTarget::*;
    match target {
        OpenAi | OpenAiResponses => "errors of OpenAI's API, as users quote them",
        OpenAiStrict | OpenAiResponsesStrict => {
            "OpenAI, structured outputs, \"Supported schemas\"; pydantic-ai 2.66.0"
        }
        Anthropic => "errors of Anthropic's API, as users quote them",
        AnthropicStrict => "Anthropic, structured outputs, \"JSON Schema limitations\"",
        Gemini => "google-genai 3.1.0, `response_json_schema` and `interactions`",
        GeminiOpenapi => "`interface Schema` of @google/genai 2.32.0, and errors of the API",
        Bedrock => "botocore 1.44.0",
        Mistral => "mistralai 3.7.0",
        Cohere => "Cohere, tool use, \"Parameter types\"",
        Ollama => "ollama, `api/types.go` at fb30760",
    }
}
