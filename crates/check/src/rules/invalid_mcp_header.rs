//! `x-mcp-header` keeps the rules of the MCP specification.
//!
//! Source: MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters". Clients must
//! leave a tool that breaks them out of their list. `schema::mistakes` has the rules.
//!
//! ```text
//! {type: string, x-mcp-header: Region}                    fine
//! {type: string, x-mcp-header: "My Region"}               reported: a space
//! {type: number, x-mcp-header: Limit}                     reported: not an integer
//! region and zone, both with x-mcp-header: Region         reported: one name twice
//! a property below `items`, with x-mcp-header             reported: not reached by `properties`
//! ```
//!
//! No repair: the server that reads the header knows its name.

use toolwright_schema::SchemaMistake;
use toolwright_source::RecordFinding;

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    INVALID_MCP_HEADER Warning
        "A property has an `x-mcp-header` that MCP does not allow. By this annotation a client \
         copies the argument into the header `Mcp-Param-NAME` of its HTTP request. Since \
         2026-07-28, clients leave a tool out of their list if one of these rules is broken: \
         the name is a token of RFC 9110 (letters, digits and a few signs, no space, no \
         colon); no two properties have the same name, whatever the case; the property has the \
         type `string`, `integer` or `boolean`, not `number`; and it is reached from the root \
         by `properties` alone, not through `items`, `anyOf` or `$defs`. Passwords and keys \
         should not be copied into headers, which programs on the way can read.\n\n\
         Correct the name, or remove the annotation."
    => (
        "tool.json",
        r#"{
  "name": "run_query",
  "description": "Runs a query in a data center of your choice",
  "inputSchema": {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "My Region", "description": "Where"}}
  }
}
"#,
        r#"{
  "name": "run_query",
  "description": "Runs a query in a data center of your choice",
  "inputSchema": {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region", "description": "Where"}}
  }
}
"#
    )
}

/// The finding for a header annotation. `reason` says which rule of MCP it breaks.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    reason: &str,
) -> RecordFinding {
    let message = format!("`x-mcp-header` breaks the MCP specification: {reason}");
    first_finding(schema, mistake, &INVALID_MCP_HEADER, message)
        .help("clients leave such a tool out of their list")
}
