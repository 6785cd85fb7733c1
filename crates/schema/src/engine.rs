//! The one place that compiles and runs the `jsonschema` crate (`meter` implements its node traits,
//! `message` words its errors, `graph` shares its resolver).

use jsonschema::json::Json;
use jsonschema::{PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator};
use referencing::SPECIFICATIONS;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::limits::{BACKTRACK_LIMITS, LARGE_PATTERN_BYTES, PATTERN_BYTES};
use crate::meter::{Meter, Metered, Spent, metered};
use crate::{Dialect, Failure, Formats, SchemaError, graph, message};

/// What both compilations of a schema share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub dialect: Dialect,
    pub formats: Formats,
    /// Backtracking steps a match may take.
    pub match_steps: usize,
}

/// The validator as it comes: as fast as it gets.
pub(crate) struct Plain(Validator);

/// The validator over the counting representation: it ends, whatever the schema.
pub(crate) struct Bounded(Validator<Metered>);

impl Plain {
    pub(crate) fn compile(document: &Value, settings: Settings) -> Result<Plain, SchemaError> {
        let built = options(jsonschema::options(), settings).build(document);
        built.map(Plain).map_err(|error| refusal(&error, document))
    }

    #[inline]
    pub(crate) fn is_valid(&self, instance: &Value) -> bool {
        self.0.is_valid(instance)
    }
}

impl Bounded {
    pub(crate) fn compile(document: &Value, settings: Settings) -> Result<Bounded, SchemaError> {
        let built = options(jsonschema::options_for::<Metered>(), settings).build(document);
        built.map(Bounded).map_err(|error| refusal(&error, document))
    }

    pub(crate) fn is_valid(&self, meter: &Meter<'_>) -> Result<bool, Spent> {
        metered(meter, |root| self.0.is_valid(root))
    }

    /// At most `most` failures, and whether there are more.
    pub(crate) fn failures(
        &self,
        instance: &Value,
        meter: &Meter<'_>,
        most: usize,
        context: &message::Context<'_>,
    ) -> Result<(Vec<Failure>, bool), Spent> {
        metered(meter, |root| {
            let mut errors = self.0.iter_errors(root);
            let listed = errors.by_ref().take(most).map(|error| failure(&error, instance, context)).collect();
            (listed, errors.next().is_some())
        })
    }
}

type Configured<F> = ValidationOptions<'static, Arc<dyn Retrieve>, F>;

fn options<F: Json>(options: Configured<F>, settings: Settings) -> Configured<F> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(settings.match_steps)
        .size_limit(LARGE_PATTERN_BYTES)
        .dfa_size_limit(LARGE_PATTERN_BYTES);
    let options = options
        .offline()
        .with_registry(&SPECIFICATIONS)
        .with_draft(graph::draft_of(settings.dialect))
        .with_pattern_options(patterns);
    match settings.formats {
        Formats::Assert => options.should_validate_formats(true),
        // Draft-07 would otherwise assert all three.
        Formats::Annotate => options
            .should_validate_formats(false)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json"),
    }
}

fn refusal(error: &ValidationError<'_>, document: &Value) -> SchemaError {
    let at = error.instance_path().as_str();
    let value = document.pointer(at).unwrap_or(document);
    SchemaError::invalid(at, message::describe(error.kind(), value, &message::Context::of_schema(document)))
}

fn failure(error: &ValidationError<'_>, instance: &Value, context: &message::Context<'_>) -> Failure {
    let instance_path = error.instance_path().as_str();
    let schema_path = error.schema_path().as_str();
    let value = instance.pointer(instance_path).unwrap_or(instance);
    Failure {
        instance_path: instance_path.to_owned(),
        schema_path: schema_path.to_owned(),
        keyword: error.kind().keyword().to_owned(),
        message: message::describe(error.kind(), value, &context.at(schema_path)),
    }
}

/// How a pattern would be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// In time linear in the string.
    Linear,
    /// By backtracking: it has look-around or back-references.
    Backtracking,
}

/// Whether `pattern` compiles to at most `large` or ordinary size, and how it would be matched.
pub(crate) fn try_pattern(pattern: &str, size: Size) -> Option<Engine> {
    let bytes = match size {
        Size::Ordinary => PATTERN_BYTES,
        Size::Large => LARGE_PATTERN_BYTES,
    };
    let schema = json!({ "pattern": pattern });
    let linear = PatternOptions::regex().size_limit(bytes);
    if jsonschema::options().offline().with_pattern_options(linear).build(&schema).is_ok() {
        return Some(Engine::Linear);
    }
    let backtracking = PatternOptions::fancy_regex().size_limit(bytes).backtrack_limit(BACKTRACK_LIMITS[0]);
    let built = jsonschema::options().offline().with_pattern_options(backtracking).build(&schema);
    built.is_ok().then_some(Engine::Backtracking)
}

/// How large a compiled pattern may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Ordinary,
    Large,
}

/// Whether `pattern` is a regular expression at all.
pub(crate) fn is_regular_expression(pattern: &str) -> bool {
    let check = jsonschema::options().offline().should_validate_formats(true).build(&json!({ "format": "regex" }));
    check.is_ok_and(|check| check.is_valid(&Value::String(pattern.to_owned())))
}
