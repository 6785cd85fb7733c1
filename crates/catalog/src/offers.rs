//! What the servers of all sources offer besides tools: resources, templates of resources, prompts
//! and instructions, merged into one set for clients.
//!
//! ```text
//! ServerOffers of each server ─ Offers::merge ─▶ lists with exposed URIs and names
//!                                                tables: exposed ─▶ (server, own)
//! ```
//!
//! A URI that only one server has is kept, unless it looks like a renamed one. Where two servers
//! have the same, both are renamed with a prefix that names the source, and the tables here undo
//! it: nothing is ever computed back from the text. References in results follow
//! ([`Offers::expose`]), and are undone in arguments ([`Offers::own_arguments`]). A URI in a result
//! that no server lists is kept, too, and remembered (`unlisted_uris`). The names of prompts follow
//! the rules for names of tools (`ExposedNames`).
//!
//! | URI on the server `My_Notes` | exposed, if another server has it, too |
//! |---|---|
//! | `file:///a` | `toolwright+my-notes:file:///a` |
//! | `ui://app` (MCP Apps demand this scheme) | `ui://toolwright+my-notes/app` |
//!
//! The prefix is a valid scheme of RFC 3986 in lower case, because clients parse and normalise
//! URIs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_exec::SessionNumber;
use toolwright_exec::mcp::{Upstream, UpstreamEvent};
use toolwright_mcp::meta;
use toolwright_model::{Server, short_hash};
use toolwright_workspace::ExposedNames;

use crate::instructions;
use crate::server_offers::ServerOffers;
use crate::unlisted_uris::UnlistedUris;
use crate::uri_template::UriTemplate;

/// Steps of one search among all templates. Enough for thousands of ordinary ones.
const MATCH_BUDGET: usize = 4_000_000;
/// Values that one walk for references visits.
const MAX_VISITED: usize = 100_000;
/// Levels that such a walk descends. References are near the top of a result.
const MAX_REFERENCE_DEPTH: usize = 16;

/// Everything that all servers offer at one moment, as clients see it.
#[derive(Default)]
pub struct Offers {
    /// Items of `resources/list`.
    pub resources: Vec<Json>,
    /// Items of `resources/templates/list`.
    pub templates: Vec<Json>,
    /// Items of `prompts/list`.
    pub prompts: Vec<Json>,
    /// The instructions of all servers, joined and named; `None` if there are none.
    ///
    /// Without those that are withheld from clients.
    pub instructions: Option<String>,
    /// What at least one server can do.
    pub capabilities: OfferedCapabilities,
    /// The extension MCP Apps, if all servers that have it describe it alike. Others may have
    /// methods, which are not passed on, so clients must not rely on them.
    pub interfaces: Option<Json>,
    /// In the order of the sources. Other members refer to a server by its number here.
    servers: Vec<OfferingServer>,
    /// By exposed URI.
    resource_table: HashMap<String, OwnKey>,
    /// By exposed template.
    template_table: HashMap<String, OwnKey>,
    /// By exposed name.
    prompt_table: HashMap<String, OwnKey>,
    /// How many servers have resources.
    with_resources: usize,
    /// The URIs that results have named and no server lists.
    ///
    /// Shared with the offers before and after these: a client may read such a URI after a reload.
    unlisted: Arc<UnlistedUris>,
}

/// What at least one server can do, besides tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfferedCapabilities {
    /// Has resources.
    pub resources: bool,
    /// Reports updates of resources.
    pub subscribe: bool,
    /// Has prompts.
    pub prompts: bool,
    /// Completes arguments of prompts and templates.
    pub completions: bool,
    /// Runs calls as tasks, by the extension of 2026-07-28.
    pub tasks: bool,
    /// Runs calls as tasks of revision 2025-11-25.
    pub task_calls: bool,
    /// Lists such tasks.
    pub task_list: bool,
    /// Cancels such tasks.
    pub task_cancel: bool,
    /// Sends log messages.
    pub logging: bool,
}

