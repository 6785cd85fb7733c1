//! What tools cost: the tokens of what a client sends to the model about each of them, and what
//! would save most.
//!
//! ```text
//! Draft ─ {"name", "description", "input_schema"} as compact JSON ─ token_count ─▶ ToolCost
//!            └ the parts that a model does not need ─ token_count ─▶ Saving
//! ```
//!
//! The count covers what every client sends with every request: name, description, input schema.
//! Clients wrap it in a few more words, each vendor in its own, and output schemas, annotations and
//! examples reach the model rarely; both are left out.

use std::collections::{BTreeMap, HashSet};

use toolwright_model::{Draft, FieldValue, InputSchema, Json};
use toolwright_source::{Diagnostic, RecordFinding, RecordPath, escape_token, locate};

use crate::Workspace;
use crate::codes::TOO_MANY_TOKENS;
use crate::load::{LoadedDocument, in_parallel};
use crate::token_count::TokenCounter;

/// Tokens above which the description of a tool is worth shortening. Most well-known servers stay
/// below it.
const LONG_DESCRIPTION: usize = 100;
/// The same for the description of a parameter.
const LONG_PARAMETER_DESCRIPTION: usize = 40;
/// Keywords that say nothing to a model: generators repeat the name of a property as its `title`.
const NEEDLESS_KEYWORDS: [&str; 4] = ["title", "$schema", "$id", "$comment"];
/// Keywords whose values are data and not schemas.
const DATA_KEYWORDS: [&str; 5] = ["const", "enum", "default", "examples", "example"];
/// Keywords whose values hold schemas by name.
const NAMED_SCHEMAS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The costs of all sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostReport {
    /// The sources that have tools, the most expensive first.
    pub sources: Vec<SourceCost>,
    /// What would save tokens, the largest saving first.
    pub savings: Vec<Saving>,
}

/// The tools of one document or server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCost {
    /// Its name in messages: a path, or the name of a server.
    pub name: String,
    /// Its tools, the most expensive first.
    pub tools: Vec<ToolCost>,
}

/// What the definition of one tool costs in each request to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCost {
    /// Its name as authored. It may hold anything.
    pub name: String,
    /// The tokens of its name, description and input schema.
    pub tokens: usize,
}

/// Something that could be left out of the tools of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The kind of text that could go.
    pub kind: SavingKind,
    /// The source of the tools.
    pub source: String,
    /// The tokens it would save, over all tools.
    pub tokens: usize,
    /// The tools that have it, those that save most first.
    pub tools: Vec<String>,
}

/// What could be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SavingKind {
    /// `title`, `$schema`, `$id` and `$comment` in schemas.
    NeedlessKeywords,
    /// Definitions that no reference names.
    UnusedDefinitions,
    /// Descriptions of tools beyond 100 tokens.
    LongDescriptions,
    /// Descriptions of parameters beyond 40 tokens each.
    LongParameterDescriptions,
}

impl SavingKind {
    /// The advice, as a phrase.
    pub fn advice(self) -> &'static str {
        match self {
            SavingKind::NeedlessKeywords => "drop `title`, `$schema`, `$id` and `$comment`",
            SavingKind::UnusedDefinitions => "drop definitions that nothing refers to",
            SavingKind::LongDescriptions => "shorten descriptions to 100 tokens",
            SavingKind::LongParameterDescriptions => "shorten parameter descriptions to 40 tokens",
        }
    }

    /// The word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            SavingKind::NeedlessKeywords => "needless-keywords",
            SavingKind::UnusedDefinitions => "unused-definitions",
            SavingKind::LongDescriptions => "long-descriptions",
            SavingKind::LongParameterDescriptions => "long-parameter-descriptions",
        }
    }
}

/// Thresholds above which `check` warns; `None` never warns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenLimits {
    /// Tokens of one tool.
    pub tool: Option<usize>,
    /// Tokens of all tools of a check.
    pub total: Option<usize>,
}

impl TokenLimits {
    /// Whether tokens are limited, so that they have to be counted.
    pub(crate) fn are_set(self) -> bool {
        self.tool.is_some() || self.total.is_some()
    }
}

impl SourceCost {
    /// The tokens of all its tools.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }
}

impl CostReport {
    /// The tokens of all tools.
    pub fn tokens(&self) -> usize {
        self.sources.iter().map(SourceCost::tokens).sum()
    }
}

/// A tool and where it is.
///
/// `document` and `tool` are places in the lists of documents and of their tools.
struct CountedTool<'a> {
    document: usize,
    tool: usize,
    name: &'a str,
    draft: &'a Draft,
}

