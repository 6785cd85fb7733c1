//! What an agent is given to read about a tool: its description as served, and the document with
//! the knowledge of its toolset.
//!
//! ```text
//! description ─┐                             strategy       description gets        document
//! deprecation ─┤                             embedded       everything that fits    –
//! an example ──┼─▶ AgentTexts::description    hybrid         names and remedies      all
//! knowledge ───┴─▶ knowledge_document         external       the URI of the document all
//!                                             executable     –                       –
//!                                             none           –                       –
//! ```
//!
//! Only texts for the model are made here. The authored description is what is hashed, checked and
//! converted; functions run whatever the strategy is. That a tool is deprecated is not knowledge,
//! and is always in the description.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use crate::{Deprecation, Example, Knowledge, KnowledgeStrategy};

/// The most characters that a description grows by: about 500 tokens. A model reads all
/// descriptions with every request, and a server with twenty commands then costs 10,000 tokens
/// more at most.
pub const MAX_EMBEDDED: usize = 2_000;
/// The same for the short form of the strategy `hybrid`, whose document has the rest.
const MAX_SHORT: usize = 600;
/// The most characters of one example. Half an example would be a wrong one, so a longer one is
/// left out.
const MAX_EXAMPLE: usize = 600;
/// The most characters of a deprecation message.
const MAX_DEPRECATION: usize = 500;
/// The most characters of one note in a description.
const MAX_NOTE: usize = 500;
/// The most characters of a whole document. A client reads it as one answer.
const MAX_DOCUMENT: usize = 200_000;

/// The most notes of each kind that are considered for descriptions.
const MAX_NOTES: usize = 200;
/// The bytes of each text in which names of commands are looked for.
const MAX_SEARCHED: usize = 2_000;

/// The names of all tools of a toolset.
pub type CommandNames = HashSet<String>;

/// The texts of a toolset for the descriptions of its tools, made once for all of them.
#[derive(Clone, Debug, Default)]
pub struct AgentTexts {
    strategy: KnowledgeStrategy,
    /// The most useful first.
    notes: Vec<AgentNote>,
    /// Where the document is, if there is one.
    document: Option<String>,
}

/// One note of a definition.
#[derive(Clone, Debug)]
struct AgentNote {
    text: String,
    /// Its characters, counted once: every tool of the toolset asks.
    length: usize,
    /// The commands that it names; of others it says nothing. Empty: it is about all.
    names: BTreeSet<String>,
}

/// The parts of a tool that its served description is made of.
#[derive(Clone, Copy)]
pub struct ServedTool<'a> {
    /// Its name, which definitions call a command.
    pub name: &'a str,
    /// The authored description.
    pub description: Option<&'a str>,
    /// Its examples, of which one is shown.
    pub examples: &'a [Example],
    /// Whether it is deprecated.
    pub deprecation: &'a Deprecation,
}

impl AgentTexts {
    /// The texts of a toolset with these tools; `document` is the URI of its document.
    pub fn new(
        knowledge: &Knowledge,
        commands: &CommandNames,
        document: Option<String>,
    ) -> AgentTexts {
        let notes = match knowledge.strategy {
            KnowledgeStrategy::Embedded => notes(knowledge, commands, NoteForm::Whole),
            KnowledgeStrategy::Hybrid => notes(knowledge, commands, NoteForm::Short),
            _ => Vec::new(),
        };
        AgentTexts { strategy: knowledge.strategy, notes, document }
    }

    /// The URI of the document, if there is one.
    pub fn document(&self) -> Option<&str> {
        self.document.as_deref()
    }

