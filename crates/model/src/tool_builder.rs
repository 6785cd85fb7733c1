//! Tools that are written in Rust: a builder for a [`Tool`], and one for its schemas. What a
//! [`Tool`] cannot hold is refused; whether a schema is a good one is for the crates `schema` and
//! `check`.
//!
//! There are three ways to write the schema of the arguments, from the safest to the most general.
//!
//! **By a type** that derives `schemars::JsonSchema`. The schema and the code that reads the
//! arguments cannot disagree. No feature is needed: a schema of `schemars` is a value.
//!
//! ```
//! use schemars::{JsonSchema, schema_for};
//! use toolwright_model::Tool;
//!
//! /// Where to read.
//! #[derive(JsonSchema)]
//! #[schemars(deny_unknown_fields)]
//! #[allow(dead_code)]
//! struct ReadFile {
//!     /// The file, relative to the folder
//!     path: String,
//!     /// The most lines to return
//!     #[schemars(range(min = 1))]
//!     limit: Option<u32>,
//! }
//!
//! let tool = Tool::builder("read_file")
//!     .namespace("fs")
//!     .version("1.0.0")
//!     .description("Reads a text file below the folder")
//!     .input(schema_for!(ReadFile))
//!     .build()?;
//! let schema = tool.input.to_json();
//! assert_eq!(schema["required"], serde_json::json!(["path"]));
//! assert_eq!(schema["properties"]["limit"]["minimum"], 1);
//! # Ok::<(), toolwright_model::ToolBuildError>(())
//! ```
//!
//! **By a builder**, for what a type cannot say:
//!
//! ```
//! use toolwright_model::{SchemaBuilder, Tool};
//!
//! let mode = SchemaBuilder::one_of([
//!     SchemaBuilder::string().choices(["fast", "safe"]),
//!     SchemaBuilder::integer().minimum(1).maximum(10),
//! ]);
//! let input = SchemaBuilder::object()
//!     .required("path", SchemaBuilder::string().description("The file").min_length(1))
//!     .optional("mode", mode.description("How to read"))
//!     .closed();
//! let tool = Tool::builder("read_file").input(input).build()?;
//! assert_eq!(tool.input.to_json()["properties"]["mode"]["oneOf"][1]["maximum"], 10);
//! # Ok::<(), toolwright_model::ToolBuildError>(())
//! ```
//!
//! **By JSON**, for everything else:
//!
//! ```
//! use serde_json::json;
//! use toolwright_model::Tool;
//!
//! let tool = Tool::builder("now").input(json!({"type": "object", "additionalProperties": false}));
//! assert_eq!(tool.build()?.id(None).to_string(), "now");
//! // A tool without arguments can leave it out.
//! assert!(Tool::builder("now").build().is_ok());
//! # Ok::<(), toolwright_model::ToolBuildError>(())
//! ```

use crate::{
    Annotations, Capability, Details, Json, NameError, Namespace, NamespaceError, Object, Tags,
    Tool, ToolName, Version, VersionError,
};

