//! What one server offers besides tools: its description of itself, its resources, templates of
//! resources and prompts. Fetched after its tools, and cleaned: an item that clients could not use
//! is left out with a note, because one bad item makes some clients reject the whole list.
//!
//! A list that cannot be fetched keeps its last state. Only a server that does not declare the
//! capability any more has none of the items.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_exec::Failure;
use toolwright_exec::mcp::{ListKind, ServerDescription, Upstream};

/// Items of one list that are kept.
const MAX_LIST_ITEMS: usize = 10_000;
/// The longest URI or name that is kept, in bytes.
const MAX_KEY: usize = 8 << 10;

/// What one server offers besides tools, as it described it. URIs and names are the server's own;
/// what clients see of them is the business of `Offers`. Compared as a whole to find out what has
/// changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ServerOffers {
    /// What it said of itself; `None` if it was not asked yet.
    pub(crate) description: Option<Arc<ServerDescription>>,
    /// Each is an object with a text at `key_of`, unique in its list; the rest is as the server
    /// wrote it.
    pub(crate) resources: Vec<Json>,
    pub(crate) templates: Vec<Json>,
    pub(crate) prompts: Vec<Json>,
    /// Whether `prompts` is what the server has: it answered, or has no prompts.
    pub(crate) are_prompts_known: bool,
    /// Whether its instructions are withheld until a person accepts them.
    pub(crate) instructions_are_aside: bool,
    /// Whether its instructions carry orders to the model (MODEL_INSTRUCTION).
    pub(crate) instructions_give_orders: bool,
}

impl ServerOffers {
    /// The kinds of lists that are kept here.
    pub(crate) const KINDS: [ListKind; 3] =
        [ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];

    /// Asks the server again for the lists of `kinds`, and takes over the others. The second part
    /// of the result are sentences for the log. A list that cannot be had stays as it was.
    pub(crate) async fn ask(
        &self,
        upstream: &Arc<Upstream>,
        kinds: &[ListKind],
    ) -> (ServerOffers, Vec<String>) {
        let (mut offers, mut notes) = (self.clone(), Vec::new());
        // Without a note: that the connection has ended is in the log already.
        let Ok(description) = upstream.description().await else { return (offers, notes) };
        let wanted = |kind: &ListKind| kinds.contains(kind) && description.has(kind.capability());
        // One after the other: they share a connection, and some servers answer one at a time.
        for kind in ServerOffers::KINDS {
            if !wanted(&kind) {
                if !description.has(kind.capability()) {
                    offers.list_mut(kind).clear();
                    offers.are_prompts_known |= kind == ListKind::Prompts;
                }
                continue;
            }
            match upstream.items(kind).await {
                Ok(items) => offers.set(kind, items, &mut notes),
                Err(Failure { message, .. }) => {
                    notes.push(format!("`{}` failed: {message}", kind.method()));
                }
            }
        }
        offers.description = Some(description);
        (offers, notes)
    }

    /// Replaces a list by the usable ones of these items.
    ///
    /// Used for answers and for the cache; notes are sentences for the log.
    pub(crate) fn set(&mut self, kind: ListKind, items: Vec<Json>, notes: &mut Vec<String>) {
        *self.list_mut(kind) = usable_items(kind, items, notes);
        self.are_prompts_known |= kind == ListKind::Prompts;
    }

    /// The list of this kind.
    fn list_mut(&mut self, kind: ListKind) -> &mut Vec<Json> {
        match kind {
            ListKind::ResourceTemplates => &mut self.templates,
            ListKind::Prompts => &mut self.prompts,
            // Tools are never in here; the catalog keeps them as registered tools.
            ListKind::Resources | ListKind::Tools => &mut self.resources,
        }
    }

    /// The instructions that clients get. `withholds_orders`: none that carry orders to the model.
    pub(crate) fn instructions(&self, withholds_orders: bool) -> Option<&str> {
        let text = self.description.as_ref()?.instructions.as_deref();
        let is_withheld = withholds_orders && self.instructions_give_orders;
        text.filter(|_| !(is_withheld || self.instructions_are_aside))
    }

