//! What is pinned of a definition: parts with a hash each, so that a change is found where it is.
//!
//! ```text
//! document or list of a server ─▶ one part per tool and per prompt
//!                              └▶ the rest: definition, instructions, the program that is started
//! ```
//!
//! A tool is pinned with the file that holds its code. The rest is what all tools have in common:
//! the fields of a manifest outside of its tools, the instructions of a server. Hashes are of the
//! text as its author wrote it ([`content_hash`](crate::content_hash)), so that a newer program
//! finds the same ones. Which parts are accepted is in `catalog::pins`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use serde_json::{Value as Json, json};
use toolwright_formats::{Reading, live};
use toolwright_model::{Connection, ContentHash, Server, redacted_url};
use toolwright_source::{RecordPath, TextOrigin, ValueKind};

use crate::code_files::{CodeFile, DocumentCode};
use crate::content_hash::{ContentHasher, file_hashes, hash};
use crate::server_rules::started_program;

/// Bytes of a part's text that are kept, in memory and in the store: more than any person reads.
const MAX_TEXT: usize = 64 << 10;

/// What a pinned part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PinKind {
    /// A tool, with its code.
    Tool,
    /// A prompt of a server.
    Prompt,
    /// The document outside of its tools.
    Definition,
    /// The instructions of a server.
    Instructions,
    /// The program that is started, or the address of a server.
    Program,
}

/// The kinds with their words in the store and in messages.
const KINDS: [(PinKind, &str); 5] = [
    (PinKind::Tool, "tool"),
    (PinKind::Prompt, "prompt"),
    (PinKind::Definition, "definition"),
    (PinKind::Instructions, "instructions"),
    (PinKind::Program, "program"),
];

impl PinKind {
    /// Its word.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The kind of a word.
    pub fn of_word(word: &str) -> Option<PinKind> {
        KINDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    /// The list that it belongs to.
    pub fn list(self) -> PinList {
        match self {
            PinKind::Tool | PinKind::Definition | PinKind::Program => PinList::Tools,
            PinKind::Prompt => PinList::Prompts,
            PinKind::Instructions => PinList::Instructions,
        }
    }

    /// Whether a change concerns all tools of the toolset.
    pub fn is_shared(self) -> bool {
        !matches!(self, PinKind::Tool | PinKind::Prompt)
    }
}

/// The parts that are known together: a command that calls a tool does not ask for prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PinList {
    /// Tools, and what they have in common.
    Tools,
    /// The prompts of a server.
    Prompts,
    /// The instructions of a server.
    Instructions,
}

impl PinList {
    /// Its word in the store.
    pub fn word(self) -> &'static str {
        match self {
            PinList::Tools => "tools",
            PinList::Prompts => "prompts",
            PinList::Instructions => "instructions",
        }
    }
}

/// A part as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedPart {
    /// What it is.
    pub kind: PinKind,
    /// The name of the tool or prompt; empty for shared parts.
    pub name: String,
    /// The hash of its text.
    pub hash: String,
    /// The text as JSON, to show what changed. Of a very long one the beginning, and the hash of
    /// the rest: a change there must not be accepted unseen.
    pub text: String,
}

impl PinnedPart {
    /// A part whose hash is `own`; the text is only for people.
    fn new(
        kind: PinKind,
        name: impl Into<String>,
        own: &ContentHash,
        mut text: String,
    ) -> PinnedPart {
        if text.len() > MAX_TEXT {
            let end = text.floor_char_boundary(MAX_TEXT);
            let rest = &text[end..];
            let more = format!("… and {} bytes more, {}", rest.len(), hash(rest).as_str());
            text.truncate(end);
            text.push_str(&more);
            text.shrink_to_fit();
        }
        PinnedPart { kind, name: name.into(), hash: own.as_str().to_owned(), text }
    }
}

/// The names under which the tools of a document are pinned, in its order. Tools that share a name
/// get a number.
pub fn pinned_names(reading: &Reading) -> Vec<String> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    let tools = reading.toolset.tools.iter();
    let name = |tool: &toolwright_model::Draft| {
        let own = live::name_on_server(&tool.details.rest).map(str::to_owned);
        let own = own.or_else(|| tool.name.ok().map(ToString::to_string)).unwrap_or_default();
        match tool.namespace.ok() {
            Some(namespace) => format!("{namespace}:{own}"),
            None => own,
        }
    };
    tools
        .map(|tool| {
            let name = name(tool);
            let n = uses.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
            if *n == 1 { name } else { format!("{name}#{n}") }
        })
        .collect()
}

