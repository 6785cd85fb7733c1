//! Converting: a definition of one format as a document of another, with a list of everything that
//! the other could not hold.
//!
//! ```text
//! LoadedDocument… ─ sound tools ─ settings ─▶ Toolset<Tool>…
//!                                                │ naming: names that the target holds
//!                                                │ schemas: schemas that the target accepts
//!                                                ▼
//!                                       formats::write ──▶ text
//!                                                │            │ formats::read
//!                                                ▼            ▼
//!                        losses ◀── record_parts of both, compared ── losses of schemas
//! ```
//!
//! Losses of fields are derived and never listed by hand: the written document is read with the
//! target's own reader, and every part of the record that differs is one. So a writer cannot forget
//! to report.
//!
//! A document that is in the target's format already is not taken apart: it is written as it is.

mod format_support;
mod loss;
mod naming;
mod record_parts;
mod schemas;
mod settings;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolwright_formats::{MissingField, Reading, WriteTarget, WrittenDocument};
use toolwright_model::{Binding, Draft, Json, Server, Tool, ToolName, Toolset};
use toolwright_schema::{RequestPart, RestoreStep, SchemaCounts, VendorTarget};
use toolwright_source::codes::NUMBER_PRECISION;
use toolwright_source::{Document, DocumentPath, RecordPath, Severity, Syntax, words};

use crate::record::shown_connection;
use crate::{LoadedDocument, codes};

pub use format_support::{
    FormatSupport, PartSupport, SupportRow, SupportSubject, format_authority, format_support,
};
pub use loss::{ExactRewrite, Loss, LossEffect, Witness};
pub(crate) use naming::{VersionedId, names_for, with_versions};
pub use settings::{FieldSetting, SettingError};

use loss::LossList;

/// How a document is converted.
#[derive(Clone, Debug)]
pub struct ConvertOptions {
    /// What is written.
    pub target: WriteTarget,
    /// Fields that the user gives.
    pub settings: Vec<FieldSetting>,
    /// Whether tools with errors are left out, instead of refusing the document.
    pub leave_out_bad_tools: bool,
    /// Whether losses are looked for, which takes longer than converting.
    pub find_losses: bool,
}

/// A converted document.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The document as text.
    pub text: String,
    /// What the target could not hold, in the order of the source; empty unless losses are looked
    /// for.
    pub losses: Vec<Loss>,
    /// Parts of schemas that have another form and mean the same; empty unless losses are looked
    /// for.
    pub rewrites: Vec<ExactRewrite>,
    /// The tools, in the order of the output.
    pub tools: Vec<ConvertedTool>,
    /// The tools with errors that were left out, by name.
    pub left_out: Vec<String>,
    /// How much of what a request limits the schema of each tool has; empty unless losses are
    /// looked for.
    pub counts: Vec<SchemaCounts>,
    /// The characters of the description of each tool; empty unless losses are looked for.
    pub description_lengths: Vec<usize>,
}

impl Conversion {
    /// What all tools of these conversions together have more of than one request to `vendor` may
    /// have: the part, its number and the limit.
    pub fn beyond_request_limits<'c>(
        conversions: impl Iterator<Item = &'c Conversion> + Clone,
        vendor: VendorTarget,
    ) -> Vec<(RequestPart, usize, usize)> {
        let counts = || conversions.clone().flat_map(|conversion| &conversion.counts);
        let limits = vendor.request_limits().iter();
        limits
            .map(|(part, max)| (*part, counts().map(|tool| part.count(tool)).sum(), *max))
            .filter(|(_, count, max)| count > max)
            .collect()
    }

    /// The tools whose descriptions are longer than `vendor` accepts: the name in the output, the
    /// characters and the limit.
    pub fn long_descriptions(&self, vendor: VendorTarget) -> Vec<(&str, usize, usize)> {
        let Some(max) = vendor.max_description() else { return Vec::new() };
        let tools = self.tools.iter().zip(&self.description_lengths);
        let long = tools.filter(|(_, length)| **length > max);
        long.map(|(tool, length)| (tool.name.as_str(), *length, max)).collect()
    }
}

/// A tool of a converted document.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertedTool {
    /// The id in the source, with the version (`a:b:1.0.0`) where the source has several.
    pub id: String,
    /// The name in the output.
    pub name: String,
    /// How calls of the output become calls of the source.
    pub steps: Vec<RestoreStep>,
}

