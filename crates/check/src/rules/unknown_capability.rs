//! Every capability is one that a runtime defines.
//!
//! Source: BTCP manifest and tool list the capabilities of a page; those outside of a page
//! (`process:spawn`, `mcp:connect`, `tool:call`) are ours. The specifications leave the set open,
//! so this is a warning.
//!
//! Silent about malformed capabilities (the shape reports them). Each capability is reported once
//! for each list.
//!
//! ```text
//! dom:raed       near `dom:read` ... help, and an unsafe repair
//! dom:interact   near none ......... help with all that begin with `dom:`
//! printer:use    near none ......... help: nothing begins with `printer:`
//! dom            malformed ......... not here: the shape reports it
//! ```

use std::collections::HashSet;

use toolwright_model::{Capability, FieldValue, Json};
use toolwright_source::words::{alternatives, nearest};
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNKNOWN_CAPABILITY Warning
        "A capability has the right form, but is not a known one. No runtime defines it: users \
         are asked to grant something that has no meaning, it counts as a high risk, and the \
         tool does not get the access it needs.\n\n\
         Use a capability that is listed. `dom:read`, `dom:write`, `dom:observe` and \
         `dom:shadow` are about the page; `storage`, `network`, `clipboard` and `media` have \
         their own; tools that run outside of a page need `process:spawn`, `mcp:connect` or \
         `tool:call`."
    => (
        "tool.json",
        r#"{
  "name": "clickButton",
  "description": "Clicks the button that a selector names",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "capabilities": ["dom:interact"]
}
"#,
        r#"{
  "name": "clickButton",
  "description": "Clicks the button that a selector names",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "capabilities": ["dom:write"]
}
"#
    )
}

/// The list of the manifest, then that of each tool.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if let Some(declared) = &subject.toolset.declares {
        check_list(declared, || RecordPath::root().child("declares"), out);
    }
    for (at, tool) in subject.tools() {
        check_list(&tool.needs, || at.child("capabilities"), out);
    }
}

/// Reports the unknown capabilities of one list. `at` makes the pointer to the list; it is called
/// only to report.
fn check_list(
    capabilities: &[FieldValue<Capability>],
    at: impl Fn() -> RecordPath,
    out: &mut Report<'_>,
) {
    // For each list its own set: the same unknown capability in the manifest and in a tool must be
    // corrected in both.
    let mut reported = HashSet::new();
    for (n, capability) in capabilities.iter().enumerate() {
        let unknown = capability.ok().filter(|c| !c.is_known());
        if let Some(unknown) = unknown.filter(|c| reported.insert(*c)) {
            out.push(finding(unknown, at().child(n)));
        }
    }
}

/// The finding with help: the known capability with a similar spelling, else those that start with
/// the same word.
fn finding(unknown: &Capability, at: RecordPath) -> RecordFinding {
    let edit = |meant: &str| Edit::Replace(at.clone(), Json::from(meant));
    let message = format!("no runtime defines the capability `{unknown}`");
    let finding = RecordFinding::new(&UNKNOWN_CAPABILITY, at.clone(), message);
    // Not safe, although the spelling is close: the repair changes what users are asked to grant.
    if let Some(meant) = nearest(unknown.as_str(), Capability::all_known()) {
        let title = format!("write `{meant}`");
        return finding.help(format!("did you mean `{meant}`?")).repair(
            Safety::Unsafe,
            title,
            vec![edit(meant)],
        );
    }
    // Not a spelling mistake: the first word may be right and the second one guessed. The colon
    // stays part of the word, so that `dom:` matches `dom:read` and not `domain:x`.
    let category = unknown.as_str().split_inclusive(':').next().unwrap_or_default();
    let near: Vec<&str> =
        Capability::all_known().filter(|known| known.starts_with(category)).collect();
    match near[..] {
        [] => finding.help(format!("no known capability starts with `{category}`")),
        _ => finding.help(format!("use {}", alternatives(&near))),
    }
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::{Edit, Safety};

    use crate::MAX_FINDINGS;
    use crate::testing::{count, findings, found};

    /// A BTCP tool with this list of capabilities.
    fn tool(capabilities: &str) -> String {
        format!(r#"{{"name": "a", "capabilities": {capabilities}}}"#)
    }

    #[test]
    fn capabilities_that_no_runtime_defines_are_reported() {
        let cases: &[(&str, &[&str])] = &[
            (r#"["dom:read", "process:spawn", "network:fetch:same-origin"]"#, &[]),
            (r#"["dom:interact"]"#, &["/capabilities/0"]),
            (r#"["dom:read:all"]"#, &["/capabilities/0"]),
            // Once in one list.
            (r#"["a:b", "dom:read", "a:b", "c:d"]"#, &["/capabilities/0", "/capabilities/3"]),
            // Malformed capabilities are reported by their shape.
            (r#"["", "dom:*", "geolocation", 7, null, "DOM:READ"]"#, &[]),
            ("[]", &[]),
            ("7", &[]),
        ];
        for (capabilities, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("UNKNOWN_CAPABILITY at {at}")).collect();
            assert_eq!(
                found("UNKNOWN_CAPABILITY", &tool(capabilities)),
                expected,
                "{capabilities}"
            );
        }
        let manifest = format!(
            r#"{{"btcp": "1.0", "capabilities": ["a:b"], "tools": [{}]}}"#,
            tool(r#"["a:b"]"#)
        );
        let both = [
            "UNKNOWN_CAPABILITY at /capabilities/0",
            "UNKNOWN_CAPABILITY at /tools/0/capabilities/0",
        ];
        assert_eq!(found("UNKNOWN_CAPABILITY", &manifest), both);
    }

    #[test]
    fn the_help_suggests_a_known_capability() {
        for (capability, help, meant) in [
            ("dom:wirte", "did you mean `dom:write`?", Some("dom:write")),
            (
                "storage:local:reed",
                "did you mean `storage:local:read`?",
                Some("storage:local:read"),
            ),
            ("dom:interact", "use `dom:read`, `dom:write`, `dom:observe` or `dom:shadow`", None),
            ("clipboard:clear", "use `clipboard:read` or `clipboard:write`", None),
            ("geo:read", "no known capability starts with `geo:`", None),
        ] {
            let all = findings(&tool(&format!(r#"["{capability}"]"#)));
            let found =
                all.into_iter().find(|f| f.code.name == "UNKNOWN_CAPABILITY").expect(capability);
            assert_eq!(found.help, [help], "{capability}");
            let repair = found.repair.map(|r| (r.safety, r.edits));
            let expected =
                meant.map(|m| (Safety::Unsafe, vec![Edit::Replace(found.at, Json::from(m))]));
            assert_eq!(repair, expected, "{capability}");
        }
    }

    #[test]
    fn findings_stop_at_the_limit() {
        let tools = vec![tool(r#"["a:b"]"#); 1_100].join(",");
        assert_eq!(count(&super::RULE, &format!("[{tools}]")), MAX_FINDINGS);
    }
}
