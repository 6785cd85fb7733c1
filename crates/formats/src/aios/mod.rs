//! AIOS: one YAML document per tool, of one of four types, with commands that agents call. From
//! version 2.0 on it also holds knowledge: helper functions, processors and validators in
//! JavaScript, payload shapes, quirks, anti-patterns, and examples by scenario.
//!
//! ```text
//! fields.rs     the tables
//! version.rs    1.0 or 2.0: as stated, or by the features in use
//! read.rs       the tool as a toolset, whose namespace is the tool's id
//! commands.rs   its commands, one draft each, and how they are run
//! knowledge.rs  the knowledge sections
//! write.rs      a toolset as such a document
//! ```
//!
//! An AIOS "tool" is a toolset in the record, and its commands are the tools: what an agent can
//! call is a command.

mod commands;
mod fields;
mod knowledge;
mod read;
mod version;
mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, ExampleKind, FormatId, NameStyle};
use toolwright_source::Document;

use crate::{Field, Format, Reading};

use commands::default_schema;
pub(crate) use write::write;

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("aios");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Aios;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions {
    names: NameStyle::KebabCaseIds,
    examples: ExampleKind::Scenarios,
    needs_namespace: true,
    inherits_description: true,
    has_typed_sections: true,
    ..Conventions::NONE
};

impl Format for Aios {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "AIOS tool, version 1.0 or 2.0: type mcp, cli, local or meta"
    }

    fn fields(&self) -> &'static [Field] {
        fields::ROOT
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        read::read(document)
    }
}
