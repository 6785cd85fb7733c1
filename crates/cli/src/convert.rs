//! `toolwright convert`: writes a definition in another format, and reports what that one could not
//! hold. The work is in `toolwright_workspace`; here are the arguments and the files, and in
//! `loss_report` the report.
//!
//! The result goes to stdout or to a file, the report to stderr. Nothing is written if anything is
//! refused.
//!
//! ```text
//! sources ─ load (errors only) ─▶ convert, convert_together ─▶ Conversion of each document
//!                                                                ├─▶ joined ─▶ stdout, -o FILE
//!                                                                ├─▶ CallTable ─▶ --session FILE
//!                                                                └─▶ loss_report ─▶ stderr
//! ```
//!
//! Exits with 0 if all tools were written, with 1 if the source is refused, a field is missing, a
//! tool was left out, or a loss is denied.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde_json::Value as Json;
use toolwright_formats::WriteTarget;
use toolwright_source::render::visible;
use toolwright_workspace::vendor_calls::CallTable;
use toolwright_workspace::{
    CheckOptions, Conversion, ConvertError, ConvertOptions, FieldSetting, LoadResult,
    LoadedDocument, LossEffect, ReadOptions, RuleScope, convert, convert_together, replace_file,
};

use crate::args::{ConvertArgs, DiagnosticFormat, LossFormat};
use crate::messages::print_note;
use crate::output::{self, ExitStatus};
use crate::report::{self, plural};
use crate::sources::{self, PlanLog, SourceSearch};
use crate::{loss_report, start_progress};

/// Writes the converted document and the report.
///
/// ```text
/// one document           │ convert            │ written as it is, if that is possible
/// several, to a vendor   │ convert_together   │ one list with distinct names
/// several, other targets │ refused            │ each would become a file of its own
/// ```
///
/// # Errors
/// If nothing is named or found, a setting is wrong, the source is not one document, the async
/// runtime cannot start, the user interrupts, or a file cannot be written.
pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<ExitStatus> {
    let target = WriteTarget::by_id(&args.to)
        .with_context(|| format!("there is no target `{}`", args.to))?;
    if args.script && target != WriteTarget::WebMcp {
        bail!("`--script` writes the script of a web page; it needs `--to webmcp`");
    }
    let format = match args.losses {
        LossFormat::Json => DiagnosticFormat::Json,
        _ => DiagnosticFormat::Full,
    };
    let how = SourceSearch {
        command: "convert",
        starts: true,
        announced: format != DiagnosticFormat::Json,
    };
    let selected = sources::resolve(&args.selected, &how)?;
    // Findings are shown only if the source is refused, and most have no error. So files are
    // checked for errors alone; if there are some, they are read again for the report.
    let files = sources::paths_if_repeatable(&selected);
    let options = selected.reading.options(true);
    let load = match &files {
        Some(paths) => load_files(paths, ReadOptions { scope: RuleScope::Errors, ..options }),
        None => {
            check_loaded(sources::load_with(&selected, options, PlanLog::All(format))?, options)
        }
    };
    // Reads files a second time, with all rules: that is slower, and only needed if they are
    // refused.
    let show_findings = || match &files {
        Some(paths) => report::print_report(&load_files(paths, options), format),
        None => report::print_report(&load, format),
    };
    if !load.failures.is_empty() {
        return Ok(show_findings());
    }
    let documents: Vec<&LoadedDocument> =
        load.documents.iter().filter(|document| !document.secret).collect();
    // A request to a vendor has one list of all tools; other targets are documents of their own.
    if documents.len() != 1 && (documents.is_empty() || !matches!(target, WriteTarget::Vendor(_))) {
        let names: Vec<&str> = documents.iter().filter_map(|it| source_name(it)).collect();
        bail!(
            "the source has {} ({}), and each would become a document of its own; name one of them",
            plural(documents.len(), "document"),
            names.join(", ")
        );
    }
    let options = convert_options(args, target)?;
    // One document is written as it is where that is possible.
    let conversions = match documents.as_slice() {
        [document] => convert(document, &options).map(|conversion| vec![conversion]),
        documents => convert_together(documents, &options),
    };
    let converted: Vec<(&LoadedDocument, Conversion)> = match conversions {
        Ok(conversions) => documents.iter().copied().zip(conversions).collect(),
        Err(ConvertError::BadDocument) => {
            let _ = show_findings();
            if !args.force && documents.iter().all(|document| document.reading.is_some()) {
                print_note("nothing was converted; `--force` converts the tools without errors");
            }
            return Ok(ExitStatus::Findings);
        }
        Err(ConvertError::MissingFields(target, missing)) => {
            for missing in missing {
                print_note(&format!(
                    "error: {} needs `{}`: {}; give it with `--set {}=VALUE`",
                    target.id(),
                    missing.field,
                    missing.reason,
                    missing.field
                ));
            }
            return Ok(ExitStatus::Findings);
        }
        Err(error @ ConvertError::Setting(_)) => return Err(error.into()),
    };
    let mut text = joined(&converted)?;
    if args.script {
        // The document that was just written.
        text = toolwright_formats::webmcp_script(&serde_json::from_str(&text).unwrap_or_default());
    }
    finish(args, target, &converted, &text)
}

