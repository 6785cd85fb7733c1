//! The process protocol of the three executables.
//!
//! With `--schema`, a tool prints its name, description and parameters as JSON. Without arguments,
//! it reads one JSON object from standard input and writes one to standard output: the result, or
//! `{"error": …}` with exit code 1. Nothing else is ever written to standard output.
//!
//! Names, descriptions, schemas and the messages that begin with `Failed to` or `Authentication`
//! are prescribed by the specification of these tools; agents were built against them.
//!
//! The rest is ours: arguments are checked completely before anything is sent, unknown flags are
//! refused, and messages say what was expected. `fetch_lines` and `search` are the work; everything
//! around them is the protocol. The built-in toolset `web` calls `search` directly, with its own
//! schemas.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use crate::fetch::{self, FetchOptions, fetch};
use crate::markdown::MarkdownOptions;
use crate::paging::{PagingUnit, excerpt};
use crate::search::{
    PROVIDERS, SearchContext, SearchHit, SearchProvider, SearchQuery, SearchResults,
};

/// Bytes of standard input. A URL or a query with its domains is far shorter.
const MAX_INPUT: u64 = 1 << 20;

/// What an executable gets from the operating system. Passed in, so that tests can replace it.
pub struct ToolEnvironment<'a> {
    /// The arguments, without the program's name.
    pub arguments: Vec<String>,
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Standard input, from which the JSON object is read.
    pub input: &'a mut dyn Read,
    /// Standard output, for the one JSON object.
    pub output: &'a mut dyn Write,
    /// Standard error, for what standard output cannot report: that it is closed or full, and which
    /// requests of a search failed although others succeeded.
    pub log: &'a mut dyn Write,
}

/// One of the three tools.
#[derive(Clone, Copy)]
pub enum WebTool {
    /// `web_fetch`: returns a page as Markdown.
    Fetch,
    /// `web_search_…`: returns the results of a search engine.
    Search(&'static dyn SearchProvider),
}

/// A flag of the command line, and the environment variable with the same effect. Agents call
/// tools without arguments, so a configuration of the agent needs the variable.
///
/// A flag only ever adds a permission: there is none that takes back what the variable allows.
struct CommandFlag {
    flag: &'static str,
    variable: &'static str,
    help: &'static str,
}

const ALLOW_PRIVATE: CommandFlag = CommandFlag {
    flag: "--allow-private",
    variable: fetch::ALLOW_PRIVATE,
    help: "also fetch from addresses that are not on the public internet",
};
const TRUST_PROXY: CommandFlag = CommandFlag {
    flag: "--trust-proxy",
    variable: fetch::TRUST_PROXY,
    help: "let the proxy decide which addresses may be fetched",
};

/// Runs a tool once and returns the exit code: 0 for a result, 1 for an error.
pub fn run(tool: WebTool, environment: ToolEnvironment) -> u8 {
    let ToolEnvironment { arguments, variable, input, output, log } = environment;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut code = 0;
    let written = match arguments.as_slice() {
        // These three must be the only argument: an agent that passes more made a mistake, and the
        // last arm reports it.
        ["--schema"] => writeln!(output, "{:#}", tool.schema()),
        ["--help" | "-h"] => write!(output, "{}", tool.help()),
        ["--version" | "-V"] => {
            writeln!(output, "{} {}", tool.executable(), env!("CARGO_PKG_VERSION"))
        }
        // Errors go to standard output, too: agents read only that.
        flags => {
            // Any other arguments are flags; `call` refuses unknown ones before it reads the input.
            let result = tool.call(flags, variable, input, log);
            code = u8::from(result.is_err());
            let object = result.unwrap_or_else(|error| json!({ "error": error }));
            serde_json::to_writer(&mut *output, &object)
                .map_err(Into::into)
                .and_then(|()| writeln!(output))
        }
    };
    // Flushed here, because an error while the program exits would be lost.
    match written.and_then(|()| output.flush()) {
        Ok(()) => code,
        Err(error) => {
            // If standard error is closed, too, the exit code is all that is left.
            let _ = writeln!(log, "{}: cannot write the response: {error}", tool.executable());
            1
        }
    }
}

impl WebTool {
    /// The tool's name for agents.
    fn name(self) -> String {
        match self {
            WebTool::Fetch => "web_fetch".to_owned(),
            WebTool::Search(provider) => format!("web_search_{}", provider.id()),
        }
    }

    /// The name of the executable, which follows from the tool's name by the protocol.
    fn executable(self) -> String {
        format!("{}-tool", self.name().replace('_', "-"))
    }

