//! URIs that servers have named in results without listing them. Clients see them as they are, so
//! that a link to a file can be opened as one; a client that reads such a URI is led to the server
//! that named it first.
//!
//! Bounded per server: one that names many URIs makes its own oldest ones unknown, not those of
//! others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright_model::Server;

/// URIs of one server that are known; the oldest are forgotten first.
const MAX_URIS: usize = 1_000;
/// The longest URI that is kept, in bytes.
const MAX_BYTES: usize = 2_048;

/// See the file header.
#[derive(Default)]
pub(crate) struct UnlistedUris(Mutex<KnownUris>);

#[derive(Default)]
struct KnownUris {
    servers: HashMap<String, Arc<Server>>,
    /// The URIs of each server, the oldest first.
    order: Vec<(Arc<Server>, VecDeque<String>)>,
}

impl UnlistedUris {
    fn known(&self) -> MutexGuard<'_, KnownUris> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server that named this URI.
    pub(crate) fn server_of(&self, uri: &str) -> Option<Arc<Server>> {
        self.known().servers.get(uri).map(Arc::clone)
    }

    /// Notes that a server has named a URI that no server has named before. Returns false if it is
    /// too long to be kept.
    pub(crate) fn add(&self, uri: &str, server: &Arc<Server>) -> bool {
        if uri.len() > MAX_BYTES {
            return false;
        }
        let known = &mut *self.known();
        if known.servers.contains_key(uri) {
            return true;
        }
        known.servers.insert(uri.to_owned(), Arc::clone(server));
        let at = known.order.iter().position(|(own, _)| own == server).unwrap_or_else(|| {
            known.order.push((Arc::clone(server), VecDeque::new()));
            known.order.len() - 1
        });
        let uris = &mut known.order[at].1;
        uris.push_back(uri.to_owned());
        if uris.len() > MAX_URIS
            && let Some(oldest) = uris.pop_front()
        {
            known.servers.remove(&oldest);
        }
        true
    }

    /// Forgets the URIs of all other servers.
    pub(crate) fn keep(&self, servers: &[Arc<Server>]) {
        let known = &mut *self.known();
        known.servers.retain(|_, server| servers.contains(server));
        known.order.retain(|(server, _)| servers.contains(server));
    }
}
