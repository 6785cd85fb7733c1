//! An id names one thing: one function of its list, one tool of its document, one tool of all
//! documents that are used together. Tools of one id are different tools if each has a version of
//! its own: `namespace:name:version` names one of them, and the id the newest.
//!
//! Source: AIOS, where ids of tools and functions are unique; toolfoundation, where
//! `namespace:name` is the stable id of a tool. Across documents it follows from the catalog: a
//! call names its tool by the id and by nothing else.
//!
//! ```text
//! check          functions of one list, tools of one document
//! check_between  tools of different documents, toolsets of one id
//! ```
//!
//! Silent about: ids that are missing or malformed (the shape reports them), tools whose id is
//! unknown because a part of it is malformed, and BTCP tools within one document, which have a rule
//! of their own (`DUPLICATE_TOOL_NAME`). The three lists of functions do not share their ids.
//!
//! ```text
//! a:b 1.0.0, a:b 2.0.0   in one document     fine: two versions
//! a:b 1.0.0, a:b         in one document     reported: the second has no version
//! a:b, in two documents                      reported at the later one, as an error
//! a:b and a:c, in two documents named `a`    a warning at the later namespace
//! ```
//!
//! No repair: a rename has to reach every caller.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolwright_model::{Draft, Function, Namespace, ToolId, ToolName, UniqueTools};
use toolwright_source::codes::DUPLICATE_ID;
use toolwright_source::{RecordFinding, RecordPath, Severity, words};

use crate::Subject;
use crate::report::{MAX_FINDINGS, Report};
use crate::rule::{Rule, RuleBetween};
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: &[], check };
pub(crate) static RULE_BETWEEN: RuleBetween = RuleBetween { codes: &[], check: check_between };

/// Looks for ids that repeat within one document; `check_between` compares documents.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    // The lists are separate: `helpers.x` and a validator `x` cannot be mistaken for each other,
    // because every reference states the list, by its prefix or by its field.
    check_functions("helper", "helpers", knowledge.helpers.iter(), out);
    check_functions(
        "processor",
        "processors",
        knowledge.processors.iter().map(|p| &p.function),
        out,
    );
    check_functions(
        "validator",
        "validators",
        knowledge.validators.iter().map(|v| &v.function),
        out,
    );
    // Formats that identify tools by name report DUPLICATE_TOOL_NAME.
    if subject.conventions().unique_tools == UniqueTools::ById && subject.toolset.tools.len() > 1 {
        check_tools(subject, out);
    }
}

/// Reports ids that occur more than once in one list of functions, except where they occur first.
fn check_functions<'a>(
    kind: &str,
    list: &str,
    functions: impl Iterator<Item = &'a Function>,
    out: &mut Report<'_>,
) {
    let path = |n: usize| RecordPath::root().child("knowledge").child(list).child(n).child("id");
    let mut first = HashMap::new();
    for (n, function) in functions.enumerate() {
        // A blank id was reported as missing.
        let Some(id) = function.id.as_deref().filter(|id| !id.trim().is_empty()) else { continue };
        // The first function with an id keeps it: in `exec`, too, a reference by the id reaches the
        // first one.
        let Some(first) = first.get(id) else {
            first.insert(id, n);
            continue;
        };
        let message = format!("another {kind} has the id `{}` too", words::shorten(id));
        out.push(
            RecordFinding::new(&DUPLICATE_ID, path(n), message)
                .related(path(*first), "the first function with this id"),
        );
    }
}

/// Reports tools of one document that have the id of an earlier tool.
fn check_tools(subject: &Subject<'_>, out: &mut Report<'_>) {
    let mut uses: HashMap<_, IdUses<ToolPath>> = HashMap::new();
    for (at, tool) in subject.tools() {
        // By id and not by name: two tools of different namespaces may share a name.
        let Some(id) = id_parts(subject, tool) else { continue };
        let Some(first) = uses.entry(id).or_default().add(tool, at) else { continue };
        let message = format!("another tool has the id `{}` too", tool_id(id));
        out.push(
            RecordFinding::new(&DUPLICATE_ID, at.child("name"), message)
                .related(ToolPath::child(first, "name"), "the first tool with this id"),
        );
    }
}

/// Where an id is used so far. `Place` is a tool of one document, or a document.
struct IdUses<Place> {
    first: Option<Place>,
    /// The first tool without a version. It conflicts with every other tool of the id.
    without_version: Option<Place>,
    /// By [`toolwright_model::Version::release`].
    versions: HashMap<String, Place>,
}

impl<Place> Default for IdUses<Place> {
    fn default() -> Self {
        IdUses { first: None, without_version: None, versions: HashMap::new() }
    }
}