    /// Whether the server declares an extension of the protocol.
    pub(crate) fn has_extension(&self, name: &str) -> bool {
        let description = self.description.as_ref();
        description.is_some_and(|it| it.capabilities["extensions"].get(name).is_some())
    }

    /// Whether the server has a part of the capability for tasks of revision 2025-11-25.
    pub(crate) fn has_tasks(&self, part: &str) -> bool {
        let description = self.description.as_ref();
        description.is_some_and(|it| it.revision.has_tasks()) && self.has(&format!("tasks.{part}"))
    }

    /// Whether the server has a capability, such as `resources.subscribe`.
    pub(crate) fn has(&self, capability: &str) -> bool {
        self.description.as_ref().is_some_and(|description| description.has(capability))
    }
}

/// The member that identifies an item of a list.
pub(crate) fn key_of(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Resources => "uri",
        ListKind::ResourceTemplates => "uriTemplate",
        ListKind::Prompts | ListKind::Tools => "name",
    }
}

/// The items that clients can use. One note tells how many others there were, and why.
///
/// An item without a name gets its key as one. The order stays.
fn usable_items(kind: ListKind, items: Vec<Json>, notes: &mut Vec<String>) -> Vec<Json> {
    let key = key_of(kind);
    let (mut seen, mut usable) = (HashSet::new(), Vec::new());
    let (mut dropped, mut reason) = (0, None);
    for mut item in items {
        match problem_with(&item, key, &seen, usable.len()) {
            Some(problem) => {
                dropped += 1;
                reason.get_or_insert(problem);
            }
            None => {
                let text = item[key].as_str().unwrap_or_default().to_owned();
                // Clients demand a name, and servers forget it.
                if !item["name"].is_string() {
                    item["name"] = text.clone().into();
                }
                seen.insert(text);
                usable.push(item);
            }
        }
    }
    if let Some(reason) = reason {
        let method = kind.method();
        notes.push(match dropped {
            1 => format!("an item of `{method}` is left out: {reason}"),
            _ => format!("{dropped} items of `{method}` are left out; the first one: {reason}"),
        });
    }
    usable
}

/// Why an item cannot be used.
///
/// `kept` is the number of items that are usable so far.
fn problem_with(item: &Json, key: &str, seen: &HashSet<String>, kept: usize) -> Option<String> {
    if kept >= MAX_LIST_ITEMS {
        return Some(format!("the list has more than {MAX_LIST_ITEMS} items"));
    }
    if !item.is_object() {
        return Some("it is not an object".to_owned());
    }
    match item[key].as_str() {
        None => Some(format!("it has no `{key}`")),
        Some(text) if text.trim().is_empty() => Some(format!("its `{key}` is blank")),
        Some(text) if text.len() > MAX_KEY => Some(format!("its `{key}` is too long")),
        Some(text) if seen.contains(text) => Some(format!("its `{key}` occurs twice")),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unusable_items_are_left_out_with_one_note() {
        let mut notes = Vec::new();
        let items = vec![
            json!({"uri": "a://1", "name": "one"}),
            json!("text"),
            json!({"name": "no uri"}),
            json!({"uri": "a://1", "name": "again"}),
            json!({"uri": " "}),
            json!({"uri": "a://2"}),
            json!({"uri": "x".repeat(MAX_KEY + 1)}),
        ];
        let usable = usable_items(ListKind::Resources, items, &mut notes);
        let expected =
            [json!({"uri": "a://1", "name": "one"}), json!({"uri": "a://2", "name": "a://2"})];
        assert_eq!(usable, expected);
        let note = "5 items of `resources/list` are left out; the first one: it is not an object";
        assert_eq!(notes, [note]);
    }

    #[test]
    fn long_lists_are_cut() {
        let mut notes = Vec::new();
        let items = (0..MAX_LIST_ITEMS + 5).map(|n| json!({"name": format!("p{n}")})).collect();
        let mut offers = ServerOffers::default();
        offers.set(ListKind::Prompts, items, &mut notes);
        assert_eq!(offers.prompts.len(), MAX_LIST_ITEMS);
        assert!(notes[0].starts_with("5 items of `prompts/list`"), "{notes:?}");
    }
}
