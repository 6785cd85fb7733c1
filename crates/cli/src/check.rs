//! `toolwright check`: checks definitions, fixes them on request, and prints the findings.
//!
//! ```text
//! arguments, toolwright.toml ─▶ CheckOptions ─┐
//! files, or sources::load_* ──────────────────┴─ Workspace::check ─▶ CheckReport ─▶ text, status
//! ```
//!
//! This file turns arguments into options and findings into text. Rules are in `toolwright_check`,
//! selection of codes and fixes in `toolwright_workspace`, the output formats in
//! `toolwright_source::render`. Findings go to stdout, because they are the result of this command.
//!
//! A check has three phases: settings are read and, with `--fix`, repaired before anything is
//! started (`fix_settings`); sources are loaded and checked; and only then the findings are
//! printed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use toolwright_check::{HIDDEN_TEXT, MODEL_INSTRUCTION};
use toolwright_schema::{TargetSet, VendorTarget};
use toolwright_source::render::{self, Colour, GroupedOptions, ReportedFinding};
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::{
    Baseline, CheckOptions, CheckReport, CodeSelection, Config, Coverage, FixMode, FixReport,
    LoadError, LoadResult, LoadedDocument, PolicySettings, PolicySubjects, ReadOptions, SourcePlan,
    in_parallel, is_script, is_stdin, write_baseline,
};

use crate::args::{CheckArgs, CheckFormat, FailOn, SelectedSources};
use crate::environment::variable;
use crate::messages::{plan_error, print_note};
use crate::output::{self, ExitStatus};
use crate::report::{self, plural};
use crate::sources::{self, SourceSearch, WaitingLine};

/// Checks the sources and prints the findings; with `--fix`, corrects the files first.
///
/// The order of the output is fixed: the diff, the findings, the totals on stdout, then failures on
/// stderr.
///
/// # Errors
/// If arguments contradict each other, the configuration is unusable, there is nothing to check, or
/// stdout cannot be written. Files that cannot be read are part of the report.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<ExitStatus> {
    if args.diff && !matches!(args.output_format, CheckFormat::Full | CheckFormat::Concise) {
        bail!("`--diff` needs `--output-format full` or `concise`");
    }
    // Read first: without it, the check would be for nothing.
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let how = SourceSearch {
        command: "check",
        starts: !args.no_start,
        announced: matches!(args.output_format, CheckFormat::Full | CheckFormat::Concise),
    };
    let args = &CheckArgs { selected: sources::resolve(&args.selected, &how)?, ..args.clone() };
    let plan = configured_plan(args)?;
    let policy = plan.as_ref().filter(|plan| plan.policy.has_entries());
    let policy = policy.map(|plan| (plan.policy.clone(), source_names(plan)));
    let records = if policy.is_some() { RecordUse::Show } else { RecordUse::Check };
    let (report, not_started) = check(args, plan, records, WaitingLine::Printed)?;
    let CheckReport { mut load, fixes, silenced } = report;
    if let Some((policy, sources)) = policy.filter(|_| coverage(args) == Coverage::Everything) {
        report_ineffective(&policy, sources, &load);
    }
    let known = remove_known(baseline.as_ref(), &mut load, args)?;
    // Files that have fixes but could not be written, and sources that are not files.
    let answers = load.documents.iter().filter_map(report::answer_of);
    let answers: Vec<&str> = answers.map(|source| source.name()).collect();
    if (args.fix || args.unsafe_fixes || args.diff) && !answers.is_empty() {
        print_note(&cannot_fix(&answers));
    }
    fixes.refused.iter().for_each(|reason| output::print_error(&anyhow::anyhow!("{reason}")));
    output::print(&fixes.diff)?;
    // In the format `full` a diff replaces the findings: it shows the same places.
    if fixes.diff.is_empty() || args.output_format != CheckFormat::Full {
        print_findings(&load, &fixes, args)?;
    }
    // "0 tools in 0 files: nothing to report" beside a failure would look like success.
    let nothing_read = load.documents.is_empty() && !load.failures.is_empty();
    if matches!(args.output_format, CheckFormat::Full | CheckFormat::Concise) && !nothing_read {
        let left_out = [(silenced, "silenced"), (known, "in the baseline")];
        let summary = summary(&load, &fixes, &left_out, args);
        let text = summary + &not_started.line();
        let wrapped = text.lines().map(|line| render::wrap(line, 0, output::width()));
        output::print(&match args.output_format {
            CheckFormat::Full => wrapped.collect(),
            _ => text,
        })?;
    }
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    let status = exit_status(&load, &fixes, args);
    // The process ends right after this; freeing ten thousand documents would take longer than
    // printing their findings.
    std::mem::forget(load);
    Ok(status)
}

