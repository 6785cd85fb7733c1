//! Writes the document that an ikigai program prints for `--schema`. The format is one tool;
//! several are written as `{"tools": […]}`, which only `--format ikigai` reads.
//!
//! The format has three fields, so all else that a tool has is lost or, if it was read from this
//! format, in `rest`.

use toolwright_model::{Json, Tool, Toolset};

use super::ID;
use crate::write::{ObjectWriter, object_of, put_rest};

/// The toolset as a document.
pub(crate) fn write(toolset: Toolset<Tool>) -> Json {
    let mut tools: Vec<Json> = toolset.tools.into_iter().map(write_tool).collect();
    match tools.len() {
        1 => tools.remove(0),
        _ => {
            let mut value = object_of("tools", tools);
            put_rest(&mut value, &toolset.rest, ID, |_| true);
            value
        }
    }
}

/// One tool: `{"name", "description", "parameters"}`, and what was kept of it.
fn write_tool(tool: Tool) -> Json {
    let mut object = ObjectWriter::default();
    object.put("name", tool.name.as_str());
    object.put_some("description", tool.description);
    object.put("parameters", tool.input.into_json());
    let mut value = object.into_json();
    put_rest(&mut value, &tool.details.rest, ID, |_| true);
    value
}
