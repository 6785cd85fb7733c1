//! Upgrades: a definition that is written for an older version of its format, in the words of the
//! newest one.
//!
//! ```text
//! Reading ─ STEPS ─▶ UpgradeStep: edits by path, or a new text
//!              ▲            │ tried on a copy: read and checked again
//!              │            ├─▶ made: no new error, and tools that are called as before
//!              └────────────┴─▶ refused, with the reason
//! ```
//!
//! Only what the document itself implies is written: an example with an `output` is one of success,
//! but nobody can derive the examples that are missing. What is left for the author are the
//! findings that the new text has and the old one did not. The edits are those of repairs, so
//! comments and layout stay.

mod aios;
mod schemas;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_formats::Reading;
use toolwright_model::{Draft, FieldValue, InputSchema, Toolset};
use toolwright_source::{
    Diagnostic, Document, Edit, Repair, Safety, Severity, ValueKind, plan_repair, words,
};

use crate::fix::{edited, unified_diff};
use crate::{LoadedDocument, Workspace, files};

/// Steps of one document. More are left for the next run.
const MAX_STEPS: usize = 1_000;

/// What an upgrade makes of a document.
#[derive(Debug)]
pub struct Upgrade {
    /// The changes that were made, an imperative each.
    pub steps: Vec<String>,
    /// The changes that were not made.
    pub refused: Vec<RefusedStep>,
    /// The findings that the new text has and the old one does not have.
    pub left: Vec<Diagnostic>,
    /// What was read.
    before: Arc<Document>,
    /// What the steps made of it; the same document if none was made.
    after: Arc<Document>,
}

/// A change that was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedStep {
    /// The change, as an imperative.
    pub title: String,
    /// What it would break.
    pub reason: String,
}

impl Upgrade {
    /// The changes as a unified diff; empty if there are none.
    pub fn diff(&self) -> String {
        match self.steps.is_empty() {
            true => String::new(),
            false => unified_diff(self.before.source(), self.after.source()),
        }
    }

    /// Replaces the file, if it still holds what was read.
    ///
    /// # Errors
    /// If it changed, or cannot be written; a sentence for the user.
    pub fn write(&self, path: &std::path::Path) -> Result<(), String> {
        let bytes = |document: &Document| document.source().with_text(document.source().text());
        files::replace_file(path, Some(&bytes(&self.before)), &bytes(&self.after))
    }
}

/// One change of a document, all or nothing.
///
/// A finder makes one for each change that can be refused without the others.
struct UpgradeStep {
    /// What it does, an imperative each.
    titles: Vec<String>,
    change: StepChange,
}

/// Edits keep comments and layout. A new text is for changes of structure that edits cannot state,
/// such as another root key.
enum StepChange {
    /// Changes by path, which leave everything else as it is written.
    Edits(Vec<Edit>),
    /// A new text, and the value that it has to have.
    Text(String, Json),
    /// None: the reason why it cannot be made.
    Impossible(String),
}

/// Finds the changes that a document needs.
///
/// Called again after each step, so it only has to look at the document as it is now.
type StepFinder = fn(&Reading) -> Vec<UpgradeStep>;

/// Each with the format whose documents it changes, `None` for all. In this order: what decides how
/// the rest is read comes first, and the version, which makes the rules stricter, last.
const STEPS: [(Option<&str>, StepFinder); 6] = [
    (Some("aios"), aios::add_root_key),
    (Some("aios"), aios::move_under_root_key),
    (None, replace_tolerated_values),
    (Some("mcp"), add_titles),
    (None, schemas::leave_older_dialects),
    (Some("aios"), aios::raise_version),
];

impl Workspace {
    /// Upgrades a document in memory. `None` if its format is unknown.
    ///
    /// Nothing is written. What the caller shows are the steps, the refusals and the findings that
    /// are new.
    pub fn upgrade(&self, loaded: &LoadedDocument) -> Option<Upgrade> {
        let before = Arc::clone(loaded.reading.as_ref()?.origin.document());
        // With all rules: a step that causes a finding of `check` is not made in silence.
        let mut options = loaded.options;
        options.rules = true;
        let old = self.read(&before, options);
        let mut upgrader =
            Upgrader { workspace: self, current: old.clone(), steps: Vec::new(), refused: vec![] };
        for (format, find) in STEPS {
            upgrader.make_all(format, find);
        }
        let Upgrader { current, steps, refused, .. } = upgrader;
        let after = Arc::clone(current.reading.as_ref()?.origin.document());
        Some(Upgrade { steps, refused, left: new_findings(&old, current), before, after })
    }
}

/// A document on its way.
struct Upgrader<'a> {
    workspace: &'a Workspace,
    current: LoadedDocument,
    steps: Vec<String>,
    refused: Vec<RefusedStep>,
}

