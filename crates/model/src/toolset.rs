//! What one document or one server defines.

use std::sync::Arc;

use crate::{
    Capability, Conventions, DeclaredLimits, Draft, Example, FieldValue, Knowledge, Namespace,
    Rest, Server, Tool, Version,
};

/// Who offers a toolset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Display name.
    pub name: Option<String>,
    /// Web site.
    pub url: Option<String>,
    /// Where to write to.
    pub contact: Option<String>,
    /// An image.
    pub icon: Option<String>,
}

/// Tools that belong together, as drafts or as finished tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Toolset<T = Tool> {
    /// What the ids of its tools start with.
    pub namespace: FieldValue<Namespace>,
    /// Display name.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The version of the whole; its tools do not inherit it.
    pub version: FieldValue<Version>,
    /// Who offers it.
    pub provider: Option<Provider>,
    /// The capabilities it declares for all its tools.
    pub declares: Option<Vec<FieldValue<Capability>>>,
    /// What its format demands of names, examples and schemas.
    pub conventions: &'static Conventions,
    /// What holds for a tool that does not say otherwise.
    pub limits: DeclaredLimits,
    /// The server that its tools are on, where the definition names one for all.
    pub server: Option<Arc<Server>>,
    /// What it knows about its tools.
    pub knowledge: Knowledge,
    /// The tools, in order.
    pub tools: Vec<T>,
    /// Examples for commands that it does not define.
    pub stray_examples: Vec<(String, Vec<Example>)>,
    /// Fields that only its format knows.
    pub rest: Rest,
}

impl<T> Default for Toolset<T> {
    fn default() -> Self {
        Toolset {
            namespace: FieldValue::Missing,
            title: None,
            description: None,
            version: FieldValue::Missing,
            provider: None,
            declares: None,
            conventions: &Conventions::NONE,
            limits: DeclaredLimits::default(),
            server: None,
            knowledge: Knowledge::default(),
            tools: Vec::new(),
            stray_examples: Vec::new(),
            rest: Rest::default(),
        }
    }
}

impl Toolset<Draft> {
    /// The validators of a command, in order.
    pub fn validators_of<'a>(
        &'a self,
        command: &'a str,
    ) -> impl Iterator<Item = &'a crate::Validator> {
        self.knowledge.validators.iter().filter(move |v| v.validates.as_deref() == Some(command))
    }
}
