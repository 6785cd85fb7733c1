//! A manifest declares a capability because a tool needs it, and a list names each capability once.
//!
//! Source: BTCP manifest, `capabilities` (only what its tools need).
//!
//! The comparison is literal, as in `CAPABILITY_NOT_DECLARED`. Silent about unused capabilities if
//! the needs of any tool are unknown: its list is missing, malformed or was not read to its end.
//! Duplicates are reported all the same.
//!
//! ```text
//! manifest: dom:read, clipboard:write   tools need dom:read    `clipboard:write` is unused
//! manifest: dom:read, dom:read          tools need dom:read    the second one is a duplicate
//! manifest: dom:read                    a tool without a list  nothing: it may need it
//! ```

use std::collections::HashMap;

use toolwright_model::{Capability, Draft, FieldValue};
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNUSED_CAPABILITY Warning
        "A manifest declares a capability that none of its tools needs, or a list names a \
         capability twice. Users are asked to grant every declared capability: an unneeded one \
         makes them trust more than necessary, and hides which ones matter.\n\n\
         Remove it. The comparison is literal: a tool that needs `dom:write` does not need \
         `dom:read`. If one tool of the manifest has no valid list of capabilities, unused \
         capabilities are not reported."
    => (
        "manifest.json",
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read", "clipboard:write"],
  "tools": [{
    "name": "listLinks",
    "description": "Lists the links of the current page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }]
}
"#,
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "listLinks",
    "description": "Lists the links of the current page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }]
}
"#
    )
}

/// Duplicates in the lists of the manifest and of its tools, then what the manifest declares too
/// much.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if let Some(declared) = &subject.toolset.declares {
        let at = RecordPath::root().child("declares");
        // Duplicates first: `listed` then has each capability once, so one that is unused and
        // listed twice gets one finding of each kind.
        let listed = report_duplicates(declared, || at, out);
        if let Some(needed) = needed_capabilities(subject) {
            report_unused(listed, &needed, out);
        }
    }
    for (at, tool) in subject.tools() {
        // Tools are checked for duplicates only. Whether the code of a tool uses what the tool
        // lists cannot be seen from a definition.
        report_duplicates(&tool.needs, || at.child("capabilities"), out);
    }
}

/// Reports capabilities that a list names more than once. Returns each capability with the pointer
/// to its first mention, so that an unused one is reported there. `list` may be that of the
/// manifest or of a tool.
fn report_duplicates<'a>(
    list: &'a [FieldValue<Capability>],
    // A function and not a pointer: many lists are empty, and pointers allocate.
    at: impl FnOnce() -> RecordPath,
    out: &mut Report<'_>,
) -> Vec<(&'a Capability, RecordPath)> {
    // A list and not a map, so that findings come in the order of the file.
    let mut listed = Vec::new();
    if list.is_empty() {
        return listed;
    }
    let at = at();
    let mut first: HashMap<&Capability, RecordPath> = HashMap::new();
    for (n, capability) in list.iter().enumerate() {
        // A malformed entry was reported by its shape.
        let Some(capability) = capability.ok() else { continue };
        let at = at.child(n);
        if let Some(first) = first.get(capability) {
            let message = format!("`{capability}` is listed twice");
            let finding = surplus_finding(capability, at, message);
            out.push(finding.related(first.clone(), "its first mention"));
        } else {
            first.insert(capability, at.clone());
            listed.push((capability, at));
        }
    }
    listed
}

/// What all tools together need. `None` if the needs of one tool are unknown, because it might need
/// what seems to be unused.
fn needed_capabilities<'a>(subject: &Subject<'a>) -> Option<Vec<&'a Capability>> {
    let has_valid_list = |(at, tool): (ToolPath, &'a Draft)| {
        let list = subject.document_value(&at.child("capabilities"));
        // Read from the document: in the record, a missing list and an empty one are the same, but
        // only an empty list states that the tool needs nothing.
        list.is_some_and(|list| list.kind() == ValueKind::List)
            && tool.needs.iter().all(|need| need.ok().is_some())
    };
    // A manifest must have a tool, so one without tools was reported. To report each of its
    // capabilities as unused would only repeat that.
    let is_whole = !subject.toolset.tools.is_empty() && !subject.is_unfinished(&RecordPath::root());
    let is_certain = is_whole && subject.tools().all(has_valid_list);
    is_certain.then(|| {
        subject
            .toolset
            .tools
            .iter()
            .flat_map(|tool| &tool.needs)
            .filter_map(FieldValue::ok)
            .collect()
    })
}

/// Reports declared capabilities that no tool needs. `listed` has each capability once, in the
/// order of the file.
fn report_unused(
    listed: Vec<(&Capability, RecordPath)>,
    needed: &[&Capability],
    out: &mut Report<'_>,
) {
    let needed: std::collections::HashSet<_> = needed.iter().collect();
    for (capability, at) in
        listed.into_iter().filter(|(capability, _)| !needed.contains(capability))
    {
        out.push(surplus_finding(capability, at, format!("no tool needs `{capability}`")));
    }
}

