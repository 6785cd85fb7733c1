//! `toolwright call`: calls one tool once and prints its result.
//!
//! ```text
//! KEY=VALUE … or --args ─ CallInput::parse ─┐
//! sources ─ Catalog::load_for(ID) ──────────┼─▶ to_json (by the tool's schema) ─ Runner::call
//!                                           │                                       │
//!        stdout: result   stderr: warnings, failure, progress ◀─ print_result ◀─────┘
//! ```
//!
//! Only the sources that can hold the tool are loaded. The checks, limits and deadlines of a call
//! are those of `serve`, because both use the runner of `toolwright_exec`. Exit 0 for a result, 1
//! if the tool or the call failed, 2 if the arguments or sources are unusable.
//!
//! Messages about the configuration are held back until the call has ended. Mistakes that concern
//! other servers are printed only if the tool was not found, because they may be the reason.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{
    BoxFuture, CallArguments, CallRequest, Failure, GrantAnswer, GrantQuestion, Host, Outcome,
    Progress, RegisteredTool, ResultContent, code,
};
use toolwright_model::redacted_url;
use toolwright_source::{Diagnostic, Severity, render};
use toolwright_workspace::{LoadError, ReadOptions, SourceArgument, SourcePlan, codes};

use crate::args::CallArgs;
use crate::output::{self, ExitStatus};
use crate::{grant_question, messages, runtime, saved_media, sources, vendor_calls};

