//! All rules: one file each, and one line in the list below.
//!
//! A file of a rule has, in this order: the rule in a sentence with its source, the manual page in
//! `codes!` with a document that breaks the rule and one that keeps it, the check, and its tests.
//! Five files are not rules but shared by several: `examples`, `parameters`, `schemas`, `texts`,
//! `verbs`.
//!
//! To add a rule, write its file and add it to `RULES` (or `RULES_BETWEEN`). The tests of the
//! command line then demand that its manual page is generated and that its two samples behave as
//! they claim.
//!
//! ```text
//! a value by itself is wrong ......... no rule: the tables of fields in `formats` report it
//! two values contradict each other ... a rule, an error or a warning by its specification
//! advice of our own .................. a rule, a warning or a note
//! a difference between documents ..... RULES_BETWEEN
//! ```
//!
//! A rule is silent wherever another one, or the shape, has reported the cause: one mistake is one
//! finding. It is also silent where a syntax error may hide what it looks for.

mod capability_not_declared;
mod confusable_name;
mod deprecated_without_message;
mod duplicate_enum_value;
mod duplicate_id;
mod duplicate_tool_name;
mod example_input_invalid;
mod example_outcome_crossed;
mod example_outcome_missing;
mod example_output_invalid;
mod examples;
mod forbidden_file_access;
mod forbidden_require;
pub(crate) mod hidden_text;
mod indistinguishable_tools;
mod ineffective_keyword;
pub(crate) mod invalid_function_syntax;
mod invalid_mcp_header;
pub(crate) mod invalid_schema;
mod invalid_validator_result;
mod locale_dependent;
mod lookalike_name;
mod mismatched_section;
mod mismatched_transport;
mod missing_category;
mod missing_description;
mod missing_output_schema;
mod missing_parameter_description;
mod missing_scenario;
mod misspelled_keyword;
pub(crate) mod model_instruction;
mod naming_convention;
mod no_entry_point;
pub(crate) mod not_runnable;
mod not_self_contained;
mod open_object;
mod page_api_unavailable;
mod parameters;
mod required_not_declared;
mod schema_value_invalid;
mod schemas;
mod secret_in_definition;
mod tag_not_normalized;
pub(crate) mod texts;
mod uninformative_description;
mod unknown_capability;
mod unknown_check;
mod unknown_detection;
mod unknown_health_check;
pub(crate) mod unresolved_reference;
mod unsatisfiable_schema;
mod unused_capability;
mod unused_definition;
mod unused_parameter;
mod vendor_incompatible;
mod verbs;
mod version_feature_mismatch;

use crate::rule::{Rule, RuleBetween};

/// The rules about one document, in the order they run. Findings are sorted by position before they
/// are shown, so the order matters only where a limit is reached. `invalid_schema` leads because
/// the rules about parameters and examples are silent about tools whose schema is invalid.
///
/// A rule that is missing here never runs; the compiler warns then, because its `RULE` is unused.
pub(crate) static RULES: &[&Rule] = &[
    &invalid_schema::RULE,
    &capability_not_declared::RULE,
    &confusable_name::RULE,
    &deprecated_without_message::RULE,
    &duplicate_id::RULE,
    &duplicate_tool_name::RULE,
    &example_input_invalid::RULE,
    &example_outcome_crossed::RULE,
    &example_outcome_missing::RULE,
    &example_output_invalid::RULE,
    &forbidden_file_access::RULE,
    &forbidden_require::RULE,
    &indistinguishable_tools::RULE,
    &invalid_function_syntax::RULE,
    &invalid_validator_result::RULE,
    &locale_dependent::RULE,
    &missing_description::RULE,
    &missing_output_schema::RULE,
    &missing_category::RULE,
    &missing_parameter_description::RULE,
    &missing_scenario::RULE,
    &mismatched_section::RULE,
    &mismatched_transport::RULE,
    &naming_convention::RULE,
    &no_entry_point::RULE,
    &not_runnable::RULE,
    &not_self_contained::RULE,
    &open_object::RULE,
    &page_api_unavailable::RULE,
    &schemas::RULE,
    &tag_not_normalized::RULE,
    &texts::RULE,
    &uninformative_description::RULE,
    &unknown_capability::RULE,
    &unknown_check::RULE,
    &unknown_detection::RULE,
    &unknown_health_check::RULE,
    &unresolved_reference::RULE,
    &unused_capability::RULE,
    &unused_parameter::RULE,
    &version_feature_mismatch::RULE,
    // Last: its warnings can be many, and must not push out those of other rules.
    &vendor_incompatible::RULE,
];

/// The rules that compare documents that are used together. They run once, after every document was
/// checked by itself, and see only names, namespaces, descriptions and bindings. So a rule that
/// needs schemas cannot be one of them.
///
/// The file `lookalike_name` has no rule about one document: names that one author chose are not an
/// imitation.
pub(crate) static RULES_BETWEEN: &[&RuleBetween] = &[
    &duplicate_id::RULE_BETWEEN,
    &indistinguishable_tools::RULE_BETWEEN,
    &lookalike_name::RULE,
    &unresolved_reference::RULE_BETWEEN,
    &vendor_incompatible::RULE_BETWEEN,
];