/// A finding whose repair removes the capability. It is safe: nothing needs the removed entry.
fn surplus_finding(capability: &Capability, at: RecordPath, message: String) -> RecordFinding {
    let edit = Edit::Remove(at.clone());
    RecordFinding::new(&UNUSED_CAPABILITY, at, message).repair(
        Safety::Safe,
        format!("remove `{capability}`"),
        vec![edit],
    )
}

#[cfg(test)]
mod tests {
    use toolwright_source::{Edit, Safety};

    use crate::testing::{count, findings, found, messages};

    /// A manifest with a list of capabilities and one tool for each continuation in `tools`.
    fn manifest(declared: &str, tools: &[&str]) -> String {
        let tools: Vec<String> =
            tools.iter().map(|more| format!(r#"{{"name": "a"{more}}}"#)).collect();
        format!(r#"{{"btcp": "1.0", "capabilities": {declared}, "tools": [{}]}}"#, tools.join(","))
    }

    #[test]
    fn capabilities_that_no_tool_needs_are_reported() {
        let reads = r#", "capabilities": ["dom:read"]"#;
        let writes = r#", "capabilities": ["dom:write"]"#;
        let cases: &[(&str, &[&str], &[&str])] = &[
            (r#"["dom:read"]"#, &[reads], &[]),
            ("[]", &[reads], &[]),
            (r#"["dom:read", "dom:write"]"#, &[reads, writes], &[]),
            (r#"["dom:read", "dom:write"]"#, &[reads], &["/capabilities/1"]),
            // Literal: what a capability implies is not needed.
            (r#"["dom:read", "dom:write"]"#, &[writes], &["/capabilities/0"]),
            (
                r#"["dom:read", "a:b", "dom:read"]"#,
                &[reads],
                &["/capabilities/2", "/capabilities/1"],
            ),
            (r#"["a:b", "a:b"]"#, &[reads], &["/capabilities/1", "/capabilities/0"]),
            (r#"["dom:read"]"#, &[r#", "capabilities": []"#], &["/capabilities/0"]),
            // The needs of a tool are unknown.
            (r#"["dom:read"]"#, &[""], &[]),
            (r#"["dom:read"]"#, &[r#", "capabilities": "dom:read""#], &[]),
            (r#"["dom:read"]"#, &[r#", "capabilities": ["dom:*"]"#], &[]),
            (r#"["dom:read"]"#, &[], &[]),
            // Malformed capabilities are reported by their shape.
            (r#"["", "dom:*", "dom:*", 7, null]"#, &[reads], &[]),
            ("7", &[reads], &[]),
            // A tool's own list.
            (
                r#"["dom:read"]"#,
                &[r#", "capabilities": ["dom:read", "dom:read"]"#],
                &["/tools/0/capabilities/1"],
            ),
        ];
        for (declared, tools, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("UNUSED_CAPABILITY at {at}")).collect();
            assert_eq!(
                found("UNUSED_CAPABILITY", &manifest(declared, tools)),
                expected,
                "{declared}"
            );
        }
        let alone = r#"{"name": "a", "capabilities": ["dom:read", "dom:read"]}"#;
        assert_eq!(found("UNUSED_CAPABILITY", alone), ["UNUSED_CAPABILITY at /capabilities/1"]);
    }

    #[test]
    fn the_repair_removes_the_capability() {
        let text = manifest(r#"["a:b", "a:b"]"#, &[r#", "capabilities": []"#]);
        assert_eq!(
            messages("UNUSED_CAPABILITY", &text),
            ["`a:b` is listed twice", "no tool needs `a:b`"]
        );
        for finding in findings(&text).into_iter().filter(|f| f.code.name == "UNUSED_CAPABILITY") {
            let repair = finding.repair.expect("a repair");
            assert_eq!(repair.safety, Safety::Safe);
            assert_eq!(repair.edits, [Edit::Remove(finding.at)]);
        }
    }

    #[test]
    fn nothing_is_reported_about_a_manifest_that_breaks_off() {
        let whole =
            manifest(r#"["dom:read", "dom:write"]"#, &[r#", "capabilities": ["dom:read"]"#]);
        assert_eq!(count(&super::RULE, &whole), 1);
        assert_eq!(count(&super::RULE, whole.trim_end_matches(['}', ']'])), 0);
    }

    #[test]
    fn an_unused_capability_is_reported_once_for_a_thousand_tools() {
        let tools = vec![r#", "capabilities": ["dom:read"]"#; 1_000];
        assert_eq!(count(&super::RULE, &manifest(r#"["dom:read", "a:b"]"#, &tools)), 1);
    }
}