/// Runs the command, and ends all processes that it started. With `--as`, `vendor_calls` runs
/// instead.
///
/// The listener sorts the events of the catalog:
///
/// ```text
/// file that cannot be read      held back; the error if there is no tool at all
/// warning about a definition    dropped: `check` reports it
/// mistake at the needed server  dropped: it is in the failure of the call
/// mistake at another server     held back; printed if the tool was not found
/// failure of a source           dropped: `load_for` returns it, too
/// ```
///
/// # Errors
/// If the arguments cannot be parsed, there is no source, or the user interrupts while a server is
/// still starting.
pub(crate) fn run(args: &CallArgs) -> anyhow::Result<ExitStatus> {
    if let Some(target) = &args.vendor {
        return vendor_calls::run(args, target);
    }
    let input = CallInput::parse(args)?;
    let command = format!("call {} --from", args.id);
    let planner = sources::planner(&args.source, args.source.options(), &command)?;
    // The server that a full id names, and why it is not started.
    let server = args.id.split_once(':').map(|(server, _)| server.to_owned());
    let not_started =
        server.as_deref().and_then(|server| CallToUnstartedServer::of(server, &planner()));
    let reasons = not_started.iter().flat_map(|it| it.reasons.clone()).collect::<Vec<_>>();
    // Files and folders that could not be read.
    let unread: Arc<Mutex<Vec<LoadError>>> = Arc::default();
    let unread_here = Arc::clone(&unread);
    // Mistakes of the configuration that concern other servers.
    let elsewhere: Arc<Mutex<Vec<Diagnostic>>> = Arc::default();
    let elsewhere_here = Arc::clone(&elsewhere);
    let listener = Arc::new(move |event: &CatalogEvent| match event {
        CatalogEvent::LoadFailure(error) => {
            unread_here.lock().unwrap_or_else(PoisonError::into_inner).push(error.clone());
        }
        // Warnings about definitions belong to `check`; here they would hide the result.
        CatalogEvent::Problem(d) if d.severity < Severity::Error => {}
        CatalogEvent::PlanProblem(d) if d.severity == Severity::Info => {}
        // Reported as the reason of the failed call.
        CatalogEvent::PlanProblem(d)
            if reasons.iter().any(|why| (why.code, &why.path) == (d.code, &d.path)) => {}
        // Servers that this call does not need are not its business, as long as it succeeds. The
        // references of the server that it needs are among the reasons.
        CatalogEvent::PlanProblem(d)
            if (d.about.is_some() && server.is_some()
                || codes::is_about_server(d.code)
                || codes::is_about_reference(d.code))
                && (server.is_none() || d.about.as_deref() != server.as_deref()) =>
        {
            if codes::is_mistake(d) {
                let mut elsewhere = elsewhere_here.lock().unwrap_or_else(PoisonError::into_inner);
                elsewhere.push(Diagnostic::clone(d));
            }
        }
        // Reported as the reason of the failed call, if the tool is not found elsewhere.
        CatalogEvent::SourceFailure(_) => {}
        event => messages::print_event(event),
    });
    runtime::new_runtime()?.block_on(async {
        let context = runtime::console_context();
        let policy = args.source.sandbox.jail_policy();
        let catalog =
            sources::open_catalog(planner, policy, &args.source.allowed, context, listener)?;
        // Before anything is loaded: "tool not found" would hide the real reason.
        if catalog.source_count() == 0 {
            if let Some(not_started) = not_started {
                let status = print_result(Err(not_started.into_failure()), args.json);
                print_mistakes(&elsewhere);
                return status;
            }
            print_mistakes(&elsewhere);
            bail!("there is no source to load `{}` from", args.id);
        }
        let cancel = CancellationToken::new();
        let work = call(args, &input, not_started, &catalog, &cancel);
        let result = until_interrupted(&catalog, &cancel, work).await?;
        // Mistakes of the configuration are printed only if they may be the reason. The tool may be
        // one of a server that is not started.
        let is_missing = |failure: &Failure| {
            [&code::TOOL_NOT_FOUND, &code::UPSTREAM_UNAVAILABLE].contains(&failure.code)
        };
        let is_missing = result.as_ref().is_err_and(is_missing);
        let mut unread =
            std::mem::take(&mut *unread.lock().unwrap_or_else(PoisonError::into_inner));
        // Without any tool, a wrong path is the reason, and not the name of the tool.
        let reason = match &result {
            Err(failure)
                if failure.code == &code::TOOL_NOT_FOUND
                    && catalog.runner().registry().is_empty() =>
            {
                unread.pop()
            }
            _ => None,
        };
        unread.iter().for_each(|error| messages::print_note(&error.to_string()));
        if let Some(reason) = reason {
            print_mistakes(&elsewhere);
            return Err(reason.into());
        }
        let result = match (result, &args.save) {
            (Ok(outcome), Some(folder)) => Ok(save_media(outcome, folder, args)?),
            (result, _) => result,
        };
        let status = print_result(result, args.json);
        if is_missing {
            print_mistakes(&elsewhere);
        }
        status
    })
}

/// Writes mistakes of the configuration to stderr, one line each.
///
/// They were held back while it was not known whether the call needs them.
fn print_mistakes(mistakes: &Mutex<Vec<Diagnostic>>) {
    let mistakes = mistakes.lock().unwrap_or_else(PoisonError::into_inner);
    mistakes.iter().for_each(|it| messages::print_note(&messages::diagnostic_line(it)));
}

