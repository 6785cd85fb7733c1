//! Names follow the conventions of their format. What a name may be at all is a matter of shape.
//!
//! The btcp seed says "Use camelCase", so a name in another case is what is reported; that it
//! starts with a verb and goes on is a weaker wish, and an info. Manifest names have no convention
//! beyond their pattern. The namespaces of MCP tools are looked at where they are read.

use std::collections::HashSet;

use toolwright_model::{Binding, Detection, Draft, Function, Json, NameStyle, Toolset};
use toolwright_source::codes::NAMING_CONVENTION;
use toolwright_source::words::shorten;
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety, Severity};

use super::verbs::VERBS;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { check };

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    match subject.conventions().names {
        NameStyle::CamelCaseVerbs => btcp_names(subject, out),
        NameStyle::KebabCaseIds => {
            aios_id(subject, out);
            aios_commands(subject, out);
            aios_functions(subject.toolset, out);
            aios_words(subject, out);
        }
        NameStyle::Free => {}
    }
}

fn btcp_names(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        // A name of other characters breaks the pattern, which is worse.
        let name = tool.name.ok().map(|name| name.as_str());
        let Some(name) = name.filter(|name| is_btcp_name(name)) else { continue };
        let words = split(name);
        if name.contains('_') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let finding =
                finding(at.child("name"), format!("tool name `{name}` is not in camelCase"));
            // The code of the tool is found by this name: a repair here alone would break it.
            out.push(suggest(finding, "camelCase", &camel(&words), name));
        }
        let verb = words.first().is_some_and(|word| VERBS.split(' ').any(|verb| verb == word));
        let message = match (verb, words.len()) {
            (true, 2..) => continue,
            (true, _) => format!("tool name `{name}` does not say what it works on"),
            (false, _) => format!("tool name `{name}` does not start with a verb"),
        };
        let finding = finding(at.child("name"), message).severity(Severity::Info);
        out.push(finding.help("a verb and a noun say what the tool does, as in `searchProducts`"));
    }
}

/// The published pattern, `^[a-zA-Z][a-zA-Z0-9_]*$`.
fn is_btcp_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn aios_id(subject: &Subject<'_>, out: &mut Report<'_>) {
    // What cannot be a namespace is an error of its own.
    let Some(id) = subject.toolset.namespace.ok().map(|id| id.as_str()) else { return };
    if is_joined_by(id, '-') {
        return;
    }
    let at = RecordPath::root().child("namespace");
    let finding = finding(at.clone(), format!("tool id `{}` is not in kebab-case", shorten(id)));
    let other = split(id).join("-");
    let finding = suggest(finding, "kebab-case", &other, id);
    // A script is told which command to run, and the only one is named by the id.
    let is_told = |(at, tool): (ToolPath, &Draft)| {
        matches!(tool.details.binding, Binding::Local { .. }) && is_place_of_id(subject, at)
    };
    let is_command = subject.tools().any(is_told);
    let rename = is_joined_by(&other, '-') && !is_command;
    out.push(if rename { repair(finding, at, other) } else { finding });
}

fn is_place_of_id(subject: &Subject<'_>, tool: ToolPath) -> bool {
    let id = subject.document_value(&RecordPath::root().child("namespace"));
    let name = subject.document_value(&tool.child("name"));
    id.is_some_and(|id| name.is_some_and(|name| name.span() == id.span()))
}

/// Commands go by the names that servers and scripts give them, so nothing is repaired here.
fn aios_commands(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        if out.is_full() {
            return;
        }
        let Some(name) = tool.name.ok().map(|name| name.as_str()) else { continue };
        if is_joined_by(name, '_') || is_joined_by(name, '-') || is_place_of_id(subject, at) {
            continue;
        }
        let at = at.child("name");
        // A name made of the words of a command line is nobody's choice.
        let Some(node) = subject.document_value(&at) else { continue };
        let is_key = node.key().is_some_and(|key| key.raw() == name);
        if node.raw() != name && !is_key {
            continue;
        }
        let message = format!("command `{name}` is neither in snake_case nor in kebab-case");
        let finding = suggest(finding(at, message), "snake_case", &split(name).join("_"), name);
        out.push(if is_key && node.raw() != name { finding.on_key() } else { finding });
    }
}

