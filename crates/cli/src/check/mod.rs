//! `toolwright check`: every rule held against definitions, what is wrong shown at its place, and
//! what can be repaired repaired.

mod fix;
mod scripts;
mod selection;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use toolwright_catalog::{Load, Loaded, Plan, Reader, codes, in_parallel, is_stdin, subject};
use toolwright_formats::Reading;
use toolwright_model::{Details, Draft, Toolset};
use toolwright_source::render::{self, Colour};
use toolwright_source::{Diagnostic, Origin, Severity, locate};

use self::selection::Selection;
use crate::args::{CheckArgs, CheckForm};
use crate::output::{self, Exit};
use crate::report::{self, plural};
use crate::sources;

/// Beyond this many in one run, only the other forms show all.
const MANY: usize = 200;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    if args.diff && !matches!(args.output_format, CheckForm::Full | CheckForm::Concise) {
        bail!("a diff is for people: `--diff` goes with the forms `full` and `concise`");
    }
    let plan = configured(args)?;
    let levels = plan.as_ref().map(|plan| plan.levels.clone()).unwrap_or_default();
    let selection = Selection::new(args, levels)?;
    let mut load = load(args, plan)?;
    let fixes = match fix::Mode::of(args) {
        Some(mode) => fix::run(mode, &mut load, &selection),
        None => fix::Fixes::default(),
    };
    let found = load.files.iter_mut().map(|file| std::mem::take(&mut file.diagnostics)).collect();
    let mut judged = judge(&load.files, found, &selection);
    each(&load.files, &mut judged, |file, diagnostics| fix::prove(file, diagnostics, &selection));
    for taken_back in &fixes.taken_back {
        judged[*taken_back]
            .iter_mut()
            .filter_map(|d| d.fix.as_mut())
            .for_each(|fix| fix.safe = false);
    }
    for (file, diagnostics) in load.files.iter_mut().zip(judged) {
        file.diagnostics = diagnostics;
    }
    output::print(&fixes.diff)?;
    if fixes.diff.is_empty() || args.output_format != CheckForm::Full {
        show(&load, &fixes, args)?;
    }
    let nothing = load.files.is_empty() && !load.failures.is_empty();
    if matches!(args.output_format, CheckForm::Full | CheckForm::Concise) && !nothing {
        output::print(&summary(&load, &fixes, args))?;
    }
    for failure in &load.failures {
        output::complain(&failure.clone().into());
    }
    let exit = exit(&load, &fixes, args);
    // The process ends here, and giving back ten thousand documents piece by piece takes its time.
    std::mem::forget(load);
    Ok(exit)
}

/// What the configuration asks for, if there is one: the one named, else the one found from here.
fn configured(args: &CheckArgs) -> anyhow::Result<Option<Plan>> {
    let Some(path) = sources::configuration(args.chosen.config.as_deref())? else {
        return Ok(None);
    };
    let plan = Plan::of_config(&path, &sources::variable);
    if let Some(error) = plan.unread() {
        return Err(error.clone().into());
    }
    // Without its levels nobody can say what is an error. What is wrong with a source is told with
    // what is wrong with its tools.
    let broken = |d: &&Diagnostic| {
        let mut tokens = d.path.tokens();
        let first = tokens.next();
        first.is_none()
            || first == Some("levels".into())
            || d.code.name == "UNKNOWN_KEY" && tokens.next().is_none()
    };
    if let Some(diagnostic) = plan.diagnostics.iter().find(broken) {
        bail!("{}", sources::in_a_line(diagnostic));
    }
    Ok(Some(plan))
}

pub(super) fn reader(args: &CheckArgs) -> Reader {
    args.chosen.manner.reader(true)
}

