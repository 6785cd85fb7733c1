//! Which tool a diagnostic lies in, by its path into the document. Renderers group by it, and
//! silences of the configuration name it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright_formats::Reading;
use toolwright_source::{Diagnostic, DocumentPath, RecordPath, ToolPlace};

/// Fills in the tool of each diagnostic about the document of `reading`. A tool without a name, and
/// what lies outside of all tools, stays without one.
pub fn fill_in_tools(reading: &Reading, diagnostics: &mut [Diagnostic]) {
    // Most documents have no diagnostic, and need no list of their tools.
    if diagnostics.iter().all(|diagnostic| diagnostic.tool.is_some()) {
        return;
    }
    let tools = tools_by_path(reading);
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.tool.is_none()) {
        diagnostic.tool = tool_around(&tools, diagnostic.path.as_str()).cloned();
    }
}

/// The tools that have a name, by the path of their definition.
fn tools_by_path(reading: &Reading) -> BTreeMap<DocumentPath, Arc<ToolPlace>> {
    let tools = (0..reading.toolset.tools.len()).filter_map(|n| {
        let record = RecordPath::root().child("tools").child(n);
        // From the document, because the record has no name that breaks the rules of its format.
        let name = reading.origin.value(&record.child("name"))?.text()?;
        let name = Some(name).filter(|name| !name.is_empty())?.to_owned();
        let at = reading.origin.document_path(&record);
        Some((at.clone(), Arc::new(ToolPlace { name, at })))
    });
    tools.collect()
}

/// The innermost tool at or around `path`.
fn tool_around<'t>(
    tools: &'t BTreeMap<DocumentPath, Arc<ToolPlace>>,
    path: &str,
) -> Option<&'t Arc<ToolPlace>> {
    let mut around = path;
    loop {
        if let Some(tool) = tools.get(around) {
            return Some(tool);
        }
        around = &around[..around.rfind('/')?];
    }
}