/// Why a document was not converted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// Its format is unknown, or it has errors; its diagnostics tell which.
    #[error("the document has errors")]
    BadDocument,
    /// The target demands fields that the source does not have.
    #[error("{} needs what the source does not have: {}", .0.id(), list_missing(.1))]
    MissingFields(WriteTarget, Vec<MissingField>),
    /// A field that the user gave does not exist or has a wrong value.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

fn list_missing(missing: &[MissingField]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Converts a document that was read with all rules.
///
/// # Errors
/// If the document has errors, lacks fields that the target demands, or a setting is wrong.
///
/// A document that is in the target's format already is copied, if nothing of it is left out and no
/// setting changes it: then there is no loss to look for.
pub fn convert(
    loaded: &LoadedDocument,
    options: &ConvertOptions,
) -> Result<Conversion, ConvertError> {
    let source = SoundTools::of(loaded, options)?;
    if source.left_out.is_empty()
        && source.repeated.is_empty()
        && options.settings.is_empty()
        && let Some(text) = as_it_is(source.reading, options.target)
    {
        return Ok(unchanged(source.reading, text));
    }
    let mut conversions = convert_all(vec![source], options)?;
    conversions.pop().ok_or(ConvertError::BadDocument)
}

/// Converts documents whose tools are sent in one request: no two tools get the same name, and
/// versions of one tool in different documents are told apart. The conversions have the order of
/// the documents.
///
/// # Errors
/// As [`convert`], for the first document that has an error.
///
/// None of them is copied as it is: a name may have to change because of another document.
pub fn convert_together(
    documents: &[&LoadedDocument],
    options: &ConvertOptions,
) -> Result<Vec<Conversion>, ConvertError> {
    let sources = documents.iter().map(|loaded| SoundTools::of(loaded, options));
    convert_all(sources.collect::<Result<_, _>>()?, options)
}

/// Converts documents that go into one request together.
///
/// Names are chosen for all toolsets before any is written, so that no two tools get the same one.
fn convert_all(
    sources: Vec<SoundTools<'_>>,
    options: &ConvertOptions,
) -> Result<Vec<Conversion>, ConvertError> {
    let mut toolsets: Vec<Toolset<Tool>> = sources.iter().map(SoundTools::kept).collect();
    settings::apply(&mut toolsets, &options.settings)?;
    // Only a report needs the records as they were.
    let before = options.find_losses.then(|| toolsets.clone());
    let mut before = before.into_iter().flatten();
    let mut ids = naming::ids(&toolsets).into_iter();
    naming::choose_names(&mut toolsets, options.target);
    let converted = sources.into_iter().zip(toolsets).map(|(source, toolset)| {
        let own = ids.by_ref().take(toolset.tools.len()).collect();
        convert_named(source, toolset, own, before.next(), options)
    });
    converted.collect()
}

/// Converts tools that have their names in the target. `before` is their record with the names of
/// the source, if losses are looked for.
///
/// The toolset changes on the way: its schemas become those of the target, and the writer consumes
/// it. What a report needs of it is copied before.
fn convert_named(
    source: SoundTools<'_>,
    mut toolset: Toolset<Tool>,
    ids: Vec<String>,
    before: Option<Toolset<Tool>>,
    options: &ConvertOptions,
) -> Result<Conversion, ConvertError> {
    let SoundTools { reading, sound, repeated, left_out } = source;
    let target = options.target;
    let mut losses = LossList::new(reading, &sound, ids, target);
    let steps = schemas::rewrite(&mut toolset, target, options.find_losses, &mut losses);
    let names: Vec<String> = toolset.tools.iter().map(|tool| tool.name.to_string()).collect();
    // Only a report needs what was written.
    let sent = options.find_losses.then(|| toolset.clone());
    let written = toolwright_formats::write(target, toolset).map_err(|missing| {
        ConvertError::MissingFields(target, in_source_names(missing, reading, &sound, &names))
    })?;
    let text = written.text();
    let (mut counts, mut description_lengths) = (Vec::new(), Vec::new());
    if let Some((before, sent)) = before.zip(sent) {
        counts = sent.tools.iter().map(|tool| SchemaCounts::of(&tool.input.to_json())).collect();
        let length = |tool: &Tool| tool.description.as_ref().map_or(0, |it| it.chars().count());
        description_lengths = sent.tools.iter().map(length).collect();
        compare_records(&before, &sent, &steps, &text, &written, &mut losses);
        add_inexact_numbers(reading, &sound, &mut losses);
        for n in repeated {
            let part = format!("tools/{n}");
            let reason = "another tool has its id, and a call of the id means the first one";
            losses.add(None, &format!("/{part}"), &part, LossEffect::Dropped, reason.to_owned());
        }
    }
    let tools = losses.take_ids().into_iter().zip(names).zip(steps);
    let tools = tools.map(|((id, name), steps)| ConvertedTool { id, name, steps }).collect();
    let (losses, rewrites) =
        if options.find_losses { losses.into_sorted() } else { (Vec::new(), Vec::new()) };
    Ok(Conversion { text, losses, rewrites, tools, left_out, counts, description_lengths })
}

/// The tools of a document that can be converted.
///
/// Sound is a tool that is complete and has no error diagnostic below its place.
struct SoundTools<'l> {
    reading: &'l Reading,
    /// Their numbers in the record, in order.
    sound: Vec<usize>,
    /// The numbers of the tools that a call cannot mean. Only running servers may list such tools.
    repeated: Vec<usize>,
    /// The names of the tools with errors.
    left_out: Vec<String>,
}