/// Reads files and folders, and runs the rules.
///
/// Called with the rules that can find errors, and with all of them for a report. The second time
/// only if the source is refused, see `run`.
fn load_files(paths: &[PathBuf], options: ReadOptions) -> LoadResult {
    check_loaded(sources::workspace().load(paths, options), options)
}

/// Adds what needs all documents: rules between them, comments that silence a code.
fn check_loaded(load: LoadResult, options: ReadOptions) -> LoadResult {
    let options = CheckOptions { read: options, ..CheckOptions::default() };
    sources::workspace().check_loaded(load, &[], &options).load
}

fn source_name(document: &LoadedDocument) -> Option<&str> {
    Some(document.reading.as_ref()?.origin.document().source().name())
}

/// The converted documents as one: the lists of vendors, one after the other. Only targets of
/// vendors have several documents here, and their names are distinct already.
///
/// # Errors
/// If a document is more than a list.
fn joined(converted: &[(&LoadedDocument, Conversion)]) -> anyhow::Result<String> {
    if let [(_, conversion)] = converted {
        return Ok(conversion.text.clone());
    }
    let mut all = Vec::new();
    for (document, conversion) in converted {
        match serde_json::from_str(&conversion.text)
            .context("the converted document is not a JSON list of tools")?
        {
            Json::Array(items) => all.extend(items),
            // A request with more than its tools, in the same format as the target.
            _ => bail!(
                "`{}` is more than a list of tools; convert it alone",
                source_name(document).unwrap_or_default()
            ),
        }
    }
    let whole = Json::Array(all);
    Ok(format!("{whole:#}\n"))
}

/// The options for the library. Losses are searched for only if somebody sees them, as that takes
/// longer than the conversion. `--set` takes `FIELD=VALUE`; the value may have further equals
/// signs.
fn convert_options(args: &ConvertArgs, target: WriteTarget) -> anyhow::Result<ConvertOptions> {
    let setting = |text: &String| {
        let (field, value) = text.split_once('=').ok_or_else(|| {
            anyhow!("`--set {text}`: expected FIELD=VALUE, such as `namespace=x`")
        })?;
        Ok(FieldSetting { field: field.to_owned(), value: value.to_owned() })
    };
    Ok(ConvertOptions {
        target,
        settings: args.set.iter().map(setting).collect::<anyhow::Result<_>>()?,
        leave_out_bad_tools: args.force,
        find_losses: args.losses != LossFormat::None || args.deny_loss.is_some(),
    })
}

/// Prints the report and writes the result, unless a loss is denied. The order: what is denied,
/// then the files, then the report, so the report never speaks of a file that is not there. A
/// denied loss stops the files and not the report, so that the reason is visible. `text` is the
/// document as it was joined; with several single tools it is not written itself.
///
/// # Errors
/// If a file cannot be written. Files that were written before it stay.
fn finish(
    args: &ConvertArgs,
    target: WriteTarget,
    converted: &[(&LoadedDocument, Conversion)],
    text: &str,
) -> anyhow::Result<ExitStatus> {
    let denied = denied_losses(args, converted)?;
    let single = single_tools(args, target, converted, text)?;
    // Files first: a report about a file that could not be written would mislead.
    let mut written = Vec::new();
    let mut write = |path: &Path, text: &str| {
        written.push(path.display().to_string());
        write_file(path, text)
    };
    if denied.is_empty() {
        if let Some(path) = &args.session {
            let tools = converted.iter().flat_map(|(_, conversion)| conversion.tools.clone());
            let table = CallTable::new(target, tools.collect());
            write(path, &format!("{:#}\n", table.to_json()))?;
        }
        match &args.output {
            Some(path) if !single.is_empty() => {
                let problem = || format!("cannot create the folder `{}`", path.display());
                std::fs::create_dir_all(path).with_context(problem)?;
                for (name, text) in &single {
                    write(&path.join(format!("{name}.json")), text)?;
                }
            }
            Some(path) => write(path, text)?,
            None => output::print_unfiltered(text)?,
        }
    }
    output::write_stderr(&loss_report::report(args.losses, target, converted));
    let left_out = || converted.iter().flat_map(|(_, conversion)| &conversion.left_out);
    if args.losses != LossFormat::Json {
        for name in left_out() {
            print_note(&format!("`{}` has errors and was left out", visible(name)));
        }
    }
    if !denied.is_empty() {
        let effects: Vec<&str> = denied.iter().map(|effect| effect.name()).collect();
        if args.losses != LossFormat::Json {
            print_note(&format!(
                "nothing was written: `--deny-loss` denies what is {}",
                effects.join(", ")
            ));
        }
        return Ok(ExitStatus::Findings);
    }
    let is_for_programs = matches!(args.losses, LossFormat::Json | LossFormat::Markdown);
    if !written.is_empty() && !is_for_programs {
        print_note(&format!("written: {}", start_progress::listed(&written)));
    }
    let is_complete = left_out().next().is_none();
    Ok(if is_complete { ExitStatus::Clean } else { ExitStatus::Findings })
}

