//! A tool: as it was read ([`Draft`]), and with every field parsed ([`Tool`]).
//!
//! Rules check drafts, because they must see mistakes; executors and the server only get tools. The
//! fields that decide whether a draft becomes a tool are those of [`Draft`] itself; a mistake in
//! [`Details`] is reported and the field left out.

use std::sync::Arc;

use crate::{
    Annotations, Binding, Capability, ContentHash, DeclaredLimits, Example, FieldValue, Icon, Json,
    Namespace, Object, Rest, Tags, ToolId, ToolName, Version,
};

/// The schema of a tool's arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSchema {
    /// The schema as it was written. It may be invalid as a schema; the checks report that.
    /// Shared, because it is most of a tool and copies of tools are common.
    Written(Arc<Json>),
    /// The definition has none, because the server or program that runs the tool has it. Until it
    /// is known, any object is accepted.
    Deferred,
}

impl From<Json> for InputSchema {
    fn from(schema: Json) -> Self {
        InputSchema::Written(Arc::new(schema))
    }
}

impl InputSchema {
    /// The schema as written, if it is.
    pub fn written(&self) -> Option<&Json> {
        match self {
            InputSchema::Written(json) => Some(json),
            InputSchema::Deferred => None,
        }
    }

    /// The schema document.
    pub fn to_json(&self) -> Json {
        self.clone().into_json()
    }

    /// The schema document by move; a copy only if another tool shares it.
    pub fn into_json(self) -> Json {
        match self {
            InputSchema::Written(json) => Arc::unwrap_or_clone(json),
            InputSchema::Deferred => serde_json::json!({"type": "object"}),
        }
    }
}

/// Whether a tool is deprecated. A message without the flag is kept, because a check reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// Whether the tool should no longer be used.
    pub deprecated: bool,
    /// What to use instead, for people and models.
    pub message: Option<String>,
}

/// The fields of a tool that are left out when they are invalid, without preventing the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The display name.
    pub title: Option<String>,
    /// Words for search.
    pub tags: Tags,
    /// Examples of calls.
    pub examples: Vec<Example>,
    /// The author's hints about its behaviour.
    pub annotations: Annotations,
    /// Images for display.
    pub icons: Vec<Icon>,
    /// Metadata without a defined meaning (`_meta` of MCP), passed on unchanged.
    pub meta: Option<Object>,
    /// Whether the tool is deprecated.
    pub deprecation: Deprecation,
    /// The limits that the tool declares.
    pub limits: DeclaredLimits,
    /// How it is run.
    pub binding: Binding,
    /// Fields that only this format has, as they were written.
    pub rest: Rest,
}

/// A tool as it was read. Each field may be missing or invalid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The name, unique in its namespace.
    pub name: FieldValue<ToolName>,
    /// A namespace of its own, in place of the toolset's.
    pub namespace: FieldValue<Namespace>,
    /// What the tool does, for the model.
    pub description: FieldValue<String>,
    /// The version of the tool, not of its toolset.
    pub version: FieldValue<Version>,
    /// The JSON Schema of the arguments.
    pub input: FieldValue<InputSchema>,
    /// The JSON Schema of the result.
    pub output: FieldValue<Json>,
    /// The capabilities that it needs, in the order in which they were written.
    pub needs: Vec<FieldValue<Capability>>,
    /// The fields that never prevent a tool.
    pub details: Details,
}

/// The draft cannot become a tool: these fields are missing or invalid. Names are for messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tool: {} missing or invalid", .0.join(", "))]
pub struct DraftError(pub Vec<&'static str>);

/// A tool all of whose fields have been parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name, unique in its namespace.
    pub name: ToolName,
    /// A namespace of its own, in place of the toolset's.
    pub namespace: Option<Namespace>,
    /// What the tool does, for the model.
    pub description: Option<String>,
    /// The version of the tool, not of its toolset.
    pub version: Option<Version>,
    /// The JSON Schema of the arguments.
    pub input: InputSchema,
    /// The JSON Schema of the result.
    pub output: Option<Json>,
    /// The capabilities that it needs, in the order in which they were written.
    pub needs: Vec<Capability>,
    /// The fields that never prevent a tool.
    pub details: Details,
    /// The hash of its definition. Set by the gate.
    pub hash: Option<ContentHash>,
}

