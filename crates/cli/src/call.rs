//! `toolwright call`: one tool, once.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{
    CallRequest, ExecutorContext, Failure, Host, Log, Outcome, Progress, RegisteredTool,
    ResultContent, code,
};
use toolwright_source::{Severity, render};
use toolwright_workspace::ReadOptions;

use crate::args::CallArgs;
use crate::output::{self, Exit};
use crate::{messages, runtime, sources};

pub(crate) fn run(args: &CallArgs) -> anyhow::Result<Exit> {
    let given = CallInput::parse(args)?;
    let listener = Arc::new(|event: &CatalogEvent| match event {
        CatalogEvent::Problem(d) if d.severity < Severity::Error => {}
        // The failure of the call says it.
        CatalogEvent::SourceFailure(_) => {}
        event => {
            messages::sentence(event).into_iter().for_each(|sentence| messages::note(&sentence))
        }
    });
    runtime::runtime()?.block_on(async {
        // What its author wants to see; the rest is in the answer.
        let parts = ExecutorContext {
            console: runtime::log(),
            ..runtime::executor_context(Log::default())
        };
        let catalog = sources::catalog(&args.source, ReadOptions::default(), parts, listener)?;
        if catalog.sources() == 0 {
            bail!("there is no source that could hold `{}`", args.id);
        }
        let cancel = CancellationToken::new();
        let work = call(args, &given, &catalog, &cancel);
        let mut work = std::pin::pin!(work);
        let result = tokio::select! {
            result = &mut work => result?,
            () = runtime::interrupted() => {
                cancel.cancel();
                // A server that is still starting cannot be cancelled, only left.
                match tokio::time::timeout(Duration::from_secs(1), work).await {
                    Ok(result) => result?,
                    Err(_) => bail!("interrupted"),
                }
            }
        };
        catalog.runner().close().await;
        toolwright_exec::kill_all_processes();
        print(result, args.json)
    })
}

async fn call(
    args: &CallArgs,
    given: &CallInput,
    catalog: &Catalog,
    cancel: &CancellationToken,
) -> anyhow::Result<Result<Outcome, Failure>> {
    let started = Instant::now();
    let timeout = args.timeout.map(Duration::from_millis);
    let loading = catalog.load_for(&args.id);
    let unloaded = match timeout {
        None => loading.await,
        Some(time) => match tokio::time::timeout(time, loading).await {
            Ok(unloaded) => unloaded,
            Err(_) => {
                let message = format!(
                    "the sources of `{}` were not ready within {} ms",
                    args.id,
                    time.as_millis()
                );
                return Ok(Err(Failure::new(&code::TIMEOUT, message)));
            }
        },
    };
    let runner = catalog.runner();
    let toolbox = runner.registry();
    let meant = toolbox.find(&args.id);
    let mut request =
        CallRequest::new(meant.map_or_else(|| args.id.clone(), |entry| entry.id.to_string()));
    request.arguments = given.arguments(meant.map(|entry| &**entry))?;
    request.timeout = timeout;
    request.started = started;
    request.cancel = cancel.clone();
    let terminal = Terminal::new();
    let result = runner.call(request, &terminal).await;
    terminal.0.finish_and_clear();
    Ok(match (result, unloaded.into_iter().next()) {
        // The tool may be one of a source that could not be loaded: that is the better reason.
        (Err(failure), Some(unloaded)) if failure.code == &code::TOOL_NOT_FOUND => {
            let mut failure = unloaded.failure;
            failure.message = format!("{}: {}", unloaded.source, failure.message);
            Err(failure)
        }
        (result, _) => result,
    })
}

fn print(result: Result<Outcome, Failure>, as_json: bool) -> anyhow::Result<Exit> {
    match result {
        Ok(outcome) => {
            for warning in &outcome.warnings {
                messages::note(warning);
            }
            if as_json {
                output::print_json(&outcome_json(&outcome))?;
            } else if outcome.is_error {
                output::say(&format!("TOOL_FAILED: {}\n", readable(&outcome).trim_end()));
            } else if let Some(value) =
                laid_out(&outcome).filter(|_| !std::io::stdout().is_terminal())
            {
                output::print_json(value)?;
            } else {
                output::print_raw(&readable(&outcome))?;
            }
            Ok(if outcome.is_error { Exit::Findings } else { Exit::Clean })
        }
        Err(failure) if as_json => {
            output::print_json(&json!({"error": failure.to_json()}))?;
            Ok(Exit::Findings)
        }
        Err(failure) => {
            output::say(&format!("{}\n", output::visible_lines(&failure.to_text())));
            let known = |detail: &&str| failure.message.contains(detail.trim());
            if let Some(detail) = failure.detail.as_deref().filter(|detail| !known(detail)) {
                output::say(&format!("detail: {}\n", output::visible_lines(detail.trim())));
            }
            Ok(Exit::Findings)
        }
    }
}