impl OfferedCapabilities {
    /// The same, beside servers that have not answered yet: each may have what clients ask for only
    /// if it is announced. Clients learn of the items when the lists change. Tasks are left out,
    /// because a client that sees them may make every call one.
    pub fn with_unknown_servers(self) -> OfferedCapabilities {
        OfferedCapabilities {
            resources: true,
            subscribe: true,
            prompts: true,
            completions: true,
            logging: true,
            ..self
        }
    }
}

/// A resource or prompt, and where it is.
pub struct OfferedItem {
    /// The server that has it.
    pub upstream: Arc<Upstream>,
    /// Its URI or name on that server.
    pub own: String,
}

/// What a server reported, with the server.
#[derive(Clone)]
pub struct ServerNotification {
    /// Its sender.
    pub server: Arc<Server>,
    /// The session whose own process of the server it is: the notification concerns no other.
    pub session: Option<SessionNumber>,
    /// The number of the connection that it came from; zero if it came from none.
    pub connection: u64,
    /// What it reported; URIs are the server's own. A changed list is reported when it has been
    /// loaded again.
    pub event: UpstreamEvent,
}

/// A server with the name of its source and what it offers, to be merged.
pub(crate) struct OfferSource {
    /// The name of the source, for people.
    pub(crate) name: String,
    /// What the names of its prompts start with; `None` for a source without a namespace.
    pub(crate) namespace: Option<String>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) offers: Arc<ServerOffers>,
}

/// One server in the tables.
///
/// `listed` and `renamed` decide about most URIs; templates are matched only for the others.
struct OfferingServer {
    upstream: Arc<Upstream>,
    prefix: UriPrefix,
    /// It declares the capability, or lists something.
    has_resources: bool,
    /// Whether it runs calls as tasks of revision 2025-11-25.
    has_tasks: bool,
    /// The URIs that it lists.
    listed: HashSet<String>,
    /// Those of them that another server lists, too.
    renamed: HashSet<String>,
    templates: Vec<OwnTemplate>,
}

impl OfferingServer {
    /// Whether a URI continues one that was renamed.
    ///
    /// `file:///a/b` continues `file:///a`: a client that has read the whole under a prefix must
    /// find its parts there, too.
    fn is_part_of_renamed(&self, own: &str) -> bool {
        let mut ends = own.match_indices(['/', '?', '#']);
        !self.renamed.is_empty()
            && !self.listed.contains(own)
            && ends.any(|(at, _)| {
                self.renamed.contains(&own[..at]) || self.renamed.contains(&own[..=at])
            })
    }
}

struct OwnTemplate {
    parsed: UriTemplate,
    /// Whether clients see it with the prefix.
    is_renamed: bool,
}

/// The number of a server, and the URI or name there.
///
/// `server` is an index into `Offers::servers`.
struct OwnKey {
    server: usize,
    own: String,
}

/// The prefix of one server, unique among all of them.
///
/// Made from the name of the source, so that it is the same in every run.
struct UriPrefix {
    /// `toolwright+name:`
    scheme: String,
    /// `ui://toolwright+name/`
    ui: String,
}

/// The scheme of the user interfaces of MCP Apps.
const UI: &str = "ui://";
/// What all prefixes start with.
const PREFIX: &str = "toolwright+";
/// The scheme of the documents that this program makes itself.
const OWN_SCHEME: &str = "toolwright:";

