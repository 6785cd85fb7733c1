//! Which codes are reported, and with which severity: the code's own, unless the configuration says
//! otherwise, and only those that the command line asks for. Findings that the configuration
//! silences one by one (`ignore_list`) are left out, too.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_source::{Diagnostic, Severity};

use crate::codes;
use crate::config::Levels;
use crate::ignore_list::IgnoreList;

/// Which codes are reported, and with which severity.
#[derive(Clone, Debug, Default)]
pub struct CodeSelection {
    /// Only these; all if empty.
    only: HashSet<&'static str>,
    /// Wins over `only`: `--select A --ignore A` reports nothing.
    never: HashSet<&'static str>,
    levels: Levels,
    /// Findings that the configuration silences.
    pub(crate) ignores: Arc<IgnoreList>,
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
    /// the severities of the configuration and without what it ignores. Case does not matter.
    ///
    /// # Errors
    /// If a name is not the name of a code.
    pub fn new(
        only: &[String],
        never: &[String],
        levels: Levels,
        ignores: Arc<IgnoreList>,
    ) -> Result<CodeSelection, UnknownCode> {
        Ok(CodeSelection { only: code_names(only)?, never: code_names(never)?, levels, ignores })
    }

    /// Whether the configuration switches this code off. `--select` is not considered: this decides
    /// which new findings make a repair unsafe, and a code that the project switched off never
    /// does.
    pub(crate) fn is_off(&self, code: &str) -> bool {
        self.levels.get(code) == Some(&None)
    }

    /// Whether both give the same severities to all codes.
    pub fn has_levels_of(&self, other: &CodeSelection) -> bool {
        self.levels == other.levels
    }

    /// Whether the configuration makes the findings of some code errors.
    pub(crate) fn raises_to_error(&self) -> bool {
        self.levels.values().any(|level| *level == Some(Severity::Error))
    }

    /// Drops what is not reported, and sets the severity of the rest. Returns how many findings
    /// the configuration silences; those that are not reported anyway do not count.
    pub(crate) fn apply(&self, diagnostics: &mut Vec<Diagnostic>) -> usize {
        let mut silenced = 0;
        diagnostics.retain_mut(|diagnostic| {
            // First, because an entry is needed also if this run does not report its code.
            let ignored = self.ignores.hits(diagnostic);
            let name = diagnostic.code.name;
            match self.levels.get(name) {
                Some(Some(severity)) => diagnostic.severity = *severity,
                // A code that the command line asks for by name is reported all the same.
                Some(None) if !self.only.contains(name) => return false,
                Some(None) | None => {}
            }
            let selected =
                (self.only.is_empty() || self.only.contains(name)) && !self.never.contains(name);
            silenced += usize::from(selected && ignored);
            selected && !ignored
        });
        silenced
    }
}

fn code_names(names: &[String]) -> Result<HashSet<&'static str>, UnknownCode> {
    let find = |name: &str| {
        // Codes are upper case everywhere, but users type lower case.
        let code = codes::find(&name.to_ascii_uppercase());
        code.map(|code| code.name).map_err(|help| UnknownCode { name: name.to_owned(), help })
    };
    names.iter().map(|name| find(name.trim())).collect()
}
