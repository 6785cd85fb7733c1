//! The files with the code of a tool, as they were when its definition was loaded. The runner looks
//! at them right before a call: the hash that a person granted or accepted is that of these files.

use std::fmt;
use std::sync::Arc;

use toolwright_exec::LoadedCode;
use toolwright_workspace::code_files::{CodeFile, DocumentCode};

use crate::pins::Pins;

/// The files of one tool, or those that all tools of a definition share.
pub(crate) struct LoadedFiles {
    files: Vec<CodeFile>,
    pins: Option<Arc<Pins>>,
}

impl LoadedFiles {
    /// Those of the `n`th tool of a document; `None` if it has none.
    pub(crate) fn of_tool(
        code: &DocumentCode,
        n: usize,
        pins: Option<&Arc<Pins>>,
    ) -> Option<Arc<dyn LoadedCode>> {
        let files = code.of_tool(n).iter().chain(code.shared()).cloned().collect();
        LoadedFiles::if_any(files, pins)
    }

    /// Those that all tools share; `None` if there are none.
    pub(crate) fn shared(
        code: &DocumentCode,
        pins: Option<&Arc<Pins>>,
    ) -> Option<Arc<dyn LoadedCode>> {
        LoadedFiles::if_any(code.shared().to_vec(), pins)
    }

    fn if_any(files: Vec<CodeFile>, pins: Option<&Arc<Pins>>) -> Option<Arc<dyn LoadedCode>> {
        if files.is_empty() {
            return None;
        }
        Some(Arc::new(LoadedFiles { files, pins: pins.cloned() }))
    }
}

impl fmt::Debug for LoadedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter().map(|file| &file.path)).finish()
    }
}

impl LoadedCode for LoadedFiles {
    fn is_enforced(&self) -> bool {
        self.pins.as_ref().is_some_and(|pins| pins.is_enforced())
    }

    fn changed_file(&self) -> Option<String> {
        let changed = self.files.iter().find(|file| !file.is_unchanged())?;
        Some(changed.name.clone())
    }
}
