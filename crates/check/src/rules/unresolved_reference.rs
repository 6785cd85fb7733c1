//! References inside an AIOS tool lead to something that it defines.
//!
//! Source: AIOS. What refers to what:
//!
//! ```text
//! helpers.ID ......... field_mappings (extraction), payload_schemas (detection), orchestration,
//!                      code of functions
//! validator id ....... error.validator of an example
//! command name ....... validates, processes, keys of examples, health_check.command
//! toolset or tool .... aggregates of a meta tool, in all documents that are used together
//! ```
//!
//! The commands of a tool are those under `commands` and `tools`. If it lists none, its server has
//! commands that the document need not list, so no reference to a command is questioned.
//!
//! Silent about: lists that are malformed or were not read to their end (they may define anything),
//! and whether what a meta tool aggregates exists if it is checked alone, or if other sources were
//! not read, which is a note.
//!
//! ```text
//! helpers.extract-palce   near an id ..... help, and an unsafe repair that writes the id
//! helpers.zzz             near none ...... help with the ids, if there are at most five
//! helpers.extractPlace    in code ........ fine: ids are in camelCase there, too
//! first line of the text  a sentence ..... fine: an extraction need not name a helper
//! ```
//!
//! A repair is never safe: the reference starts to have an effect, and only the author knows
//! whether the near id is the one that was meant.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use toolwright_model::{Binding, Detection, Draft, Example, FieldValue, Json};
use toolwright_source::words::{alternatives, nearest, shorten};
use toolwright_source::{
    Edit, InRecord, Node, RecordFinding, RecordPath, Safety, Severity, ValueKind,
};

use super::naming_convention::{camel, split};
use crate::Subject;
use crate::report::Report;
use crate::rule::{Rule, RuleBetween};

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

/// Reports the same code. `codes` is empty, since `RULE` declares it, and a code is declared once.
pub(crate) static RULE_BETWEEN: RuleBetween = RuleBetween { codes: &[], check: check_aggregates };

toolwright_source::codes! {
    UNRESOLVED_REFERENCE Warning
        "A tool refers to a helper, a validator or a command that it does not define. Nothing \
         fails at once, but the reference has no effect: a field is not extracted, a payload is \
         not recognised, a validator never runs, an example belongs to no command.\n\n\
         Correct the name, or define what it refers to. Field mappings, payload detection and \
         `orchestration` refer to helpers as `helpers.ID`; the `validator` of an example's \
         error refers to a validator; `validates`, `processes`, the keys of `examples` and the \
         health check refer to commands. `aggregates` of a meta tool refers to other \
         documents, by the id of a tool's toolset or as `toolset:tool`; a file that is checked \
         alone, or beside sources that were not read, cannot show that, which is a note. The \
         code of functions refers to helpers as `helpers.ID`, with the id as it is or in camelCase. The commands of a tool are those under `commands` and \
         `tools`. Without these, examples and validators define the commands, and their names \
         are not checked."
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

/// The most comparisons of names that one list spends on suggestions. A hostile document has ten
/// thousand wrong names and ten thousand ids, and comparing each pair would take minutes. A list of
/// usual length spends far less, so all of its findings get a suggestion.
const MAX_COMPARISONS: usize = 4_000;

/// The most comparisons of names that one load spends on suggestions for aggregated tools: a folder
/// may have thousands of meta tools, and far more tools that could be meant. Each missing name is
/// looked up once, however many meta tools aggregate it.
const MAX_COMPARISONS_OF_LOAD: usize = 50_000;

/// Runs the three kinds of references one by one. A kind whose definitions cannot be read is left
/// out, and the others are still checked.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // The part of the document behind a syntax error may define the name.
    if subject.is_unfinished(&RecordPath::root()) {
        return;
    }
    if is_readable(subject, "helpers") {
        check_helper_references(subject, out);
        check_helper_calls(subject, out);
    }
    if is_readable(subject, "validators") {
        check_validator_references(subject, out);
    }
    if let Some(commands) = DefinedIds::commands(subject) {
        check_command_references(subject, &commands, out);
    }
}

