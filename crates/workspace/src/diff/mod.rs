//! What changed from one set of definitions to another, and which version that demands.
//!
//! ```text
//! old, new: documents ─ paired by namespace or name ─┬─ tools, paired by `tool_pairs`
//!                                                    │    ├ input, output: schema_edits
//!                                                    │    └ every other part of the record
//!                                                    └─ the document's own parts, code files
//!                        every change ─ VersionStep ─▶ compared with the declared versions
//! ```
//!
//! The record is compared (`record.rs`), not the text: layout, comments and the order of keys are
//! not changes, and a definition can be compared with what its server lists. Nothing is rendered
//! here, and nothing is read but the code files beside a definition.

mod schema_edits;
mod tool_pairs;
mod version_step;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright_formats::Reading;
use toolwright_model::{CallLimits, ContentHash, Draft, FieldValue, InputSchema};
use toolwright_schema::{SchemaComparison, Verdict};

pub use self::schema_edits::{EditKind, SchemaEdit};
use self::schema_edits::{SchemaDiff, joined, keys_of_both};
use self::tool_pairs::ToolPairs;
pub use self::version_step::{VersionCheck, VersionStep};
use crate::code_files::code_files;
use crate::{LoadedDocument, display_name, record};

/// Everything that changed between two sets of definitions.
///
/// ```text
/// a tool that is new                                             Minor
/// a tool that is gone, another id, a new capability              Major
/// a schema                                                       by its direction (schema_edits)
/// any other part                                                 Patch
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionsDiff {
    /// The tools that changed, in the order of the new definitions; then those that are gone.
    pub tools: Vec<ToolDiff>,
    /// How many tools did not change.
    pub unchanged: usize,
    /// The documents whose own parts changed.
    pub documents: Vec<DocumentDiff>,
    /// The versions that both sides declare, with what the changes demand.
    pub versions: Vec<VersionCheck>,
}

impl DefinitionsDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.documents.is_empty()
    }

    /// The step that all changes together demand.
    pub fn step(&self) -> VersionStep {
        let tools = self.tools.iter().map(|tool| tool.step);
        tools.chain(self.documents.iter().map(|document| document.step)).max().unwrap_or_default()
    }
}

/// What changed about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDiff {
    /// The id, of the new definition if the tool is there. With the version (`a:b:1.0.0`) if a side
    /// has several versions of the tool.
    pub id: String,
    /// On which side it is.
    pub presence: ToolPresence,
    /// What changed, if it is on both sides.
    pub changes: Vec<PartChange>,
    /// What the changes demand of a version.
    pub step: VersionStep,
}

/// Which side has a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPresence {
    /// Only the new one.
    Added,
    /// Only the old one.
    Removed,
    /// Both, with differences.
    Changed,
}

impl ToolPresence {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ToolPresence::Added => "added",
            ToolPresence::Removed => "removed",
            ToolPresence::Changed => "changed",
        }
    }
}

/// What changed about a document as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentDiff {
    /// The file or server, of the new side.
    pub name: String,
    /// The changes outside of its tools.
    pub changes: Vec<PartChange>,
    /// What the changes demand of a version.
    pub step: VersionStep,
}

/// One change of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct PartChange {
    /// The part, by its key in the record: `description`, `inputSchema`, `capabilities`; `code` for
    /// a file with code.
    ///
    /// A user finds the same words in `show --json`.
    pub part: String,
    /// JSON pointer below the part; the name of a file with code.
    pub at: String,
    /// What was done to it.
    pub kind: EditKind,
    /// The value before; `None` if there was none, and for files.
    pub old: Option<Value>,
    /// The value now.
    pub new: Option<Value>,
    /// For a schema: what this does to the accepted values.
    pub effect: Option<SchemaComparison>,
}

