//! The process protocol: `--schema` describes the tool; without arguments it reads one JSON object
//! and writes one. Nothing else is ever written to standard output, and a failure is `{"error": …}`
//! with exit code 1.

use std::io::{Read, Write};

use serde_json::{Map, Value as Json, json};

use crate::fetch::{self, FetchOptions, fetch};
use crate::search::{Provider, Query, Surroundings};

/// Bytes of input; no question is longer.
const MAX_INPUT: u64 = 1 << 20;

/// The outside world, as an executable finds it.
pub struct World<'a> {
    /// The arguments, without the program's name.
    pub arguments: Vec<String>,
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Where the question comes from.
    pub input: &'a mut dyn Read,
    /// Where the answer goes.
    pub output: &'a mut dyn Write,
    /// Where it is said that the answer could not be written.
    pub log: &'a mut dyn Write,
}

/// One of the three tools.
#[derive(Clone, Copy)]
pub enum Tool {
    /// A page as Markdown.
    Fetch,
    /// Results of a search engine.
    Search(&'static dyn Provider),
}

/// A switch that `web-fetch-tool` takes, and the variable that does the same.
struct Switch {
    flag: &'static str,
    variable: &'static str,
    help: &'static str,
}

const ALLOW_PRIVATE: Switch = Switch {
    flag: "--allow-private",
    variable: fetch::ALLOW_PRIVATE,
    help: "also fetch from addresses that are not on the public internet",
};
const TRUST_PROXY: Switch = Switch {
    flag: "--trust-proxy",
    variable: fetch::TRUST_PROXY,
    help: "leave it to the proxy which addresses may be asked",
};

/// Runs a tool once; the answer is the exit code.
pub fn run(tool: Tool, world: World) -> u8 {
    let World { arguments, variable, input, output, log } = world;
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut code = 0;
    let written = match told.as_slice() {
        ["--schema"] => writeln!(output, "{:#}", tool.schema()),
        ["--help" | "-h"] => write!(output, "{}", tool.help()),
        ["--version" | "-V"] => {
            writeln!(output, "{} {}", tool.executable(), env!("CARGO_PKG_VERSION"))
        }
        switches => {
            let answer = tool.answer(switches, variable, input);
            code = u8::from(answer.is_err());
            let answer = answer.unwrap_or_else(|error| json!({ "error": error }));
            serde_json::to_writer(&mut *output, &answer)
                .map_err(Into::into)
                .and_then(|()| writeln!(output))
        }
    };
    match written.and_then(|()| output.flush()) {
        Ok(()) => code,
        Err(error) => {
            // If that cannot be said either, the exit code remains.
            let _ = writeln!(log, "{}: cannot write the answer: {error}", tool.executable());
            1
        }
    }
}

impl Tool {
    fn name(self) -> String {
        match self {
            Tool::Fetch => "web_fetch".to_owned(),
            Tool::Search(provider) => format!("web_search_{}", provider.id()),
        }
    }

    fn executable(self) -> String {
        format!("{}-tool", self.name().replace('_', "-"))
    }

    fn switches(self) -> &'static [Switch] {
        match self {
            Tool::Fetch => &[ALLOW_PRIVATE, TRUST_PROXY],
            Tool::Search(_) => &[],
        }
    }

    /// The document that `--schema` prints.
    pub fn schema(self) -> Json {
        let Tool::Search(provider) = self else { return fetch_schema() };
        let domains = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
        json!({
            "name": self.name(),
            "description": format!("Search the web using {} and use the results to inform responses. Provides up-to-date information for current events and recent data. Returns search result information formatted as search result blocks, including links as markdown hyperlinks.", provider.title()),
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "The search query to use", "minLength": 2},
                    "allowed_domains": domains("Only include search results from these domains"),
                    "blocked_domains": domains("Never include search results from these domains"),
                },
                "required": ["query"],
            },
        })
    }

    fn help(self) -> String {
        let name = self.executable();
        let about = self.schema()["description"].as_str().unwrap_or_default().to_owned();
        let mut text = format!(
            "{about}\n\nUsage: {name} [OPTIONS] < ARGUMENTS.json\n\nReads one JSON object and writes one.\n\nOptions:\n"
        );
        let mut line = |flag: &str, help: &str| text.push_str(&format!("  {flag:<16} {help}\n"));
        line("--schema", "print what the tool is and takes, as JSON");
        for Switch { flag, variable, help } in self.switches() {
            line(flag, &format!("{help} (or set {variable}=1)"));
        }
        line("--help", "print this");
        line("--version", "print the version");
        text
    }

    fn answer(
        self,
        arguments: &[&str],
        variable: &dyn Fn(&str) -> Option<String>,
        input: &mut dyn Read,
    ) -> Result<Json, String> {
        let known =
            |argument: &&&str| self.switches().iter().any(|switch| switch.flag == **argument);
        if let Some(unknown) = arguments.iter().find(|argument| !known(argument)) {
            return Err(format!(
                "unknown argument `{unknown}`; see `{} --help`",
                self.executable()
            ));
        }
        let question = read_object(input)?;
        match self {
            Tool::Fetch => {
                let mut options = FetchOptions::from_variables(variable);
                options.allow_private |= arguments.contains(&ALLOW_PRIVATE.flag);
                options.trust_proxy |= arguments.contains(&TRUST_PROXY.flag);
                fetch_lines(&question, &options)
            }
            Tool::Search(provider) => search(&question, provider, variable),
        }
    }
}

