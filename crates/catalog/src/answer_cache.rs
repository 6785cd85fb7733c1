//! The last known answers of servers, kept between runs: their description and all their lists.
//!
//! With them `serve` answers the first list at once and complete, while servers still start, and a
//! server with `start = "lazy"` is not started before it is used. Nothing is trusted more because
//! it is in here: cached lists are read and gated like those of a running server.
//!
//! ```text
//! folder (0700) / servers / <SHA-256 of the server's key>.json (0600)
//! key: command line or URL, working directory, names of variables and headers, format of the file
//! ```
//!
//! Values of variables and headers are neither in the file nor in its name. A file that is damaged,
//! too large or of another format is ignored and later replaced.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use toolwright_exec::mcp::ServerDescription;
use toolwright_mcp::Revision;
use toolwright_model::{Connection, Server, Variable, hex};

use crate::live_sources::ToolAnswer;
use crate::server_offers::ServerOffers;

/// The format of the files. A change of it makes all older files foreign.
const FORMAT: u64 = 1;
/// The largest file that is read or written, in bytes.
const MAX_FILE: usize = 24 << 20;
/// The number of files that are kept. The ones that were not used for the longest time are removed.
const MAX_FILES: usize = 256;

/// Everything that a server answered, as it was before the gate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerAnswers {
    pub(crate) tools: Arc<ToolAnswer>,
    pub(crate) offers: Arc<ServerOffers>,
}

/// The folder of the files. All processes of the user share it; the last writer of a file wins.
#[derive(Clone, Debug)]
pub(crate) struct AnswerCache {
    folder: PathBuf,
}

impl AnswerCache {
    /// The cache in the user's folder for such files, which need not exist yet.
    pub(crate) fn new(user_folder: &Path) -> AnswerCache {
        AnswerCache { folder: user_folder.join("servers") }
    }

    /// The name is a hash, since a command line may hold secrets and characters that file names
    /// cannot.
    fn path(&self, server: &Server) -> PathBuf {
        let hash = Sha256::digest(key(server).to_string());
        self.folder.join(hex(&hash) + ".json")
    }

    /// The answers of a server, if there are any. Blocks while it reads.
    ///
    /// A file that cannot be read or parsed is the same as none: the server is asked anyway.
    pub(crate) fn read(&self, server: &Server) -> Option<ServerAnswers> {
        let file = fs::File::open(self.path(server)).ok()?;
        let mut text = Vec::new();
        file.take(MAX_FILE as u64 + 1).read_to_end(&mut text).ok()?;
        if text.len() > MAX_FILE {
            return None;
        }
        parse(serde_json::from_slice(&text).ok()?)
    }

