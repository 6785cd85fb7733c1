//! `toolwright trust`: shows how definitions differ from the accepted ones, and accepts them.
//!
//! ```text
//! sources ─ Catalog::review_pins ─▶ PinReview ─┬─ --check: print, exit 1
//! toolwright.lock, store ──────────────────────┘  else: ask for each part ─▶ store and lock
//! ```
//!
//! The comparison is in `toolwright_catalog::pins`; changes are shown as `diff` shows them.
//!
//! Two ways to use it. A person at a terminal is shown each difference and decides. A pipeline runs
//! `--check`, which decides nothing, asks nobody and starts nothing but the sources; it looks only
//! at what sources have now, as what another process has seen in some session cannot be repeated
//! there.
//!
//! What is accepted goes to two places. `toolwright.lock` has hashes, is committed, and decides if
//! it exists; the store of this user also has the texts, so that changed words can be shown later.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use toolwright_catalog::{
    Catalog, CatalogEvent, PinChange, PinReview, Planner, ReviewScope, ReviewedPart,
    ReviewedToolset,
};
use toolwright_exec::{Log, Runner};
use toolwright_model::CallLimits;
use toolwright_source::Severity;
use toolwright_workspace::diff::{self, PartChange};
use toolwright_workspace::{LockSection, PinKind, SourcePlan};

use crate::args::{TrustArgs, TrustFormat};
use crate::diff::render::{self, ShownLength};
use crate::output::{self, ExitStatus};
use crate::question::{Answer, ask};
use crate::record_text::one_line;
use crate::report::plural;
use crate::sources::{self, SourceSearch};
use crate::{environment, messages, runtime};

/// Shows the differences, and writes what the person accepts.
///
/// Exits with 2 if a source could not be loaded, even if the rest is as accepted: what was not seen
/// may have changed.
///
/// # Errors
/// If there is no source, the lock or the store cannot be used, or nobody can be asked.
pub(crate) fn run(args: &TrustArgs) -> anyhow::Result<ExitStatus> {
    let (planner, is_filtered) = planner(args)?;
    let runtime = runtime::new_runtime()?;
    // What a server changed in a session that is over says nothing to CI.
    let scope = if args.check { ReviewScope::Now } else { ReviewScope::NowAndSeen };
    let (mut review, failed) = runtime.block_on(review(planner, scope))?;
    if args.lock && review.lock_path.is_none() {
        bail!(
            "`--lock` writes `toolwright.lock` beside a configuration or servers file: name one, or \
             run this where a `toolwright.toml` is"
        );
    }
    if is_filtered {
        // The entries of all other sources are not unknown.
        review.unknown.clear();
    }
    let status = match args.check {
        true => check(args, &review)?,
        false => accept(args, &mut review, failed || is_filtered)?,
    };
    Ok(if failed { ExitStatus::CouldNotRun } else { status })
}

/// What to load, and whether that is only a part of the configuration: words that are all names of
/// its sources. A part must not lead to the conclusion that the other entries of the lock are
/// unknown.
///
/// A planner is a function and not a plan, because the catalog asks again when files change.
fn planner(args: &TrustArgs) -> anyhow::Result<(Planner, bool)> {
    let words = args.selected.sources.clone();
    let options = args.selected.reading.options(false);
    if let Some(config) = sources::find_configuration(args.selected.named_configuration())?
        && args.selected.command.is_empty()
        && !words.is_empty()
    {
        let plan = SourcePlan::from_config(&config, options, &environment::variable);
        if words.iter().all(|word| plan.specs.iter().any(|spec| spec.name == *word)) {
            let planner = move || {
                let mut plan = SourcePlan::from_config(&config, options, &environment::variable);
                plan.specs.retain(|spec| words.contains(&spec.name));
                plan
            };
            return Ok((Arc::new(planner), true));
        }
    }
    let how = SourceSearch { command: "trust", starts: true, announced: false };
    let selected = sources::resolve(&args.selected, &how)?;
    let planner: Planner = match sources::find_configuration(selected.config.as_deref())? {
        Some(config) if selected.sources.is_empty() && selected.command.is_empty() => {
            Arc::new(move || SourcePlan::from_config(&config, options, &environment::variable))
        }
        _ => Arc::new(move || sources::plan_named(&selected.sources, &selected.command, options)),
    };
    Ok((planner, false))
}

/// Loads everything, and ends what it started, also after a failure. The second part of the result
/// tells whether something could not be loaded; that was written to stderr.
///
/// Warnings about definitions are left out, as they are the business of `check`.
async fn review(planner: Planner, scope: ReviewScope) -> anyhow::Result<(PinReview, bool)> {
    let context = runtime::executor_context(Log::default());
    let runner = Arc::new(Runner::new(context, CallLimits::default()));
    let listener = Arc::new(|event: &CatalogEvent| match event {
        CatalogEvent::Problem(_) | CatalogEvent::Loaded { .. } => {}
        CatalogEvent::PlanProblem(problem) if problem.severity < Severity::Error => {}
        event => messages::print_event(event),
    });
    let plan = planner();
    let is_incomplete = !plan.failures.is_empty() || plan.written_errors().next().is_some();
    let catalog = Catalog::new(runner, sources::workspace(), planner, listener);
    let folder = environment::state_folder().map_err(|error| format!("{error:#}"));
    let result = catalog.review_pins(folder, scope).await;
    catalog.runner().close().await;
    toolwright_exec::kill_all_processes();
    let (review, failures) = result?;
    let review = review.context("there is nothing to compare with")?;
    Ok((review, is_incomplete || !failures.is_empty()))
}