/// Reports what meta tools aggregate and no other document defines.
///
/// Only the first tool of a document is asked, since all commands of an AIOS tool share one
/// binding. A toolset whose commands its server lists may have any tool, so nothing in it is
/// reported. With a single document it is a note: the others may simply not have been named.
fn check_aggregates(subjects: &[Subject<'_>], report: &mut dyn FnMut(usize, RecordFinding)) {
    let is_orchestration =
        |tool: &Draft| matches!(tool.details.binding, Binding::Orchestration { .. });
    // Few loads have a meta tool, and the sets below are of all tools.
    if !subjects.iter().any(|it| it.toolset.tools.iter().any(is_orchestration)) {
        return;
    }
    let toolsets = subjects.iter().map(|subject| subject.toolset);
    // A toolset whose commands are those of a server may have any tool.
    let mut open = BTreeSet::new();
    let (mut known, mut tools) = (BTreeSet::new(), BTreeSet::new());
    for toolset in toolsets {
        let namespace = toolset.namespace.ok();
        known.extend(namespace.map(|it| it.as_str()));
        if toolset.server.is_some() {
            open.extend(namespace.map(|it| it.as_str()));
        }
        let ids = toolset.tools.iter().filter_map(|tool| tool.id(namespace));
        tools.extend(ids.map(|id| id.to_string()));
    }
    // Many meta tools name the same missing tool.
    let mut suggestions: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut budget = MAX_COMPARISONS_OF_LOAD;
    let mut suggestion = |named| {
        *suggestions.entry(named).or_insert_with(|| {
            let candidates = known.iter().copied().chain(tools.iter().map(String::as_str));
            let compared = (known.len() + tools.len()).min(MAX_COMPARISONS).min(budget);
            budget -= compared;
            nearest(named, candidates.take(compared))
        })
    };
    for (n, subject) in subjects.iter().enumerate() {
        let Some(tool) = subject.toolset.tools.first() else { continue };
        let Binding::Orchestration { aggregates, .. } = &tool.details.binding else { continue };
        for (m, named) in aggregates.iter().enumerate() {
            let of_toolset = named.split_once(':').map_or(named.as_str(), |(toolset, _)| toolset);
            if known.contains(named.as_str()) || tools.contains(named) || open.contains(of_toolset)
            {
                continue;
            }
            let at = RecordPath::path(&[&"tools", &0, &"binding", &"aggregates", &m]);
            if subjects.len() == 1 {
                let message = format!("`{}` is not defined in this file", shorten(named));
                let finding = RecordFinding::new(&UNRESOLVED_REFERENCE, at, message);
                let help = "`toolwright check` with the other definitions, or with the \
                            configuration that names them, tells whether it exists";
                report(n, finding.severity(Severity::Info).help(help));
                continue;
            }
            let message = format!("`{}` is not among the tools that are loaded", shorten(named));
            let finding = RecordFinding::new(&UNRESOLVED_REFERENCE, at, message);
            if subject.is_beside_unread {
                let help = "not everything that is used together was read, and it may be there";
                report(n, finding.severity(Severity::Info).help(help));
                continue;
            }
            report(
                n,
                match suggestion(named.as_str()) {
                    Some(meant) => finding.help(format!("did you mean `{}`?", shorten(meant))),
                    None => finding
                        .help("name a toolset by its id, or one of its tools as `toolset:tool`"),
                },
            );
        }
    }
}

/// Whether a list of functions is a list or is missing. A malformed list was reported by its shape,
/// and it may be meant to define anything. `list` is the key of the list in the document.
fn is_readable(subject: &Subject<'_>, list: &str) -> bool {
    let section = subject.document_value(&RecordPath::root().child("executable_knowledge"));
    // Missing and null count as readable: the document then defines nothing, for certain.
    let is = |node: Option<Node<'_>>, kind| {
        node.is_none_or(|node| node.kind() == kind || node.kind() == ValueKind::Null)
    };
    is(section, ValueKind::Map)
        && is(section.and_then(|section| section.get(list)), ValueKind::List)
}

/// The ids that a reference of one kind may have.
struct DefinedIds<'a> {
    /// What messages call it: `helper`, `validator` or `command`.
    kind: &'static str,
    /// The ids, sorted for binary search.
    ids: Vec<&'a str>,
    /// How many comparisons are left for suggestions. A cell, because reporting borrows the ids.
    budget: Cell<usize>,
}