impl<'l> SoundTools<'l> {
    /// An error if the document has errors, unless the tools with errors are left out.
    fn of(
        loaded: &'l LoadedDocument,
        options: &ConvertOptions,
    ) -> Result<SoundTools<'l>, ConvertError> {
        let Some(reading) = &loaded.reading else { return Err(ConvertError::BadDocument) };
        let (sound, left_out) = sound_tools(reading, loaded);
        let has_errors = has_errors(loaded) || !left_out.is_empty();
        if has_errors && (!options.leave_out_bad_tools || sound.is_empty()) {
            return Err(ConvertError::BadDocument);
        }
        let repeated = repeated_tools(&reading.toolset, &sound);
        let sound = match repeated.is_empty() {
            true => sound,
            false => sound.into_iter().filter(|n| !repeated.contains(n)).collect(),
        };
        Ok(SoundTools { reading, sound, repeated, left_out })
    }

    /// The toolset with these tools alone.
    fn kept(&self) -> Toolset<Tool> {
        let mut toolset = self.reading.toolset.clone();
        let drafts = std::mem::take(&mut toolset.tools).into_iter().enumerate();
        let kept = drafts.filter(|(n, _)| self.sound.binary_search(n).is_ok());
        let finished = kept.filter_map(|(_, draft)| draft.finish().ok()).collect();
        let mut toolset = toolset.with_tools(finished);
        if self.reading.origin.document().source().is_answer() {
            hide_settings(&mut toolset);
        }
        toolset
    }
}

/// Removes the secrets that the settings of a live server hold. Its definition is made to be
/// handed on, and they are this machine's.
fn hide_settings(toolset: &mut Toolset<Tool>) {
    let hide = |server: &mut Arc<Server>| {
        let mut own = Server::clone(server);
        own.connection = shown_connection(server);
        own.shown = None;
        own.environment.iter_mut().for_each(|variable| variable.value = None);
        *server = Arc::new(own);
    };
    toolset.server.iter_mut().for_each(hide);
    for tool in &mut toolset.tools {
        if let Binding::Server { server, .. } = &mut tool.details.binding {
            hide(server);
        }
    }
}

/// The fields by the names that the tools have in the source, as settings take them.
///
/// The writer knows tools by the names in the output. A field of the toolset has no tool and stays.
fn in_source_names(
    mut missing: Vec<MissingField>,
    reading: &Reading,
    sound: &[usize],
    names: &[String],
) -> Vec<MissingField> {
    for missing in &mut missing {
        let Some((name, field)) = missing.field.rsplit_once('.') else { continue };
        let number = names.iter().position(|own| own == name);
        let number = number.and_then(|n| sound.get(n));
        if let Some(name) = number.and_then(|n| reading.toolset.tools[*n].name.ok()) {
            missing.field = format!("{name}.{field}");
        }
    }
    missing
}

/// Whether a diagnostic forbids to use the definition.
fn has_errors(loaded: &LoadedDocument) -> bool {
    let mut errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.any(|d| !codes::is_advice(d.code))
}

