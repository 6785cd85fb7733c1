//! A toolset: the tools that one document or one server defines, and what they have in common.
//!
//! The type is generic over the tool. A reader makes a toolset of drafts, in which anything may be
//! missing or wrong; the gate of the catalog turns it into one of finished tools. Everything about
//! the toolset as a whole is the same in both.

use std::sync::Arc;

use crate::{
    Capability, ContentHash, Conventions, DeclaredLimits, Draft, DraftError, Example, FieldValue,
    Knowledge, Namespace, Rest, Server, Tool, Version,
};

/// Who publishes a toolset. For display only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// The display name.
    pub name: Option<String>,
    /// The URL of the web site.
    pub url: Option<String>,
    /// An address for questions, in any form.
    pub contact: Option<String>,
    /// The URL of an image.
    pub icon: Option<String>,
}

/// Tools of one document or server, as drafts or as finished tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Toolset<T = Tool> {
    /// The namespace of its tools, unless a tool has its own.
    pub namespace: FieldValue<Namespace>,
    /// The display name.
    pub title: Option<String>,
    /// What the tools are for.
    pub description: Option<String>,
    /// The version of the toolset. Tools do not inherit it.
    pub version: FieldValue<Version>,
    /// Who publishes it.
    pub provider: Option<Provider>,
    /// The capabilities that it declares for all its tools; `None` if the format or the document
    /// has no such list, which differs from an empty one.
    pub declares: Option<Vec<FieldValue<Capability>>>,
    /// What a server says about the use of its tools as a whole.
    pub instructions: Option<String>,
    /// The hash of the whole definition. Set by the gate, and `None` in a draft.
    pub hash: Option<ContentHash>,
    /// What its format demands of names, examples and schemas.
    pub conventions: &'static Conventions,
    /// The limits of tools that declare none.
    pub limits: DeclaredLimits,
    /// The MCP server of its tools, if the definition names one for all.
    pub server: Option<Arc<Server>>,
    /// Functions and prose about its tools.
    pub knowledge: Knowledge,
    /// The tools in the order of the document.
    pub tools: Vec<T>,
    /// Examples of commands that it does not define, by command. A check reports them.
    pub stray_examples: Vec<(String, Vec<Example>)>,
    /// Fields that only this format has, as they were written.
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
            instructions: None,
            hash: None,
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

impl<T> Toolset<T> {
    /// The same toolset with other tools.
    pub fn with_tools<U>(self, tools: Vec<U>) -> Toolset<U> {
        Toolset {
            namespace: self.namespace,
            title: self.title,
            description: self.description,
            version: self.version,
            provider: self.provider,
            declares: self.declares,
            instructions: self.instructions,
            hash: self.hash,
            conventions: self.conventions,
            limits: self.limits,
            server: self.server,
            knowledge: self.knowledge,
            tools,
            stray_examples: self.stray_examples,
            rest: self.rest,
        }
    }
}

impl Toolset<Draft> {
    /// Turns all drafts into tools.
    ///
    /// # Errors
    /// If one of them cannot become a tool: the first one.
    pub fn finish(mut self) -> Result<Toolset<Tool>, DraftError> {
        let tools = std::mem::take(&mut self.tools);
        let tools = tools.into_iter().map(Draft::finish).collect::<Result<Vec<Tool>, _>>()?;
        Ok(self.with_tools(tools))
    }

    /// The capabilities that it declares for all its tools, and those of each tool.
    pub fn declared_capabilities(&self) -> impl Iterator<Item = &Capability> {
        let of_tools = self.tools.iter().flat_map(|tool| &tool.needs);
        self.declares.iter().flatten().chain(of_tools).filter_map(FieldValue::ok)
    }

    /// The validators of a command, in the order in which they run.
    pub fn validators_of<'a>(
        &'a self,
        command: &'a str,
    ) -> impl Iterator<Item = &'a crate::Validator> {
        self.knowledge.validators.iter().filter(move |v| v.validates.as_deref() == Some(command))
    }
}
