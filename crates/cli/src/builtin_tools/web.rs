//! The toolset `web`: `fetch` returns a page as Markdown, `search` asks a search engine.
//!
//! They do what the executables of `toolwright_web` do, with more options: their own schemas, which
//! no specification prescribes. Settings and credentials come from the same variables and files,
//! first those that the source sets in `env`. `search` is listed only if there are credentials for
//! it, so that no agent tries a tool that cannot work.
//!
//! Pages are fetched and converted on threads of their own: the library blocks. A thread ends at
//! its own deadline, which is earlier than that of the call, so that the caller gets its message.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tokio::sync::{Semaphore, oneshot};
use toolwright_exec::{
    BoxFuture, BuiltinCall, BuiltinToolset, Failure, Host, Outcome, ResultContent, code,
};
use toolwright_web::search::{SearchHit, SearchProvider, SearchQuery};
use toolwright_web::tool::{self, WebTool};
use toolwright_web::{
    FetchError, FetchOptions, LinkStyle, MarkdownOptions, PageContent, PagingUnit, excerpt, fetch,
};

use crate::environment::variable;
use crate::md::{front_matter, page_notes};

/// Pages and searches that are worked on at once. A page may take 128 MiB of memory. Further calls
/// wait; their time runs meanwhile.
const AT_ONCE: usize = 8;

/// The toolset `web`.
pub(super) struct WebToolset {
    /// Held by the threads, also by those whose call was cancelled.
    ///
    /// A permit is given back when the thread ends, so calls that were cancelled still count.
    threads: Arc<Semaphore>,
}

impl WebToolset {
    pub(super) fn new() -> WebToolset {
        WebToolset { threads: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Does blocking work on a thread of its own. Not on one of the runtime's: at the end of the
    /// program, the runtime would wait for them.
    ///
    /// # Errors
    /// That of `work`, or `TOOL_FAILED` if no thread can be started or the work panics: its sender
    /// is dropped then, and the receiver notices.
    async fn on_thread(
        &self,
        work: impl FnOnce() -> Result<Outcome, Failure> + Send + 'static,
    ) -> Result<Outcome, Failure> {
        let failed = |message: String| Failure::new(&code::TOOL_FAILED, message);
        // The semaphore is never closed.
        let permit = Arc::clone(&self.threads).acquire_owned().await.ok();
        let (done, result) = oneshot::channel();
        let thread = std::thread::Builder::new().name("web tool".to_owned());
        let started = thread.spawn(move || {
            // Nobody waits for the result of a cancelled call.
            let _ = done.send(work());
            drop(permit);
        });
        started.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        result.await.unwrap_or_else(|_| Err(failed("the tool ended without a result".to_owned())))
    }
}

impl BuiltinToolset for WebToolset {
    fn name(&self) -> &'static str {
        "web"
    }

    /// The provider of `search` is looked up each time, so that credentials that appear later are
    /// found.
    fn list<'a>(
        &'a self,
        environment: &'a [(OsString, OsString)],
    ) -> BoxFuture<'a, Result<Json, Failure>> {
        let mut tools = vec![fetch_definition()];
        let provider = tool::configured_provider(&|name| setting(environment, name));
        tools.extend(provider.map(search_definition));
        Box::pin(std::future::ready(Ok(json!({ "tools": tools }))))
    }

    /// The arguments are valid for the schema of the tool by now. What is missing gets its default
    /// in `fetch_page`, because the runner fills in defaults only on request.
    fn run<'a>(
        &'a self,
        call: BuiltinCall<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let arguments = call.arguments.as_object().cloned().unwrap_or_default();
            let environment = call.environment.to_vec();
            let variable = move |name: &str| setting(&environment, name);
            let (budget, output) = (call.budget.clone(), call.budget.output);
            // Computed on the thread: a call may have waited for its turn.
            let time = move || budget.remaining().mul_f64(SHARE_OF_TIME);
            match call.tool {
                "search" => self.on_thread(move || search_web(&arguments, &variable, time())).await,
                _ => {
                    let work = move || fetch_page(&arguments, &variable, time(), output);
                    self.on_thread(work).await
                }
            }
        })
    }
}