impl<'a> DefinedIds<'a> {
    /// The ids of this kind, without missing and blank ones.
    fn new(kind: &'static str, ids: impl Iterator<Item = Option<&'a str>>) -> DefinedIds<'a> {
        let mut ids: Vec<&str> = ids.flatten().filter(|id| !id.trim().is_empty()).collect();
        ids.sort_unstable();
        DefinedIds { kind, ids, budget: Cell::new(MAX_COMPARISONS) }
    }

    /// The commands that an AIOS tool lists. `None` if it lists none, because its server decides
    /// then, or if a list is malformed.
    ///
    /// Both lists count together: `commands` has names, and `tools` has the definitions of some.
    fn commands(subject: &Subject<'a>) -> Option<DefinedIds<'a>> {
        let tool =
            subject.document_value(&RecordPath::root()).filter(|_| subject.has_typed_sections())?;
        let lists = ["commands", "tools"]
            .map(|name| tool.get(name).filter(|node| node.kind() != ValueKind::Null));
        let is_listed = lists.iter().any(Option::is_some);
        // A malformed list was reported by its shape and may be meant to define anything.
        if lists.iter().flatten().any(|node| node.kind() != ValueKind::List) {
            return None;
        }
        let defined = DefinedIds::new("command", subject.toolset.tools.iter().map(written_name));
        // Without names there is nothing to compare with. Without a list, the reader takes the
        // commands from examples and validators, so checking these against the commands would be
        // circular.
        (is_listed && !defined.ids.is_empty()).then_some(defined)
    }

    /// Whether the id is defined.
    fn has(&self, id: &str) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// The defined id with a similar spelling, while the budget for comparisons lasts. A budget
    /// that runs out in the middle of a list compares with a part of it.
    fn nearest(&self, id: &str) -> Option<&'a str> {
        // Each search costs one comparison for each id. When the budget is used up, findings are
        // still reported, only without a suggestion.
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(self.ids.len()));
        nearest(id, self.ids.iter().take(left).copied())
    }

    /// The finding for an id that is not defined. `at` points to the reference; `edit` makes the
    /// edit that writes another id there, or nothing if that is not possible. The help depends on
    /// what there is: a near id, none at all, up to five, or more.
    fn undefined_finding(
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
            // Without a similar id, the help depends on how many ids there are: none, few enough to
            // list them, or only their number.
            (None, 0) => finding.help(format!("the document defines no {kind}")),
            (None, 1..=5) => {
                let ids: Vec<String> = self.ids.iter().map(|id| shorten(id)).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                finding.help(format!("use {}", alternatives(&ids)))
            }
            (None, count) => finding
                .help(format!("the document defines {count} {kind}s, none with a similar name")),
        }
    }

    /// Reports `id` unless it is defined or blank: the shape of the value reports blank ids where
    /// they are wrong. `at` makes the pointer to the reference; `written` makes the text that
    /// refers to an id, for the repair.
    fn report_unless_defined(
        &self,
        id: &str,
        at: impl FnOnce() -> RecordPath,
        written: impl Fn(&str) -> String,
        out: &mut Report<'_>,
    ) {
        // `is_full` comes last, because asking counts as leaving something out.
        if !id.trim().is_empty() && !self.has(id) && !out.is_full(&UNRESOLVED_REFERENCE) {
            let at = at();
            let edit = |meant: &str| Some(Edit::Replace(at.clone(), Json::from(written(meant))));
            out.push(self.undefined_finding(id, at.clone(), edit));
        }
    }
}

/// The name of a command, valid or not: a malformed name was reported, and a reference to it is
/// right.
///
/// Reporting the reference as well would send the author to the wrong place.
fn written_name(tool: &Draft) -> Option<&str> {
    match &tool.name {
        FieldValue::Valid(name) => Some(name.as_str()),
        FieldValue::Invalid(json) => json.as_str(),
        FieldValue::Missing => None,
    }
}

/// Reports references to helpers that are not defined. Three places: the extraction of a field
/// mapping, the detection of a payload schema, and the `orchestration` of a meta tool.
fn check_helper_references(subject: &Subject<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    let defined =
        DefinedIds::new("helper", knowledge.helpers.iter().map(|helper| helper.id.as_deref()));
    let written = |id: &str| format!("helpers.{id}");
    for mapping in &knowledge.field_mappings {
        // Anything that does not start with `helpers.` is a sentence for people.
        let text = mapping.extraction.as_deref().map(str::trim);
        let Some(id) = text.and_then(|text| text.strip_prefix("helpers.")) else { continue };
        // Mappings may be grouped, so the path has one or two names.
        let at = || {
            let mappings = RecordPath::path(&[&"knowledge", &"fieldMappings"]);
            mapping.path.iter().fold(mappings, |at, name| at.child(name)).child("extraction")
        };
        defined.report_unless_defined(id, at, written, out);
    }
    for (n, schema) in knowledge.payload_schemas.iter().enumerate() {
        // Other forms of detection refer to nothing, and a sentence that no form matches is
        // UNKNOWN_DETECTION.
        if let Some(Detection::Helper { id }) =
            schema.detection.as_deref().and_then(Detection::parse)
        {
            let at = || RecordPath::path(&[&"knowledge", &"payloadSchemas", &n, &"detection"]);
            defined.report_unless_defined(&id, at, written, out);
        }
    }
    // Read from the document, because a tool with a misspelled `type` has no binding.
    let at = RecordPath::path(&[&"meta_specific", &"orchestration"]);
    if let Some(text) =
        subject.document_value(&at).filter(|_| subject.has_typed_sections()).and_then(Node::text)
    {
        defined.report_unless_defined(
            // Both spellings are in use. The repair writes the one of the specification.
            text.strip_prefix("helpers.").unwrap_or(text),
            || at,
            written,
            out,
        );
    }
}

