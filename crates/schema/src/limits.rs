//! Every limit of the crate, with its reason.
//!
//! None of them is configurable: they depend on each other (a budget is only as good as the depth
//! and the fan-out that were checked before it), and no published schema of a tool comes near them.
//! Two things are limited: what a schema may be, checked once when it is compiled, and what one
//! validation may cost, counted in *steps* while it runs (`step_budget`).

/// Nested containers in a schema or an instance. `serde_json` reads text up to the same depth, so
/// values that were parsed from text never exceed it.
pub(crate) const MAX_DEPTH: usize = 128;

/// Subschemas in one document. The largest published schemas (FHIR, Kubernetes) have a third of
/// that.
pub(crate) const MAX_SUBSCHEMAS: usize = 100_000;

/// How many times one schema may evaluate one value of an instance, following `$ref`, `allOf` and
/// other keywords that apply in place. References that double at each level reach it after fourteen
/// levels; real unions stay in the hundreds.
pub(crate) const MAX_IN_PLACE_PATHS: u64 = 20_000;

/// Paths from the root to any subschema above which even the yes-or-no answer runs with a budget.
/// Many paths are normal (shared definitions under different properties), so exceeding this makes a
/// schema slower but does not reject it.
pub(crate) const MAX_UNBUDGETED_PATHS: u64 = 10_000;

/// Checks per value (`CostProfile::checks_per_value`) up to which an instance is not measured
/// before it is validated without a budget. The widest schemas of published tools stay below it.
pub(crate) const MAX_UNMEASURED_CHECKS: u64 = 200;

/// Checks of a whole instance, by its measured size, above which even the yes-or-no answer runs
/// with a budget: about half a second, if every value met every check.
pub(crate) const MAX_UNBUDGETED_CHECKS: u64 = 20_000_000;

/// Checks of a whole instance, by the size of its text, that certainly take less than a
/// millisecond.
pub(crate) const QUICK_CHECKS: u64 = 50_000;

/// Subschemas compiled repeatedly because they are reached through different chains of embedded
/// `$id` resources: `jsonschema` compiles a target once per chain, because `$dynamicRef` may
/// resolve differently in each.
pub(crate) const MAX_RESOURCE_WORK: u64 = 200_000;

/// Distinct patterns in one schema.
pub(crate) const MAX_PATTERNS: usize = 5_000;

/// Bytes of one pattern as it is written.
pub(crate) const MAX_PATTERN_BYTES: usize = 10_000;

/// Bytes of a compiled pattern of ordinary size. Any number of patterns up to [`MAX_PATTERNS`] may
/// have it.
pub(crate) const COMPILED_PATTERN_BYTES: usize = 128 * 1024;

/// Bytes of the largest compiled pattern: `^\p{L}{1,100}$` fits, `(a{1000}){1000}` does not.
pub(crate) const LARGE_COMPILED_PATTERN_BYTES: usize = 16 * 1024 * 1024;

/// Patterns per schema that may exceed [`COMPILED_PATTERN_BYTES`]; each can take a tenth of a
/// second to compile.
pub(crate) const MAX_LARGE_PATTERNS: usize = 8;

/// Backtracks that one match of a pattern with look-around or back-references may take. A schema is
/// evaluated with the largest of them that keeps one match of every string of the instance within
/// [`MATCH_PASS_STEPS`]: many or long strings leave fewer backtracks for each.
pub(crate) const BACKTRACK_LIMITS: [usize; 5] = [100_000, 10_000, 1_000, 100, 10];

/// Steps that one pass may cost which matches every string of the instance once (about ten
/// nanoseconds each).
pub(crate) const MATCH_PASS_STEPS: u64 = 5_000_000;

/// Matching passes before a validation gives up. After a match that ran out of backtracks,
/// `jsonschema` evaluates the instance again under each outcome, up to 64 times.
pub(crate) const MATCH_PASSES: u64 = 8;

/// Steps for a yes-or-no answer with a budget; each read of the instance is one step.
pub(crate) const ANSWER_STEPS: u64 = 5_000_000;

/// Steps for listing all errors. Fewer than [`ANSWER_STEPS`], because a step that builds an error
/// deep inside an instance takes about a microsecond.
pub(crate) const LISTING_STEPS: u64 = 300_000;

/// Steps added for each value of the instance when errors are listed.
pub(crate) const LISTING_STEPS_PER_VALUE: u64 = 10;

/// Work of matching all strings of an instance with all patterns in linear time: the bytes of a
/// string times the states of the compiled pattern, but at most its bytes squared, because a match
/// enters no more than one state per byte. About five nanoseconds each; a string of a megabyte and
/// a pattern such as `[ab]*a[ab]{5000}` would take fifty seconds.
pub(crate) const MAX_MATCH_WORK: u64 = 1_000_000_000;

/// The same work, as far as it certainly takes less than a few milliseconds.
pub(crate) const QUICK_MATCH_WORK: u64 = 400_000;

/// Bytes that a state of a compiled pattern takes.
pub(crate) const PATTERN_STATE_BYTES: u64 = 32;

/// Steps added for each value of the instance, so that a large instance of an ordinary schema never
/// runs out.
pub(crate) const STEPS_PER_VALUE: u64 = 40;

/// Values of a schema whose canonical form is made, which decides whether any value matches. The
/// largest schemas of published tools have a quarter of that.
pub(crate) const MAX_CANONICAL_VALUES: u64 = 4_000;

/// Branches of combining keywords of such a schema.
pub(crate) const MAX_CANONICAL_BRANCHES: usize = 200;

/// Combinations of branches for one value, the largest union not counted: `allOf` over unions
/// multiplies them. Ten conditionals in an `allOf` would take a second and a hundred megabytes.
pub(crate) const MAX_CANONICAL_COMBINATIONS: u64 = 32;

/// Errors listed; the list then ends with a note.
pub(crate) const MAX_ERRORS: usize = 10_000;

/// Characters of a value quoted in a message.
pub(crate) const QUOTED_CHARS: usize = 80;
