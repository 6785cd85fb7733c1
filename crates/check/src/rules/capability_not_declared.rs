//! A manifest declares every capability that one of its tools needs.
//!
//! Source: BTCP manifest, validation rule 2 (a must).
//!
//! The comparison is literal. A stronger capability does not imply a weaker one, because the
//! specification defines no such order and a person who grants `dom:write` has not read `dom:read`.
//!
//! Silent about: tools outside a manifest (nothing declares for them), capabilities that are
//! malformed (the shape of the value is reported), and manifests whose list was not read to its
//! end.
//!
//! ```text
//! manifest: dom:read    a tool needs dom:write           reported, with a safe repair
//! manifest: dom:write   a tool needs dom:read            reported: none implies the other
//! manifest: dom:read    two tools need dom:write         one finding, at the first
//! ```

use std::collections::HashSet;

use toolwright_model::{Capability, FieldValue, Json};
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    CAPABILITY_NOT_DECLARED Error
        "A tool needs a capability that its manifest does not list. Users grant the \
         capabilities that the manifest lists, so a capability that is missing there can never \
         be granted, and the tool fails when it needs it.\n\n\
         Add the capability to the manifest's `capabilities`, or remove it from the tool. The \
         comparison is literal: `dom:write` does not include `dom:read`."
    => (
        "manifest.json",
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "clickButton",
    "description": "Clicks the button that a selector names",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read", "dom:write"]
  }]
}
"#,
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read", "dom:write"],
  "tools": [{
    "name": "clickButton",
    "description": "Clicks the button that a selector names",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read", "dom:write"]
  }]
}
"#
    )
}

/// One finding for each undeclared capability, at the first tool that needs it.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // A tool or a list of tools without a manifest. The absence of the list in a manifest is a
    // missing required field.
    let Some(declared) = &subject.toolset.declares else { return };
    // The part of the list behind a syntax error may declare the capability.
    if subject.is_unfinished(&RecordPath::root().child("declares")) {
        return;
    }
    // Undeclared capabilities join the set when they are reported: one finding for each capability,
    // at its first use, and one repair that adds it once.
    let mut known: HashSet<&Capability> = declared.iter().filter_map(FieldValue::ok).collect();
    for (at, tool) in subject.tools() {
        for (n, need) in tool.needs.iter().enumerate() {
            let Some(need) = need.ok().filter(|need| known.insert(need)) else { continue };
            let message = format!("`{need}` is not among the capabilities of the manifest");
            // `-` appends to the list (JSON Pointer).
            let edit = Edit::Insert(
                RecordPath::root().child("declares").child("-"),
                Json::from(need.as_str()),
            );
            out.push(
                RecordFinding::new(
                    &CAPABILITY_NOT_DECLARED,
                    at.child("capabilities").child(n),
                    message,
                )
                .related(RecordPath::root().child("declares"), "the manifest declares these")
                .repair(
                    // Safe, because the tool already states the need: the manifest then says the
                    // same.
                    Safety::Safe,
                    format!("declare `{need}` in the manifest"),
                    vec![edit],
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, found};

    /// A manifest with a list of capabilities, and with one tool for each list of needs.
    fn manifest(declared: &str, needs: &[&str]) -> String {
        let tools: Vec<String> =
            needs.iter().map(|n| format!(r#"{{"name": "a", "capabilities": {n}}}"#)).collect();
        format!(r#"{{"btcp": "1.0", "capabilities": {declared}, "tools": [{}]}}"#, tools.join(","))
    }

    #[test]
    fn capabilities_that_tools_need_must_be_declared() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            (r#"["dom:read"]"#, &[r#"["dom:read"]"#], &[]),
            ("[]", &["[]"], &[]),
            ("[]", &[r#"["dom:read"]"#], &["/tools/0/capabilities/0"]),
            // Once for each capability, at its first use.
            (
                "[]",
                &[r#"["dom:read"]"#, r#"["dom:read", "dom:write"]"#],
                &["/tools/0/capabilities/0", "/tools/1/capabilities/1"],
            ),
            // Literal: a stronger capability does not stand for a weaker one.
            (r#"["dom:write"]"#, &[r#"["dom:read"]"#], &["/tools/0/capabilities/0"]),
            // Malformed capabilities are reported by their shape.
            ("[]", &[r#"["dom:*", 7]"#], &[]),
        ];
        for (declared, needs, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("CAPABILITY_NOT_DECLARED at {at}")).collect();
            assert_eq!(
                found("CAPABILITY_NOT_DECLARED", &manifest(declared, needs)),
                expected,
                "{needs:?}"
            );
        }
    }

    #[test]
    fn nothing_is_reported_about_a_list_that_breaks_off() {
        let needs = r#"[{"name": "a", "capabilities": ["dom:read", "dom:write"]}]"#;
        let whole = format!(r#"{{"btcp": "1.0", "tools": {needs}, "capabilities": ["dom:read"]}}"#);
        assert_eq!(count(&super::RULE, &whole), 1);
        assert_eq!(count(&super::RULE, whole.trim_end_matches(['}', ']'])), 0);
    }
}
