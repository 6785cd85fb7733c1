//! Whether a converted document and its report together hold everything that the source has.
//!
//! ```text
//! each key and value of the source ─▶ is it in the output? ─▶ is it below a place of the report?
//!                                                                      └─▶ else it is missing
//! ```
//!
//! Nothing here knows how converting works: words of one document are looked for in the other.

use std::collections::HashSet;

use serde_json::Value as Json;
use toolwright_source::{Document, Syntax};

/// A document as a value.
pub(super) fn parsed(text: &str) -> Json {
    let syntax = if text.starts_with(['{', '[']) { Syntax::Json } else { Syntax::Yaml };
    Document::parse("converted", text, syntax).root().to_json()
}

/// What is reported: pointers into the source.
pub(super) struct ReportedPlaces {
    /// Places of losses, but for what was filled in, which has no place of its own.
    pub(super) losses: Vec<String>,
    /// Places and keywords that have another form, and mean the same there.
    pub(super) rewrites: Vec<(String, String)>,
}

impl ReportedPlaces {
    fn has_lost(&self, at: &str) -> bool {
        self.losses.iter().any(|place| at == place || at.starts_with(&format!("{place}/")))
    }
}

/// The parts of the source that are neither in the output nor reported.
pub(super) fn missing(
    format: &str,
    source: &Json,
    output: &Json,
    reported: &ReportedPlaces,
) -> Vec<String> {
    let mut words = HashSet::new();
    collect(output, &mut words);
    let mut search = Search { format, words, reported, missing: Vec::new() };
    search.value(source, "", "");
    search.missing
}

/// All keys, texts and numbers. Vendors differ in the case of type names.
fn collect(value: &Json, words: &mut HashSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Json::Object(members) => {
            for (key, value) in members {
                words.insert(key.to_lowercase());
                collect(value, words);
            }
        }
        Json::String(text) => drop(words.insert(text.to_lowercase())),
        Json::Number(number) => drop(words.insert(number.to_string())),
        Json::Bool(_) | Json::Null => {}
    }
}

struct Search<'r> {
    format: &'r str,
    words: HashSet<String>,
    reported: &'r ReportedPlaces,
    missing: Vec<String>,
}

impl Search<'_> {
    /// Looks for a value that has the name `name` in the object around it.
    fn value(&mut self, value: &Json, at: &str, name: &str) {
        if self.reported.has_lost(at) || self.is_fixed(value, at, name) {
            return;
        }
        let is_rewritten = self.is_rewritten(at, value, name);
        match value {
            // An empty list or object says what its absence says.
            Json::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.value(item, &format!("{at}/{n}"), name);
                }
            }
            Json::Object(members) => {
                for (key, value) in members {
                    let token = key.replace('~', "~0").replace('/', "~1");
                    let below = format!("{at}/{token}");
                    let is_named = matches!(name, "properties" | "patternProperties");
                    if is_named && !is_rewritten && !self.has(key) && !self.is_reported(&below) {
                        self.missing.push(format!("{below}: the name"));
                    }
                    self.value(value, &below, key);
                }
            }
            // A loss of a whole schema would not name this keyword, so it does not count.
            _ if is_rewritten => {}
            Json::String(text) if matches!(name, "description" | "title" | "summary") => {
                let text = text.trim().to_lowercase();
                if !self.words.iter().any(|word| word.contains(&text)) {
                    self.missing.push(format!("{at}: {text}"));
                }
            }
            Json::String(text) if !self.has(text) => self.missing.push(format!("{at}: {text}")),
            Json::Number(number) if !self.has(&number.to_string()) => {
                self.missing.push(format!("{at}: {number}"));
            }
            // A flag is in the output if its name is.
            Json::Bool(_) | Json::Null if !self.is_item(at) && !self.has(name) => {
                self.missing.push(format!("{at}: the flag"));
            }
            _ => {}
        }
    }

    /// Whether a keyword has another form. An item of one, such as a name of a type, goes with it;
    /// the name of a required property goes with the property.
    fn is_rewritten(&self, at: &str, value: &Json, name: &str) -> bool {
        let is_place = |at: &str| self.is_place(at);
        // Values of `not` are left out of a list, and branches that nothing matches of a choice,
        // with all that is in them. An example has another form.
        let is_left_out = self.reported.rewrites.iter().any(|(place, keyword)| {
            let is_whole = matches!(keyword.as_str(), "not" | "input")
                || keyword == "anyOf" && self.is_item(place);
            is_whole && at.starts_with(&format!("{place}/"))
        });
        let list = at.rsplit_once('/').filter(|_| self.is_item(at)).map_or(at, |(list, _)| list);
        let property = value.as_str().filter(|_| name == "required").and_then(|property| {
            Some(format!("{}/properties/{property}", list.strip_suffix("/required")?))
        });
        // Where schemas are merged, the tighter of two bounds is left, and the types of both.
        let is_narrowed = ["min", "max", "exclusive", "type"].iter().any(|it| name.starts_with(it));
        let merged =
            list.rsplitn(3, '/').nth(2).filter(|all| is_narrowed && all.ends_with("/allOf"));
        is_left_out
            || is_place(at)
            || is_place(list)
            || property.is_some_and(|at| is_place(&at))
            || merged.is_some_and(is_place)
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }

    fn is_reported(&self, at: &str) -> bool {
        self.reported.has_lost(at) || self.is_place(at)
    }

    /// Whether something is reported as rewritten exactly here.
    fn is_place(&self, at: &str) -> bool {
        self.reported.rewrites.iter().any(|(place, _)| place == at)
    }

    /// Whether this is an item of a list of values, such as `null` in an enum.
    fn is_item(&self, at: &str) -> bool {
        at.rsplit('/').next().is_some_and(|token| token.bytes().all(|b| b.is_ascii_digit()))
    }

    /// Parts of a format that are the same in all of its documents, or that other formats say in
    /// other words.
    fn is_fixed(&self, value: &Json, at: &str, name: &str) -> bool {
        match (self.format, name, value.as_str()) {
            // The version of the format itself.
            ("btcp", "btcp", _) => at == "/btcp",
            ("openapi", "openapi", _) => at == "/openapi",
            // The only kind of tool that these documents have.
            ("openai", "type", Some("function")) | ("anthropic", "type", Some("custom")) => true,
            // Together with the name it is the id, which is reported as one.
            ("mcp", "namespace", Some(_)) => {
                let name =
                    at.strip_suffix("space").map(|at| format!("{}name", &at[..at.len() - 4]));
                name.is_some_and(|name| self.reported.has_lost(&name))
            }
            // The strategy of documents that name none.
            ("aios", "knowledge_strategy", Some("embedded")) => true,
            // OpenAPI 3.0 and Gemini have this word for the type `null`.
            ("openapi" | "gemini", "nullable", _) => {
                *value == Json::Bool(false) || self.has("null") || self.has("nullable")
            }
            _ => false,
        }
    }
}
