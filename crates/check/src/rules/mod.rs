//! All rules: one file each, and one line in each of the lists below that concern it.
//!
//! A file of a rule has, in this order: the rule in a sentence with its source, the manual page in
//! `codes!` with a document that breaks the rule and one that keeps it, the check, and its tests.
//! Four files are not rules but shared by several: `examples`, `parameters`, `texts`, `verbs`.
//!
//! To add a rule, write its file and add it to `RULES` (or `RULES_BETWEEN`) and to `CODES`. The
//! tests of the command line then demand that its manual page is generated and that its two samples
//! behave as they claim.

mod capability_not_declared;
mod confusable_name;
mod deprecated_without_message;
mod duplicate_id;
mod duplicate_tool_name;
mod example_input_invalid;
mod example_outcome_crossed;
mod example_outcome_missing;
mod example_output_invalid;
mod examples;
mod forbidden_file_access;
mod forbidden_require;
mod hidden_text;
pub(crate) mod invalid_function_syntax;
pub(crate) mod invalid_schema;
mod invalid_validator_result;
mod lookalike_name;
mod missing_category;
mod missing_description;
mod missing_output_schema;
mod missing_parameter_description;
mod missing_scenario;
mod model_instruction;
mod naming_convention;
mod no_entry_point;
mod not_runnable;
mod not_self_contained;
mod open_object;
mod parameters;
mod secret_in_definition;
mod tag_not_normalized;
mod texts;
mod unknown_capability;
mod unknown_check;
mod unknown_detection;
pub(crate) mod unresolved_reference;
mod unused_capability;
mod vendor_incompatible;
mod verbs;
mod version_feature_mismatch;

use toolwright_source::{DiagnosticCode, RecordPath};

use crate::Subject;
use crate::rule::{Rule, RuleBetween};

/// The rules about one document, in the order they run. Findings are sorted by position before they
/// are shown, so the order matters only where a limit is reached. `invalid_schema` leads because
/// the rules about parameters and examples are silent about tools whose schema is invalid.
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
    &invalid_function_syntax::RULE,
    &invalid_validator_result::RULE,
    &missing_description::RULE,
    &missing_output_schema::RULE,
    &missing_category::RULE,
    &missing_parameter_description::RULE,
    &missing_scenario::RULE,
    &naming_convention::RULE,
    &no_entry_point::RULE,
    &not_runnable::RULE,
    &not_self_contained::RULE,
    &open_object::RULE,
    &tag_not_normalized::RULE,
    &texts::RULE,
    &unknown_capability::RULE,
    &unknown_check::RULE,
    &unknown_detection::RULE,
    &unresolved_reference::RULE,
    &unused_capability::RULE,
    &vendor_incompatible::RULE,
    &version_feature_mismatch::RULE,
];

/// The rules that compare documents that are used together. They run once, after every document was
/// checked by itself, and see only names, namespaces and bindings. So a rule that needs
/// descriptions or schemas cannot be one of them.
pub(crate) static RULES_BETWEEN: &[&RuleBetween] =
    &[&duplicate_id::RULE_BETWEEN, &lookalike_name::RULE];

/// The codes that rules declare, one list for each file. Rules that are missing here report codes
/// of `source::codes`.
///
/// `hidden_text`, `model_instruction` and `secret_in_definition` are in this list and not in
/// `RULES`: the one pass of `texts` runs all three. `duplicate_id`, `invalid_schema` and
/// `naming_convention` are in `RULES` and not in this list, because their codes are reported
/// outside of rules, too.
pub(crate) static CODES: &[&[&DiagnosticCode]] = &[
    capability_not_declared::ALL,
    confusable_name::ALL,
    deprecated_without_message::ALL,
    duplicate_tool_name::ALL,
    example_input_invalid::ALL,
    example_outcome_crossed::ALL,
    example_outcome_missing::ALL,
    example_output_invalid::ALL,
    forbidden_file_access::ALL,
    forbidden_require::ALL,
    hidden_text::ALL,
    invalid_function_syntax::ALL,
    invalid_validator_result::ALL,
    lookalike_name::ALL,
    missing_description::ALL,
    missing_output_schema::ALL,
    missing_category::ALL,
    missing_parameter_description::ALL,
    missing_scenario::ALL,
    model_instruction::ALL,
    no_entry_point::ALL,
    not_runnable::ALL,
    not_self_contained::ALL,
    open_object::ALL,
    secret_in_definition::ALL,
    tag_not_normalized::ALL,
    unknown_capability::ALL,
    unknown_check::ALL,
    unknown_detection::ALL,
    unresolved_reference::ALL,
    unused_capability::ALL,
    vendor_incompatible::ALL,
    version_feature_mismatch::ALL,
];

/// Whether a syntax error ended the reading inside this part of the record. What seems to be
/// missing there may follow in the text that was not read, so rules about missing things stay
/// silent.
///
/// `Report` drops findings that point into an unfinished value. That does not cover rules that
/// conclude from the absence of one value that another one is wrong: their findings point to a
/// value that was read completely.
fn is_unfinished(subject: &Subject<'_>, at: &RecordPath) -> bool {
    subject.document_value(at).is_some_and(|node| subject.origin.document().is_unfinished(node))
}
