//! Every bound of the crate, with its reason. Nothing here is configurable: a caller that needs
//! other numbers needs another design.

/// Nested containers allowed in a schema or an instance; `serde_json` reads text up to the same
/// depth.
pub(crate) const MAX_DEPTH: usize = 128;

/// Subschemas in one document. The largest published schemas (FHIR, Kubernetes) have a third of
/// that.
pub(crate) const MAX_SUBSCHEMAS: usize = 100_000;

/// Ways one place of an instance may be judged by one schema, following `$ref`, `allOf` and the
/// like. Doubling references reach it after fourteen levels; real unions stay in the hundreds.
pub(crate) const MAX_IN_PLACE_PATHS: u64 = 20_000;

/// Ways from the root to any subschema above which even the yes-or-no answer is metered. Many ways
/// are normal (shared definitions under different properties), so this slows a schema down, no
/// more.
pub(crate) const METERED_PATHS: u64 = 10_000;

/// Subschemas compiled over and over because they are reached through different chains of embedded
/// `$id` resources (the validator compiles a target once per chain, for `$dynamicRef`'s sake).
pub(crate) const MAX_RESOURCE_WORK: u64 = 200_000;

/// Distinct patterns in one schema.
pub(crate) const MAX_PATTERNS: usize = 5_000;

/// Characters of one pattern.
pub(crate) const MAX_PATTERN_CHARS: usize = 10_000;

/// Compiled bytes up to which a pattern is ordinary.
pub(crate) const PATTERN_BYTES: usize = 128 * 1024;

/// Compiled bytes of a pattern at the very most: `^\p{L}{1,100}$` fits, `(a{1000}){1000}` does not.
pub(crate) const LARGE_PATTERN_BYTES: usize = 16 * 1024 * 1024;

/// Patterns per schema that may use the larger size; each can take a tenth of a second to compile.
pub(crate) const MAX_LARGE_PATTERNS: usize = 8;

/// Backtracking steps one match of a pattern with look-around or back-references may take. The
/// largest that keeps one run over all strings of the instance below [`MATCH_TICKS`] is chosen.
pub(crate) const BACKTRACK_LIMITS: [usize; 5] = [100_000, 10_000, 1_000, 100, 10];

/// Worst case of matching every string of an instance once, in ticks (about ten nanoseconds each).
pub(crate) const MATCH_TICKS: u64 = 5_000_000;

/// Runs' worth of matching before a validation gives up. After a match that could not finish, the
/// validator judges the instance again under each outcome, up to 64 times.
pub(crate) const MATCH_RUNS: u64 = 8;

/// Ticks for a metered answer; each look at the instance is a tick.
pub(crate) const ANSWER_TICKS: u64 = 5_000_000;

/// Ticks for listing failures: about a microsecond each deep inside an instance.
pub(crate) const LISTING_TICKS: u64 = 300_000;

/// Ticks granted on top for each value of the instance, so that a large instance of an ordinary
/// schema never runs out.
pub(crate) const TICKS_PER_VALUE: u64 = 40;

/// Failures listed; the list then ends with a note.
pub(crate) const MAX_FAILURES: usize = 10_000;

/// Characters of a value quoted in a message.
pub(crate) const QUOTED_CHARS: usize = 80;