/// The share of a call's time after which a tool gives up: 25 seconds of the usual 30. The rest is
/// for the conversion and the answer: a call that reaches its deadline is dropped by the runner,
/// and the failure that names the page never arrives.
const SHARE_OF_TIME: f64 = 5.0 / 6.0;

/// A variable: the source's, else this program's.
///
/// `environment` is that of the source; the last of several values counts.
///
/// A value that is not Unicode counts as missing, and still hides that of this program.
fn setting(environment: &[(OsString, OsString)], name: &str) -> Option<String> {
    let own = environment.iter().rev().find(|(known, _)| known == name);
    match own {
        Some((_, value)) => value.to_str().map(str::to_owned),
        None => variable(name),
    }
}

/// The definition of `fetch`, as MCP lists it.
///
/// Descriptions are for a model that decides between this tool and others: they state what it
/// returns and what it does not do.
fn fetch_definition() -> Json {
    let number =
        |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
    let choice = |values: &[&str], description: &str| {
        let default = values.first();
        json!({
            "type": "string", "enum": values, "default": default, "description": description,
        })
    };
    let flag =
        |description: &str| json!({"type": "boolean", "default": true, "description": description});
    json!({
        "name": "fetch",
        "title": "Fetch a web page",
        "description": "Fetches a page of the public web and returns it as Markdown: the article \
            without menus, advertisements and comments, or the whole page. Feeds become lists of \
            their entries; plain text, JSON and source code are returned as they are. Scripts of \
            the page are not run. The lines in front of the text have the title, the final \
            address, the author, the date, and the offset at which the next part begins.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "url": {
                    "type": "string",
                    "format": "uri",
                    "description": "The address of the page, with http or https.",
                },
                "content": choice(
                    &["main", "whole"],
                    "The article alone, or the whole page with its navigation.",
                ),
                "front_matter": flag(
                    "Whether title, address, author, date and size come first, as YAML.",
                ),
                "offset": number("The line or character to begin at; the first one is 1."),
                "limit": number("How many lines or characters to return at most."),
                "unit": choice(
                    &["lines", "characters"],
                    "What offset and limit count. Use characters if single lines are very long.",
                ),
                "links": choice(
                    &["inline", "footnotes", "none"],
                    "Where the addresses of links go: beside their text, to the end, or nowhere.",
                ),
                "images": flag("Whether images are shown, as their text and address."),
            },
            "required": ["url"],
            "additionalProperties": false,
        },
        "annotations": read_only(),
    })
}

/// The definition of `search`, as MCP lists it. The arguments are those of the executables.
///
/// The results are structured, with a schema, because programs use them; a page is text.
/// `additionalProperties: false` is added, since the schema of the executables is open.
fn search_definition(provider: &'static dyn SearchProvider) -> Json {
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut input = WebTool::Search(provider).schema()["parameters"].take();
    input["additionalProperties"] = false.into();
    json!({
        "name": "search",
        "title": "Search the web",
        "description": format!(
            "Searches the web with the {} and returns the title, address, description and date of \
             each result, best first. Use it for current events and facts that may have changed, \
             and fetch the pages that look relevant.",
            provider.title()
        ),
        "inputSchema": input,
        "outputSchema": {
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": text("The title of the page."),
                            "url": text("Its address."),
                            "description": text("A sentence or two from the page."),
                            "published_date": text("When it was published, in RFC 3339."),
                        },
                        "required": ["title", "url", "description"],
                    },
                },
                "failures": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Parts of the search that failed although others succeeded.",
                },
            },
            "required": ["results"],
        },
        "annotations": read_only(),
    })
}

/// Both tools only read, and what they read is the world's.
///
/// `openWorldHint`: what is read may be hostile, and clients may treat it so.
fn read_only() -> Json {
    json!({
        "readOnlyHint": true,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": true,
    })
}