impl UriPrefix {
    /// The prefix for a source of this name that is not among `taken`.
    fn new(name: &str, taken: &mut HashSet<String>) -> UriPrefix {
        let allowed = |c: char| match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || c == '-' || c == '.' => c,
            _ => '-',
        };
        let mut tag: String = name.chars().map(allowed).take(64).collect();
        if !taken.insert(tag.clone()) {
            // Two names that differ in characters which were replaced.
            tag = format!("{tag}-{:08x}", short_hash(name));
            while !taken.insert(tag.clone()) {
                tag.push('x');
            }
        }
        UriPrefix { scheme: format!("{PREFIX}{tag}:"), ui: format!("{UI}{PREFIX}{tag}/") }
    }

    /// Whether a URI starts like a prefix of any server, or like a document of this program.
    fn is_in(uri: &str) -> bool {
        let scheme = uri.get(..OWN_SCHEME.len());
        uri.strip_prefix(UI).unwrap_or(uri).starts_with(PREFIX)
            || scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(OWN_SCHEME))
    }

    /// The URI or template with the prefix.
    fn add(&self, uri: &str) -> String {
        match uri.strip_prefix(UI) {
            Some(rest) => format!("{}{rest}", self.ui),
            None => format!("{}{uri}", self.scheme),
        }
    }

    /// The URI without the prefix; `None` if it has another one or none.
    fn remove(&self, uri: &str) -> Option<String> {
        match uri.strip_prefix(&self.ui) {
            Some(rest) => Some(format!("{UI}{rest}")),
            None => uri.strip_prefix(&self.scheme).map(str::to_owned),
        }
    }
}

impl Offers {
    /// Merges what all servers offer. Lists keep the order of the sources. `withholds_orders`:
    /// leave out instructions that carry orders to the model. `unlisted` outlives these offers.
    ///
    /// Made anew after every change of any server; old offers stay valid for those who hold them.
    pub(crate) fn merge(
        mut sources: Vec<OfferSource>,
        withholds_orders: bool,
        unlisted: &Arc<UnlistedUris>,
    ) -> Offers {
        // A server that several definitions of one source name offers everything once.
        let mut known: Vec<Arc<Server>> = Vec::new();
        sources.retain(|source| {
            let server = source.upstream.server();
            let is_new = !known.contains(server);
            known.push(Arc::clone(server));
            is_new
        });
        unlisted.keep(&known);
        let mut offers = Offers { unlisted: Arc::clone(unlisted), ..Offers::default() };
        offers.add_servers(&sources);
        for (n, source) in sources.iter().enumerate() {
            offers.add_resources(n, &source.offers.resources);
            offers.add_templates(n, &source.offers.templates);
        }
        offers.add_prompts(&sources);
        // When the tables are complete: items may refer to each other.
        let follow = |items: &mut [Json], member: &str, table: &HashMap<String, OwnKey>| {
            for item in items {
                let key = item[member].as_str().and_then(|key| table.get(key));
                if let (Some(key), Some(meta)) = (key, item.get_mut("_meta")) {
                    ReferenceWalk::new(&offers, key.server).meta(meta);
                }
            }
        };
        let (mut resources, mut templates, mut prompts) =
            (offers.resources.clone(), offers.templates.clone(), offers.prompts.clone());
        follow(&mut resources, "uri", &offers.resource_table);
        follow(&mut templates, "uriTemplate", &offers.template_table);
        follow(&mut prompts, "name", &offers.prompt_table);
        (offers.resources, offers.templates, offers.prompts) = (resources, templates, prompts);
        let named = |source: &'_ OfferSource| -> Option<(String, String)> {
            let text = source.offers.instructions(withholds_orders)?;
            Some((source.name.clone(), text.to_owned()))
        };
        let named: Vec<(String, String)> = sources.iter().filter_map(named).collect();
        offers.instructions =
            instructions::join(named.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let has = |capability: &str| sources.iter().any(|source| source.offers.has(capability));
        offers.interfaces = interfaces(&sources);
        let has_tasks = |part: &str| sources.iter().any(|source| source.offers.has_tasks(part));
        offers.capabilities = OfferedCapabilities {
            resources: offers.with_resources > 0,
            subscribe: has("resources.subscribe"),
            prompts: has("prompts") || !offers.prompts.is_empty(),
            completions: has("completions"),
            tasks: sources.iter().any(|source| source.offers.has_extension(meta::TASKS_EXTENSION)),
            task_calls: has_tasks("requests.tools.call"),
            task_list: has_tasks("list"),
            task_cancel: has_tasks("cancel"),
            logging: has("logging"),
        };
        offers
    }

