//! The JSON Schema of `toolwright.toml`, for editors: names of keys, their values and what they are
//! for, made from the tables in `keys`. docs/toolwright.schema.json is its text.
//!
//! It is draft-07, which Taplo and the extensions of editors read. A schema cannot say everything
//! that reading reports: names of sources that occur twice, variables that are not set, a `timeout`
//! above `max_timeout`, a quote in `command` that is not closed, an invalid host.
//!
//! ```text
//! TABLES ─▶ a property of the root ─ each ConfigKey ─▶ KeyForm::schema, with `about` and a default
//! ```
//!
//! Defaults are read from the settings that code uses, so that the schema cannot state others.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use toolwright_model::{CallLimits, ServerSettings};

use super::LEVEL_WORDS;
use super::audit_settings::{AuditSettings, DAY, RECORDED_ARGUMENTS};
use super::browser_config::BrowserConfig;
use super::keys::{ConfigKey, KIND_KEYS, KeyForm, TABLES, TableShape};
use super::limits::OUTPUT_CHECKS;
use super::policy_settings::{OWN_AGENTS, PolicySettings};
use super::serve_settings::ServeSettings;
use super::server_settings::{ISOLATIONS, START_MODES};
use super::trust_settings::TrustSettings;
use crate::codes;

/// The schema. Taplo and others find it by `#:schema` in the first line of a configuration.
pub fn schema() -> Json {
    let tables = TABLES.iter().map(|table| {
        let schema = match table.shape {
            TableShape::List(keys, required) => {
                json!({"type": "array", "items": item_schema(table.name, keys, required)})
            }
            TableShape::Once(keys) => table_schema(table.name, keys),
            TableShape::Levels => levels_schema(),
        };
        (table.name, described(schema, table.about))
    });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "toolwright.toml",
        "description": "Where tools come from, the limits of calls, and which findings are reported.",
        "type": "object",
        "properties": members(tables),
        "additionalProperties": false,
    })
}

/// The table `name` with these keys and no others.
///
/// The description of a key is its `about`; a default is stated if the code has one.
fn table_schema(name: &str, keys: &[ConfigKey]) -> Json {
    let properties = keys.iter().map(|key| {
        let mut schema = described(key.form.schema(), key.about);
        if let Some(default) = default_value(name, key.name) {
            schema["default"] = default;
        }
        (key.name, schema)
    });
    json!({"type": "object", "properties": members(properties), "additionalProperties": false})
}

/// An item of a list of tables. A source has exactly one of the keys that tell where its tools are,
/// and keys that go with some of them only.
///
/// "Exactly one" is a `oneOf` of `required`; "goes with" is an entry of `dependencies`, the keyword
/// of draft-07.
fn item_schema(name: &str, keys: &'static [ConfigKey], required: &[&str]) -> Json {
    let mut schema = table_schema(name, keys);
    schema["required"] = json!(required);
    let with = |kind: &&str| json!({"required": [kind]});
    let is_kind = |key: &ConfigKey| KIND_KEYS.contains(&key.name);
    if keys.iter().any(is_kind) {
        schema["oneOf"] = KIND_KEYS.iter().map(with).collect();
    }
    let dependencies = keys.iter().filter(|key| key.goes_with != KIND_KEYS).map(|key| {
        let kinds: Vec<Json> = key.goes_with.iter().map(with).collect();
        (key.name, json!({"anyOf": kinds}))
    });
    let dependencies = members(dependencies);
    if dependencies.as_object().is_some_and(|map| !map.is_empty()) {
        schema["dependencies"] = dependencies;
    }
    schema
}

/// The names of all codes, sorted.
fn code_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = codes::all().map(|code| code.name).collect();
    names.sort_unstable();
    names
}

/// Every code, with its own severity and the first sentence of its manual.
///
/// The keys are those of `[levels]`, which has no table of keys in `keys`: the codes are the table.
fn levels_schema() -> Json {
    let mut all: Vec<_> = codes::all().collect();
    all.sort_by_key(|code| code.name);
    let words: Vec<&str> = LEVEL_WORDS.iter().map(|(word, _)| *word).collect();
    let properties = all.into_iter().map(|code| {
        let about = format!("{} (by default: {})", code.title(), code.severity.label());
        (code.name, described(json!({"enum": words}), &about))
    });
    json!({"type": "object", "properties": members(properties), "additionalProperties": false})
}