impl Upgrader<'_> {
    /// Makes the steps of one kind, all together or one after the other.
    ///
    /// Steps of one kind are usually alike, so the first round tries all of them at once. If that
    /// fails, they are made one by one, and after each the document is searched again: a path may
    /// have moved. What was refused once is not tried again.
    ///
    /// The loop ends because each round makes a step or refuses one, and at `MAX_STEPS`.
    fn make_all(&mut self, format: Option<&str>, find: StepFinder) {
        for round in 0..MAX_STEPS {
            let Some(reading) = &self.current.reading else { return };
            if format.is_some_and(|format| reading.format.0 != format) {
                return;
            }
            let mut steps = find(reading);
            steps.retain(|step| !self.refused.iter().any(|own| step.titles.contains(&own.title)));
            if steps.is_empty() {
                return;
            }
            if round == 0 && steps.len() > 1 {
                let all = together(&steps);
                if let Some(Ok(next)) = all.map(|step| self.try_step(&step)) {
                    self.current = next;
                    self.steps.extend(steps.into_iter().flat_map(|step| step.titles));
                    return;
                }
            }
            let step = steps.swap_remove(0);
            match self.try_step(&step) {
                Ok(next) => {
                    self.current = next;
                    self.steps.extend(step.titles);
                }
                Err(reason) => {
                    let refuse = |title| RefusedStep { title, reason: reason.clone() };
                    self.refused.extend(step.titles.into_iter().map(refuse));
                }
            }
        }
    }

    /// The document after a step, or why the step cannot be made.
    ///
    /// The proof has three parts: the text can be edited there without touching a comment, the
    /// document gets no new error, and its tools are called as before.
    ///
    /// # Errors
    /// The reason, as the end of a sentence; it is shown to the user with the title of the step.
    fn try_step(&self, step: &UpgradeStep) -> Result<LoadedDocument, String> {
        let reading = self.current.reading.as_ref().ok_or("its format is unknown")?;
        let document = reading.origin.document();
        let next = match &step.change {
            StepChange::Impossible(reason) => return Err(reason.clone()),
            StepChange::Edits(edits) => {
                let (title, safety) = (String::new(), Safety::Safe);
                let repair = Repair { title, safety, edits: edits.clone() };
                let fix = plan_repair(document, repair).ok_or("the text cannot be edited there")?;
                if !fix.safe {
                    return Err("a comment or an alias stands in the way".to_owned());
                }
                edited(document, fix.edits).ok_or("the text would be broken")?
            }
            StepChange::Text(text, value) => {
                let source = document.source();
                let (name, origin) = (source.name(), source.origin().clone());
                let bytes = source.with_text(text);
                let next = Document::parse_from(name, origin, bytes, document.syntax());
                let is_same = next.problems().len() <= document.problems().len()
                    && next.root().to_json() == *value
                    && next.comments().len() == document.comments().len();
                if !is_same {
                    return Err("the layout of the text does not allow it".to_owned());
                }
                Arc::new(next)
            }
        };
        let mut read = self.workspace.read(&next, self.current.options);
        read.path.clone_from(&self.current.path);
        let after = read.reading.as_ref().ok_or("its format would become unknown")?;
        let errors: Vec<String> = new_errors(&self.current, &read);
        if let Some(first) = errors.first() {
            let more = match errors.len() {
                1 => String::new(),
                n => format!(", and {} more", n - 1),
            };
            return Err(format!("that would be an error: {first}{more}"));
        }
        if !work_alike(&reading.toolset, &after.toolset) {
            return Err("the tools would be called in another way".to_owned());
        }
        Ok(read)
    }
}

/// All edits as one step; `None` if one of the steps is something else.
///
/// The edits are planned together, against the text before all of them.
fn together(steps: &[UpgradeStep]) -> Option<UpgradeStep> {
    let mut all = Vec::new();
    for step in steps {
        let StepChange::Edits(edits) = &step.change else { return None };
        all.extend(edits.iter().cloned());
    }
    Some(UpgradeStep { titles: Vec::new(), change: StepChange::Edits(all) })
}

/// How often each finding occurs, by code and message.
///
/// Lines are left out, because an edit moves everything below it.
fn counts(loaded: &LoadedDocument) -> HashMap<(&'static str, &str), usize> {
    let mut counts = HashMap::new();
    for diagnostic in &loaded.diagnostics {
        *counts.entry((diagnostic.code.name, diagnostic.message.as_str())).or_default() += 1;
    }
    counts
}