impl<Place: Copy> IdUses<Place> {
    /// Adds a tool. Returns the first earlier tool that conflicts with it: one of the same version,
    /// or any, if one of the two has no version.
    fn add(&mut self, tool: &Draft, place: Place) -> Option<Place> {
        let earlier = match tool.version.ok().map(|version| version.release()) {
            Some(version) => match self.versions.entry(version) {
                Entry::Occupied(same) => Some(*same.get()),
                Entry::Vacant(entry) => {
                    entry.insert(place);
                    self.without_version
                }
            },
            None => {
                self.without_version.get_or_insert(place);
                self.first
            }
        };
        self.first.get_or_insert(place);
        earlier
    }
}

/// Reports tools that have the id of a tool in an earlier document. At most [`MAX_FINDINGS`] for
/// each document, because these findings bypass the [`Report`] and its limit. Each finding carries
/// the id and the name of the other file (`shares_id`).
fn check_between(subjects: &[Subject<'_>], out: &mut dyn FnMut(usize, RecordFinding)) {
    let tools = subjects.iter().map(|subject| subject.toolset.tools.len()).sum();
    // For each id, the index of the first document that has it.
    let mut uses: HashMap<(Option<&Namespace>, &ToolName), IdUses<usize>> =
        HashMap::with_capacity(tools);
    let mut repeats_tools = vec![false; subjects.len()];
    for (n, subject) in subjects.iter().enumerate() {
        let mut reported = 0;
        for (t, tool) in subject.toolset.tools.iter().enumerate() {
            let Some(parts) = id_parts(subject, tool) else { continue };
            // The order of the documents is the order in which they are loaded, so the first one is
            // the one whose tool can be called.
            let owner = uses.entry(parts).or_default().add(tool, n).unwrap_or(n);
            // Duplicates within one document are reported by `check_tools`.
            if owner == n || reported == MAX_FINDINGS {
                continue;
            }
            reported += 1;
            repeats_tools[n] = true;
            let other = words::shorten(subjects[owner].file_name());
            let id = tool_id(parts);
            let message = format!("`{id}` is also the id of a tool in `{other}`");
            let finding = RecordFinding::new(&DUPLICATE_ID, ToolPath(t).child("name"), message);
            let finding = finding.shares_id(id.to_string(), subjects[owner].file_name());
            out(n, finding.help("only the first tool that is loaded with this id can be called"));
        }
    }
    check_toolsets(subjects, &repeats_tools, out);
}

/// Reports toolsets with the id of an earlier one, in formats whose toolsets have an id of their
/// own (AIOS, BTCP), and servers, which have the name of their source. A warning: all their tools
/// differ. If some do not, these are errors, and `repeats_tools` is set: one of the two reports is
/// enough.
fn check_toolsets(
    subjects: &[Subject<'_>],
    repeats_tools: &[bool],
    out: &mut dyn FnMut(usize, RecordFinding),
) {
    let mut owners: HashMap<&Namespace, usize> = HashMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        let conventions = subject.conventions();
        let has_id = conventions.needs_namespace
            || conventions.unique_tools == UniqueTools::ByName
            || subject.is_answer();
        let Some(id) = subject.toolset.namespace.ok().filter(|_| has_id) else { continue };
        let owner = *owners.entry(id).or_insert(n);
        if owner == n || repeats_tools[n] {
            continue;
        }
        let other = words::shorten(subjects[owner].file_name());
        let message = format!("`{id}` is also the name of the tools in `{other}`");
        let at = RecordPath::root().child("namespace");
        let mut finding = RecordFinding::new(&DUPLICATE_ID, at, message);
        finding.severity = Severity::Warning;
        out(n, finding.help("rename one of them, so that callers can tell their tools apart"));
    }
}

/// The namespace and name that make up a tool's id, borrowed, because building a [`ToolId`] for
/// each of thousands of tools would only allocate. `None` if a part is malformed, or if the format
/// needs a namespace and the document has none: the id is unknown then, and equal names prove
/// nothing.
fn id_parts<'a>(
    subject: &Subject<'a>,
    tool: &'a Draft,
) -> Option<(Option<&'a Namespace>, &'a ToolName)> {
    let namespace = &subject.toolset.namespace;
    // Invalid is unknown in every format. Missing is unknown only where a namespace is required:
    // elsewhere two tools without one do have the same id.
    let unknown =
        namespace.is_invalid() || subject.conventions().needs_namespace && namespace.ok().is_none();
    if tool.namespace.is_invalid() || unknown && tool.namespace.ok().is_none() {
        return None;
    }
    Some((tool.namespace.ok().or(namespace.ok()), tool.name.ok()?))
}

