//! Servers that answer by a script, beside one that is good: the configuration for `toolwright
//! serve` and parts of scripts. The scripts are run by `scripted.rs` of the crate `testing`.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::client::{StdioClient, configured, faulty_server};
use crate::serving::{LONG_STARTUP, server};

/// A configuration with scripted servers beside the source `good`; see `scripted.rs` of the crate
/// `testing`.
pub(crate) struct ScriptedServers {
    folder: tempfile::TempDir,
}

impl ScriptedServers {
    /// Each server has a name, more keys of its source, and a script without what all have.
    pub(crate) fn new(servers: &[(&str, &str, Json)]) -> ScriptedServers {
        let mut text = server("good", "full");
        let (folder, path) = configured("");
        for (name, more, script) in servers {
            let file = path.join(format!("{name}.json"));
            let mut whole = json!({
                "initialize": {"result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}},
                    "serverInfo": {"name": name, "version": "1"},
                }},
                "tools/list": {"result": {
                    "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
                }},
                "tools/call": {"result": {"content": [{"type": "text", "text": "called"}]}},
                "resources/list": {"result": {"resources": []}},
                "resources/templates/list": {"result": {"resourceTemplates": []}},
                "prompts/list": {"result": {"prompts": []}},
                "logging/setLevel": {"result": {}},
            });
            for (method, step) in script.as_object().expect("methods") {
                whole[method] = step.clone();
            }
            std::fs::write(&file, whole.to_string()).expect("a file");
            text += &format!(
                "[[source]]\nname = \"{name}\"\ncommand = [\"{}\", \"scripted\", \"{}\"]\n{more}\n",
                faulty_server(),
                file.display(),
            );
        }
        std::fs::write(path.join("toolwright.toml"), text + LONG_STARTUP).expect("a file");
        ScriptedServers { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// What a server was sent.
    pub(crate) fn sent_to(&self, name: &str) -> Vec<Json> {
        let log = std::fs::read_to_string(self.file(&format!("{name}.json.log")));
        let log = log.unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// A client with a handshake that can answer everything.
    pub(crate) fn serve(&self) -> StdioClient {
        let mut client = StdioClient::bare(self.path(), &[], &[]);
        let capabilities = json!({"roots": {}, "sampling": {}, "elicitation": {}});
        let mut params = crate::client::handshake("2025-11-25");
        params["capabilities"] = capabilities;
        client.ask("initialize", params);
        client.notify("notifications/initialized", json!({}));
        client
    }
}

/// A question of a server.
pub(crate) fn question(method: &str) -> Json {
    let params = json!({"message": "?", "requestedSchema": {"type": "object"}, "messages": []});
    json!({"jsonrpc": "2.0", "id": "q$N", "method": method, "params": params})
}

pub(crate) fn is_question(message: &Json) -> bool {
    message["method"] == "elicitation/create"
}

/// A notification of a server.
pub(crate) fn notification(method: &str, params: Json) -> Json {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn texts<'j>(list: &'j Json, member: &str, key: &str) -> Vec<&'j str> {
    let items = list["result"][member].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item[key].as_str().expect("text")).collect()
}