/// The numbers of the tools without an error, and the names of the others.
///
/// A name that several tools have is followed by the number of the tool, counted from 1.
fn sound_tools(reading: &Reading, loaded: &LoadedDocument) -> (Vec<usize>, Vec<String>) {
    let tools = &reading.toolset.tools;
    let errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let errors: Vec<&DocumentPath> =
        errors.filter(|d| !codes::is_advice(d.code)).map(|d| &d.path).collect();
    let path = |n: usize| reading.origin.document_path(&RecordPath::root().child("tools").child(n));
    // A single tool may be the whole document, and then everything in it is about the tool.
    let has_own_error = |n: usize| {
        let at = path(n);
        errors.iter().any(|error| error.below(&at).is_some())
    };
    // Most documents have no error, and need no paths of their tools.
    let is_bad = |n: usize| !tools[n].is_complete() || !errors.is_empty() && has_own_error(n);
    let bad: HashSet<usize> = (0..tools.len()).filter(|n| is_bad(*n)).collect();
    // Tools of one name are told apart by their numbers.
    let mut seen = HashSet::new();
    let names = tools.iter().filter(|_| !bad.is_empty()).filter_map(|tool| tool.name.ok());
    let repeated: HashSet<&ToolName> = names.filter(|name| !seen.insert(*name)).collect();
    let name = |n: &usize| match tools[*n].name.ok() {
        Some(name) if repeated.contains(name) => format!("{name} (tool {})", n + 1),
        Some(name) => name.to_string(),
        None => format!("tool {}", n + 1),
    };
    let sound = (0..tools.len()).filter(|n| !bad.contains(n)).collect();
    (sound, (0..tools.len()).filter(|n| bad.contains(n)).map(|n| name(&n)).collect())
}

/// The numbers of the tools whose id an earlier tool has: in the same version, or one of the two
/// has no version. A call of the id means the earlier one, as in the registry of the runner.
fn repeated_tools(toolset: &Toolset<Draft>, tools: &[usize]) -> Vec<usize> {
    let id = |n: &usize| {
        let tool = &toolset.tools[*n];
        (tool.namespace.ok().or(toolset.namespace.ok()), tool.name.ok())
    };
    // Most documents have every id once.
    let mut seen = HashSet::with_capacity(tools.len());
    if tools.iter().all(|n| seen.insert(id(n))) {
        return Vec::new();
    }
    let mut versions: HashMap<_, Vec<Option<String>>> = HashMap::new();
    let is_repeated = |n: &usize| {
        let own = toolset.tools[*n].version.ok().map(|version| version.release());
        let known = versions.entry(id(n)).or_default();
        let conflicts = |other: &Option<String>| own.is_none() || other.is_none() || own == *other;
        let is_repeated = known.iter().any(conflicts);
        if !is_repeated {
            known.push(own);
        }
        is_repeated
    };
    tools.iter().copied().filter(is_repeated).collect()
}

/// The text of a document that is in the target's format: as it was written, if the syntax is that
/// of the target, otherwise as JSON.
///
/// AIOS in YAML is kept to the byte. All others become JSON with the numbers as they are written.
fn as_it_is(reading: &Reading, target: WriteTarget) -> Option<String> {
    let document = reading.origin.document();
    let is_manifest = reading.dialect.is_some();
    let is_same = reading.format == target.format()
        && match target {
            WriteTarget::Btcp => is_manifest,
            WriteTarget::BtcpTool => !is_manifest,
            WriteTarget::Aios | WriteTarget::Ikigai | WriteTarget::Mcp | WriteTarget::WebMcp => {
                true
            }
            // The vendors' targets decide about fields such as `strict`.
            WriteTarget::McpPlain | WriteTarget::Vendor(_) => false,
        };
    if !is_same {
        return None;
    }
    let is_yaml = document.syntax() == Syntax::Yaml;
    Some(match (target, is_yaml) {
        // With its comments.
        (WriteTarget::Aios, true) => document.source().text().to_owned(),
        (WriteTarget::Aios, false) => toolwright_source::yaml_document(&document.root().to_json()),
        _ => document.root().json_text() + "\n",
    })
}

