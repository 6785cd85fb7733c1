//! OpenAPI 3.0 and 3.1 (3.2 as 3.1): each operation is a tool. Nothing is written in this format.
//!
//! ```text
//! fields.rs   the tables
//! read.rs     the document as a toolset: operations in the order of the text
//! input.rs    parameters and request body as one schema
//! schemas.rs  schemas with the definitions that they refer to
//! ```
//!
//! The reader follows references inside the document only. Where arguments go (path, query, header,
//! body), the servers and the security are not in the record yet: the fields are kept as written,
//! for a binding that calls the API.

mod fields;
mod input;
mod read;
mod schemas;

use std::sync::Arc;

use toolwright_model::{Conventions, FormatId};
use toolwright_source::Document;

use crate::{Field, Format, Reading};

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("openapi");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct OpenApi;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions::NONE;

impl Format for OpenApi {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "OpenAPI 3.0 and 3.1: each operation is a tool"
    }

    fn fields(&self) -> &'static [Field] {
        fields::ROOT
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        read::read(document)
    }
}
