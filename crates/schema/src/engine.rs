//! The one place that compiles and runs the `jsonschema` crate (`meter` implements its node traits,
//! `message` words its errors, `graph` shares its resolver).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jsonschema::json::Json;
use jsonschema::{PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator};
use referencing::SPECIFICATIONS;
use serde_json::{Value, json};

use crate::limits::{BACKTRACK_LIMITS, LARGE_PATTERN_BYTES, PATTERN_BYTES};
use crate::meter::{Meter, Metered, Spent, metered};
use crate::{Dialect, Failure, Formats, SchemaError, message, registry};

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
        build(options(jsonschema::options(), settings), document).map(Plain)
    }

    #[inline]
    pub(crate) fn is_valid(&self, instance: &Value) -> bool {
        self.0.is_valid(instance)
    }
}

impl Bounded {
    pub(crate) fn compile(document: &Value, settings: Settings) -> Result<Bounded, SchemaError> {
        build(options(jsonschema::options_for::<Metered>(), settings), document).map(Bounded)
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
            let listed = errors
                .by_ref()
                .take(most)
                .map(|error| failure(&error, instance, context))
                .collect();
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
        .with_draft(registry::draft_of(settings.dialect))
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

/// The compiler holds some expectations about identifiers with `expect`; a document that finds a
/// hole in them is refused like any other.
fn build<F: Json>(options: Configured<F>, document: &Value) -> Result<Validator<F>, SchemaError> {
    catch_unwind(AssertUnwindSafe(|| options.build(document)))
        .map_err(|_| {
            SchemaError::invalid("", "the identifiers and references contradict each other")
        })?
        .map_err(|error| refusal(&error, document))
}

fn refusal(error: &ValidationError<'_>, document: &Value) -> SchemaError {
    let at = error.instance_path().as_str();
    let value = document.pointer(at).unwrap_or(document);
    SchemaError::invalid(
        at,
        message::describe(error.kind(), value, &message::Context::of_schema(document).at("", at)),
    )
}

fn failure(
    error: &ValidationError<'_>,
    instance: &Value,
    context: &message::Context<'_>,
) -> Failure {
    let instance_path = error.instance_path().as_str();
    let schema_path = error.schema_path().as_str();
    let value = instance.pointer(instance_path).unwrap_or(instance);
    let context = context.at(schema_path, instance_path);
    let (keyword, message) = message::refused_properties(error.kind(), value, &context)
        .unwrap_or_else(|| {
            (error.kind().keyword().to_owned(), message::describe(error.kind(), value, &context))
        });
    Failure {
        instance_path: instance_path.to_owned(),
        schema_path: schema_path.to_owned(),
        keyword,
        message,
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

/// How `pattern` would be matched, if it compiles to at most `size`.
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
    let backtracking =
        PatternOptions::fancy_regex().size_limit(bytes).backtrack_limit(BACKTRACK_LIMITS[0]);
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
    let check = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(&json!({ "format": "regex" }));
    check.is_ok_and(|check| check.is_valid(&Value::String(pattern.to_owned())))
}
