//! What `tools/list` says, made once for every state of the catalog.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{Icon, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};
use toolwright_exec::{RegisteredTool, ToolRegistry, ToolStatus};

use crate::names::Names;

/// The key under which a tool's own id travels.
const ID: &str = "toolwright/id";

/// The tools of one state of the catalog.
pub(crate) struct Listing {
    of: Arc<ToolRegistry>,
    names: Names,
    /// Those that may be called, ordered by id.
    pub(crate) tools: Vec<Tool>,
    places: HashMap<String, usize>,
}

impl Listing {
    fn new(of: Arc<ToolRegistry>) -> Listing {
        let ids: Vec<String> = of.iter().map(|entry| entry.id.to_string()).collect();
        let (names, given) = Names::of(ids.iter().map(String::as_str));
        let ready = of.iter().zip(given).filter(|(entry, _)| entry.status == ToolStatus::Ready);
        let tools: Vec<Tool> = ready.map(|(entry, name)| tool(entry, name)).collect();
        let places = tools.iter().enumerate().map(|(n, tool)| (tool.name.to_string(), n)).collect();
        Listing { of, names, tools, places }
    }

    /// The id behind a name; an id that was given as it is will do as well.
    pub(crate) fn id<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.id(name).unwrap_or(name)
    }

    /// The tool under a name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|n| &self.tools[*n])
    }
}

/// The listing of the newest state.
#[derive(Default)]
pub(crate) struct Newest(Mutex<Option<Arc<Listing>>>);

impl Newest {
    pub(crate) fn of(&self, toolbox: &Arc<ToolRegistry>) -> Arc<Listing> {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*newest {
            Some(listing) if Arc::ptr_eq(&listing.of, toolbox) => Arc::clone(listing),
            _ => {
                let listing = Arc::new(Listing::new(Arc::clone(toolbox)));
                *newest = Some(Arc::clone(&listing));
                listing
            }
        }
    }
}

fn tool(entry: &RegisteredTool, name: String) -> Tool {
    let record = &entry.tool;
    let details = &record.details;
    let input = match record.input.to_json() {
        Json::Object(schema) => schema,
        _ => serde_json::Map::new(),
    };
    let description = record.description.clone().map(Into::into);
    let mut tool = Tool::new_with_raw(name, description, Arc::new(input));
    tool.title.clone_from(&details.title);
    if let Some(Json::Object(schema)) = &record.output {
        tool.output_schema = Some(Arc::new(schema.clone()));
    }
    let hints = &details.annotations;
    let annotations = ToolAnnotations::from_raw(
        hints.title.clone(),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world,
    );
    tool.annotations = (annotations != ToolAnnotations::default()).then_some(annotations);
    let icons: Vec<Icon> = details.icons.iter().filter_map(icon).collect();
    tool.icons = (!icons.is_empty()).then_some(icons);
    let mut meta = details.meta.clone().unwrap_or_default();
    meta.insert(ID.into(), json!(entry.id.to_string()));
    tool.meta = Some(MetaObject(meta));
    tool
}

fn icon(icon: &toolwright_model::Icon) -> Option<Icon> {
    let mut json = serde_json::Map::from_iter(icon.rest.clone());
    json.insert("src".into(), json!(icon.src));
    json.extend(icon.mime_type.as_ref().map(|kind| ("mimeType".to_owned(), json!(kind))));
    if !icon.sizes.is_empty() {
        json.insert("sizes".into(), json!(icon.sizes));
    }
    serde_json::from_value(Json::Object(json)).ok()
}