impl KeyForm {
    /// The schema of the values that it accepts.
    ///
    /// Each arm states the same as the check in `key_checks`, as far as JSON Schema can. The tests
    /// read every configuration with both.
    fn schema(&self) -> Json {
        // At least one character that is not white space.
        let text = json!({"type": "string", "pattern": "\\S"});
        match self {
            KeyForm::Text => text,
            KeyForm::Namespace => json!({"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"}),
            KeyForm::Command => {
                let words = json!({
                    "type": "array", "minItems": 1, "items": [text],
                    "additionalItems": {"type": "string"},
                });
                json!({"anyOf": [words, text]})
            }
            KeyForm::Url => json!({
                "type": "string", "pattern": "^([Hh][Tt][Tt][Pp]|[Ww][Ss])[Ss]?://[^\\s/?#:@]\\S*$",
            }),
            KeyForm::Flag => json!({"type": "boolean"}),
            KeyForm::Integer(min, max) => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            KeyForm::Choice(words) => json!({"enum": words()}),
            KeyForm::Choices(words) => json!({"type": "array", "items": {"enum": words()}}),
            KeyForm::Code => json!({"enum": code_names()}),
            KeyForm::Capabilities => json!({
                "type": "array",
                "items": {"type": "string", "pattern": "^[a-z]+:[a-z]+(:[a-z-]+)?$"},
            }),
            KeyForm::Schema => json!({"type": "object"}),
            KeyForm::Form { pattern, .. } => json!({"type": "string", "pattern": pattern}),
            KeyForm::Texts { pattern, .. } => json!({
                "type": "object", "propertyNames": {"pattern": pattern},
                "additionalProperties": {"type": "string"},
            }),
            KeyForm::TextList { pattern, .. } => json!({
                "type": "array", "items": {"type": "string", "pattern": pattern},
            }),
        }
    }
}

/// The value that a key of a table has if it is not set; `None` if it then has none.
fn default_value(table: &str, key: &str) -> Option<Json> {
    match table {
        "limits" => default_limit(key),
        "source" => default_of_server(key),
        "call" => (key == "defaults").then(|| json!(CallLimits::default().defaults)),
        "serve" => default_of_serve(key),
        "audit" => default_of_audit(key),
        "browser" => default_of_browser(key),
        "trust" => (key == "required").then(|| json!(TrustSettings::default().required)),
        "policy" => (key == "elicit").then(|| json!(PolicySettings::default().elicit)),
        "grant" => (key == "agent").then(|| json!(OWN_AGENTS[0])),
        _ => None,
    }
}

/// A time as the number that the configuration has for it.
fn milliseconds(time: Duration) -> Json {
    json!(u64::try_from(time.as_millis()).ok())
}

/// The default of a key that tells how a server is run.
fn default_of_server(name: &str) -> Option<Json> {
    let settings = ServerSettings::default();
    Some(match name {
        "start_timeout" => milliseconds(settings.start_timeout),
        "timeout" => milliseconds(CallLimits::default().server_timeout),
        "isolation" => json!(ISOLATIONS.iter().find(|(_, it)| *it == settings.isolation)?.0),
        "start" => json!(START_MODES.iter().find(|(_, it)| *it == settings.start)?.0),
        _ => return None,
    })
}

/// The default of a key of `[serve]`.
fn default_of_serve(name: &str) -> Option<Json> {
    let settings = ServeSettings::default();
    Some(match name {
        "session_idle" => milliseconds(settings.session_idle),
        "list_wait" => milliseconds(settings.list_wait),
        "answer_tokens" => json!(settings.answer_tokens),
        "allowed_hosts" => json!(settings.allowed_hosts),
        "allowed_origins" => json!(settings.allowed_origins),
        _ => return None,
    })
}

/// The default of a key of `[audit]`.
fn default_of_audit(name: &str) -> Option<Json> {
    let settings = AuditSettings::default();
    Some(match name {
        "required" => json!(settings.required),
        "arguments" => {
            json!(RECORDED_ARGUMENTS.iter().find(|(_, it)| *it == settings.arguments)?.0)
        }
        "keep_days" => json!(settings.keep.as_secs() / DAY),
        "max_bytes" => json!(settings.max_bytes),
        _ => return None,
    })
}

/// The default of a key of `[browser]`.
fn default_of_browser(name: &str) -> Option<Json> {
    let settings = BrowserConfig::default();
    Some(match name {
        "headless" => json!(settings.headless),
        "idle" => milliseconds(settings.idle),
        "memory" => json!(settings.memory),
        _ => return None,
    })
}

/// The default of a limit.
fn default_limit(name: &str) -> Option<Json> {
    let limits = CallLimits::default();
    let time = milliseconds;
    Some(match name {
        "timeout" => time(limits.timeout),
        "max_timeout" => time(limits.max_timeout),
        "output" => json!(limits.output),
        "output_schema" => {
            let known = OUTPUT_CHECKS.iter().find(|(_, check)| *check == limits.output_check);
            json!(known?.0)
        }
        "max_concurrent" => json!(limits.max_concurrent),
        "queue" => json!(limits.queue),
        "validator_timeout" => time(limits.functions.validator),
        "function_timeout" => time(limits.functions.function),
        "function_memory" => json!(limits.functions.memory),
        "body_memory" => json!(limits.functions.body_memory),
        _ => return None,
    })
}

/// The schema with a description in front, where readers of the file look for it.
fn described(schema: Json, about: &str) -> Json {
    let mut all = Map::new();
    all.insert("description".to_owned(), about.into());
    if let Json::Object(schema) = schema {
        all.extend(schema);
    }
    Json::Object(all)
}

/// An object of these members, in their order.
fn members<'a>(pairs: impl Iterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(pairs.map(|(name, value)| (name.to_owned(), value)).collect())
}