impl Workspace {
    /// Counts the tokens of all tools. Counts are kept in [`Workspace::token_cache`].
    ///
    /// Counting is slow, and tools are independent, so it runs on all cores. Savings are found per
    /// tool and summed up by document and kind.
    ///
    /// A document without tools is not listed. Tools of one cost keep their order.
    pub fn cost(&self, documents: &[LoadedDocument]) -> CostReport {
        let counter = TokenCounter::open(self.token_cache.as_deref());
        let tools = tools_of(documents);
        let counted = in_parallel(&tools, |tool| {
            let tokens = counter.count(&sent_text(tool.name, tool.draft, schema_of(tool.draft)));
            (tokens, savings_of(tool.draft, &counter))
        });
        counter.save();
        let mut sources: BTreeMap<usize, SourceCost> = BTreeMap::new();
        let mut savings: BTreeMap<(usize, SavingKind), Vec<(usize, &str)>> = BTreeMap::new();
        for (CountedTool { document, name, .. }, (tokens, saved)) in tools.iter().zip(counted) {
            let source = sources.entry(*document).or_insert_with(|| SourceCost {
                name: source_name(&documents[*document]).to_owned(),
                tools: Vec::new(),
            });
            source.tools.push(ToolCost { name: (*name).to_owned(), tokens });
            for (kind, tokens) in saved {
                savings.entry((*document, kind)).or_default().push((tokens, name));
            }
        }
        let saving = |((document, kind), mut tools): ((usize, SavingKind), Vec<(usize, &str)>)| {
            tools.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
            Saving {
                kind,
                source: source_name(&documents[document]).to_owned(),
                tokens: tools.iter().map(|(tokens, _)| tokens).sum(),
                tools: tools.into_iter().map(|(_, name)| name.to_owned()).collect(),
            }
        };
        let mut savings: Vec<Saving> = savings.into_iter().map(saving).collect();
        savings.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
        let mut sources: Vec<SourceCost> = sources.into_values().collect();
        for source in &mut sources {
            source.tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
        }
        sources.sort_by_key(|source| std::cmp::Reverse(source.tokens()));
        CostReport { sources, savings }
    }

    /// The warnings about tools that cost more than `limits`, each with the number of its document.
    ///
    /// Counting is slow, so nothing is counted without a threshold. A tool over the first threshold
    /// has a warning of its own; the sum has one, at the tool that costs most.
    pub(crate) fn check_tokens(
        &self,
        documents: &[LoadedDocument],
        limits: TokenLimits,
    ) -> Vec<(usize, Diagnostic)> {
        if !limits.are_set() {
            return Vec::new();
        }
        let counter = TokenCounter::open(self.token_cache.as_deref());
        let tools = tools_of(documents);
        let counts = in_parallel(&tools, |tool| {
            counter.count(&sent_text(tool.name, tool.draft, schema_of(tool.draft)))
        });
        counter.save();
        let mut found = Vec::new();
        let mut report = |tool: &CountedTool<'_>, message: String| {
            let Some(reading) = &documents[tool.document].reading else { return };
            let at = RecordPath::path(&[&"tools", &tool.tool, &"name"]);
            let finding = RecordFinding::new(&TOO_MANY_TOKENS, at, message)
                .help("`toolwright cost` shows what would save most");
            let finding = reading.origin.in_document(finding);
            found.push((tool.document, locate(finding, reading.origin.document())));
        };
        for (tool, tokens) in tools.iter().zip(&counts) {
            if let Some(max) = limits.tool.filter(|max| tokens > max) {
                report(tool, format!("the tool costs {tokens} tokens, more than {max}"));
            }
        }
        let total: usize = counts.iter().sum();
        let largest = tools.iter().zip(&counts).max_by_key(|(_, tokens)| **tokens);
        if let (Some((tool, tokens)), Some(max)) =
            (largest, limits.total.filter(|max| total > *max))
        {
            // There is no place for all tools, and this one is where to begin.
            let message = format!(
                "all tools together cost {total} tokens, more than {max}; this one costs most, \
                 {tokens}"
            );
            report(tool, message);
        }
        found
    }
}

/// The name of a document in messages.
fn source_name(document: &LoadedDocument) -> &str {
    document.reading.as_ref().map_or("", |reading| reading.origin.document().source().name())
}

/// All tools that have a name.
///
/// A tool without any name cannot be called, and is not counted.
fn tools_of(documents: &[LoadedDocument]) -> Vec<CountedTool<'_>> {
    let of_document = |(document, loaded)| {
        let loaded: &LoadedDocument = loaded;
        let tools = loaded.reading.iter().flat_map(|reading| &reading.toolset.tools);
        tools.enumerate().filter_map(move |(tool, draft)| {
            let name = match &draft.name {
                FieldValue::Valid(name) => name.as_str(),
                // A server may list names that MCP does not allow.
                FieldValue::Invalid(Json::String(name)) => name,
                _ => return None,
            };
            Some(CountedTool { document, tool, name, draft })
        })
    };
    documents.iter().enumerate().flat_map(of_document).collect()
}

/// The input schema as it was written; `None` if the server that has it was not asked.
fn schema_of(draft: &Draft) -> Option<&Json> {
    draft.input.ok().and_then(InputSchema::written)
}