    /// The description of a tool as agents get it; `None` if there is nothing to say.
    pub fn description(&self, tool: &ServedTool<'_>) -> Option<String> {
        let mut parts = Vec::new();
        if tool.deprecation.deprecated {
            parts.push(match tool.deprecation.shown_message() {
                Some(message) => format!("Deprecated: {message}"),
                None => "Deprecated.".to_owned(),
            });
        }
        parts.extend(tool.description.map(str::to_owned));
        let budget = match self.strategy {
            KnowledgeStrategy::Embedded => MAX_EMBEDDED,
            KnowledgeStrategy::Hybrid => MAX_SHORT,
            _ => 0,
        };
        if budget > 0 {
            let is_about =
                |note: &&AgentNote| note.names.is_empty() || note.names.contains(tool.name);
            let notes = self.notes.iter().filter(is_about);
            let notes = notes.map(|note| (note.text.as_str(), note.length));
            let example = example(tool.examples);
            let example = example.as_deref().map(|text| (text, text.chars().count()));
            parts.extend(within(example.into_iter().chain(notes), budget));
        }
        if let Some(uri) = &self.document {
            parts.push(format!("Known mistakes and examples: read the resource {uri}"));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

impl Deprecation {
    /// The message as agents and callers get it, cut if it is long; `None` if it is blank.
    pub fn shown_message(&self) -> Option<String> {
        let message = self.message.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(shortened(message, MAX_DEPRECATION))
    }
}

/// Whether the knowledge of a toolset is offered as a document: its strategy says so, and there is
/// something to read.
pub fn has_document(knowledge: &Knowledge, has_examples: bool) -> bool {
    let is_external =
        matches!(knowledge.strategy, KnowledgeStrategy::External | KnowledgeStrategy::Hybrid);
    let has_notes = !knowledge.quirks.is_empty()
        || !knowledge.anti_patterns.is_empty()
        || !knowledge.payload_schemas.is_empty()
        || !knowledge.field_mappings.is_empty();
    is_external && (has_notes || has_examples)
}

/// The URI of the document with the knowledge of a toolset. The namespace has no characters that a
/// URI does not allow, or they are escaped.
pub fn document_uri(namespace: &str) -> String {
    let mut uri = "toolwright://knowledge/".to_owned();
    for byte in namespace.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => uri.push(byte.into()),
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

/// Everything that a definition says about the use of its tools, as Markdown. `tools` are the names
/// of its tools with their examples.
pub fn knowledge_document<'a>(
    title: &str,
    knowledge: &Knowledge,
    tools: impl Iterator<Item = (&'a str, &'a [Example])>,
) -> String {
    let mut text = format!("# {}\n", one_line(title));
    let mut section = |heading: &str, notes: Vec<String>| {
        if !notes.is_empty() {
            let _ = write!(text, "\n## {heading}\n");
            notes.iter().for_each(|note| {
                let _ = write!(text, "\n{note}\n");
            });
        }
    };
    let quirks = knowledge.quirks.iter().map(|quirk| {
        let parts = [
            ("", &quirk.description),
            ("Impact: ", &quirk.impact),
            ("Mitigation: ", &quirk.mitigation),
        ];
        document_item(quirk.name.as_deref(), &parts)
    });
    section("Quirks", quirks.collect());
    let patterns = knowledge.anti_patterns.iter().map(|pattern| {
        let code = |text: &Option<String>| {
            text.as_ref().map(|text| format!("\n\n```\n{}\n```", text.trim_end()))
        };
        let impact = pattern.rest.get("impact").and_then(crate::Json::as_str).map(str::to_owned);
        let parts = [
            ("", &pattern.description),
            ("Category: ", &pattern.category),
            ("Wrong:", &code(&pattern.wrong)),
            ("Correct:", &code(&pattern.correct)),
            ("Why: ", &pattern.rationale),
            ("Impact: ", &impact),
        ];
        document_item(pattern.name.as_deref(), &parts)
    });
    section("Mistakes to avoid", patterns.collect());
    section("Shapes of answers", payload_notes(knowledge).collect());
    section("Fields", field_notes(knowledge).collect());
    for (name, examples) in tools {
        let shown = examples.iter().filter_map(|example| {
            let input = example.input.as_ref()?;
            let what = example.description.as_deref().or(example.scenario.as_deref());
            let outcome = match (&example.output, &example.error) {
                (Some(output), _) => format!(" → `{output}`"),
                (None, Some(error)) => {
                    let (code, message) = (error.code.as_deref(), error.message.as_deref());
                    let parts: Vec<&str> = [code, message].into_iter().flatten().collect();
                    format!(" → error: {}", parts.join(": "))
                }
                (None, None) => String::new(),
            };
            let mut shown =
                format!("- {}: `{input}`{outcome}", one_line(what.unwrap_or("example")));
            let mitigation = example.rest.get("mitigation").and_then(crate::Json::as_str);
            push(&mut shown, ". Mitigation: ", &mitigation.map(str::to_owned));
            Some(shown)
        });
        section(&format!("Examples of {name}"), shown.collect());
    }
    shortened(&text, MAX_DOCUMENT)
}

/// One entry of a document: a heading and the parts that are there.
fn document_item(name: Option<&str>, parts: &[(&str, &Option<String>)]) -> String {
    let mut text = format!("### {}\n", one_line(name.unwrap_or("unnamed")));
    for (label, part) in parts {
        if let Some(part) = part {
            let _ = write!(text, "\n{label}{}\n", part.trim_end());
        }
    }
    text.trim_end().to_owned()
}

/// How much of a note goes into a description.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoteForm {
    Whole,
    Short,
}

/// The notes for descriptions, the most useful first.
fn notes(knowledge: &Knowledge, commands: &CommandNames, form: NoteForm) -> Vec<AgentNote> {
    let mut notes = Vec::new();
    for pattern in knowledge.anti_patterns.iter().take(MAX_NOTES) {
        let why = pattern.rationale.clone().or_else(|| pattern.description.clone());
        let mut text = "Avoid".to_owned();
        push(&mut text, " ", &pattern.name);
        match form {
            NoteForm::Short => push(&mut text, ": ", &why),
            NoteForm::Whole => {
                push(&mut text, ": ", &pattern.description);
                push(&mut text, " Wrong: ", &pattern.wrong);
                push(&mut text, " Correct: ", &pattern.correct);
                push(&mut text, " Why: ", &pattern.rationale);
            }
        }
        let texts = [&pattern.name, &pattern.description, &pattern.wrong, &pattern.correct];
        notes.push(AgentNote::new(&text, &texts, commands));
    }
    for quirk in knowledge.quirks.iter().take(MAX_NOTES) {
        let mut text = "Quirk".to_owned();
        push(&mut text, " ", &quirk.name);
        match form {
            NoteForm::Short => push(&mut text, ": ", &quirk.mitigation),
            NoteForm::Whole => {
                push(&mut text, ": ", &quirk.description);
                push(&mut text, " Impact: ", &quirk.impact);
                push(&mut text, " Instead: ", &quirk.mitigation);
            }
        }
        let texts = [&quirk.name, &quirk.description, &quirk.mitigation];
        notes.push(AgentNote::new(&text, &texts, commands));
    }
    if form == NoteForm::Whole {
        let more = payload_notes(knowledge).take(MAX_NOTES);
        let more = more.chain(field_notes(knowledge).take(MAX_NOTES));
        notes.extend(more.map(|text| AgentNote::new(&text, &[], commands)));
    }
    notes
}

impl AgentNote {
    fn new(text: &str, texts: &[&Option<String>], commands: &CommandNames) -> AgentNote {
        let texts = texts.iter().filter_map(|text| text.as_deref());
        let names = commands_named_in(texts, commands).map(str::to_owned).collect();
        let text = shortened(text, MAX_NOTE);
        AgentNote { length: text.chars().count(), text, names }
    }
}

/// Adds a part of a note, on one line, if it is there.
fn push(note: &mut String, label: &str, text: &Option<String>) {
    if let Some(text) = text.as_deref().map(one_line).filter(|text| !text.is_empty()) {
        note.push_str(label);
        note.push_str(&text);
    }
}

/// The shapes that an answer may have.
fn payload_notes(knowledge: &Knowledge) -> impl Iterator<Item = String> {
    knowledge.payload_schemas.iter().map(|schema| {
        let mut note = "An answer may be".to_owned();
        push(&mut note, " ", &schema.kind);
        push(&mut note, ", known by: ", &schema.detection);
        push(&mut note, "; its data is at ", &schema.payload_path);
        note
    })
}

/// The fields with a structure of their own.
fn field_notes(knowledge: &Knowledge) -> impl Iterator<Item = String> {
    knowledge.field_mappings.iter().filter_map(|mapping| {
        let structure = mapping.structure.as_ref().map(ToString::to_string);
        let note = mapping.rest.get("note").and_then(crate::Json::as_str).map(str::to_owned);
        if structure.is_none() && note.is_none() {
            return None;
        }
        let mut text = format!("Field {}", one_line(&mapping.path.join(".")));
        push(&mut text, ": ", &structure);
        push(&mut text, ". ", &note);
        Some(text)
    })
}

/// The first example of a success that is short enough.
fn example(examples: &[Example]) -> Option<String> {
    let is_success = |example: &&Example| {
        let scenario = example.scenario.as_deref().unwrap_or("success");
        example.error.is_none() && scenario.starts_with("success")
    };
    examples.iter().filter(is_success).find_map(|example| {
        let input = example.input.as_ref()?.to_string();
        let mut text = "Example".to_owned();
        if let Some(about) = example.description.as_deref().map(one_line) {
            let _ = write!(text, " ({about})");
        }
        let _ = write!(text, ": {input}");
        let output = example.output.as_ref().map(|output| format!(" → {output}"));
        let whole = text.clone() + output.as_deref().unwrap_or_default();
        let fits = |text: &String| text.chars().count() <= MAX_EXAMPLE;
        // The arguments alone are still an example.
        [whole, text].into_iter().find(fits)
    })
}

/// The commands that the beginnings of texts name. A name without a separator is also a common
/// word, such as `list` or `search`, and is not looked for.
pub fn commands_named_in<'t>(
    texts: impl Iterator<Item = &'t str>,
    commands: &CommandNames,
) -> impl Iterator<Item = &'t str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let searched = texts.map(|text| &text[..text.floor_char_boundary(MAX_SEARCHED)]);
    let words = searched.flat_map(move |text| text.split(move |c: char| !is_name(c)));
    let is_distinct =
        |word: &str| word.contains(['_', '-']) || word.contains(|c: char| c.is_uppercase());
    words.filter(move |word| is_distinct(word) && commands.contains(*word))
}

