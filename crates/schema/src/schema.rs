//! A compiled schema: the order of the checks, and which of the two validators answers.

use std::sync::OnceLock;

use serde_json::Value;

use crate::analysis::{self, Outlook};
use crate::engine::{Bounded, Engine, Plain, Settings};
use crate::limits::{
    ANSWER_TICKS, BACKTRACK_LIMITS, LISTING_TICKS, MATCH_RUNS, MATCH_TICKS, MAX_DEPTH,
    MAX_FAILURES, TICKS_PER_VALUE,
};
use crate::meter::{Meter, match_ticks};
use crate::shape::{self, Measure};
use crate::stack::{self, MAX_STACK};
use crate::{Dialect, Failure, Failures, SchemaError, document, graph, message, patterns};

/// Stack one open subschema takes while an instance is judged. The hostile tests pass with half of
/// it where nothing is optimised.
const JUDGING_FRAME: usize = 3 * 1024;

/// Stack one open subschema takes while the schema is compiled or checked by its meta-schema. The
/// hostile tests pass with half of it, without and with optimisation.
const COMPILING_FRAME: usize = if cfg!(debug_assertions) { 24 * 1024 } else { 12 * 1024 };

/// How a schema is compiled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether `format` and `content*` are checked.
    pub formats: Formats,
}

/// What `format` and, in draft-07, `contentEncoding` and `contentMediaType` mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Formats {
    /// Notes for the reader; any value passes.
    #[default]
    Annotate,
    /// Rules the value must follow.
    Assert,
}

/// A compiled schema. Compile once, keep it, share it between threads.
pub struct Schema {
    route: Route,
    document: Value,
    settings: Settings,
    outlook: Outlook,
    engine: Engine,
    /// Stack to compile on.
    compiling_stack: usize,
    /// Compiled on first need, one per step limit for patterns.
    bounded: [OnceLock<Result<Bounded, SchemaError>>; BACKTRACK_LIMITS.len()],
}

/// Who tells whether an instance matches.
enum Route {
    /// The plain validator, on the caller's stack, without a look at the instance: the schema is
    /// not recursive, so it bounds the evaluation by itself.
    Direct(Plain),
    /// The plain validator, once the depth of the instance is known.
    Measured(Plain),
    /// Only the metered validator.
    Metered,
}

impl Schema {
    /// Compiles `schema`; `format` is annotation.
    pub fn compile(schema: &Value) -> Result<Schema, SchemaError> {
        Schema::compile_with(schema, &Options::default())
    }

