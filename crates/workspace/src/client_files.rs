//! Where MCP clients keep their servers: one table for `init`, which reads these files, and for
//! `install`, which writes into them.
//!
//! The paths and keys are those of each client's documentation on Linux. They start at folders that
//! the caller passes in, because only the binary reads the environment. What the entries mean is in
//! `client_servers`, how a file is edited in `client_edit`.
//!
//! ```text
//! Client ─▶ ClientFile { base, path, keys, syntax }
//!             ├─ base + path     where the file is
//!             └─ keys            where in it the servers are: `mcpServers`, `mcp.servers`, …
//! ```

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use toolwright_source::DocumentPath;

/// The folders that the files of clients are in.
#[derive(Clone, Debug)]
pub struct ClientFolders {
    /// The user's home.
    pub home: PathBuf,
    /// Where programs of the terminal keep settings: `~/.config`, or `$XDG_CONFIG_HOME`.
    pub config: PathBuf,
    /// Where desktop applications do: on Linux the same, on macOS `~/Library/Application Support`.
    pub applications: PathBuf,
    /// The folder of the project.
    pub project: PathBuf,
}

impl ClientFolders {
    /// A path as people write it: relative to the project, else with `~` for the home.
    pub fn display(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.project) {
            return inside.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(inside) => format!("~/{}", inside.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// One of the [`ClientFolders`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BaseFolder {
    Project,
    Home,
    Config,
    Applications,
}

/// How a client writes its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientSyntax {
    /// JSON. Comments and trailing commas are kept wherever they are: some clients allow them.
    Json,
    Toml,
}

/// A file of a client.
#[derive(Debug)]
pub struct ClientFile {
    base: BaseFolder,
    /// Below the base folder, with `/`.
    path: &'static str,
    /// The keys that lead to the servers; [`PROJECT_KEY`] stands for the path of the project.
    keys: &'static [&'static str],
    pub(crate) syntax: ClientSyntax,
}

/// Claude Code keeps servers of a single project in the file of the user, under the path of the
/// project.
const PROJECT_KEY: &str = "{project}";

impl ClientFile {
    /// Where the file is, if it exists.
    pub fn path(&self, folders: &ClientFolders) -> PathBuf {
        let base = match self.base {
            BaseFolder::Project => &folders.project,
            BaseFolder::Home => &folders.home,
            BaseFolder::Config => &folders.config,
            BaseFolder::Applications => &folders.applications,
        };
        base.join(self.path)
    }

    /// Whether the file belongs to a project and not to a user.
    pub fn is_of_project(&self) -> bool {
        self.base == BaseFolder::Project
    }

    /// The path to the servers in the file.
    ///
    /// Of Claude Code: `/projects/~1home~1ann~1app/mcpServers`.
    pub(crate) fn servers(&self, folders: &ClientFolders) -> DocumentPath {
        let project = folders.project.display().to_string();
        let keys =
            self.keys.iter().map(|key| if *key == PROJECT_KEY { project.as_str() } else { *key });
        keys.fold(DocumentPath::root(), |path, key| path.child(key))
    }
}

/// An MCP client.
#[derive(Debug)]
pub struct Client {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name in texts.
    pub name: &'static str,
    /// Its files. The first one of a project, and the first one of the user, are those that
    /// `install` writes into.
    pub files: &'static [ClientFile],
    /// The text in arguments that the client replaces by the folder of the project. Empty if it
    /// starts servers in that folder.
    project_reference: &'static str,
    /// A member that the client wants in every entry.
    ///
    /// `type` for Claude Code and VS Code, `source` for Zed.
    kind: Option<(&'static str, &'static str)>,
}

impl Client {
    /// The client of this id.
    pub fn find(id: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// The file that `install` writes into: that of the project or that of the user. Some clients
    /// have no file of a project.
    pub fn installed_in(&self, of_project: bool) -> Option<&'static ClientFile> {
        self.files.iter().find(|file| file.is_of_project() == of_project)
    }

