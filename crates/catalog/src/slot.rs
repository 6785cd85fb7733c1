//! One source in the catalog: what it gave so far, and what of it changes by itself.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright_exec::RegisteredTool;
use toolwright_model::Server;

use crate::gate::Lanes;
use crate::hosted::Hosted;
use crate::plan::{Spec, What};

pub(crate) struct Slot {
    pub(crate) spec: Spec,
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    pub(crate) guests: Vec<Guest>,
    /// The permits of its toolsets, which outlive a reload.
    pub(crate) lanes: Lanes,
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
pub(crate) struct Guest {
    pub(crate) hosted: Arc<Hosted>,
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

impl Slot {
    pub(crate) fn new(spec: Spec) -> Slot {
        Slot {
            spec,
            entries: Vec::new(),
            guests: Vec::new(),
            lanes: Lanes::new(),
            bodies: Vec::new(),
            tried: false,
            followed: false,
            gone: CancellationToken::new(),
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.tried && self.guests.iter().all(|guest| guest.tried)
    }

    /// Takes over what definitions gave. What servers said of their tools holds until they are
    /// asked again; what the definitions say holds at once.
    pub(crate) fn host(&mut self, hosted: Vec<Hosted>) {
        let mut old = std::mem::take(&mut self.guests);
        for hosted in hosted {
            let before = old.iter().position(|guest| guest.hosted.is_like(&hosted));
            let before = before.map(|place| old.swap_remove(place));
            let mut guest = Guest {
                tools: hosted.own.iter().map(|(_, entry)| Arc::clone(entry)).collect(),
                hosted: Arc::new(hosted),
                served: None,
                tried: before.as_ref().is_some_and(|guest| guest.tried),
                followed: false,
                gone: self.gone.child_token(),
            };
            if let Some(before) = before {
                before.gone.cancel();
                if let Some(served) = before.served {
                    guest.tools = guest.hosted.meet(&served).0;
                    guest.served = Some(served);
                }
            }
            self.guests.push(guest);
        }
        old.iter().for_each(|guest| guest.gone.cancel());
    }

    /// Its tools as far as they are known.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.entries.iter().chain(self.guests.iter().flat_map(|guest| &guest.tools))
    }

    /// Its servers: itself, or those its definitions name.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        match &self.spec.what {
            What::Server(server, _) => vec![Arc::clone(server)],
            _ => self.guests.iter().map(|guest| Arc::clone(&guest.hosted.server)).collect(),
        }
    }
}

impl Guest {
    /// Takes over what the server said, and the tools that are there now.
    pub(crate) fn take(
        &mut self,
        served: Vec<Arc<RegisteredTool>>,
        tools: Vec<Arc<RegisteredTool>>,
    ) {
        (self.served, self.tools) = (Some(served), tools);
    }
}
