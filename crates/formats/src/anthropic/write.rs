//! Writes Anthropic's tools: the list that a request has in `tools`. Examples keep their arguments.
//!
//! An example of a failure is not written: a model would take its arguments for good ones.

use toolwright_model::{Json, Tool, Toolset};

use super::ID;
use crate::write::{ObjectWriter, put_rest, with_surroundings};

/// The toolset as a list of tools.
pub(crate) fn write(toolset: Toolset<Tool>, strict: bool) -> Json {
    let write = |tool: Tool| {
        let details = tool.details;
        let inputs = details.examples.into_iter().filter(|example| example.error.is_none());
        let inputs = inputs.filter_map(|example| example.input);
        let mut object = ObjectWriter::default();
        object.put("name", tool.name.as_str());
        object.put_some("description", tool.description);
        object.put("input_schema", tool.input.into_json());
        object.put_list("input_examples", inputs.filter(Json::is_object).collect());
        object.put_some("strict", strict.then_some(true));
        let mut value = object.into_json();
        // The target decides about `strict`.
        put_rest(&mut value, &details.rest, ID, |pointer| pointer != "/strict");
        value
    };
    with_surroundings(toolset.tools.into_iter().map(write).collect(), &toolset.rest, ID)
}