/// Prints the differences, and fails if there are any.
///
/// A toolset that is new does not count where there is no lock: its first use would accept it.
/// Entries of the lock that no source has count as differences: they may be of a source that was
/// removed without its pins.
fn check(args: &TrustArgs, review: &PinReview) -> anyhow::Result<ExitStatus> {
    let differs = |toolset: &&ReviewedToolset| review.lock.is_some() || !toolset.is_new;
    let parts = review.toolsets.iter().filter(differs).map(|it| it.parts.len()).sum::<usize>();
    print(args, review)?;
    if review.lock.is_none() && review.toolsets.iter().all(|toolset| toolset.is_new) {
        messages::print_note("nothing was accepted before, so there is nothing to compare with");
    }
    Ok(match parts + review.unknown.len() {
        0 => ExitStatus::Clean,
        _ => ExitStatus::Findings,
    })
}

/// Asks, and writes what is accepted. With `--accept`, only what is named is accepted and nobody is
/// asked. Everything is written at the end, so an interrupted run changes nothing. `is_partial` is
/// true if not all sources were loaded. Then entries that no source has stay in the lock, even with
/// `--all`.
///
/// Without a terminal nothing is accepted silently: the differences are printed, and the exit
/// status is 1.
///
/// ```text
/// part of …                    --all  --accept NAME      neither
/// a first use without a lock   yes    yes                yes, as `serve` does
/// anything else                yes    if it is named     the person is asked
/// ```
///
/// # Errors
/// If a word of `--accept` names nothing that differs, or the lock or the store cannot be written.
fn accept(
    args: &TrustArgs,
    review: &mut PinReview,
    is_partial: bool,
) -> anyhow::Result<ExitStatus> {
    if args.output_format == TrustFormat::Json {
        print(args, review)?;
    }
    let has_lock = review.lock.is_some();
    let mut unnamed = args.accept.clone();
    let mut not_a_terminal = false;
    for toolset in &mut review.toolsets {
        // Without a lock, what was never seen before is accepted as it is, as by `serve`.
        let is_first = toolset.is_new && !has_lock;
        let label = toolset.subject.label.clone();
        for part in &mut toolset.parts {
            if is_first || args.all {
                part.is_accepted = true;
            } else if !args.accept.is_empty() {
                part.is_accepted = args.accept.iter().any(|word| names(word, &label, part));
                unnamed.retain(|word| !names(word, &label, part));
            }
            let is_shown = args.output_format == TrustFormat::Text && !is_first;
            let text = if is_shown { part_text(&label, part) } else { String::new() };
            if part.is_accepted || !args.accept.is_empty() {
                output::print(&text)?;
                continue;
            }
            match ask(&text, "accept this?") {
                Answer::Yes => part.is_accepted = true,
                Answer::No => {}
                Answer::NotATerminal => {
                    output::print(&text)?;
                    not_a_terminal = true;
                }
            }
        }
    }
    if let Some(word) = unnamed.first() {
        bail!("nothing called `{word}` differs from what was accepted");
    }
    review.drops_unknown = args.all && !is_partial;
    let lock = review.lock_path.clone().filter(|_| has_lock || args.lock);
    review.write(lock.as_deref())?;
    if args.output_format == TrustFormat::Text {
        output::print(&summary(review))?;
        if let Some(path) = lock.filter(|_| !has_lock) {
            messages::print_note(&format!("`{}` was written: commit it", path.display()));
        }
    }
    let left = open_parts(review).count();
    if not_a_terminal {
        messages::print_note("accept with `--accept NAME` for each, or all with `--all`");
    }
    Ok(if left == 0 { ExitStatus::Clean } else { ExitStatus::Findings })
}

/// The parts that nobody accepted.
fn open_parts(review: &PinReview) -> impl Iterator<Item = &ReviewedPart> {
    review.toolsets.iter().flat_map(|it| &it.parts).filter(|part| !part.is_accepted)
}

/// Whether a word of `--accept` means this part: its name, with or without the source, or its kind
/// if there is one of it. Examples: `fs:read_file`, `read_file`, `instructions`, `fs:instructions`.
fn names(word: &str, label: &str, part: &ReviewedPart) -> bool {
    let name = if part.kind.is_shared() { part.kind.word() } else { &part.name };
    word == name || word.strip_prefix(label).and_then(|rest| rest.strip_prefix(':')) == Some(name)
}

