//! AIOS: YAML tools of four types, with commands, and from version 2.0 on with knowledge: code,
//! payload shapes, quirks, anti-patterns and examples by scenario.

mod commands;
mod fields;
mod knowledge;
mod read;
mod version;

use std::sync::Arc;

use toolwright_model::{Conventions, ExampleKind, FormatId, NameStyle};
use toolwright_source::Document;

use crate::{Field, Format, Reading};

pub(crate) const ID: FormatId = FormatId("aios");

pub(crate) struct Aios;

static CONVENTIONS: Conventions = Conventions {
    names: NameStyle::KebabCaseIds,
    examples: ExampleKind::Scenarios,
    needs_namespace: true,
    inherits_description: true,
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
