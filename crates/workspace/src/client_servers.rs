//! The servers of all MCP clients on this machine as one `toolwright.toml`, for `init`.
//!
//! ```text
//! files of CLIENTS ─ read ─▶ ClientServer ─ merge the same ones ─ secrets to ${VAR} ─▶ TOML text
//!                                                         each source is parsed as a check ─┘
//! ```
//!
//! The texts are copied as they are written, with their references; only `${workspaceFolder}`
//! becomes the path that it stands for, because other programs have no workspace. A secret is never
//! copied: the file that is made here will be committed by somebody. What cannot be taken over is
//! listed with its reason, in comments of the new file, and never dropped silently.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_formats::MAX_ITEMS;
use toolwright_model::Namespace;
use toolwright_source::render::visible;
use toolwright_source::words::shorten;
use toolwright_source::{Document, Severity, Source, Syntax};

use crate::client_edit::{toml_key, toml_value, toml_values};
use crate::client_files::{CLIENTS, Client, ClientFile, ClientFolders, ClientSyntax};
use crate::config::Config;
use crate::files;
use crate::server_rules::{
    ReferenceStyle, SecretVariables, WrittenServer, WrittenText, check_server, replaced,
};
use crate::servers_file::lost_settings;
use crate::variables::{variable_for, with_braces};

/// Servers that are taken over. A file with more is not one that a person wrote.
const MAX_SERVERS: usize = 1_000;

/// A configuration made of the servers of other clients.
#[derive(Debug, Default)]
pub struct ClientConfig {
    /// The text of `toolwright.toml`.
    pub text: String,
    /// How many servers are in it.
    pub servers: usize,
    /// The files that were read, as people write their paths.
    pub files: Vec<String>,
    /// The files that were looked for and do not exist.
    pub absent: Vec<String>,
    /// Files that could not be read, and servers that could not be taken over, a sentence each.
    pub left_out: Vec<String>,
    /// The variables that stand for secrets, each with the file that holds the value.
    pub variables: Vec<(String, String)>,
}

/// A server of a client's file, with its texts as they are written.
///
/// Either `command` has words or `url` is there, never both.
#[derive(Clone, Debug, Default, PartialEq)]
struct ClientServer {
    /// A name that a source may have, made of the key in the file.
    name: String,
    /// The program and its arguments; empty for a server behind an address.
    command: Vec<String>,
    /// The address of a server that runs elsewhere.
    url: Option<String>,
    /// By name and value, in the order of the file. References stay as they are written.
    environment: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// The working directory, relative to the folder of the new file if it is inside.
    directory: Option<String>,
}

impl ClientServer {
    /// Whether both start or reach the same server in the same way, whatever they call it.
    fn is_same(&self, other: &ClientServer) -> bool {
        ClientServer { name: other.name.clone(), ..self.clone() } == *other
    }
}

/// A server and the files it was found in.
struct CollectedServer {
    server: ClientServer,
    /// The client and the file of each place, as they are shown.
    origins: Vec<String>,
    /// The variables that stand for its secrets.
    secrets: Vec<String>,
}

