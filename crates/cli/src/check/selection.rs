//! Which codes are reported, and what they weigh: their own word, the configuration's, the command
//! line's.

use std::collections::HashSet;

use anyhow::bail;
use toolwright_catalog::{Levels, codes};
use toolwright_source::Diagnostic;

use crate::args::CheckArgs;

/// What is to be reported.
#[derive(Default)]
pub(crate) struct Selection {
    /// Only these; all if empty.
    only: HashSet<&'static str>,
    never: HashSet<&'static str>,
    levels: Levels,
}

impl Selection {
    /// As the command line and the configuration have it.
    pub(super) fn new(args: &CheckArgs, levels: Levels) -> anyhow::Result<Selection> {
        Ok(Selection { only: known(&args.select)?, never: known(&args.ignore)?, levels })
    }

    /// Whether the configuration has this code switched off.
    pub(super) fn is_off(&self, code: &str) -> bool {
        self.levels.get(code) == Some(&None)
    }

    /// Leaves what is to be reported, with its weight.
    pub(super) fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| {
            let name = diagnostic.code.name;
            match self.levels.get(name) {
                Some(Some(severity)) => diagnostic.severity = *severity,
                // Who asks for a code by name wants to see it.
                Some(None) if !self.only.contains(name) => return false,
                Some(None) | None => {}
            }
            (self.only.is_empty() || self.only.contains(name)) && !self.never.contains(name)
        });
    }
}

fn known(names: &[String]) -> anyhow::Result<HashSet<&'static str>> {
    let mut known = HashSet::new();
    for name in names.iter().map(|name| name.trim()) {
        match codes::find(name) {
            Ok(code) => known.insert(code.name),
            Err(help) => bail!("there is no code `{name}` ({help})"),
        };
    }
    Ok(known)
}