/// Reports members of the global `helpers` in the code of functions that no helper has. Without any
/// helper there is no such global, which NOT_SELF_CONTAINED reports.
///
/// An id such as `extract-place` cannot be a member in dot notation, so its camelCase form counts,
/// too. There is no repair: the text of code is not edited.
fn check_helper_calls(subject: &Subject<'_>, out: &mut Report<'_>) {
    let helpers = &subject.toolset.knowledge.helpers;
    let ids: Vec<&str> = helpers.iter().filter_map(|helper| helper.id.as_deref()).collect();
    let in_code: Vec<String> = ids.iter().map(|id| camel(&split(id))).collect();
    let names = ids.into_iter().chain(in_code.iter().map(String::as_str));
    let defined = DefinedIds::new("helper", names.map(Some));
    for function in subject.functions().iter().filter(|it| it.script.problems.is_empty()) {
        for used in function.script.helper_names.iter().filter(|used| !defined.has(&used.name)) {
            if !out.is_full(&UNRESOLVED_REFERENCE) {
                let finding = defined.undefined_finding(&used.name, function.at.clone(), |_| None);
                out.push(finding.within(used.range.clone()));
            }
        }
    }
}

/// Reports validators that examples expect and that are not defined, also in examples of unknown
/// commands.
///
/// Only the `error` of an example names a validator: the one that must refuse the input.
fn check_validator_references(subject: &Subject<'_>, out: &mut Report<'_>) {
    let validators = &subject.toolset.knowledge.validators;
    let defined = DefinedIds::new(
        "validator",
        validators.iter().map(|validator| validator.function.id.as_deref()),
    );
    for (at, tool) in subject.tools() {
        check_expected_validators(&tool.details.examples, || at.child("examples"), &defined, out);
    }
    // The command of these examples is reported as well, but an author who corrects it first must
    // not find a second mistake afterwards.
    for (command, examples) in &subject.toolset.stray_examples {
        check_expected_validators(
            examples,
            || RecordPath::path(&[&"strayExamples", command]),
            &defined,
            out,
        );
    }
}

/// Reports the validators that examples expect and that are not defined. The specification has the
/// bare id; some definitions write `validators.ID`, and the repair keeps what they write.
fn check_expected_validators(
    examples: &[Example],
    at: impl Fn() -> RecordPath,
    defined: &DefinedIds<'_>,
    out: &mut Report<'_>,
) {
    for (n, example) in examples.iter().enumerate() {
        let validator = example.error.as_ref().and_then(|error| error.validator.as_deref());
        let Some(text) = validator else { continue };
        let id = text.strip_prefix("validators.").unwrap_or(text);
        // The part before the id, as written: `validators.` or nothing.
        let prefix = &text[..text.len() - id.len()];
        let at = || at().child(n).child("error").child("validator");
        defined.report_unless_defined(id, at, |id| format!("{prefix}{id}"), out);
    }
}

/// Reports references to commands that the tool does not list. Four places: `processes`,
/// `validates`, the keys of `examples`, and the health check.
fn check_command_references(subject: &Subject<'_>, defined: &DefinedIds<'_>, out: &mut Report<'_>) {
    let knowledge = &subject.toolset.knowledge;
    for (n, processor) in knowledge.processors.iter().enumerate() {
        let at = || RecordPath::path(&[&"knowledge", &"processors", &n, &"processes"]);
        defined.report_unless_defined(
            // A processor may have no command: it is then called by other functions only. An empty
            // id is not reported.
            processor.processes.as_deref().unwrap_or_default(),
            at,
            str::to_owned,
            out,
        );
    }
    for (n, validator) in knowledge.validators.iter().enumerate() {
        let at = || RecordPath::path(&[&"knowledge", &"validators", &n, &"validates"]);
        defined.report_unless_defined(
            // A validator must have a command; its shape reports a missing one.
            validator.validates.as_deref().unwrap_or_default(),
            at,
            str::to_owned,
            out,
        );
    }
    for (command, _) in &subject.toolset.stray_examples {
        if out.is_full(&UNRESOLVED_REFERENCE) {
            return;
        }
        let at = RecordPath::root().child("strayExamples").child(command);
        out.push(stray_examples_finding(subject, command, defined, at));
    }
    // All commands share one server, and the reader noted the position for the first one only.
    if let Some((at, tool)) = subject.tools().next()
        && let Binding::Server { server, .. } = &tool.details.binding
        && let Some(command) =
            server.health_check.as_ref().and_then(|check| check.command.as_deref())
    {
        let at = || at.child("binding").child("healthCheck").child("command");
        defined.report_unless_defined(command, at, str::to_owned, out);
    }
}