/// Reads the files of all clients and makes a configuration of their servers.
///
/// Secrets are replaced after all files were read, because a variable must have one meaning in the
/// whole file. Each source is parsed as a configuration by itself: one that would be refused is
/// left out with the reason, so that the new file is valid even if the others have errors.
///
/// Never fails: files that are absent or cannot be read are listed in the result. The order is that
/// of `CLIENTS`, which decides which of two servers of one name keeps it.
pub fn collect_servers(folders: &ClientFolders) -> ClientConfig {
    let mut config = ClientConfig::default();
    let mut collected: Vec<CollectedServer> = Vec::new();
    for client in CLIENTS {
        for file in client.files {
            collect_file(client, file, folders, &mut config, &mut collected);
        }
    }
    let written: Vec<_> = collected.iter().map(|found| written_server(&found.server)).collect();
    let mut variables = SecretVariables::of(&written);
    for found in &mut collected {
        replace_secrets(found, &mut variables);
    }
    let mut sources = String::new();
    for found in &collected {
        let text = source_text(found);
        match source_error(&text) {
            None => {
                config.servers += 1;
                sources += &text;
                let origin = found.origins.join(", ");
                config
                    .variables
                    .extend(found.secrets.iter().map(|it| (it.clone(), origin.clone())));
            }
            Some(why) => {
                let place = found.origins.join(", ");
                config.left_out.push(left_out(&found.server.name, &place, &why));
            }
        }
    }
    let comment = |line: &String| format!("# {line}\n");
    let notes: String = config.left_out.iter().map(comment).collect();
    config.text = format!(
        "# Written by `toolwright init` from the settings of MCP clients on this machine.\n\
         # `toolwright check toolwright.toml` checks these servers, `toolwright serve` serves them as one.\n\
         {notes}{sources}"
    );
    config
}

/// The sentence about something that is not in the new file, on one line.
fn left_out(name: &str, place: &str, why: &str) -> String {
    visible(&format!("`{}` of {place} is left out: {why}", shorten(name)).replace('\n', " "))
}

/// Adds the servers of one file.
///
/// A server that another client has as well is added once, with both places. A file without servers
/// counts as read.
///
/// At most `MAX_SERVERS` are kept over all files; further ones are ignored without a note.
fn collect_file(
    client: &'static Client,
    file: &ClientFile,
    folders: &ClientFolders,
    config: &mut ClientConfig,
    collected: &mut Vec<CollectedServer>,
) {
    let path = file.path(folders);
    let place = visible(&folders.display(&path));
    if !path.is_file() {
        if !config.absent.contains(&place) {
            config.absent.push(place);
        }
        return;
    }
    let values = match read_values(&path, file.syntax) {
        Ok(values) => values,
        Err(why) => {
            let sentence = visible(&format!("`{place}` is left out: {why}").replace('\n', " "));
            // Claude Code has two places in one file.
            if !config.left_out.contains(&sentence) {
                config.left_out.push(sentence);
            }
            return;
        }
    };
    if !config.files.contains(&place) {
        config.files.push(place.clone());
    }
    let keys = file.servers(folders);
    let servers = keys.tokens().try_fold(&values, |at, key| at.get(&*key));
    let origin = format!("{} ({place})", client.name);
    for (name, entry) in servers.and_then(Json::as_object).into_iter().flatten().take(MAX_ITEMS) {
        if collected.len() >= MAX_SERVERS {
            break;
        }
        let server = match read_entry(name, entry, client, &folders.project) {
            Ok(server) => server,
            Err(why) => {
                config.left_out.push(left_out(name, &origin, &why));
                continue;
            }
        };
        for (key, help) in lost_settings() {
            if entry.get(key).is_some_and(|value| !value.is_null()) {
                let place = format!("the server `{}` of {origin}", shorten(name));
                let why = format!("a configuration has no such setting; {help}");
                config.left_out.push(left_out(key, &place, &why));
            }
        }
        match collected.iter_mut().find(|known| known.server.is_same(&server)) {
            Some(known) => {
                if !known.origins.contains(&origin) {
                    known.origins.push(origin.clone());
                }
            }
            None => {
                let server =
                    ClientServer { name: free_name(&server.name, client, collected), ..server };
                let origins = vec![origin.clone()];
                collected.push(CollectedServer { server, origins, secrets: Vec::new() });
            }
        }
    }
}

/// The values of a file.
fn read_values(path: &Path, syntax: ClientSyntax) -> Result<Json, String> {
    let bytes = files::read(path).map_err(|error| error.to_string())?;
    match syntax {
        ClientSyntax::Toml => {
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
            toml_values(&text).map_err(|error| error.to_string())
        }
        ClientSyntax::Json => {
            let document = Document::parse("", bytes, Syntax::Jsonc);
            let is_error =
                |problem: &&toolwright_source::Diagnostic| problem.severity == Severity::Error;
            match document.problems().iter().find(is_error) {
                Some(problem) => Err(format!("it cannot be parsed: {}", problem.message)),
                None => Ok(document.root().to_json()),
            }
        }
    }
}