fn load(args: &CheckArgs, configured: Option<Plan>) -> anyhow::Result<Load> {
    let (scripts, mut others): (Vec<String>, Vec<String>) =
        args.chosen.sources.iter().cloned().partition(|source| scripts::is_script(source.as_ref()));
    let mut is_read = false;
    others.retain(|source| !is_stdin(source.as_ref()) || !std::mem::replace(&mut is_read, true));
    if is_read && fix::Mode::of(args).is_some() {
        sources::note("what comes from standard input is not repaired: name its file");
    }
    let mut load = if !others.is_empty() || !args.chosen.command.is_empty() {
        let then = if fix::Mode::of(args).is_some() { |_: &mut Loaded| {} } else { shed };
        sources::load_named(&others, &args.chosen.command, reader(args), then)?
    } else if !scripts.is_empty() {
        Load::default()
    } else if let Some(mut plan) = configured {
        if plan.specs.is_empty() && plan.diagnostics.is_empty() && plan.failures.is_empty() {
            bail!("the configuration names no source; name what to check");
        }
        for spec in &mut plan.specs {
            let Reader { format, compat, rules } = reader(args);
            spec.reader = Reader {
                format: format.or(spec.reader.format),
                compat: compat || spec.reader.compat,
                rules,
            };
        }
        sources::load_plan(plan)?
    } else {
        bail!(
            "name what to check: files, folders, `-`, a URL, an `mcpServers` file or `-- COMMAND` (there is no `toolwright.toml` here or above)"
        );
    };
    // One source has no file twice.
    if others.len() != 1 {
        once(&mut load.files);
    }
    scripts::add(&scripts, &mut load);
    Ok(load)
}

/// Leaves of a record what is looked at after its rules were: names, and what its tools run. Ten
/// thousand whole records are a quarter of a gigabyte.
fn shed(loaded: &mut Loaded) {
    let Some(reading) = &mut loaded.reading else { return };
    let Toolset { namespace, tools, .. } = std::mem::take(&mut reading.toolset);
    let names = |Draft { name, namespace, details, .. }| {
        let details = Details { binding: details.binding, ..Details::default() };
        Draft { name, namespace, details, ..Draft::default() }
    };
    let mut tools: Vec<Draft> = tools.into_iter().map(names).collect();
    tools.shrink_to_fit();
    reading.toolset = Toolset { namespace, tools, ..Toolset::default() };
    reading.findings = Vec::new();
}

/// A file that was named twice, or lies in a folder that was named as well, is one file.
fn once(files: &mut Vec<Loaded>) {
    let mut seen = HashSet::new();
    files.retain(|file| {
        let path = file.path.as_ref().and_then(|path| path.canonicalize().ok());
        path.is_none_or(|path| seen.insert(path))
    });
}

/// What is to be reported about each file, of what was `found` in it: with what is wrong between
/// the documents, without what comments silence, and with the weight it has here.
pub(super) fn judge(
    files: &[Loaded],
    mut found: Vec<Vec<Diagnostic>>,
    selection: &Selection,
) -> Vec<Vec<Diagnostic>> {
    for (n, diagnostic) in between(files) {
        found[n].push(diagnostic);
    }
    each(files, &mut found, |file, diagnostics| {
        diagnostics.extend(scripts::missing(file));
        settle(file, diagnostics, selection);
    });
    found
}