    /// First of all: whether a URI is renamed depends on what all servers list, and the tables that
    /// follow rely on it.
    fn add_servers(&mut self, sources: &[OfferSource]) {
        let mut taken = HashSet::new();
        // How many servers have a URI or a template.
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for source in sources {
            for key in texts(&source.offers.resources, "uri")
                .chain(texts(&source.offers.templates, "uriTemplate"))
            {
                *counts.entry(key).or_default() += 1;
            }
        }
        // A URI that looks like a renamed one or like ours is renamed, too: otherwise a server
        // could list the one that the resource of another server gets, or pose as what its
        // definition says.
        let is_shared =
            |key: &&str| counts.get(key).is_some_and(|count| *count > 1) || UriPrefix::is_in(key);
        for source in sources {
            let ServerOffers { resources, templates, .. } = &*source.offers;
            let listed: HashSet<String> = texts(resources, "uri").map(str::to_owned).collect();
            let renamed = texts(resources, "uri").filter(is_shared).map(str::to_owned).collect();
            let own_templates = texts(templates, "uriTemplate").filter_map(|text| {
                let parsed = UriTemplate::parse(text)?;
                Some(OwnTemplate { parsed, is_renamed: is_shared(&text) })
            });
            let has_resources =
                source.offers.has("resources") || !resources.is_empty() || !templates.is_empty();
            self.with_resources += usize::from(has_resources);
            self.servers.push(OfferingServer {
                upstream: Arc::clone(&source.upstream),
                prefix: UriPrefix::new(&source.name, &mut taken),
                has_resources,
                has_tasks: source.offers.has_tasks("requests.tools.call"),
                listed,
                renamed,
                templates: own_templates.collect(),
            });
        }
        for (server, source) in sources.iter().enumerate() {
            for own in texts(&source.offers.templates, "uriTemplate") {
                let exposed = match is_shared(&own) {
                    true => self.servers[server].prefix.add(own),
                    false => own.to_owned(),
                };
                self.template_table.insert(exposed, OwnKey { server, own: own.to_owned() });
            }
        }
    }

    /// Called for one source after the other, so the list has their order.
    fn add_resources(&mut self, server: usize, items: &[Json]) {
        for item in items {
            let Some(own) = item["uri"].as_str() else { continue };
            let exposed = match self.servers[server].renamed.contains(own) {
                true => self.servers[server].prefix.add(own),
                false => own.to_owned(),
            };
            let mut item = item.clone();
            item["uri"] = exposed.clone().into();
            self.resource_table.insert(exposed, OwnKey { server, own: own.to_owned() });
            self.resources.push(item);
        }
    }

    /// The table was filled by `add_servers`, so this only looks up which ones are renamed there.
    fn add_templates(&mut self, server: usize, items: &[Json]) {
        for item in items {
            let Some(own) = item["uriTemplate"].as_str() else { continue };
            let renamed = self.servers[server].prefix.add(own);
            let mut item = item.clone();
            if self.template_table.contains_key(&renamed) {
                item["uriTemplate"] = renamed.into();
            }
            self.templates.push(item);
        }
    }

    /// Names follow from `namespace:own`, like those of tools, so that a client does not see two
    /// schemes.
    fn add_prompts(&mut self, sources: &[OfferSource]) {
        let mut found = Vec::new();
        for (server, source) in sources.iter().enumerate() {
            for item in &source.offers.prompts {
                let Some(own) = item["name"].as_str() else { continue };
                let id = match &source.namespace {
                    Some(namespace) => format!("{namespace}:{own}"),
                    None => own.to_owned(),
                };
                found.push((id, OwnKey { server, own: own.to_owned() }, item));
            }
        }
        let (_, names) = ExposedNames::of(found.iter().map(|(id, ..)| id.as_str()));
        for (name, (_, key, item)) in names.into_iter().zip(found) {
            let mut item = item.clone();
            // Clients show the title to people, who know the prompt by its own name.
            if !item["title"].is_string() {
                item["title"] = key.own.clone().into();
            }
            item["name"] = name.clone().into();
            self.prompt_table.insert(name, key);
            self.prompts.push(item);
        }
    }