/// For the comparison with the rules of the policy, which name sources. Taken before the check,
/// which uses the plan up.
fn source_names(plan: &SourcePlan) -> BTreeSet<String> {
    plan.specs.iter().map(|spec| spec.name.clone()).collect()
}

/// Writes which rules and grants of the configuration match nothing. Not if something could not be
/// read: they may be about that. A rule with a misspelled name protects nothing, and no call would
/// ever show that.
fn report_ineffective(policy: &PolicySettings, sources: BTreeSet<String>, load: &LoadResult) {
    if !load.failures.is_empty() || !load.unstarted.is_empty() {
        return;
    }
    let mut subjects = PolicySubjects { sources, ..PolicySubjects::default() };
    for toolset in load.documents.iter().filter_map(|it| Some(&it.reading.as_ref()?.toolset)) {
        let namespace = toolset.namespace.ok();
        subjects.toolsets.extend(namespace.map(ToString::to_string));
        subjects.capabilities.extend(toolset.declared_capabilities().map(ToString::to_string));
        // Its server is not asked here.
        let unlisted = namespace.filter(|_| toolset.server.is_some());
        subjects.incomplete.extend(unlisted.map(ToString::to_string));
        for id in toolset.tools.iter().filter_map(|tool| tool.id(namespace)) {
            let name =
                id.namespace.as_ref().map_or_else(|| id.name.to_string(), |it| it.to_string());
            subjects.toolsets.insert(name);
            subjects.tools.insert(id.to_string());
        }
    }
    policy.ineffective_entries(&subjects).iter().for_each(|sentence| print_note(sentence));
}

/// What the records of definitions are needed for.
///
/// With `Check` they are dropped after the rules have run, which saves memory in large folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordUse {
    /// For the rules alone.
    Check,
    /// They are shown, or compared with the policy, afterwards.
    Show,
}

/// Loads and checks sources as `check` without options does. `list` counts the problems of what it
/// lists in this way.
///
/// # Errors
/// If the configuration is unusable, the async runtime cannot start, or the user interrupts.
pub(crate) fn check_selected(
    selected: &SelectedSources,
    line: WaitingLine,
) -> anyhow::Result<LoadResult> {
    let args = CheckArgs::without_options(selected);
    let plan = configured_plan(&args)?;
    let (report, _) = check(&args, plan, RecordUse::Show, line)?;
    Ok(report.load)
}

/// Removes the findings that the baseline lists, or that were just written to one, and returns
/// their number. A baseline is not written from a part of the sources: the missing ones would fail
/// the next run.
///
/// # Errors
/// If the baseline cannot be written.
fn remove_known(
    baseline: Option<&Baseline>,
    load: &mut LoadResult,
    args: &CheckArgs,
) -> anyhow::Result<usize> {
    if let Some(baseline) = baseline {
        return Ok(baseline.remove_known(load, coverage(args)));
    }
    let Some(path) = &args.write_baseline else { return Ok(0) };
    if !load.failures.is_empty() {
        print_note("the baseline is not written, because something could not be read");
        return Ok(0);
    }
    let known = write_baseline(path, load)?;
    load.documents.iter_mut().for_each(|document| document.diagnostics.clear());
    print_note(&format!("{} written to `{}`", plural(known, "finding"), path.display()));
    Ok(known)
}

/// Without names, everything that the configuration names is checked, unless it is not started.
/// Only then an entry that matches nothing can be reported: otherwise it may be about what was not
/// read.
fn coverage(args: &CheckArgs) -> Coverage {
    // A configuration that is named alone is all that was named.
    let is_configuration = |word: &String| Config::is_named(word.as_ref());
    let is_named =
        !args.selected.sources.iter().all(is_configuration) || !args.selected.command.is_empty();
    if is_named || args.no_start { Coverage::Named } else { Coverage::Everything }
}