/// The errors that `after` has and `before` does not have, as text.
///
/// One that occurs twice now and occurred once before is new.
fn new_errors(before: &LoadedDocument, after: &LoadedDocument) -> Vec<String> {
    let mut known = counts(before);
    let mut errors = Vec::new();
    for error in after.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        match known.get_mut(&(error.code.name, error.message.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                let start = error.span.map_or(0, |span| span.start as usize);
                let line = error.source.line_column(start).line;
                errors.push(format!("{} (line {line} of the new text)", error.message));
            }
        }
    }
    errors
}

/// The findings of the new text that the old one does not have.
fn new_findings(before: &LoadedDocument, after: LoadedDocument) -> Vec<Diagnostic> {
    let known = counts(before);
    let is_new = |d: &Diagnostic| !known.contains_key(&(d.code.name, d.message.as_str()));
    after.diagnostics.into_iter().filter(is_new).collect()
}

/// Whether the tools have the same ids, take and return the same values, need and do the same.
///
/// Not compared: descriptions, titles and examples, which may change without changing a call.
///
/// Tools are compared in their order, which no step changes.
fn work_alike(before: &Toolset<Draft>, after: &Toolset<Draft>) -> bool {
    let id = |toolset: &Toolset<Draft>, tool: &Draft| tool.id(toolset.namespace.ok());
    let input = |tool: &Draft| tool.input.ok().map(InputSchema::to_json);
    let alike = |(one, other): (&Draft, &Draft)| {
        id(before, one) == id(after, other)
            && accept_same(input(one).as_ref(), input(other).as_ref())
            && accept_same(one.output.ok(), other.output.ok())
            && one.needs == other.needs
            && one.details.binding == other.details.binding
            && one.details.limits == other.details.limits
            && one.details.annotations == other.details.annotations
    };
    before.tools.len() == after.tools.len()
        && before.tools.iter().zip(&after.tools).all(alike)
        && before.knowledge == after.knowledge
        && before.limits == after.limits
        && before.server == after.server
}

/// Whether two schemas accept the same values. A schema that cannot be used accepts nothing that
/// could be lost.
///
/// Equal texts need no comparison, and a comparison that does not decide counts as a difference.
fn accept_same(one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one == other
                || toolwright_schema::Schema::compile(one).is_err()
                || toolwright_schema::compare(one, other).is_equal()
        }
        (one, other) => one == other,
    }
}

/// Replaces values that `--compat` tolerates, where they have one meaning: `null` for an optional
/// field is the field left out, and a declarative knowledge strategy is the embedded one.
fn replace_tolerated_values(reading: &Reading) -> Vec<UpgradeStep> {
    let root = reading.origin.document().root();
    let tolerated = reading.findings.iter().filter(|finding| finding.tolerable);
    let step = |finding: &toolwright_source::Finding| {
        let node = root.find(&finding.at)?;
        let name = words::shorten(&finding.at.last()?);
        let is_member = finding.at.parent().and_then(|at| root.find(&at))?.kind() == ValueKind::Map;
        let at = finding.at.clone();
        let (title, edit) = match node.kind() {
            ValueKind::Null if is_member => {
                (format!("remove `{name}`, which is null, at `{at}`"), Edit::Remove(at))
            }
            ValueKind::String if name == "knowledge_strategy" && node.raw() == "declarative" => (
                "replace the knowledge strategy `declarative` by `embedded`".to_owned(),
                Edit::Replace(at, Json::from("embedded")),
            ),
            _ => return None,
        };
        Some(UpgradeStep { titles: vec![title], change: StepChange::Edits(vec![edit]) })
    };
    tolerated.filter_map(step).collect()
}

/// Adds the display name where MCP has it since 2025-06-18. The older place stays, for clients that
/// look only there.
fn add_titles(reading: &Reading) -> Vec<UpgradeStep> {
    let path = |n: usize| toolwright_source::RecordPath::root().child("tools").child(n);
    let step = |(n, tool): (usize, &Draft)| {
        let title = tool.details.annotations.title.as_deref().filter(|t| !t.trim().is_empty())?;
        let node = reading.origin.value(&path(n)).filter(|node| !node.has("title"))?;
        let name = tool.name.ok().map_or("", |name| name.as_str());
        let edit = Edit::Insert(node.pointer().child("title"), Json::from(title));
        Some(UpgradeStep {
            titles: vec![format!("add the `title` of `{name}`, which only its annotations have")],
            change: StepChange::Edits(vec![edit]),
        })
    };
    let missing = |tool: &Draft| tool.details.title.is_none();
    let tools = reading.toolset.tools.iter().enumerate();
    tools.filter(|(_, tool)| missing(tool)).filter_map(step).collect()
}

/// The schema that a tool has at a side, as it is written.
fn written_input(tool: &Draft) -> Option<&Json> {
    match &tool.input {
        FieldValue::Valid(input) => input.written(),
        _ => None,
    }
}
