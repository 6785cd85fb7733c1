//! Functions that a caller lends to a guest.

use futures::future::BoxFuture;
use serde_json::Map;

use crate::Json;

/// Functions of the host that a guest may call for the length of one call. In the guest each
/// returns a promise.
pub trait HostFunctions: Send + Sync {
    /// The names under which they are global in the guest; dots lead through objects: `tools.call`.
    fn names(&self) -> Vec<String>;

    /// Answers one call. The guest's clock of the processor stands still meanwhile; how long this
    /// may take is up to the one who lends the function. `name` is one of `names`; several calls
    /// may be under way at the same time.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Vec<Json>,
    ) -> BoxFuture<'a, Result<Json, HostError>>;
}

/// What a promise is rejected with: an `Error` with this message.
#[derive(Clone, Debug, Default)]
pub struct HostError {
    /// The message of the error in the guest.
    pub message: String,
    /// Its other properties: `code`, `suggestion` …
    pub fields: Map<String, Json>,
}

impl HostError {
    /// An error with nothing but a message.
    pub fn new(message: impl Into<String>) -> HostError {
        HostError { message: message.into(), fields: Map::new() }
    }
}