/// The plan of the configuration that was named or found; `None` without a configuration. It is
/// read even if sources are named, because it also sets the severities of codes.
///
/// # Errors
/// If it cannot be read, or a mistake makes the severities unknown.
fn configured_plan(args: &CheckArgs) -> anyhow::Result<Option<SourcePlan>> {
    let Some(path) = sources::find_configuration(args.selected.named_configuration())? else {
        return Ok(None);
    };
    let plan = SourcePlan::from_config(&path, args.selected.reading.options(true), &variable);
    if plan.config_error().is_some() {
        return Err(plan_error(&plan));
    }
    // A mistake in `levels`, in `check` or at the top level, such as a misspelled `levels`, could
    // hide findings, so nothing is checked. Mistakes in a source are reported together with those
    // of its tools.
    let is_fatal = |d: &Diagnostic| {
        let mut tokens = d.path.tokens();
        let first = tokens.next();
        first.is_none()
            || first.as_ref().is_some_and(|table| ["check", "levels"].contains(&table.as_ref()))
            || d.code.name == "UNKNOWN_KEY" && tokens.next().is_none()
    };
    if plan.diagnostics.iter().any(is_fatal) {
        return Err(plan_error(&plan));
    }
    Ok(Some(plan))
}

/// Loads and checks what the command line names, or else all sources of the configuration. Files
/// alone take the short way: without async runtime, on all cores.
///
/// Three ways in. The configuration alone: its plan. Only files and folders: `Workspace::check`,
/// without a runtime. Anything else: a plan of what is named, loaded with a runtime, and JavaScript
/// files beside it, which no plan can hold.
///
/// # Errors
/// If a code of `--select` or `--ignore` does not exist, or the plan cannot be made.
fn check(
    args: &CheckArgs,
    configured: Option<SourcePlan>,
    records: RecordUse,
    line: WaitingLine,
) -> anyhow::Result<(CheckReport, SkippedSources)> {
    let (levels, ignores) = match &configured {
        Some(plan) => (plan.levels.clone(), Arc::clone(&plan.ignores)),
        None => Default::default(),
    };
    let fix = (args.fix || args.unsafe_fixes || args.diff)
        .then_some(FixMode { unsafe_fixes: args.unsafe_fixes, diff: args.diff });
    let configured_check = configured.as_ref().map(|plan| plan.check).unwrap_or_default();
    // What the command line names replaces what the configuration names, as with sources.
    let targets = match args.target.is_empty() {
        true => configured_check.targets,
        false => args.target.iter().filter_map(|id| VendorTarget::by_id(id)).collect(),
    };
    let mut options = CheckOptions {
        left_out: false,
        read: ReadOptions { targets, ..args.selected.reading.options(true) },
        tokens: configured_check.tokens,
        selection: CodeSelection::new(&args.select, &args.ignore, levels, ignores)?,
        fix,
        // These two formats say whether a fix is safe, so every fix has to be tried.
        try_fixes: matches!(args.output_format, CheckFormat::Json | CheckFormat::Sarif),
        coverage: coverage(args),
        keep_records: records == RecordUse::Show,
    };
    let workspace = sources::workspace();
    let (command, mut words) = (&args.selected.command, args.selected.sources.clone());
    // `-` given twice is read once: the second read would find nothing.
    let mut is_read = false;
    words.retain(|source| !is_stdin(source.as_ref()) || !std::mem::replace(&mut is_read, true));
    if is_read && fix.is_some() {
        print_note("standard input cannot be fixed; name the file instead");
    }
    if words.is_empty() && command.is_empty() {
        let (mut plan, fixes) = fix_settings(plan_to_check(configured, targets)?, fix, || {
            plan_to_check(configured_plan(args)?, targets)
        })?;
        let not_started = SkippedSources::of(&mut plan, args);
        options.left_out = not_started.has_some();
        let load = sources::load_plan(plan, line)?;
        let report = workspace.check_loaded(load, &[], &options);
        return Ok((with_fixes(report, fixes), not_started));
    }
    let files_in_folders = servers_files_in_folders(&words, options.read);
    if let Some(paths) = sources::paths_if_all_files(&words, command, options.read)
        && files_in_folders.is_empty()
    {
        return Ok((workspace.check(&paths, &options), SkippedSources::default()));
    }
    // JavaScript files are checked, too, but a plan of sources cannot hold them.
    let (scripts, others): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| is_script(word.as_ref()));
    let scripts: Vec<PathBuf> = scripts.into_iter().map(PathBuf::from).collect();
    let in_folders = || sources::plan_named(&files_in_folders, &[], options.read);
    let named = || {
        let mut plan = sources::plan_named(&others, command, options.read);
        // Naming a folder does not allow starting the servers that its files list.
        let mut found = in_folders();
        without_live(&mut found);
        plan.diagnostics.extend(found.diagnostics);
        plan.failures.extend(found.failures);
        plan
    };
    let (mut plan, fixes) = fix_settings(named(), fix, || Ok(named()))?;
    let mut not_started = SkippedSources::of(&mut plan, args);
    if args.no_start {
        not_started.servers += in_folders().servers();
    }
    options.left_out = not_started.has_some();
    let mut load = sources::load_plan(plan, line)?;
    if !files_in_folders.is_empty() {
        load.failures.retain(|failure| !matches!(failure, LoadError::NoDefinitions(_)));
    }
    let report = workspace.check_loaded(load, &scripts, &options);
    Ok((with_fixes(report, fixes), not_started))
}

