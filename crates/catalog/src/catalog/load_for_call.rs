//! Loads once, for a call or for all tests: only the sources that can hold the tool, in the order
//! in which they are likely to be quick. `serve` does not use this; it loads everything (`reload`).
//!
//! ```text
//! 1 files and programs of all sources    read side by side; stop at an exact id that is callable
//! 2 found, and it waits for its server   that server alone
//!   namespace known                      servers of that namespace
//!   otherwise                            all servers
//! ```
//!
//! A tool that calls others is followed by the toolsets that it names, up to `MAX_AGGREGATED`.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use toolwright_exec::{RegisteredTool, ToolStatus};
use toolwright_model::{Binding, InputSchema, Namespace};
use toolwright_workspace::{SourceSpec, SourceTarget};

use super::Catalog;
use crate::live_sources::SourceFailure;
use crate::server_definition::ServerDefinition;

impl Catalog {
    /// Loads the sources that can hold the tool `id`, and those of the tools that it calls. Returns
    /// the sources that could not be loaded.
    ///
    /// A failure does not mean that the tool is missing: another source may have it.
    pub async fn load_for(&self, id: &str) -> Vec<SourceFailure> {
        let mut failures = self.load_tool(id).await;
        let found = self.runner.registry().find(id).map(Arc::clone);
        let (mut loaded, mut needed) = (BTreeSet::new(), aggregated_toolsets(found.as_deref()));
        // A toolset that is called may call others. All calls below one are few, so this ends.
        while let Some(toolset) = needed.pop() {
            if loaded.len() >= MAX_AGGREGATED || !loaded.insert(toolset.clone()) {
                continue;
            }
            // No tool has an empty name, so nothing ends the search early.
            failures.extend(self.load_tool(&format!("{toolset}:")).await);
            let namespace = Namespace::parse(&toolset).ok();
            let registry = self.runner.registry();
            let own = registry.iter().filter(|entry| entry.id.namespace == namespace);
            needed.extend(own.flat_map(|entry| aggregated_toolsets(Some(entry))));
        }
        failures
    }

    /// Loads the sources that can hold the tool `id`, and stops as soon as it is found.
    ///
    /// Starting a server can take seconds, so `call` starts as few as possible: files and programs
    /// first; then the server that a found definition names, and one that has the namespace of a
    /// tool that was only found in a folder; only if nothing was found, the servers of the plan,
    /// limited to the namespace if `id` has one (`namespace:name`). If nothing has that namespace,
    /// a server may give it to one of its tools, so all of them are asked. Returns the sources that
    /// could not be loaded.
    async fn load_tool(&self, id: &str) -> Vec<SourceFailure> {
        let specs: Vec<SourceSpec> = self.states().iter().map(|state| state.spec.clone()).collect();
        let namespace = id.split_once(':').map(|(namespace, _)| namespace);
        // A server without a configured namespace may serve any id.
        let may_hold = |spec: &&SourceSpec| match (&spec.target, namespace) {
            (SourceTarget::Server(_, Some(own)), Some(requested)) => own.as_str() == requested,
            _ => true,
        };
        let (mut servers, others): (Vec<&SourceSpec>, Vec<&SourceSpec>) =
            specs.iter().partition(|spec| matches!(spec.target, SourceTarget::Server(..)));
        let others = others.into_iter().map(|spec| self.load_one(spec).boxed());
        let mut failures = self.load_until_found(id, others.collect()).await;
        // `find` also accepts a name without its namespace, if only one tool has it. The step above
        // stops early only for an exact id, so all files were read before this decides.
        let registry = self.runner.registry();
        let found = registry.find(id).map(Arc::clone);
        // A tool that was found in a folder must not take the id of one of a server.
        let is_of_named = |spec: &SourceSpec, entry: &RegisteredTool| match &spec.target {
            SourceTarget::Server(_, own) if !entry.trust.is_named => *own == entry.id.namespace,
            _ => false,
        };
        let may_be_of_server =
            |entry: &RegisteredTool| servers.iter().any(|spec| is_of_named(spec, entry));
        let is_settled =
            |entry: &Arc<RegisteredTool>| !waits_for_its_server(entry) && !may_be_of_server(entry);
        if found.as_ref().is_some_and(is_settled) {
            return failures;
        }
        // A definition without an input schema still needs the list of its own server, but no other
        // server.
        let namespace_of_found = found.as_ref().and_then(|entry| entry.id.namespace.as_ref());
        let namespace = namespace_of_found.map(Namespace::as_str).or(namespace);
        let definitions = self
            .server_definitions(|own| namespace.is_none_or(|requested| own.as_str() == requested));
        let is_of_server = |requested: &str| {
            let is_own = |spec: &&SourceSpec| match &spec.target {
                SourceTarget::Server(_, Some(own)) => own.as_str() == requested,
                _ => false,
            };
            servers.iter().any(is_own)
        };
        let is_known = |requested: &str| {
            let parsed = Namespace::parse(requested).ok();
            !definitions.is_empty()
                || is_of_server(requested)
                || (parsed.is_some() && registry.has_namespace(&parsed))
        };
        if let Some(entry) = &found {
            servers.retain(|spec| is_of_named(spec, entry));
        } else if namespace.is_some_and(is_known) {
            servers.retain(may_hold);
        }
        let definitions = definitions
            .iter()
            .map(|(spec, definition)| self.load_server_definition(spec, definition).boxed());
        let servers = servers.into_iter().map(|spec| self.load_one(spec).boxed());
        failures.extend(self.load_until_found(id, definitions.chain(servers).collect()).await);
        failures
    }

