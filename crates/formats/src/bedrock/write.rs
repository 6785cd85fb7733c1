//! Writes the tools of Bedrock's Converse API: the list that `toolConfig.tools` has.
//!
//! The list is what a request has in `toolConfig.tools`. What was kept of a request returns around
//! it, as far as it fits.

use toolwright_model::{Json, Tool, Toolset};

use super::ID;
use crate::write::{ObjectWriter, object_of, put_rest, with_surroundings};

/// The toolset as a list of tools.
pub(crate) fn write(toolset: Toolset<Tool>) -> Json {
    let write = |tool: Tool| {
        let mut spec = ObjectWriter::default();
        spec.put("name", tool.name.as_str());
        // The API refuses an empty description.
        let description = tool.description.filter(|text| !text.is_empty());
        spec.put_some("description", description);
        spec.put("inputSchema", object_of("json", tool.input.into_json()));
        let mut value = object_of("toolSpec", spec.finish());
        put_rest(&mut value, &tool.details.rest, ID, |pointer| pointer != "/toolSpec/strict");
        value
    };
    with_surroundings(toolset.tools.into_iter().map(write).collect(), &toolset.rest, ID)
}