/// A conversion that changed nothing.
fn unchanged(reading: &Reading, text: String) -> Conversion {
    let namespace = reading.toolset.namespace.ok();
    let named =
        reading.toolset.tools.iter().filter_map(|draft| Some((draft.id(namespace)?, draft)));
    let (names, ids): (Vec<String>, Vec<VersionedId<'_>>) = named
        .map(|(id, draft)| (id.name.to_string(), (id.to_string().into(), draft.version.ok())))
        .unzip();
    let tools = with_versions(ids).into_iter().zip(names);
    let tool = |(id, name)| ConvertedTool { id, name, steps: Vec::new() };
    Conversion {
        text,
        losses: Vec::new(),
        rewrites: Vec::new(),
        tools: tools.map(tool).collect(),
        left_out: Vec::new(),
        counts: Vec::new(),
        description_lengths: Vec::new(),
    }
}

/// Adds a loss for every number of the source that the record cannot hold as it is written.
///
/// The parser has noted whether there are any (`NUMBER_PRECISION`), so most documents are not
/// searched. A number inside of a part that is dropped anyway is not a loss of its own.
fn add_inexact_numbers(reading: &Reading, sound: &[usize], losses: &mut LossList<'_>) {
    let document = reading.origin.document();
    if !document.problems().iter().any(|problem| problem.code.name == NUMBER_PRECISION.name) {
        return;
    }
    let tool = |n: &usize| RecordPath::root().child("tools").child(*n);
    let tools: Vec<DocumentPath> =
        sound.iter().map(|n| reading.origin.document_path(&tool(n))).collect();
    for node in document.root().inexact_numbers() {
        let at = node.pointer();
        if losses.has_dropped(&at) {
            continue;
        }
        let own = tools.iter().enumerate().find_map(|(n, tool)| Some((n, at.below(tool)?)));
        let (tool, part) = own.map_or((None, at.clone()), |(n, part)| (Some(n), part));
        let (before, after) = (words::shorten(node.raw()), node.to_json());
        let is_zero = after.as_f64() == Some(0.0);
        let cause = match &after {
            // `.inf` and `.nan` of YAML.
            _ if node.raw().contains(['n', 'N']) => "is not a number of JSON",
            Json::Null => "is too large for a double",
            _ if is_zero => "is too small for a double",
            _ => "has more digits than a double",
        };
        let reason = format!("`{before}` {cause}, and is read as `{after}`");
        let part = part.as_str().trim_start_matches('/');
        losses.add_at(tool, at.clone(), part, LossEffect::Approximated, reason);
    }
}

/// A tool of the source, and the same one read back, with examples that can be compared: in the
/// form of the target, and by their numbers in the source, though some of them are not written.
///
/// Of the vendors only Anthropic takes examples, and only arguments that are an object. An example
/// that is not written stands opposite an empty one, so that it counts as dropped.
fn with_examples_of<'t>(
    sent: &Tool,
    source: &'t Tool,
    back: &'t Tool,
    target: WriteTarget,
) -> (Cow<'t, Tool>, Cow<'t, Tool>) {
    use toolwright_schema::VendorTarget::{Anthropic, AnthropicStrict};
    let has_examples = matches!(target.vendor(), Some(Anthropic | AnthropicStrict));
    if !has_examples || sent.details.examples.is_empty() {
        return (Cow::Borrowed(source), Cow::Borrowed(back));
    }
    let (mut source, mut back) = (source.clone(), back.clone());
    let mut read = std::mem::take(&mut back.details.examples).into_iter();
    for (own, sent) in source.details.examples.iter_mut().zip(&sent.details.examples) {
        own.input.clone_from(&sent.input);
        let is_written = sent.error.is_none() && sent.input.as_ref().is_some_and(Json::is_object);
        let own = if is_written { read.next() } else { None };
        back.details.examples.push(own.unwrap_or_default());
    }
    back.details.examples.extend(read);
    (Cow::Owned(source), Cow::Owned(back))
}

/// Reads the written document and adds a loss for everything that differs.
///
/// Three forms of each tool take part: `source` as the document has it, `sent` as it was handed to
/// the writer, and the one that was read back. Fields are compared between the first and the last,
/// schemas between all three.
fn compare_records(
    source: &Toolset<Tool>,
    sent: &Toolset<Tool>,
    steps: &[Vec<RestoreStep>],
    text: &str,
    written: &WrittenDocument,
    losses: &mut LossList<'_>,
) {
    let target = losses.target();
    let document = Arc::new(Document::parse("converted", text.as_bytes(), written.syntax));
    let read = toolwright_formats::read(&document, target.format()).toolset;
    let own = read.tools.clone().into_iter().map(Draft::finish).collect::<Result<Vec<_>, _>>();
    // A tool that cannot be read back would be a mistake of a writer; all of it counts as lost.
    let back = read.with_tools(own.unwrap_or_default());
    naming::compare_namespaces(source, &back, target, losses);
    losses.compare(None, &record_parts::toolset_parts(source), &record_parts::toolset_parts(&back));
    for (n, tool) in source.tools.iter().enumerate() {
        let Some(own) = back.tools.get(n) else {
            losses.tool_is_gone(n);
            continue;
        };
        let (tool, own) = &with_examples_of(&sent.tools[n], tool, own, target);
        naming::compare_names(tool, source, own, &back, n, losses);
        losses.compare(
            Some(n),
            &record_parts::tool_parts(tool, source),
            &record_parts::tool_parts(own, &back),
        );
        let forms = [tool, &sent.tools[n], own];
        schemas::compare_written(forms, &steps[n], target, n, losses);
    }
}
