//! A tool on its way out says so, and what comes instead.

use toolwright_model::{Deprecation, Json};
use toolwright_source::{Edit, RecordFinding, RecordPath, Safety, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    DEPRECATED_WITHOUT_MESSAGE Info "`deprecated: true` and `deprecationMessage` belong together. A tool that is only marked leaves its callers without a way forward; a message without the mark is shown by nobody, because programs look at the mark.\n\nAdd the one that is missing, or remove the one that is left over."
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

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let Deprecation { deprecated, message } = &tool.details.deprecation;
        let message = message.as_deref().is_some_and(|text| !text.trim().is_empty());
        if *deprecated == message {
            continue;
        }
        let (mark, words) = (at.child("deprecated"), at.child("deprecationMessage"));
        if *deprecated {
            marked(subject, mark, &words, out);
        } else {
            unmarked(subject, mark, words, out);
        }
    }
}

fn marked(subject: &Subject<'_>, mark: RecordPath, words: &RecordPath, out: &mut Report<'_>) {
    // A message that is no text was reported by its shape.
    if subject.document_value(words).is_some_and(|node| node.kind() != ValueKind::String) {
        return;
    }
    let message = "deprecated, but no `deprecationMessage` says what to use instead";
    out.push(RecordFinding::new(&DEPRECATED_WITHOUT_MESSAGE, mark, message).on_key());
}

fn unmarked(subject: &Subject<'_>, mark: RecordPath, words: RecordPath, out: &mut Report<'_>) {
    let edit = match subject.document_value(&mark) {
        None => Edit::Insert(mark, Json::Bool(true)),
        Some(node) if node.kind() == ValueKind::Bool => Edit::Replace(mark, Json::Bool(true)),
        // A mark that is none was reported by its shape.
        Some(_) => return,
    };
    let message = "`deprecationMessage` without `deprecated: true`";
    out.push(
        RecordFinding::new(&DEPRECATED_WITHOUT_MESSAGE, words, message)
            .on_key()
            .help("programs look at `deprecated`; the message alone is not shown")
            .repair(Safety::Unsafe, "mark the tool as deprecated", vec![edit]),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found};

    #[test]
    fn both_or_none() {
        for (fields, at) in [
            ("", None),
            (r#""deprecated": true, "deprecationMessage": "Use b","#, None),
            (r#""deprecated": false,"#, None),
            (r#""deprecationMessage": " ","#, None),
            (r#""deprecated": true,"#, Some("deprecated")),
            (r#""deprecated": true, "deprecationMessage": "","#, Some("deprecated")),
            (r#""deprecationMessage": "Use b","#, Some("deprecationMessage")),
            (r#""deprecated": false, "deprecationMessage": "Use b","#, Some("deprecationMessage")),
            // Of the wrong type: another finding.
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
    fn the_mark_can_be_set() {
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
