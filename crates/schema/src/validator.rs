//! The one way into validation for programs: what a tool accepts, what it returns, and one value
//! against one schema (toolfoundation specification, "InputSchema / OutputSchema requirements").
//!
//! ```text
//! schema:    value, map, JSON text, compiled ─ SchemaSource ─▶ compile once ─┐
//!                                                                            ├─▶ Ok or every error
//! instance:  value, map, JSON text ────────── InstanceSource ─▶ validate ────┘
//! ```
//!
//! The two schemas of a tool are objects, the input schema is required, and without an output
//! schema every result passes. None of these rules holds for [`Schema`] itself, which also
//! accepts `true` and `false`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{
    Schema, SchemaError, SchemaOptions, SchemaSide, ToolSchemaError, ValidateError,
    ValidationError, ValidationErrors, json_text,
};

/// The compiled schemas of one tool. Compile them once, validate every call with them, from any
/// thread.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::SchemaValidator;
///
/// // Schemas and values may be decoded or JSON text, in any combination.
/// let input = r#"{
///     "type": "object",
///     "properties": { "path": { "type": "string" } },
///     "required": ["path"]
/// }"#;
/// let output = json!({ "type": "object", "required": ["size"] });
/// let validator = SchemaValidator::new(input, &output)?;
///
/// assert!(validator.validate_input(json!({ "path": "/tmp/x" })).is_ok());
/// assert!(validator.validate_output(r#"{ "size": 3 }"#).is_ok());
///
/// let errors = validator.validate_input(r#"{ "path": 7 }"#).unwrap_err();
/// assert_eq!(errors.first().instance_path, "/path");
/// assert_eq!(errors.to_string(), "`/path`: `7` is not of type `string`");
///
/// // Without an output schema every result passes; without an input schema there is no tool.
/// let validator = SchemaValidator::new(input, None::<&str>)?;
/// assert!(validator.validate_output(json!("anything")).is_ok());
/// assert!(SchemaValidator::new(None::<&str>, &output).is_err());
/// # Ok::<(), toolwright_schema::ToolSchemaError>(())
/// ```
#[derive(Debug)]
pub struct SchemaValidator {
    input: Schema,
    output: Option<Schema>,
}

impl SchemaValidator {
    /// Compiles the schemas of a tool; pass `None` for an output schema that the tool does not
    /// have.
    ///
    /// # Errors
    /// The input schema is missing, or one of the two is not an object or does not compile.
    pub fn new<'i, 'o>(
        input: impl Into<SchemaSource<'i>>,
        output: impl Into<SchemaSource<'o>>,
    ) -> Result<SchemaValidator, ToolSchemaError> {
        SchemaValidator::with_options(input, output, &SchemaOptions::default())
    }

    /// [`SchemaValidator::new`] with options. They do not change schemas that are compiled already.
    ///
    /// # Errors
    /// As for [`SchemaValidator::new`].
    pub fn with_options<'i, 'o>(
        input: impl Into<SchemaSource<'i>>,
        output: impl Into<SchemaSource<'o>>,
        options: &SchemaOptions,
    ) -> Result<SchemaValidator, ToolSchemaError> {
        let (input, output) = (input.into(), output.into());
        let input = compile_object(input, SchemaSide::Input, options)?;
        let output = match output {
            SchemaSource::Missing => None,
            output => Some(compile_object(output, SchemaSide::Output, options)?),
        };
        Ok(SchemaValidator { input, output })
    }