/// A name that no other server has: the key, with `-` for every character that names of sources do
/// not have, and the client behind it if the name is taken.
///
/// `notes`, `notes-cursor`, `notes-cursor-2`, and so on.
fn free_name(name: &str, client: &Client, taken: &[CollectedServer]) -> String {
    let is_free = |name: &String| !taken.iter().any(|other| other.server.name == *name);
    let others = (2..).map(|n| format!("{name}-{}-{n}", client.id));
    [name.to_owned(), format!("{name}-{}", client.id)]
        .into_iter()
        .chain(others)
        .find(is_free)
        .expect("the numbers do not end")
}

/// Reads one entry, of whatever client: the keys of all clients are accepted in every file.
///
/// # Errors
/// If the server is switched off, or is of a kind that a configuration cannot hold.
///
/// ```text
/// {"command": "npx", "args": ["-y", "x"], "env": {…}}        a program
/// {"command": {"path": "npx", "args": […]}}                  the same, in older files of Zed
/// {"url": …}, {"serverUrl": …}, {"httpUrl": …}               an address
/// {"bearer_token_env_var": "TOKEN"}                          Authorization: Bearer ${TOKEN}
/// ```
///
/// A program wins over an address unless the entry states a transport of the network. The program
/// `toolwright serve` is refused: the new configuration would start itself.
fn read_entry(
    name: &str,
    entry: &Json,
    client: &Client,
    project: &Path,
) -> Result<ClientServer, String> {
    let portable = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' };
    let name: String = name.chars().take(64).map(portable).collect();
    Namespace::parse(&name).map_err(|error| error.to_string())?;
    if !entry.is_object() {
        return Err("it is not an object".to_owned());
    }
    let flag = |key: &str| entry.get(key).and_then(Json::as_bool);
    if flag("disabled") == Some(true) || flag("enabled") == Some(false) {
        return Err("it is switched off".to_owned());
    }
    // Zed once had the program in an object of its own.
    let (launch, key) = match entry.get("command").filter(|command| command.is_object()) {
        Some(command) => (command, "path"),
        None => (entry, "command"),
    };
    let program = launch.get(key).and_then(Json::as_str);
    let texts = |value: Option<&Json>| -> Vec<String> {
        let items = value.and_then(Json::as_array).into_iter().flatten().take(MAX_ITEMS);
        items.filter_map(Json::as_str).map(|text| references(text, client)).collect()
    };
    let pairs = |value: Option<&Json>| -> Vec<(String, String)> {
        let members = value.and_then(Json::as_object).into_iter().flatten().take(MAX_ITEMS);
        members
            .filter_map(|(key, value)| Some((key.clone(), references(&scalar(value)?, client))))
            .collect()
    };
    let mut command: Vec<String> =
        program.map(|text| references(text, client)).into_iter().collect();
    if !command.is_empty() {
        command.extend(texts(launch.get("args")));
    }
    let is_toolwright =
        command.first().is_some_and(|program| program.rsplit('/').next() == Some("toolwright"));
    if is_toolwright && command.get(1).is_some_and(|word| word == "serve") {
        return Err("it is Toolwright itself".to_owned());
    }
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(*key)?.as_str());
    let mut environment = pairs(launch.get("env"));
    let mut headers = pairs(entry.get("headers"));
    // Codex names variables in keys of their own.
    headers.extend(pairs(entry.get("http_headers")));
    let variable = |value: &Json| Some(format!("${{{}}}", value.as_str()?));
    let named = entry.get("env_http_headers").and_then(Json::as_object).into_iter().flatten();
    headers.extend(named.filter_map(|(key, value)| Some((key.clone(), variable(value)?))));
    if let Some(reference) = entry.get("bearer_token_env_var").and_then(variable) {
        headers.push(("Authorization".to_owned(), format!("Bearer {reference}")));
    }
    for name in texts(entry.get("env_vars")) {
        environment.push((name.clone(), format!("${{{name}}}")));
    }
    let kind = entry.get("type").or(entry.get("transport")).and_then(Json::as_str).unwrap_or("");
    let is_remote = !matches!(kind, "" | "stdio" | "local") || command.is_empty();
    if !is_remote {
        let directory = entry.get("cwd").and_then(Json::as_str).map(directory).transpose()?;
        let folder = project_from(directory.as_deref(), project);
        let fill_in = |text: &mut String, folder: &str| {
            *text = text.replace(WORKSPACE_FOLDER, folder);
        };
        // The program is looked for from the new file, whatever the working directory is.
        command.iter_mut().take(1).for_each(|word| fill_in(word, "."));
        command.iter_mut().for_each(|word| fill_in(word, &folder));
        environment.iter_mut().for_each(|(_, value)| fill_in(value, &folder));
        return Ok(ClientServer {
            name,
            command,
            environment,
            directory,
            ..ClientServer::default()
        });
    }
    match url {
        Some(url) => {
            let url = Some(references(url, client));
            Ok(ClientServer { name, url, headers, ..ClientServer::default() })
        }
        None => Err("it has neither a command nor an address".to_owned()),
    }
}