/// The servers files that projects keep, in the folders that are named. Folders below them are not
/// looked into: what lies there belongs to other projects, or to none. Written as paths below the
/// named folder, without `./`. Only files that list servers count.
fn servers_files_in_folders(words: &[String], options: ReadOptions) -> Vec<String> {
    const NAMES: [&str; 6] = [
        ".mcp.json",
        "mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".zed/settings.json",
    ];
    let folders = words.iter().map(Path::new).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    // `check .` names `.mcp.json` as a person would.
    let shown = |file: PathBuf| file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
    let is_named = |file: &PathBuf| words.iter().any(|word| shown(word.into()) == *file);
    files
        .filter(|file| SourcePlan::is_live(file, options))
        .map(shown)
        // A file that is named, too, is read once.
        .filter(|file| !is_named(file))
        .map(|file| file.display().to_string())
        .collect()
}

/// Removes everything from the plan that would have to be started, and returns how many programs
/// that were. A variable that is not set is needed by a person who starts the servers, and not by
/// one who checks the file. So a variable that is not set is a note here.
fn without_live(plan: &mut SourcePlan) -> usize {
    for diagnostic in plan.diagnostics.iter_mut().filter(|d| d.code.name == "UNSET_VARIABLE") {
        diagnostic.severity = Severity::Info;
    }
    plan.remove_live()
}

/// Rounds of repairs of one plan: two secrets in one value are repaired one after the other. The
/// bound is for a repair that makes its own finding again.
const SETTINGS_ROUNDS: usize = 20;

/// Makes the repairs of configurations and servers files, before anything is started: a repair may
/// change what is started. `again` makes the plan of the repaired files. Ends when a round repairs
/// nothing, or after `SETTINGS_ROUNDS`. With `--diff` there is one round, because nothing is
/// written that a second one could read.
fn fix_settings(
    mut plan: SourcePlan,
    mode: Option<FixMode>,
    again: impl Fn() -> anyhow::Result<SourcePlan>,
) -> anyhow::Result<(SourcePlan, FixReport)> {
    let mut all = FixReport::default();
    let Some(mode) = mode else { return Ok((plan, all)) };
    for _ in 0..SETTINGS_ROUNDS {
        let made = toolwright_workspace::fix_settings(&plan, mode);
        all.applied += made.applied;
        all.diff += &made.diff;
        all.refused.extend(made.refused);
        if made.applied == 0 || mode.diff {
            break;
        }
        plan = again()?;
    }
    Ok((plan, all))
}

/// The report with the repairs of the settings before those of the definitions.
fn with_fixes(mut report: CheckReport, settings: FixReport) -> CheckReport {
    report.fixes.applied += settings.applied;
    report.fixes.diff = settings.diff + &report.fixes.diff;
    report.fixes.refused.extend(settings.refused);
    report
}

