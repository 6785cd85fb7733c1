//! The analyzer of JavaScript source that this binary passes to everything that needs one.
//!
//! The only place that names an implementation: all other code holds a `dyn ScriptAnalyzer`. A test
//! in `tests/it/architecture.rs` checks this.

use std::sync::Arc;

use toolwright_script::{InProcessAnalyzer, ScriptAnalyzer};

/// An analyzer that parses in this process.
pub(crate) fn new_analyzer() -> Arc<dyn ScriptAnalyzer> {
    Arc::new(InProcessAnalyzer)
}
