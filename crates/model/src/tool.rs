//! A tool: as it was read ([`Draft`]) and as it can be relied on ([`Tool`]).

use crate::{
    Annotations, Binding, Capability, DeclaredLimits, Example, FieldValue, Icon, Json, Namespace,
    Object, Rest, Tags, ToolId, ToolName, Version,
};

/// The schema of a tool's arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSchema {
    /// As written.
    Written(Json),
    /// Not written: whoever runs the tool will say. Until then it is any object.
    Deferred,
}

impl InputSchema {
    /// The schema of a tool without parameters.
    pub fn no_parameters() -> InputSchema {
        InputSchema::Written(serde_json::json!({"type": "object", "additionalProperties": false}))
    }

    /// The schema as written, if it is.
    pub fn written(&self) -> Option<&Json> {
        match self {
            InputSchema::Written(json) => Some(json),
            InputSchema::Deferred => None,
        }
    }

    /// The schema document.
    pub fn to_json(&self) -> Json {
        match self {
            InputSchema::Written(json) => json.clone(),
            InputSchema::Deferred => serde_json::json!({"type": "object"}),
        }
    }
}

/// A note that a tool should no longer be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// What to use instead.
    pub message: Option<String>,
}

/// The parts of a tool that are simply not there when they are bad.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Display name.
    pub title: Option<String>,
    /// Words to find it by.
    pub tags: Tags,
    /// Calls that show how it is used.
    pub examples: Vec<Example>,
    /// Hints about its behaviour.
    pub annotations: Annotations,
    /// Images that stand for it.
    pub icons: Vec<Icon>,
    /// Free metadata.
    pub meta: Option<Object>,
    /// Whether it is on its way out.
    pub deprecation: Deprecation,
    /// What it asks for.
    pub limits: DeclaredLimits,
    /// How it is run.
    pub binding: Binding,
    /// Fields that only its format knows.
    pub rest: Rest,
}

/// A tool as it was read, where a field may be missing or bad.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name.
    pub name: FieldValue<ToolName>,
    /// A namespace of its own; otherwise the toolset's holds.
    pub namespace: FieldValue<Namespace>,
    /// What it does.
    pub description: FieldValue<String>,
    /// Its own version.
    pub version: FieldValue<Version>,
    /// The schema of its arguments.
    pub input: FieldValue<InputSchema>,
    /// The schema of its result.
    pub output: FieldValue<Json>,
    /// What it needs, in the order written.
    pub needs: Vec<FieldValue<Capability>>,
    /// Everything else.
    pub details: Details,
}

/// A draft that is not a tool yet: these fields are missing or bad.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tool: {} missing or bad", .0.join(", "))]
pub struct DraftError(pub Vec<&'static str>);

/// A tool whose every field has been parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// A namespace of its own; otherwise the toolset's holds.
    pub namespace: Option<Namespace>,
    /// What it does.
    pub description: Option<String>,
    /// Its own version.
    pub version: Option<Version>,
    /// The schema of its arguments.
    pub input: InputSchema,
    /// The schema of its result.
    pub output: Option<Json>,
    /// What it needs, in the order written.
    pub needs: Vec<Capability>,
    /// Everything else.
    pub details: Details,
}

impl Draft {
    /// The tool, if nothing is in the way.
    pub fn finish(self) -> Result<Tool, DraftError> {
        let bad = [
            ("name", self.name.ok().is_none()),
            ("namespace", self.namespace.is_invalid()),
            ("description", self.description.is_invalid()),
            ("version", self.version.is_invalid()),
            ("input schema", self.input.ok().is_none()),
            ("output schema", self.output.is_invalid()),
            ("capabilities", self.needs.iter().any(|need| need.ok().is_none())),
        ];
        let names: Vec<_> = bad.iter().filter(|(_, bad)| *bad).map(|(name, _)| *name).collect();
        match (self.name, self.input) {
            (FieldValue::Valid(name), FieldValue::Valid(input)) if names.is_empty() => Ok(Tool {
                name,
                namespace: self.namespace.into_ok(),
                description: self.description.into_ok(),
                version: self.version.into_ok(),
                input,
                output: self.output.into_ok(),
                needs: self.needs.into_iter().filter_map(FieldValue::into_ok).collect(),
                details: self.details,
            }),
            _ => Err(DraftError(names)),
        }
    }

    /// The id in a toolset with `namespace`, if the name is good.
    pub fn id(&self, namespace: Option<&Namespace>) -> Option<ToolId> {
        let namespace = self.namespace.ok().or(namespace).cloned();
        self.name.ok().map(|name| ToolId { namespace, name: name.clone() })
    }
}

impl Tool {
    /// The id in a toolset with `namespace`; a namespace of its own comes first.
    pub fn id(&self, namespace: Option<&Namespace>) -> ToolId {
        ToolId {
            namespace: self.namespace.as_ref().or(namespace).cloned(),
            name: self.name.clone(),
        }
    }

    /// What to call it in front of people.
    pub fn display_name(&self) -> &str {
        let titles = [&self.details.title, &self.details.annotations.title];
        titles.into_iter().flatten().map(String::as_str).next().unwrap_or(self.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_without_mistakes_becomes_a_tool() {
        let mut draft = Draft::default();
        assert_eq!(draft.clone().finish(), Err(DraftError(vec!["name", "input schema"])));
        draft.name = FieldValue::Valid(ToolName::parse("x").expect("a name"));
        draft.input = FieldValue::Valid(InputSchema::Deferred);
        draft.needs = vec![FieldValue::Invalid(Json::Null)];
        assert_eq!(draft.clone().finish(), Err(DraftError(vec!["capabilities"])));
        draft.needs.clear();
        let mut tool = draft.finish().expect("nothing is in the way");
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
