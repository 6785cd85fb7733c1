//! Toolsets whose commands are tools of a server that their definition names. What the definition leaves open, the
//! server says; a command that the server does not have is set aside; its other tools are there as they are.

use std::sync::Arc;

use toolwright_exec::{Entry, Failure, Limits, Parts, Standing};
use toolwright_model::{Annotations, Binding, InputSchema, Namespace, Server, Tool};
use toolwright_source::{Diagnostic, Finding, Origin, Pointer, locate};

use crate::codes::COMMAND_NOT_ON_SERVER;
use crate::gate::{Lanes, gate};
use crate::live;
use crate::plan::{Spec, What};

/// Such a toolset as its definition gives it.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) namespace: Namespace,
    pub(crate) server: Arc<Server>,
    /// Its commands, each with its number in the definition.
    pub(crate) own: Vec<(usize, Arc<Entry>)>,
    pub(crate) origin: Origin,
}

/// It, together with what its server says.
#[derive(Debug, Default)]
pub(crate) struct Met {
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Hosted {
    /// Whether it is the same toolset on the same server, whatever else has changed.
    pub(crate) fn is_like(&self, other: &Hosted) -> bool {
        self.namespace == other.namespace && self.server == other.server
    }

    /// Asks the server. `spec` is where the definition came from.
    pub(crate) async fn meet(
        &self,
        spec: &Spec,
        parts: &Parts,
        limits: &Limits,
        lanes: &mut Lanes,
    ) -> Result<Met, Failure> {
        let spec = Spec {
            name: self.namespace.to_string(),
            what: What::Server(Arc::clone(&self.server), Some(self.namespace.clone())),
            implementations: None,
            ..spec.clone()
        };
        let loaded = live::server(&spec, &self.server, Some(&self.namespace), parts).await?;
        let served = gate(loaded, limits, &spec, lanes);
        let mut met = Met { entries: Vec::new(), diagnostics: served.diagnostics };
        let mut others = served.entries;
        for (n, own) in &self.own {
            let place = others.iter().position(|other| name_on_server(other) == name_on_server(own));
            met.entries.push(match place.map(|place| others.remove(place)) {
                _ if own.standing != Standing::Ready => Arc::clone(own),
                Some(served) => Arc::new(completed(own, &served.tool)),
                None => {
                    let (entry, diagnostic) = self.missing(*n, own);
                    met.diagnostics.push(diagnostic);
                    Arc::new(entry)
                }
            });
        }
        met.entries.extend(others);
        Ok(met)
    }

    fn missing(&self, n: usize, own: &Entry) -> (Entry, Diagnostic) {
        let message = format!("the server has no tool `{}`", name_on_server(own));
        let reason = format!("{message} ({})", COMMAND_NOT_ON_SERVER.name);
        let at = Pointer::root().child("tools").child(n).child("name");
        let finding = Finding::new(&COMMAND_NOT_ON_SERVER, at, message);
        let entry = Entry::quarantined(own.id.clone(), own.tool.clone(), Arc::clone(&own.lane), reason);
        (entry, locate(finding, &self.origin))
    }
}

fn name_on_server(entry: &Entry) -> &str {
    match &entry.tool.details.binding {
        Binding::Server { tool, .. } => tool,
        // One that is set aside has no binding.
        _ => entry.tool.name.as_str(),
    }
}

/// A command with what its definition leaves open filled in from the server's own words.
fn completed(own: &Entry, served: &Tool) -> Entry {
    let mut tool = own.tool.clone();
    if tool.input == InputSchema::Deferred {
        tool.input = served.input.clone();
    }
    tool.output = tool.output.or_else(|| served.output.clone());
    tool.description = tool.description.or_else(|| served.description.clone());
    let (details, theirs) = (&mut tool.details, &served.details);
    details.title = details.title.take().or_else(|| theirs.title.clone());
    details.meta = details.meta.take().or_else(|| theirs.meta.clone());
    if details.annotations == Annotations::default() {
        details.annotations = theirs.annotations.clone();
    }
    if details.icons.is_empty() {
        details.icons.clone_from(&theirs.icons);
    }
    match Entry::new(own.id.clone(), tool, own.toolset, Arc::clone(&own.lane)) {
        Ok(mut entry) => {
            entry.environment.clone_from(&own.environment);
            entry.knowledge.clone_from(&own.knowledge);
            entry
        }
        // Both sides have been compiled before.
        Err((which, error)) => {
            let reason = format!("its `{which}` cannot be used: {error}");
            Entry::quarantined(own.id.clone(), own.tool.clone(), Arc::clone(&own.lane), reason)
        }
    }
}
