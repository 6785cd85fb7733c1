//! Names follow the conventions of their format.
//!
//! Source: BTCP tool, `name` (camelCase; a verb and a noun); AIOS, naming conventions (ids in
//! kebab-case, commands in snake_case or kebab-case, enum values in snake_case).
//!
//! ```text
//! BTCP   another case than camelCase ..... warning
//!        no verb, or a verb alone ........ note: a weaker wish, and no list of verbs is complete
//! AIOS   tool id, ids of functions ....... warning, with a repair if nothing refers to the id
//!        commands ........................ warning, no repair: servers and scripts own these names
//!        scenarios, categories ........... warning
//! ```
//!
//! Which characters a name may have at all is the shape of the value: malformed names are not
//! reported here. Manifest names have no convention beyond their pattern. The namespaces of MCP
//! tools are checked by their reader.

use std::collections::HashSet;

use toolwright_model::{Binding, Detection, Draft, Function, Json, NameStyle, Toolset};
use toolwright_source::codes::NAMING_CONVENTION;
use toolwright_source::words::shorten;
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety, Severity};

use super::verbs::is_verb;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: &[], check };

/// A style is a property of the format, so no format is named here.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    match subject.conventions().names {
        NameStyle::CamelCaseVerbs => check_btcp_names(subject, out),
        NameStyle::KebabCaseIds => {
            check_aios_id(subject, out);
            check_aios_commands(subject, out);
            check_aios_functions(subject.toolset, out);
            check_aios_enum_values(subject, out);
        }
        // Formats without a convention, such as MCP: every valid name is accepted.
        NameStyle::Free => {}
    }
}

/// Reports BTCP names in another case than camelCase, and names without a verb or without an
/// object.
///
/// Both findings may be about one name: the case and the missing verb are corrected separately.
fn check_btcp_names(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        // A name with other characters breaks the pattern of the format, which is an error.
        let name = tool.name.ok().map(|name| name.as_str());
        let Some(name) = name.filter(|name| is_btcp_name(name)) else { continue };
        let words = split(name);
        // The pattern leaves letters, digits and `_`, so these two are all that can differ from
        // camelCase. `parseHTMLPage` is accepted as it is.
        if name.contains('_') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let finding =
                finding(at.child("name"), format!("tool name `{name}` is not in camelCase"));
            // No repair: the client finds the code of the tool by this name, and the code is not in
            // this document.
            out.push(suggest(finding, "camelCase", &camel(&words), name));
        }
        // A name in the wrong case gets this note as well: `File_Reader` lacks a verb in any case.
        let verb = words.first().is_some_and(|word| is_verb(word));
        let message = match (verb, words.len()) {
            (true, 2..) => continue,
            // `search` alone starts with a verb, but a list of tools with `search`, `get` and
            // `open` does not tell an agent which one to use.
            (true, _) => format!("tool name `{name}` does not say what it works on"),
            (false, _) => format!("tool name `{name}` does not start with a verb"),
        };
        let finding = finding(at.child("name"), message).severity(Severity::Info);
        out.push(finding.help("a verb and a noun say what the tool does, as in `searchProducts`"));
    }
}

/// Whether a name matches the published pattern, `^[a-zA-Z][a-zA-Z0-9_]*$`.
fn is_btcp_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Reports an AIOS tool id that is not in kebab-case.
///
/// The repair is left out where the id is passed on, and where the result would not be kebab-case
/// either.
fn check_aios_id(subject: &Subject<'_>, out: &mut Report<'_>) {
    // A malformed id was reported by its shape.
    let Some(id) = subject.toolset.namespace.ok().map(|id| id.as_str()) else { return };
    if is_joined_by(id, '-') {
        return;
    }
    let at = RecordPath::root().child("namespace");
    let finding = finding(at.clone(), format!("tool id `{}` is not in kebab-case", shorten(id)));
    let other = split(id).join("-");
    let finding = suggest(finding, "kebab-case", &other, id);
    // A local tool without commands passes its id to the script as the command to run. A rename
    // would make the script receive a command that it does not have.
    let passes_id_to_script = |(at, tool): (ToolPath, &Draft)| {
        matches!(tool.details.binding, Binding::Local { .. }) && is_named_by_id(subject, at)
    };
    // Tools of type `cli` and `meta` without commands have the id as their name, too, but do not
    // pass it on.
    let is_command = subject.tools().any(passes_id_to_script);
    let rename = is_joined_by(&other, '-') && !is_command;
    out.push(if rename { repair(finding, at, other) } else { finding });
}

/// Whether the name of a tool was read from the id of the document: an AIOS tool without commands
/// is its only command.
fn is_named_by_id(subject: &Subject<'_>, tool: ToolPath) -> bool {
    let id = subject.document_value(&RecordPath::root().child("namespace"));
    let name = subject.document_value(&tool.child("name"));
    // The same span is the same value of the document. Equal texts would prove nothing: a command
    // may well be called like its tool.
    id.is_some_and(|id| name.is_some_and(|name| name.span() == id.span()))
}

