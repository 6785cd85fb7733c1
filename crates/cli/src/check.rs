//! `toolwright check`: arguments to options, and findings to text. The check itself is one call of
//! `toolwright_workspace`.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::bail;
use toolwright_source::render::{self, Colour};
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::{
    CheckOptions, CheckReport, CodeSelection, FixMode, FixReport, LoadResult, LoadedDocument,
    ReadOptions, SourcePlan, in_parallel, is_script, is_stdin,
};

use crate::args::{CheckArgs, CheckForm};
use crate::environment::variable;
use crate::messages::{note, on_one_line};
use crate::output::{self, Exit};
use crate::report::{self, plural};
use crate::sources;

/// The form `full` shows at most this many; the other forms show all.
const MANY: usize = 200;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    if args.diff && !matches!(args.output_format, CheckForm::Full | CheckForm::Concise) {
        bail!("a diff is for people: `--diff` goes with the forms `full` and `concise`");
    }
    let plan = configured(args)?;
    let CheckReport { load, fixes } = check(args, plan)?;
    fixes.refused.iter().for_each(|reason| output::complain(&anyhow::anyhow!("{reason}")));
    output::print(&fixes.diff)?;
    if fixes.diff.is_empty() || args.output_format != CheckForm::Full {
        show(&load, &fixes, args)?;
    }
    let nothing = load.documents.is_empty() && !load.failures.is_empty();
    if matches!(args.output_format, CheckForm::Full | CheckForm::Concise) && !nothing {
        output::print(&summary(&load, &fixes, args))?;
    }
    for failure in &load.failures {
        output::complain(&failure.clone().into());
    }
    let exit = exit(&load, &fixes, args);
    // The process ends here, and freeing ten thousand documents one by one takes its time.
    std::mem::forget(load);
    Ok(exit)
}

/// The plan of the configuration, if there is one: the one named, else the one found from here.
fn configured(args: &CheckArgs) -> anyhow::Result<Option<SourcePlan>> {
    let Some(path) = sources::configuration(args.selected.config.as_deref())? else {
        return Ok(None);
    };
    let plan = SourcePlan::from_config(&path, &variable);
    if let Some(error) = plan.config_error() {
        return Err(error.clone().into());
    }
    // Without its levels it is unknown what counts as an error. Mistakes in a source are reported
    // together with those of its tools.
    let broken = |d: &&Diagnostic| {
        let mut tokens = d.path.tokens();
        let first = tokens.next();
        first.is_none()
            || first == Some("levels".into())
            || d.code.name == "UNKNOWN_KEY" && tokens.next().is_none()
    };
    if let Some(diagnostic) = plan.diagnostics.iter().find(broken) {
        bail!("{}", on_one_line(diagnostic));
    }
    Ok(Some(plan))
}

/// Loads what the command line or the configuration names, and checks it.
fn check(args: &CheckArgs, configured: Option<SourcePlan>) -> anyhow::Result<CheckReport> {
    let levels = configured.as_ref().map(|plan| plan.levels.clone()).unwrap_or_default();
    let fix = (args.fix || args.unsafe_fixes || args.diff)
        .then_some(FixMode { unsafe_fixes: args.unsafe_fixes, diff: args.diff });
    let options = CheckOptions {
        read: args.selected.reading.options(true),
        selection: CodeSelection::new(&args.select, &args.ignore, levels)?,
        fix,
        // These two print whether a fix is safe.
        try_fixes: matches!(args.output_format, CheckForm::Json | CheckForm::Sarif),
    };
    let workspace = sources::workspace();
    let (command, mut words) = (&args.selected.command, args.selected.sources.clone());
    let mut is_read = false;
    words.retain(|source| !is_stdin(source.as_ref()) || !std::mem::replace(&mut is_read, true));
    if is_read && fix.is_some() {
        note("what comes from standard input is not repaired: name its file");
    }
    if words.is_empty() && command.is_empty() {
        let load = sources::load_plan(plan_to_check(configured, options.read)?)?;
        return Ok(workspace.check_loaded(load, &[], &options));
    }
    if let Some(paths) = sources::only_files(&words, command, options.read) {
        return Ok(workspace.check(&paths, &options));
    }
    let (scripts, others): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| is_script(word.as_ref()));
    let scripts: Vec<PathBuf> = scripts.into_iter().map(PathBuf::from).collect();
    let load = sources::load_named(&others, command, options.read)?;
    Ok(workspace.check_loaded(load, &scripts, &options))
}