    /// Drives loads side by side until there is a callable tool with exactly this id, then drops
    /// the remaining ones, which ends their work. Returns the failures so far.
    ///
    /// Dropping a load is safe at any point: results are applied in one step at its end.
    async fn load_until_found(
        &self,
        id: &str,
        mut loads: FuturesUnordered<BoxFuture<'_, Vec<SourceFailure>>>,
    ) -> Vec<SourceFailure> {
        let mut failures = Vec::new();
        while let Some(failed) = loads.next().await {
            failures.extend(failed);
            // Another source may have a newer version of a tool that has versions, or a tool with
            // the id of one that was only found in a folder.
            let is_newest =
                |entry: &RegisteredTool| entry.tool.version.is_none() || entry.id.to_string() != id;
            let registry = self.runner.registry();
            let is_found = |entry: &Arc<RegisteredTool>| {
                !waits_for_its_server(entry) && is_newest(entry) && entry.trust.is_named
            };
            if registry.get(id).is_some_and(is_found) {
                break;
            }
        }
        failures
    }

    /// The definitions that name an MCP server which may be started, each with its source, filtered
    /// by namespace.
    ///
    /// A definition that was found in a folder is left out until somebody has allowed its server.
    fn server_definitions(
        &self,
        may_hold: impl Fn(&Namespace) -> bool,
    ) -> Vec<(SourceSpec, Arc<ServerDefinition>)> {
        let mut found = Vec::new();
        for state in self.states().iter() {
            let definitions = state.server_toolsets.iter().map(|toolset| &toolset.definition);
            let definitions = definitions
                .filter(|definition| may_hold(&definition.namespace) && self.may_start(definition));
            found.extend(definitions.map(|it| (state.spec.clone(), Arc::clone(it))));
        }
        found
    }

    /// Loads everything once, for `test --run`. Returns the sources that could not be loaded.
    pub async fn load_all(&self) -> Vec<SourceFailure> {
        // No tool has this id, so nothing ends the search early.
        self.load_tool("").await
    }
}

/// Toolsets that are loaded for the tools that one tool may call.
const MAX_AGGREGATED: usize = 64;

/// The toolsets of the tools that a tool may call.
fn aggregated_toolsets(entry: Option<&RegisteredTool>) -> Vec<String> {
    let toolset = |named: &String| match named.split_once(':') {
        Some((toolset, _)) => toolset.to_owned(),
        None => named.clone(),
    };
    match entry.map(|entry| &entry.tool.details.binding) {
        Some(Binding::Orchestration { aggregates, .. }) => aggregates.iter().map(toolset).collect(),
        _ => Vec::new(),
    }
}

/// Whether a definition leaves the input schema to its server, and the server has not been asked
/// yet. Such a tool is registered, but a call cannot check or convert its arguments.
fn waits_for_its_server(entry: &RegisteredTool) -> bool {
    let on_a_server = matches!(entry.tool.details.binding, Binding::Server { .. });
    on_a_server && entry.tool.input == InputSchema::Deferred && entry.status == ToolStatus::Ready
}
