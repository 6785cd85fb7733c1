//! Writes BTCP: a manifest, or tools without one. Texts beyond the specification's bounds are cut;
//! what the manifest demands and the record lacks is filled in with neutral values.
//!
//! | record | manifest |
//! |---|---|
//! | namespace `My_Tools` | name `my-tools` |
//! | no version | `0.1.0` |
//! | a description of 600 characters | its first 500 |
//! | no declared capabilities | those that the tools need |
//! | a time-out outside of 1 s to 5 min | none |
//!
//! `convert` reports what is cut or left out; nothing is reported here.

use serde_json::json;
use toolwright_model::{
    Capability, DeclaredLimits, FieldValue, Json, Namespace, Object, Provider, Tool, Toolset,
};

use super::ID;
use crate::mcp::write_example;
use crate::write::{ObjectWriter, put_rest};

/// The version of the protocol that is written.
const PROTOCOL: &str = "1.0";
/// The version of a manifest whose toolset has none.
const FIRST_VERSION: &str = "0.1.0";

/// The toolset as a manifest. A namespace is there: `crate::write` has refused a toolset without
/// one.
pub(crate) fn write_manifest(toolset: Toolset<Tool>) -> Json {
    let mut object = ObjectWriter::default();
    object.put("btcp", PROTOCOL);
    object.put_some("name", toolset.namespace.ok().map(manifest_name));
    object.put("version", toolset.version.ok().map_or(FIRST_VERSION, |version| version.authored()));
    object.put_some("description", toolset.description.as_deref().map(|text| shorten(text, 500)));
    object.put_object("provider", write_provider(toolset.provider.as_ref()));
    object.put("capabilities", declared(&toolset));
    object.put_object("config", write_config(&toolset.limits));
    object.put("tools", toolset.tools.into_iter().map(write_tool).collect::<Vec<_>>());
    let mut value = object.into_json();
    put_rest(&mut value, &toolset.rest, ID, |_| true);
    value
}

/// The tools alone: one object, or a list.
pub(crate) fn write_tools(toolset: Toolset<Tool>) -> Json {
    let mut tools: Vec<Json> = toolset.tools.into_iter().map(write_tool).collect();
    match tools.len() {
        1 => tools.remove(0),
        _ => Json::Array(tools),
    }
}

/// A namespace as the name of a manifest: lower-case letters, digits and `-`.
///
/// At most 62 characters; the format allows 64. A name that would start with something else than a
/// letter gets `x-` in front: `9lives` becomes `x-9lives`.
fn manifest_name(namespace: &Namespace) -> String {
    let lower = namespace.as_str().to_ascii_lowercase();
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let mut name: String = lower.chars().map(allowed).take(60).collect();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "x-");
    }
    name
}

/// The capabilities that the manifest declares: its own, or those that its tools need. In the order
/// of their first mention.
fn declared(toolset: &Toolset<Tool>) -> Json {
    let mut names: Vec<&str> = Vec::new();
    match &toolset.declares {
        Some(declared) => {
            names.extend(declared.iter().filter_map(FieldValue::ok).map(Capability::as_str));
        }
        None => {
            for need in toolset.tools.iter().flat_map(|tool| &tool.needs) {
                if !names.contains(&need.as_str()) {
                    names.push(need.as_str());
                }
            }
        }
    }
    json!(names)
}

fn write_provider(provider: Option<&Provider>) -> Object {
    let mut object = ObjectWriter::default();
    // Without a name it is not a provider.
    if let Some(provider) = provider.filter(|provider| provider.name.is_some()) {
        object.put_some("name", provider.name.as_deref().map(|name| shorten(name, 100)));
        object.put_some("url", provider.url.as_deref());
        object.put_some("contact", provider.contact.as_deref());
        object.put_some("icon", provider.icon.as_deref());
    }
    object.finish()
}

/// Limits that BTCP allows. A value outside of its bounds would make the manifest invalid, so it is
/// left out.
fn write_config(limits: &DeclaredLimits) -> Object {
    let mut object = ObjectWriter::default();
    object.put_some("timeout", limits.timeout_ms.filter(is_timeout));
    object.put_some("sandbox", limits.sandbox.map(|sandbox| sandbox.name()));
    object.put_some("maxConcurrent", limits.max_concurrent.filter(|n| (1..=10).contains(n)));
    object.finish()
}

/// Whether BTCP allows the time-out, in milliseconds.
fn is_timeout(ms: &u64) -> bool {
    (1_000..=300_000).contains(ms)
}

/// One tool. `capabilities` is written even if it is empty, because BTCP demands the list.
fn write_tool(tool: Tool) -> Json {
    let details = &tool.details;
    let mut object = ObjectWriter::default();
    object.put("name", tool.name.as_str());
    object.put_some("description", tool.description.as_deref().map(|text| shorten(text, 1_000)));
    object.put("inputSchema", tool.input.into_json());
    object.put_some("outputSchema", tool.output);
    object
        .put("capabilities", json!(tool.needs.iter().map(Capability::as_str).collect::<Vec<_>>()));
    object.put_list("examples", details.examples.iter().filter_map(write_example).collect());
    object.put_some("deprecated", details.deprecation.deprecated.then_some(true));
    object.put_some("deprecationMessage", details.deprecation.message.as_deref());
    object.put_list("tags", details.tags.authored().iter().map(|tag| json!(tag)).collect());
    object.put_some("timeout", details.limits.timeout_ms.filter(is_timeout));
    let mut value = object.into_json();
    put_rest(&mut value, &details.rest, ID, |_| true);
    value
}

/// The first `max` code points of a text. Code points, as the bounds of BTCP count them; nothing
/// marks the cut.
fn shorten(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}
