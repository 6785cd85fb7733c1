//! A name of something else in the document leads to it: helpers, validators, commands.
//!
//! Names of other documents (what a meta tool aggregates) are not looked at here.

use std::cell::Cell;

use toolwright_model::{Binding, Detection, Draft, Example, FieldValue, Json};
use toolwright_source::words::{alternatives, nearest, shorten};
use toolwright_source::{Edit, InRecord, Node, RecordFinding, RecordPath, Safety, ValueKind};

use super::is_unfinished;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    UNRESOLVED_REFERENCE Warning "A tool names a helper, a validator or a command that it does not define. Nothing fails at once, but what the name was there for does not happen: a field is not extracted, a payload not recognised, a validator never runs, an example belongs to nothing.\n\nCorrect the name, or define what it names. Helpers are named as `helpers.ID` by field mappings, payload detection and `orchestration`; validators by the `validator` of an example's error; commands by `validates`, `processes`, the keys of `examples` and the health check. The commands of a tool are those under `commands` and `tools`; where neither is there, the examples and validators define them, and their names are not questioned."
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
  executable_knowledge:
    helpers:
      - id: extract-place
        language: javascript
        runtime: isolated_vm
        function: |
          function extractPlace(args) {
            return args.data.place;
          }
          module.exports = { extractPlace };
  api_complexity:
    field_mappings:
      place: {extraction: helpers.extract-palce}
"#,
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  executable_knowledge:
    helpers:
      - id: extract-place
        language: javascript
        runtime: isolated_vm
        function: |
          function extractPlace(args) {
            return args.data.place;
          }
          module.exports = { extractPlace };
  api_complexity:
    field_mappings:
      place: {extraction: helpers.extract-place}
"#
    )
}

/// Comparisons spent on finding what was meant: a hostile document has ten thousand names and ids.
const MAX_COMPARISONS: usize = 4_000;

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // What was not read may define it.
    if is_unfinished(subject, &RecordPath::root()) {
        return;
    }
    if is_readable(subject, "helpers") {
        helpers(subject, out);
    }
    if is_readable(subject, "validators") {
        validators(subject, out);
    }
    if let Some(commands) = Known::commands(subject) {
        used_commands(subject, &commands, out);
    }
}

/// Whether a list of functions is one, or is not there; what cannot be read may define anything.
fn is_readable(subject: &Subject<'_>, list: &str) -> bool {
    let section = subject.document_value(&RecordPath::root().child("executable_knowledge"));
    let is = |node: Option<Node<'_>>, kind| {
        node.is_none_or(|node| node.kind() == kind || node.kind() == ValueKind::Null)
    };
    is(section, ValueKind::Map)
        && is(section.and_then(|section| section.get(list)), ValueKind::List)
}

/// The ids that a name may have.
struct Known<'a> {
    kind: &'static str,
    ids: Vec<&'a str>,
    /// Comparisons that are left.
    budget: Cell<usize>,
}

impl<'a> Known<'a> {
    fn new(kind: &'static str, ids: impl Iterator<Item = Option<&'a str>>) -> Known<'a> {
        let mut ids: Vec<&str> = ids.flatten().filter(|id| !id.trim().is_empty()).collect();
        ids.sort_unstable();
        Known { kind, ids, budget: Cell::new(MAX_COMPARISONS) }
    }

    /// The commands that an AIOS tool lists. A tool that lists none has whatever its server has.
    fn commands(subject: &Subject<'a>) -> Option<Known<'a>> {
        let tool =
            subject.document_value(&RecordPath::root()).filter(|_| subject.is_format("aios"))?;
        let lists = ["commands", "tools"]
            .map(|name| tool.get(name).filter(|node| node.kind() != ValueKind::Null));
        let is_listed = lists.iter().any(Option::is_some);
        // What cannot be read may define it.
        if lists.iter().flatten().any(|node| node.kind() != ValueKind::List) {
            return None;
        }
        let known = Known::new("command", subject.toolset.tools.iter().map(name));
        (is_listed && !known.ids.is_empty()).then_some(known)
    }

    fn has(&self, id: &str) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// The one that was probably meant.
    fn nearest(&self, id: &str) -> Option<&'a str> {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(self.ids.len()));
        nearest(id, self.ids.iter().take(left).copied())
    }

    /// What `id` at `at` is not; `edit` writes another id there, where that can be done.
    fn unresolved(
        &self,
        id: &str,
        at: RecordPath,
        edit: impl FnOnce(&str) -> Option<Edit<InRecord>>,
    ) -> RecordFinding {
        let kind = self.kind;
        let message = format!("{kind} `{}` is not defined", shorten(id));
        let finding = RecordFinding::new(&UNRESOLVED_REFERENCE, at, message);
        match (self.nearest(id), self.ids.len()) {
            (Some(meant), _) => {
                let shown = shorten(meant);
                let finding = finding.help(format!("did you mean `{shown}`?"));
                match edit(meant) {
                    Some(edit) => finding.repair(
                        Safety::Unsafe,
                        format!("name `{shown}` instead"),
                        vec![edit],
                    ),
                    None => finding,
                }
            }
            (None, 0) => finding.help(format!("the document defines no {kind}")),
            (None, 1..=5) => {
                let ids: Vec<String> = self.ids.iter().map(|id| shorten(id)).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                finding.help(format!("use {}", alternatives(&ids)))
            }
            (None, count) => finding.help(format!("it is none of the {count} that are defined")),
        }
    }

    /// Reports `id` unless it is known. A blank one was reported by its shape, or says nothing.
    fn expect(
        &self,
        id: &str,
        at: impl FnOnce() -> RecordPath,
        written: impl Fn(&str) -> String,
        out: &mut Report<'_>,
    ) {
        if !id.trim().is_empty() && !self.has(id) && !out.is_full() {
            let at = at();
            let edit = |meant: &str| Some(Edit::Replace(at.clone(), Json::from(written(meant))));
            out.push(self.unresolved(id, at.clone(), edit));
        }
    }
}

