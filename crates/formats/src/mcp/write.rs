//! Writes an MCP tool list, `{"tools": […]}`: with toolfoundation's fields, without them, or as
//! WebMCP has it.
//!
//! What was kept when the document was read is put back: fields of the tool, and the object around
//! the list. If the list was the result of a response, the response is written again.
//!
//! ```text
//! toolset ─▶ {tools: […]} ─ put_rest ─▶ nextCursor, _meta, or the response around it
//! tool    ─▶ {name, …}    ─ put_rest ─▶ unknown members, execution
//! ```

use serde_json::json;
use toolwright_model::{Annotations, Example, Icon, Json, Namespace, Object, Tool, Toolset};

use super::ID;
use crate::webmcp;
use crate::write::{ObjectWriter, object_of, put_rest};

/// Which fields are written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum McpFields {
    /// Those of MCP, and `namespace`, `version` and `tags`.
    WithToolfoundation,
    /// Those of MCP.
    Plain,
    /// Those of WebMCP.
    WebMcp,
}

/// The toolset as a document.
///
/// Examples are written only where detection would still take the document for MCP's: the form is
/// BTCP's, and MCP does not define the field.
pub(crate) fn write(toolset: Toolset<Tool>, fields: McpFields) -> Json {
    // A tool with `examples` and no field that only MCP has is detected as BTCP's.
    let is_distinct = toolset.tools.iter().any(|tool| {
        let details = &tool.details;
        details.title.is_some()
            || !details.icons.is_empty()
            || details.meta.is_some()
            || details.annotations != Annotations::default()
            || details.rest.get(ID, "/execution").is_some()
    });
    let with_examples = is_distinct && fields == McpFields::WithToolfoundation;
    let tool = |tool| write_tool(tool, toolset.namespace.ok(), fields, with_examples);
    let tools: Vec<Json> = toolset.tools.into_iter().map(tool).collect();
    let format = if fields == McpFields::WebMcp { webmcp::ID } else { ID };
    let kept = toolset.rest.iter().find(|(id, _)| *id == format).map(|(_, fields)| fields);
    let is_response =
        kept.is_some_and(|fields| fields.keys().any(|pointer| pointer.starts_with("/result/")));
    let list = object_of("tools", tools);
    let mut value = if is_response { object_of("result", list) } else { list };
    put_rest(&mut value, &toolset.rest, format, |_| true);
    value
}

/// One tool. `inherited` is the namespace of the toolset, which MCP has no place for, so that each
/// tool states it. Capabilities and limits have no field in MCP and are losses, which `convert`
/// reports.
fn write_tool(
    tool: Tool,
    inherited: Option<&Namespace>,
    fields: McpFields,
    with_examples: bool,
) -> Json {
    let details = tool.details;
    let mut object = ObjectWriter::default();
    object.put("name", tool.name.as_str());
    if fields == McpFields::WithToolfoundation {
        let namespace = tool.namespace.as_ref().or(inherited);
        object.put_some("namespace", namespace.map(ToString::to_string));
        object.put_some("version", tool.version.as_ref().map(|version| version.authored()));
        object.put_list("tags", details.tags.authored().iter().map(|tag| json!(tag)).collect());
    }
    object.put_some("title", details.title);
    object.put_some("description", tool.description);
    object.put("inputSchema", tool.input.into_json());
    object.put_some("outputSchema", tool.output);
    object.put_object("annotations", write_annotations(&details.annotations));
    if with_examples {
        object.put_list("examples", details.examples.iter().filter_map(write_example).collect());
    }
    if fields != McpFields::WebMcp {
        object.put_list("icons", details.icons.iter().map(write_icon).collect());
        object.put_some("_meta", details.meta);
    }
    let mut value = object.into_json();
    let format = if fields == McpFields::WebMcp { webmcp::ID } else { ID };
    put_rest(&mut value, &details.rest, format, |_| true);
    value
}

/// The hints that are set.
fn write_annotations(annotations: &Annotations) -> Object {
    let mut object = ObjectWriter::default();
    object.put_some("title", annotations.title.as_deref());
    object.put_some("readOnlyHint", annotations.read_only);
    object.put_some("destructiveHint", annotations.destructive);
    object.put_some("idempotentHint", annotations.idempotent);
    object.put_some("openWorldHint", annotations.open_world);
    object.extend(&annotations.rest);
    object.finish()
}

/// An example in the form of BTCP, which has arguments that are an object.
pub(crate) fn write_example(example: &Example) -> Option<Json> {
    let input = example.input.as_ref().filter(|input| input.is_object())?;
    let mut object = ObjectWriter::default();
    object.put_some("description", example.description.as_deref());
    object.put("input", input.clone());
    object.put_some("output", example.output.clone());
    object.extend(&example.rest);
    Some(object.into_json())
}

/// An image with its address, its type and its sizes.
fn write_icon(icon: &Icon) -> Json {
    let mut object = ObjectWriter::default();
    object.put("src", icon.src.as_str());
    object.put_some("mimeType", icon.mime_type.as_deref());
    object.put_list("sizes", icon.sizes.iter().map(|size| json!(size)).collect());
    object.extend(&icon.rest);
    object.into_json()
}
