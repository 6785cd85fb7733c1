//! The two schemas of a tool (toolfoundation seed, "InputSchema / OutputSchema requirements"):
//! input required, output optional, both objects.

use serde_json::Value;

use crate::{Failures, Options, Schema, SchemaError};

/// Validates what goes into a tool and what comes out.
#[derive(Debug)]
pub struct SchemaValidator {
    input: Schema,
    output: Option<Schema>,
}

impl SchemaValidator {
    /// Compiles both schemas. Without an input schema, or with a schema that is no object, it is
    /// refused.
    pub fn new(
        input: Option<&Value>,
        output: Option<&Value>,
    ) -> Result<SchemaValidator, SchemaError> {
        SchemaValidator::with_options(input, output, &Options::default())
    }

    /// Like [`SchemaValidator::new`], with options.
    pub fn with_options(
        input: Option<&Value>,
        output: Option<&Value>,
        options: &Options,
    ) -> Result<SchemaValidator, SchemaError> {
        let input = input.ok_or_else(|| SchemaError::invalid("", "no input schema"))?;
        Ok(SchemaValidator {
            input: compile_object(input, "input", options)?,
            output: output.map(|output| compile_object(output, "output", options)).transpose()?,
        })
    }

    /// Checks the arguments of a call.
    pub fn validate_input(&self, arguments: &Value) -> Result<(), Failures> {
        self.input.validate(arguments)
    }

    /// Checks the result of a call; anything passes when there is no output schema.
    pub fn validate_output(&self, result: &Value) -> Result<(), Failures> {
        self.output.as_ref().map_or(Ok(()), |output| output.validate(result))
    }

    /// The compiled input schema.
    pub fn input(&self) -> &Schema {
        &self.input
    }

    /// The compiled output schema, if there is one.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()
    }
}

fn compile_object(schema: &Value, side: &str, options: &Options) -> Result<Schema, SchemaError> {
    if !schema.is_object() {
        return Err(SchemaError::invalid("", format!("the {side} schema of a tool is an object")));
    }
    Schema::compile_with(schema, options)
}