/// Why a tool cannot be built. Each text says which field it is about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolBuildError {
    /// The name is not one.
    #[error("the name of a tool: {0}")]
    Name(#[from] NameError),
    /// The namespace is not one.
    #[error("the namespace of a tool: {0}")]
    Namespace(#[from] NamespaceError),
    /// The version is not a semantic version.
    #[error("the version of a tool: {0}")]
    Version(#[from] VersionError),
    /// A capability is not one: this text.
    #[error("`{0}` is not a capability: it has two or three lower-case words joined by `:`")]
    Capability(String),
    /// The schema at this field is not an object. `true` and `false` are schemas, but not of a
    /// tool.
    #[error("the `{0}` of a tool has to be an object")]
    Schema(&'static str),
}

impl Tool {
    /// Starts a tool with this name, which takes nothing until it has an input schema.
    pub fn builder(name: impl Into<String>) -> ToolRecordBuilder {
        ToolRecordBuilder {
            name: name.into(),
            namespace: None,
            version: None,
            description: None,
            input: None,
            output: None,
            capabilities: Vec::new(),
            details: Details::default(),
        }
    }
}

/// Builds a [`Tool`]. Everything is checked by [`ToolRecordBuilder::build`].
#[derive(Clone, Debug)]
pub struct ToolRecordBuilder {
    name: String,
    namespace: Option<String>,
    version: Option<String>,
    description: Option<String>,
    input: Option<Json>,
    output: Option<Json>,
    capabilities: Vec<String>,
    details: Details,
}

impl ToolRecordBuilder {
    /// Sets the first part of its id.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets its version, such as `1.2.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets its display name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.details.title = Some(title.into());
        self
    }

    /// Sets what it does and when to use it, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the schema of its arguments: a schema of `schemars`, a [`SchemaBuilder`], or JSON.
    #[must_use]
    pub fn input(mut self, schema: impl Into<Json>) -> Self {
        self.input = Some(schema.into());
        self
    }

    /// Sets the schema of its result, in the same three forms.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Json>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// Adds a capability that it needs, such as `dom:read`.
    #[must_use]
    pub fn needs(mut self, capability: impl Into<String>) -> Self {
        self.capabilities.push(capability.into());
        self
    }

    /// Sets the words that it is found by. They are normalised.
    #[must_use]
    pub fn tags<Tag: Into<String>>(mut self, tags: impl IntoIterator<Item = Tag>) -> Self {
        self.details.tags = Tags::new(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the hints about its behaviour.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.details.annotations = annotations;
        self
    }

    /// Finishes the tool.
    ///
    /// # Errors
    /// The first field that a tool cannot have.
    ///
    /// ```
    /// use toolwright_model::Tool;
    ///
    /// let error = Tool::builder("read file").build().unwrap_err();
    /// assert_eq!(error.to_string(), "the name of a tool: a name may not contain ` `");
    /// let error = Tool::builder("read").input(true).build().unwrap_err();
    /// assert_eq!(error.to_string(), "the `inputSchema` of a tool has to be an object");
    /// ```
    pub fn build(self) -> Result<Tool, ToolBuildError> {
        let object = |field: &'static str, schema: Json| match schema {
            Json::Object(_) => Ok(schema),
            _ => Err(ToolBuildError::Schema(field)),
        };
        let capability = |text: &String| {
            Capability::parse(text).map_err(|_| ToolBuildError::Capability(text.clone()))
        };
        let input = self.input.unwrap_or_else(|| SchemaBuilder::object().closed().into());
        Ok(Tool {
            name: ToolName::parse(&self.name)?,
            namespace: self.namespace.as_deref().map(Namespace::parse).transpose()?,
            description: self.description,
            version: self.version.as_deref().map(Version::parse).transpose()?,
            input: object("inputSchema", input)?.into(),
            output: self.output.map(|schema| object("outputSchema", schema)).transpose()?,
            needs: self.capabilities.iter().map(capability).collect::<Result<_, _>>()?,
            details: self.details,
            hash: None,
        })
    }
}

/// Builds a JSON Schema, keyword by keyword. It has the keywords that tools use most; `keyword`
/// adds any other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaBuilder(Object);

impl SchemaBuilder {
    /// A schema that accepts everything.
    pub fn any() -> Self {
        SchemaBuilder::default()
    }

    fn of_type(name: &str) -> Self {
        SchemaBuilder::any().keyword("type", name)
    }

    /// A string.
    pub fn string() -> Self {
        SchemaBuilder::of_type("string")
    }

    /// A number.
    pub fn number() -> Self {
        SchemaBuilder::of_type("number")
    }

    /// A number without a fraction.
    pub fn integer() -> Self {
        SchemaBuilder::of_type("integer")
    }

    /// `true` or `false`.
    pub fn boolean() -> Self {
        SchemaBuilder::of_type("boolean")
    }

    /// An object; [`SchemaBuilder::required`] and [`SchemaBuilder::optional`] add its members.
    pub fn object() -> Self {
        SchemaBuilder::of_type("object")
    }

    /// A list of such items.
    pub fn list(items: SchemaBuilder) -> Self {
        SchemaBuilder::of_type("array").keyword("items", items)
    }

    /// What exactly one of the schemas accepts.
    pub fn one_of(schemas: impl IntoIterator<Item = SchemaBuilder>) -> Self {
        SchemaBuilder::any().keyword("oneOf", branches(schemas))
    }

    /// What at least one of the schemas accepts.
    pub fn any_of(schemas: impl IntoIterator<Item = SchemaBuilder>) -> Self {
        SchemaBuilder::any().keyword("anyOf", branches(schemas))
    }

    /// Sets a keyword to a value.
    #[must_use]
    pub fn keyword(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Sets what the value is for, for the model.
    #[must_use]
    pub fn description(self, text: impl Into<String>) -> Self {
        self.keyword("description", text.into())
    }

    /// Sets the value that is meant if none is given.
    #[must_use]
    pub fn default_value(self, value: impl Into<Json>) -> Self {
        self.keyword("default", value)
    }

    /// Allows only these values.
    #[must_use]
    pub fn choices<Value: Into<Json>>(self, values: impl IntoIterator<Item = Value>) -> Self {
        self.keyword("enum", values.into_iter().map(Into::into).collect::<Vec<Json>>())
    }

    /// Sets the least number.
    #[must_use]
    pub fn minimum(self, least: impl Into<Json>) -> Self {
        self.keyword("minimum", least)
    }

    /// Sets the greatest number.
    #[must_use]
    pub fn maximum(self, greatest: impl Into<Json>) -> Self {
        self.keyword("maximum", greatest)
    }

    /// Sets the least number of characters.
    #[must_use]
    pub fn min_length(self, least: u64) -> Self {
        self.keyword("minLength", least)
    }

    /// Sets the greatest number of characters.
    #[must_use]
    pub fn max_length(self, greatest: u64) -> Self {
        self.keyword("maxLength", greatest)
    }

    /// Sets the regular expression that a string matches.
    #[must_use]
    pub fn pattern(self, pattern: impl Into<String>) -> Self {
        self.keyword("pattern", pattern.into())
    }

    /// Adds a member that must be there.
    #[must_use]
    pub fn required(self, name: &str, schema: SchemaBuilder) -> Self {
        let mut builder = self.optional(name, schema);
        match builder.0.get_mut("required") {
            Some(Json::Array(names)) => names.push(name.into()),
            _ => drop(builder.0.insert("required".to_owned(), Json::from(vec![name]))),
        }
        builder
    }

    /// Adds a member that may be there.
    #[must_use]
    pub fn optional(mut self, name: &str, schema: SchemaBuilder) -> Self {
        let members = self.0.entry("properties").or_insert_with(|| Json::Object(Object::new()));
        if let Json::Object(members) = members {
            members.insert(name.to_owned(), schema.into());
        }
        self
    }

    /// Allows no other members.
    #[must_use]
    pub fn closed(self) -> Self {
        self.keyword("additionalProperties", false)
    }
}

fn branches(schemas: impl IntoIterator<Item = SchemaBuilder>) -> Vec<Json> {
    schemas.into_iter().map(Json::from).collect()
}

impl From<SchemaBuilder> for Json {
    fn from(builder: SchemaBuilder) -> Json {
        Json::Object(builder.0)
    }
}
