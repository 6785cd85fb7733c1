//! `toolwright eval`: one function of a definition, once, as its author wants to see it.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use toolwright_exec::knowledge::{Code, Role, SLOW, cause, guest_limits, input, read_verdict};
use toolwright_sandbox::{LogLine, ProgramOutput, SandboxError};
use toolwright_source::words::nearest_word;
use toolwright_source::{Severity, render};
use toolwright_workspace::ReadOptions;

use crate::args::EvalArgs;
use crate::output::{self, Exit};
use crate::{messages, runtime, sandbox, sources};

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<Exit> {
    let is_stdin = toolwright_workspace::is_stdin(&args.file);
    if is_stdin && args.args == "-" {
        bail!("standard input can be the definition or the arguments, not both");
    }
    if args.file.is_dir() {
        bail!("`{}` is a folder: name the definition", args.file.display());
    }
    let given = given(&args.args)?;
    let load = sources::workspace().load(
        std::slice::from_ref(&args.file),
        ReadOptions { compat: true, ..ReadOptions::default() },
    );
    if let Some(failure) = load.failures.into_iter().next() {
        return Err(failure.into());
    }
    let file = args.file.display();
    let knowledge = load
        .documents
        .iter()
        .filter_map(|file| file.reading.as_ref())
        .find_map(toolwright_catalog::knowledge);
    let Some(knowledge) = knowledge else {
        let mut errors = load.documents.iter().flat_map(|file| &file.diagnostics);
        match errors.find(|diagnostic| diagnostic.severity == Severity::Error) {
            Some(wrong) => bail!("{}", render::concise(wrong)),
            None => bail!("`{file}` has no functions: only AIOS definitions do"),
        }
    };
    let (role, id) = args.which.named();
    let Some(code) = knowledge.function(role, id) else {
        let names = knowledge.names(role);
        let role = role.name();
        match (nearest_word(id, names.iter().copied()), names.as_slice()) {
            (_, []) => bail!("`{file}` has no {role}s"),
            (Some(near), _) => bail!("`{file}` has no {role} `{id}`; did you mean `{near}`?"),
            (None, names) => {
                bail!("`{file}` has no {role} `{id}`; it has `{}`", names.join("`, `"))
            }
        }
    };
    let limits = guest_limits(&sources::limits(None)?.functions, role);
    let given = input(role, &given);
    let pool = sandbox::pool(args.sandbox.require_jail)?;
    let result = runtime::runtime()?.block_on(async {
        tokio::select! {
            result = code.run(&pool, &given, &limits, None) => Some(result),
            () = runtime::interrupted() => None,
        }
    });
    match result {
        None => bail!("interrupted"),
        Some(Ok(output)) => {
            if role == Role::Validator
                && let Err(no_verdict) = read_verdict(code, &output.value)
            {
                return no_result(&no_verdict, &output, args.json);
            }
            if role == Role::Validator && output.cpu > SLOW {
                messages::note(&format!(
                    "the validator took {} ms, more than 50",
                    milliseconds(output.cpu)
                ));
            }
            succeed(output, args.json)
        }
        Some(Err(error)) => fail(code, &error, args.json),
    }
}

fn given(text: &str) -> anyhow::Result<Json> {
    let text =
        if text == "-" { std::io::read_to_string(std::io::stdin())? } else { text.to_owned() };
    serde_json::from_str(&text).context("`--args` is not JSON")
}

fn lines(log: &[LogLine]) -> Vec<Json> {
    log.iter()
        .map(|line| json!({"level": format!("{:?}", line.level).to_lowercase(), "text": line.text}))
        .collect()
}

fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn say_log(log: &[LogLine]) {
    let mut text = String::new();
    for line in log {
        let level = format!("{:?}", line.level).to_lowercase();
        let _ = writeln!(text, "console.{level}: {}", inside(&line.text));
    }
    output::say(&text);
}

fn succeed(output: ProgramOutput, as_json: bool) -> anyhow::Result<Exit> {
    let ms = milliseconds(output.cpu);
    if as_json {
        let mut all = json!({
            "result": null, "log": lines(&output.log), "cpuMs": ms, "memoryBytes": output.memory,
        });
        // Moved, not copied: it may be large.
        all["result"] = output.value;
        output::print_json(&all)?;
        return Ok(Exit::Clean);
    }
    say_log(&output.log);
    output::print_json(&output.value)?;
    output::say(&used(&output));
    Ok(Exit::Clean)
}

fn used(output: &ProgramOutput) -> String {
    let (ms, memory) = (milliseconds(output.cpu), output.memory.div_ceil(1024));
    format!("took {ms} ms of processor time and {memory} KiB\n")
}

/// A validator that answers, and gives no verdict.
fn no_result(no_verdict: &str, output: &ProgramOutput, as_json: bool) -> anyhow::Result<Exit> {
    let message = no_verdict.strip_prefix("INVALID_VALIDATOR_RESULT: ").unwrap_or(no_verdict);
    if as_json {
        let failure = json!({"code": "INVALID_VALIDATOR_RESULT", "message": message});
        let all =
            json!({"error": failure, "log": lines(&output.log), "cpuMs": milliseconds(output.cpu)});
        output::print_json(&all)?;
    } else {
        say_log(&output.log);
        output::say(&format!("INVALID_VALIDATOR_RESULT: {}\n", output::visible_lines(message)));
        output::say(&used(output));
    }
    Ok(Exit::Findings)
}

fn fail(code: &Code, error: &SandboxError, as_json: bool) -> anyhow::Result<Exit> {
    let ms = milliseconds(error.cpu);
    let place = error.position().map(|place| code.place(place));
    if as_json {
        let mut failure = json!({"code": error.code.name(), "message": error.message});
        let fields = [("name", error.name.as_deref().map(str::to_owned)), ("at", place)];
        for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            failure[name] = value.into();
        }
        if let Some(fields) = &error.fields {
            failure["fields"] = Json::Object((**fields).clone());
        }
        let all = json!({"error": failure, "log": lines(&error.log), "cpuMs": ms});
        output::print_json(&all)?;
        return Ok(Exit::Findings);
    }
    say_log(&error.log);
    let name = error.name.as_deref().map(|name| format!("{}: ", inside(name))).unwrap_or_default();
    let mut text = format!("{}: {name}{}\n", error.code, inside(&error.message));
    if let Some(cause) = cause(error) {
        let _ = writeln!(text, "  caused by {}", inside(cause));
    }
    if let Some(place) = place {
        let _ = writeln!(text, "  --> {}", inside(&place));
    }
    // A worker that did not start or was killed has not told.
    if error.cpu > std::time::Duration::ZERO {
        let _ = writeln!(text, "took {ms} ms of processor time");
    }
    output::say(&text);
    Ok(Exit::Findings)
}

/// Text of others: lines after the first cannot be taken for ours.
fn inside(text: &str) -> String {
    output::visible_lines(text).replace('\n', "\n  | ")
}

impl crate::args::Which {
    /// What is to be run.
    fn named(&self) -> (Role, &str) {
        match (&self.helper, &self.processor, &self.validator) {
            (Some(id), ..) => (Role::Helper, id),
            (_, Some(id), _) => (Role::Processor, id),
            (.., id) => (Role::Validator, id.as_deref().unwrap_or_default()),
        }
    }
}