/// Parts of a tool's record that are not compared as values: those that identify it, those that
/// depend on where it was read, and those that are compared in another way.
///
/// A new key of the record that is not listed here is compared as a value, and demands a patch.
const OTHER_TOOL_PARTS: [&str; 17] = [
    "id",
    "namespace",
    "name",
    "version",
    "capabilities",
    "inputSchema",
    "inputSchemaDeferred",
    "outputSchema",
    "binding",
    "invalid",
    "hash",
    // Follows from the others.
    "servedDescription",
    "format",
    "toolset",
    "origin",
    "knowledge",
    "limits",
];

/// The same of a document's record.
const OTHER_DOCUMENT_PARTS: [&str; 8] =
    ["namespace", "version", "format", "dialect", "file", "capabilities", "invalid", "hash"];

/// Compares two sets of documents.
///
/// A document demands what its tools demand and what its own parts demand. A tool may be in another
/// document than before; then both documents count.
///
/// ```text
/// each new tool ─ a partner on the old side? ─┬─ no ──▶ Added, Minor
///                                             └─ yes ─▶ tool_diff: Changed, or counted as equal
/// each old tool without a partner ──▶ Removed, Major
/// each pair of documents ──▶ its own parts, and the greatest step of its tools
/// ```
///
/// A version is judged for a pair only, and only if both sides state one: a document without a
/// partner has nothing to be compared with.
pub fn diff(old: &[LoadedDocument], new: &[LoadedDocument]) -> DefinitionsDiff {
    let (old, new) = (DiffSide::new(old), DiffSide::new(new));
    let mut result = DefinitionsDiff::default();
    let pairs = pair_documents(&old, &new);
    // What the tools of each document demand, by the place of the document in its side.
    let mut demanded: BTreeMap<(usize, usize), VersionStep> = BTreeMap::new();
    // A tool that is new has no old document, and one that is gone no new one.
    let mut demand =
        |old_document: Option<usize>, new_document: Option<usize>, step: VersionStep| {
            for (one, other) in &pairs {
                if old_document == Some(*one) || new_document == Some(*other) {
                    let so_far = demanded.entry((*one, *other)).or_default();
                    *so_far = step.max(*so_far);
                }
            }
        };
    let tool_pairs = ToolPairs::new(&old.tools, &new.tools);
    let mut gone: Vec<bool> = vec![true; old.tools.len()];
    for (tool, before) in new.tools.iter().zip(&tool_pairs.before) {
        let Some(before) = *before else {
            demand(None, Some(tool.document), VersionStep::Minor);
            result.tools.push(ToolDiff {
                id: tool_pairs.reference(tool),
                presence: ToolPresence::Added,
                changes: Vec::new(),
                step: VersionStep::Minor,
            });
            continue;
        };
        gone[before] = false;
        let before = &old.tools[before];
        let mut found = tool_diff(before, tool);
        found.id = tool_pairs.reference(tool);
        if found.changes.is_empty() {
            result.unchanged += 1;
            continue;
        }
        demand(Some(before.document), Some(tool.document), found.step);
        if let (Some(old), Some(new)) = (before.draft.version.ok(), tool.draft.version.ok()) {
            result.versions.push(VersionCheck::new(tool.id.clone(), old, new, found.step));
        }
        result.tools.push(found);
    }
    for (tool, _) in old.tools.iter().zip(&gone).filter(|(_, gone)| **gone) {
        demand(Some(tool.document), None, VersionStep::Major);
        result.tools.push(ToolDiff {
            id: tool_pairs.reference(tool),
            presence: ToolPresence::Removed,
            changes: Vec::new(),
            step: VersionStep::Major,
        });
    }
    for (one, other) in &pairs {
        let (before, now) = (&old.documents[*one], &new.documents[*other]);
        let found = document_diff(before, now);
        let tools = demanded.get(&(*one, *other)).copied().unwrap_or_default();
        let step = found.step.max(tools);
        let versions = (before.reading.toolset.version.ok(), now.reading.toolset.version.ok());
        if let (Some(old), Some(new)) = versions {
            result.versions.push(VersionCheck::new(found.name.clone(), old, new, step));
        }
        if !found.changes.is_empty() {
            result.documents.push(found);
        }
    }
    result
}

