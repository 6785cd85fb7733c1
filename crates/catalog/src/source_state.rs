//! One source in the catalog: what it gave so far, and what of it changes by itself.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright_exec::RegisteredTool;
use toolwright_model::Server;
use toolwright_workspace::{SourceSpec, SourceTarget};

use crate::gate::ConcurrencyLimits;
use crate::server_definition::ServerDefinition;

pub(crate) struct SourceState {
    pub(crate) spec: SourceSpec,
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    pub(crate) server_toolsets: Vec<ServerToolset>,
    /// The permits of its toolsets, which outlive a reload.
    pub(crate) concurrency: ConcurrencyLimits,
    /// Where the bodies of its tools are looked for.
    pub(crate) bodies: Vec<PathBuf>,
    /// Whether a first attempt to load it has ended.
    pub(crate) tried: bool,
    /// Whether somebody keeps it loaded.
    pub(crate) followed: bool,
    /// Ends what follows this source.
    pub(crate) gone: CancellationToken,
}

/// A toolset on a server that its definition names.
pub(crate) struct ServerToolset {
    pub(crate) definition: Arc<ServerDefinition>,
    /// What the server said of its tools, last time it was asked with success.
    served: Option<Vec<Arc<RegisteredTool>>>,
    /// The tools of both.
    tools: Vec<Arc<RegisteredTool>>,
    /// Whether a first attempt to ask it has ended.
    pub(crate) tried: bool,
    /// Whether somebody keeps asking it.
    pub(crate) followed: bool,
    /// Ends what follows its server.
    pub(crate) gone: CancellationToken,
}

impl SourceState {
    pub(crate) fn new(spec: SourceSpec) -> SourceState {
        SourceState {
            spec,
            entries: Vec::new(),
            server_toolsets: Vec::new(),
            concurrency: ConcurrencyLimits::new(),
            bodies: Vec::new(),
            tried: false,
            followed: false,
            gone: CancellationToken::new(),
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.tried && self.server_toolsets.iter().all(|server_toolset| server_toolset.tried)
    }

    /// Takes over what definitions gave. What servers said of their tools holds until they are
    /// asked again; what the definitions say holds at once.
    pub(crate) fn host(&mut self, definition: Vec<ServerDefinition>) {
        let mut old = std::mem::take(&mut self.server_toolsets);
        for definition in definition {
            let before = old
                .iter()
                .position(|server_toolset| server_toolset.definition.is_like(&definition));
            let before = before.map(|place| old.swap_remove(place));
            let mut server_toolset = ServerToolset {
                tools: definition.own.iter().map(|(_, entry)| Arc::clone(entry)).collect(),
                definition: Arc::new(definition),
                served: None,
                tried: before.as_ref().is_some_and(|server_toolset| server_toolset.tried),
                followed: false,
                gone: self.gone.child_token(),
            };
            if let Some(before) = before {
                before.gone.cancel();
                if let Some(served) = before.served {
                    server_toolset.tools = server_toolset.definition.merge(&served).0;
                    server_toolset.served = Some(served);
                }
            }
            self.server_toolsets.push(server_toolset);
        }
        old.iter().for_each(|server_toolset| server_toolset.gone.cancel());
    }

    /// Its tools as far as they are known.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.entries
            .iter()
            .chain(self.server_toolsets.iter().flat_map(|server_toolset| &server_toolset.tools))
    }

    /// Its servers: itself, or those its definitions name.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        match &self.spec.target {
            SourceTarget::Server(server, _) => vec![Arc::clone(server)],
            _ => self
                .server_toolsets
                .iter()
                .map(|server_toolset| Arc::clone(&server_toolset.definition.server))
                .collect(),
        }
    }
}

impl ServerToolset {
    /// Takes over what the server said, and the tools that are there now.
    pub(crate) fn take(
        &mut self,
        served: Vec<Arc<RegisteredTool>>,
        tools: Vec<Arc<RegisteredTool>>,
    ) {
        (self.served, self.tools) = (Some(served), tools);
    }
}
