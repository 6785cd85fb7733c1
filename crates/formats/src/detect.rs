//! Detects the format of a document by its keys. The rules are one ordered list for all formats,
//! and the first match wins: several formats share `name`, `parameters` and `inputSchema`, so
//! whether a key is decisive depends on which other formats were ruled out before.
//!
//! ```text
//! root has `btcp`           ─▶ btcp      (explicit markers first)
//! root has `tool`           ─▶ aios
//! …`functionDeclarations`…  ─▶ gemini    (a word that only one vendor has)
//! `inputSchema`             ─▶ mcp       (keys that several formats could have come last)
//! ```
//!
//! Detection looks at keys and at hardly any other content: a document with mistakes in every value
//! must still be read as what it is, so that its mistakes can be reported.

use toolwright_model::FormatId;
use toolwright_source::{Document, DocumentPath, Finding, Node, ValueKind};

use crate::codes;

/// The result of detection.
#[derive(Clone, Debug, PartialEq)]
pub enum DetectionResult {
    /// A format in `crate::FORMATS`.
    Format(FormatId),
    /// No format, or several; the finding explains which.
    Unreadable(Finding),
}

/// One rule of detection.
///
/// A rule sees one value and no other rule; the order does the rest.
struct DetectionRule {
    /// The format it detects, or one of the pseudo-formats [`AMBIGUOUS`] and [`SERVERS`].
    format: &'static str,
    /// Which values it is tried on.
    scope: DetectionScope,
    /// Whether a value is of this format.
    matches: fn(Node<'_>) -> bool,
}

/// The values that a rule is tried on. `Elements` is for keys of a single tool, which may stand
/// alone, in a list or in `tools`.
#[derive(Clone, Copy, PartialEq)]
enum DetectionScope {
    /// The root alone.
    Root,
    /// The root and everything that [`elements`] lists.
    Elements,
}

/// The keys that the rules look for, listed in the help when none matches.
pub const RECOGNISED_KEYS: &str = "\
    `btcp`, `tool`, `openapi`, `toolSpec`, `functionDeclarations`, `type: function`, \
    `input_schema`, `capabilities` or `examples` beside `name`, `inputSchema`, `parameters`, \
    `id` beside an AIOS `type` or section";

/// The rules in order.
///
/// To add a rule, look for the first one that would take its documents, and put it before that. A
/// test in `detection.rs` numbers them as docs/formats.md does.
static RULES: &[DetectionRule] = &[
    // A marker that no other format uses, so nothing can contradict it.
    DetectionRule { format: "btcp", scope: DetectionScope::Root, matches: |n| n.has("btcp") },
    // The root key that the specification demands.
    DetectionRule { format: "aios", scope: DetectionScope::Root, matches: |n| n.has("tool") },
    DetectionRule {
        format: "openapi",
        scope: DetectionScope::Root,
        matches: |n| n.has("openapi") || n.has("swagger"),
    },
    DetectionRule {
        format: "bedrock",
        scope: DetectionScope::Elements,
        matches: |n| n.has("toolSpec"),
    },
    DetectionRule {
        format: "bedrock",
        scope: DetectionScope::Root,
        // Gemini's requests have a `toolConfig`, too, without tools in it.
        matches: |n| n.get("toolConfig").is_some_and(|config| config.has("tools")),
    },
    DetectionRule {
        format: "gemini",
        scope: DetectionScope::Elements,
        matches: |n| n.has("functionDeclarations") || n.has("function_declarations"),
    },
    DetectionRule {
        format: "openai",
        scope: DetectionScope::Elements,
        matches: |n| n.get("type").and_then(Node::text) == Some("function"),
    },
    DetectionRule {
        format: "openai",
        scope: DetectionScope::Root,
        matches: |n| n.has("functions"),
    },
    DetectionRule {
        format: "anthropic",
        scope: DetectionScope::Elements,
        matches: |n| n.has("input_schema"),
    },
    // Before `mcp`, which the next rule would otherwise detect: BTCP tools have `inputSchema`, too.
    DetectionRule {
        format: "btcp",
        scope: DetectionScope::Elements,
        matches: |n| is_named(n) && n.has("capabilities"),
    },
    DetectionRule { format: "btcp", scope: DetectionScope::Root, matches: has_btcp_tools },
    DetectionRule {
        format: "mcp",
        scope: DetectionScope::Elements,
        matches: |n| n.has("inputSchema"),
    },
    DetectionRule {
        format: "gemini",
        scope: DetectionScope::Elements,
        matches: is_gemini_function,
    },
    // After Gemini, whose declarations have `parameters`, too.
    DetectionRule { format: "ikigai", scope: DetectionScope::Root, matches: has_parameters },
    // A single object with `parameters` is what an ikigai program prints; a list of such objects
    // could equally be OpenAI's older format or Gemini's.
    DetectionRule { format: AMBIGUOUS, scope: DetectionScope::Elements, matches: has_parameters },
    // Late, because `id` and `type` are common keys.
    DetectionRule { format: "aios", scope: DetectionScope::Root, matches: is_aios_without_root },
    DetectionRule {
        // Late: `servers` is a common word, and a definition may have such a key.
        format: SERVERS,
        scope: DetectionScope::Root,
        matches: |n| n.has("mcpServers") || n.has("servers"),
    },
    DetectionRule { format: "mcp", scope: DetectionScope::Root, matches: is_empty_list },
];

/// Pseudo-format of documents that could be in several formats.
const AMBIGUOUS: &str = "ambiguous";
/// Pseudo-format of servers files, which users pass by mistake where a definition belongs.
const SERVERS: &str = "servers";

/// Whether it may be a tool of BTCP or MCP. `id` instead of `name` marks AIOS.
fn is_named(node: Node<'_>) -> bool {
    node.has("name") && !node.has("id")
}

/// Whether a tool of the document has a key that BTCP defines and MCP does not, and none has a key
/// of MCP alone. MCP allows other fields, and servers add such ones (`examples`, `deprecated`), so
/// they prove nothing beside a field that BTCP does not have. Examples count only in BTCP's form:
/// servers add lists of calls or of sentences under the same name.
///
/// A tool with none of these keys is read as MCP. Both formats call the schema `inputSchema`, so it
/// is read completely; only BTCP's stricter rules are not applied.
fn has_btcp_tools(root: Node<'_>) -> bool {
    const BTCP_KEYS: [&str; 3] = ["deprecated", "deprecationMessage", "timeout"];
    const MCP_KEYS: [&str; 5] = ["annotations", "title", "icons", "_meta", "execution"];
    let has_any = |node: Node<'_>, keys: &[&str]| keys.iter().any(|key| node.has(key));
    // An empty list has the form of every format.
    let is_bare = |node: Node<'_>, list: Node<'_>| list.is_empty() && !node.has("inputSchema");
    let has_examples = |node: Node<'_>| {
        let list = node.get("examples").filter(|list| list.kind() == ValueKind::List);
        list.is_some_and(|list| is_bare(node, list) || are_btcp_examples(list))
    };
    elements(root).any(|node| is_named(node) && (has_any(node, &BTCP_KEYS) || has_examples(node)))
        && !elements(root).any(|node| has_any(node, &MCP_KEYS))
}

