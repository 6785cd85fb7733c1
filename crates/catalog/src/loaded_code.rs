//! The files with the code of a tool, as they were when its definition was loaded. The runner looks
//! at them right before a call: the hash that a person granted or accepted is that of these files.
//!
//! A definition names files, and its hash covers them. But a file can change after the definition
//! was loaded and before the next poll sees it, so the runner asks once more when the call is about
//! to start. A file is read again only if the system reports that it has changed.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toolwright_exec::LoadedCode;
use toolwright_workspace::code_files::{CodeFile, CodePlace, DocumentCode, ToolCode};

use crate::pins::Pins;

/// The files of one tool, or those that all tools of a definition share.
pub(crate) struct LoadedFiles {
    /// Files that exist, and places where a file would be found first if somebody put one there.
    code: ToolCode,
    /// Decides what a change means: a refusal where pins are enforced.
    pins: Option<Arc<Pins>>,
}

impl LoadedFiles {
    /// Those of the `n`th tool of a document; `None` if it has none.
    pub(crate) fn of_tool(
        code: &DocumentCode,
        n: usize,
        pins: Option<&Arc<Pins>>,
    ) -> Option<Arc<dyn LoadedCode>> {
        LoadedFiles::if_any(code.run_by(n), pins)
    }

    /// Those that all tools share; `None` if there are none.
    pub(crate) fn shared(
        code: &DocumentCode,
        pins: Option<&Arc<Pins>>,
    ) -> Option<Arc<dyn LoadedCode>> {
        LoadedFiles::if_any(code.of_server().clone(), pins)
    }

    fn if_any(code: ToolCode, pins: Option<&Arc<Pins>>) -> Option<Arc<dyn LoadedCode>> {
        if code == ToolCode::default() {
            return None;
        }
        Some(Arc::new(LoadedFiles { code, pins: pins.cloned() }))
    }
}

impl fmt::Debug for LoadedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.code.files.iter().map(|file| &file.path)).finish()
    }
}

impl LoadedCode for LoadedFiles {
    fn is_enforced(&self) -> bool {
        self.pins.as_ref().is_some_and(|pins| pins.is_enforced())
    }

    fn changed_file(&self) -> Option<String> {
        let is_changed = |file: &&CodeFile| !file.is_unchanged();
        let changed = self.code.files.iter().find(is_changed).map(|file| &file.name);
        let appeared = || {
            let place = self.code.absent.iter().find(|place: &&CodePlace| place.is_taken());
            place.map(|place| &place.name)
        };
        changed.or_else(appeared).cloned()
    }

    fn file_behind_links(&self, word: &str) -> Option<&Path> {
        self.code.files.iter().find_map(|file| file.behind_links(word))
    }
}
