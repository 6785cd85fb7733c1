//! The `detection` of a payload schema is written in a form that a program can evaluate.
//!
//! Source: AIOS, payload schemas. The specification gives sentences as examples and defines no
//! grammar. The forms that its examples have in common are understood (`model::Detection`); other
//! sentences are documentation, so this is a note.
//!
//! Silent about a missing, blank or malformed detection, which the shape of the value reports.
//!
//! ```text
//! event.id field exists           understood
//! event.type in [task, list]      understood
//! helpers.is-task                 understood; whether it exists is UNRESOLVED_REFERENCE
//! comes from the web hook         a note
//! ```
//!
//! No repair: a sentence does not say which path it means.

use toolwright_model::Detection;
use toolwright_source::words::shorten;
use toolwright_source::{RecordFinding, RecordPath};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNKNOWN_DETECTION Info
        "The `detection` of a payload schema is a sentence that no program can evaluate. No \
         payload matches it, so its `payload_path` is never used.\n\n\
         Write it in one of these forms, with paths from the root of the payload: `event.id \
         field exists` (or `array` or `object` for `field`, and `in root` after it), \
         `event.type == task`, `event.type in [task, list]`, or `helpers.ID` for a helper that \
         decides. If several payload schemas match, the first is used."
    => (
        "tool.yaml",
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  api_complexity:
    payload_schemas:
      - type: event
        detection: "comes from the web hook"
        payload_path: event.note
"#,
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  api_complexity:
    payload_schemas:
      - type: event
        detection: "event object exists"
        payload_path: event.note
"#
    )
}

/// Reports each detection that [`Detection::parse`] does not understand. `exec` parses with the
/// same function, so what passes here is evaluated there.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (n, schema) in subject.toolset.knowledge.payload_schemas.iter().enumerate() {
        // A blank detection was reported as missing.
        let text = schema.detection.as_deref().filter(|text| !text.trim().is_empty());
        let Some(text) = text.filter(|text| Detection::parse(text).is_none()) else { continue };
        let message = format!("`{}` is not a known form of detection", shorten(text));
        let at = RecordPath::path(&[&"knowledge", &"payloadSchemas", &n, &"detection"]);
        out.push(RecordFinding::new(&UNKNOWN_DETECTION, at, message).help(
            "write `PATH field exists`, `PATH == VALUE`, `PATH in [VALUE, …]` or `helpers.ID`",
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::report::MAX_NOTES;
    use crate::testing::{count, found, messages};

    /// An AIOS tool with these payload schemas.
    fn tool(schemas: &str) -> String {
        format!("tool: {{id: notes, type: cli, api_complexity: {{payload_schemas: {schemas}}}}}")
    }

    #[test]
    fn sentences_that_no_program_can_evaluate_are_reported() {
        for text in [
            "event field exists in root",
            "webhook_id field",
            "history_items array exists",
            "event.type == task",
            "event.type in [task, list]",
            "helpers.is-event",
            " ",
        ] {
            let text = tool(&format!("[{{detection: '{text}'}}]"));
            assert_eq!(found("UNKNOWN_DETECTION", &text), [""; 0], "{text}");
        }
        for text in ["has an event", "event field is there", "event == two words", "a.b.", "!"] {
            let text = tool(&format!("[7, {{detection: '{text}'}}]"));
            let expected =
                ["UNKNOWN_DETECTION at /tool/api_complexity/payload_schemas/1/detection"];
            assert_eq!(found("UNKNOWN_DETECTION", &text), expected, "{text}");
        }
        for schemas in ["[{}]", "[{detection: 7}]", "[{detection: null}]", "{detection: a b}", "[]"]
        {
            assert_eq!(found("UNKNOWN_DETECTION", &tool(schemas)), [""; 0], "{schemas}");
        }
        let message = "`has an event` is not a known form of detection";
        assert_eq!(messages("UNKNOWN_DETECTION", &tool("[{detection: has an event}]")), [message]);
    }

    #[test]
    fn notes_stop_at_the_limit() {
        let schemas = vec!["{detection: has an event}"; 1_100].join(", ");
        assert_eq!(count(&super::RULE, &tool(&format!("[{schemas}]"))), MAX_NOTES);
    }
}