/// One document of a side.
struct SideDocument<'a> {
    /// With the path, from which code files are found.
    loaded: &'a LoadedDocument,
    /// The record. Documents without one are left out.
    reading: &'a Reading,
    name: String,
}

/// One tool of a side.
struct SideTool<'a> {
    id: String,
    /// Its name alone, without the namespace; `None` if it is not a valid one.
    name: Option<String>,
    draft: &'a Draft,
    /// The record as JSON, which is compared.
    record: Value,
    /// The place of its document in [`DiffSide::documents`].
    document: usize,
    /// Whether it was read from a file, which states how the tool is run.
    is_in_file: bool,
}

/// All documents and tools of one side.
struct DiffSide<'a> {
    documents: Vec<SideDocument<'a>>,
    tools: Vec<SideTool<'a>>,
}

impl<'a> DiffSide<'a> {
    /// Documents without a record are left out. A tool without a usable name gets an id made of its
    /// place.
    fn new(loaded: &'a [LoadedDocument]) -> DiffSide<'a> {
        let documents: Vec<SideDocument<'a>> = loaded
            .iter()
            .filter_map(|loaded| {
                let reading = loaded.reading.as_ref()?;
                let name = loaded.path.as_deref().map(display_name);
                let name =
                    name.unwrap_or_else(|| reading.origin.document().source().name().to_owned());
                Some(SideDocument { loaded, reading, name })
            })
            .collect();
        let mut tools = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let records = record::tools(document.reading, index, &CallLimits::default());
            let namespace = document.reading.toolset.namespace.ok();
            for (n, (draft, record)) in
                document.reading.toolset.tools.iter().zip(records).enumerate()
            {
                let id = draft.id(namespace).map(|id| id.to_string());
                tools.push(SideTool {
                    id: id.unwrap_or_else(|| format!("{}#{n}", document.name)),
                    name: draft.name.ok().map(ToString::to_string),
                    draft,
                    record,
                    document: index,
                    is_in_file: document.loaded.path.is_some(),
                });
            }
        }
        DiffSide { documents, tools }
    }
}

/// The documents that are versions of each other, by their places.
///
/// One document on each side is a pair, whatever its name: a user compares two files. Of several,
/// those with the same namespace are a pair, or with the same file name if they have none. An
/// ambiguous one has no partner.
///
/// A namespace and a file name never match each other: the flag in the key tells which one it is.
fn pair_documents(old: &DiffSide<'_>, new: &DiffSide<'_>) -> Vec<(usize, usize)> {
    if old.documents.len() == 1 && new.documents.len() == 1 {
        return vec![(0, 0)];
    }
    let key = |document: &SideDocument<'_>| {
        let namespace = document.reading.toolset.namespace.ok().map(ToString::to_string);
        let file = document.name.rsplit(['/', ':']).next().unwrap_or_default().to_owned();
        (namespace.is_none(), namespace.unwrap_or(file))
    };
    let keys: Vec<_> = old.documents.iter().map(key).collect();
    let found = new.documents.iter().enumerate().filter_map(|(n, document)| {
        let wanted = key(document);
        let mut same = keys.iter().enumerate().filter(|(_, key)| **key == wanted);
        let (index, _) = same.next()?;
        same.next().is_none().then_some((index, n))
    });
    found.collect()
}

