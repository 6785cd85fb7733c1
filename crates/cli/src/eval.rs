//! `toolwright eval`: runs one function of a definition once, so that its author can try it.
//!
//! A result goes to stdout as JSON; the function's `console`, its time and its memory go to stderr.
//! With `--json` all of it is one object on stdout. Exit 0 if the function returned a result (a
//! validator that refuses has worked), 1 if it failed, 2 if it could not be run at all.
//!
//! ```text
//! file ─ read_knowledge ─▶ find_function ─▶ KnowledgeFunction::run, in a worker ─┬─ report_result
//!                                                                                └─ report_failure
//! ```
//!
//! Limits and input are those of a call, so a function that works here works there. There is no
//! tool, no policy and no record: nothing is called but the function.
//!
//! Texts of the definition (messages, names, console) may hold anything. On a terminal they are
//! shown with control characters made visible and with every line after the first marked, so that a
//! message cannot pass for a line of this program.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use toolwright_exec::knowledge::{
    FunctionError, FunctionRole, KnowledgeFunction, RunnableKnowledge, SLOW_VALIDATOR,
    function_input, guest_limits, read_validator_answer,
};
use toolwright_sandbox::{LogLine, ProgramOutput};
use toolwright_source::words::nearest_word;
use toolwright_source::{Severity, render};
use toolwright_workspace::ReadOptions;

use crate::args::EvalArgs;
use crate::output::{self, ExitStatus};
use crate::{messages, runtime, sandbox, script_analyzer, sources};

/// Runs one function of a definition and prints what it returns.
///
/// # Errors
/// If the function cannot be run: the file, the function's name or the arguments are wrong, or the
/// user interrupted it.
pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<ExitStatus> {
    // Checked before anything is read: reading stdin twice would block or find nothing.
    let is_stdin = toolwright_workspace::is_stdin(&args.file);
    if is_stdin && args.args == "-" {
        bail!("standard input can be the definition or the arguments, not both");
    }
    // A folder may hold several definitions with functions of the same id.
    if args.file.is_dir() {
        bail!("`{}` is a folder: name the definition", args.file.display());
    }
    let arguments = read_arguments(&args.args)?;
    let knowledge = read_knowledge(args)?;
    let (role, id) = args.function.role_and_id();
    let function = find_function(&knowledge, role, id, &args.file)?;
    // The limits are those of the configuration, so the function behaves as it would in `serve`.
    let limits = guest_limits(&sources::configured_limits(None)?.functions, role);
    let input = function_input(role, arguments.clone());
    let pool = sandbox::new_pool(args.sandbox.jail_policy())?;
    let analyzer = script_analyzer::new_analyzer();
    let result = runtime::new_runtime()?.block_on(async {
        tokio::select! {
            result = function.run(&pool, Some(&analyzer), &input, &limits, None) => Some(result),
            // Dropping the future of the run kills its worker.
            () = runtime::wait_for_signal() => None,
        }
    });
    // As in a call: what the declarative checks of a validator find counts, whatever its function
    // says.
    let failed_checks = match role {
        FunctionRole::Validator => knowledge.check_errors(id, &arguments),
        _ => Vec::new(),
    };
    match result {
        None => bail!("interrupted"),
        Some(result) if !failed_checks.is_empty() => {
            report_result(refused(failed_checks, function, result), args.json)
        }
        Some(Ok(output)) => {
            // Helpers and processors may return any JSON; a validator must return a verdict.
            if role == FunctionRole::Validator
                && let Err(why) = read_validator_answer(function, &output.value)
            {
                return report_invalid_answer(&why, &output, args.json);
            }
            if role == FunctionRole::Validator && output.cpu > SLOW_VALIDATOR {
                messages::print_note(&format!(
                    "the validator took {} ms; more than 50 ms slow down every call",
                    milliseconds(output.cpu)
                ));
            }
            report_result(output, args.json)
        }
        Some(Err(failure)) => report_failure(&failure, args.json),
    }
}

