//! The answer to `tools/list`, built once per snapshot of the registry and cached until the next.
//!
//! The registry is immutable: a change makes a new one. So the cache needs no invalidation; it
//! compares the pointer of the registry it was built from. The order is that of the registry, by
//! id, which keeps the list stable over restarts (clients put it into prompts that are cached).
//! Each tool is kept as JSON text: a list is its texts, one after the other.
//!
//! There are up to three lists, for clients of different revisions. They differ in output schemas,
//! since older clients reject the whole list because of one that is not of type `object`, and in
//! the member `execution`. All are made at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value as Json, json};
use toolwright_catalog::{ExposedNames, Offers};
use toolwright_exec::{RegisteredTool, ToolRegistry, ToolStatus, json_size, mcp};
use toolwright_mcp::Revision;
use toolwright_model::{Binding, KnowledgeStrategy};

use crate::knowledge_documents::KnowledgeDocuments;

/// The `_meta` key with the id that the tool has here, since the exposed name may differ.
const ID_KEY: &str = "toolwright/id";
/// The `_meta` keys with its tags, its examples, and what to use instead of it.
const TAGS_KEY: &str = "toolwright/tags";
const EXAMPLES_KEY: &str = "toolwright/examples";
const DEPRECATED_KEY: &str = "toolwright/deprecated";
/// The most bytes of the examples in `_meta`; the description has the first one anyway.
const MAX_EXAMPLES: usize = 4 << 10;

/// A list as [`PagedList`](crate::list_pages::PagedList) takes it: key and JSON text.
pub(crate) type ListedItems = Vec<(String, Cow<'static, str>)>;

/// The tools of one snapshot of the registry, as clients see them.
///
/// Immutable and shared. Names are part of it: an exposed name is resolved by the same snapshot
/// that a client has seen, or by a later one, never by a mixture.
pub(crate) struct ToolListing {
    /// The snapshots; also keep their addresses from being reused while the cache compares them.
    of: (Arc<ToolRegistry>, Arc<Offers>),
    /// Of all tools of the registry, also of those that are not ready.
    names: ExposedNames,
    /// The tools that may be called, ordered by id.
    pub(crate) tools: ListedItems,
    /// The same for clients that accept only output schemas of type `object`.
    tools_before_2026: ListedItems,
    /// The same for clients that know tasks as part of the protocol; empty if no tool has them.
    tools_with_tasks: ListedItems,
    /// The input schema of each tool, by id.
    inputs: HashMap<String, Map<String, Json>>,
    /// The knowledge of toolsets that is offered as resources.
    pub(crate) documents: KnowledgeDocuments,
}

impl ToolListing {
    /// Takes time linear in the registry, under the lock of the cache: all who ask meanwhile need
    /// the same list.
    ///
    /// Each tool is described once; the texts for older clients are made of the same value with
    /// less in it, or more.
    fn new(of: Arc<ToolRegistry>, offers: Arc<Offers>) -> ToolListing {
        let ids: Vec<String> = of.iter().map(|entry| entry.id.to_string()).collect();
        // Tools that are not ready get names too: otherwise the names of others could change when
        // one becomes ready.
        let (names, given) = ExposedNames::of(ids.iter().map(String::as_str));
        let mut listing = ToolListing {
            of: (Arc::clone(&of), Arc::clone(&offers)),
            names,
            tools: Vec::new(),
            tools_before_2026: Vec::new(),
            tools_with_tasks: Vec::new(),
            inputs: HashMap::new(),
            documents: KnowledgeDocuments::of(&of),
        };
        let has_tasks = of.iter().any(|entry| task_execution(entry, &offers).is_some());
        for ((entry, name), id) in of.iter().zip(given).zip(ids) {
            if entry.status != ToolStatus::Ready {
                continue;
            }
            let mut tool = describe(entry, &name, &id, &offers, &listing.documents);
            if let Some(Json::Object(input)) = tool.get("inputSchema") {
                listing.inputs.insert(id.clone(), input.clone());
            }
            listing.tools.push((id.clone(), tool.to_string().into()));
            drop_unsupported_schema(&mut tool);
            listing.tools_before_2026.push((id.clone(), tool.to_string().into()));
            if has_tasks {
                if let Some(execution) = task_execution(entry, &offers) {
                    tool["execution"] = execution.clone();
                }
                listing.tools_with_tasks.push((id, tool.to_string().into()));
            }
        }
        listing
    }

    /// The tools as clients of this revision accept them.
    ///
    /// ```text
    /// 2026-07-28                        all output schemas
    /// 2025-11-25, if a tool has tasks   output schemas of objects, and `execution`
    /// older                             output schemas of objects
    /// ```
    pub(crate) fn tools_for(&self, revision: Revision) -> &ListedItems {
        match revision {
            _ if !revision.has_handshake() => &self.tools,
            _ if revision.has_tasks() && !self.tools_with_tasks.is_empty() => {
                &self.tools_with_tasks
            }
            _ => &self.tools_before_2026,
        }
    }

    /// The id of an exposed name. Other text is returned as it is, so that ids work as well.
    pub(crate) fn id<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.id(name).unwrap_or(name)
    }

    /// The input schema of the tool with this exposed name or id.
    ///
    /// As it is listed. Also for a name that the registry resolves although it is not an exposed
    /// name.
    pub(crate) fn input_schema(&self, name: &str) -> Option<&Map<String, Json>> {
        let id = self.id(name);
        self.inputs.get(id).or_else(|| self.inputs.get(&self.of.0.get(id)?.id.to_string()))
    }
}