/// All sources of the configuration, read as the command line says.
fn plan_to_check(
    configured: Option<SourcePlan>,
    options: ReadOptions,
) -> anyhow::Result<SourcePlan> {
    let Some(mut plan) = configured else {
        bail!(
            "name what to check: files, folders, `-`, a URL, an `mcpServers` file or `-- COMMAND` (there is no `toolwright.toml` here or above)"
        );
    };
    if plan.specs.is_empty() && plan.diagnostics.is_empty() && plan.failures.is_empty() {
        bail!("the configuration names no source; name what to check");
    }
    for spec in &mut plan.specs {
        spec.options = ReadOptions {
            format: options.format.or(spec.options.format),
            compat: options.compat || spec.options.compat,
            rules: options.rules,
        };
    }
    Ok(plan)
}

fn show(load: &LoadResult, fixes: &FixReport, args: &CheckArgs) -> anyhow::Result<()> {
    let all = || {
        load.documents
            .iter()
            .flat_map(|document| document.diagnostics.iter().map(move |d| (document, d)))
    };
    let text = match args.output_format {
        CheckForm::Full => {
            let secrets: HashSet<(&str, usize)> =
                all().filter_map(|(_, d)| secret_line(d)).collect();
            let shown = all().take(MANY).map(|(document, diagnostic)| {
                match document.secret || hides(diagnostic, &secrets) {
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
            // It holds no control sequences that would have to be removed for a pipe.
            return output::print_raw(&lines(&load.documents, render::concise));
        }
        CheckForm::Json => lines(&load.documents, render::json),
        CheckForm::Github => lines(&load.documents, render::github),
        CheckForm::Sarif => {
            let unread = load.failures.iter().map(ToString::to_string);
            let failures: Vec<String> = unread.chain(fixes.refused.iter().cloned()).collect();
            render::sarif(all().map(|(_, d)| d), &failures, env!("CARGO_PKG_VERSION")) + "\n"
        }
    };
    output::print(&text)
}

/// A line for each diagnostic.
fn lines(files: &[LoadedDocument], line: fn(&Diagnostic) -> String) -> String {
    let written = in_parallel(files, |document| -> String {
        document.diagnostics.iter().map(|diagnostic| line(diagnostic) + "\n").collect()
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
fn summary(load: &LoadResult, fixes: &FixReport, args: &CheckArgs) -> String {
    let all = || load.documents.iter().flat_map(|document| &document.diagnostics);
    let mut found: Vec<String> =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")]
            .into_iter()
            .map(|(severity, word)| (all().filter(|d| d.severity == severity).count(), word))
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| plural(n, word))
            .collect();
    // What a server says cannot be repaired from here.
    let in_files = || {
        load.documents
            .iter()
            .filter(|document| document.path.is_some())
            .flat_map(|document| &document.diagnostics)
    };
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
    let tools = load.documents.iter().flat_map(|f| &f.reading).map(|r| r.toolset.tools.len()).sum();
    let found = if found.is_empty() { "nothing to report".to_owned() } else { found.join(", ") };
    let text =
        format!("{} in {}: {found}\n", plural(tools, "tool"), plural(load.documents.len(), "file"));
    text + &report::left_out(load)
}

fn exit(load: &LoadResult, fixes: &FixReport, args: &CheckArgs) -> Exit {
    let limit = args.fail_on.severity();
    let failing = load.documents.iter().flat_map(|document| &document.diagnostics);
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