/// A text, a number or a boolean as a text.
fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The folder of the project, in which the new file is written.
const WORKSPACE_FOLDER: &str = "${workspaceFolder}";

/// The folder of the project as a server sees it that runs in `directory`. Relative, because the
/// new file is made to be committed; only from a directory elsewhere there is no relative path.
///
/// ```text
/// no directory   ─▶  .
/// a/b            ─▶  ../..
/// /elsewhere     ─▶  the absolute path of the project
/// ```
///
/// A directory with `..` in it counts as elsewhere.
fn project_from(directory: Option<&str>, project: &Path) -> String {
    let parts: Vec<&str> =
        directory.unwrap_or(".").split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match directory {
        Some(path) if path.starts_with('/') || parts.contains(&"..") => {
            project.display().to_string()
        }
        _ if parts.is_empty() => ".".to_owned(),
        _ => vec![".."; parts.len()].join("/"),
    }
}

/// The working directory, which has no references in a configuration.
fn directory(text: &str) -> Result<String, String> {
    let text = match text.strip_prefix(WORKSPACE_FOLDER) {
        Some("" | "/") => ".",
        Some(inside) => inside.trim_start_matches('/'),
        None => text,
    };
    match text.contains("${") {
        true => {
            Err("its working directory has a reference, which a configuration cannot hold"
                .to_owned())
        }
        false => Ok(text.to_owned()),
    }
}

/// A text with those references rewritten that a configuration does not have: `${input:id}` of VS
/// Code, which asks a person, and `$NAME` of Gemini CLI.
///
/// ```text
/// ${input:api-key}        ─▶  ${API_KEY}      (`variable_for`)
/// $TOKEN, in Gemini CLI   ─▶  ${TOKEN}
/// ${TOKEN}                ─▶  ${TOKEN}
/// ```
///
/// A `$` that starts neither of them stays.
fn references(text: &str, client: &Client) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${input:") {
        let Some((id, behind)) = after.split_once('}') else { break };
        out += &format!("{before}${{{}}}", variable_for(id));
        rest = behind;
    }
    out += rest;
    if client.id == "gemini" { with_braces(&out) } else { out }
}

/// The settings of a server that a text stands in.
///
/// The rules about secrets return it with a finding, and `setting` finds the text again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingPlace {
    Whole,
    Word(usize),
    Variable(usize),
    Header(usize),
    Url,
}