/// The verdict on arguments that the checks of a validator refuse. Its function may rely on the
/// checks, so if it failed, that is only noted.
///
/// The errors of the checks come first, then those of the function that are not among them. The
/// console and the time of the run are kept in every case.
fn refused(
    mut errors: Vec<String>,
    function: &KnowledgeFunction,
    result: Result<ProgramOutput, FunctionError>,
) -> ProgramOutput {
    let (answer, mut output) = match result {
        Ok(output) => (read_validator_answer(function, &output.value), output),
        Err(failure) => {
            let why = function.explain(&failure);
            let FunctionError { error, .. } = failure;
            let log = error.log.into_vec();
            let output = ProgramOutput { value: Json::Null, log, cpu: error.cpu, memory: 0 };
            (Err(why), output)
        }
    };
    match answer {
        // A function often repeats what its checks have said.
        Ok(answer) => {
            for error in answer.errors.into_texts("errors") {
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
        }
        Err(why) => messages::print_note(&why),
    }
    output.value = json!({"valid": false, "errors": errors});
    output
}

/// The functions of the definition. Its other mistakes are ignored: a function can be tried while
/// the rest of the file is unfinished.
///
/// Read in compat mode, in which what many published definitions do is not an error.
///
/// # Errors
/// If the file cannot be read or has no functions. An error in the file is then reported, because
/// it is the likely cause.
fn read_knowledge(args: &EvalArgs) -> anyhow::Result<RunnableKnowledge> {
    let load = sources::workspace().load(
        std::slice::from_ref(&args.file),
        ReadOptions { compat: true, ..ReadOptions::default() },
    );
    if let Some(failure) = load.failures.into_iter().next() {
        return Err(failure.into());
    }
    let knowledge = load
        .documents
        .iter()
        .filter_map(|file| file.reading.as_ref())
        .find_map(toolwright_catalog::knowledge);
    if let Some(knowledge) = knowledge {
        return Ok(knowledge);
    }
    let mut diagnostics = load.documents.iter().flat_map(|file| &file.diagnostics);
    match diagnostics.find(|diagnostic| diagnostic.severity == Severity::Error) {
        Some(error) => bail!("{}", render::concise(error)),
        None => bail!("`{}` has no functions: only AIOS definitions do", args.file.display()),
    }
}

/// The function to run, or an error that names the nearest one.
///
/// A validator, a helper and a processor may have the same id, so the role is part of the search.
fn find_function<'k>(
    knowledge: &'k RunnableKnowledge,
    role: FunctionRole,
    id: &str,
    file: &Path,
) -> anyhow::Result<&'k KnowledgeFunction> {
    if let Some(function) = knowledge.function(role, id) {
        return Ok(function);
    }
    // Misspelled ids are common, so the message names candidates.
    let (file, names, role) = (file.display(), knowledge.names(role), role.name());
    match (nearest_word(id, names.iter().copied()), names.as_slice()) {
        // Without any function of this role there is nothing to suggest.
        (_, []) => bail!("`{file}` has no {role}s"),
        (Some(near), _) => bail!("`{file}` has no {role} `{id}`; did you mean `{near}`?"),
        (None, names) => bail!("`{file}` has no {role} `{id}`; it has `{}`", names.join("`, `")),
    }
}

/// The value of `--args`: any JSON, since a helper may take more than an object; `-` reads stdin.
/// The size is not limited: the person has typed or piped it.
fn read_arguments(text: &str) -> anyhow::Result<Json> {
    let text =
        if text == "-" { std::io::read_to_string(std::io::stdin())? } else { text.to_owned() };
    serde_json::from_str(&text).context("`--args` is not JSON")
}

/// The console of a function for `--json`, as a list of objects with `level` and `text`.
fn console_json(log: &[LogLine]) -> Vec<Json> {
    log.iter()
        .map(|line| json!({"level": format!("{:?}", line.level).to_lowercase(), "text": line.text}))
        .collect()
}

/// Milliseconds with three decimals: the sandbox measures microseconds.
fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Prints the console of a function to stderr, each line with its level.
fn print_console(log: &[LogLine]) {
    let mut text = String::new();
    for line in log {
        let level = format!("{:?}", line.level).to_lowercase();
        let _ = writeln!(text, "console.{level}: {}", mark_lines(&line.text));
    }
    output::write_stderr(&text);
}

/// Prints the result. Only the result goes to stdout, so that it can be piped. With `--json`,
/// console, time and memory are members of the object.
fn report_result(output: ProgramOutput, as_json: bool) -> anyhow::Result<ExitStatus> {
    let ms = milliseconds(output.cpu);
    if as_json {
        let (log, memory) = (console_json(&output.log), output.memory);
        let mut all = json!({"result": null, "log": log, "cpuMs": ms, "memoryBytes": memory});
        // Moved, not copied into the macro: a result may be a mebibyte.
        all["result"] = output.value;
        output::print_json(&all)?;
        return Ok(ExitStatus::Clean);
    }
    print_console(&output.log);
    output::print_json(&output.value)?;
    output::write_stderr(&usage_line(&output));
    Ok(ExitStatus::Clean)
}

