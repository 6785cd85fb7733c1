//! A check of a validator, and that of an installation, is one that is run.
//!
//! Source: AIOS, validators, `checks`. The specification shows `required_fields` and `format` and
//! defines neither. `required_fields` can be run as it is. A `format` without the name of a field,
//! as in the specification's own example, cannot be run; with a `field` beside it, it is run.
//!
//! An `install_check` is run without a shell, so one with `&&` or a variable is not run.
//!
//! Silent about checks that are not objects (the shape reports them). Unknown checks only get a
//! warning: they are documentation that looks like a guarantee.
//!
//! ```text
//! required_fields: [text]              run
//! required_fields: text                reported: a single name is not a list
//! {format: email, field: address}      run
//! {format: email}                      reported: no field has the format
//! {format: phone, field: number}       reported: no such format
//! max_length: 80                       reported
//! ```

use toolwright_model::{Binding, Json, ValidatorCheck};
use toolwright_schema::TEXT_FORMATS;
use toolwright_source::words::{nearest, shorten};
use toolwright_source::{Edit, Node, RecordFinding, RecordPath, Safety};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNKNOWN_CHECK Warning
        "A validator lists a check that is not run. `required_fields` with a list of names, and \
         a `format` with the `field` that has it, are run before the validator's function; every \
         other key is only documentation. A `format` without a `field` does not say what has the \
         format. The arguments that such a check seems to reject are accepted. An `install_check` \
         that needs a shell, such as `a && b`, is not run either.\n\n\
         Test them in the validator's `function`, or use `required_fields` or a `format` with \
         its `field`: `date`, `date-time`, `duration`, `email`, `hostname`, `ipv4`, `ipv6`, \
         `json-pointer`, `regex`, `time`, `uri`, `uri-reference` or `uuid`. As `install_check` \
         write one command, such as `gh --version` or `command -v gh`."
    => (
        "tool.yaml",
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]
  cli_specific: {executable: notes}
  executable_knowledge:
    validators:
      - id: validate-add-note
        validates: add_note
        language: javascript
        checks:
          - max_length: 80
        function: |
          function validateAddNote(args) {
            const errors = Array.isArray(args.args) ? [] : ['args must be a list'];
            return { valid: errors.length === 0, errors };
          }
          module.exports = { validateAddNote };
"#,
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]
  cli_specific: {executable: notes}
  executable_knowledge:
    validators:
      - id: validate-add-note
        validates: add_note
        language: javascript
        checks:
          - required_fields: [args]
        function: |
          function validateAddNote(args) {
            const errors = Array.isArray(args.args) ? [] : ['args must be a list'];
            return { valid: errors.length === 0, errors };
          }
          module.exports = { validateAddNote };
"#
    )
}

/// The check that is run without anything beside it.
const REQUIRED_FIELDS: &str = "required_fields";

/// Reports the install check, then the checks of validators.
///
/// The reader has split a command line into words, and left them out where it needs a shell.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // All commands of a tool share one check.
    if let Some(Binding::Command { install_check: Some(check), .. }) =
        subject.toolset.tools.first().map(|tool| &tool.details.binding)
        && check.words.is_empty()
        && !check.line.trim().is_empty()
    {
        let at = RecordPath::path(&[&"cli_specific", &"install_check"]);
        let message = "the install check needs a shell; it is not run";
        let help = "write one command that fails if the program is missing";
        out.push(RecordFinding::new(&UNKNOWN_CHECK, at, message).help(help));
    }
    let validators = RecordPath::root().child("knowledge").child("validators");
    for (n, validator) in subject.toolset.knowledge.validators.iter().enumerate() {
        for (m, check) in validator.checks.iter().enumerate() {
            if let ValidatorCheck::Format { format, .. } = check {
                let at = validators.child(n).child("checks").child(m);
                unknown_format_finding(format, at).into_iter().for_each(|it| out.push(it));
            }
            // Checks that are not objects were reported by their shape.
            let ValidatorCheck::Other(Json::Object(member)) = check else { continue };
            let at = validators.child(n).child("checks").child(m);
            // The record has one entry for each key, the document one object for several keys.
            // Whether `format` has a `field` beside it can be seen in the object only.
            let around = subject.document_value(&at).and_then(Node::parent);
            // Exactly one key: the reader makes one entry of each.
            for name in member.keys() {
                unused_check_finding(name, at.clone(), around)
                    .into_iter()
                    .for_each(|finding| out.push(finding));
            }
        }
    }
}

/// The finding for a format that cannot be checked. `None` if it is one of `TEXT_FORMATS`, which
/// the runner checks.
fn unknown_format_finding(format: &str, at: RecordPath) -> Option<RecordFinding> {
    if TEXT_FORMATS.contains(&format) {
        return None;
    }
    let message = format!("format `{}` is not known; it is not checked", shorten(format));
    let finding = RecordFinding::new(&UNKNOWN_CHECK, at, message);
    Some(match nearest(format, TEXT_FORMATS.iter().copied()) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding.help("test it in the validator's `function`"),
    })
}

