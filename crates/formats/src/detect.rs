//! Which format a document is in: by its keys, first hit wins. The order is one list for all
//! formats, because it settles what a format alone cannot know.

use toolwright_model::FormatId;
use toolwright_source::{Document, DocumentPath, Finding, Node, ValueKind};

use crate::codes;

/// What a document turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Detected {
    /// A format that can be read.
    Format(FormatId),
    /// None that can: the finding says why.
    Unreadable(Finding),
}

/// One rule of detection.
struct DetectionRule {
    /// The format it speaks for; not all can be read yet.
    format: &'static str,
    /// What it looks at: the root alone, or every element too.
    scope: Scope,
    hit: fn(Node<'_>) -> bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Root,
    Elements,
}

/// What the rules look for, for the message when none hits.
pub const LOOKED_FOR: &str = "`btcp`, `tool`, `functionDeclarations`, `type: function`, `input_schema`, \
                              `capabilities` or `examples` beside `name`, `inputSchema`, `parameters`, \
                              `id` beside an AIOS `type` or section";

/// In order. Elements are the root, its list items, `tools[]` and `result.tools[]`.
static RULES: &[DetectionRule] = &[
    DetectionRule { format: "btcp", scope: Scope::Root, hit: |n| n.has("btcp") },
    DetectionRule { format: "aios", scope: Scope::Root, hit: |n| n.has("tool") },
    DetectionRule {
        format: "gemini",
        scope: Scope::Elements,
        hit: |n| n.has("functionDeclarations") || n.has("function_declarations"),
    },
    DetectionRule {
        format: "openai",
        scope: Scope::Elements,
        hit: |n| n.get("type").and_then(Node::text) == Some("function"),
    },
    DetectionRule { format: "openai", scope: Scope::Root, hit: |n| n.has("functions") },
    DetectionRule { format: "anthropic", scope: Scope::Elements, hit: |n| n.has("input_schema") },
    DetectionRule { format: "btcp", scope: Scope::Elements, hit: is_btcp_tool },
    DetectionRule { format: "mcp", scope: Scope::Elements, hit: |n| n.has("inputSchema") },
    DetectionRule { format: "gemini", scope: Scope::Elements, hit: is_gemini_function },
    DetectionRule { format: "ikigai", scope: Scope::Root, hit: has_parameters },
    DetectionRule { format: AMBIGUOUS, scope: Scope::Elements, hit: has_parameters },
    DetectionRule { format: "aios", scope: Scope::Root, hit: is_aios_without_root },
    DetectionRule {
        format: SERVERS,
        scope: Scope::Root,
        hit: |n| n.has("mcpServers") || n.has("servers"),
    },
];

/// Not formats: what the message says instead.
const AMBIGUOUS: &str = "ambiguous";
const SERVERS: &str = "servers";

fn is_btcp_tool(node: Node<'_>) -> bool {
    const OWN: [&str; 5] =
        ["capabilities", "examples", "deprecated", "deprecationMessage", "timeout"];
    node.has("name") && !node.has("id") && OWN.iter().any(|key| node.has(key))
}

/// `parameters` beside `id` is an AIOS command's list of prose.
fn has_parameters(node: Node<'_>) -> bool {
    node.get("parameters")
        .is_some_and(|parameters| parameters.kind() == ValueKind::Map || !node.has("id"))
}

fn is_gemini_function(node: Node<'_>) -> bool {
    let upper = |n: Node<'_>| {
        n.get("type")
            .and_then(Node::text)
            .is_some_and(|t| t.len() > 1 && t.chars().all(|c| c.is_ascii_uppercase()))
    };
    let typed = node.get("parameters").is_some_and(|parameters| {
        let properties = parameters.get("properties").map(Node::members).unwrap_or_default();
        upper(parameters) || properties.iter().any(|entry| upper(entry.value))
    });
    node.has("name")
        && (typed
            || node.has("parametersJsonSchema")
            || (node.has("response") && node.has("parameters")))
}

/// What only AIOS has.
const SECTIONS: [&str; 7] = [
    "executable_knowledge",
    "api_complexity",
    "anti_patterns",
    "mcp_specific",
    "cli_specific",
    "local_specific",
    "meta_specific",
];

fn is_aios_without_root(node: Node<'_>) -> bool {
    let typed = node
        .get("type")
        .and_then(Node::text)
        .is_some_and(|t| ["mcp", "cli", "local", "meta"].contains(&t));
    node.has("id") && (typed || SECTIONS.iter().any(|section| node.has(section)))
}

/// The root, its list items, `tools[]` and `result.tools[]`.
fn elements(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let tools = root.get("tools").into_iter().flat_map(Node::items);
    let result = root.get("result").and_then(|result| result.get("tools"));
    std::iter::once(root)
        .chain(root.items())
        .chain(tools)
        .chain(result.into_iter().flat_map(Node::items))
}

/// Whether a text that could not be parsed was meant as a definition: it has a key that hardly
/// anything else has.
pub fn speaks_of_tools(text: &str) -> bool {
    const KEYS: [&str; 4] = ["btcp", "inputSchema", "input_schema", "functionDeclarations"];
    let is_key = |(at, key): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let after = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        after.starts_with(':')
            && before.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '{' | ','))
    };
    KEYS.iter().chain(&SECTIONS).any(|key| text.match_indices(key).any(is_key))
        || text.lines().any(|line| line.trim_end() == "tool:")
}

/// Settles the format of a document, or says what stands in the way.
pub fn detect(document: &Document) -> Detected {
    let root = document.root();
    let hit = RULES.iter().find(|rule| match rule.scope {
        Scope::Root => (rule.hit)(root),
        Scope::Elements => elements(root).any(rule.hit),
    });
    let at = DocumentPath::root();
    let Some(rule) = hit else {
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
        let finding = finding.help(format!("looked for {LOOKED_FOR}"));
        return Detected::Unreadable(finding.help("`--format` names the format if you know it"));
    };
    if let Some(format) = crate::by_name(rule.format) {
        return Detected::Format(format.id());
    }
    Detected::Unreadable(match rule.format {
        AMBIGUOUS => Finding::new(
            &codes::AMBIGUOUS_FORMAT,
            at,
            "a list of tools with `parameters` could be in several formats",
        )
        .help("`--format` names the one it is in"),
        SERVERS => Finding::new(
            &codes::UNKNOWN_FORMAT,
            at,
            "this is a list of servers to connect to, not a definition of tools",
        ),
        other => Finding::new(
            &codes::UNKNOWN_FORMAT,
            at,
            format!("this is a definition for `{other}`, a format that cannot be read yet"),
        ),
    })
}