/// The finding for examples of an unknown command, which is the key of the examples. No repair if
/// the near command has examples of its own: the author must merge them.
fn stray_examples_finding(
    subject: &Subject<'_>,
    command: &str,
    defined: &DefinedIds<'_>,
    at: RecordPath,
) -> RecordFinding {
    // A rename to a command that has examples already would create a duplicate key.
    let taken = |id: &str| {
        subject.document_value(&RecordPath::root().child("examples").child(id)).is_some()
    };
    // The key is the name of the command, so the repair renames a key and not a value.
    let rename =
        |meant: &str| (!taken(meant)).then(|| Edit::RenameKey(at.clone(), meant.to_owned()));
    defined.undefined_finding(command, at.clone(), rename).on_key()
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::{Edit, Finding, Safety};

    use crate::MAX_FINDINGS;
    use crate::testing::{count, findings, found};

    /// An AIOS tool of this type, with more lines.
    fn aios(kind: &str, more: &str) -> String {
        format!("tool:\n  id: notes\n  type: {kind}\n  {}\n", more.replace('\n', "\n  "))
    }

    #[track_caller]
    fn expect(text: &str, at: &[&str]) {
        let expected: Vec<String> =
            at.iter().map(|at| format!("UNRESOLVED_REFERENCE at /tool/{at}")).collect();
        assert_eq!(found("UNRESOLVED_REFERENCE", text), expected, "{text}");
    }

    /// The first finding of this rule.
    fn ours(text: &str) -> Finding {
        let mut all = findings(text).into_iter().filter(|f| f.code.name == "UNRESOLVED_REFERENCE");
        all.next().expect("a finding")
    }

    #[test]
    fn references_to_undefined_helpers_are_reported() {
        let cases: &[(&str, &[&str])] = &[
            ("field_mappings: {a: {extraction: helpers.take}}", &[]),
            ("field_mappings: {a: {extraction: helpers.give}}", &["field_mappings/a/extraction"]),
            (
                "field_mappings: {g: {'x/y': {extraction: helpers.give}}}",
                &["field_mappings/g/x~1y/extraction"],
            ),
            // Sentences and empty ids refer to nothing.
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
    fn examples_that_expect_undefined_validators_are_reported() {
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
    fn references_to_unlisted_commands_are_reported() {
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
        // Without a list of commands, references are not questioned.
        expect(&aios("mcp", used), &[]);
        expect(&aios("mcp", "mcp_specific: {server_command: s, health_check: {command: ad}}"), &[]);
        expect(&aios("mcp", &format!("commands: []\n{used}")), &[]);
        let some = "examples: {go: [{scenario: success}], notes: [{}]}\n\
                    executable_knowledge: {processors: [{id: p, processes: other}]}\n\
                    mcp_specific: {server_command: s, health_check: {command: other}}";
        expect(&aios("mcp", some), &[]);
        // A malformed name is defined all the same.
        expect(
            &aios("mcp", "commands: [a b]\nexecutable_knowledge: {validators: [{validates: a b}]}"),
            &[],
        );
    }

    #[test]
    fn the_help_suggests_a_defined_id() {
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
            ("a, b, c, d, e, f", "the document defines 6 commands, none with a similar name"),
        ] {
            let text = aios("cli", &format!("commands: [{commands}]\nexamples: {{other: []}}"));
            assert_eq!(ours(&text).help, [help]);
        }
        let none = aios("meta", "meta_specific: {orchestration: helpers.x}");
        assert_eq!(ours(&none).help, ["the document defines no helper"]);
    }

    #[test]
    fn nothing_is_reported_about_a_document_that_breaks_off() {
        let text =
            aios("cli", "api_complexity: {field_mappings: {place: {extraction: helpers.x}}}");
        assert_eq!(count(&super::RULE, &text), 1);
        assert_eq!(count(&super::RULE, &format!("{text}  executable_knowledge")), 0);
    }

    #[test]
    fn thousands_of_wrong_names_are_compared_within_the_budget() {
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