    /// The flags of the tool, beside those that all have.
    fn flags(self) -> &'static [CommandFlag] {
        match self {
            WebTool::Fetch => &[ALLOW_PRIVATE, TRUST_PROXY],
            WebTool::Search(_) => &[],
        }
    }

    /// The JSON that `--schema` prints. For the searches, only the name and the provider's title
    /// differ, as the specification demands.
    pub fn schema(self) -> Json {
        let WebTool::Search(provider) = self else { return fetch_schema() };
        let description = format!(
            "Search the web using {} and use the results to inform responses. Provides up-to-date \
             information for current events and recent data. Returns search result information \
             formatted as search result blocks, including links as markdown hyperlinks.",
            provider.title()
        );
        json!({
            "name": self.name(),
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "The search query to use",
                        "minLength": 2,
                    },
                    "allowed_domains": domain_list_schema(
                        "Only include search results from these domains",
                    ),
                    "blocked_domains": domain_list_schema(
                        "Never include search results from these domains",
                    ),
                },
                "required": ["query"],
            },
        })
    }

    /// The text that `--help` prints.
    fn help(self) -> String {
        let name = self.executable();
        let about = self.schema()["description"].as_str().unwrap_or_default().to_owned();
        let mut text = format!(
            "{about}\n\nUsage: {name} [OPTIONS] < ARGUMENTS.json\n\n\
             Reads one JSON object and writes one.\n\nOptions:\n"
        );
        let mut line = |flag: &str, help: &str| text.push_str(&format!("  {flag:<16} {help}\n"));
        line("--schema", "print name, description and parameters of the tool as JSON");
        for CommandFlag { flag, variable, help } in self.flags() {
            line(flag, &format!("{help} (or set {variable}=1)"));
        }
        line("--help", "print this");
        line("--version", "print the version");
        text
    }

    /// Reads the input and does the tool's work. The error is the text for the agent. Unknown
    /// arguments are refused before the input is read, since a person at a terminal would otherwise
    /// wait for nothing.
    fn call(
        self,
        arguments: &[&str],
        variable: &dyn Fn(&str) -> Option<String>,
        input: &mut dyn Read,
        log: &mut dyn Write,
    ) -> Result<Json, String> {
        let known = |argument: &&&str| self.flags().iter().any(|flag| flag.flag == **argument);
        if let Some(unknown) = arguments.iter().find(|argument| !known(argument)) {
            return Err(format!(
                "unknown argument `{unknown}`; see `{} --help`",
                self.executable()
            ));
        }
        let input = read_object(input)?;
        match self {
            WebTool::Fetch => {
                let mut options = FetchOptions::from_variables(variable);
                // A flag can only add to what the environment allows.
                options.allow_private |= arguments.contains(&ALLOW_PRIVATE.flag);
                options.trust_proxy |= arguments.contains(&TRUST_PROXY.flag);
                fetch_lines(&input, &options)
            }
            WebTool::Search(provider) => {
                let time = SearchQuery::default().timeout;
                let results = search(&input, provider, variable, time)?;
                // The format of the results is prescribed and has no place for these.
                for failure in &results.failures {
                    let _ = writeln!(log, "{}: {failure}", self.executable());
                }
                let hits: Vec<Json> = results.hits.iter().map(SearchHit::to_json).collect();
                Ok(json!({ "results": hits }))
            }
        }
    }
}

/// The schema of a list of domains.
fn domain_list_schema(description: &str) -> Json {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

/// The JSON that `web-fetch-tool --schema` prints. It names libxml2 because the specification
/// does; the parser is html5ever.
fn fetch_schema() -> Json {
    let number =
        |description: &str| json!({"type": "integer", "description": description, "minimum": 1});
    json!({
        "name": "web_fetch",
        "description": "Fetches content from a specified URL and returns it as markdown. Converts \
            HTML to markdown using libxml2. Supports pagination via offset and limit parameters \
            similar to file_read.",
        "parameters": {
            "type": "object",
            "properties": {
                "url": {
                    "type": "string",
                    "format": "uri",
                    "description": "The URL to fetch content from",
                },
                "offset": number("Line number to start reading from (1-based)"),
                "limit": number("Maximum number of lines to return"),
            },
            "required": ["url"],
        },
    })
}

/// Reads the JSON object from standard input, which has to end after it.
fn read_object(input: &mut dyn Read) -> Result<Map<String, Json>, String> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells an input at the limit from a longer one.
    input
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read the input: {error}"))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err("the input is larger than 1 MiB".to_owned());
    }
    if bytes.trim_ascii().is_empty() {
        return Err("the input is empty; expected one JSON object".to_owned());
    }
    // Some shells and editors write a byte order mark.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match serde_json::from_slice(text) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err("the input is not a JSON object".to_owned()),
        Err(error) => Err(format!("the input is not JSON: {error}")),
    }
}