    /// Validates the arguments of a call.
    ///
    /// # Errors
    /// Everything wrong with them.
    #[inline]
    pub fn validate_input<'a>(
        &self,
        arguments: impl Into<InstanceSource<'a>>,
    ) -> Result<(), ValidationErrors> {
        validate_source(&self.input, arguments.into())
    }

    /// Whether arguments match, without the reasons.
    #[inline]
    pub fn accepts_input(&self, arguments: &Value) -> bool {
        self.input.is_valid(arguments)
    }

    /// Whether a result matches, without the reasons. Without an output schema every result does.
    #[inline]
    pub fn accepts_output(&self, result: &Value) -> bool {
        self.output.as_ref().is_none_or(|output| output.is_valid(result))
    }

    /// Whether [`SchemaValidator::accepts_input`] takes less than about a millisecond for all
    /// arguments whose JSON text has `bytes` bytes.
    pub fn is_quick_for_input(&self, bytes: usize) -> bool {
        self.input.is_quick_for(bytes)
    }

    /// Whether [`SchemaValidator::accepts_output`] takes less than about a millisecond for all
    /// results whose JSON text has `bytes` bytes.
    pub fn is_quick_for_output(&self, bytes: usize) -> bool {
        self.output.as_ref().is_none_or(|output| output.is_quick_for(bytes))
    }

    /// Validates the result of a call. Without an output schema every result passes, even text that
    /// is not JSON.
    ///
    /// # Errors
    /// Everything wrong with it.
    #[inline]
    pub fn validate_output<'a>(
        &self,
        result: impl Into<InstanceSource<'a>>,
    ) -> Result<(), ValidationErrors> {
        match &self.output {
            Some(output) => validate_source(output, result.into()),
            None => Ok(()),
        }
    }

    /// Whether results are validated.
    pub fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Validates one value against one schema, which is compiled for this call alone. The schema
    /// may be `true` or `false`, because it need not be a tool's.
    ///
    /// ```
    /// use toolwright_schema::{SchemaValidator, ValidateError};
    ///
    /// assert!(SchemaValidator::validate(r#"{ "type": "string" }"#, r#""text""#).is_ok());
    /// let error = SchemaValidator::validate(r#"{ "type": "text" }"#, "1").unwrap_err();
    /// assert!(matches!(error, ValidateError::Schema(error) if error.at() == "/type"));
    /// ```
    ///
    /// # Errors
    /// The schema does not compile, or the instance does not match it.
    pub fn validate<'s, 'i>(
        schema: impl Into<SchemaSource<'s>>,
        instance: impl Into<InstanceSource<'i>>,
    ) -> Result<(), ValidateError> {
        SchemaValidator::validate_with(schema, instance, &SchemaOptions::default())
    }

    /// [`SchemaValidator::validate`] with options.
    ///
    /// # Errors
    /// As for [`SchemaValidator::validate`].
    pub fn validate_with<'s, 'i>(
        schema: impl Into<SchemaSource<'s>>,
        instance: impl Into<InstanceSource<'i>>,
        options: &SchemaOptions,
    ) -> Result<(), ValidateError> {
        let schema = compile(schema.into(), options)?;
        Ok(validate_source(&schema, instance.into())?)
    }
}

/// A schema in one of the representations that the toolfoundation specification accepts. Functions
/// take `impl Into<SchemaSource>`, so callers rarely name it.
///
/// | specification | here |
/// |---|---|
/// | `map[string]any` | `Value`, `Map<String, Value>`, owned or borrowed |
/// | `json.RawMessage`, `[]byte` | `&str`, `&[u8]`: JSON text |
/// | `*jsonschema.Schema` | [`Schema`] |
/// | `nil` | `None` |
///
/// There is no conversion from `serde_json`'s `RawValue`: its feature makes every parser of the
/// program treat one magic key of untrusted documents specially. Pass `raw.get()` instead.
#[derive(Debug)]
pub enum SchemaSource<'a> {
    /// No schema.
    Missing,
    /// A decoded schema. An owned one is compiled without a copy.
    Value(Cow<'a, Value>),
    /// JSON text. Names that appear twice in an object are an error.
    Text(&'a [u8]),
    /// A compiled schema, used as it is.
    Compiled(Box<Schema>),
}

/// A value to validate: a `Value` or a `Map<String, Value>`, or JSON text as `&str` or `&[u8]`.
/// Functions take `impl Into<InstanceSource>`, so callers rarely name it.
///
/// A `&str` is always JSON text: the string `a` is `"\"a\""`, or `&json!("a")`. A borrowed `Value`
/// is not copied; a borrowed `Map` is, because the validator needs a `Value`.
#[derive(Debug)]
pub enum InstanceSource<'a> {
    /// A decoded value.
    Value(Cow<'a, Value>),
    /// JSON text. Names that appear twice in an object are an error.
    Text(&'a [u8]),
}

/// Implements the conversions that both sources have.
macro_rules! accept {
    ($($type:ty: $source:ident => $variant:ident($converted:expr);)*) => {$(
        impl<'a> From<$type> for SchemaSource<'a> {
            #[inline]
            fn from($source: $type) -> SchemaSource<'a> {
                SchemaSource::$variant($converted)
            }
        }

        impl<'a> From<$type> for InstanceSource<'a> {
            #[inline]
            fn from($source: $type) -> InstanceSource<'a> {
                InstanceSource::$variant($converted)
            }
        }
    )*};
}