    /// Keeps the answers of a server. Blocks while it writes. Answers that are too large are not
    /// kept.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, server: &Server, answers: &ServerAnswers) -> io::Result<()> {
        let text = serde_json::to_vec(&to_json(answers))?;
        if text.len() > MAX_FILE {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // Also if another program made it.
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700))?;
        // A temporary file is readable by its owner only. Renamed when it is complete, so that
        // another process never reads half of it.
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(&text)?;
        file.persist(self.path(server))?;
        self.remove_oldest()
    }

    /// Marks the file of a server as used, so that it is not removed as an old one.
    pub(crate) fn touch(&self, server: &Server) {
        let file = fs::File::options().append(true).open(self.path(server));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Removes the files above the limit, the least recently used first.
    ///
    /// Called after each write, so the folder is never far above the limit. Temporary files of
    /// other processes count and may be removed, if they are older than all others.
    fn remove_oldest(&self) -> io::Result<()> {
        let entries = fs::read_dir(&self.folder)?.flatten();
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(MAX_FILES);
        for (_, path) in &files[..surplus] {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// What identifies a server from one run to the next. Not the name of its source: a source that is
/// renamed still starts the same server.
///
/// Names of variables belong to it and values do not: a new token is the same server.
fn key(server: &Server) -> Json {
    let names = |variables: &[Variable]| {
        let mut names: Vec<String> = variables.iter().map(|it| it.name.clone()).collect();
        names.sort();
        names
    };
    let (kind, words) = match &server.connection {
        Connection::Stdio { command } => ("stdio", command.clone()),
        Connection::Http { url } => ("http", vec![url.clone()]),
        Connection::Sse { url } => ("sse", vec![url.clone()]),
        Connection::WebSocket { url } => ("ws", vec![url.clone()]),
    };
    let (environment, headers) = (names(&server.environment), names(&server.headers));
    json!([FORMAT, kind, words, server.directory, environment, headers])
}

/// The text of a file. Flags that are derived from the instructions are left out; they are worked
/// out again.
fn to_json(answers: &ServerAnswers) -> Json {
    let ServerOffers { description, resources, templates, prompts, .. } = &*answers.offers;
    let description = description.as_ref().map(|it| {
        json!({
            "revision": it.revision.name(),
            "capabilities": it.capabilities,
            "info": it.info,
            "instructions": it.instructions,
        })
    });
    json!({
        "format": FORMAT,
        "tools": answers.tools.list,
        "instructions": answers.tools.instructions,
        "description": description,
        "resources": resources,
        "resourceTemplates": templates,
        "prompts": prompts,
    })
}

/// The answers in a file; `None` if it is not one of ours.
///
/// A file with one list of a wrong type is refused as a whole.
fn parse(mut json: Json) -> Option<ServerAnswers> {
    let members = json.as_object_mut()?;
    if members.get("format")?.as_u64()? != FORMAT {
        return None;
    }
    let list = members.remove("tools").filter(Json::is_object)?;
    let instructions = text(members.get("instructions"));
    let mut offers = ServerOffers { description: description(members), ..Default::default() };
    for kind in ServerOffers::KINDS {
        let Some(Json::Array(items)) = members.remove(kind.member()) else { return None };
        // Cleaned again: what is in a file need not be what was written to it.
        offers.set(kind, items, &mut Vec::new());
    }
    let tools = Arc::new(ToolAnswer { list, instructions });
    Some(ServerAnswers { tools, offers: Arc::new(offers) })
}

/// What the server said of itself; `None` if it was not asked, or its revision is not known.
fn description(members: &Map<String, Json>) -> Option<Arc<ServerDescription>> {
    let found = members.get("description")?.as_object()?;
    Some(Arc::new(ServerDescription {
        revision: Revision::parse(found.get("revision")?.as_str()?)?,
        capabilities: found.get("capabilities")?.clone(),
        info: found.get("info")?.clone(),
        instructions: text(found.get("instructions")),
    }))
}

fn text(value: Option<&Json>) -> Option<String> {
    value.and_then(Json::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use toolwright_model::ServerSettings;

    use super::*;

    fn server(command: &str, variables: &[(&str, &str)]) -> Server {
        let variable = |(name, value): &(&str, &str)| Variable {
            name: name.to_string(),
            value: Some(value.to_string()),
            ..Variable::default()
        };
        Server {
            connection: Connection::Stdio { command: vec![command.to_owned()] },
            shown: None,
            environment: variables.iter().map(variable).collect(),
            headers: Vec::new(),
            directory: None,
            health_check: None,
            settings: ServerSettings::default(),
        }
    }

    fn answers(tool: &str) -> ServerAnswers {
        let description = ServerDescription {
            revision: Revision::V2025_11_25,
            capabilities: json!({"tools": {}}),
            info: json!({"name": "x"}),
            instructions: Some("Use it.".to_owned()),
        };
        ServerAnswers {
            tools: Arc::new(ToolAnswer {
                list: json!({"tools": [{"name": tool}]}),
                instructions: Some("Use it.".to_owned()),
            }),
            offers: Arc::new(ServerOffers {
                description: Some(Arc::new(description)),
                resources: vec![json!({"uri": "a://b", "name": "b"})],
                are_prompts_known: true,
                ..ServerOffers::default()
            }),
        }
    }

    #[test]
    fn answers_are_kept_for_the_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(&folder.path().join("deep/toolwright"));
        let server = server("x", &[("TOKEN", "sesame")]);
        assert_eq!(cache.read(&server), None);
        cache.write(&server, &answers("one")).unwrap();
        assert_eq!(cache.read(&server), Some(answers("one")));
        cache.write(&server, &answers("two")).unwrap();
        assert_eq!(cache.read(&server), Some(answers("two")));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = cache.path(&server);
        assert_eq!((mode(&cache.folder), mode(&file)), (0o700, 0o600));
        assert!(!fs::read_to_string(&file).unwrap().contains("sesame"));
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn the_key_has_names_of_variables_and_no_values() {
        let cache = AnswerCache::new(Path::new("/x"));
        let path = |variables: &[(&str, &str)]| cache.path(&server("x", variables));
        assert_eq!(path(&[("A", "1"), ("B", "2")]), path(&[("B", "3"), ("A", "4")]));
        assert_ne!(path(&[("A", "1")]), path(&[("B", "1")]));
        assert_ne!(cache.path(&server("x", &[])), cache.path(&server("y", &[])));
    }

    #[test]
    fn damaged_and_foreign_files_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(folder.path());
        let server = server("x", &[]);
        cache.write(&server, &answers("one")).unwrap();
        let file = cache.path(&server);
        let good = fs::read_to_string(&file).unwrap();
        let half = good.split_at(good.len() / 2).0.to_owned();
        let foreign = good.replace("\"format\":1", "\"format\":2");
        let wrong = good.replace("\"prompts\":[]", "\"prompts\":{}");
        for text in ["", "null", "[]", "{}", &half, &foreign, &wrong] {
            fs::write(&file, text).unwrap();
            assert_eq!(cache.read(&server), None, "{text}");
        }
        fs::write(&file, vec![b' '; MAX_FILE + 1]).unwrap();
        assert_eq!(cache.read(&server), None);
        cache.write(&server, &answers("one")).unwrap();
        assert_eq!(cache.read(&server), Some(answers("one")), "replaced");
    }

    #[test]
    fn the_least_recently_used_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(folder.path());
        let servers: Vec<Server> =
            (0..MAX_FILES + 1).map(|n| server(&format!("s{n}"), &[])).collect();
        for server in &servers[..MAX_FILES] {
            cache.write(server, &answers("one")).unwrap();
        }
        let old = fs::File::options().append(true).open(cache.path(&servers[7])).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let used = fs::File::options().append(true).open(cache.path(&servers[0])).unwrap();
        used.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        cache.touch(&servers[0]);
        cache.write(&servers[MAX_FILES], &answers("one")).unwrap();
        assert_eq!(cache.read(&servers[7]), None);
        assert!(cache.read(&servers[0]).is_some());
        assert!(cache.read(&servers[MAX_FILES]).is_some());
    }
}