/// What changed about a part.
///
/// The texts of parts are JSON or, for instructions, plain text. What is gone needs no list of
/// changes; what is new shows everything that it has.
fn changes_of(part: &ReviewedPart) -> Vec<PartChange> {
    let parse =
        |text: &String| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str()));
    let (old, new) = (part.old.as_ref().map(parse), part.new.as_ref().map(|new| parse(&new.text)));
    match part.change {
        PinChange::Gone => Vec::new(),
        PinChange::New => diff::written_changes(None, new.as_ref()),
        PinChange::Changed => diff::written_changes(old.as_ref(), new.as_ref()),
    }
}

/// For people and in the JSON; part of the interface.
fn word_of(change: PinChange) -> &'static str {
    match change {
        PinChange::Changed => "changed",
        PinChange::New => "new",
        PinChange::Gone => "gone",
    }
}

/// A part and its changes, as `diff` prints them, but with whole texts: a person decides by them.
/// If only the hash of the accepted text is known, for example from a lock of another machine, the
/// whole present text is shown.
fn part_text(label: &str, part: &ReviewedPart) -> String {
    let (label, name) = (one_line(label), one_line(&part.name));
    let subject = match part.kind {
        PinKind::Tool => format!("{label}:{name}"),
        PinKind::Prompt => format!("{label}: the prompt {name}"),
        PinKind::Definition => format!("{label}: the definition outside of its tools"),
        PinKind::Instructions => format!("{label}: the instructions"),
        PinKind::Program => format!("{label}: the program that is started"),
    };
    let mut text = format!("{:<8} {subject}\n", word_of(part.change));
    if part.change == PinChange::Changed && part.old.is_none() {
        text.push_str("  the accepted text is not known on this machine; it is now:\n");
    }
    for change in changes_of(part) {
        let quote = |text: &str| format!("`{text}`");
        let _ = writeln!(text, "  {}", render::line(&change, ShownLength::Whole, quote));
    }
    text
}

/// The last line: what is accepted now. What is unchanged is counted in tools, the rest in parts.
/// What is gone is in neither number: there is nothing that could be accepted as it is.
fn summary(review: &PinReview) -> String {
    let same: usize = review.toolsets.iter().map(ReviewedToolset::unchanged_tools).sum();
    let tools = |is_accepted: bool| {
        let parts = review.toolsets.iter().flat_map(|it| &it.parts);
        parts.filter(|part| part.is_accepted == is_accepted && part.new.is_some()).count()
    };
    let (accepted, open) = (tools(true), tools(false));
    let mut found = vec![format!("{} as accepted", plural(same, "tool"))];
    if accepted > 0 {
        found.push(format!("{} accepted now", plural(accepted, "part")));
    }
    if open > 0 {
        found.push(format!("{} not accepted", plural(open, "part")));
    }
    format!("{}\n", found.join(", "))
}

/// As in the headings of the lock. Part of the interface, in `unknown`.
fn section_word(section: LockSection) -> &'static str {
    match section {
        LockSection::File => "file",
        LockSection::Program => "program",
        LockSection::Server => "server",
        LockSection::Builtin => "builtin",
    }
}

/// Prints all differences.
///
/// Toolsets that are new are left out where there is no lock, for the reason given at `check`.
fn print(args: &TrustArgs, review: &PinReview) -> anyhow::Result<()> {
    let has_lock = review.lock.is_some();
    if args.output_format == TrustFormat::Json {
        return output::print_json(&to_json(review));
    }
    for toolset in review.toolsets.iter().filter(|toolset| has_lock || !toolset.is_new) {
        for part in &toolset.parts {
            output::print(&part_text(&toolset.subject.label, part))?;
        }
    }
    for (section, name) in &review.unknown {
        let section = section_word(*section);
        output::print(&format!("unknown  {section} {}: no source has it\n", one_line(name)))?;
    }
    output::print(&summary(review))
}

/// Keys are part of the interface. `lock` is null if there is no lock, also if one will be written.
/// Changes have the members that `diff --json` gives them.
///
/// `differences` are what `--check` counts; `unchanged` is the number of the other parts.
fn to_json(review: &PinReview) -> Json {
    let part = |part: &ReviewedPart| {
        let changes = changes_of(part);
        json!({
            "kind": part.kind.word(), "name": part.name, "change": word_of(part.change),
            "hash": part.new.as_ref().map(|new| &new.hash),
            "changes": changes.iter().map(render::change_json).collect::<Vec<_>>(),
        })
    };
    let toolset = |toolset: &ReviewedToolset| {
        json!({
            "name": toolset.subject.label, "new": toolset.is_new,
            "unchanged": toolset.unchanged,
            "differences": toolset.parts.iter().map(part).collect::<Vec<_>>(),
        })
    };
    let unknown = review.unknown.iter();
    let unknown = unknown.map(|(section, name)| format!("{} {name}", section_word(*section)));
    json!({
        "lock": review.lock_path.as_ref().filter(|_| review.lock.is_some()),
        "toolsets": review.toolsets.iter().map(toolset).collect::<Vec<_>>(),
        "unknown": unknown.collect::<Vec<_>>(),
    })
}