/// The tools of a document, and for a file what they have in common.
///
/// The definition is hashed without the values of its tools, so that a changed tool changes one
/// part only. A document that is one tool has no rest.
pub fn tool_parts(reading: &Reading, code: &DocumentCode) -> Vec<PinnedPart> {
    let hasher = ContentHasher::new(reading);
    let mut parts = Vec::new();
    let mut spans = HashSet::new();
    for (n, name) in pinned_names(reading).into_iter().enumerate() {
        let node = reading.origin.value(&RecordPath::root().child("tools").child(n));
        spans.extend(node.map(|node| node.span()));
        let text = node.map(|node| node.canonical_text()).unwrap_or_default();
        let own = match node {
            Some(node) if node.kind() == ValueKind::Map => hasher.tool(n),
            // A name in a list of commands: everything else about it is in the definition.
            _ => hash(&text),
        };
        parts.push(part_with_code(PinKind::Tool, name, own, text, code.of_tool(n)));
    }
    let root = reading.origin.document().root();
    let is_file = matches!(reading.origin.document().source().origin(), TextOrigin::File);
    if is_file && !spans.contains(&root.span()) {
        let text = root.canonical_text_without(&|node| spans.contains(&node.span()));
        let own = hash(&text);
        parts.push(part_with_code(PinKind::Definition, String::new(), own, text, code.shared()));
    }
    parts
}

/// A part with the files that hold its code.
fn part_with_code(
    kind: PinKind,
    name: String,
    own: ContentHash,
    text: String,
    files: &[CodeFile],
) -> PinnedPart {
    if files.is_empty() {
        return PinnedPart::new(kind, name, &own, text);
    }
    let own = hash(&json!([own.as_str(), file_hashes(files)]).to_string());
    PinnedPart::new(kind, name, &own, with_code(&text, files))
}

/// The text of a part with the hashes of its code.
///
/// ```text
/// {"name": "run", …}   ─▶   {"name": "run", …, "code": {"server.py": HASH}}
/// "run"                ─▶   {"name": "run", "code": {"server.py": HASH}}
/// ```
fn with_code(text: &str, files: &[CodeFile]) -> String {
    let mut code = serde_json::Map::new();
    for file in files {
        let hash = Json::from(file.hash.as_str());
        let other = code.get(&file.name).is_some_and(|known| *known != hash);
        let beside = if other { " (beside the definition)" } else { "" };
        code.insert(format!("{}{beside}", file.name), hash);
    }
    let mut part: Json = serde_json::from_str(text).unwrap_or_else(|_| json!({"text": text}));
    match part.as_object_mut() {
        Some(members) => {
            members.insert("code".to_owned(), code.into());
        }
        None => part = json!({"name": part, "code": code}),
    }
    part.to_string()
}

/// The instructions of a server, if it has any.
pub fn instructions_part(instructions: Option<&str>) -> Vec<PinnedPart> {
    let part = |text: &str| {
        PinnedPart::new(PinKind::Instructions, "", &hash(text), Json::from(text).to_string())
    };
    instructions.map(part).into_iter().collect()
}

/// The prompts that a server lists.
pub fn prompt_parts(prompts: &[Json]) -> Vec<PinnedPart> {
    let part = |prompt: &Json| {
        // Through a document, which makes one text of all orders of keys.
        let text = sorted(prompt).to_string();
        let name = prompt["name"].as_str().unwrap_or_default();
        PinnedPart::new(PinKind::Prompt, name, &hash(&text), text)
    };
    prompts.iter().map(part).collect()
}

/// A value with the keys of all objects in order. Values of servers have a bounded depth.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            keys.into_iter().map(|key| (key.clone(), sorted(&members[key]))).collect()
        }
        other => other.clone(),
    }
}

/// What is started or connected to: for packages their name and version, for programs the file and
/// the script or module, for shells also the hash of their text, for other servers the address.
/// Absolute paths and other arguments are not part of it, so that it is the same for a whole team.
/// `code` are the files of the project that are started: with them, a hash is part of it.
pub fn program_part(server: &Server, code: &[CodeFile]) -> PinnedPart {
    let mut identity = match &server.connection {
        Connection::Stdio { command } => {
            let shown = match &server.shown {
                Some(Connection::Stdio { command: shown }) => shown,
                _ => command,
            };
            started_program(command, shown)
        }
        Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
            redacted_url(url)
        }
    };
    if !code.is_empty() {
        // Not their names: the paths of programs are absolute here.
        let hashes: Vec<Json> = file_hashes(code).into_iter().map(|file| file[1].clone()).collect();
        let _ = write!(identity, " {}", hash(&Json::from(hashes).to_string()));
    }
    let text = Json::from(identity.as_str()).to_string();
    // Its own hash: people read it in the lock.
    PinnedPart { kind: PinKind::Program, name: String::new(), hash: identity, text }
}
