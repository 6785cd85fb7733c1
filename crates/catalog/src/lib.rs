//! The live half of what tools there are: connections to servers and programs, the gate between
//! what was read and what may be called, and reload when a file or a server changes.
//!
//! ```text
//! SourcePlan ─ live_sources: ask servers and programs ─▶ LoadedDocument ─ gate ─▶ Toolset<Tool>
//!     ▲                                                                              │ register
//!     └─ catalog: files and servers change, sources are loaded again ◀──── exec: ToolRegistry
//! ```
//!
//! The static half (configuration, files, reading, checking) is in `toolwright_workspace`.

mod answer_cache;
mod catalog;
mod draining;
mod gate;
pub mod grants;
mod instructions;
mod javascript;
mod listed_pins;
mod live_sources;
mod loaded_code;
mod offers;
mod pin_review;
mod pin_subject;
mod pins;
mod server_definition;
mod server_offers;
mod server_task;
mod source_state;
pub mod store;
mod suspicious_texts;
mod toolset_names;
mod unlisted_uris;
mod uri_template;

pub use catalog::{Catalog, CatalogEvent, EventListener, Planner};
pub use gate::{QuarantineReason, quarantine_reasons};
pub use javascript::knowledge;
pub use listed_pins::compare_listed;
pub use live_sources::{SourceFailure, load_plan};
pub use offers::{OfferedCapabilities, OfferedItem, Offers, ServerNotification};
pub use pin_review::{PinReview, PinWriteError, ReviewScope, ReviewedPart, ReviewedToolset};
pub use pin_subject::PinSubject;
pub use pins::{PinChange, PinDrift, PinError};
pub use toolwright_workspace::ExposedNames;