    /// The server is part of the answer: callers send the request to it.
    fn item(&self, key: &OwnKey) -> OfferedItem {
        let upstream = Arc::clone(&self.servers[key.server].upstream);
        OfferedItem { upstream, own: key.own.clone() }
    }

    /// Where a resource is: by its exact URI, else by a template that matches it, else on the only
    /// server that has resources, else on the one that has named it in a result.
    pub fn resource(&self, uri: &str) -> Option<OfferedItem> {
        self.find_resource(uri, &mut { MATCH_BUDGET }).map(|key| self.item(&key))
    }

    /// The order decides. Exact URIs come first, since they are certain. Of several templates that
    /// match, the one with the most literal text is meant, and the first of equals. `budget` bounds
    /// the matching for a whole walk; when it is used up, templates match nothing and the rest
    /// still applies.
    ///
    /// ```text
    /// 1 an exact URI that clients see
    /// 2 a URI with the prefix of a server      the rest of it, on that server
    /// 3 a template that is not renamed         the URI as it is, on the server of the best one
    /// 4 only one server has resources          the URI as it is, on that server
    /// 5 a result has named it                  the URI as it is, on the server of that result
    /// ```
    fn find_resource(&self, uri: &str, budget: &mut usize) -> Option<OwnKey> {
        if let Some(key) = self.resource_table.get(uri) {
            return Some(OwnKey { server: key.server, own: key.own.clone() });
        }
        // Before the templates: an expansion of a renamed one has its prefix, and a template that
        // matches everything must not catch it.
        for (server, offering) in self.servers.iter().enumerate() {
            if let Some(own) = offering.prefix.remove(uri) {
                return Some(OwnKey { server, own });
            }
        }
        let mut best: Option<(usize, usize)> = None;
        for (server, offering) in self.servers.iter().enumerate() {
            for template in offering.templates.iter().filter(|template| !template.is_renamed) {
                let weight = template.parsed.literal_bytes;
                let is_better = best.is_none_or(|(_, other)| weight > other);
                if is_better && template.parsed.matches(uri, budget) {
                    best = Some((server, weight));
                }
            }
        }
        let only = || {
            let mut all = self.servers.iter().enumerate().filter(|(_, it)| it.has_resources);
            let first = all.next().map(|(server, _)| server)?;
            all.next().is_none().then_some(first)
        };
        let named = || self.number_of(&self.unlisted.server_of(uri)?);
        let server = best.map(|(server, _)| server).or_else(only).or_else(named)?;
        Some(OwnKey { server, own: uri.to_owned() })
    }

    /// Where a prompt is.
    pub fn prompt(&self, name: &str) -> Option<OfferedItem> {
        self.prompt_table.get(name).map(|key| self.item(key))
    }

    /// Where a template of resources is, by the text that clients see.
    pub fn template(&self, uri_template: &str) -> Option<OfferedItem> {
        self.template_table.get(uri_template).map(|key| self.item(key))
    }

    /// Whether this server runs calls as tasks of revision 2025-11-25.
    pub fn has_tasks(&self, server: &Arc<Server>) -> bool {
        self.number_of(server).is_some_and(|n| self.servers[n].has_tasks)
    }

    /// The URI that clients see for a URI of this server in an update. A part of a renamed resource
    /// keeps to it: clients have subscribed to the whole.
    pub fn exposed_uri(&self, server: &Arc<Server>, own: &str) -> String {
        let budget = &mut { MATCH_BUDGET };
        match self.number_of(server) {
            Some(n) if self.servers[n].is_part_of_renamed(own) => self.servers[n].prefix.add(own),
            Some(n) => self.exposed(n, own, budget),
            None => own.to_owned(),
        }
    }