/// What changed about a tool that is on both sides, and what that demands of its version.
///
/// Listed first is what can break a caller: the id, capabilities, schemas. Other parts demand a
/// patch at most, and the version itself nothing.
fn tool_diff(old: &SideTool<'_>, new: &SideTool<'_>) -> ToolDiff {
    let mut changes = Vec::new();
    let mut step = VersionStep::None;
    if old.id != new.id {
        // Callers name the tool by its id.
        changes.push(changed("id", Some(&json!(old.id)), Some(&json!(new.id))));
        step = VersionStep::Major;
    }
    let (before, now) = (&old.record, &new.record);
    step = step.max(capability_changes(before, now, &mut changes));
    let deferred = |tool: &SideTool<'_>| tool.draft.input.ok() == Some(&InputSchema::Deferred);
    let input = |tool: &SideTool<'_>| {
        tool.draft.input.ok().filter(|_| !deferred(tool)).map(InputSchema::to_json)
    };
    // An input that only the server knows is compared when it is known on both sides.
    if !(deferred(old) && deferred(new)) {
        let (old, new) =
            (written(&old.draft.input, input(old)), written(&new.draft.input, input(new)));
        step =
            step.max(schema_changes("inputSchema", old, new, SchemaDiff::input_step, &mut changes));
    }
    let (old_output, new_output) = (
        written(&old.draft.output, old.draft.output.ok().cloned()),
        written(&new.draft.output, new.draft.output.ok().cloned()),
    );
    let output = SchemaDiff::output_step;
    step = step.max(schema_changes("outputSchema", old_output, new_output, output, &mut changes));
    let mut others = Vec::new();
    for part in record_keys(before, now, &OTHER_TOOL_PARTS) {
        value_changes(part, "", before.get(part), now.get(part), &mut others);
    }
    let declared = |record: &Value| record["limits"]["declaredTimeoutMs"].clone();
    value_changes("limits", "", Some(&declared(before)), Some(&declared(now)), &mut others);
    // How a listed tool is run is the connection that it was listed over.
    if old.is_in_file && new.is_in_file {
        value_changes("binding", "", before.get("binding"), now.get("binding"), &mut others);
    }
    let version = |tool: &SideTool<'_>| tool.draft.version.ok().map(|v| json!(v.to_string()));
    let (old_version, new_version) = (version(old), version(new));
    if !others.is_empty() {
        step = step.max(VersionStep::Patch);
        changes.append(&mut others);
    }
    // A new version alone is a change to show, but demands nothing.
    if old_version != new_version {
        changes.push(changed("version", old_version.as_ref(), new_version.as_ref()));
    }
    ToolDiff { id: new.id.clone(), presence: ToolPresence::Changed, changes, step }
}

/// What changed about a document outside of its tools.
///
/// Instructions are not in the record of a toolset and are compared by themselves.
fn document_diff(old: &SideDocument<'_>, new: &SideDocument<'_>) -> DocumentDiff {
    let mut changes = Vec::new();
    let (before, now) = (record::toolset(old.reading), record::toolset(new.reading));
    let mut step = capability_changes(&before, &now, &mut changes);
    let mut others = Vec::new();
    for part in record_keys(&before, &now, &OTHER_DOCUMENT_PARTS) {
        value_changes(part, "", before.get(part), now.get(part), &mut others);
    }
    let instructions = |side: &SideDocument<'_>| side.reading.toolset.instructions.clone();
    let (one, other) = (instructions(old).map(Value::from), instructions(new).map(Value::from));
    value_changes("instructions", "", one.as_ref(), other.as_ref(), &mut others);
    code_changes(old, new, &mut others);
    if !others.is_empty() {
        step = step.max(VersionStep::Patch);
        changes.append(&mut others);
    }
    let version = |side: &SideDocument<'_>| {
        side.reading.toolset.version.ok().map(|version| json!(version.to_string()))
    };
    let (one, other) = (version(old), version(new));
    if one != other {
        changes.push(changed("version", one.as_ref(), other.as_ref()));
    }
    DocumentDiff { name: new.name.clone(), changes, step }
}