/// What `--no-start` left out, so that a clean result does not look complete. All zero if the
/// option was not given.
#[derive(Default)]
struct SkippedSources {
    servers: usize,
    /// Programs, and folders of programs.
    programs: usize,
    /// Whether the option was given.
    asked: bool,
}

impl SkippedSources {
    /// With `--no-start`, removes everything from the plan that would have to be started.
    fn of(plan: &mut SourcePlan, args: &CheckArgs) -> SkippedSources {
        if !args.no_start {
            return SkippedSources::default();
        }
        let servers = plan.servers();
        SkippedSources { servers, programs: without_live(plan), asked: true }
    }

    fn has_some(&self) -> bool {
        self.servers + self.programs > 0
    }

    /// The line that reports it; empty without the option.
    fn line(&self) -> String {
        let programs = match self.programs {
            0 => String::new(),
            n => format!(", {} of programs", report::plural(n, "source")),
        };
        match self.asked {
            true => format!("not started: {}{programs}\n", report::plural(self.servers, "server")),
            false => String::new(),
        }
    }
}

/// The plan of the configuration, for these targets. A plan with mistakes and no source is checked:
/// the mistakes are the findings.
///
/// # Errors
/// If it names no source.
fn plan_to_check(configured: Option<SourcePlan>, targets: TargetSet) -> anyhow::Result<SourcePlan> {
    // `resolve` has found a configuration if nothing else is named.
    let mut plan = configured.unwrap_or_default();
    if plan.specs.is_empty() && plan.diagnostics.is_empty() && plan.failures.is_empty() {
        bail!("the configuration names no source; name what to check");
    }
    // Which targets are meant is known only once the configuration is read.
    plan.specs.iter_mut().for_each(|spec| spec.options.targets = targets);
    Ok(plan)
}

/// Codes whose findings are not grouped: each of them is about other words, and one may be harmless
/// where the next is an attack. A group shows one text, and here each has to be judged.
static SEPARATE_CODES: [&str; 2] = [HIDDEN_TEXT.name, MODEL_INSTRUCTION.name];

/// Prints the findings to stdout in the requested format.
///
/// Each format gets the same findings in the same order. Only `full` hides something: notes, unless
/// they are asked for, and lines with secrets.
fn print_findings(load: &LoadResult, fixes: &FixReport, args: &CheckArgs) -> anyhow::Result<()> {
    let all = || {
        load.documents
            .iter()
            .flat_map(|document| document.diagnostics.iter().map(move |d| (document, d)))
    };
    let text = match args.output_format {
        CheckFormat::Full => {
            // A line with a secret must not be copied into a log, neither by the finding about the
            // secret nor by another finding about the same line.
            let secrets: HashSet<(&str, usize)> =
                all().filter_map(|(_, d)| secret_line(d)).collect();
            let findings = all().map(|(document, diagnostic)| ReportedFinding {
                diagnostic,
                secret: document.secret || shows_secret(diagnostic, &secrets),
            });
            // A user who selects the code of a note, or fails on notes, wants to see them.
            let notes = args.notes || !args.select.is_empty() || args.fail_on == FailOn::Note;
            let (width, colour, separate_codes) = (output::width(), Colour::On, &SEPARATE_CODES);
            render::grouped(findings, GroupedOptions { width, colour, notes, separate_codes })
        }
        CheckFormat::Concise => {
            // This format has no colours, so it needs no filter, which is slow for large outputs.
            return output::print_unfiltered(&lines(&load.documents, render::concise));
        }
        CheckFormat::Json => lines(&load.documents, render::json),
        CheckFormat::Github => lines(&load.documents, render::github),
        CheckFormat::Sarif => {
            // SARIF has a place for failures of the tool itself.
            let unread = load.failures.iter().map(ToString::to_string);
            let failures: Vec<String> = unread.chain(fixes.refused.iter().cloned()).collect();
            render::sarif(all().map(|(_, d)| d), &failures, env!("CARGO_PKG_VERSION")) + "\n"
        }
    };
    output::print(&text)
}