fn aios_functions(toolset: &Toolset<Draft>, out: &mut Report<'_>) {
    let knowledge = &toolset.knowledge;
    let own: Vec<&Function> = knowledge.helpers.iter().collect();
    let processors: Vec<&Function> = knowledge.processors.iter().map(|p| &p.function).collect();
    let validators: Vec<&Function> = knowledge.validators.iter().map(|v| &v.function).collect();
    // Who is in use matters only where there is something to rename.
    if own.iter().chain(&processors).chain(&validators).all(|function| misnamed(function).is_none())
    {
        return;
    }
    functions("helper", "helpers", &own, &helpers_in_use(toolset), out);
    functions("processor", "processors", &processors, &HashSet::new(), out);
    functions("validator", "validators", &validators, &validators_in_use(toolset), out);
}

/// The id of a function, if it has one that is not in kebab-case.
fn misnamed(function: &Function) -> Option<&str> {
    function.id.as_deref().filter(|id| !id.trim().is_empty() && !is_joined_by(id, '-'))
}

/// Scenarios and categories are open sets of words in snake_case.
fn aios_words(subject: &Subject<'_>, out: &mut Report<'_>) {
    let mut check = |at: &dyn Fn() -> RecordPath, what: &str, word: Option<&str>| {
        let Some(word) = word.filter(|word| !word.trim().is_empty() && !is_joined_by(word, '_'))
        else {
            return;
        };
        let message = format!("{what} `{}` is not in snake_case", shorten(word));
        out.push(suggest(finding(at(), message), "snake_case", &split(word).join("_"), word));
    };
    for (tool, draft) in subject.tools() {
        for (n, example) in draft.details.examples.iter().enumerate() {
            let at = || tool.child("examples").child(n).child("scenario");
            check(&at, "scenario", example.scenario.as_deref());
        }
    }
    for (n, pattern) in subject.toolset.knowledge.anti_patterns.iter().enumerate() {
        check(
            &|| RecordPath::path(&[&"knowledge", &"antiPatterns", &n, &"category"]),
            "category",
            pattern.category.as_deref(),
        );
    }
}

fn functions(
    kind: &str,
    list: &str,
    functions: &[&Function],
    in_use: &HashSet<String>,
    out: &mut Report<'_>,
) {
    let list = RecordPath::root().child("knowledge").child(list);
    let ids: HashSet<&str> =
        functions.iter().filter_map(|function| function.id.as_deref()).collect();
    for (n, function) in functions.iter().enumerate() {
        let Some(id) = misnamed(function).filter(|_| !out.is_full()) else { continue };
        let at = list.child(n).child("id");
        let finding =
            finding(at.clone(), format!("{kind} id `{}` is not in kebab-case", shorten(id)));
        let other = split(id).join("-");
        let finding = suggest(finding, "kebab-case", &other, id);
        let rename =
            is_joined_by(&other, '-') && !in_use.contains(id) && !ids.contains(other.as_str());
        out.push(if rename { repair(finding, at, other) } else { finding });
    }
}

/// The helpers that something else names.
fn helpers_in_use(toolset: &Toolset<Draft>) -> HashSet<String> {
    let knowledge = &toolset.knowledge;
    let extractions =
        knowledge.field_mappings.iter().filter_map(|mapping| mapping.extraction.as_deref());
    let extractions =
        extractions.filter_map(|text| text.trim().strip_prefix("helpers.").map(str::to_owned));
    let detections =
        knowledge.payload_schemas.iter().filter_map(|schema| schema.detection.as_deref());
    let detections = detections.filter_map(|text| match Detection::parse(text)? {
        Detection::Helper { id } => Some(id),
        _ => None,
    });
    let orchestrations = toolset.tools.iter().filter_map(|tool| match &tool.details.binding {
        Binding::Orchestration { helper, .. } => Some(helper.clone()),
        _ => None,
    });
    extractions.chain(detections).chain(orchestrations).collect()
}

/// The validators that an example names.
fn validators_in_use(toolset: &Toolset<Draft>) -> HashSet<String> {
    let own = toolset.tools.iter().flat_map(|tool| &tool.details.examples);
    let stray = toolset.stray_examples.iter().flat_map(|(_, examples)| examples);
    let named = own.chain(stray).filter_map(|example| example.error.as_ref()?.validator.as_deref());
    named.map(|text| text.strip_prefix("validators.").unwrap_or(text).to_owned()).collect()
}

fn finding(at: RecordPath, message: String) -> RecordFinding {
    RecordFinding::new(&NAMING_CONVENTION, at, message)
}

/// Says how the name would be written, where its letters allow it.
fn suggest(finding: RecordFinding, case: &str, other: &str, name: &str) -> RecordFinding {
    let plain = name.is_ascii() && !other.is_empty();
    if plain { finding.help(format!("in {case} it is `{}`", shorten(other))) } else { finding }
}