/// Files with code beside the definitions. Those of a revision or a server are not known.
///
/// Only names and hashes are compared; the contents of a file are never part of a report.
fn code_changes(old: &SideDocument<'_>, new: &SideDocument<'_>, changes: &mut Vec<PartChange>) {
    let is_file = |side: &SideDocument<'_>| side.loaded.path.as_ref().is_some_and(|p| p.is_file());
    if !is_file(old) || !is_file(new) {
        return;
    }
    let files = |side: &SideDocument<'_>| -> BTreeMap<String, ContentHash> {
        let files = code_files(side.reading, None).into_iter();
        files.map(|file| (file.name, file.hash)).collect()
    };
    let (before, now) = (files(old), files(new));
    let mut names: Vec<&String> = before.keys().chain(now.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let kind = match (before.get(name), now.get(name)) {
            (old, new) if old == new => continue,
            (None, _) => EditKind::Added,
            (_, None) => EditKind::Removed,
            _ => EditKind::Changed,
        };
        let part = "code".to_owned();
        changes.push(PartChange {
            part,
            at: name.clone(),
            kind,
            old: None,
            new: None,
            effect: None,
        });
    }
}

/// The members in which definitions write the schemas of a tool.
const SCHEMA_MEMBERS: [&str; 5] =
    ["inputSchema", "outputSchema", "input_schema", "output_schema", "parameters"];

/// What changed between two texts of one tool, prompt or document as they were written, member by
/// member. A side that is missing counts as empty.
///
/// For what is pinned, whose accepted form is kept as it was written, and not as a record. Schemas
/// are recognised by the name of the member. If a side is not an object, the whole text is one
/// change.
pub fn written_changes(old: Option<&Value>, new: Option<&Value>) -> Vec<PartChange> {
    let empty = Value::Object(serde_json::Map::new());
    let (old, new) = match (old, new) {
        (Some(Value::Object(_)) | None, Some(Value::Object(_)) | None) => {
            (old.unwrap_or(&empty), new.unwrap_or(&empty))
        }
        (old, new) => return vec![changed("text", old, new)],
    };
    let mut changes = Vec::new();
    for part in record_keys(old, new, &[]) {
        match (old.get(part), new.get(part)) {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_)))
                if SCHEMA_MEMBERS.contains(&part) =>
            {
                if old != new {
                    let (old, new) = (Some(old.clone()), Some(new.clone()));
                    schema_changes(part, old, new, SchemaDiff::input_step, &mut changes);
                }
            }
            (old, new) => value_changes(part, "", old, new, &mut changes),
        }
    }
    changes
}

/// A schema as the definition has it: the valid one, or the value that is not valid.
fn written<T>(field: &FieldValue<T>, valid: Option<Value>) -> Option<Value> {
    match field {
        FieldValue::Invalid(value) => Some(value.clone()),
        _ => valid,
    }
}

/// Adds the edits of a schema, and returns what they demand.
///
/// If the whole differs in a direction that no edit shows, a change of the whole is added: edits
/// may have an effect together that none has alone.
///
/// `step` decides by the direction: it is `SchemaDiff::input_step` for what a tool takes, where
/// accepting less is breaking, and `SchemaDiff::output_step` for what it returns. A schema that
/// appears or disappears demands a major step.
fn schema_changes(
    part: &str,
    old: Option<Value>,
    new: Option<Value>,
    step: fn(&SchemaDiff) -> VersionStep,
    changes: &mut Vec<PartChange>,
) -> VersionStep {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (None, None) => return VersionStep::None,
        // Whether it accepts what was sent before cannot be decided.
        (old, new) => {
            changes.push(changed(part, old.as_ref(), new.as_ref()));
            return VersionStep::Major;
        }
    };
    let diff = SchemaDiff::new(&old, &new);
    let shows = |direction: fn(&SchemaComparison) -> &Verdict| {
        *direction(&diff.effect) == Verdict::No
            || diff.edits.iter().any(|edit| {
                edit.effect.as_ref().is_some_and(|effect| *direction(effect) != Verdict::No)
            })
    };
    let is_explained = shows(|effect| &effect.wider) && shows(|effect| &effect.narrower);
    let demanded = step(&diff);
    let whole = SchemaEdit {
        at: String::new(),
        kind: EditKind::Changed,
        old: None,
        new: None,
        effect: Some(diff.effect),
    };
    // Edits that do something only together.
    let together = (!is_explained).then_some(whole);
    changes.extend(diff.edits.into_iter().chain(together).map(|edit| PartChange {
        part: part.to_owned(),
        at: edit.at,
        kind: edit.kind,
        old: edit.old,
        new: edit.new,
        effect: edit.effect,
    }));
    demanded
}

