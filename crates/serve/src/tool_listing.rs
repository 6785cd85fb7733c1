//! The answer to `tools/list`, built once per snapshot of the registry and cached until the next.
//!
//! The registry is immutable: a change makes a new one. So the cache needs no invalidation; it
//! compares the pointer of the registry it was built from. The order is that of the registry, by
//! id, which keeps the list stable over restarts (clients put it into prompts that are cached).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{Icon, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};
use toolwright_catalog::ExposedNames;
use toolwright_exec::{RegisteredTool, ToolRegistry, ToolStatus};

/// The `_meta` key with the id that the tool has here, since the exposed name may differ.
const ID_KEY: &str = "toolwright/id";

/// The tools of one snapshot of the registry, as clients see them.
pub(crate) struct ToolListing {
    /// The snapshot; also keeps its address from being reused while the cache compares it.
    of: Arc<ToolRegistry>,
    names: ExposedNames,
    /// The tools that may be called, ordered by id.
    pub(crate) tools: Vec<Tool>,
    /// The index in `tools` of each exposed name.
    positions: HashMap<String, usize>,
}

impl ToolListing {
    fn new(of: Arc<ToolRegistry>) -> ToolListing {
        let ids: Vec<String> = of.iter().map(|entry| entry.id.to_string()).collect();
        // Tools that are not ready get names too: otherwise the names of others could change when
        // one becomes ready.
        let (names, given) = ExposedNames::of(ids.iter().map(String::as_str));
        let ready = of.iter().zip(given).filter(|(entry, _)| entry.status == ToolStatus::Ready);
        let tools: Vec<Tool> = ready.map(|(entry, name)| describe(entry, name)).collect();
        let positions =
            tools.iter().enumerate().map(|(n, tool)| (tool.name.to_string(), n)).collect();
        ToolListing { of, names, tools, positions }
    }

    /// The id of an exposed name. Other text is returned as it is, so that ids work as well.
    pub(crate) fn id<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.id(name).unwrap_or(name)
    }

    /// The tool with this exposed name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.positions.get(name).map(|n| &self.tools[*n])
    }
}

/// Holds the listing of the newest snapshot, shared by all connections.
#[derive(Default)]
pub(crate) struct ListingCache(Mutex<Option<Arc<ToolListing>>>);

impl ListingCache {
    /// The listing of this snapshot, built now if it is not the cached one.
    pub(crate) fn of(&self, toolbox: &Arc<ToolRegistry>) -> Arc<ToolListing> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some(listing) if Arc::ptr_eq(&listing.of, toolbox) => Arc::clone(listing),
            _ => {
                let listing = Arc::new(ToolListing::new(Arc::clone(toolbox)));
                *cached = Some(Arc::clone(&listing));
                listing
            }
        }
    }
}

/// The description of a tool in rmcp's type.
fn describe(entry: &RegisteredTool, name: String) -> Tool {
    let record = &entry.tool;
    let details = &record.details;
    // The protocol requires an object. A boolean schema becomes `{}`.
    let mut input = match record.input.to_json() {
        Json::Object(schema) => schema,
        _ => serde_json::Map::new(),
    };
    // It also requires this type, and clients reject the whole list because of a tool without it.
    // Arguments are always an object, so it excludes nothing.
    if input.get("type").and_then(Json::as_str) != Some("object") {
        input.insert("type".into(), json!("object"));
    }
    let description = record.description.clone().map(Into::into);
    let mut tool = Tool::new_with_raw(name, description, Arc::new(input));
    tool.title.clone_from(&details.title);
    if let Some(Json::Object(schema)) = &record.output {
        tool.output_schema = Some(Arc::new(schema.clone()));
    }
    // Absent hints stay absent: their defaults are defined by the protocol, not here.
    let hints = &details.annotations;
    let annotations = ToolAnnotations::from_raw(
        hints.title.clone(),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world,
    );
    // An empty object would only make the list longer.
    tool.annotations = (annotations != ToolAnnotations::default()).then_some(annotations);
    let icons: Vec<Icon> = details.icons.iter().filter_map(icon).collect();
    tool.icons = (!icons.is_empty()).then_some(icons);
    // The tool's own metadata passes through; our key is added.
    let mut meta = details.meta.clone().unwrap_or_default();
    meta.insert(ID_KEY.into(), json!(entry.id.to_string()));
    tool.meta = Some(MetaObject(meta));
    tool
}

/// An icon in rmcp's type, fields that the record does not interpret included. `None` if rmcp
/// rejects it: one bad icon must not hide the tool.
fn icon(icon: &toolwright_model::Icon) -> Option<Icon> {
    let mut json = serde_json::Map::from_iter(icon.rest.clone());
    json.insert("src".into(), json!(icon.src));
    json.extend(icon.mime_type.as_ref().map(|kind| ("mimeType".to_owned(), json!(kind))));
    if !icon.sizes.is_empty() {
        json.insert("sizes".into(), json!(icon.sizes));
    }
    serde_json::from_value(Json::Object(json)).ok()
}