fn fetch_schema() -> Json {
    let number =
        |description: &str| json!({"type": "integer", "description": description, "minimum": 1});
    json!({
        "name": "web_fetch",
        "description": "Fetches content from a specified URL and returns it as markdown. Converts HTML to markdown using libxml2. Supports pagination via offset and limit parameters similar to file_read.",
        "parameters": {
            "type": "object",
            "properties": {
                "url": {"type": "string", "format": "uri", "description": "The URL to fetch content from"},
                "offset": number("Line number to start reading from (1-based)"),
                "limit": number("Maximum number of lines to return"),
            },
            "required": ["url"],
        },
    })
}

fn read_object(input: &mut dyn Read) -> Result<Map<String, Json>, String> {
    let mut bytes = Vec::new();
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
    match serde_json::from_slice(&bytes) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err("the input is not a JSON object".to_owned()),
        Err(error) => Err(format!("the input is not JSON: {error}")),
    }
}

fn required_text<'a>(question: &'a Map<String, Json>, name: &str) -> Result<&'a str, String> {
    match question.get(name) {
        None => Err(format!("`{name}` is missing")),
        Some(Json::String(text)) if text.trim().is_empty() => Err(format!("`{name}` is empty")),
        Some(Json::String(text)) => Ok(text),
        Some(_) => Err(format!("`{name}` is not a string")),
    }
}

fn texts(question: &Map<String, Json>, name: &str) -> Result<Vec<String>, String> {
    let Some(value) = question.get(name) else { return Ok(Vec::new()) };
    let list = value
        .as_array()
        .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    list.ok_or_else(|| format!("`{name}` is not a list of strings"))
}

/// A whole number from 1; `2.0` is one, too.
fn count(question: &Map<String, Json>, name: &str) -> Result<Option<usize>, String> {
    let Some(value) = question.get(name) else { return Ok(None) };
    let whole = |number: f64| (number.fract() == 0.0 && number >= 1.0).then_some(number as u64);
    let number =
        value.as_u64().or_else(|| value.as_f64().and_then(whole)).filter(|number| *number >= 1);
    let number = number.ok_or_else(|| format!("`{name}` is not a whole number from 1"))?;
    Ok(Some(usize::try_from(number).unwrap_or(usize::MAX)))
}

fn fetch_lines(question: &Map<String, Json>, options: &FetchOptions) -> Result<Json, String> {
    let url = required_text(question, "url")?;
    let skipped = count(question, "offset")?.unwrap_or(1) - 1;
    let limit = count(question, "limit")?.unwrap_or(usize::MAX);
    let page = fetch(url, options).map_err(|error| format!("Failed to fetch URL: {error}"))?;
    let markdown = page
        .into_markdown()
        .map_err(|_| "Failed to parse HTML: Invalid document structure".to_owned())?;
    let mut content = String::new();
    let mut lines_read = 0;
    for line in markdown.trim_end_matches(['\n', '\r']).lines().skip(skipped).take(limit) {
        if lines_read > 0 {
            content.push('\n');
        }
        content.push_str(line);
        lines_read += 1;
    }
    Ok(json!({"content": content, "lines_read": lines_read}))
}

fn search(
    question: &Map<String, Json>,
    provider: &dyn Provider,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Json, String> {
    let text = required_text(question, "query")?;
    if text.chars().count() < 2 {
        return Err("`query` is shorter than 2 characters".to_owned());
    }
    let query = Query {
        text: text.to_owned(),
        allowed_domains: texts(question, "allowed_domains")?,
        blocked_domains: texts(question, "blocked_domains")?,
        ..Query::default()
    };
    let credential_file = |name: &str| {
        let home = variable("HOME").filter(|home| !home.is_empty())?;
        std::fs::read_to_string(std::path::Path::new(&home).join(".config/ikigai").join(name)).ok()
    };
    let surroundings = Surroundings { variable, credential_file: &credential_file };
    let hits = provider.search(&query, &surroundings).map_err(|error| error.to_string())?;
    Ok(json!({"results": hits.iter().map(crate::search::Hit::to_json).collect::<Vec<_>>()}))
}