/// Reports commands that are in neither of the two allowed cases. There is no repair, because
/// servers and scripts define these names.
fn check_aios_commands(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        if out.is_full(&NAMING_CONVENTION) {
            return;
        }
        let Some(name) = tool.name.ok().map(|name| name.as_str()) else { continue };
        if is_joined_by(name, '_') || is_joined_by(name, '-') || is_named_by_id(subject, at) {
            continue;
        }
        let at = at.child("name");
        // A command of `command_groups` has a name that the reader made of the words of its command
        // line. The author did not choose it, so it is not reported.
        let Some(node) = subject.document_value(&at) else { continue };
        // Where examples define the commands, the name is the key of the examples.
        let is_key = node.key().is_some_and(|key| key.raw() == name);
        if node.raw() != name && !is_key {
            continue;
        }
        let message = format!("command `{name}` is neither in snake_case nor in kebab-case");
        let finding = suggest(finding(at, message), "snake_case", &split(name).join("_"), name);
        // Point to whatever holds the name: the key of examples, or a value in a list.
        out.push(if is_key && node.raw() != name { finding.on_key() } else { finding });
    }
}

/// Reports ids of helpers, processors and validators that are not in kebab-case.
fn check_aios_functions(toolset: &Toolset<Draft>, out: &mut Report<'_>) {
    let knowledge = &toolset.knowledge;
    let helpers: Vec<&Function> = knowledge.helpers.iter().collect();
    let processors: Vec<&Function> = knowledge.processors.iter().map(|p| &p.function).collect();
    let validators: Vec<&Function> = knowledge.validators.iter().map(|v| &v.function).collect();
    let mut all = helpers.iter().chain(&processors).chain(&validators);
    // Collecting the ids in use takes longer than this test, and most documents pass it.
    if all.all(|function| misnamed_id(function).is_none()) {
        return;
    }
    check_functions("helper", "helpers", &helpers, &helpers_in_use(toolset), out);
    // Nothing refers to a processor by its id: `processes` of the processor names the command.
    check_functions("processor", "processors", &processors, &HashSet::new(), out);
    check_functions("validator", "validators", &validators, &validators_in_use(toolset), out);
}

/// The id of a function, if it is not in kebab-case. A blank one was reported as missing.
fn misnamed_id(function: &Function) -> Option<&str> {
    function.id.as_deref().filter(|id| !id.trim().is_empty() && !is_joined_by(id, '-'))
}