/// The name of a command, usable or not.
fn name(tool: &Draft) -> Option<&str> {
    match &tool.name {
        FieldValue::Valid(name) => Some(name.as_str()),
        FieldValue::Invalid(json) => json.as_str(),
        FieldValue::Missing => None,
    }
}

fn helpers(subject: &Subject<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    let known = Known::new("helper", knowledge.helpers.iter().map(|helper| helper.id.as_deref()));
    let written = |id: &str| format!("helpers.{id}");
    for mapping in &knowledge.field_mappings {
        // Anything else is prose.
        let text = mapping.extraction.as_deref().map(str::trim);
        let Some(id) = text.and_then(|text| text.strip_prefix("helpers.")) else { continue };
        let at = || {
            let mappings = RecordPath::path(&[&"knowledge", &"fieldMappings"]);
            mapping.path.iter().fold(mappings, |at, name| at.child(name)).child("extraction")
        };
        known.expect(id, at, written, out);
    }
    for (n, schema) in knowledge.payload_schemas.iter().enumerate() {
        if let Some(Detection::Helper { id }) =
            schema.detection.as_deref().and_then(Detection::parse)
        {
            let at = || RecordPath::path(&[&"knowledge", &"payloadSchemas", &n, &"detection"]);
            known.expect(&id, at, written, out);
        }
    }
    // As it is written: a tool whose type is wrong has no binding.
    let at = RecordPath::path(&[&"meta_specific", &"orchestration"]);
    if let Some(text) =
        subject.document_value(&at).filter(|_| subject.is_format("aios")).and_then(Node::text)
    {
        known.expect(text.strip_prefix("helpers.").unwrap_or(text), || at, written, out);
    }
}

fn validators(subject: &Subject<'_>, out: &mut Report<'_>) {
    let validators = &subject.toolset.knowledge.validators;
    let known = Known::new(
        "validator",
        validators.iter().map(|validator| validator.function.id.as_deref()),
    );
    for (at, tool) in subject.tools() {
        expected_by(&tool.details.examples, || at.child("examples"), &known, out);
    }
    for (command, examples) in &subject.toolset.stray_examples {
        expected_by(examples, || RecordPath::path(&[&"strayExamples", command]), &known, out);
    }
}

/// An example names the validator by its id; some write `validators.ID`.
fn expected_by(
    examples: &[Example],
    at: impl Fn() -> RecordPath,
    known: &Known<'_>,
    out: &mut Report<'_>,
) {
    for (n, example) in examples.iter().enumerate() {
        let validator = example.error.as_ref().and_then(|error| error.validator.as_deref());
        let Some(text) = validator else { continue };
        let id = text.strip_prefix("validators.").unwrap_or(text);
        let prefix = &text[..text.len() - id.len()];
        let at = || at().child(n).child("error").child("validator");
        known.expect(id, at, |id| format!("{prefix}{id}"), out);
    }
}