/// The id as messages show it.
fn tool_id((namespace, name): (Option<&Namespace>, &ToolName)) -> ToolId {
    ToolId { namespace: namespace.cloned(), name: name.clone() }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found, found_between, messages};

    fn aios(more: &str) -> String {
        format!("tool:\n  id: notes\n  type: cli\n  {more}\n")
    }

    #[test]
    fn functions_of_one_list_have_different_ids() {
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
    fn tools_of_one_document_have_different_ids() {
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
            // A malformed namespace: the id is unknown.
            (
                &format!(
                    r#"[{{"name": "a", "namespace": "x:", {object}}}, {{"name": "a", {object}}}]"#
                ),
                &[],
            ),
            // Names of BTCP tools are checked by another rule.
            (r#"[{"name": "a", "capabilities": []}, {"name": "a", "capabilities": []}]"#, &[]),
        ];
        for (text, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("DUPLICATE_ID at {at}")).collect();
            assert_eq!(found("DUPLICATE_ID", text), expected, "{text}");
        }
    }

    #[test]
    fn messages_name_the_id_and_point_to_its_first_use() {
        let text = aios("executable_knowledge: {helpers: [{id: a}, {id: a}]}");
        assert_eq!(messages("DUPLICATE_ID", &text), ["another helper has the id `a` too"]);
        let found =
            findings(&text).into_iter().find(|f| f.code.name == "DUPLICATE_ID").expect("a finding");
        assert_eq!(found.related[0].0.as_str(), "/tool/executable_knowledge/helpers/0/id");
        let text = aios("tools: [{id: a}, {id: a}]");
        assert_eq!(messages("DUPLICATE_ID", &text), ["another tool has the id `notes:a` too"]);
    }

    #[test]
    fn a_thousand_tools_are_compared_by_hash() {
        let ids: Vec<String> = (0..1_000).map(|n| format!("{{id: t{}}}", n % 500)).collect();
        assert_eq!(count(&super::RULE, &aios(&format!("tools: [{}]", ids.join(", ")))), 500);
    }

    #[test]
    fn tools_of_different_documents_have_different_ids() {
        let now = r#"{"name": "now", "inputSchema": {"type": "object"}}"#;
        let btcp = r#"[{"name": "now", "capabilities": []}]"#;
        let notes = "tool: {id: notes, type: cli, tools: [{id: now}]}";
        let own = r#"[{"name": "now", "namespace": "notes", "inputSchema": {"type": "object"}}]"#;
        let versioned = |version: &str| {
            format!(
                r#"{{"name": "now", "version": "{version}", "inputSchema": {{"type": "object"}}}}"#
            )
        };
        let cases: &[(&[&str], &[&str])] = &[
            (&[now], &[]),
            (&[now, now], &["1 /name `now` is also the id of a tool in `a`"]),
            // A different format does not make a different namespace.
            (
                &[now, btcp, now],
                &[
                    "1 /0/name `now` is also the id of a tool in `a`",
                    "2 /name `now` is also the id of a tool in `a`",
                ],
            ),
            (&[now, notes], &[]),
            // Versions tell tools apart, unless one of two has none or both are the same.
            (&[&versioned("1.0.0"), &versioned("2.0.0")], &[]),
            (
                &[&versioned("1.0.0"), &versioned("2.0.0"), &versioned("v1.0.0+b")],
                &["2 /name `now` is also the id of a tool in `a`"],
            ),
            (&[now, &versioned("1.0.0")], &["1 /name `now` is also the id of a tool in `a`"]),
            (&[&versioned("1.0.0"), now], &["1 /name `now` is also the id of a tool in `a`"]),
            (&[notes, own], &["1 /0/name `notes:now` is also the id of a tool in `a`"]),
            // Two toolsets with one id whose tools differ.
            (
                &[notes, "tool: {id: notes, type: cli, tools: [{id: later}]}"],
                &["1 /tool/id `notes` is also the name of the tools in `a`"],
            ),
            // Duplicates within one document are not repeated here.
            (
                &[r#"[{"name": "x", "capabilities": []}, {"name": "x", "capabilities": []}]"#, now],
                &[],
            ),
            // A malformed or missing namespace: the id is unknown.
            (&["tool: {id: 'a b', type: cli, tools: [{id: now}]}", now], &[]),
            (&["tool: {type: cli, tools: [{id: now}]}", now], &[]),
            (&[r#"{"name": "", "inputSchema": {}}"#, r#"{"name": "", "inputSchema": {}}"#], &[]),
            (&[], &[]),
        ];
        for (texts, expected) in cases {
            assert_eq!(found_between("DUPLICATE_ID", texts), *expected, "{texts:?}");
        }
        let many: Vec<String> =
            (0..1_100).map(|n| format!(r#"{{"name": "t{n}", "capabilities": []}}"#)).collect();
        let many = format!("[{}]", many.join(","));
        assert_eq!(found_between("DUPLICATE_ID", &[&many, &many]).len(), super::MAX_FINDINGS);
    }
}
