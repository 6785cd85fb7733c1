//! The one place that compiles schemas with the `jsonschema` crate and runs them.
//!
//! A schema is compiled in up to two ways (`schema` decides which one answers):
//!
//! ```text
//! FastValidator       over serde_json values as they are: nanoseconds per call, cannot be stopped
//! BudgetedValidator   over the values of `step_budget`: slower, stops when the budget is used up
//! ```
//!
//! Errors and their paths only come from the second, so listing them always ends. Elsewhere,
//! `step_budget` implements the traits of `jsonschema`, `error_message` words its errors,
//! `subschema_graph` uses its resolver, and `satisfiability` its canonical form; no other file
//! names it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jsonschema::json::Json;
use jsonschema::{
    PatternOptions, Retrieve, ValidationError as EngineError, ValidationOptions, Validator,
};
use referencing::SPECIFICATIONS;
use serde_json::{Value, json};

use crate::error_message::{self, MessageContext};
use crate::limits::{BACKTRACK_LIMITS, COMPILED_PATTERN_BYTES, LARGE_COMPILED_PATTERN_BYTES};
use crate::step_budget::{BudgetExhausted, BudgetedJson, StepBudget, run_within};
use crate::{Dialect, FormatAssertion, SchemaError, ValidationError, resource_registry};

/// The settings that both compilations of a schema share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompileSettings {
    pub dialect: Dialect,
    pub formats: FormatAssertion,
    /// Backtracks that one match of a pattern may take.
    pub backtrack_limit: usize,
}

/// The validator of `jsonschema` as it is: fast, without a budget. Answers yes or no only.
pub(crate) struct FastValidator(Validator);

/// The validator over the counting representation: it ends, whatever the schema.
pub(crate) struct BudgetedValidator(Validator<BudgetedJson>);

impl FastValidator {
    pub(crate) fn compile(
        document: &Value,
        settings: CompileSettings,
    ) -> Result<FastValidator, SchemaError> {
        build(configure(jsonschema::options(), settings), document).map(FastValidator)
    }

    /// Cannot be stopped. The caller has made sure that this instance is cheap.
    #[inline]
    pub(crate) fn is_valid(&self, instance: &Value) -> bool {
        self.0.is_valid(instance)
    }
}

impl BudgetedValidator {
    pub(crate) fn compile(
        document: &Value,
        settings: CompileSettings,
    ) -> Result<BudgetedValidator, SchemaError> {
        let options = configure(jsonschema::options_for::<BudgetedJson>(), settings);
        build(options, document).map(BudgetedValidator)
    }

    /// Whether the instance of `budget` matches.
    pub(crate) fn is_valid(&self, budget: &StepBudget<'_>) -> Result<bool, BudgetExhausted> {
        run_within(budget, |root| self.0.is_valid(root))
    }

    /// At most `limit` errors of `instance`, and whether there are more.
    pub(crate) fn errors(
        &self,
        instance: &Value,
        budget: &StepBudget<'_>,
        limit: usize,
        context: &MessageContext<'_>,
    ) -> Result<(Vec<ValidationError>, bool), BudgetExhausted> {
        run_within(budget, |root| {
            let mut errors = self.0.iter_errors(root);
            let listed = errors
                .by_ref()
                .take(limit)
                .map(|error| validation_error(&error, instance, context))
                .collect();
            (listed, errors.next().is_some())
        })
    }
}

/// The options of `jsonschema` for the representation `F`.
type EngineOptions<F> = ValidationOptions<'static, Arc<dyn Retrieve>, F>;

/// The settings of both validators: nothing is fetched, patterns are bounded, and `format` is
/// checked only on request.
fn configure<F: Json>(options: EngineOptions<F>, settings: CompileSettings) -> EngineOptions<F> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(settings.backtrack_limit)
        .size_limit(LARGE_COMPILED_PATTERN_BYTES)
        .dfa_size_limit(LARGE_COMPILED_PATTERN_BYTES);
    let options = options
        .offline()
        .with_registry(&SPECIFICATIONS)
        .with_draft(resource_registry::draft_of(settings.dialect))
        .with_pattern_options(patterns);
    match settings.formats {
        FormatAssertion::Assert => options.should_validate_formats(true),
        // Without these three lines, `jsonschema` would check them all in draft-07.
        FormatAssertion::Annotate => options
            .should_validate_formats(false)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json"),
    }
}

