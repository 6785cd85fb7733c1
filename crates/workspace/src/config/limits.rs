//! `[limits]` and `[call]` of the configuration, as the limits of calls.
//!
//! Reading gives a `CallLimits` in any case: every key that is missing or wrong keeps its default.
//! That a wrong one stops `serve` and `call` is decided by `SourcePlan::bad_limit`.

use std::time::Duration;

use toml::de::DeTable;
use toolwright_formats::codes::OUT_OF_RANGE;
use toolwright_model::{CallLimits, OutputCheck};
use toolwright_source::{DocumentPath, Label};

use super::ConfigReader;
use super::key_checks::{check_members, key_number, span};
use super::keys::{CALL_KEYS, LIMIT_KEYS};

/// The words of `output_schema`: what happens to results that do not match the tool's schema.
pub(super) const OUTPUT_CHECKS: &[(&str, OutputCheck)] =
    &[("enforce", OutputCheck::Enforce), ("warn", OutputCheck::Warn), ("off", OutputCheck::Off)];

impl ConfigReader<'_, '_> {
    /// The limits of calls. A value out of its range keeps the default; `SourcePlan::bad_limit`
    /// makes callers refuse to serve with it.
    ///
    /// `timeout` sets two limits: that of calls, and how long a server may be silent. Neither may
    /// be more than `max_timeout`.
    pub(super) fn limits(&mut self, root: &DeTable<'_>) -> CallLimits {
        let mut limits = CallLimits::default();
        if let Some((table, at)) = self.single_table(root, "call") {
            check_members(table, CALL_KEYS, &at, self.problems);
            let defaults = table.get("defaults").and_then(|value| value.get_ref().as_bool());
            limits.defaults = defaults.unwrap_or(limits.defaults);
        }
        let Some((table, at)) = self.single_table(root, "limits") else { return limits };
        check_members(table, LIMIT_KEYS, &at, self.problems);
        let count = |name: &str| key_number(table, LIMIT_KEYS, name);
        let time = |name: &str| count(name).map(|n| Duration::from_millis(n as u64));
        // Keys that are not set keep the default of `CallLimits`, which `model` documents.
        limits.max_timeout = time("max_timeout").unwrap_or(limits.max_timeout);
        limits.timeout = time("timeout").unwrap_or(limits.timeout);
        limits.server_timeout = time("timeout").unwrap_or(limits.server_timeout);
        limits.output = count("output").unwrap_or(limits.output);
        limits.max_concurrent = count("max_concurrent").unwrap_or(limits.max_concurrent);
        limits.queue = count("queue").unwrap_or(limits.queue);
        let functions = &mut limits.functions;
        // One setting caps the output of tools and of the functions around them.
        functions.output = limits.output;
        functions.validator = time("validator_timeout").unwrap_or(functions.validator);
        functions.function = time("function_timeout").unwrap_or(functions.function);
        functions.memory = count("function_memory").unwrap_or(functions.memory);
        functions.body_memory = count("body_memory").unwrap_or(functions.body_memory);
        let word = table.get("output_schema").and_then(|value| value.get_ref().as_str());
        // Other words were reported by `check_members`.
        let known = OUTPUT_CHECKS.iter().find(|(known, _)| Some(*known) == word);
        limits.output_check = known.map_or(limits.output_check, |(_, check)| *check);
        if limits.timeout > limits.max_timeout {
            self.report_timeout_above_cap(table, &at);
            // Also after the report: nothing may run longer than the cap.
            limits.timeout = limits.max_timeout;
        }
        limits.server_timeout = limits.server_timeout.min(limits.max_timeout);
        limits
    }

    /// Reports a `timeout` above `max_timeout`. An author who set both wrote a contradiction; one
    /// who set only the cap did not.
    ///
    /// Used for `[limits]` and for each `[[source]]`.
    pub(super) fn report_timeout_above_cap(&mut self, table: &DeTable<'_>, at: &DocumentPath) {
        if let (Some(timeout), Some(cap)) = (table.get("timeout"), table.get("max_timeout")) {
            let message = "`timeout` is more than `max_timeout`";
            let label = Label { span: span(&cap.span()), text: "the cap".to_owned() };
            self.problems
                .add(&OUT_OF_RANGE, timeout.span(), &at.child("timeout"), message)
                .labels
                .push(label);
        }
    }
}
