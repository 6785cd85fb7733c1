//! Writes OpenAI's functions: the list that a request has in `tools`, in the chat shape or in that
//! of responses. In responses `strict` is always written: left out, the API tries the strict mode
//! and changes the schema.
//!
//! `strict` is an argument here and never taken from `rest`, since the schema was rewritten for the
//! one mode or the other. Tools in a namespace are written by their names alone.

use toolwright_model::{InputSchema, Json, Tool, ToolName, Toolset};

use super::{ID, RESPONSES_TOOL};
use crate::write::{ObjectWriter, put_rest, with_surroundings};

/// The toolset in the chat shape. The result's schema has no field in this shape.
pub(crate) fn write_chat(toolset: Toolset<Tool>, strict: bool) -> Json {
    let write = |tool: Tool| {
        let mut function = function(tool.name, tool.description, tool.input);
        if strict {
            function.put("strict", true);
        }
        let mut object = ObjectWriter::default();
        object.put("type", "function");
        object.put("function", function.finish());
        let mut value = object.into_json();
        put_rest(&mut value, &tool.details.rest, ID, |pointer| {
            // The target decides about `strict`.
            pointer.starts_with("/function/") && pointer != "/function/strict"
                || !pointer[1..].contains('/') && !is_responses_field(&pointer[1..])
        });
        value
    };
    with_surroundings(toolset.tools.into_iter().map(write).collect(), &toolset.rest, ID)
}

/// The toolset in the shape of responses. Kept members of a chat tool are below `/function/` and do
/// not fit here.
pub(crate) fn write_responses(toolset: Toolset<Tool>, strict: bool) -> Json {
    let write = |tool: Tool| {
        let mut object = ObjectWriter::default();
        object.put("type", "function");
        object.append(function(tool.name, tool.description, tool.input));
        object.put("strict", strict);
        object.put_some("output_schema", tool.output);
        let mut value = object.into_json();
        put_rest(&mut value, &tool.details.rest, ID, |pointer| !pointer.starts_with("/function/"));
        value
    };
    with_surroundings(toolset.tools.into_iter().map(write).collect(), &toolset.rest, ID)
}

/// Whether a field belongs to the shape of responses, so that the chat shape has no place for it.
fn is_responses_field(name: &str) -> bool {
    RESPONSES_TOOL.iter().any(|field| field.name == name)
}

/// The part that both shapes share.
fn function(name: ToolName, description: Option<String>, input: InputSchema) -> ObjectWriter {
    let mut function = ObjectWriter::default();
    function.put("name", name.as_str());
    function.put_some("description", description);
    function.put("parameters", input.into_json());
    function
}