/// Holds the listing of the newest snapshot, shared by all sessions.
#[derive(Default)]
pub(crate) struct ListingCache(Mutex<Option<Arc<ToolListing>>>);

impl ListingCache {
    /// The listing of these snapshots, built now if it is not the cached one. The offers are part
    /// of the key, because references to resources in tools follow their names.
    ///
    /// The lock is held while a list is built: others wait for it instead of building their own.
    pub(crate) fn of(
        &self,
        registry: &Arc<ToolRegistry>,
        offers: &Arc<Offers>,
    ) -> Arc<ToolListing> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some(listing)
                if Arc::ptr_eq(&listing.of.0, registry) && is_same(&listing.of.1, offers) =>
            {
                Arc::clone(listing)
            }
            _ => {
                let listing = Arc::new(ToolListing::new(Arc::clone(registry), Arc::clone(offers)));
                *cached = Some(Arc::clone(&listing));
                listing
            }
        }
    }
}

/// Whether two snapshots make the same of a tool: the same one, or two without resources and tasks.
fn is_same(one: &Arc<Offers>, other: &Arc<Offers>) -> bool {
    let is_empty = |offers: &Offers| {
        offers.resources.is_empty()
            && offers.templates.is_empty()
            && !offers.capabilities.task_calls
    };
    Arc::ptr_eq(one, other) || (is_empty(one) && is_empty(other))
}

/// The member `execution` of a tool, if its server has tasks: without them the member means
/// nothing.
fn task_execution<'e>(entry: &'e RegisteredTool, offers: &Offers) -> Option<&'e Json> {
    let execution = mcp::execution(&entry.tool).filter(|it| it.is_object())?;
    match &entry.tool.details.binding {
        Binding::Server { server, .. } => offers.has_tasks(server).then_some(execution),
        _ => None,
    }
}

/// A tool as MCP describes it, in the newest revision; older ones get a copy with less.
///
/// What a server's tool has in addition is passed on, with two exceptions: members whose name this
/// record uses itself, and `execution`, which the caller adds where it means something. URIs in it
/// are those that clients see.
///
/// `name` is the exposed name and `id` the id, which is in `_meta`.
fn describe(
    entry: &RegisteredTool,
    name: &str,
    id: &str,
    offers: &Offers,
    documents: &KnowledgeDocuments,
) -> Json {
    let record = &entry.tool;
    let details = &record.details;
    // The protocol requires an object. A boolean schema becomes `{}`.
    let mut input = match record.input.to_json() {
        Json::Object(schema) => schema,
        _ => Map::new(),
    };
    // It also requires this type, and clients reject the whole list because of a tool without it.
    // Arguments are always an object, so it excludes nothing.
    if input.get("type").and_then(Json::as_str) != Some("object") {
        input.insert("type".into(), json!("object"));
    }
    let mut tool = Map::new();
    tool.insert("name".into(), json!(name));
    let mut add = |member: &str, value: Option<Json>| {
        if let Some(value) = value {
            tool.insert(member.to_owned(), value);
        }
    };
    add("title", details.title.as_ref().map(|title| json!(title)));
    add("description", documents.description(entry).map(Json::String));
    add("inputSchema", Some(Json::Object(input)));
    add("outputSchema", record.output.clone().filter(Json::is_object));
    add("annotations", annotations(entry));
    let icons: Vec<Json> = details.icons.iter().map(icon).collect();
    add("icons", (!icons.is_empty()).then_some(Json::Array(icons)));
    // The tool's own metadata passes through; our key is added.
    let mut meta = details.meta.clone().unwrap_or_default();
    meta.insert(ID_KEY.into(), json!(id));
    let tags = details.tags.normalised();
    if !tags.is_empty() {
        let tags: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
        meta.insert(TAGS_KEY.into(), json!(tags));
    }
    meta.extend(examples(entry).map(|examples| (EXAMPLES_KEY.to_owned(), examples)));
    if details.deprecation.deprecated {
        let message = details.deprecation.shown_message();
        meta.insert(DEPRECATED_KEY.into(), message.map_or(json!(true), |text| json!(text)));
    }
    add("_meta", Some(Json::Object(meta)));
    if let Binding::Server { .. } = &details.binding {
        // Members that MCP may get in the future, or that only this server and its clients know.
        for (pointer, value) in details.rest.iter().flat_map(|(_, members)| members) {
            let member = pointer.trim_start_matches('/');
            let is_own = !member.contains(['/', '~']) && member != "execution";
            if is_own && !tool.contains_key(member) {
                tool.insert(member.to_owned(), value.clone());
            }
        }
    }
    let mut tool = Json::Object(tool);
    if let Binding::Server { server, .. } = &details.binding {
        offers.expose(server, &mut tool);
    }
    tool
}