impl Draft {
    /// Whether it has what a tool must have: [`Draft::finish`] succeeds.
    pub fn is_complete(&self) -> bool {
        self.name.ok().is_some() && self.input.ok().is_some()
    }

    /// Turns the draft into a tool, if it has a name and an input schema; otherwise the ones that
    /// it lacks are listed. Other invalid fields are left out: their findings decide before this
    /// whether the tool may be used without them.
    pub fn finish(self) -> Result<Tool, DraftError> {
        match (self.name, self.input) {
            (FieldValue::Valid(name), FieldValue::Valid(input)) => Ok(Tool {
                name,
                namespace: self.namespace.into_ok(),
                description: self.description.into_ok(),
                version: self.version.into_ok(),
                input,
                output: self.output.into_ok(),
                needs: self.needs.into_iter().filter_map(FieldValue::into_ok).collect(),
                details: self.details,
                hash: None,
            }),
            (name, input) => {
                let lacking =
                    [("name", name.ok().is_none()), ("input schema", input.ok().is_none())];
                Err(DraftError(
                    lacking.iter().filter(|(_, lacks)| *lacks).map(|(f, _)| *f).collect(),
                ))
            }
        }
    }

    /// The id in a toolset with `namespace`, if the name is valid. A namespace of the tool's own
    /// takes precedence.
    pub fn id(&self, namespace: Option<&Namespace>) -> Option<ToolId> {
        let namespace = self.namespace.ok().or(namespace).cloned();
        self.name.ok().map(|name| ToolId { namespace, name: name.clone() })
    }
}

impl Tool {
    /// The id in a toolset with `namespace`. A namespace of the tool's own takes precedence.
    pub fn id(&self, namespace: Option<&Namespace>) -> ToolId {
        ToolId {
            namespace: self.namespace.as_ref().or(namespace).cloned(),
            name: self.name.clone(),
        }
    }

    /// The name for display: the title, else the title among the annotations, else the name. The
    /// order is that of MCP.
    pub fn display_name(&self) -> &str {
        let titles = [&self.details.title, &self.details.annotations.title];
        titles.into_iter().flatten().map(String::as_str).next().unwrap_or(self.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_with_a_name_and_a_schema_becomes_a_tool() {
        let mut draft = Draft::default();
        assert_eq!(draft.clone().finish(), Err(DraftError(vec!["name", "input schema"])));
        draft.name = FieldValue::Valid(ToolName::parse("x").expect("a name"));
        draft.input = FieldValue::Invalid(Json::Null);
        assert_eq!(draft.clone().finish(), Err(DraftError(vec!["input schema"])));
        assert!(!draft.is_complete());
        draft.input = FieldValue::Valid(InputSchema::Deferred);
        draft.needs = vec![FieldValue::Invalid(Json::Null)];
        draft.version = FieldValue::Invalid(Json::Null);
        assert!(draft.is_complete());
        let mut tool = draft.finish().expect("what it needs is valid");
        assert_eq!((tool.needs.len(), &tool.version), (0, &None));
        assert_eq!(tool.display_name(), "x");
        tool.details.annotations.title = Some("From hints".into());
        assert_eq!(tool.display_name(), "From hints");
        tool.details.title = Some("Own".into());
        assert_eq!(tool.display_name(), "Own");
        let (own, set) = (Namespace::parse("own").ok(), Namespace::parse("set").ok());
        assert_eq!(tool.id(set.as_ref()).to_string(), "set:x");
        tool.namespace = own;
        assert_eq!(tool.id(set.as_ref()).to_string(), "own:x");
    }
}
