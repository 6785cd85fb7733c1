//! The tools that can be called right now, by id. A snapshot: a reload makes a new one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use toolwright_model::{Limits, Tool, ToolId};
use toolwright_schema::{Schema, SchemaError};

use crate::Lane;
use crate::knowledge::{Knowledge, KnowledgeFunction};

/// Whether a tool may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// Its definition has errors; the text names the first.
    Quarantined(String),
}

/// A tool that is ready to be called: its schemas are compiled, its lane is known.
#[derive(Debug)]
pub struct Entry {
    /// Its id.
    pub id: ToolId,
    /// The record.
    pub tool: Tool,
    /// Whether it may be called.
    pub standing: Standing,
    /// What its toolset asks for.
    pub toolset: Limits,
    /// The permits of its toolset.
    pub lane: Arc<Lane>,
    /// What its source adds to the environment of its programs.
    pub environment: Vec<(OsString, OsString)>,
    /// What its toolset knows.
    pub knowledge: Option<Arc<Knowledge>>,
    /// Its body, if it is one of JavaScript; else why there is none.
    pub body: Result<Arc<KnowledgeFunction>, Box<str>>,
    pub(crate) input: Option<Schema>,
    pub(crate) output: Option<Schema>,
}

impl Entry {
    /// Compiles the schemas of a tool.
    ///
    /// # Errors
    /// The first schema that does not compile: `inputSchema` or `outputSchema`, and why.
    pub fn new(
        id: ToolId,
        tool: Tool,
        toolset: Limits,
        lane: Arc<Lane>,
    ) -> Result<Entry, (&'static str, SchemaError)> {
        let input =
            Some(Schema::compile(&tool.input.to_json()).map_err(|error| ("inputSchema", error))?);
        let output = tool.output.as_ref().map(Schema::compile).transpose();
        let output = output.map_err(|error| ("outputSchema", error))?;
        Ok(Entry {
            id,
            tool,
            standing: Standing::Ready,
            toolset,
            lane,
            environment: Vec::new(),
            knowledge: None,
            body: Err("none was looked for".into()),
            input,
            output,
        })
    }

    /// A tool that is listed as existing and refused when called.
    pub fn quarantined(
        id: ToolId,
        tool: Tool,
        lane: Arc<Lane>,
        reason: impl Into<String>,
    ) -> Entry {
        let standing = Standing::Quarantined(reason.into());
        let toolset = Limits::default();
        Entry {
            id,
            tool,
            standing,
            toolset,
            lane,
            environment: Vec::new(),
            knowledge: None,
            body: Err("none was looked for".into()),
            input: None,
            output: None,
        }
    }
}

/// All tools that can be called, ordered by id.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    entries: BTreeMap<String, Arc<Entry>>,
}

impl Toolbox {
    /// Adds a tool; gives it back if its id is taken.
    ///
    /// # Errors
    /// The entry itself, unchanged.
    pub fn add(&mut self, entry: Arc<Entry>) -> Result<(), Arc<Entry>> {
        let id = entry.id.to_string();
        if self.entries.contains_key(&id) {
            return Err(entry);
        }
        self.entries.insert(id, entry);
        Ok(())
    }

    /// The tool with exactly this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.entries.get(id)
    }

    /// The tool that a person means: by its id, or by a bare name that no other tool has.
    pub fn find(&self, id: &str) -> Option<&Arc<Entry>> {
        let bare = || {
            let mut found = self.entries.values().filter(|entry| entry.tool.name.as_str() == id);
            found.next().filter(|_| found.next().is_none())
        };
        self.get(id).or_else(bare)
    }

    /// All tools, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Up to three ids that look most like `id`.
    pub fn nearest(&self, id: &str) -> Vec<&str> {
        let wanted = id.to_lowercase();
        let score = |known: &str| {
            let known = known.to_lowercase();
            let name = known.rsplit(':').next().unwrap_or_default();
            let bare = wanted.rsplit(':').next().unwrap_or_default();
            strsim::jaro_winkler(&known, &wanted).max(strsim::jaro_winkler(name, bare))
        };
        let mut scored: Vec<(f64, &str)> = self
            .entries
            .keys()
            .map(|known| (score(known), known.as_str()))
            .filter(|(s, _)| *s > 0.75)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(3).map(|(_, known)| known).collect()
    }
}