/// Whether a value is a list of examples as BTCP has them, objects with `input` or `output`, or
/// with `params`, as published tools of BTCP write it by mistake. One of them is enough, because
/// the others may be the mistakes that a reader looks for. A list of texts, or of calls such as
/// `{"city": "Berlin"}`, does not count.
fn are_btcp_examples(list: Node<'_>) -> bool {
    let is_example = |item: Node<'_>| ["input", "output", "params"].iter().any(|key| item.has(key));
    list.items().any(is_example)
}

/// Whether the document is a list of tools without a tool: `[]`, `{"tools": []}`, or that as the
/// result of a JSON-RPC response. Nothing tells its format apart; MCP is where such lists come
/// from.
fn is_empty_list(root: Node<'_>) -> bool {
    let is_empty = |node: Node<'_>| node.kind() == ValueKind::List && node.is_empty();
    let tools = root.get("tools").or_else(|| root.get("result")?.get("tools"));
    is_empty(tools.unwrap_or(root))
}

/// Whether a tool has a schema in `parameters`. In an AIOS command, which has an `id`, `parameters`
/// is a list of prose. `parameters: null` counts, so that a broken tool is still recognised.
fn has_parameters(node: Node<'_>) -> bool {
    node.get("parameters")
        .is_some_and(|parameters| parameters.kind() == ValueKind::Map || !node.has("id"))
}

/// Whether it is a Gemini function declaration: its schema types are in capitals (`OBJECT`), or it
/// has a key that only Gemini has.
///
/// ```text
/// {name, parameters: {type: OBJECT}}                    Gemini
/// {name, parameters: {properties: {a: {type: STRING}}}} Gemini
/// {name, parameters: {type: object}}                    not: ikigai, or ambiguous in a list
/// ```
fn is_gemini_function(node: Node<'_>) -> bool {
    // JSON Schema writes types in lower case. A single capital letter proves nothing.
    let upper = |n: Node<'_>| {
        n.get("type")
            .and_then(Node::text)
            .is_some_and(|t| t.len() > 1 && t.chars().all(|c| c.is_ascii_uppercase()))
    };
    // The types of the properties count as well: authors forget the type of the object.
    let typed = node.get("parameters").is_some_and(|parameters| {
        let properties = parameters.get("properties").map(Node::members).unwrap_or_default();
        upper(parameters) || properties.iter().any(|entry| upper(entry.value))
    });
    node.has("name")
        && (typed
            || node.has("parametersJsonSchema")
            || (node.has("response") && node.has("parameters")))
}

