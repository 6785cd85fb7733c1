//! An id stands for one thing: among the functions of a kind, among the tools of a document, and
//! among the tools of documents that are used together.

use std::collections::HashMap;

use toolwright_model::{Draft, Function, Namespace, ToolId, ToolName, UniqueTools};
use toolwright_source::codes::DUPLICATE_ID;
use toolwright_source::{RecordFinding, RecordPath, words};

use crate::Subject;
use crate::report::{MAX_FINDINGS, Report};
use crate::rule::{Rule, RuleBetween};
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { check };
pub(crate) static RULE_BETWEEN: RuleBetween = RuleBetween { check: check_between };

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    functions("helper", "helpers", knowledge.helpers.iter(), out);
    functions("processor", "processors", knowledge.processors.iter().map(|p| &p.function), out);
    functions("validator", "validators", knowledge.validators.iter().map(|v| &v.function), out);
    // A BTCP toolset has names: DUPLICATE_TOOL_NAME.
    if subject.conventions().unique_tools == UniqueTools::ById && subject.toolset.tools.len() > 1 {
        tools(subject, out);
    }
}

fn functions<'a>(
    kind: &str,
    list: &str,
    functions: impl Iterator<Item = &'a Function>,
    out: &mut Report<'_>,
) {
    let place = |n: usize| RecordPath::root().child("knowledge").child(list).child(n).child("id");
    let mut first = HashMap::new();
    for (n, function) in functions.enumerate() {
        // A blank id was reported as missing.
        let Some(id) = function.id.as_deref().filter(|id| !id.trim().is_empty()) else { continue };
        let Some(first) = first.get(id) else {
            first.insert(id, n);
            continue;
        };
        let message = format!("another {kind} has the id `{}` too", words::shorten(id));
        out.push(
            RecordFinding::new(&DUPLICATE_ID, place(n), message)
                .related(place(*first), "the first one with this id"),
        );
    }
}

fn tools(subject: &Subject<'_>, out: &mut Report<'_>) {
    let mut first = HashMap::new();
    for (at, tool) in subject.tools() {
        let Some(id) = parts(subject, tool) else { continue };
        let Some(first) = first.get(&id) else {
            first.insert(id, at);
            continue;
        };
        let message = format!("another tool has the id `{}` too", id_of(id));
        out.push(
            RecordFinding::new(&DUPLICATE_ID, at.child("name"), message)
                .related(ToolPath::child(*first, "name"), "the first one with this id"),
        );
    }
}

fn check_between(subjects: &[Subject<'_>], out: &mut dyn FnMut(usize, RecordFinding)) {
    let tools = subjects.iter().map(|subject| subject.toolset.tools.len()).sum();
    let mut first: HashMap<(Option<&Namespace>, &ToolName), usize> = HashMap::with_capacity(tools);
    for (n, subject) in subjects.iter().enumerate() {
        let mut told = 0;
        for (t, tool) in subject.toolset.tools.iter().enumerate() {
            let Some(parts) = parts(subject, tool) else { continue };
            let owner = *first.entry(parts).or_insert(n);
            // Within one document the rule above has told.
            if owner == n || told == MAX_FINDINGS {
                continue;
            }
            told += 1;
            let other = words::shorten(subjects[owner].origin.document().source().name());
            let message = format!("`{}` is also the id of a tool in `{other}`", id_of(parts));
            let finding = RecordFinding::new(&DUPLICATE_ID, ToolPath(t).child("name"), message);
            out(n, finding.help("of tools with one id, the first that is loaded stays"));
        }
    }
}

/// The parts of a tool's id; none where one of them is bad, or where an AIOS tool lacks its
/// namespace.
fn parts<'a>(
    subject: &Subject<'a>,
    tool: &'a Draft,
) -> Option<(Option<&'a Namespace>, &'a ToolName)> {
    let namespace = &subject.toolset.namespace;
    let unknown =
        namespace.is_invalid() || subject.conventions().needs_namespace && namespace.ok().is_none();
    if tool.namespace.is_invalid() || unknown && tool.namespace.ok().is_none() {
        return None;
    }
    Some((tool.namespace.ok().or(namespace.ok()), tool.name.ok()?))
}

