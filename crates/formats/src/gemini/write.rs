//! Writes Gemini's function declarations: all of them in one tool, as the API wants it, with the
//! schemas as JSON Schema or in Gemini's variant of OpenAPI's.

use toolwright_model::{Json, Tool, Toolset};

use super::{DECLARATION, ID};
use crate::openapi_schema::from_json_schema;
use crate::write::{ObjectWriter, object_of, put_rest};

/// Which fields hold the schemas.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SchemaField {
    /// `parametersJsonSchema` and `responseJsonSchema`.
    JsonSchema,
    /// `parameters` and `response`.
    OpenApi,
}

/// The toolset as a list with one tool. An empty toolset is one tool without functions.
pub(crate) fn write(toolset: Toolset<Tool>, field: SchemaField) -> Json {
    let (input, output) = match field {
        SchemaField::JsonSchema => ("parametersJsonSchema", "responseJsonSchema"),
        SchemaField::OpenApi => ("parameters", "response"),
    };
    let schema = |mut schema: Json| {
        if field == SchemaField::OpenApi {
            from_json_schema(&mut schema);
        }
        schema
    };
    let write = |tool: Tool| {
        let mut object = ObjectWriter::default();
        object.put("name", tool.name.as_str());
        object.put_some("description", tool.description);
        object.put(input, schema(tool.input.into_json()));
        object.put_some(output, tool.output.map(schema));
        let mut value = object.into_json();
        // Fields with a second schema would contradict the one that is written.
        put_rest(&mut value, &tool.details.rest, ID, |pointer| {
            let is_schema = |name: &str| name.contains("arameters") || name.contains("esponse");
            !DECLARATION.iter().any(|known| pointer[1..] == *known.name && is_schema(known.name))
        });
        value
    };
    let declarations: Vec<Json> = toolset.tools.into_iter().map(write).collect();
    let mut value = Json::Array(vec![object_of("functionDeclarations", declarations)]);
    // Google's own tools and the fields of a request, where they fit into the list.
    put_rest(&mut value, &toolset.rest, ID, |_| true);
    value
}
