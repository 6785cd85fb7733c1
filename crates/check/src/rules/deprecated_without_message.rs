//! `deprecated: true` and `deprecationMessage` come together.
//!
//! Source: our own advice. BTCP defines both fields, the message as guidance for deprecated tools.
//!
//! Silent about: fields of the wrong type, which the shape of the value reports. A blank message
//! counts as missing, and a blank message alone is harmless.
//!
//! ```text
//! deprecated: true                                 a note at the flag, no repair
//! deprecationMessage: "Use b"                      a note at the message, unsafe repair
//! deprecated: false, deprecationMessage: "Use b"   the same; the repair replaces `false`
//! deprecated: false, deprecationMessage: " "       fine
//! ```

use toolwright_model::{Deprecation, Json};
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    DEPRECATED_WITHOUT_MESSAGE Info
        "`deprecated: true` and `deprecationMessage` belong together. A deprecated tool without \
         a message does not tell its callers what to use instead. A message without \
         `deprecated: true` is never shown, because programs only test `deprecated`.\n\n\
         Add the missing field, or remove the other one."
    => (
        "tool.json",
        r#"{
  "name": "readPage",
  "description": "Reads the text of the current page",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "capabilities": ["dom:read"],
  "deprecated": true
}
"#,
        r#"{
  "name": "readPage",
  "description": "Reads the text of the current page",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "capabilities": ["dom:read"],
  "deprecated": true,
  "deprecationMessage": "Use readDocument, which also reads frames"
}
"#
    )
}

/// The flag and the message belong together: a finding at the one that is there alone.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let Deprecation { deprecated, message } = &tool.details.deprecation;
        let has_message = message.as_deref().is_some_and(|text| !text.trim().is_empty());
        // Both or neither: nothing to report.
        if *deprecated == has_message {
            continue;
        }
        // The two functions below differ in what they point to: at the flag if the message is
        // missing, at the message if the flag is missing, because only the other one has a
        // position.
        let (flag, message) = (at.child("deprecated"), at.child("deprecationMessage"));
        if *deprecated {
            report_missing_message(subject, flag, &message, out);
        } else {
            report_missing_flag(subject, flag, message, out);
        }
    }
}

/// Reports a deprecated tool without a message. There is no repair: only the author knows what to
/// recommend.
fn report_missing_message(
    subject: &Subject<'_>,
    flag: RecordPath,
    message: &RecordPath,
    out: &mut Report<'_>,
) {
    // A message of another type was reported by its shape.
    if subject.document_value(message).is_some_and(|node| node.kind() != ValueKind::String) {
        return;
    }
    let text = "the tool is deprecated, but no `deprecationMessage` names a replacement";
    out.push(RecordFinding::new(&DEPRECATED_WITHOUT_MESSAGE, flag, text).on_key());
}

/// Reports a message without `deprecated: true`. The repair is not safe: the message may be left
/// over from a tool that is maintained again.
fn report_missing_flag(
    subject: &Subject<'_>,
    flag: RecordPath,
    message: RecordPath,
    out: &mut Report<'_>,
) {
    let edit = match subject.document_value(&flag) {
        None => Edit::Insert(flag, Json::Bool(true)),
        // `deprecated: false` beside a message: the author has left one of the two behind.
        Some(node) if node.kind() == ValueKind::Bool => Edit::Replace(flag, Json::Bool(true)),
        // A flag of another type was reported by its shape.
        Some(_) => return,
    };
    let text = "`deprecationMessage` without `deprecated: true`";
    out.push(
        RecordFinding::new(&DEPRECATED_WITHOUT_MESSAGE, message, text)
            .on_key()
            .help("programs test `deprecated`; they do not show the message without it")
            .repair(Safety::Unsafe, "mark the tool as deprecated", vec![edit]),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found};

    #[test]
    fn flag_and_message_come_together() {
        for (fields, at) in [
            ("", None),
            (r#""deprecated": true, "deprecationMessage": "Use b","#, None),
            (r#""deprecated": false,"#, None),
            (r#""deprecationMessage": " ","#, None),
            (r#""deprecated": true,"#, Some("deprecated")),
            (r#""deprecated": true, "deprecationMessage": "","#, Some("deprecated")),
            (r#""deprecationMessage": "Use b","#, Some("deprecationMessage")),
            (r#""deprecated": false, "deprecationMessage": "Use b","#, Some("deprecationMessage")),
            // Values of the wrong type are reported by their shape.
            (r#""deprecated": "yes", "deprecationMessage": "Use b","#, None),
            (r#""deprecated": null, "deprecationMessage": "Use b","#, None),
            (r#""deprecated": true, "deprecationMessage": null,"#, None),
            (r#""deprecated": true, "deprecationMessage": 7,"#, None),
        ] {
            let text = format!(r#"{{"name": "a", {fields} "capabilities": []}}"#);
            let expected: Vec<String> =
                at.into_iter().map(|at| format!("DEPRECATED_WITHOUT_MESSAGE at /{at}")).collect();
            assert_eq!(found("DEPRECATED_WITHOUT_MESSAGE", &text), expected, "{fields}");
        }
    }

    #[test]
    fn the_repair_sets_the_flag() {
        for fields in [
            r#""deprecationMessage": "Use b","#,
            r#""deprecated": false, "deprecationMessage": "Use b","#,
        ] {
            let text = format!(r#"{{"name": "a", {fields} "capabilities": []}}"#);
            let found = findings(&text);
            let repair = found
                .iter()
                .find(|f| f.code.name == "DEPRECATED_WITHOUT_MESSAGE")
                .and_then(|f| f.repair.as_ref());
            assert_eq!(repair.map(|repair| repair.edits.len()), Some(1), "{fields}");
        }
    }
}
