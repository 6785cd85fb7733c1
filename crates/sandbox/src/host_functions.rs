//! Functions of the caller that a guest may call. The guest's side, where each of them returns a
//! promise or blocks the guest, is in `guest::globals`; the parent's side is in `worker_call`.

use futures::future::BoxFuture;
use serde_json::Map;

use crate::Json;

/// Functions of the host that a guest may call during one call of a program. In the guest each
/// returns a promise, or the answer itself.
pub trait HostFunctions: Send + Sync {
    /// The names of the functions in the guest. A dot leads into an object: `tools.call` becomes
    /// the property `call` of the global object `tools`.
    fn names(&self) -> Vec<String>;

    /// Whether a function returns its answer, or throws, instead of returning a promise. The guest
    /// stands still until then; promises of other calls are settled later.
    fn is_synchronous(&self, _name: &str) -> bool {
        false
    }

    /// Answers one call of the guest. Neither clock of the guest runs while it waits, so the
    /// implementation must bound its own time. `name` is one of [`names`](Self::names). Up to
    /// [`MAX_HOST_CALLS`](crate::MAX_HOST_CALLS) calls may be in progress at the same time; they
    /// are dropped when the guest ends.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Vec<Json>,
    ) -> BoxFuture<'a, Result<Json, HostError>>;
}

/// The reason for which a host function rejects its promise, or throws. The guest sees an `Error`
/// with this message.
#[derive(Clone, Debug, Default)]
pub struct HostError {
    /// The message of the error in the guest.
    pub message: String,
    /// Its other own properties, such as `code` or `suggestion`.
    pub fields: Map<String, Json>,
}

impl HostError {
    /// An error that has only a message.
    pub fn new(message: impl Into<String>) -> HostError {
        HostError { message: message.into(), fields: Map::new() }
    }
}