/// Puts references in the place of secrets. `variables` are those of all servers.
fn replace_secrets(found: &mut CollectedServer, variables: &mut SecretVariables) {
    for finding in check_server(&written_server(&found.server), variables) {
        let Some(value) = setting(&mut found.server, finding.at) else { continue };
        *value = replaced(value, &finding.secrets, |variable| format!("${{{variable}}}"));
        for (_, variable) in finding.secrets {
            if !found.secrets.contains(&variable) {
                found.secrets.push(variable);
            }
        }
    }
}

/// The server as the rules about secrets see it.
///
/// References count as `${NAME}`: `references` has rewritten the others.
fn written_server(server: &ClientServer) -> WrittenServer<SettingPlace> {
    let text = |text: &String, at| WrittenText { text: text.clone(), at };
    let pairs = |list: &[(String, String)], at: fn(usize) -> SettingPlace| {
        let one =
            |(n, (name, value)): (usize, &(String, String))| (name.clone(), text(value, at(n)));
        list.iter().enumerate().map(one).collect()
    };
    let words = server.command.iter().enumerate();
    WrittenServer {
        name: server.name.clone(),
        at: SettingPlace::Whole,
        disabled: false,
        command: words.map(|(n, word)| text(word, SettingPlace::Word(n))).collect(),
        environment: pairs(&server.environment, SettingPlace::Variable),
        headers: pairs(&server.headers, SettingPlace::Header),
        url: server.url.as_ref().map(|url| text(url, SettingPlace::Url)),
        directory: None,
        other_values: Vec::new(),
        style: ReferenceStyle::Plain,
    }
}

/// The text at a place.
fn setting(server: &mut ClientServer, at: SettingPlace) -> Option<&mut String> {
    match at {
        SettingPlace::Whole => None,
        SettingPlace::Word(n) => server.command.get_mut(n),
        SettingPlace::Variable(n) => server.environment.get_mut(n).map(|(_, value)| value),
        SettingPlace::Header(n) => server.headers.get_mut(n).map(|(_, value)| value),
        SettingPlace::Url => server.url.as_mut(),
    }
}

/// The `[[source]]` of a server, with where it is from.
///
/// ```text
/// # from Claude Code (.mcp.json)
/// [[source]]
/// name = "notes"
/// command = ["npx", "-y", "notes-server"]
/// env = { TOKEN = "${NOTES_TOKEN}" }
/// ```
fn source_text(found: &CollectedServer) -> String {
    let server = &found.server;
    let origins = found.origins.join(", ");
    let mut text = format!("\n# from {origins}\n");
    for variable in &found.secrets {
        text += &format!("# set the variable {variable}: its value was not copied\n");
    }
    let string = |text: &String| toml_value(&Json::from(text.as_str()));
    text += &format!("[[source]]\nname = {}\n", string(&server.name));
    if let Some(url) = &server.url {
        text += &format!("url = {}\n", string(url));
    } else {
        let words: Vec<String> = server.command.iter().map(string).collect();
        text += &format!("command = [{}]\n", words.join(", "));
    }
    for (key, pairs) in [("env", &server.environment), ("headers", &server.headers)] {
        let pair =
            |(name, value): &(String, String)| format!("{} = {}", toml_key(name), string(value));
        let pairs: Vec<String> = pairs.iter().map(pair).collect();
        if !pairs.is_empty() {
            text += &format!("{key} = {{ {} }}\n", pairs.join(", "));
        }
    }
    if let Some(directory) = &server.directory {
        text += &format!("directory = {}\n", string(directory));
    }
    text
}

/// Why a `[[source]]` would not be accepted; `None` if it would.
///
/// Every variable counts as set, to an address, so that a `url` with a reference is valid, too.
fn source_error(text: &str) -> Option<String> {
    let Ok(source) = Source::decode("toolwright.toml", text.as_bytes().to_vec()) else {
        return Some("it cannot be written as TOML".to_owned());
    };
    // Which variables are set is another question.
    let variables = |_: &str| Some("https://example.com".to_owned());
    let (_, diagnostics) = Config::parse(&Arc::new(source), Path::new("."), &variables);
    let error = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    error.map(|error| error.message.clone())
}