/// The finding for a check that is not run; `None` if it is run. `around` is the object in the
/// document that has the check as a member: one object may hold several checks.
///
/// The only repair is for a key that is spelled nearly like `required_fields`.
fn unused_check_finding(
    name: &str,
    at: RecordPath,
    around: Option<Node<'_>>,
) -> Option<RecordFinding> {
    let has = |other: &str| around.is_some_and(|node| node.has(other));
    let finding =
        |message: String| RecordFinding::new(&UNKNOWN_CHECK, at.clone(), message).on_key();
    let message = match name {
        // One of them is not a text, which no table of fields demands.
        "format" | "field" if has("format") && has("field") => {
            "check `format` is not run: `format` and `field` must be texts".to_owned()
        }
        "format" => {
            "check `format` is not run: it does not say which field has the format".to_owned()
        }
        // The reader turns a list under this key into a check that is run. So what arrives here
        // under this key is a single name or an object.
        REQUIRED_FIELDS => {
            "check `required_fields` is not run: it is not a list of names".to_owned()
        }
        _ => format!("unknown check `{}`; it is not run", shorten(name)),
    };
    // A rename to a key that the object has already would create a duplicate key.
    let meant = nearest(name, std::iter::once(REQUIRED_FIELDS)).filter(|meant| !has(meant));
    Some(match meant {
        // Not safe: after the rename the check is run and may reject calls.
        Some(meant) => finding(message).help(format!("did you mean `{meant}`?")).repair(
            Safety::Unsafe,
            format!("rename it to `{meant}`"),
            vec![Edit::RenameKey(at.clone(), meant.to_owned())],
        ),
        None => finding(message).help("test it in the validator's `function`"),
    })
}

#[cfg(test)]
mod tests {
    use toolwright_source::{Edit, Safety};

    use crate::MAX_FINDINGS;
    use crate::testing::{count, findings, found, messages};

    /// An AIOS tool whose second validator has these checks.
    fn tool(checks: &str) -> String {
        format!(
            "tool: {{id: notes, type: cli, executable_knowledge: {{validators: [7, {{id: v, checks: {checks}}}]}}}}"
        )
    }

    #[test]
    fn checks_that_are_not_run_are_reported() {
        let cases: &[(&str, &[&str])] = &[
            ("[{required_fields: [a, b]}]", &[]),
            ("[{required_fields: []}]", &[]),
            ("[{format: email}]", &["0/format"]),
            ("[{format: email, field: contact}]", &[]),
            ("[{field: contact}]", &["0/field"]),
            (
                "[{required_fields: [a]}, {max: 1, min: 0}, {format: uri}]",
                &["1/max", "1/min", "2/format"],
            ),
            ("[{required_fields: a}]", &["0/required_fields"]),
            ("[{'': 1}]", &["0/"]),
            // Checks that are not objects are reported by their shape.
            ("[email, 7, null, [a]]", &[]),
            ("[{}]", &[]),
            ("{format: email}", &[]),
            ("null", &[]),
        ];
        for (checks, at) in cases {
            let expected: Vec<String> = at
                .iter()
                .map(|at| {
                    format!("UNKNOWN_CHECK at /tool/executable_knowledge/validators/1/checks/{at}")
                })
                .collect();
            assert_eq!(found("UNKNOWN_CHECK", &tool(checks)), expected, "{checks}");
        }
    }

    #[test]
    fn messages_say_why_a_check_is_not_run() {
        for (checks, message) in [
            (
                "[{format: email}]",
                "check `format` is not run: it does not say which field has the format",
            ),
            (
                "[{required_fields: a}]",
                "check `required_fields` is not run: it is not a list of names",
            ),
            ("[{max: 1}]", "unknown check `max`; it is not run"),
        ] {
            assert_eq!(messages("UNKNOWN_CHECK", &tool(checks)), [message]);
        }
        let repair = |checks: &str| {
            let all = findings(&tool(checks));
            let found = all.into_iter().find(|f| f.code.name == "UNKNOWN_CHECK").expect(checks);
            found.repair.map(|repair| (repair.safety, repair.edits, found.at))
        };
        let (safety, edits, at) = repair("[{requiredFields: [a]}]").expect("a repair");
        assert_eq!(safety, Safety::Unsafe);
        assert_eq!(edits, [Edit::RenameKey(at, "required_fields".to_owned())]);
        assert_eq!(repair("[{requiredFields: [a], required_fields: [b]}]"), None);
        assert_eq!(repair("[{required_fields: a}]"), None);
    }

    #[test]
    fn findings_stop_at_the_limit() {
        let checks = vec!["{format: email}"; 1_100].join(", ");
        assert_eq!(count(&super::RULE, &tool(&format!("[{checks}]"))), MAX_FINDINGS);
    }
}