/// Reports scenarios and categories that are not in snake_case. Both are open sets, so only the
/// case is checked.
fn check_aios_enum_values(subject: &Subject<'_>, out: &mut Report<'_>) {
    // The path is a function, because it allocates and nearly all words are right.
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

/// Reports the misnamed functions of one list. The repair renames an id only if nothing refers to
/// it (`in_use`) and no other function of the list has the new name.
fn check_functions(
    kind: &str,
    list: &str,
    functions: &[&Function],
    in_use: &HashSet<String>,
    out: &mut Report<'_>,
) {
    let list = RecordPath::root().child("knowledge").child(list);
    // All ids of the list, so that a repair gives no function the id of another one: `checkNote`
    // must not become `check-note` if that exists.
    let ids: HashSet<&str> =
        functions.iter().filter_map(|function| function.id.as_deref()).collect();
    for (n, function) in functions.iter().enumerate() {
        let Some(id) = misnamed_id(function).filter(|_| !out.is_full(&NAMING_CONVENTION)) else {
            continue;
        };
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

/// The ids of helpers that field mappings, payload detection or orchestration refer to.
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
    // The reader has removed the prefix `helpers.` from the name in the binding.
    let orchestrations = toolset.tools.iter().filter_map(|tool| match &tool.details.binding {
        Binding::Orchestration { helper, .. } => Some(helper.clone()),
        _ => None,
    });
    extractions.chain(detections).chain(orchestrations).collect()
}

/// The ids of validators that the expected error of an example refers to. Some examples write
/// `validators.ID`.
fn validators_in_use(toolset: &Toolset<Draft>) -> HashSet<String> {
    let own = toolset.tools.iter().flat_map(|tool| &tool.details.examples);
    let stray = toolset.stray_examples.iter().flat_map(|(_, examples)| examples);
    let named = own.chain(stray).filter_map(|example| example.error.as_ref()?.validator.as_deref());
    named.map(|text| text.strip_prefix("validators.").unwrap_or(text).to_owned()).collect()
}

/// A finding of this rule; its code belongs to `source::codes` because a reader reports it, too.
fn finding(at: RecordPath, message: String) -> RecordFinding {
    RecordFinding::new(&NAMING_CONVENTION, at, message)
}

/// Adds the name in the right case as help. Letters outside of ASCII have no place in these cases,
/// so there is no suggestion for them.
fn suggest(finding: RecordFinding, case: &str, other: &str, name: &str) -> RecordFinding {
    // `split` of a name that has no letter or digit is empty.
    let can_suggest = name.is_ascii() && !other.is_empty();
    if can_suggest {
        finding.help(format!("in {case} it is `{}`", shorten(other)))
    } else {
        finding
    }
}

/// Adds the rename as a repair. It is not safe: other documents may refer to the name.
fn repair(finding: RecordFinding, at: RecordPath, other: String) -> RecordFinding {
    let title = format!("rename it to `{}`", shorten(&other));
    finding.repair(Safety::Unsafe, title, vec![Edit::Replace(at, Json::from(other))])
}

/// Whether a name is made of lower-case words joined by one character. A word may start with a
/// digit, as in `21st-dev-magic`: ids of published tools do.
///
/// With `-`: `read-file` and `a` are accepted, `read--file`, `-a`, `readFile` and an empty name are
/// not.
fn is_joined_by(name: &str, joint: char) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    name.split(joint).all(word)
}

/// The words of a name in any case, in lower case: `parseHTMLPage` gives parse, html, page. A word
/// starts at an upper-case letter after a lower-case letter or digit, at the last upper-case letter
/// of a run that a lower-case letter follows, and after any character that is not alphanumeric.
///
/// More examples: `read_file` and `read-file` give read, file; `sha256Sum` gives sha256, sum; `__`
/// gives no words.
pub(super) fn split(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (n, c) in chars.iter().enumerate() {
        let before = n.checked_sub(1).map(|n| chars[n]);
        let after = chars.get(n + 1);
        // `b` is the character before, `a` the one after. In `HTMLPage`, the `P` starts a word
        // because `a` follows it; `T`, `M` and `L` continue the run.
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
    // Separators in a row, and at the ends, have made empty words.
    words.retain(|word| !word.is_empty());
    words
}

/// The words in camelCase. Also how the sandbox derives the name of an exported function from an
/// id. Example: `validate`, `add`, `note` become `validateAddNote`.
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

    /// Compares the findings with the first letter of their severity, their pointer and message.
    #[track_caller]
    fn expect(text: &str, expected: &[&str]) {
        let got: Vec<String> = ours(text)
            .iter()
            .map(|f| format!("{} {} {}", &f.severity.name()[..1], f.at, f.message))
            .collect();
        assert_eq!(got, expected, "{text}");
    }

    /// The findings of this rule.
    fn ours(text: &str) -> Vec<Finding> {
        findings(text).into_iter().filter(|f| f.code.name == "NAMING_CONVENTION").collect()
    }

    #[test]
    fn names_are_split_into_words() {
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
        // The id of a tool without commands is also its command; it is reported once.
        let own = ours("tool: {id: noteKeeper, type: cli, cli_specific: {executable: notes}}");
        assert!(own.len() == 1 && own[0].repair.is_some());
        let script =
            ours("tool: {id: noteKeeper, type: local, local_specific: {entry_point: notes.py}}");
        assert!(script.len() == 1 && script[0].repair.is_none());
    }

    #[test]
    fn commands_are_in_snake_case_or_kebab_case() {
        let tool = |more: &str| format!("tool: {{id: notes, type: cli, {more}}}");
        for fine in ["add_note", "add-note", "add", "2fa_code", "''", "a b", "7"] {
            expect(&tool(&format!("commands: [{fine}]")), &[]);
        }
        for bad in ["addNote", "add_note-now", "Add", "add__note", "_add", "add.note"] {
            let expected = format!(
                "w /tool/commands/0 command `{bad}` is neither in snake_case nor in kebab-case"
            );
            expect(&tool(&format!("commands: [{bad}]")), &[&expected]);
        }
        let message = "command `addNote` is neither in snake_case nor in kebab-case";
        expect(&tool("tools: [{id: addNote}]"), &[&format!("w /tool/tools/0/id {message}")]);
        // Where examples define the command, its name is their key.
        let by_key = tool("examples: {addNote: [{scenario: success}]}");
        expect(&by_key, &[&format!("w /tool/examples/addNote {message}")]);
        // The reader made this name of the words of a command line.
        expect(&tool("command_groups: {a: [{command: notes add-note --Now}]}"), &[]);
    }

    #[test]
    fn ids_of_functions_are_in_kebab_case() {
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
            let expected =
                format!("w {knowledge}/{kind}s/1/id {kind} id `makeX` is not in kebab-case");
            expect(&tool(&format!("{kind}s: [7, {{id: makeX}}]"), ""), &[&expected]);
        }
        let repaired = |text: &str| ours(text)[0].repair.is_some();
        assert!(repaired(&tool("helpers: [{id: makeX}]", "")));
        assert!(repaired(&tool(
            "helpers: [{id: makeX}]",
            ", api_complexity: {field_mappings: {a: {extraction: helpers.y}}}"
        )));
        // No repair if something refers to the id, or if the new id is taken.
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
    fn a_thousand_tools_are_all_reported() {
        let tools: Vec<String> = (0..1_000)
            .map(|n| format!(r#"{{"name": "get_value_{n}", "capabilities": []}}"#))
            .collect();
        assert_eq!(count(&super::RULE, &format!("[{}]", tools.join(","))), 1_000);
    }
}