/// The examples of a tool that fit into `_meta`. Those of a definition whose knowledge is not meant
/// for reading are left out.
///
/// As many of the first ones as fit into `MAX_EXAMPLES` together. The list ends at the first that
/// does not fit, so that its order stays that of the author.
fn examples(entry: &RegisteredTool) -> Option<Json> {
    let strategy = entry.knowledge.as_ref().map_or_else(Default::default, |it| it.model().strategy);
    if !matches!(strategy, KnowledgeStrategy::Embedded | KnowledgeStrategy::Hybrid) {
        return None;
    }
    let mut left = MAX_EXAMPLES;
    let mut listed = Vec::new();
    for example in &entry.tool.details.examples {
        let Some(input) = &example.input else { continue };
        let mut json = Map::from_iter([("input".to_owned(), input.clone())]);
        let texts = [("description", &example.description), ("scenario", &example.scenario)];
        json.extend(
            texts.into_iter().filter_map(|(name, text)| {
                text.as_ref().map(|text| (name.to_owned(), json!(text)))
            }),
        );
        json.extend(example.output.clone().map(|output| ("output".to_owned(), output)));
        if let Some(error) = &example.error {
            json.insert("error".into(), json!({"code": error.code, "message": error.message}));
        }
        let json = Json::Object(json);
        let size = json_size(&json, MAX_EXAMPLES);
        if size > left {
            break;
        }
        left -= size;
        listed.push(json);
    }
    (!listed.is_empty()).then_some(Json::Array(listed))
}

/// The hints of a tool. Absent hints stay absent: their defaults are defined by the protocol, not
/// here.
fn annotations(entry: &RegisteredTool) -> Option<Json> {
    let hints = &entry.tool.details.annotations;
    let mut all = Map::new();
    all.extend(hints.title.as_ref().map(|title| ("title".to_owned(), json!(title))));
    for (name, hint) in [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ] {
        all.extend(hint.map(|hint| (name.to_owned(), json!(hint))));
    }
    // Hints that MCP may get in the future.
    all.extend(hints.rest.iter().map(|(name, hint)| (name.clone(), hint.clone())));
    // An empty object would only make the list longer.
    (!all.is_empty()).then_some(Json::Object(all))
}

/// An icon, fields that the record does not interpret included.
fn icon(icon: &toolwright_model::Icon) -> Json {
    let mut json = Map::new();
    json.insert("src".into(), json!(icon.src));
    json.extend(icon.mime_type.as_ref().map(|kind| ("mimeType".to_owned(), json!(kind))));
    if !icon.sizes.is_empty() {
        json.insert("sizes".into(), json!(icon.sizes));
    }
    json.extend(icon.rest.iter().map(|(name, value)| (name.clone(), value.clone())));
    Json::Object(json)
}

/// Removes an output schema that is not of type `object`. Before 2026-07-28 clients reject the
/// whole list because of one.
///
/// Calls are checked against it all the same: only the list does not have it.
fn drop_unsupported_schema(tool: &mut Json) {
    let kind = tool.pointer("/outputSchema/type").and_then(Json::as_str);
    if kind != Some("object")
        && let Some(tool) = tool.as_object_mut()
    {
        tool.shift_remove("outputSchema");
    }
}