    /// The entry that starts `program serve --config config`. Without a program, the entry is for
    /// the file of a project, which other people and machines read, too: it has no absolute paths.
    ///
    /// ```text
    /// of the user      {"command": "/usr/bin/toolwright", "args": ["serve", "--config", "/a/b"]}
    /// of a project     {"command": "toolwright", "args": ["serve", "--config", "toolwright.toml"]}
    /// ```
    pub fn entry(&self, program: Option<&Path>, config: &Path) -> Json {
        let (program, config) = match program {
            Some(program) => (program.display().to_string(), config.display().to_string()),
            None => {
                let name = config.file_name().unwrap_or(config.as_os_str());
                let name = Path::new(name).display();
                ("toolwright".to_owned(), format!("{}{name}", self.project_reference))
            }
        };
        let mut entry = json!({});
        if let Some((key, value)) = self.kind {
            entry[key] = json!(value);
        }
        entry["command"] = json!(program);
        entry["args"] = json!(["serve", "--config", config]);
        entry
    }
}

/// A file in JSON, with the servers below these keys.
const fn json(base: BaseFolder, path: &'static str, keys: &'static [&'static str]) -> ClientFile {
    ClientFile { base, path, keys, syntax: ClientSyntax::Json }
}

/// A file in TOML, of Codex, whose servers are tables `[mcp_servers.NAME]`.
const fn toml(base: BaseFolder, path: &'static str) -> ClientFile {
    ClientFile { base, path, keys: &["mcp_servers"], syntax: ClientSyntax::Toml }
}

/// All clients, in the order in which `init` reads their files.
///
/// What the entries in these files mean is read by `read_entry` in `client_servers`.
pub const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        files: &[
            json(BaseFolder::Project, ".mcp.json", &["mcpServers"]),
            json(BaseFolder::Home, ".claude.json", &["mcpServers"]),
            json(BaseFolder::Home, ".claude.json", &["projects", PROJECT_KEY, "mcpServers"]),
        ],
        project_reference: "",
        kind: Some(("type", "stdio")),
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        files: &[json(
            BaseFolder::Applications,
            "Claude/claude_desktop_config.json",
            &["mcpServers"],
        )],
        project_reference: "",
        kind: None,
    },
    Client {
        id: "cursor",
        name: "Cursor",
        files: &[
            json(BaseFolder::Project, ".cursor/mcp.json", &["mcpServers"]),
            json(BaseFolder::Home, ".cursor/mcp.json", &["mcpServers"]),
        ],
        project_reference: "${workspaceFolder}/",
        kind: None,
    },
    Client {
        id: "vscode",
        name: "VS Code",
        files: &[
            json(BaseFolder::Project, ".vscode/mcp.json", &["servers"]),
            json(BaseFolder::Applications, "Code/User/mcp.json", &["servers"]),
        ],
        project_reference: "${workspaceFolder}/",
        kind: Some(("type", "stdio")),
    },
    Client {
        id: "codex",
        name: "Codex",
        files: &[
            toml(BaseFolder::Project, ".codex/config.toml"),
            toml(BaseFolder::Home, ".codex/config.toml"),
        ],
        project_reference: "",
        kind: None,
    },
    Client {
        id: "zed",
        name: "Zed",
        files: &[
            json(BaseFolder::Project, ".zed/settings.json", &["context_servers"]),
            json(BaseFolder::Config, "zed/settings.json", &["context_servers"]),
        ],
        project_reference: "",
        kind: Some(("source", "custom")),
    },
    Client {
        id: "gemini",
        name: "Gemini CLI",
        files: &[
            json(BaseFolder::Project, ".gemini/settings.json", &["mcpServers"]),
            json(BaseFolder::Home, ".gemini/settings.json", &["mcpServers"]),
        ],
        project_reference: "",
        kind: None,
    },
];
