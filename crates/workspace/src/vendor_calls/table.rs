//! The table of a conversion: which tool of the source a name means, and how its arguments are
//! turned back.
//!
//! ```text
//! the model calls   notes__add {"entries": [{"key": "a", "value": 1}]}
//! the table         name ─▶ id `notes:add`, steps
//! the source        notes:add {"a": 1}
//! ```
//!
//! A table is made by a conversion, or again from the same tools: names and steps are
//! deterministic. `convert --session` writes it to a file for programs that do not have the source.

use std::collections::HashMap;

use serde_json::json;
use toolwright_formats::WriteTarget;
use toolwright_model::{Json, Version};
use toolwright_schema::{RestoreStep, VendorTarget, restore, rewrite_for};
use toolwright_source::words::nearest;

use super::VendorCall;
use crate::convert::VersionedId;
use crate::{ConvertedTool, convert};

/// The only version of the file so far.
const VERSION: u64 = 1;

/// The names of a conversion, and the steps of each tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTable {
    target: WriteTarget,
    tools: Vec<ConvertedTool>,
    /// The number of each tool, by name.
    numbers: HashMap<String, usize>,
}

/// A call of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredCall {
    /// The id of the tool, with its version if the conversion has several of them.
    pub id: String,
    /// The arguments, a JSON object as text. Where nothing was to restore, it is the caller's own.
    pub arguments: String,
}

/// Why a call does not mean one of the source. The message is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No tool has this name; another one has a similar name.
    #[error("there is no tool `{0}`{hint}", hint = hint(.1.as_deref()))]
    UnknownTool(String, Option<String>),
    /// The arguments are not a JSON object, or something in them has no counterpart.
    #[error("the arguments are {0}")]
    BadArguments(String),
}

fn hint(similar: Option<&str>) -> String {
    similar.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Why a file is not the table of a conversion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SessionError(String);

impl CallTable {
    /// The table of converted tools.
    pub fn new(target: WriteTarget, tools: Vec<ConvertedTool>) -> CallTable {
        let numbers = tools.iter().enumerate().map(|(n, tool)| (tool.name.clone(), n)).collect();
        CallTable { target, tools, numbers }
    }

    /// The table that converting these tools for a vendor gives: the id, the version and the input
    /// schema of each.
    pub fn of_tools<'t>(
        target: VendorTarget,
        tools: impl Iterator<Item = (String, Option<&'t Version>, Option<&'t Json>)>,
    ) -> CallTable {
        let tools = tools.map(|(id, version, schema)| ((id.into(), version), schema));
        let (ids, schemas): (Vec<VersionedId<'_>>, Vec<Option<&Json>>) = tools.unzip();
        let names = convert::names_for(&ids, WriteTarget::Vendor(target));
        let ids = convert::with_versions(ids);
        let tools = ids.into_iter().zip(names).zip(schemas).map(|((id, name), schema)| {
            let steps = schema.map(|schema| rewrite_for(target, schema).steps).unwrap_or_default();
            ConvertedTool { id, name, steps }
        });
        CallTable::new(WriteTarget::Vendor(target), tools.collect())
    }

    /// The target that the tools were written for.
    pub fn target(&self) -> WriteTarget {
        self.target
    }

    /// Which tool a call means, and its arguments there.
    ///
    /// # Errors
    /// No tool has the name, or the arguments are not a JSON object that can be restored.
    pub fn restore(&self, call: &VendorCall) -> Result<RestoredCall, CallError> {
        let Some(tool) = self.numbers.get(&call.name).map(|n| &self.tools[*n]) else {
            let similar = nearest(&call.name, self.tools.iter().map(|tool| tool.name.as_str()));
            return Err(CallError::UnknownTool(call.name.clone(), similar.map(str::to_owned)));
        };
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let value = toolwright_schema::decode(text.as_bytes()).map_err(CallError::BadArguments)?;
        if !value.is_object() {
            return Err(CallError::BadArguments("not a JSON object".to_owned()));
        }
        // Without steps the text stays, because numbers may have more digits than a value holds.
        let arguments = match tool.steps.as_slice() {
            [] => text.to_owned(),
            steps => {
                let restored = restore(steps, value)
                    .map_err(|error| CallError::BadArguments(format!("not usable: {error}")))?;
                // Where the whole call is sent as JSON text, a text may be anything.
                if !restored.is_object() {
                    return Err(CallError::BadArguments(
                        "not the text of a JSON object".to_owned(),
                    ));
                }
                restored.to_string()
            }
        };
        Ok(RestoredCall { id: tool.id.clone(), arguments })
    }

    /// The table as the file of `convert --session`.
    pub fn to_json(&self) -> Json {
        let tool = |tool: &ConvertedTool| {
            let steps: Vec<Json> = tool.steps.iter().map(RestoreStep::to_json).collect();
            json!({"id": tool.id, "name": tool.name, "steps": steps})
        };
        json!({
            "version": VERSION, "target": self.target.id(),
            "tools": self.tools.iter().map(tool).collect::<Vec<_>>(),
        })
    }

    /// Reads what [`CallTable::to_json`] writes.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_json(session: &Json) -> Result<CallTable, SessionError> {
        let wrong =
            |what: String| SessionError(format!("not a file of `convert --session`: {what}"));
        if session.get("version").and_then(Json::as_u64) != Some(VERSION) {
            return Err(wrong(format!("`version` is not {VERSION}")));
        }
        let target = session.get("target").and_then(Json::as_str).and_then(WriteTarget::by_id);
        let target = target.ok_or_else(|| wrong("`target` is not a target".to_owned()))?;
        let tools = session.get("tools").and_then(Json::as_array);
        let tools = tools.ok_or_else(|| wrong("`tools` is not a list".to_owned()))?;
        let tool = |(n, tool): (usize, &Json)| {
            let text = |key: &str| {
                let text = tool.get(key).and_then(Json::as_str).map(str::to_owned);
                text.ok_or_else(|| wrong(format!("tool {} has no `{key}`", n + 1)))
            };
            let steps = tool.get("steps").and_then(Json::as_array).into_iter().flatten();
            let steps = steps.map(RestoreStep::from_json).collect::<Result<Vec<_>, _>>();
            let steps =
                steps.map_err(|error| wrong(format!("a step of tool {}: {error}", n + 1)))?;
            Ok(ConvertedTool { id: text("id")?, name: text("name")?, steps })
        };
        let tools = tools.iter().enumerate().map(tool).collect::<Result<Vec<_>, _>>()?;
        Ok(CallTable::new(target, tools))
    }
}
