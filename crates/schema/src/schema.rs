//! A compiled schema: which checks run before it is compiled, and which validator answers a call.
//!
//! ```text
//! compile:  depth ─ dialect ─ normalize ─ subschema graph ─ cost analysis ─ patterns ─ jsonschema
//!
//! validate, by route:
//!   Direct         FastValidator on the caller's stack           nearly all schemas of tools
//!   Measured       size of the instance, then FastValidator      recursive schemas, `uniqueItems`,
//!                  if that cannot take long, else Budgeted       many subschemas or listed values
//!   Budgeted       BudgetedValidator                             fan-out, patterns that backtrack
//!
//! errors of an instance that does not match: always BudgetedValidator, compiled on first use
//! ```
//!
//! [`Schema`] is the low-level API on `serde_json` values. Programs that validate the input and
//! output of tools use [`SchemaValidator`](crate::SchemaValidator), which is built on it.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::Value;

use crate::cost_analysis::{self, CostProfile};
use crate::error_message::MessageContext;
use crate::jsonschema_engine::{
    BudgetedValidator, CompileSettings, FastValidator, RegexEngine, compiled_pattern_bytes,
};
use crate::limits::{
    ANSWER_STEPS, BACKTRACK_LIMITS, LISTING_STEPS, LISTING_STEPS_PER_VALUE, MATCH_PASS_STEPS,
    MATCH_PASSES, MAX_DEPTH, MAX_ERRORS, MAX_MATCH_WORK, MAX_UNBUDGETED_CHECKS,
    MAX_UNMEASURED_CHECKS, PATTERN_STATE_BYTES, QUICK_CHECKS, QUICK_MATCH_WORK, STEPS_PER_VALUE,
};
use crate::measure::{self, ValueSize};
use crate::stack_space::{self, MAX_STACK};
use crate::step_budget::{StepBudget, worst_match_steps};
use crate::{
    Dialect, SchemaError, ValidationError, ValidationErrors, normalize, pattern_check, published,
    subschema_graph,
};

/// Bytes of stack that one open subschema takes while an instance is evaluated. Measured: the
/// hostile tests pass with half of it in builds without optimisation.
const EVALUATION_FRAME: usize = 3 * 1024;

/// Bytes of stack that one open subschema takes while the schema is compiled or checked by its
/// meta-schema. Measured: the hostile tests pass with half of it, with and without optimisation.
const COMPILATION_FRAME: usize = if cfg!(debug_assertions) { 24 * 1024 } else { 12 * 1024 };

/// Bytes of text for which a value counts in estimates: matching a pattern takes about as long per
/// sixteen bytes as checking another value.
const BYTES_PER_VALUE: u64 = 16;

/// How a schema is compiled.
#[derive(Debug, Clone, Copy, Default)]
pub struct SchemaOptions {
    /// Whether `format` and `content*` are checked.
    pub formats: FormatAssertion,
}

/// What `format` and, in draft-07, `contentEncoding` and `contentMediaType` mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FormatAssertion {
    /// They inform the reader; any value passes. The toolfoundation specification prescribes this.
    #[default]
    Annotate,
    /// A value that does not have the format is an error.
    Assert,
}

/// A compiled schema. Compile it once, keep it, share it between threads.
pub struct Schema {
    route: ValidationRoute,
    /// The normalized schema, for messages and for compiling the budgeted validator.
    document: Value,
    settings: CompileSettings,
    /// What evaluating an instance can cost.
    profile: CostProfile,
    /// Whether a pattern backtracks.
    regex_engine: RegexEngine,
    /// States of all compiled patterns together. Found when an instance first has long strings.
    pattern_states: OnceLock<u64>,
    /// Bytes of stack to compile with.
    compilation_stack: usize,
    /// One validator per backtrack limit, compiled on first use: most schemas never see an invalid
    /// instance, and those that do rarely need more than the first.
    budgeted: [OnceLock<Result<BudgetedValidator, SchemaError>>; BACKTRACK_LIMITS.len()],
}

/// How the question whether an instance matches is answered.
enum ValidationRoute {
    /// By the fast validator on the caller's stack, without measuring the instance: the schema is
    /// not recursive, so its own depth bounds the evaluation.
    Direct(FastValidator),
    /// By the fast validator, after depth and size of the instance were checked.
    Measured(FastValidator),
    /// Only by the budgeted validator.
    Budgeted,
}

impl Schema {
    /// Compiles `schema`, with `format` as an annotation.
    ///
    /// # Errors
    /// It is not a valid schema, its dialect is not supported, or a reference leaves it.
    pub fn compile(schema: &Value) -> Result<Schema, SchemaError> {
        Schema::compile_with(schema, &SchemaOptions::default())
    }