/// A string that must be there and not be blank.
fn required_string<'a>(input: &'a Map<String, Json>, name: &str) -> Result<&'a str, String> {
    match input.get(name) {
        None => Err(format!("`{name}` is missing")),
        Some(Json::String(text)) if text.trim().is_empty() => Err(format!("`{name}` is empty")),
        Some(Json::String(text)) => Ok(text),
        Some(_) => Err(format!("`{name}` is not a string")),
    }
}

/// A list of strings; empty if it is missing.
fn string_list(input: &Map<String, Json>, name: &str) -> Result<Vec<String>, String> {
    let Some(value) = input.get(name) else { return Ok(Vec::new()) };
    let list = value
        .as_array()
        .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    list.ok_or_else(|| format!("`{name}` is not a list of strings"))
}

/// A whole number greater than 0, if it is there. `2.0` is one, too: JSON Schema counts it as an
/// integer.
fn positive_integer(input: &Map<String, Json>, name: &str) -> Result<Option<usize>, String> {
    let Some(value) = input.get(name) else { return Ok(None) };
    let whole = |number: f64| (number.fract() == 0.0 && number >= 1.0).then_some(number as u64);
    let number =
        value.as_u64().or_else(|| value.as_f64().and_then(whole)).filter(|number| *number >= 1);
    let number = number.ok_or_else(|| format!("`{name}` is not a whole number greater than 0"))?;
    Ok(Some(usize::try_from(number).unwrap_or(usize::MAX)))
}

/// Does the work of `web_fetch`. `offset` and `limit` count lines of the Markdown; past the end,
/// the content is empty and that is not an error.
fn fetch_lines(input: &Map<String, Json>, options: &FetchOptions) -> Result<Json, String> {
    let url = required_string(input, "url")?;
    // All arguments are checked before the request, which may take seconds.
    let offset = positive_integer(input, "offset")?.unwrap_or(1);
    let limit = positive_integer(input, "limit")?.unwrap_or(usize::MAX);
    let page = fetch(url, options).map_err(|error| format!("Failed to fetch URL: {error}"))?;
    // The message is prescribed, so the reason is dropped here.
    let markdown = page
        .convert(&MarkdownOptions::default())
        .map_err(|_| "Failed to parse HTML: Invalid document structure".to_owned())?
        .markdown;
    let page = excerpt(&markdown, PagingUnit::Lines, offset, limit);
    Ok(json!({"content": page.text, "lines_read": page.count}))
}

/// Does the work of a search tool, with the arguments of its schema, within `timeout`.
///
/// # Errors
/// The text for the agent, without credentials: those of a provider must not end up in a
/// conversation.
pub fn search(
    input: &Map<String, Json>,
    provider: &dyn SearchProvider,
    variable: &dyn Fn(&str) -> Option<String>,
    timeout: Duration,
) -> Result<SearchResults, String> {
    let text = required_string(input, "query")?;
    // `minLength` of the schema counts characters, not bytes.
    if text.chars().count() < 2 {
        return Err("`query` is shorter than 2 characters".to_owned());
    }
    let query = SearchQuery {
        text: text.to_owned(),
        allowed_domains: string_list(input, "allowed_domains")?,
        blocked_domains: string_list(input, "blocked_domains")?,
        timeout,
    };
    let credential_file = |name: &str| credential_file(variable, name);
    let context = SearchContext { variable, credential_file: &credential_file };
    provider.search(&query, &context).map_err(|error| error.to_string())
}

/// The first provider whose credentials are there, in variables or files; `None` without any.
pub fn configured_provider(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<&'static dyn SearchProvider> {
    let credential_file = |name: &str| credential_file(variable, name);
    let context = SearchContext { variable, credential_file: &credential_file };
    PROVIDERS.iter().copied().find(|provider| provider.has_credentials(&context))
}

/// The content of a file with a credential. One that is missing or unreadable counts as a missing
/// credential, whose message tells what to do.
fn credential_file(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let home = variable("HOME").filter(|home| !home.is_empty())?;
    std::fs::read_to_string(std::path::Path::new(&home).join(".config/ikigai").join(name)).ok()
}