/// Compiles `document`. `jsonschema` states some assumptions about identifiers with `expect`; a
/// document that breaks one of them is rejected like any other, instead of ending the process.
fn build<F: Json>(
    options: EngineOptions<F>,
    document: &Value,
) -> Result<Validator<F>, SchemaError> {
    catch_unwind(AssertUnwindSafe(|| options.build(document)))
        .map_err(|_| {
            SchemaError::invalid("", "the identifiers and references contradict each other")
        })?
        .map_err(|error| schema_error(&error, document))
}

/// The error of a document that does not match its meta-schema: there the document is the instance.
fn schema_error(error: &EngineError<'_>, document: &Value) -> SchemaError {
    let at = error.instance_path().as_str();
    let value = document.pointer(at).unwrap_or(document);
    let context = MessageContext::for_schema(document).at("", at);
    SchemaError::invalid(at, error_message::describe(error.kind(), value, &context))
}

/// An error of an instance, in the words of `error_message`. Its keyword is that of `jsonschema`,
/// except for closed objects without properties (`describe_closed_object`).
fn validation_error(
    error: &EngineError<'_>,
    instance: &Value,
    context: &MessageContext<'_>,
) -> ValidationError {
    let instance_path = error.instance_path().as_str();
    let schema_path = error.schema_path().as_str();
    // The error holds no copy of the value (`BudgetedNode::to_value`), so it is looked up.
    let value = instance.pointer(instance_path).unwrap_or(instance);
    let context = context.at(schema_path, instance_path);
    let (keyword, message) = error_message::describe_closed_object(error.kind(), value, &context)
        .unwrap_or_else(|| {
            let message = error_message::describe(error.kind(), value, &context);
            (error.kind().keyword().to_owned(), message)
        });
    ValidationError {
        instance_path: instance_path.to_owned(),
        schema_path: schema_path.to_owned(),
        keyword,
        message,
        unexpected: error_message::unexpected_names(error.kind(), value, &context),
        missing: error_message::missing_name(error.kind()),
    }
}

/// How a pattern is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegexEngine {
    /// In time linear in the length of the string.
    Linear,
    /// By backtracking, because it has look-around or back-references.
    Backtracking,
}

/// The engine that matches `pattern`; `None` if it does not compile within `size`.
///
/// A schema with nothing but the pattern is compiled, so that the answer is that of `jsonschema`,
/// which translates ECMAScript patterns before it compiles them.
pub(crate) fn try_pattern(pattern: &str, size: PatternSize) -> Option<RegexEngine> {
    let bytes = match size {
        PatternSize::Ordinary => COMPILED_PATTERN_BYTES,
        PatternSize::Large => LARGE_COMPILED_PATTERN_BYTES,
    };
    let schema = json!({ "pattern": pattern });
    let linear = PatternOptions::regex().size_limit(bytes);
    if jsonschema::options().offline().with_pattern_options(linear).build(&schema).is_ok() {
        return Some(RegexEngine::Linear);
    }
    let backtracking =
        PatternOptions::fancy_regex().size_limit(bytes).backtrack_limit(BACKTRACK_LIMITS[0]);
    let built = jsonschema::options().offline().with_pattern_options(backtracking).build(&schema);
    built.is_ok().then_some(RegexEngine::Backtracking)
}

/// The size of a compiled pattern that is matched in linear time, rounded up to a power of two.
/// `jsonschema` does not tell it, so it is found with the limit of the compiler.
pub(crate) fn compiled_pattern_bytes(pattern: &str) -> u64 {
    let schema = json!({ "pattern": pattern });
    let fits = |bytes: usize| {
        let linear = PatternOptions::regex().size_limit(bytes);
        jsonschema::options().offline().with_pattern_options(linear).build(&schema).is_ok()
    };
    // Searches the exponent, from 256 bytes up.
    let (mut least, mut most) = (8_u32, LARGE_COMPILED_PATTERN_BYTES.ilog2());
    while least < most {
        let middle = (least + most) / 2;
        if fits(1 << middle) { most = middle } else { least = middle + 1 }
    }
    1 << least
}

/// How large a compiled pattern may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternSize {
    /// [`COMPILED_PATTERN_BYTES`]
    Ordinary,
    /// [`LARGE_COMPILED_PATTERN_BYTES`]
    Large,
}

/// Whether `pattern` is a regular expression, whatever its size: the format `regex` parses it
/// without compiling it.
pub(crate) fn is_regular_expression(pattern: &str) -> bool {
    let check = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(&json!({ "format": "regex" }));
    check.is_ok_and(|check| check.is_valid(&Value::String(pattern.to_owned())))
}