/// The sentence about sources that no fix can change. At most three names.
fn cannot_fix(names: &[&str]) -> String {
    let named = names.iter().take(3).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("fixes change files: the tools of {named}{more} can only be fixed where they are made")
}

/// One line per diagnostic, rendered on all cores. The order of the documents is kept.
fn lines(files: &[LoadedDocument], line: fn(&Diagnostic) -> String) -> String {
    let written = in_parallel(files, |document| -> String {
        document.diagnostics.iter().map(|diagnostic| line(diagnostic) + "\n").collect()
    });
    written.concat()
}

/// The file and line of a secret, if the finding is about one. Only the line where the finding
/// begins.
fn secret_line(diagnostic: &Diagnostic) -> Option<(&str, usize)> {
    let is_secret = diagnostic.code.name == "SECRET_IN_DEFINITION";
    diagnostic.line_column().filter(|_| is_secret).map(|(line, _)| (diagnostic.source.name(), line))
}

/// Whether a diagnostic in the format `full` would print a line with a secret. The labels of a
/// diagnostic are printed with their lines, too. Lines between the first and the last of a span
/// count.
fn shows_secret(diagnostic: &Diagnostic, secrets: &HashSet<(&str, usize)>) -> bool {
    let (source, name) = (&diagnostic.source, diagnostic.source.name());
    let spans = diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span));
    // Most runs find no secret, and need no positions.
    !secrets.is_empty()
        && spans.into_iter().any(|span| {
            let lines = [span.start, span.end].map(|byte| source.line_column(byte as usize).line);
            (lines[0]..=lines[1]).any(|line| secrets.contains(&(name, line)))
        })
}

/// The last line of the formats for people: `12 tools in 5 files: 2 errors, 1 fixable`. Without an
/// option that tries fixes, the number of fixable findings is an upper bound: a fix that its rule
/// calls safe may turn out to add another finding, and `--fix` then refuses it.
fn summary(
    load: &LoadResult,
    fixes: &FixReport,
    left_out: &[(usize, &str)],
    args: &CheckArgs,
) -> String {
    let mut found = report::severity_counts(load);
    // Fixes change files, so fixes for the answer of a server or program do not count.
    let in_files = || {
        load.documents
            .iter()
            .filter(|document| document.path.is_some())
            .flat_map(|document| &document.diagnostics)
    };
    let fixable =
        |safe| in_files().filter(|d| d.fix.as_ref().is_some_and(|fix| fix.safe == safe)).count();
    let are_tried = args.fix || args.unsafe_fixes || args.diff;
    let safe_fixes = |count| match are_tried {
        true => format!("{count} fixable"),
        false => format!("up to {count} fixable with `--fix`"),
    };
    match (fixable(true), fixable(false)) {
        (0, 0) => {}
        (safe, 0) => found.push(safe_fixes(safe)),
        (0, risky) => found.push(format!("{risky} fixable with `--unsafe-fixes`")),
        (safe, risky) => {
            found.push(format!("{}, {risky} more with `--unsafe-fixes`", safe_fixes(safe)));
        }
    }
    if fixes.applied > 0 {
        found.insert(
            0,
            format!("{} {}", fixes.applied, if args.diff { "would be fixed" } else { "fixed" }),
        );
    }
    // Unlike the other commands, `check` also reports that there is nothing wrong.
    if found.is_empty() {
        found.push("nothing to report".to_owned());
    }
    found.extend(left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let found = found.join(", ");
    format!("{}: {found}\n", report::tools_and_sources(load)) + &report::skipped_files(load)
}

/// Failures weigh more than findings. With `--diff`, pending fixes count as findings, so that
/// continuous integration can require fixed files. `--fail-on` sets the least severity that makes
/// the exit status 1.
fn exit_status(load: &LoadResult, fixes: &FixReport, args: &CheckArgs) -> ExitStatus {
    // `None` for `--fail-on never`: findings then do not change the exit status.
    let limit = args.fail_on.severity();
    let failing = load.documents.iter().flat_map(|document| &document.diagnostics);
    if !load.failures.is_empty() || !fixes.refused.is_empty() {
        ExitStatus::CouldNotRun
    } else if limit.is_some_and(|limit| failing.into_iter().any(|d| d.severity >= limit))
        || args.diff && fixes.applied > 0
    {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    }
}