/// Does something with what was found in each file, on all cores.
fn each(
    files: &[Loaded],
    found: &mut [Vec<Diagnostic>],
    work: impl Fn(&Loaded, &mut Vec<Diagnostic>) + Sync,
) {
    let each: Vec<_> = files.iter().zip(found.iter_mut().map(Mutex::new)).collect();
    in_parallel(&each, |(file, diagnostics)| {
        work(file, &mut diagnostics.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// What is to be reported about one document: without what comments silence, with its weight, in
/// order.
pub(super) fn settle(file: &Loaded, diagnostics: &mut Vec<Diagnostic>, selection: &Selection) {
    if let Some(reading) = &file.reading {
        toolwright_check::silence(reading.origin.document(), diagnostics, codes::all());
    }
    selection.apply(diagnostics);
    render::sort(diagnostics);
}

/// What is wrong between the documents, each with the file it is told at.
fn between(files: &[Loaded]) -> Vec<(usize, Diagnostic)> {
    let read: Vec<(usize, &Reading)> = files
        .iter()
        .enumerate()
        .filter_map(|(n, file)| Some((n, file.reading.as_ref()?)))
        .collect();
    let subjects: Vec<_> = read.iter().map(|(_, reading)| subject(reading)).collect();
    let found = toolwright_check::check_together(&subjects);
    let located = found.into_iter().map(|(n, finding)| {
        let (file, reading) = read[n];
        (file, locate(finding, &Origin::whole(reading.origin.document())))
    });
    located.collect()
}

fn show(load: &Load, fixes: &fix::Fixes, args: &CheckArgs) -> anyhow::Result<()> {
    let all = || load.files.iter().flat_map(|file| file.diagnostics.iter().map(move |d| (file, d)));
    let text = match args.output_format {
        CheckForm::Full => {
            let secrets: HashSet<(&str, usize)> =
                all().filter_map(|(_, d)| secret_line(d)).collect();
            let shown = all().take(MANY).map(|(file, diagnostic)| {
                match file.secret || hides(diagnostic, &secrets) {
                    true => format!("{}\n\n", render::concise(diagnostic)),
                    false => format!("{}\n\n", render::full(diagnostic, Colour::On)),
                }
            });
            let mut text: String = shown.collect();
            if let Some(hidden) = all().count().checked_sub(MANY).filter(|n| *n > 0) {
                text += &format!("… and {hidden} more (`--output-format concise` shows all)\n\n");
            }
            text
        }
        CheckForm::Concise => {
            // Nothing in it is for a terminal to obey, so nothing needs to be taken out for what is
            // none.
            return output::print_raw(&lines(&load.files, render::concise));
        }
        CheckForm::Json => lines(&load.files, render::json),
        CheckForm::Github => lines(&load.files, render::github),
        CheckForm::Sarif => {
            let unread = load.failures.iter().map(ToString::to_string);
            let failures: Vec<String> = unread.chain(fixes.refused.iter().cloned()).collect();
            render::sarif(all().map(|(_, d)| d), &failures, env!("CARGO_PKG_VERSION")) + "\n"
        }
    };
    output::print(&text)
}

/// A line for each diagnostic.
fn lines(files: &[Loaded], line: fn(&Diagnostic) -> String) -> String {
    let written = in_parallel(files, |file| -> String {
        file.diagnostics.iter().map(|diagnostic| line(diagnostic) + "\n").collect()
    });
    written.concat()
}

/// The line of a secret, which is not to be copied into a log.
fn secret_line(diagnostic: &Diagnostic) -> Option<(&str, usize)> {
    let is_secret = diagnostic.code.name == "SECRET_IN_DEFINITION";
    diagnostic.line_column().filter(|_| is_secret).map(|(line, _)| (diagnostic.source.name(), line))
}

/// Whether a diagnostic would show a line with a secret.
fn hides(diagnostic: &Diagnostic, secrets: &HashSet<(&str, usize)>) -> bool {
    let (source, name) = (&diagnostic.source, diagnostic.source.name());
    let spans = diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span));
    !secrets.is_empty()
        && spans.into_iter().any(|span| {
            let lines = [span.start, span.end].map(|byte| source.line_column(byte as usize).line);
            (lines[0]..=lines[1]).any(|line| secrets.contains(&(name, line)))
        })
}

/// `12 tools in 5 files: 2 errors, 3 warnings, 1 fixable`.
fn summary(load: &Load, fixes: &fix::Fixes, args: &CheckArgs) -> String {
    let all = || load.files.iter().flat_map(|file| &file.diagnostics);
    let mut found: Vec<String> =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")]
            .into_iter()
            .map(|(severity, word)| (all().filter(|d| d.severity == severity).count(), word))
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| plural(n, word))
            .collect();
    // What a server says cannot be repaired from here.
    let in_files =
        || load.files.iter().filter(|file| file.path.is_some()).flat_map(|file| &file.diagnostics);
    let fixable =
        |safe| in_files().filter(|d| d.fix.as_ref().is_some_and(|fix| fix.safe == safe)).count();
    match (fixable(true), fixable(false)) {
        (0, 0) => {}
        (safe, 0) => found.push(format!("{safe} fixable")),
        (0, risky) => found.push(format!("{risky} fixable with `--unsafe-fixes`")),
        (safe, risky) => found.push(format!("{safe} fixable, {risky} more with `--unsafe-fixes`")),
    }
    if fixes.applied > 0 {
        found.insert(
            0,
            format!("{} {}", fixes.applied, if args.diff { "would be fixed" } else { "fixed" }),
        );
    }
    let tools = load.files.iter().flat_map(|f| &f.reading).map(|r| r.toolset.tools.len()).sum();
    let found = if found.is_empty() { "nothing to report".to_owned() } else { found.join(", ") };
    let text =
        format!("{} in {}: {found}\n", plural(tools, "tool"), plural(load.files.len(), "file"));
    text + &report::left_out(load)
}

fn exit(load: &Load, fixes: &fix::Fixes, args: &CheckArgs) -> Exit {
    let limit = args.fail_on.severity();
    let failing = load.files.iter().flat_map(|file| &file.diagnostics);
    if !load.failures.is_empty() || !fixes.refused.is_empty() {
        Exit::CouldNotRun
    } else if limit.is_some_and(|limit| failing.into_iter().any(|d| d.severity >= limit))
        || args.diff && fixes.applied > 0
    {
        Exit::Findings
    } else {
        Exit::Clean
    }
}
