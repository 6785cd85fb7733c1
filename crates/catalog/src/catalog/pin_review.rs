//! Loads everything once for `toolwright trust`, and compares it with what was accepted.

use std::path::PathBuf;
use std::sync::Arc;

use toolwright_exec::mcp::ListKind;

use super::Catalog;
use crate::live_sources::SourceFailure;
use crate::pin_review::{PinReview, ReviewScope};
use crate::pin_subject::PinSubject;
use crate::pins::{PinError, PinPurpose};
use crate::server_offers::ServerOffers;

impl Catalog {
    /// Asks all sources for everything that is pinned. The second part of the result are the
    /// sources that could not be loaded.
    ///
    /// # Errors
    /// If the lock or the store in `folder` cannot be read.
    pub async fn review_pins(
        &self,
        folder: Result<PathBuf, String>,
        scope: ReviewScope,
    ) -> Result<(Option<PinReview>, Vec<SourceFailure>), PinError> {
        self.open_pins(folder, PinPurpose::Review)?;
        let failures = self.load_all().await;
        for (subject, server) in self.servers_to_ask() {
            let upstream = self.runner().context().upstreams.get(&server);
            let (offers, _) = ServerOffers::default().ask(&upstream, &[ListKind::Prompts]).await;
            self.observe_offers(&subject, &offers);
        }
        Ok((self.pins().map(|pins| pins.review(scope)), failures))
    }

    fn servers_to_ask(&self) -> Vec<(PinSubject, Arc<toolwright_model::Server>)> {
        let states = self.states();
        states.iter().flat_map(|state| state.pinned_servers()).collect()
    }
}