    /// Compiles `schema`.
    pub fn compile_with(schema: &Value, options: &Options) -> Result<Schema, SchemaError> {
        let Some(depth) = shape::depth_within(schema, MAX_DEPTH) else {
            return Err(SchemaError::invalid("", format!("nested deeper than {MAX_DEPTH}")));
        };
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(SchemaError::invalid("", "a schema is an object or a boolean"));
        }
        let dialect = Dialect::of(schema)?;
        let document = document::settle(schema, dialect)?;
        let settings =
            Settings { dialect, formats: options.formats, match_steps: BACKTRACK_LIMITS[0] };
        Schema::compile_settled(document, depth, settings)
    }

    fn compile_settled(
        document: Value,
        depth: usize,
        settings: Settings,
    ) -> Result<Schema, SchemaError> {
        let (outlook, references) = graph::build(&document, settings.dialect, |graph| {
            Ok((analysis::judge(graph, &document)?, graph.references()))
        })?;
        if judging_stack(&outlook, MAX_DEPTH) > MAX_STACK {
            return Err(SchemaError::invalid("", "references chain too deep to be followed"));
        }
        let engine = patterns::check(&outlook.patterns)?;
        // The validator compiles eight reference targets inside each other, the rest from a list.
        let open =
            if references == 0 { depth } else { depth.saturating_mul(9).min(outlook.subschemas) };
        let compiling_stack = open * COMPILING_FRAME;
        let compiled = on_stack(compiling_stack, || {
            if outlook.metered || engine == Engine::Backtracking {
                Bounded::compile(&document, settings).map(|bounded| (None, Some(bounded)))
            } else {
                Plain::compile(&document, settings).map(|plain| (Some(plain), None))
            }
        })?;
        let (plain, first) = compiled?;
        let bounded = std::array::from_fn(|_| OnceLock::new());
        if let Some(first) = first {
            let _ = bounded[0].set(Ok(first));
        }
        let unbounded = outlook.recursive || outlook.compares;
        let route = match plain {
            Some(plain) if !unbounded && judging_stack(&outlook, 0) <= stack::OWN_STACK => {
                Route::Direct(plain)
            }
            Some(plain) => Route::Measured(plain),
            None => Route::Metered,
        };
        Ok(Schema { route, document, settings, outlook, engine, compiling_stack, bounded })
    }

    /// The dialect the schema is written in.
    pub fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    /// Whether `instance` matches.
    #[inline]
    pub fn is_valid(&self, instance: &Value) -> bool {
        match &self.route {
            Route::Direct(plain) => plain.is_valid(instance),
            _ => self.answer(instance).unwrap_or(false),
        }
    }

    /// Everything wrong with `instance`.
    #[inline]
    pub fn validate(&self, instance: &Value) -> Result<(), Failures> {
        match &self.route {
            Route::Direct(plain) if plain.is_valid(instance) => Ok(()),
            Route::Direct(_) => Err(self.list(instance)),
            _ => self.validate_measured(instance),
        }
    }

    fn validate_measured(&self, instance: &Value) -> Result<(), Failures> {
        match self.answer(instance) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.list(instance)),
            Err(failure) => Err(Failures::single(failure)),
        }
    }

    /// Whether `instance` matches, or why that cannot be told.
    fn answer(&self, instance: &Value) -> Result<bool, Failure> {
        let depth = shape::depth_within(instance, MAX_DEPTH).ok_or_else(too_deep)?;
        let room = judging_stack(&self.outlook, depth);
        if let Route::Direct(plain) | Route::Measured(plain) = &self.route {
            return stack::with_room(room, || plain.is_valid(instance)).map_err(no_room);
        }
        let size = shape::measure(instance);
        let (steps, ticks) = self.allowance(size, ANSWER_TICKS);
        let bounded = self.bounded(steps)?;
        let answer = stack::with_room(room, || {
            bounded.is_valid(&Meter::new(ticks, instance, size.values, self.match_steps(steps)))
        });
        answer.map_err(no_room)?.map_err(|_| {
            Failure::of_bound(format!(
                "gave up: telling whether this matches takes more than {ticks} steps"
            ))
        })
    }

    /// The failures of an instance that does not match.
    #[cold]
    fn list(&self, instance: &Value) -> Failures {
        self.try_list(instance).unwrap_or_else(Failures::single)
    }

    fn try_list(&self, instance: &Value) -> Result<Failures, Failure> {
        let depth = shape::depth_within(instance, MAX_DEPTH).ok_or_else(too_deep)?;
        let size = shape::measure(instance);
        let (steps, ticks) = self.allowance(size, LISTING_TICKS);
        let bounded = self.bounded(steps)?;
        let context = message::Context::new(&self.document, steps);
        let listed = stack::with_room(judging_stack(&self.outlook, depth), || {
            let meter = Meter::new(ticks, instance, size.values, self.match_steps(steps));
            bounded.failures(instance, &meter, MAX_FAILURES, &context)
        });
        let listed = listed.map_err(no_room)?;
        let (mut failures, more) = listed.map_err(|_| {
            Failure::of_bound(format!(
                "does not match; listing every failing path takes more than {ticks} steps"
            ))
        })?;
        if more {
            failures.push(Failure::of_bound(format!(
                "more than {MAX_FAILURES} failures; the rest is not listed"
            )));
        }
        Failures::new(failures).ok_or_else(|| Failure::of_bound("does not match"))
    }

    /// Backtracking steps per match and ticks in all for an instance of this size.
    fn allowance(&self, size: Measure, base: u64) -> (usize, u64) {
        let ticks = base + TICKS_PER_VALUE.saturating_mul(size.values);
        if self.engine == Engine::Linear {
            return (BACKTRACK_LIMITS[0], ticks);
        }
        let worst = |steps: usize| match_ticks(steps as u64, size.strings, size.string_bytes);
        let steps = BACKTRACK_LIMITS.into_iter().find(|steps| worst(*steps) <= MATCH_TICKS);
        let steps = steps.unwrap_or(BACKTRACK_LIMITS[BACKTRACK_LIMITS.len() - 1]);
        (steps, ticks.saturating_add(MATCH_RUNS.saturating_mul(worst(steps))))
    }

    /// What the meter charges a match for: nothing where every pattern is linear.
    fn match_steps(&self, steps: usize) -> u64 {
        match self.engine {
            Engine::Linear => 0,
            Engine::Backtracking => steps as u64,
        }
    }

    /// The metered validator with this step limit.
    fn bounded(&self, match_steps: usize) -> Result<&Bounded, Failure> {
        let index = BACKTRACK_LIMITS.iter().position(|limit| *limit == match_steps).unwrap_or(0);
        let settings = Settings { match_steps, ..self.settings };
        let compiled = self.bounded[index].get_or_init(|| {
            on_stack(self.compiling_stack, || Bounded::compile(&self.document, settings))
                .and_then(|compiled| compiled)
        });
        compiled.as_ref().map_err(|error| Failure::of_bound(error.to_string()))
    }
}

/// Stack for judging an instance nested `depth` deep: each level of it can open a whole chain.
fn judging_stack(outlook: &Outlook, depth: usize) -> usize {
    let open =
        if outlook.recursive { outlook.chain.saturating_mul(depth + 2) } else { outlook.longest };
    open.saturating_mul(JUDGING_FRAME)
}

fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, SchemaError> {
    stack::with_room(bytes, work).map_err(|error| {
        SchemaError::invalid("", format!("no stack to compile this schema: {error}"))
    })
}

fn too_deep() -> Failure {
    Failure::of_bound(format!("nested deeper than {MAX_DEPTH}"))
}

fn no_room(error: std::io::Error) -> Failure {
    Failure::of_bound(format!("no stack to judge this value: {error}"))
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("dialect", &self.settings.dialect).finish_non_exhaustive()
    }
}