    /// Compiles `schema` with `options`.
    ///
    /// # Errors
    /// As for [`Schema::compile`].
    pub fn compile_with(schema: &Value, options: &SchemaOptions) -> Result<Schema, SchemaError> {
        Schema::compile_cow(Cow::Borrowed(schema), options)
    }

    /// Compiles a schema that may be owned, which saves a copy.
    pub(crate) fn compile_cow(
        schema: Cow<'_, Value>,
        options: &SchemaOptions,
    ) -> Result<Schema, SchemaError> {
        // The depth first: even copying the schema recurses.
        let Some(depth) = measure::depth_within(&schema, MAX_DEPTH) else {
            return Err(SchemaError::invalid("", format!("nested deeper than {MAX_DEPTH}")));
        };
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(SchemaError::invalid("", "a schema is an object or a boolean"));
        }
        let dialect = Dialect::of(&schema)?;
        let (schema, depth) = match published::embed(schema, dialect) {
            Cow::Owned(schema) => {
                let depth = measure::depth_within(&schema, usize::MAX).unwrap_or(depth);
                (Cow::Owned(schema), depth)
            }
            schema => (schema, depth),
        };
        let document = normalize::normalize(schema, dialect)?;
        let settings = CompileSettings {
            dialect,
            formats: options.formats,
            backtrack_limit: BACKTRACK_LIMITS[0],
        };
        Schema::compile_normalized(document, depth, settings)
    }

    /// Compiles the normalized document, and decides the route by which instances are validated.
    fn compile_normalized(
        document: Value,
        depth: usize,
        settings: CompileSettings,
    ) -> Result<Schema, SchemaError> {
        let (profile, references) =
            subschema_graph::with_graph(&document, settings.dialect, |graph| {
                Ok((cost_analysis::analyze(graph, &document)?, graph.references()))
            })?;
        if evaluation_stack(&profile, MAX_DEPTH) > MAX_STACK {
            return Err(SchemaError::invalid("", "references chain too deep to be followed"));
        }
        let regex_engine = pattern_check::check_patterns(&profile.patterns)?;
        // `jsonschema` compiles up to eight reference targets inside each other, and queues the
        // others, so at most nine chains of nested subschemas are open at once.
        let open =
            if references == 0 { depth } else { depth.saturating_mul(9).min(profile.subschemas) };
        let compilation_stack = open * COMPILATION_FRAME;
        let compiled = compile_on_stack(compilation_stack, || {
            if profile.needs_budget || regex_engine == RegexEngine::Backtracking {
                BudgetedValidator::compile(&document, settings).map(|own| (None, Some(own)))
            } else {
                FastValidator::compile(&document, settings).map(|own| (Some(own), None))
            }
        })?;
        let (fast, first_budgeted) = compiled?;
        let budgeted = std::array::from_fn(|_| OnceLock::new());
        if let Some(validator) = first_budgeted {
            let _ = budgeted[0].set(Ok(validator));
        }
        // Only a schema whose cost does not depend on the instance may skip measuring it.
        let depends_on_instance = profile.recursive
            || profile.compares_values
            || !profile.patterns.is_empty()
            || profile.checks_per_value > MAX_UNMEASURED_CHECKS;
        let fits_caller = evaluation_stack(&profile, 0) <= stack_space::CALLER_STACK;
        let route = match fast {
            Some(fast) if !depends_on_instance && fits_caller => ValidationRoute::Direct(fast),
            Some(fast) => ValidationRoute::Measured(fast),
            None => ValidationRoute::Budgeted,
        };
        Ok(Schema {
            route,
            document,
            settings,
            profile,
            regex_engine,
            pattern_states: OnceLock::new(),
            compilation_stack,
            budgeted,
        })
    }

    /// The dialect that the schema is written in.
    pub fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    /// Whether the schema is an object, not `true` or `false`.
    pub(crate) fn is_object(&self) -> bool {
        self.document.is_object()
    }

    /// Whether `instance` matches. `false` also where a limit was reached before that was known.
    #[inline]
    pub fn is_valid(&self, instance: &Value) -> bool {
        match &self.route {
            ValidationRoute::Direct(fast) => fast.is_valid(instance),
            _ => self.try_is_valid(instance).unwrap_or(false),
        }
    }

    /// Whether [`Schema::is_valid`] takes less than about a millisecond for every instance whose
    /// JSON text has `bytes` bytes. Such an instance need not be moved away from a thread that
    /// others wait for.
    pub fn is_quick_for(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let match_work =
            (self.profile.patterns.len() as u64).saturating_mul(bytes.saturating_mul(bytes));
        self.regex_engine == RegexEngine::Linear
            && evaluation_stack(&self.profile, MAX_DEPTH) <= stack_space::CALLER_STACK
            // Values have four bytes in ordinary text; `1,1,1` has two, which the limit allows for.
            && self.checks_of(bytes / 4 + 1) <= QUICK_CHECKS
            && match_work <= QUICK_MATCH_WORK
    }

    /// The checks that `values` values can cost.
    ///
    /// An upper bound: every value may be checked along every path of the schema.
    fn checks_of(&self, values: u64) -> u64 {
        values.saturating_mul(self.profile.checks_per_value)
    }

    /// Validates `instance`.
    ///
    /// # Errors
    /// Everything wrong with it, or the limit that was reached before that was known.
    #[inline]
    pub fn validate(&self, instance: &Value) -> Result<(), ValidationErrors> {
        match &self.route {
            // The yes-or-no answer first: it is much faster, and nearly always enough.
            ValidationRoute::Direct(fast) if fast.is_valid(instance) => Ok(()),
            ValidationRoute::Direct(_) => Err(self.list_errors(instance)),
            _ => self.validate_with_limits(instance),
        }
    }

    /// [`Schema::validate`] for the routes that look at the instance first.
    fn validate_with_limits(&self, instance: &Value) -> Result<(), ValidationErrors> {
        match self.try_is_valid(instance) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.list_errors(instance)),
            Err(limit) => Err(ValidationErrors::single(*limit)),
        }
    }

    /// Whether `instance` matches, or the limit that was reached before that was known.
    ///
    /// Measures the instance first. If the fast validator is certainly done soon, it answers; else
    /// the budgeted one does, which may give up.
    pub(crate) fn try_is_valid(&self, instance: &Value) -> Result<bool, Box<ValidationError>> {
        let depth = measure::depth_within(instance, MAX_DEPTH).ok_or_else(too_deep)?;
        let stack = evaluation_stack(&self.profile, depth);
        let size = measure::measure(instance);
        self.check_match_work(size)?;
        if let ValidationRoute::Direct(fast) | ValidationRoute::Measured(fast) = &self.route
            && self.checks_of(size.values.saturating_add(size.string_bytes / BYTES_PER_VALUE))
                <= MAX_UNBUDGETED_CHECKS
        {
            return stack_space::run_with_stack(stack, || fast.is_valid(instance))
                .map_err(no_stack);
        }
        let (backtracks, steps) = self.allowance(size, ANSWER_STEPS, STEPS_PER_VALUE);
        let validator = self.budgeted(backtracks)?;
        let answer = stack_space::run_with_stack(stack, || {
            let charged = self.charged_backtracks(backtracks);
            validator.is_valid(&StepBudget::new(steps, instance, size.values, charged))
        });
        answer.map_err(no_stack)?.map_err(|_| {
            limit_reached(format!(
                "gave up: telling whether this matches takes more than {steps} steps"
            ))
        })
    }

    /// The errors of an instance that does not match.
    #[cold]
    fn list_errors(&self, instance: &Value) -> ValidationErrors {
        self.try_list_errors(instance).unwrap_or_else(|limit| ValidationErrors::single(*limit))
    }

    /// The errors of an instance that does not match, or the limit that prevents listing them.
    fn try_list_errors(&self, instance: &Value) -> Result<ValidationErrors, Box<ValidationError>> {
        let depth = measure::depth_within(instance, MAX_DEPTH).ok_or_else(too_deep)?;
        let size = measure::measure(instance);
        self.check_match_work(size)?;
        let (backtracks, steps) = self.allowance(size, LISTING_STEPS, LISTING_STEPS_PER_VALUE);
        let validator = self.budgeted(backtracks)?;
        let context = MessageContext::new(&self.document, backtracks);
        let listed = stack_space::run_with_stack(evaluation_stack(&self.profile, depth), || {
            let charged = self.charged_backtracks(backtracks);
            let budget = StepBudget::new(steps, instance, size.values, charged);
            validator.errors(instance, &budget, MAX_ERRORS, &context)
        });
        let listed = listed.map_err(no_stack)?;
        let (mut errors, more) = listed.map_err(|_| {
            limit_reached(format!(
                "does not match; listing every failing path takes more than {steps} steps"
            ))
        })?;
        if more {
            errors.push(ValidationError::without_keyword(format!(
                "more than {MAX_ERRORS} errors; the rest is not listed"
            )));
        }
        // The fast and the budgeted validator agree; should they ever not, "no" is the answer.
        ValidationErrors::new(errors).ok_or_else(|| limit_reached("does not match"))
    }

    /// Rejects an instance whose strings are too long for the patterns. One match cannot be
    /// stopped, so this is decided before the first.
    fn check_match_work(&self, size: ValueSize) -> Result<(), Box<ValidationError>> {
        let patterns = &self.profile.patterns;
        let longest = size.string_squares.saturating_mul(patterns.len() as u64);
        // Patterns that backtrack have a limit of their own.
        if longest <= MAX_MATCH_WORK || self.regex_engine == RegexEngine::Backtracking {
            return Ok(());
        }
        let states = *self.pattern_states.get_or_init(|| {
            let sizes = patterns.iter().map(|pattern| compiled_pattern_bytes(&pattern.text));
            sizes.sum::<u64>() / PATTERN_STATE_BYTES
        });
        if size.string_bytes.saturating_mul(states) <= MAX_MATCH_WORK {
            return Ok(());
        }
        let message = "gave up: its strings are too long to be matched with the schema's patterns";
        Err(limit_reached(message))
    }

    /// The backtracks per match and the steps in all for an instance of this size.
    ///
    /// With patterns that backtrack, the highest limit is taken with which matching every string of
    /// the instance still fits `MATCH_PASS_STEPS`. So short strings get many backtracks and long
    /// ones few.
    fn allowance(&self, size: ValueSize, base: u64, per_value: u64) -> (usize, u64) {
        let steps = base + per_value.saturating_mul(size.values);
        if self.regex_engine == RegexEngine::Linear {
            return (BACKTRACK_LIMITS[0], steps);
        }
        let worst = |backtracks: usize| {
            worst_match_steps(backtracks as u64, size.strings, size.string_bytes)
        };
        let affordable =
            BACKTRACK_LIMITS.into_iter().find(|limit| worst(*limit) <= MATCH_PASS_STEPS);
        let backtracks = affordable.unwrap_or(BACKTRACK_LIMITS[BACKTRACK_LIMITS.len() - 1]);
        (backtracks, steps.saturating_add(MATCH_PASSES.saturating_mul(worst(backtracks))))
    }

    /// The backtracks that the budget charges for each match: none where no pattern backtracks.
    fn charged_backtracks(&self, backtracks: usize) -> u64 {
        match self.regex_engine {
            RegexEngine::Linear => 0,
            RegexEngine::Backtracking => backtracks as u64,
        }
    }

    /// The budgeted validator with this backtrack limit, compiled on first use.
    fn budgeted(&self, backtrack_limit: usize) -> Result<&BudgetedValidator, Box<ValidationError>> {
        let index =
            BACKTRACK_LIMITS.iter().position(|limit| *limit == backtrack_limit).unwrap_or(0);
        let settings = CompileSettings { backtrack_limit, ..self.settings };
        let compiled = self.budgeted[index].get_or_init(|| {
            compile_on_stack(self.compilation_stack, || {
                BudgetedValidator::compile(&self.document, settings)
            })
            .and_then(|compiled| compiled)
        });
        compiled.as_ref().map_err(|error| limit_reached(error.to_string()))
    }
}