/// Fetches a page and returns the part of it that was asked for. At most `output` bytes. Blocks;
/// called on a thread of its own. The part is cut before its size is compared, so `offset` and
/// `limit` make every page readable. The front matter counts as output.
///
/// ```text
/// ---                            front matter: title, address, author, date, size
/// title: "…"
/// ---
///                                an empty line, then the part of the page as Markdown
/// Note: no article was found …   a content block of its own for each note
/// ```
///
/// # Errors
/// The failure of the fetch or of the conversion, or OUTPUT_TOO_LARGE with the size of the page, so
/// that the caller can choose a part.
fn fetch_page(
    arguments: &Map<String, Json>,
    variable: &dyn Fn(&str) -> Option<String>,
    time: Duration,
    output: usize,
) -> Result<Outcome, Failure> {
    let text = |name: &str| arguments.get(name).and_then(Json::as_str).unwrap_or_default();
    let is_on = |name: &str| arguments.get(name).and_then(Json::as_bool).unwrap_or(true);
    // 2.0 is an integer for JSON Schema, too.
    let number = |name: &str| arguments.get(name).and_then(Json::as_f64).map(|it| it as usize);
    let mut options = FetchOptions::from_variables(variable);
    options.timeout = options.timeout.min(time);
    let url = text("url");
    let page = fetch(url, &options).map_err(|error| fetch_failure(url, &error))?;
    let address = page.url.to_string();
    let page = page.convert(&MarkdownOptions {
        content: if text("content") == "whole" { PageContent::Whole } else { PageContent::Main },
        links: match text("links") {
            "footnotes" => LinkStyle::Footnotes,
            "none" => LinkStyle::Omitted,
            _ => LinkStyle::Inline,
        },
        images: is_on("images"),
        ..MarkdownOptions::default()
    });
    let page = page.map_err(|error| {
        Failure::new(&code::TOOL_FAILED, format!("cannot convert `{url}`: {error}"))
    })?;
    let unit = match text("unit") {
        "characters" => PagingUnit::Characters,
        _ => PagingUnit::Lines,
    };
    let limit = number("limit").unwrap_or(usize::MAX);
    let part = excerpt(&page.markdown, unit, number("offset").unwrap_or(1), limit);
    let front_matter = is_on("front_matter").then(|| front_matter(&page, Some(&address), &part));
    let body = front_matter.unwrap_or_default() + &part.text;
    if body.len() > output {
        let message = format!(
            "this part of the page has {} bytes, and a result at most {output}; the page has {} \
             lines and {} characters",
            body.len(),
            part.total_lines,
            part.total_characters
        );
        return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message)
            .suggest("read it in parts with `limit`, or with `unit` set to `characters`"));
    }
    let notes = page_notes(&page).map(|note| ResultContent::text(format!("Note: {note}.")));
    let content = std::iter::once(ResultContent::text(body)).chain(notes).collect();
    Ok(Outcome { content, ..Outcome::default() })
}

/// The failure for a model: whether to try again, or what only a person can change.
///
/// Only a time-out is worth a second attempt. `TOOLWRIGHT_WEB_ALLOW_PRIVATE` is named, but a model
/// cannot set it.
fn fetch_failure(url: &str, error: &FetchError) -> Failure {
    let message = format!("cannot fetch `{url}`: {error}");
    match error {
        FetchError::Timeout => Failure::new(&code::TIMEOUT, message)
            .suggest("try again later, or read another page about it"),
        FetchError::Refused => Failure::new(&code::TOOL_FAILED, message).suggest(
            "only the public internet is fetched from, unless the person sets \
             `TOOLWRIGHT_WEB_ALLOW_PRIVATE=1`",
        ),
        _ => Failure::new(&code::TOOL_FAILED, message),
    }
}

/// Searches with the provider that has credentials. If a part of the search fails and another
/// succeeds, the result has both the hits and the failures. A search that fails as a whole is a
/// failure of the call. The time is at most that of the executables, even if the call has more.
fn search_web(
    arguments: &Map<String, Json>,
    variable: &dyn Fn(&str) -> Option<String>,
    time: Duration,
) -> Result<Outcome, Failure> {
    let failed = |message: String| Failure::new(&code::TOOL_FAILED, message);
    // The file may be gone since the tool was listed.
    let provider = tool::configured_provider(variable)
        .ok_or_else(|| failed("the credentials of the search engine are gone".to_owned()))?;
    let time = time.min(SearchQuery::default().timeout);
    let found = tool::search(arguments, provider, variable, time).map_err(failed)?;
    let hits: Vec<Json> = found.hits.iter().map(SearchHit::to_json).collect();
    let mut result = json!({ "results": hits });
    if !found.failures.is_empty() {
        result["failures"] = found.failures.into();
    }
    Ok(Outcome::json(result))
}
