//! Which codes are reported, and with which severity: the code's own, unless the configuration says
//! otherwise, and only those that the command line asks for.

use std::collections::HashSet;

use toolwright_source::Diagnostic;

use crate::codes;
use crate::config::Levels;

/// Which codes are reported, and with which severity.
#[derive(Clone, Debug, Default)]
pub struct CodeSelection {
    /// Only these; all if empty.
    only: HashSet<&'static str>,
    /// Wins over `only`: `--select A --ignore A` reports nothing.
    never: HashSet<&'static str>,
    levels: Levels,
}

/// A code that does not exist, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no code `{name}` ({help})")]
pub struct UnknownCode {
    name: String,
    help: String,
}

impl CodeSelection {
    /// Reports the codes named in `only` (all if it is empty) without those named in `never`, with
    /// the severities of the configuration.
    ///
    /// # Errors
    /// If a name is not the name of a code.
    pub fn new(
        only: &[String],
        never: &[String],
        levels: Levels,
    ) -> Result<CodeSelection, UnknownCode> {
        Ok(CodeSelection { only: code_names(only)?, never: code_names(never)?, levels })
    }

    /// Whether the configuration switches this code off. `--select` is not considered: this decides
    /// which new findings make a repair unsafe, and a code that the project switched off never
    /// does.
    pub(crate) fn is_off(&self, code: &str) -> bool {
        self.levels.get(code) == Some(&None)
    }

    /// Drops what is not reported, and sets the severity of the rest.
    pub(crate) fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| {
            let name = diagnostic.code.name;
            match self.levels.get(name) {
                Some(Some(severity)) => diagnostic.severity = *severity,
                // A code that the command line asks for by name is reported all the same.
                Some(None) if !self.only.contains(name) => return false,
                Some(None) | None => {}
            }
            (self.only.is_empty() || self.only.contains(name)) && !self.never.contains(name)
        });
    }
}

fn code_names(names: &[String]) -> Result<HashSet<&'static str>, UnknownCode> {
    let find = |name: &str| {
        let code = codes::find(name);
        code.map(|code| code.name).map_err(|help| UnknownCode { name: name.to_owned(), help })
    };
    names.iter().map(|name| find(name.trim())).collect()
}