/// The notes that fit into a budget of characters, and how many do not. Each comes with its length.
fn within<'n>(notes: impl Iterator<Item = (&'n str, usize)>, budget: usize) -> Vec<String> {
    let (mut left, mut rest, mut kept) = (budget, 0, Vec::new());
    for (note, length) in notes {
        if length <= left {
            left -= length;
            kept.push(note.to_owned());
        } else {
            rest += 1;
        }
    }
    if rest > 0 && !kept.is_empty() {
        let verb = if rest == 1 { "does" } else { "do" };
        kept.push(format!("({rest} more of such notes {verb} not fit here)"));
    }
    kept
}

/// The text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text, cut to a number of characters with an ellipsis.
fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{AntiPattern, Quirk};

    fn knowledge(strategy: KnowledgeStrategy) -> Knowledge {
        let text = |text: &str| Some(text.to_owned());
        Knowledge {
            strategy,
            anti_patterns: vec![
                AntiPattern {
                    name: text("wrong_format"),
                    description: text("An object where a list belongs."),
                    wrong: text("create_task({assignees: {add: [4]}})"),
                    correct: text("create_task({assignees: [4]})"),
                    rationale: text("Create expects a list."),
                    ..AntiPattern::default()
                },
                AntiPattern {
                    name: text("other"),
                    wrong: text("update_task({})"),
                    ..AntiPattern::default()
                },
            ],
            quirks: vec![Quirk {
                name: text("rate"),
                description: text("100 calls a minute."),
                mitigation: text("Wait."),
                ..Quirk::default()
            }],
            ..Knowledge::default()
        }
    }

    fn describe(strategy: KnowledgeStrategy) -> String {
        let knowledge = knowledge(strategy);
        let example = Example {
            scenario: Some("success".to_owned()),
            input: Some(json!({"name": "a"})),
            output: Some(json!({"id": 1})),
            ..Example::default()
        };
        let deprecation = Deprecation { deprecated: true, message: Some("use add".to_owned()) };
        let commands = ["create_task", "update_task"].map(str::to_owned).into();
        let document = has_document(&knowledge, true).then(|| document_uri("tasks"));
        let texts = AgentTexts::new(&knowledge, &commands, document);
        let served = texts.description(&ServedTool {
            name: "create_task",
            description: Some("Creates a task."),
            examples: &[example],
            deprecation: &deprecation,
        });
        served.unwrap_or_default()
    }

    #[test]
    fn the_strategy_decides_what_a_description_says() {
        let whole = "Deprecated: use add\n\nCreates a task.\n\nExample: {\"name\":\"a\"} → \
                     {\"id\":1}\n\nAvoid wrong_format: An object where a list belongs. Wrong: \
                     create_task({assignees: {add: [4]}}) Correct: create_task({assignees: [4]}) \
                     Why: Create expects a list.\n\nQuirk rate: 100 calls a minute. Instead: Wait.";
        let document =
            "Known mistakes and examples: read the resource toolwright://knowledge/tasks";
        let short = "Deprecated: use add\n\nCreates a task.\n\nExample: {\"name\":\"a\"} → \
                     {\"id\":1}\n\nAvoid wrong_format: Create expects a list.\n\nQuirk rate: \
                     Wait.\n\n";
        assert_eq!(describe(KnowledgeStrategy::Embedded), whole);
        assert_eq!(describe(KnowledgeStrategy::Hybrid), format!("{short}{document}"));
        let plain = "Deprecated: use add\n\nCreates a task.";
        assert_eq!(describe(KnowledgeStrategy::External), format!("{plain}\n\n{document}"));
        assert_eq!(describe(KnowledgeStrategy::Executable), plain);
        assert_eq!(describe(KnowledgeStrategy::None), plain);
    }

    #[test]
    fn notes_beyond_the_budget_are_counted() {
        let notes = ["a".repeat(900), "b".repeat(900), "c".repeat(900), "d".repeat(100)];
        let kept = within(notes.iter().map(|note| (note.as_str(), note.len())), 2_000);
        assert_eq!(kept[..3].iter().map(String::len).collect::<Vec<_>>(), [900, 900, 100]);
        assert_eq!(kept[3], "(1 more of such notes does not fit here)");
    }

    #[test]
    fn documents_have_everything() {
        let knowledge = knowledge(KnowledgeStrategy::External);
        let text = knowledge_document("Tasks", &knowledge, std::iter::empty());
        for part in ["# Tasks", "### rate", "Mitigation: Wait.", "### other", "update_task({})"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(document_uri("a b"), "toolwright://knowledge/a%20b");
    }
}