fn id_of((namespace, name): (Option<&Namespace>, &ToolName)) -> ToolId {
    ToolId { namespace: namespace.cloned(), name: name.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolwright_formats::{Detected, Reading, detect, read};
    use toolwright_source::{Document, Syntax};

    use crate::testing::{count, findings, found, messages};
    use crate::{Subject, check_together};

    fn aios(more: &str) -> String {
        format!("tool:\n  id: notes\n  type: cli\n  {more}\n")
    }

    #[test]
    fn ids_of_functions() {
        let cases: &[(&str, &[&str])] = &[
            ("helpers: [{id: a}, {id: b}]", &[]),
            ("helpers: [{id: a}, {id: a}, {id: a}]", &["helpers/1", "helpers/2"]),
            ("processors: [{id: a}, {id: a}]", &["processors/1"]),
            ("validators: [{id: a}, 7, {id: a}]", &["validators/2"]),
            // Each kind has ids of its own.
            ("helpers: [{id: a}], processors: [{id: a}], validators: [{id: a}]", &[]),
            ("helpers: [{id: a}, {id: A}]", &[]),
            ("helpers: [{id: ''}, {id: ''}, {id: ' '}, {id: ' '}, {}, {}, {id: 7}, {id: 7}]", &[]),
        ];
        for (knowledge, at) in cases {
            let expected: Vec<String> = at
                .iter()
                .map(|at| format!("DUPLICATE_ID at /tool/executable_knowledge/{at}/id"))
                .collect();
            let text = aios(&format!("executable_knowledge: {{{knowledge}}}"));
            assert_eq!(found("DUPLICATE_ID", &text), expected, "{knowledge}");
        }
    }

    #[test]
    fn ids_of_tools() {
        let object = r#""inputSchema": {"type": "object"}"#;
        let cases: &[(&str, &[&str])] = &[
            (&aios("tools: [{id: a}, {id: b}]"), &[]),
            (&aios("tools: [{id: a}, {id: a}]"), &["/tool/tools/1/id"]),
            (&aios("tools: [{id: ''}, {id: ''}, {}, {}]"), &[]),
            // A description of a name that is listed is the same command.
            (&aios("commands: [a, a]\n  tools: [{id: a}]"), &[]),
            (&format!(r#"[{{"name": "a", {object}}}, {{"name": "a", {object}}}]"#), &["/1/name"]),
            (
                &format!(
                    r#"[{{"name": "a", "namespace": "x", {object}}}, {{"name": "a", {object}}}]"#
                ),
                &[],
            ),
            // What it would be called by is not known.
            (
                &format!(
                    r#"[{{"name": "a", "namespace": "x:", {object}}}, {{"name": "a", {object}}}]"#
                ),
                &[],
            ),
            // Names of BTCP tools are another rule's.
            (r#"[{"name": "a", "capabilities": []}, {"name": "a", "capabilities": []}]"#, &[]),
        ];
        for (text, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("DUPLICATE_ID at {at}")).collect();
            assert_eq!(found("DUPLICATE_ID", text), expected, "{text}");
        }
    }

    #[test]
    fn what_people_read() {
        let text = aios("executable_knowledge: {helpers: [{id: a}, {id: a}]}");
        assert_eq!(messages("DUPLICATE_ID", &text), ["another helper has the id `a` too"]);
        let found =
            findings(&text).into_iter().find(|f| f.code.name == "DUPLICATE_ID").expect("a finding");
        assert_eq!(found.related[0].0.as_str(), "/tool/executable_knowledge/helpers/0/id");
        let text = aios("tools: [{id: a}, {id: a}]");
        assert_eq!(messages("DUPLICATE_ID", &text), ["another tool has the id `notes:a` too"]);
    }

    #[test]
    fn a_thousand_tools() {
        let ids: Vec<String> = (0..1_000).map(|n| format!("{{id: t{}}}", n % 500)).collect();
        assert_eq!(count(&super::RULE, &aios(&format!("tools: [{}]", ids.join(", ")))), 500);
    }

    /// What is found between documents called `a`, `b` …, in short.
    fn between(texts: &[&str]) -> Vec<String> {
        let read = |(n, text): (usize, &&str)| -> Reading {
            let syntax = if text.starts_with(['{', '[']) { Syntax::Json } else { Syntax::Yaml };
            let name = char::from(b'a' + n as u8).to_string();
            let document = Arc::new(Document::parse(&name, text.to_string(), syntax));
            let Detected::Format(format) = detect(&document) else { panic!("no format: {text}") };
            read(&document, format)
        };
        let readings: Vec<Reading> = texts.iter().enumerate().map(read).collect();
        let subjects: Vec<Subject<'_>> = readings
            .iter()
            .map(|r| {
                Subject::new(
                    r.format,
                    r.dialect.as_deref(),
                    &r.toolset,
                    &r.origin,
                    &toolwright_script::InProcessAnalyzer,
                )
            })
            .collect();
        let ours =
            check_together(&subjects).into_iter().filter(|(_, f)| f.code.name == "DUPLICATE_ID");
        ours.map(|(n, finding)| format!("{n} {} {}", finding.at, finding.message)).collect()
    }

    #[test]
    fn ids_between_documents() {
        let now = r#"{"name": "now", "inputSchema": {"type": "object"}}"#;
        let btcp = r#"[{"name": "now", "capabilities": []}]"#;
        let notes = "tool: {id: notes, type: cli, tools: [{id: now}]}";
        let own = r#"[{"name": "now", "namespace": "notes", "inputSchema": {"type": "object"}}]"#;
        let cases: &[(&[&str], &[&str])] = &[
            (&[now], &[]),
            (&[now, now], &["1 /name `now` is also the id of a tool in `a`"]),
            // Another format is no other namespace.
            (
                &[now, btcp, now],
                &[
                    "1 /0/name `now` is also the id of a tool in `a`",
                    "2 /name `now` is also the id of a tool in `a`",
                ],
            ),
            (&[now, notes], &[]),
            (&[notes, own], &["1 /0/name `notes:now` is also the id of a tool in `a`"]),
            // Twice in one document is told there.
            (
                &[r#"[{"name": "x", "capabilities": []}, {"name": "x", "capabilities": []}]"#, now],
                &[],
            ),
            // What they would be called by is not known.
            (&["tool: {id: 'a b', type: cli, tools: [{id: now}]}", now], &[]),
            (&["tool: {type: cli, tools: [{id: now}]}", now], &[]),
            (&[r#"{"name": "", "inputSchema": {}}"#, r#"{"name": "", "inputSchema": {}}"#], &[]),
            (&[], &[]),
        ];
        for (texts, expected) in cases {
            assert_eq!(between(texts), *expected, "{texts:?}");
        }
        let many: Vec<String> =
            (0..1_100).map(|n| format!(r#"{{"name": "t{n}", "capabilities": []}}"#)).collect();
        let many = format!("[{}]", many.join(","));
        assert_eq!(between(&[&many, &many]).len(), super::MAX_FINDINGS);
    }
}