/// The description, empty if there is none.
fn description_of(draft: &Draft) -> &str {
    draft.description.ok().map_or("", String::as_str)
}

/// What is counted: compact JSON, as clients send it.
///
/// Members are in a fixed order, because the count is kept by a hash of the text.
fn sent_text(name: &str, draft: &Draft, schema: Option<&Json>) -> String {
    let mut sent = serde_json::Map::new();
    sent.insert("name".to_owned(), name.into());
    let description = description_of(draft);
    if !description.is_empty() {
        sent.insert("description".to_owned(), description.into());
    }
    sent.extend(schema.map(|schema| ("input_schema".to_owned(), schema.clone())));
    Json::Object(sent).to_string()
}

/// What could be left out of one tool, and the tokens that would save.
///
/// Only what saves something is returned. The four kinds overlap: the description of an unused
/// definition may be counted under two of them.
fn savings_of(draft: &Draft, counter: &TokenCounter) -> Vec<(SavingKind, usize)> {
    // A text has at most one token per byte, so short texts need not be counted.
    let excess = |text: &str, max: usize| match text.len() > max {
        true => counter.count(text).saturating_sub(max),
        false => 0,
    };
    let mut found =
        vec![(SavingKind::LongDescriptions, excess(description_of(draft), LONG_DESCRIPTION))];
    if let Some(schema) = schema_of(draft) {
        let mut descriptions = Vec::new();
        collect(schema, "description", &mut descriptions);
        let long = descriptions.iter().map(|text| excess(text, LONG_PARAMETER_DESCRIPTION)).sum();
        found.push((SavingKind::LongParameterDescriptions, long));
        found.push((SavingKind::NeedlessKeywords, needless_keywords(schema, counter)));
        found.push((SavingKind::UnusedDefinitions, unused_definitions(schema, counter)));
    }
    found.retain(|(_, tokens)| *tokens > 0);
    found
}

/// Visits a schema and those inside it. Unlike the walk of the crate `schema` it also enters
/// unknown keywords, because their texts cost the same. Documents nest at most 128 levels deep.
fn visit<'a>(schema: &'a Json, see: &mut dyn FnMut(&'a serde_json::Map<String, Json>)) {
    match schema {
        Json::Object(members) => {
            see(members);
            for (keyword, value) in members {
                if NAMED_SCHEMAS.contains(&keyword.as_str()) {
                    value.as_object().into_iter().flatten().for_each(|(_, one)| visit(one, see));
                } else if !DATA_KEYWORDS.contains(&keyword.as_str()) {
                    visit(value, see);
                }
            }
        }
        Json::Array(list) => list.iter().for_each(|one| visit(one, see)),
        _ => {}
    }
}

/// The texts of a keyword in a schema and those inside it.
fn collect<'a>(schema: &'a Json, keyword: &str, texts: &mut Vec<&'a str>) {
    visit(schema, &mut |members| texts.extend(members.get(keyword).and_then(Json::as_str)));
}

/// The tokens of the keywords that say nothing to a model. Each is counted by itself, which is a
/// token or so apart from counting the schema without it, and takes much less time: most titles
/// are short and repeat.
fn needless_keywords(schema: &Json, counter: &TokenCounter) -> usize {
    let mut tokens = 0;
    visit(schema, &mut |members| {
        for keyword in NEEDLESS_KEYWORDS {
            let value = members.get(keyword).filter(|value| value.is_string());
            tokens += value.map_or(0, |value| member_tokens(keyword, value, counter));
        }
    });
    tokens
}

/// The tokens of the definitions at the root that no reference names. Definitions that only refer
/// to themselves or each other count as named.
///
/// `0` if a reference is not a pointer, since it might name any of them.
fn unused_definitions(schema: &Json, counter: &TokenCounter) -> usize {
    let definitions: Vec<(&String, &Json)> = ["$defs", "definitions"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword)?.as_object())
        .flatten()
        .collect();
    if definitions.is_empty() {
        return 0;
    }
    let mut references = Vec::new();
    collect(schema, "$ref", &mut references);
    // References by anchor or URI are rare, and nothing is said about them.
    if references.iter().any(|reference| *reference != "#" && !reference.starts_with("#/")) {
        return 0;
    }
    // `#/$defs/NAME/…`: the name as it is written in pointers.
    let named: HashSet<&str> =
        references.iter().filter_map(|reference| reference.split('/').nth(2)).collect();
    let is_named = |name: &str| named.contains(&*escape_token(name));
    let unused = definitions.into_iter().filter(|(name, _)| !is_named(name));
    unused.map(|(name, definition)| member_tokens(name, definition, counter)).sum()
}

/// The tokens of a member of an object, with its comma.
fn member_tokens(key: &str, value: &Json, counter: &TokenCounter) -> usize {
    counter.count(&format!("{}:{value},", Json::from(key)))
}