/// The tools of an ikigai document as documents of their own, by name; empty if it has one tool. A
/// program describes itself, so no program reads a list of them. A document that was in this format
/// before stays one file, as its author wrote it.
///
/// # Errors
/// If the arguments name no folder for the files.
fn single_tools(
    args: &ConvertArgs,
    target: WriteTarget,
    converted: &[(&LoadedDocument, Conversion)],
    text: &str,
) -> anyhow::Result<Vec<(String, String)>> {
    let is_list = |(document, conversion): &(&LoadedDocument, Conversion)| {
        let format = document.reading.as_ref().map(|reading| reading.format);
        conversion.tools.len() > 1 && format != Some(target.format())
    };
    if target != WriteTarget::Ikigai || !converted.iter().any(is_list) {
        return Ok(Vec::new());
    }
    let written: Json =
        serde_json::from_str(text).context("the converted document is not a JSON list of tools")?;
    let tools = written["tools"].as_array().cloned().unwrap_or_default();
    // A folder that does not exist yet is named with a `/` at the end.
    let is_folder = |path: &PathBuf| {
        path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
    };
    if !args.output.as_ref().is_some_and(is_folder) {
        bail!(
            "an ikigai document describes one tool, and the source has {}; `-o DIR/` writes a file \
             for each into a folder",
            tools.len()
        );
    }
    let name = |tool: &Json| tool["name"].as_str().unwrap_or_default().to_owned();
    Ok(tools.iter().map(|tool| (name(tool), format!("{tool:#}\n"))).collect())
}

/// The effects that occur and are denied. `--deny-loss` alone denies all.
/// `--deny-loss=widened,dropped` denies these two; a word that does not name an effect is an error,
/// or a misspelled one would allow everything.
fn denied_losses(
    args: &ConvertArgs,
    converted: &[(&LoadedDocument, Conversion)],
) -> anyhow::Result<Vec<LossEffect>> {
    let Some(words) = &args.deny_loss else { return Ok(Vec::new()) };
    let effect = |word: &String| {
        LossEffect::by_name(word).ok_or_else(|| {
            let names = LossEffect::ALL.map(LossEffect::name).join(", ");
            anyhow!("`--deny-loss={word}`: expected one of {names}")
        })
    };
    let words = words.iter().filter(|word| !word.is_empty());
    let listed = words.map(effect).collect::<anyhow::Result<Vec<_>>>()?;
    let denied = if listed.is_empty() { LossEffect::ALL.to_vec() } else { listed };
    let losses = || converted.iter().flat_map(|(_, conversion)| &conversion.losses);
    let occurs = |effect: &LossEffect| losses().any(|loss| loss.effect == *effect);
    Ok(denied.into_iter().filter(occurs).collect())
}

/// Writes a file through a temporary one, so that nobody reads half of it. A change since it was
/// read is an error; pipes and devices are written to directly. The file is read here, a moment
/// before it is replaced; the old content serves this comparison only.
fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.display();
    // A pipe or a device is written to. Reading it before would wait for another program.
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return std::fs::write(path, text).with_context(|| format!("cannot write `{name}`"));
    }
    let before = match path.is_file() {
        true => Some(std::fs::read(path).with_context(|| format!("cannot read `{name}`"))?),
        false => None,
    };
    replace_file(path, before.as_deref(), text.as_bytes()).map_err(|error| anyhow!(error))
}