    /// A server is found by identity or as an equal one: a notification may hold the value of
    /// before a reload.
    fn number_of(&self, server: &Arc<Server>) -> Option<usize> {
        let is_it = |it: &OfferingServer| {
            Arc::ptr_eq(it.upstream.server(), server) || it.upstream.server() == server
        };
        self.servers.iter().position(is_it)
    }

    /// The counterpart of `find_resource`: a URI gets the prefix exactly if a client that reads it
    /// without one would be led to another server. What that means for URIs that nobody lists is
    /// decided case by case below; the least that has to hold is that a client which reads the
    /// result finds this server.
    ///
    /// ```text
    /// this server lists it                          prefix if it is in `renamed`
    /// it is the only server with resources          no prefix
    /// otherwise a prefix, if one of these holds:
    ///   - a renamed template of this server matches it
    ///   - it looks as if it had a prefix already
    ///   - it is a part of a renamed URI, and not one that clients open themselves
    ///   - without a prefix it would lead to another server; if that one neither lists it nor has a
    ///     template for it, not for URIs that clients open themselves
    ///   - it would lead nowhere, and is too long to be remembered (`unlisted`)
    /// ```
    ///
    /// "Open themselves" is `is_found_without_server`: the web and the disk.
    ///
    /// Has one effect: a URI that leads nowhere is remembered, so that reading it leads here.
    fn exposed(&self, n: usize, own: &str, budget: &mut usize) -> String {
        let server = &self.servers[n];
        let needs_prefix = if server.listed.contains(own) {
            server.renamed.contains(own)
        } else if !server.has_resources || self.with_resources < 2 {
            false
        } else {
            let mut templates = server.templates.iter().filter(|template| template.is_renamed);
            templates.any(|template| template.parsed.matches(own, budget))
                || UriPrefix::is_in(own)
                || (server.is_part_of_renamed(own) && !is_found_without_server(own))
                || match self.find_resource(own, budget) {
                    Some(key) if key.server == n => false,
                    // Another server would answer for it. If that one does not list it either, the
                    // client finds files and web pages without any of the two.
                    Some(key) => {
                        self.lists(key.server, own, budget) || !is_found_without_server(own)
                    }
                    // Nobody lists it, perhaps not yet. A client that reads it must be led here all
                    // the same.
                    None => !self.unlisted.add(own, server.upstream.server()),
                }
        };
        if needs_prefix { server.prefix.add(own) } else { own.to_owned() }
    }

    /// Whether a text in data is a URI that clients see with the prefix of this server. Stricter
    /// than [`Offers::exposed`], because a text may mean anything: only what a client would read
    /// from another server otherwise is one, and nothing is remembered.
    ///
    /// ```text
    ///                                        exposed            is_renamed_text
    /// not of the form `scheme://…`           as any URI         no
    /// looks like one with a prefix           prefix             no: it was renamed as a reference
    /// leads to another server                see there          yes; for one that clients open
    ///                                                           themselves, if that one lists it
    /// leads nowhere                          remembered         no
    /// ```
    ///
    /// A wrong "no" costs a client one failed read. A wrong "yes" would change data that is no URI.
    fn is_renamed_text(&self, n: usize, text: &str, budget: &mut usize) -> bool {
        let server = &self.servers[n];
        if server.listed.contains(text) {
            return server.renamed.contains(text);
        }
        // One with a prefix was renamed before, as a reference.
        if !server.has_resources || !looks_like_uri(text) || UriPrefix::is_in(text) {
            return false;
        }
        let mut templates = server.templates.iter().filter(|template| template.is_renamed);
        if templates.any(|template| template.parsed.matches(text, budget)) {
            return true;
        }
        let is_open_anyway = is_found_without_server(text);
        (server.is_part_of_renamed(text) && !is_open_anyway)
            || match self.find_resource(text, budget) {
                Some(key) if key.server != n => {
                    !is_open_anyway || self.servers[key.server].listed.contains(text)
                }
                _ => false,
            }
    }