/// Waits for calls, or for a signal that ends them, and ends all processes that they started. Also
/// used by `doctor` and by `call --as`.
///
/// # Errors
/// If the user interrupts while a server is still starting.
pub(crate) async fn until_interrupted<T>(
    catalog: &Catalog,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> anyhow::Result<T> {
    // The calls stay pinned outside of `select!`, so that they can finish after a signal.
    let mut work = std::pin::pin!(work);
    let result = tokio::select! {
        result = &mut work => result,
        () = runtime::wait_for_signal() => {
            cancel.cancel();
            // A running call ends by the token. The start of a server does not look at the token,
            // so after a second the future is dropped.
            match tokio::time::timeout(Duration::from_secs(1), work).await {
                Ok(result) => result,
                Err(_) => bail!("interrupted"),
            }
        }
    };
    // Also after a failed call: servers must not outlive this process.
    catalog.runner().close().await;
    // Also processes that left the session of their tool.
    toolwright_exec::kill_all_processes();
    Ok(result)
}

/// Loads the sources, converts the arguments and calls the tool.
///
/// `not_started` is used only if the tool was found nowhere else. `args.id` may be a name without
/// namespace or an id with a version; the registry resolves both.
///
/// # Errors
/// The failure of the call, or the more precise one of the source that could not be loaded.
async fn call(
    args: &CallArgs,
    input: &CallInput,
    not_started: Option<CallToUnstartedServer>,
    catalog: &Catalog,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    // `--timeout` covers loading and the call together, so both start here.
    let started = Instant::now();
    let timeout = args.timeout.map(Duration::from_millis);
    let loading = catalog.load_for(&args.id);
    let failures = match timeout {
        None => loading.await,
        Some(time) => match tokio::time::timeout(time, loading).await {
            Ok(failures) => failures,
            Err(_) => {
                let message = format!(
                    "the sources of `{}` were not ready within {} ms",
                    args.id,
                    time.as_millis()
                );
                return Err(Failure::new(&code::TIMEOUT, message).suggest(MORE_TIME));
            }
        },
    };
    let runner = catalog.runner();
    let registry = runner.registry();
    // Also accepts a name without its namespace, if only one tool has it. If there is none, the
    // runner reports similar ids.
    let tool = registry.find(&args.id);
    // An id with a version stays: the id alone means the newest one.
    let id = match registry.get(&args.id) {
        None => tool.map_or_else(|| args.id.clone(), |entry| entry.id.to_string()),
        Some(_) => args.id.clone(),
    };
    let mut request = CallRequest::new(id);
    request.arguments = input.for_tool(tool.map(|entry| &**entry))?;
    request.timeout = timeout;
    request.defaults = args.defaults;
    // The deadline counts from the start of loading, not from the call.
    request.started = started;
    request.cancel = cancel.clone();
    // Before the call, so that it is read although the call may take long.
    let deprecated = tool.map(|entry| &entry.tool.details.deprecation);
    if let Some(deprecation) = deprecated.filter(|it| it.deprecated) {
        let message = deprecation.shown_message().unwrap_or_default();
        let separator = if message.is_empty() { "" } else { ": " };
        messages::print_note(&format!("`{}` is deprecated{separator}{message}", request.id));
    }
    let display = ProgressDisplay::new();
    let result = runner.call(request, &display).await;
    // Before anything is printed, or the result would be written into the bar.
    display.0.finish_and_clear();
    match (result, failures.into_iter().next()) {
        // The tool may belong to a source that could not be loaded, so that failure explains more.
        (Err(failure), Some(source)) if failure.code == &code::TOOL_NOT_FOUND => {
            let mut failure = source.failure;
            failure.message = format!("{}: {}", source.source, failure.message);
            Err(failure)
        }
        (Err(failure), None) if failure.code == &code::TOOL_NOT_FOUND => {
            Err(not_started.map_or(failure, CallToUnstartedServer::into_failure))
        }
        // The limit of the call; that of a helper comes with its own suggestion.
        (Err(failure), _)
            if failure.code == &code::TIMEOUT
                && *failure.suggestion == *code::TIMEOUT.suggestion =>
        {
            Err(failure.suggest(MORE_TIME))
        }
        (Err(failure), _) => Err(input.with_json_form(failure)),
        (result, _) => result,
    }
}

/// What to do about a call that took too long.
const MORE_TIME: &str = "ask for less at once, or allow more time with `--timeout MS`";

/// A server of the plan that is not started, so that none of its tools is known.
///
/// Disabled, or not usable for the reasons that are listed.
struct CallToUnstartedServer {
    server: String,
    disabled: bool,
    reasons: Vec<Diagnostic>,
}

impl CallToUnstartedServer {
    /// `None` if a source with this name is started, or the plan does not have such a server.
    fn of(server: &str, plan: &SourcePlan) -> Option<CallToUnstartedServer> {
        let is_started = plan.specs.iter().any(|spec| spec.name == server);
        let found = plan.unstarted.iter().find(|known| known.name == server && !is_started)?;
        let reasons = plan.reasons(found).cloned().collect();
        Some(CallToUnstartedServer { server: server.to_owned(), disabled: found.disabled, reasons })
    }

    /// The failure of a call of one of its tools. UPSTREAM_UNAVAILABLE, as for a server that runs
    /// and does not answer.
    fn into_failure(self) -> Failure {
        let reasons = self.reasons.iter().map(messages::diagnostic_line);
        let why = match self.disabled {
            true => "it is disabled".to_owned(),
            false => reasons.collect::<Vec<_>>().join("; "),
        };
        let message = format!("the server `{}` was not started: {why}", self.server);
        Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
            .suggest("correct its entry, or enable it")
    }
}

/// Writes the media of a result to files. In the text output their paths stand in place of the
/// media; beside JSON they are notes on stderr.
///
/// The position of a block in the content stays the same, so text around it keeps its place.
fn save_media(mut outcome: Outcome, folder: &Path, args: &CallArgs) -> anyhow::Result<Outcome> {
    for (index, path) in saved_media::save(folder, &args.id, &outcome.content)? {
        let path = path.display().to_string();
        if args.json {
            messages::print_note(&format!("saved `{path}`"));
        } else {
            outcome.content[index] = ResultContent::text(path);
        }
    }
    Ok(outcome)
}

/// Prints what the call gave: results to stdout, failures to stderr, except with `--json`, where
/// both go to stdout so that a program finds one JSON value there.
///
/// Exits with 1 for a failure of either kind: that of the tool, which has a result, and that of the
/// call, which has a code. A detail is printed only here: it may quote what a program printed and
/// is not for models.
fn print_result(result: Result<Outcome, Failure>, as_json: bool) -> anyhow::Result<ExitStatus> {
    match result {
        Ok(outcome) => {
            for warning in &outcome.warnings {
                messages::print_note(warning);
            }
            if as_json {
                output::print_json(&outcome_json(&outcome))?;
            } else if outcome.is_error {
                output::write_stderr(&format!("TOOL_FAILED: {}\n", text_of(&outcome).trim_end()));
            // To a pipe structured content is streamed as JSON, which may be large.
            } else if let Some(value) =
                structured_result(&outcome).filter(|_| !std::io::stdout().is_terminal())
            {
                output::print_json(value)?;
            } else {
                output::print_unfiltered(&text_of(&outcome))?;
            }
            // A tool that reports a failure has answered, but scripts must see it.
            Ok(if outcome.is_error { ExitStatus::Findings } else { ExitStatus::Clean })
        }
        Err(failure) if as_json => {
            output::print_json(&json!({"error": failure.to_json()}))?;
            Ok(ExitStatus::Findings)
        }
        Err(failure) => {
            output::write_stderr(&format!("{}\n", output::visible_lines(&failure.to_text())));
            // Often the message quotes the detail already.
            let is_quoted = |detail: &&str| failure.message.contains(detail.trim());
            if let Some(detail) = failure.detail.as_deref().filter(|detail| !is_quoted(detail)) {
                output::write_stderr(&format!(
                    "detail: {}\n",
                    output::visible_lines(detail.trim())
                ));
            }
            Ok(ExitStatus::Findings)
        }
    }
}

/// The result in the shape of MCP's `CallToolResult`.
///
/// Without what the runner adds for its own callers, such as warnings, which go to stderr.
fn outcome_json(outcome: &Outcome) -> Json {
    let mut json = json!({
        "content": outcome.content,
        "isError": outcome.is_error,
    });
    if let Some(structured) = &outcome.structured {
        json["structuredContent"] = structured.clone();
    }
    if let Some(meta) = &outcome.meta {
        json["_meta"] = meta.clone();
    }
    json
}

/// The structured content, if it is the whole result. MCP servers repeat structured content as
/// text; if a text says something else, `None`, and the texts are printed.
fn structured_result(outcome: &Outcome) -> Option<&Json> {
    let is_repeated = |value: &Json| {
        outcome.content.iter().all(|content| {
            content.as_text().is_some_and(|text| {
                serde_json::from_str::<Json>(text).is_ok_and(|json| json == *value)
            })
        })
    };
    outcome.structured.as_ref().filter(|value| outcome.content.is_empty() || is_repeated(value))
}

/// The result as text. Only for a terminal, control characters are made visible.
fn text_of(outcome: &Outcome) -> String {
    let texts = || outcome.content.iter().map(describe).collect::<Vec<_>>().join("\n");
    let text = structured_result(outcome).map_or_else(texts, |value| format!("{value:#}"));
    let text = text.trim_end_matches('\n');
    // A program that reads stdout gets the bytes of the tool.
    if std::io::stdout().is_terminal() {
        format!("{}\n", output::visible_lines(text))
    } else {
        format!("{text}\n")
    }
}

/// A text block unchanged; images, audio and resources as a short note in brackets, because their
/// data would flood the terminal.
///
/// Blocks are not checked against the schema of MCP here, so a missing member becomes an empty
/// text.
fn describe(content: &ResultContent) -> String {
    if let Some(text) = content.as_text() {
        return text.to_owned();
    }
    // The content is the JSON of the server, which may lack any field.
    let block = content.as_other().unwrap_or(&Json::Null);
    let field = |name: &str| block.get(name).and_then(Json::as_str);
    let resource =
        |name: &str| block.get("resource").and_then(|r| r.get(name)).and_then(Json::as_str);
    match (field("type").unwrap_or("unknown"), resource("text")) {
        // A resource with text is printed like a text block.
        ("resource", Some(text)) => text.to_owned(),
        ("resource_link", _) => format!("[link: {}]", field("uri").unwrap_or_default()),
        ("resource", None) => format!("[resource: {}]", resource("uri").unwrap_or_default()),
        (kind, _) => {
            // Base64: four characters for three bytes.
            let size = field("data").map_or(0, |data| data.len() / 4 * 3);
            format!(
                "[{kind}: {}, about {size} bytes; `--json` prints it]",
                field("mimeType").unwrap_or("unknown type")
            )
        }
    }
}

/// The arguments from the command line. Pairs are converted only when the tool is loaded, because
/// its schema decides what `7` means.
enum CallInput {
    /// `--args`, always an object.
    Whole(CallArguments),
    /// `KEY=VALUE` and `KEY:=JSON`, without duplicate keys.
    Pairs(Vec<(String, ArgumentValue)>),
}

/// The value of one pair.
enum ArgumentValue {
    /// From `key=value`: converted by the schema.
    Text(String),
    /// From `key:=value`: JSON text, used unchanged.
    Json(String),
}

impl CallInput {
    /// Checks the syntax of the arguments, before anything is loaded.
    ///
    /// `a=1` and `a:=1` have the same key. `-` after `--args` reads stdin, at most 16 MiB; a longer
    /// text is cut there and then fails as invalid JSON.
    ///
    /// # Errors
    /// If the JSON is invalid, or a pair has no key, no `=`, or a key twice.
    fn parse(args: &CallArgs) -> anyhow::Result<CallInput> {
        if args.pairs.is_empty()
            && let Some(message) = source_as_id(&args.id, None)
        {
            bail!("{message}");
        }
        if let Some(text) = &args.args {
            let mut input = String::new();
            let text = if text == "-" {
                // As much as a definition may have; a pipe can be endless.
                let limit = 16 << 20;
                std::io::stdin()
                    .take(limit)
                    .read_to_string(&mut input)
                    .context("cannot read the arguments")?;
                &input
            } else {
                text
            };
            let arguments =
                CallArguments::parse(text).map_err(|why| anyhow!("`--args` is {why}"))?;
            if !arguments.is_object() {
                bail!("`--args` is not a JSON object");
            }
            return Ok(CallInput::Whole(arguments));
        }
        let mut pairs: Vec<(String, ArgumentValue)> = Vec::new();
        for pair in &args.pairs {
            // At the first `=`, so that a value may contain others.
            let Some((key, value)) = pair.split_once('=') else {
                if let Some(message) = source_as_id(&args.id, Some(pair)) {
                    bail!("{message}");
                }
                bail!("`{pair}` is not an argument of the form `key=value`");
            };
            let (key, value) = match key.strip_suffix(':') {
                Some(key) => {
                    CallArguments::parse(value)
                        .map_err(|why| anyhow!("the value of `{key}` is {why}"))?;
                    (key, ArgumentValue::Json(value.to_owned()))
                }
                None => (key, ArgumentValue::Text(value.to_owned())),
            };
            if key.is_empty() {
                bail!("`{pair}` has no key in front of the `=`");
            }
            // The last one would win silently.
            if pairs.iter().any(|(known, _)| known == key) {
                bail!("`{key}` is given twice");
            }
            pairs.push((key.to_owned(), value));
        }
        Ok(CallInput::Pairs(pairs))
    }

    /// The failure with the form of JSON for each wrong argument that was given as text and has to
    /// be a list or an object. `a=1,2` is a text, and how to write a list is what a person wants to
    /// know then. Only top-level arguments can be meant, since a pair has no path.
    fn with_json_form(&self, mut failure: Failure) -> Failure {
        let CallInput::Pairs(pairs) = self else { return failure };
        for error in failure.errors.iter_mut() {
            let given = pairs.iter().find(|(key, _)| error.path.strip_prefix('/') == Some(key));
            let Some((key, ArgumentValue::Text(text))) = given else { continue };
            let example = if error.message.ends_with("is not of type `array`") {
                json!([text])
            } else if error.message.ends_with("is not of type `object`") {
                json!({ "key": text })
            } else {
                continue;
            };
            error.message += &format!("; write JSON after `:=`, such as `{key}:='{example}'`");
        }
        failure
    }

    /// The arguments of the request, with texts converted to the types in the tool's schema.
    /// Without a tool they stay text; the call fails anyway. Put together as text, so that numbers
    /// reach the tool with the digits that were typed. Numbers that a floating-point number cannot
    /// hold, such as long ids, keep all their digits.
    fn for_tool(&self, entry: Option<&RegisteredTool>) -> Result<CallArguments, Failure> {
        match self {
            CallInput::Whole(arguments) => Ok(arguments.clone()),
            CallInput::Pairs(pairs) => {
                let schema = entry.map(|entry| entry.tool.input.to_json()).unwrap_or_default();
                let member = |(key, value): &(String, ArgumentValue)| {
                    let value = match value {
                        ArgumentValue::Json(text) => text.clone(),
                        ArgumentValue::Text(text) => convert_text(text, &schema["properties"][key]),
                    };
                    format!("{}: {value}", Json::from(key.as_str()))
                };
                let text = pairs.iter().map(member).collect::<Vec<_>>().join(", ");
                // Keys are distinct and values are JSON, but together they may be nested too
                // deeply.
                CallArguments::parse(&format!("{{{text}}}")).map_err(|why| {
                    Failure::new(&code::INPUT_INVALID, format!("the arguments are {why}"))
                })
            }
        }
    }
}

/// The message if the first word of the command line names a source in place of a tool. A tool may
/// have the name of a file, so that a file counts only if no call was meant: `next` is a word that
/// is not an argument, or there are no arguments and the file is what `list` would start.
///
/// Example: `call tools.yaml read_file` is answered with the command line that was meant.
fn source_as_id(id: &str, next: Option<&str>) -> Option<String> {
    let what = match SourceArgument::parse(id) {
        SourceArgument::Url(_) => "a URL",
        SourceArgument::Path(path) if next.is_some() && path.exists() => "a file",
        SourceArgument::Path(path) if SourcePlan::is_live(&path, ReadOptions::default()) => {
            "a file"
        }
        _ => return None,
    };
    // The address may have a token in it.
    let shown = if what == "a URL" { redacted_url(id) } else { id.to_owned() };
    Some(format!(
        "`{shown}` is {what}, and the id of a tool is expected here: `toolwright call {} --from \
         {shown}`",
        next.unwrap_or("ID")
    ))
}

/// Converts the text of an argument into JSON text. It becomes a string unless it is JSON of
/// another type that the property's schema accepts: with `type: string`, `zip=01234` and
/// `flag=true` are strings.
///
/// ```text
/// text    type         result
/// 7       integer      7
/// 01234   string       "01234"
/// [1]     (none)       [1]
/// true    (an enum)    "true"
/// ```
fn convert_text(text: &str, schema: &Json) -> String {
    // `type` may be one name or a list of names.
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    // Not JSON at all, such as `hello`: stays a text whatever the schema says.
    let as_json = CallArguments::parse(text).ok();
    let fits = |json: &Json| match json {
        Json::Null => types.contains(&"null"),
        Json::Bool(_) => types.contains(&"boolean"),
        // For `integer` also `1.5`: validation then reports it better than this could.
        Json::Number(_) => types.contains(&"number") || types.contains(&"integer"),
        Json::Array(_) => types.contains(&"array"),
        Json::Object(_) => types.contains(&"object"),
        Json::String(_) => false,
    };
    // Without any hint in the schema, a text that is a JSON number, list or boolean becomes one.
    let untyped = types.is_empty() && schema.get("enum").is_none() && schema.get("const").is_none();
    match as_json {
        Some(json) if fits(&json) || (untyped && !json.is_string()) => text.to_owned(),
        _ => Json::from(text).to_string(),
    }
}

/// The time of a step of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// Receives the progress of the call, and shows it on stderr if that is a terminal.
///
/// Hidden if stderr is not a terminal; then tools are not asked for progress at all.
struct ProgressDisplay(ProgressBar);

impl ProgressDisplay {
    fn new() -> ProgressDisplay {
        if !std::io::stderr().is_terminal() {
            return ProgressDisplay(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        // Turns even while no progress arrives, to show that the call is still running.
        bar.enable_steady_tick(TICK);
        ProgressDisplay(bar)
    }
}

impl Host for ProgressDisplay {
    fn ask_grant<'a>(&'a self, question: &'a GrantQuestion) -> BoxFuture<'a, Option<GrantAnswer>> {
        Box::pin(async move {
            // The spinner would write over the question.
            let is_shown = !self.0.is_hidden();
            self.0.disable_steady_tick();
            self.0.set_draw_target(ProgressDrawTarget::hidden());
            let answer = grant_question::ask(question).await;
            if is_shown {
                self.0.set_draw_target(ProgressDrawTarget::stderr());
                self.0.enable_steady_tick(TICK);
            }
            answer
        })
    }

    fn progress(&self, progress: Progress) {
        if let Some(total) = progress.total.filter(|total| *total > 0.0) {
            // A bar once a total is known, a spinner before. The length is set below, so the style
            // is set once.
            if self.0.length().is_none()
                && let Ok(style) = ProgressStyle::with_template("{bar:30} {percent}% {msg}")
            {
                self.0.set_style(style);
            }
            // Totals are floating-point numbers of any size; the bar counts thousandths.
            self.0.set_length(1_000);
            self.0.set_position((progress.done / total * 1_000.0).clamp(0.0, 1_000.0) as u64);
        }
        let message = progress.message.unwrap_or_else(|| format!("{}", progress.done));
        self.0.set_message(render::visible(&message));
    }

    fn wants_progress(&self) -> bool {
        !self.0.is_hidden()
    }
}
