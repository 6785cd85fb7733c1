//! `toolwright doctor`: reports which layers of the sandbox's jail this system supports, and files
//! by which agents could raise their rights.
//!
//! It starts a real worker and runs a program in it, instead of asking the kernel for its features:
//! container runtimes and security modules may forbid what the kernel supports. The layers are
//! implemented in `toolwright_sandbox`.

use std::fmt::Write as _;

use toolwright_sandbox::{
    GuestLimits, JailPolicy, JailReport, LayerState, PoolOptions, ProgramForm, ProgramInput,
    WorkerPool,
};

use toolwright_source::render::visible;

use crate::output::{self, ExitStatus};
use crate::{reachable_files, sandbox, sources};

/// Prints the report. Exits with 1 if a layer is missing or holds only in part, or agents could
/// change what they may do.
///
/// # Errors
/// If no worker can be started or it computes nonsense: then no JavaScript can run at all.
pub(crate) fn run() -> anyhow::Result<ExitStatus> {
    let pool =
        WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(sandbox::worker_command()?) });
    let report = pool.jail_blocking()?;
    let program =
        pool.compile_blocking("module.exports = ({ n }) => n + 1", ProgramForm::Script, None)?;
    let input = ProgramInput::args(serde_json::json!({ "n": 1 }));
    let output = pool.run_blocking(&program, &input, &GuestLimits::default(), None)?;
    anyhow::ensure!(output.value == 2, "the sandbox computed 1 + 1 = {}", output.value);
    output::print(&report_text(&report))?;
    let reachable = match sources::find_configuration(None)? {
        Some(config) => reachable_files::report(&config),
        None => Vec::new(),
    };
    for sentence in &reachable {
        let help = "help: move it, or give the server another folder";
        output::print(&format!("trust: {}\n  {help}\n", visible(sentence)))?;
    }
    let is_fine = report.is_complete() && reachable.is_empty();
    Ok(if is_fine { ExitStatus::Clean } else { ExitStatus::Findings })
}

/// A line per layer with what it protects from. Below a layer that does not hold completely, the
/// reason and the remedy; at the end the consequence.
fn report_text(report: &JailReport) -> String {
    let mut text = String::from("sandbox: a worker started and ran a program\n");
    let mut line = |name: &str, state: &str, what: &str| {
        let _ = writeln!(text, "  {name:<18} {state:<8} {what}");
    };
    line("layer", "state", "protects from");
    for (layer, state) in report.layers() {
        let word = match state {
            LayerState::Active => "ok",
            LayerState::Partial(_) => "partly",
            LayerState::Missing(_) => "missing",
        };
        line(layer.name(), word, layer.protects_from());
        if let Some(reason) = state.reason() {
            line("", "", &format!("reason: {reason}"));
            line("", "", &format!("help: {}", layer.remedy()));
        }
    }
    text.push_str(if report.is_complete() {
        "all layers of the sandbox hold\n"
    } else if report.refusal(JailPolicy::RequireEssential).is_some() {
        "`serve` runs no JavaScript here unless it is given `--allow-weak-jail`; \
         other commands do, with a note\n"
    } else {
        "JavaScript runs with the remaining layers; `--require-jail` refuses to run it\n"
    });
    text
}