    /// Whether clients may see a URI of any server with a prefix.
    pub fn may_rename(&self) -> bool {
        self.with_resources > 1 || self.servers.iter().any(|server| !server.renamed.is_empty())
    }

    /// Whether a server lists a URI, or a template that matches it.
    ///
    /// A renamed template counts, too: it is about the server's own URIs.
    fn lists(&self, n: usize, own: &str, budget: &mut usize) -> bool {
        let OfferingServer { listed, templates, .. } = &self.servers[n];
        listed.contains(own) || templates.iter().any(|it| it.parsed.matches(own, budget))
    }

    /// Undoes the renaming in arguments for a tool of this server: a model may pass on a URI that
    /// it has read. Returns whether something was replaced.
    ///
    /// Only texts that are a URI as a whole; a URI in the middle of a sentence stays as it is.
    ///
    /// Only the prefix of this server is removed. A URI of another server stays, since this one
    /// could do nothing with it.
    pub fn own_arguments(&self, server: &Arc<Server>, arguments: &mut Json) -> bool {
        let Some(n) = self.number_of(server) else { return false };
        let prefix = &self.servers[n].prefix;
        let mut is_changed = false;
        replace_texts(arguments, &mut |text| {
            let own = prefix.remove(text)?;
            is_changed = true;
            Some(own)
        });
        is_changed
    }

    /// Whether a text may be a URI that was renamed.
    ///
    /// A quick test before `own_arguments`.
    pub fn may_have_renamed(text: &str) -> bool {
        text.contains(PREFIX)
    }

    /// Replaces every reference to a resource of this server in a result, a notification or a tool
    /// (`uri`, `ui://` in `_meta`, links, embedded resources) by the URI that clients see, and in
    /// structured content and `_meta` every text that is a URI with a prefix for clients. Returns
    /// at once if no URI can have one. Text blocks stay as they are.
    pub fn expose(&self, server: &Arc<Server>, value: &mut Json) {
        // With one server that has resources, every URI leads to it as it is.
        if self.with_resources < 2 {
            return;
        }
        if let Some(server) = self.number_of(server) {
            ReferenceWalk::new(self, server).value(value, 0);
        }
    }

    /// The same for structured content.
    ///
    /// For a value that is data as a whole, and not a result with `structuredContent`.
    pub fn expose_data(&self, server: &Arc<Server>, value: &mut Json) {
        self.expose(server, value);
        if let Some(server) = self.number_of(server) {
            ReferenceWalk::new(self, server).data(value);
        }
    }
}

/// Whether clients open a URI themselves, from the web or from the disk.
fn is_found_without_server(uri: &str) -> bool {
    ["http://", "https://", "file://"].iter().any(|scheme| uri.starts_with(scheme))
}

/// Whether a text is a URI and not a sentence: a scheme, `://`, and no space. URIs of other forms
/// (`urn:x:y`) cannot be distinguished from other texts.
fn looks_like_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    text.split_once("://").is_some_and(|(scheme, rest)| {
        is_scheme(scheme) && !rest.is_empty() && !rest.contains(char::is_whitespace)
    })
}

/// Replaces strings in a value, but not names of members. The depth is that of a parsed message.
fn replace_texts(value: &mut Json, replacement: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Json::String(text) => {
            if let Some(new) = replacement(text) {
                *text = new;
            }
        }
        Json::Array(items) => {
            items.iter_mut().for_each(|item| replace_texts(item, replacement));
        }
        Json::Object(members) => {
            members.values_mut().for_each(|member| replace_texts(member, replacement));
        }
        _ => {}
    }
}