/// Capabilities by name. A new one asks for a grant that nobody gave.
///
/// So a new one is a major step, and one that is gone a patch: nobody relies on a right that the
/// tool no longer needs.
fn capability_changes(old: &Value, new: &Value, changes: &mut Vec<PartChange>) -> VersionStep {
    let names = |record: &Value| -> Vec<Value> {
        let list = record["capabilities"].as_array().into_iter().flatten();
        list.map(|capability| capability["name"].clone()).collect()
    };
    let (old, new) = (names(old), names(new));
    let mut step = VersionStep::None;
    for name in new.iter().filter(|name| !old.contains(name)) {
        changes.push(changed("capabilities", None, Some(name)));
        step = VersionStep::Major;
    }
    for name in old.iter().filter(|name| !new.contains(name)) {
        changes.push(changed("capabilities", Some(name), None));
        step = step.max(VersionStep::Patch);
    }
    step
}

/// The keys of two records, without some.
fn record_keys<'a>(old: &'a Value, new: &'a Value, without: &[&str]) -> Vec<&'a str> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return Vec::new() };
    keys_of_both(old, new).into_iter().filter(|key| !without.contains(key)).collect()
}

/// The differences of two values: objects member by member, lists of things that have an id item
/// by item. `null` counts as absent, as in the record.
///
/// Recurses into members, so a change deep in a value is reported at its own pointer. A list
/// without ids is compared as a whole.
fn value_changes(
    part: &str,
    at: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<PartChange>,
) {
    let present = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    let (old, new) = (present(old), present(new));
    if old == new {
        return;
    }
    let members = |value: &Option<Value>| match value {
        Some(Value::Object(members)) => Some(members.clone()),
        Some(value) => by_id(value),
        None => None,
    };
    match (members(&old), members(&new)) {
        (Some(old), Some(new)) => {
            for key in keys_of_both(&old, &new) {
                value_changes(part, &joined(at, key), old.get(key), new.get(key), changes);
            }
        }
        _ => changes
            .push(PartChange { at: at.to_owned(), ..changed(part, old.as_ref(), new.as_ref()) }),
    }
}

/// A list of objects by what identifies each; `None` for other lists.
///
/// `[{"id": "a", …}, {"id": "b", …}]` becomes `{"a": …, "b": …}`, so that an item that moves is not
/// a change. An id that occurs twice identifies nothing.
fn by_id(value: &Value) -> Option<serde_json::Map<String, Value>> {
    let list = value.as_array()?;
    let mut named = serde_json::Map::new();
    for item in list {
        let id = ["id", "name", "scenario", "type", "path"]
            .iter()
            .find_map(|key| item.get(key)?.as_str());
        if named.insert(id?.to_owned(), item.clone()).is_some() {
            return None;
        }
    }
    Some(named)
}

/// A change of a whole part.
fn changed(part: &str, old: Option<&Value>, new: Option<&Value>) -> PartChange {
    let kind = match (old, new) {
        (None, _) => EditKind::Added,
        (_, None) => EditKind::Removed,
        _ => EditKind::Changed,
    };
    PartChange {
        part: part.to_owned(),
        at: String::new(),
        kind,
        old: old.cloned(),
        new: new.cloned(),
        effect: None,
    }
}