fn used_commands(subject: &Subject<'_>, known: &Known<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    for (n, processor) in knowledge.processors.iter().enumerate() {
        let at = || RecordPath::path(&[&"knowledge", &"processors", &n, &"processes"]);
        known.expect(processor.processes.as_deref().unwrap_or_default(), at, str::to_owned, out);
    }
    for (n, validator) in knowledge.validators.iter().enumerate() {
        let at = || RecordPath::path(&[&"knowledge", &"validators", &n, &"validates"]);
        known.expect(validator.validates.as_deref().unwrap_or_default(), at, str::to_owned, out);
    }
    for (command, _) in &subject.toolset.stray_examples {
        if out.is_full() {
            return;
        }
        let at = RecordPath::root().child("strayExamples").child(command);
        out.push(stray(subject, command, known, at));
    }
    if let Some((at, tool)) = subject.tools().next()
        && let Binding::Server { server, .. } = &tool.details.binding
        && let Some(command) =
            server.health_check.as_ref().and_then(|check| check.command.as_deref())
    {
        let at = || at.child("binding").child("healthCheck").child("command");
        known.expect(command, at, str::to_owned, out);
    }
}

/// Examples name their command by their key.
fn stray(subject: &Subject<'_>, command: &str, known: &Known<'_>, at: RecordPath) -> RecordFinding {
    // A command that has examples cannot be given others by a rename.
    let taken = |id: &str| {
        subject.document_value(&RecordPath::root().child("examples").child(id)).is_some()
    };
    let rename =
        |meant: &str| (!taken(meant)).then(|| Edit::RenameKey(at.clone(), meant.to_owned()));
    known.unresolved(command, at.clone(), rename).on_key()
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::{Edit, Finding, Safety};

    use crate::MAX_FINDINGS;
    use crate::testing::{count, findings, found};

    fn aios(kind: &str, more: &str) -> String {
        format!("tool:\n  id: notes\n  type: {kind}\n  {}\n", more.replace('\n', "\n  "))
    }

    #[track_caller]
    fn expect(text: &str, at: &[&str]) {
        let expected: Vec<String> =
            at.iter().map(|at| format!("UNRESOLVED_REFERENCE at /tool/{at}")).collect();
        assert_eq!(found("UNRESOLVED_REFERENCE", text), expected, "{text}");
    }

    fn ours(text: &str) -> Finding {
        let mut all = findings(text).into_iter().filter(|f| f.code.name == "UNRESOLVED_REFERENCE");
        all.next().expect("a finding")
    }

    #[test]
    fn helpers() {
        let cases: &[(&str, &[&str])] = &[
            ("field_mappings: {a: {extraction: helpers.take}}", &[]),
            ("field_mappings: {a: {extraction: helpers.give}}", &["field_mappings/a/extraction"]),
            (
                "field_mappings: {g: {'x/y': {extraction: helpers.give}}}",
                &["field_mappings/g/x~1y/extraction"],
            ),
            // Prose names nothing, and neither does nothing.
            ("field_mappings: {a: {extraction: use helpers.give}, b: {extraction: helpers.}}", &[]),
            (
                "field_mappings: {a: {extraction: ''}, b: {extraction: 7}, c: {structure: helpers.give}}",
                &[],
            ),
            ("payload_schemas: [{detection: helpers.take}, {detection: event field}, {}]", &[]),
            ("payload_schemas: [7, {detection: helpers.give}]", &["payload_schemas/1/detection"]),
            ("payload_schemas: [{detection: helpers.give says so}]", &[]),
        ];
        for (api, at) in cases {
            let at: Vec<String> = at.iter().map(|at| format!("api_complexity/{at}")).collect();
            let at: Vec<&str> = at.iter().map(String::as_str).collect();
            let helpers = "executable_knowledge: {helpers: [{id: take}, {id: ''}, {}]}";
            expect(&aios("cli", &format!("api_complexity: {{{api}}}\n{helpers}")), &at);
        }
        let meta = |helper: &str| {
            aios(
                "meta",
                &format!(
                    "meta_specific: {{orchestration: {helper}}}\nexecutable_knowledge: {{helpers: [{{id: go}}]}}"
                ),
            )
        };
        for helper in ["helpers.go", "go", "''"] {
            expect(&meta(helper), &[]);
        }
        for helper in ["helpers.gone", "gone"] {
            expect(&meta(helper), &["meta_specific/orchestration"]);
        }
    }

    #[test]
    fn validators_of_examples() {
        let of = |validator: &str| {
            let example =
                format!("[{{scenario: failure_x, input: 1, error: {{validator: {validator}}}}}]");
            let validators = "executable_knowledge: {validators: [{id: v, validates: add}]}";
            aios(
                "cli",
                &format!(
                    "commands: [add]\nexamples: {{add: {example}, other: {example}}}\n{validators}"
                ),
            )
        };
        for validator in ["v", "validators.v", "''", "7"] {
            expect(&of(validator), &["examples/other"]);
        }
        for validator in ["w", "validators.w"] {
            let both = ["examples/add/0/error/validator", "examples/other/0/error/validator"];
            expect(&of(validator), &[both[0], both[1], "examples/other"]);
        }
    }

    #[test]
    fn commands() {
        let used = "executable_knowledge:\n  processors: [{id: p, processes: ad}, {id: q, processes: add}]\n  \
                    validators: [{id: v, validates: ad}, {id: w, validates: add}, {id: x, validates: ''}]\n\
                    examples: {ad: [{scenario: success}]}\n\
                    mcp_specific: {server_command: s, health_check: {command: ad}}";
        let all = [
            "executable_knowledge/processors/0/processes",
            "executable_knowledge/validators/0/validates",
            "examples/ad",
            "mcp_specific/health_check/command",
        ];
        expect(&aios("mcp", &format!("commands: [add]\n{used}")), &all);
        expect(&aios("mcp", &format!("tools: [{{id: add}}]\n{used}")), &all);
        expect(&aios("mcp", &format!("commands: [add, ad]\n{used}")), &[]);
        // What is used defines the commands where nothing else does.
        expect(&aios("mcp", used), &[]);
        expect(&aios("mcp", "mcp_specific: {server_command: s, health_check: {command: ad}}"), &[]);
        expect(&aios("mcp", &format!("commands: []\n{used}")), &[]);
        let some = "examples: {go: [{scenario: success}], notes: [{}]}\n\
                    executable_knowledge: {processors: [{id: p, processes: other}]}\n\
                    mcp_specific: {server_command: s, health_check: {command: other}}";
        expect(&aios("mcp", some), &[]);
        // A name that cannot be called is defined all the same.
        expect(
            &aios("mcp", "commands: [a b]\nexecutable_knowledge: {validators: [{validates: a b}]}"),
            &[],
        );
    }

    #[test]
    fn help_and_repairs() {
        let text = aios(
            "cli",
            "commands: [create_note]\nexecutable_knowledge: {validators: [{validates: craete_note}]}",
        );
        let finding = ours(&text);
        assert_eq!(finding.message, "command `craete_note` is not defined");
        assert_eq!(finding.help, ["did you mean `create_note`?"]);
        let repair = finding.repair.expect("a repair");
        assert_eq!(repair.safety, Safety::Unsafe);
        assert_eq!(repair.edits, [Edit::Replace(finding.at, Json::from("create_note"))]);

        let text = aios(
            "meta",
            "meta_specific: {orchestration: plan-al}\nexecutable_knowledge: {helpers: [{id: plan-all}]}",
        );
        let finding = ours(&text);
        assert_eq!(
            finding.repair.expect("a repair").edits,
            [Edit::Replace(finding.at, Json::from("helpers.plan-all"))]
        );

        let stray = ours(&aios("cli", "commands: [create_note]\nexamples: {craete_note: []}"));
        let rename = Edit::RenameKey(stray.at, "create_note".to_owned());
        assert_eq!(stray.repair.expect("a repair").edits, [rename]);
        let taken = ours(&aios(
            "cli",
            "commands: [create_note]\nexamples: {craete_note: [], create_note: []}",
        ));
        assert_eq!(taken.repair, None);

        for (commands, help) in [
            ("add, drop", "use `add` or `drop`"),
            ("a, b, c, d, e, f", "it is none of the 6 that are defined"),
        ] {
            let text = aios("cli", &format!("commands: [{commands}]\nexamples: {{other: []}}"));
            assert_eq!(ours(&text).help, [help]);
        }
        let none = aios("meta", "meta_specific: {orchestration: helpers.x}");
        assert_eq!(ours(&none).help, ["the document defines no helper"]);
    }

    #[test]
    fn a_text_that_breaks_off() {
        let text =
            aios("cli", "api_complexity: {field_mappings: {place: {extraction: helpers.x}}}");
        assert_eq!(count(&super::RULE, &text), 1);
        assert_eq!(count(&super::RULE, &format!("{text}  executable_knowledge")), 0);
    }

    #[test]
    fn thousands_of_names() {
        let long = "x".repeat(60);
        let list =
            |prefix: &str| (0..3_000).map(|n| format!("{long}{prefix}{n}")).collect::<Vec<_>>();
        let validators: Vec<String> =
            list("a").iter().map(|name| format!("{{id: v, validates: {name}}}")).collect();
        let text = format!(
            "commands: [{}]\nexecutable_knowledge: {{validators: [{}]}}",
            list("b").join(", "),
            validators.join(", ")
        );
        assert_eq!(count(&super::RULE, &aios("cli", &text)), MAX_FINDINGS);
    }
}