fn outcome_json(outcome: &Outcome) -> Json {
    let mut json = json!({
        "content": outcome.content.iter().map(|content| &content.0).collect::<Vec<_>>(),
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

/// Structured content, unless texts say more than the same.
fn laid_out(outcome: &Outcome) -> Option<&Json> {
    let says_the_same = |value: &Json| {
        outcome.content.iter().all(|content| {
            content.as_text().is_some_and(|text| {
                serde_json::from_str::<Json>(text).is_ok_and(|json| json == *value)
            })
        })
    };
    outcome.structured.as_ref().filter(|value| outcome.content.is_empty() || says_the_same(value))
}

/// For a person.
fn readable(outcome: &Outcome) -> String {
    let texts = || outcome.content.iter().map(describe).collect::<Vec<_>>().join("\n");
    let text = laid_out(outcome).map_or_else(texts, |value| format!("{value:#}"));
    let text = text.trim_end_matches('\n');
    // A program that reads it gets it as it is.
    if std::io::stdout().is_terminal() {
        format!("{}\n", output::visible_lines(text))
    } else {
        format!("{text}\n")
    }
}

/// A text as it is, anything else in a few words.
fn describe(content: &ResultContent) -> String {
    if let Some(text) = content.as_text() {
        return text.to_owned();
    }
    let field = |name: &str| content.0.get(name).and_then(Json::as_str);
    let resource =
        |name: &str| content.0.get("resource").and_then(|r| r.get(name)).and_then(Json::as_str);
    match (field("type").unwrap_or("unknown"), resource("text")) {
        ("resource", Some(text)) => text.to_owned(),
        ("resource_link", _) => format!("[link: {}]", field("uri").unwrap_or_default()),
        ("resource", None) => format!("[resource: {}]", resource("uri").unwrap_or_default()),
        (kind, _) => {
            let size = field("data").map_or(0, |data| data.len() / 4 * 3);
            format!(
                "[{kind}: {}, about {size} bytes; `--json` prints it]",
                field("mimeType").unwrap_or("of no named type")
            )
        }
    }
}

/// Arguments as they were typed.
enum CallInput {
    Json(Json),
    Pairs(Vec<(String, Typed)>),
}

enum Typed {
    /// `key=value`
    Text(String),
    /// `key:=value`
    Json(Json),
}

impl CallInput {
    fn parse(args: &CallArgs) -> anyhow::Result<CallInput> {
        if let Some(text) = &args.args {
            let mut input = String::new();
            let text = if text == "-" {
                let limit = 16 << 20;
                std::io::stdin()
                    .take(limit)
                    .read_to_string(&mut input)
                    .context("cannot read the arguments")?;
                &input
            } else {
                text
            };
            let json: Json = serde_json::from_str(text).context("`--args` is not JSON")?;
            if !json.is_object() {
                bail!("`--args` is not a JSON object");
            }
            return Ok(CallInput::Json(json));
        }
        let mut pairs: Vec<(String, Typed)> = Vec::new();
        for pair in &args.pairs {
            let Some((key, value)) = pair.split_once('=') else {
                bail!("`{pair}` is not an argument of the form `key=value`");
            };
            let (key, typed) = match key.strip_suffix(':') {
                Some(key) => {
                    let json = serde_json::from_str(value)
                        .with_context(|| format!("the value of `{key}` is not JSON"))?;
                    (key, Typed::Json(json))
                }
                None => (key, Typed::Text(value.to_owned())),
            };
            if key.is_empty() {
                bail!("`{pair}` has no key in front of the `=`");
            }
            if pairs.iter().any(|(known, _)| known == key) {
                bail!("`{key}` is given twice");
            }
            pairs.push((key.to_owned(), typed));
        }
        Ok(CallInput::Pairs(pairs))
    }

    /// The arguments, with texts read as what the tool's schema says they are.
    fn arguments(&self, entry: Option<&RegisteredTool>) -> anyhow::Result<Json> {
        match self {
            CallInput::Json(json) => Ok(json.clone()),
            CallInput::Pairs(pairs) => {
                let schema = entry.map(|entry| entry.tool.input.to_json()).unwrap_or_default();
                let read = |(key, typed): &(String, Typed)| {
                    let value = match typed {
                        Typed::Json(json) => json.clone(),
                        Typed::Text(text) => read_text(text, &schema["properties"][key]),
                    };
                    (key.clone(), value)
                };
                Ok(Json::Object(pairs.iter().map(read).collect::<Map<_, _>>()))
            }
        }
    }
}

/// A text is a text unless the schema takes something else and the text can be that.
fn read_text(text: &str, schema: &Json) -> Json {
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let as_json = serde_json::from_str::<Json>(text).ok();
    let fits = |json: &Json| match json {
        Json::Null => types.contains(&"null"),
        Json::Bool(_) => types.contains(&"boolean"),
        Json::Number(_) => types.contains(&"number") || types.contains(&"integer"),
        Json::Array(_) => types.contains(&"array"),
        Json::Object(_) => types.contains(&"object"),
        Json::String(_) => false,
    };
    // Where the schema says nothing, what looks like a number, a list or a truth value is one.
    let untyped = types.is_empty() && schema.get("enum").is_none() && schema.get("const").is_none();
    match as_json {
        Some(json) if fits(&json) || (untyped && !json.is_string()) => json,
        _ => Json::String(text.to_owned()),
    }
}

/// Progress on a terminal, nothing elsewhere.
struct Terminal(ProgressBar);

impl Terminal {
    fn new() -> Terminal {
        if !std::io::stderr().is_terminal() {
            return Terminal(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(120));
        Terminal(bar)
    }
}

impl Host for Terminal {
    fn progress(&self, progress: Progress) {
        if let Some(total) = progress.total.filter(|total| *total > 0.0) {
            if self.0.length().is_none()
                && let Ok(style) = ProgressStyle::with_template("{bar:30} {percent}% {msg}")
            {
                self.0.set_style(style);
            }
            self.0.set_length(1_000);
            self.0.set_position((progress.done / total * 1_000.0).clamp(0.0, 1_000.0) as u64);
        }
        let words = progress.message.unwrap_or_else(|| format!("{}", progress.done));
        self.0.set_message(render::visible(&words));
    }

    fn wants_progress(&self) -> bool {
        !self.0.is_hidden()
    }
}
