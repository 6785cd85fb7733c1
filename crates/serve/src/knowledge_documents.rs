//! What definitions say about the use of their tools, as agents get it: notes for descriptions, and
//! one Markdown document for each toolset whose definition says `knowledge_strategy: external` or
//! `hybrid`, as a resource of this server.
//!
//! The texts are authored ones and belong to the registry, so they are made with the listing of the
//! tools, and change with it.
//!
//! ```text
//! registry ─ ready tools, by their knowledge ─┬─▶ AgentTexts: notes for each description
//!                                             └─▶ one document: resources/list, resources/read
//! ```

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_exec::knowledge::RunnableKnowledge;
use toolwright_exec::{RegisteredTool, ToolRegistry, ToolStatus};
use toolwright_model::{AgentTexts, ServedTool, document_uri, has_document, knowledge_document};

/// All documents of one snapshot of the registry.
#[derive(Default)]
pub(crate) struct KnowledgeDocuments {
    /// By URI.
    all: BTreeMap<String, KnowledgeDocument>,
    /// The notes of each toolset, by the address of its knowledge.
    texts: BTreeMap<usize, AgentTexts>,
}

#[derive(PartialEq, Eq)]
struct KnowledgeDocument {
    /// Of the first tool that is ready; `tools` without one.
    namespace: String,
    /// Markdown.
    text: String,
}

/// What the tools of a toolset share.
///
/// The address is enough: the registry keeps the knowledge alive as long as these documents.
fn key(knowledge: &Arc<RunnableKnowledge>) -> usize {
    Arc::as_ptr(knowledge).addr()
}

impl KnowledgeDocuments {
    /// The documents of all toolsets with tools that may be called.
    ///
    /// A toolset whose tools are all in quarantine has no document. Two toolsets of one namespace,
    /// which `check` reports, have one URI: its document has the texts of both, in the order of
    /// their first tools.
    pub(crate) fn of(registry: &ToolRegistry) -> KnowledgeDocuments {
        let mut toolsets: BTreeMap<usize, Vec<&RegisteredTool>> = BTreeMap::new();
        for entry in registry.iter().filter(|entry| entry.status == ToolStatus::Ready) {
            if let Some(knowledge) = &entry.knowledge {
                toolsets.entry(key(knowledge)).or_default().push(entry);
            }
        }
        let mut documents = KnowledgeDocuments::default();
        let mut in_order: Vec<_> = toolsets.into_iter().collect();
        in_order.sort_by_key(|(_, entries)| entries.first().map(|entry| entry.id.to_string()));
        for (key, entries) in in_order {
            let Some(first) = entries.first() else { continue };
            let Some(knowledge) = &first.knowledge else { continue };
            let has_examples = entries.iter().any(|it| !it.tool.details.examples.is_empty());
            let namespace =
                first.id.namespace.as_ref().map_or_else(|| "tools".to_owned(), ToString::to_string);
            let uri =
                has_document(knowledge.model(), has_examples).then(|| document_uri(&namespace));
            let texts = AgentTexts::new(knowledge.model(), knowledge.commands(), uri.clone());
            documents.texts.insert(key, texts);
            let Some(uri) = uri else { continue };
            let tools = entries
                .iter()
                .map(|entry| (entry.tool.name.as_str(), entry.tool.details.examples.as_slice()));
            let text = knowledge_document(&namespace, knowledge.model(), tools);
            match documents.all.entry(uri) {
                Entry::Vacant(free) => {
                    free.insert(KnowledgeDocument { namespace, text });
                }
                Entry::Occupied(mut taken) => {
                    let first = &mut taken.get_mut().text;
                    first.push('\n');
                    first.push_str(&text);
                }
            }
        }
        documents
    }

    /// Whether there is no resource of this program. Notes for descriptions do not count.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether clients read the same.
    ///
    /// Decides whether a change of resources is announced.
    pub(crate) fn is_same(&self, other: &KnowledgeDocuments) -> bool {
        self.all == other.all
    }

    /// The description of a tool as agents get it.
    ///
    /// Used for every tool of every list, also for those without knowledge.
    pub(crate) fn description(&self, entry: &RegisteredTool) -> Option<String> {
        let details = &entry.tool.details;
        let tool = ServedTool {
            name: entry.tool.name.as_str(),
            description: entry.tool.description.as_deref(),
            examples: &details.examples,
            deprecation: &details.deprecation,
        };
        let own = entry.knowledge.as_ref().and_then(|knowledge| self.texts.get(&key(knowledge)));
        own.map_or_else(|| AgentTexts::default().description(&tool), |own| own.description(&tool))
    }

    /// The documents as items of `resources/list`.
    pub(crate) fn resources(&self) -> impl Iterator<Item = Json> {
        self.all.iter().map(|(uri, document)| {
            let namespace = &document.namespace;
            json!({
                "uri": uri,
                "name": format!("{namespace} knowledge"),
                "title": format!("How to use the tools of {namespace}"),
                "description": "Known mistakes, quirks and examples, from the definition",
                "mimeType": "text/markdown",
                "size": document.text.len(),
            })
        })
    }

    /// The answer to `resources/read`.
    ///
    /// `None` for a URI that is not one of these: a server may have it.
    pub(crate) fn read(&self, uri: &str) -> Option<Json> {
        let document = self.all.get(uri)?;
        let content = json!({"uri": uri, "mimeType": "text/markdown", "text": document.text});
        Some(json!({"contents": [content]}))
    }
}