/// The error of an instance that is given up. Boxed: it is rare, and far larger than the answers.
fn limit_reached(message: impl Into<String>) -> Box<ValidationError> {
    Box::new(ValidationError::without_keyword(message))
}

/// Bytes of stack for evaluating an instance nested `depth` deep. In a recursive schema each level
/// of the instance can open a whole chain of subschemas.
fn evaluation_stack(profile: &CostProfile, depth: usize) -> usize {
    let open = if profile.recursive {
        profile.open_per_value.saturating_mul(depth + 2)
    } else {
        profile.open_in_all
    };
    open.saturating_mul(EVALUATION_FRAME)
}

/// Runs `work` with so much stack. A failure to get it is an error of the schema.
fn compile_on_stack<T: Send>(
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, SchemaError> {
    stack_space::run_with_stack(bytes, work).map_err(|error| {
        SchemaError::invalid("", format!("no stack to compile this schema: {error}"))
    })
}

fn too_deep() -> Box<ValidationError> {
    limit_reached(format!("nested deeper than {MAX_DEPTH}"))
}

fn no_stack(error: std::io::Error) -> Box<ValidationError> {
    limit_reached(format!("no stack to validate this value: {error}"))
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("dialect", &self.settings.dialect).finish_non_exhaustive()
    }
}