accept! {
    &'a Value: value => Value(Cow::Borrowed(value));
    Value: value => Value(Cow::Owned(value));
    &'a Map<String, Value>: map => Value(Cow::Owned(Value::Object(map.clone())));
    Map<String, Value>: map => Value(Cow::Owned(Value::Object(map)));
    &'a str: text => Text(text.as_bytes());
    &'a [u8]: text => Text(text);
}

impl From<Schema> for SchemaSource<'_> {
    fn from(schema: Schema) -> Self {
        SchemaSource::Compiled(Box::new(schema))
    }
}

impl<'a, T: Into<SchemaSource<'a>>> From<Option<T>> for SchemaSource<'a> {
    fn from(schema: Option<T>) -> SchemaSource<'a> {
        schema.map_or(SchemaSource::Missing, Into::into)
    }
}

/// Compiles a schema of a tool, which has to be an object.
fn compile_object(
    source: SchemaSource<'_>,
    side: SchemaSide,
    options: &SchemaOptions,
) -> Result<Schema, ToolSchemaError> {
    let word = match side {
        SchemaSide::Input => "input",
        SchemaSide::Output => "output",
    };
    let error = |error| ToolSchemaError { side, error };
    if matches!(source, SchemaSource::Missing) {
        return Err(error(SchemaError::invalid("", format!("no {word} schema"))));
    }
    let not_an_object =
        || SchemaError::invalid("", format!("the {word} schema of a tool is an object"));
    // Before compiling, so that the message for `null` names the side as well.
    if matches!(&source, SchemaSource::Value(value) if !value.is_object()) {
        return Err(error(not_an_object()));
    }
    let schema = compile(source, options).map_err(error)?;
    if schema.is_object() { Ok(schema) } else { Err(error(not_an_object())) }
}

/// Compiles a schema from any representation.
fn compile(source: SchemaSource<'_>, options: &SchemaOptions) -> Result<Schema, SchemaError> {
    match source {
        SchemaSource::Missing => Err(SchemaError::invalid("", "no schema")),
        SchemaSource::Value(value) => Schema::compile_cow(value, options),
        SchemaSource::Text(text) => {
            let value = json_text::decode(text).map_err(|error| SchemaError::invalid("", error))?;
            Schema::compile_cow(Cow::Owned(value), options)
        }
        SchemaSource::Compiled(schema) => Ok(*schema),
    }
}

/// Validates an instance in any representation. Inlined, so that for a borrowed value nothing of
/// the conversion is left.
#[inline]
fn validate_source(schema: &Schema, instance: InstanceSource<'_>) -> Result<(), ValidationErrors> {
    match instance {
        InstanceSource::Value(value) => schema.validate(&value),
        InstanceSource::Text(text) => {
            let value = json_text::decode(text).map_err(|error| {
                ValidationErrors::single(ValidationError::without_keyword(error))
            })?;
            schema.validate(&value)
        }
    }
}