/// Keys that no other format has. They also mark a text that cannot be parsed as a definition, see
/// [`looks_like_definition`].
const AIOS_SECTIONS: [&str; 7] = [
    "executable_knowledge",
    "api_complexity",
    "anti_patterns",
    "mcp_specific",
    "cli_specific",
    "local_specific",
    "meta_specific",
];

/// Whether it is an AIOS tool whose author left out the root key `tool`. `id` alone proves nothing:
/// a type of AIOS or one of its sections has to be there, too.
fn is_aios_without_root(node: Node<'_>) -> bool {
    let typed = node
        .get("type")
        .and_then(Node::text)
        .is_some_and(|t| ["mcp", "cli", "local", "meta"].contains(&t));
    node.has("id") && (typed || AIOS_SECTIONS.iter().any(|section| node.has(section)))
}

/// The root, its items if it is a list, and the items of `tools` and `result.tools`.
fn elements(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let tools = root.get("tools").into_iter().flat_map(Node::items);
    let result = root.get("result").and_then(|result| result.get("tools"));
    // Lazily: a rule that matches stops at the first element that fits, and a list may have
    // thousands.
    std::iter::once(root)
        .chain(root.items())
        .chain(tools)
        .chain(result.into_iter().flat_map(Node::items))
}

/// Whether a text that could not be parsed was meant to be a definition, judged by keys that hardly
/// any other kind of file has. In a folder, only such files are reported with their syntax errors.
///
/// A file that is not recognised here is only named as skipped, so the keys are few and distinct.
pub fn looks_like_definition(text: &str) -> bool {
    const KEYS: [&str; 6] =
        ["btcp", "inputSchema", "input_schema", "functionDeclarations", "toolSpec", "openapi"];
    let is_key = |(at, key): (usize, &str)| {
        // A key and not a word in prose: it starts the line or follows a quote, brace or comma, and
        // a colon follows it. Both slices are at boundaries of characters, because the key is
        // ASCII.
        let before = text[..at].chars().next_back();
        let after = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        after.starts_with(':')
            && before.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '{' | ','))
    };
    KEYS.iter().chain(&AIOS_SECTIONS).any(|key| text.match_indices(key).any(is_key))
        // `tool` is too common a word for the test above; alone at the start of a line it is the
        // root key of an AIOS document in YAML.
        || text.lines().any(|line| line.trim_end() == "tool:")
}

/// Whether every member looks like a server of a servers file, so that only the key around them is
/// missing.
fn is_bare_server_map(root: Node<'_>) -> bool {
    let members = root.members();
    let is_server =
        |entry: &Node<'_>| ["command", "url", "httpUrl"].iter().any(|key| entry.has(key));
    root.kind() == ValueKind::Map
        && !members.is_empty()
        && members.iter().all(|member| is_server(&member.value))
}

/// Detects the format of a document. Never fails: a document of no format, or of several, gets a
/// finding that says what was looked for.
pub fn detect(document: &Document) -> DetectionResult {
    let root = document.root();
    let matching = RULES.iter().find(|rule| match rule.scope {
        DetectionScope::Root => (rule.matches)(root),
        DetectionScope::Elements => elements(root).any(rule.matches),
    });
    let at = DocumentPath::root();
    let Some(rule) = matching else {
        let what = match root.kind() {
            ValueKind::Map | ValueKind::List => {
                "none of the keys that tell a format apart".to_owned()
            }
            kind => format!("{}, not an object or a list", kind.name()),
        };
        let finding = Finding::new(
            &codes::UNKNOWN_FORMAT,
            at,
            format!("not a known format: the document has {what}"),
        );
        if is_bare_server_map(root) {
            let help = "servers belong under `mcpServers`: `{\"mcpServers\": {…}}`";
            return DetectionResult::Unreadable(finding.help(help));
        }
        let finding = finding.help(format!("looked for {RECOGNISED_KEYS}"));
        return DetectionResult::Unreadable(
            finding.help("`--format` names the format if you know it"),
        );
    };
    if let Some(format) = crate::by_name(rule.format) {
        return DetectionResult::Format(format.id());
    }
    DetectionResult::Unreadable(match rule.format {
        AMBIGUOUS => Finding::new(
            &codes::AMBIGUOUS_FORMAT,
            at,
            "a list of tools with `parameters` could be in several formats",
        )
        .help("`--format` names the one it is in"),
        _ => Finding::new(
            &codes::UNKNOWN_FORMAT,
            at,
            "this is a list of servers to connect to, not a definition of tools",
        ),
    })
}