/// The processor time and memory that a run took, for stderr. Example:
/// `took 0.412 ms of processor time and 182 KiB`.
fn usage_line(output: &ProgramOutput) -> String {
    let (ms, memory) = (milliseconds(output.cpu), output.memory.div_ceil(1024));
    format!("took {ms} ms of processor time and {memory} KiB\n")
}

/// Reports a validator that returned something that is not a verdict.
///
/// The call that such a validator belongs to would be refused (VALIDATION_FAILED). The returned
/// value itself is not printed.
fn report_invalid_answer(
    why: &str,
    output: &ProgramOutput,
    as_json: bool,
) -> anyhow::Result<ExitStatus> {
    // The code is printed separately in both formats.
    let message = why.strip_prefix("INVALID_VALIDATOR_RESULT: ").unwrap_or(why);
    if as_json {
        let failure = json!({"code": "INVALID_VALIDATOR_RESULT", "message": message});
        let (log, ms) = (console_json(&output.log), milliseconds(output.cpu));
        output::print_json(&json!({"error": failure, "log": log, "cpuMs": ms}))?;
    } else {
        print_console(&output.log);
        output::write_stderr(&format!(
            "INVALID_VALIDATOR_RESULT: {}\n",
            output::visible_lines(message)
        ));
        output::write_stderr(&usage_line(output));
    }
    Ok(ExitStatus::Findings)
}

/// Reports a function that failed, with its location in the file.
fn report_failure(failure: &FunctionError, as_json: bool) -> anyhow::Result<ExitStatus> {
    if as_json {
        output::print_json(&failure_json(failure))?;
    } else {
        print_console(&failure.error.log);
        output::write_stderr(&failure_text(failure));
    }
    Ok(ExitStatus::Findings)
}

/// `name`, `at`, `approximate` and `fields` are there only where they apply (docs/knowledge.md).
/// `approximate` is set if neither the parser nor the engine gave the position.
fn failure_json(failure: &FunctionError) -> Json {
    let FunctionError { error, location } = failure;
    let mut json = json!({"code": error.code.name(), "message": error.message});
    if let Some(name) = &error.name {
        json["name"] = (&**name).into();
    }
    if let Some(location) = location {
        json["at"] = location.position_text().into();
        if location.is_approximate {
            json["approximate"] = true.into();
        }
    }
    if let Some(fields) = &error.fields {
        json["fields"] = Json::Object((**fields).clone());
    }
    json!({"error": json, "log": console_json(&error.log), "cpuMs": milliseconds(error.cpu)})
}

/// The report for people: code, name and message, causes, position, time.
fn failure_text(failure: &FunctionError) -> String {
    let FunctionError { error, location } = failure;
    let name =
        error.name.as_deref().map(|name| format!("{}: ", mark_lines(name))).unwrap_or_default();
    let mut text = format!("{}: {name}{}\n", error.code, mark_lines(&error.message));
    if let Some(cause) = failure.cause() {
        let _ = writeln!(text, "  caused by {}", mark_lines(cause));
    }
    if let Some(location) = location {
        let _ = writeln!(text, "  --> {}", mark_lines(&location.to_string()));
    }
    // Zero means that the worker did not live to report its time.
    if error.cpu > std::time::Duration::ZERO {
        let _ = writeln!(text, "took {} ms of processor time", milliseconds(error.cpu));
    }
    text
}

/// A text of the definition, with every line after the first marked: it cannot pass for a line of
/// this program.
fn mark_lines(text: &str) -> String {
    output::visible_lines(text).replace('\n', "\n  | ")
}

impl crate::args::FunctionSelector {
    /// The function to run. The parser of arguments requires exactly one of the three.
    fn role_and_id(&self) -> (FunctionRole, &str) {
        match (&self.helper, &self.processor, &self.validator) {
            (Some(id), ..) => (FunctionRole::Helper, id),
            (_, Some(id), _) => (FunctionRole::Processor, id),
            // Without the group of the parser this would be an empty id, which no function has.
            (.., id) => (FunctionRole::Validator, id.as_deref().unwrap_or_default()),
        }
    }
}