fn repair(finding: RecordFinding, at: RecordPath, other: String) -> RecordFinding {
    let title = format!("rename it to `{}`", shorten(&other));
    finding.repair(Safety::Unsafe, title, vec![Edit::Replace(at, Json::from(other))])
}

/// Lower-case words joined by a character; a word may start with a digit (`21st-dev-magic`).
fn is_joined_by(name: &str, joint: char) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    name.split(joint).all(word)
}

/// The words of a name in any case, in lower case: `parseHTMLPage` is parse, html, page.
pub(super) fn split(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (n, c) in chars.iter().enumerate() {
        let before = n.checked_sub(1).map(|n| chars[n]);
        let after = chars.get(n + 1);
        let starts = c.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase()
                    || b.is_numeric()
                    || b.is_uppercase() && after.is_some_and(|a| a.is_lowercase())
            });
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

pub(super) fn camel(words: &[String]) -> String {
    let mut out = words.first().cloned().unwrap_or_default();
    for word in words.iter().skip(1) {
        let mut chars = word.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::{Edit, Finding, Safety, Severity};

    use super::{camel, split};
    use crate::testing::{count, findings};

    /// Place, weight and message of each finding, `E`, `W` and `I`.
    #[track_caller]
    fn expect(text: &str, expected: &[&str]) {
        let told: Vec<String> = ours(text)
            .iter()
            .map(|f| format!("{} {} {}", &f.severity.name()[..1], f.at, f.message))
            .collect();
        assert_eq!(told, expected, "{text}");
    }

    fn ours(text: &str) -> Vec<Finding> {
        findings(text).into_iter().filter(|f| f.code.name == "NAMING_CONVENTION").collect()
    }

    #[test]
    fn words_of_names() {
        for (name, words, camel_case) in [
            ("getCellValue", "get cell value", "getCellValue"),
            ("get_cell_value", "get cell value", "getCellValue"),
            ("parseHTMLPage", "parse html page", "parseHtmlPage"),
            ("GetURL", "get url", "getUrl"),
            ("OAuth2Token", "o auth2 token", "oAuth2Token"),
            ("__x--y..z", "x y z", "xYZ"),
            ("größeÄndern", "größe ändern", "größeÄndern"),
            ("", "", ""),
            ("___", "", ""),
        ] {
            assert_eq!(split(name).join(" "), words, "{name}");
            assert_eq!(camel(&split(name)), camel_case, "{name}");
        }
    }

    #[test]
    fn btcp_tools() {
        let tool = |name: &str| format!(r#"{{"name": "{name}", "capabilities": []}}"#);
        for fine in ["getCellValue", "setX", "isVisible", "parseHTML", "exportTableToClipboard"] {
            expect(&tool(fine), &[]);
        }
        expect(&tool("get_value"), &["w /name tool name `get_value` is not in camelCase"]);
        expect(&tool("GetValue"), &["w /name tool name `GetValue` is not in camelCase"]);
        expect(&tool("search"), &["i /name tool name `search` does not say what it works on"]);
        expect(&tool("pageTitle"), &["i /name tool name `pageTitle` does not start with a verb"]);
        let both = [
            "w /name tool name `Page` is not in camelCase",
            "i /name tool name `Page` does not start with a verb",
        ];
        expect(&tool("Page"), &both);
        // What breaks the pattern is another finding.
        for other in ["", " ", "get-value", "get value", "1get", "größe", "a.b"] {
            expect(&tool(other), &[]);
        }
        let finding = &ours(&tool("get_cell_value"))[0];
        assert_eq!((finding.severity, &finding.repair), (Severity::Warning, &None));
        assert_eq!(finding.help, ["in camelCase it is `getCellValue`"]);
        // A manifest's name has a pattern and no other convention.
        expect(r#"{"btcp": "1.0", "name": "a--b-", "capabilities": [], "tools": []}"#, &[]);
    }

    #[test]
    fn ids_of_aios_tools() {
        let tool = |id: &str| format!("tool: {{id: {id}, type: mcp}}");
        for fine in ["notes", "note-keeper", "21st-dev-magic", "a1", "''", "7", "null", "a b"] {
            expect(&tool(fine), &[]);
        }
        for bad in [
            "noteKeeper",
            "note_keeper",
            "Notes",
            "note--keeper",
            "-notes",
            "notes-",
            "größe",
            "n.k",
        ] {
            expect(&tool(bad), &[&format!("w /tool/id tool id `{bad}` is not in kebab-case")]);
        }
        let finding = ours(&tool("noteKeeper")).remove(0);
        assert_eq!(finding.help, ["in kebab-case it is `note-keeper`"]);
        let repair = finding.repair.expect("a repair");
        assert_eq!(repair.safety, Safety::Unsafe);
        assert_eq!(repair.edits, [Edit::Replace(finding.at, Json::from("note-keeper"))]);
        assert_eq!(ours(&tool("größe"))[0].help, [""; 0]);
        // The id of a tool without commands is its command too, and told once.
        let own = ours("tool: {id: noteKeeper, type: cli, cli_specific: {executable: notes}}");
        assert!(own.len() == 1 && own[0].repair.is_some());
        let script =
            ours("tool: {id: noteKeeper, type: local, local_specific: {entry_point: notes.py}}");
        assert!(script.len() == 1 && script[0].repair.is_none());
    }

    #[test]
    fn commands() {
        let tool = |more: &str| format!("tool: {{id: notes, type: cli, {more}}}");
        for fine in ["add_note", "add-note", "add", "2fa_code", "''", "a b", "7"] {
            expect(&tool(&format!("commands: [{fine}]")), &[]);
        }
        for bad in ["addNote", "add_note-now", "Add", "add__note", "_add", "add.note"] {
            let told = format!(
                "w /tool/commands/0 command `{bad}` is neither in snake_case nor in kebab-case"
            );
            expect(&tool(&format!("commands: [{bad}]")), &[&told]);
        }
        let told = "command `addNote` is neither in snake_case nor in kebab-case";
        expect(&tool("tools: [{id: addNote}]"), &[&format!("w /tool/tools/0/id {told}")]);
        // Where examples define the command, its name is their key.
        let by_key = tool("examples: {addNote: [{scenario: success}]}");
        expect(&by_key, &[&format!("w /tool/examples/addNote {told}")]);
        // The name of a command line is made of its words.
        expect(&tool("command_groups: {a: [{command: notes add-note --Now}]}"), &[]);
    }

    #[test]
    fn ids_of_functions() {
        let tool = |code: &str, more: &str| {
            format!("tool: {{id: notes, type: mcp, executable_knowledge: {{{code}}}{more}}}")
        };
        let knowledge = "/tool/executable_knowledge";
        for kind in ["helper", "processor", "validator"] {
            expect(
                &tool(
                    &format!("{kind}s: [{{id: make-x}}, {{id: ''}}, {{id: ' '}}, {{id: 7}}, {{}}]"),
                    "",
                ),
                &[],
            );
            let told = format!("w {knowledge}/{kind}s/1/id {kind} id `makeX` is not in kebab-case");
            expect(&tool(&format!("{kind}s: [7, {{id: makeX}}]"), ""), &[&told]);
        }
        let repaired = |text: &str| ours(text)[0].repair.is_some();
        assert!(repaired(&tool("helpers: [{id: makeX}]", "")));
        assert!(repaired(&tool(
            "helpers: [{id: makeX}]",
            ", api_complexity: {field_mappings: {a: {extraction: helpers.y}}}"
        )));
        // Something names it, or the other name is taken.
        for more in [
            ", api_complexity: {field_mappings: {a: {extraction: helpers.makeX}}}",
            ", api_complexity: {payload_schemas: [{detection: helpers.makeX}]}",
        ] {
            assert!(!repaired(&tool("helpers: [{id: makeX}]", more)), "{more}");
        }
        assert!(!repaired(&tool("helpers: [{id: makeX}, {id: make-x}]", "")));
        assert!(!repaired(&tool("helpers: [{id: größeX}]", "")));
        let example = |validator: &str| {
            format!(", examples: {{add: [{{error: {{validator: {validator}}}}}]}}")
        };
        assert!(!repaired(&tool("validators: [{id: makeX}]", &example("makeX"))));
        assert!(!repaired(&tool("validators: [{id: makeX}]", &example("validators.makeX"))));
        assert!(repaired(&tool("validators: [{id: makeX}]", &example("other"))));
        let meta = "tool: {id: notes, type: meta, meta_specific: {orchestration: helpers.makeX}, executable_knowledge: {helpers: [{id: makeX}]}}";
        assert!(!repaired(meta));
    }

    #[test]
    fn other_formats_have_no_such_convention() {
        expect(r#"{"name": "Read_file", "inputSchema": {"type": "object"}}"#, &[]);
    }

    #[test]
    fn a_thousand_tools() {
        let tools: Vec<String> = (0..1_000)
            .map(|n| format!(r#"{{"name": "get_value_{n}", "capabilities": []}}"#))
            .collect();
        assert_eq!(count(&super::RULE, &format!("[{}]", tools.join(","))), 1_000);
    }
}