/// The description of the extension MCP Apps that all servers share; `None` if two differ, because
/// a client may ask any of them.
fn interfaces(sources: &[OfferSource]) -> Option<Json> {
    let descriptions = sources.iter().filter_map(|source| source.offers.description.as_ref());
    let mut all =
        descriptions.filter_map(|it| it.capabilities["extensions"].get(meta::UI_EXTENSION));
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.clone())
}

/// The texts at `key` of these items.
fn texts<'i>(items: &'i [Json], key: &'static str) -> impl Iterator<Item = &'i str> {
    items.iter().filter_map(move |item| item[key].as_str())
}

/// A walk through a value that replaces references.
///
/// The budgets are for the whole walk: a hostile result of many small parts costs no more than
/// others. What is left when they are used up stays as the server wrote it.
///
/// `value` looks for references where MCP has them; `data` takes any text that is a URI.
struct ReferenceWalk<'o> {
    offers: &'o Offers,
    server: usize,
    /// Values that may still be visited.
    visits_left: usize,
    /// Steps that may still be spent on matching templates.
    match_budget: usize,
}

impl<'o> ReferenceWalk<'o> {
    fn new(offers: &'o Offers, server: usize) -> ReferenceWalk<'o> {
        let (visits_left, match_budget) = (MAX_VISITED, MATCH_BUDGET);
        ReferenceWalk { offers, server, visits_left, match_budget }
    }

    /// The depth is bounded by `MAX_REFERENCE_DEPTH`, far below that of a parsed message.
    fn value(&mut self, value: &mut Json, depth: usize) {
        if depth > MAX_REFERENCE_DEPTH || self.visits_left == 0 {
            return;
        }
        self.visits_left -= 1;
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.value(item, depth + 1)),
            Json::Object(members) => {
                self.object(members);
                for (key, member) in members.iter_mut() {
                    // Schemas and data of the tool, whose members mean other things.
                    let is_data =
                        ["inputSchema", "outputSchema", "arguments"].contains(&key.as_str());
                    if !is_data && (member.is_object() || member.is_array()) {
                        self.value(member, depth + 1);
                    }
                    if key == "structuredContent" {
                        self.data(member);
                    }
                }
            }
            _ => {}
        }
    }

    /// Replaces the references that this object itself holds.
    fn object(&mut self, members: &mut serde_json::Map<String, Json>) {
        match members.get("type").and_then(Json::as_str) {
            Some("resource_link") => self.replace(members.get_mut("uri")),
            Some("resource") => {
                self.replace(members.get_mut("resource").and_then(|it| it.get_mut("uri")));
            }
            _ => {}
        }
        // The answer to `resources/read`.
        if let Some(Json::Array(contents)) = members.get_mut("contents") {
            for content in contents.iter_mut().take(self.visits_left) {
                self.replace(content.get_mut("uri"));
            }
        }
        if let Some(meta) = members.get_mut("_meta") {
            self.meta(meta);
        }
    }

    /// MCP Apps: the interface of a tool, in the key of the extension and in its older one. Any
    /// other reference, if it is to a URI that was renamed.
    fn meta(&mut self, meta: &mut Json) {
        self.replace(meta.get_mut("ui").and_then(|ui| ui.get_mut("resourceUri")));
        self.replace(meta.get_mut("ui/resourceUri"));
        self.data(meta);
    }

    /// Replaces every text that is a URI with a prefix for clients: whatever the member is called,
    /// nothing else is meant.
    fn data(&mut self, value: &mut Json) {
        let ReferenceWalk { offers, server, ref mut match_budget, .. } = *self;
        if offers.may_rename() {
            let prefix = &offers.servers[server].prefix;
            replace_texts(value, &mut |text| {
                offers.is_renamed_text(server, text, match_budget).then(|| prefix.add(text))
            });
        }
    }

    /// Missing members and other types are left alone.
    fn replace(&mut self, uri: Option<&mut Json>) {
        if let Some(Json::String(uri)) = uri {
            *uri = self.offers.exposed(self.server, uri, &mut self.match_budget);
        }
    }
}

#[cfg(test)]
mod tests;
