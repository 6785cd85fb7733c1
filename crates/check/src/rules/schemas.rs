//! One pass over the schemas of all tools, for the rules about mistakes in schemas that compile.
//!
//! Most schemas are clean, and one walk decides that for all of these rules; so the walk is shared,
//! and each rule has the file of its code: the manual, the message, the repair and the tests.
//! `toolwright_schema::mistakes` finds the mistakes. Both schemas of a tool are examined.
//!
//! Silent about schemas that do not compile (`INVALID_SCHEMA`), and about those that the reader
//! filled in: their author is this program.
//!
//! ```text
//! mistakes(schema) ─▶ SchemaMistake { kind, places, count } ─ by kind ─▶ `finding` of a rule
//! ```
//!
//! To add a mistake: a variant of `MistakeKind` with its search in `schema`, a file here with the
//! code and a function `finding`, an arm in `report`, and the code in `RULE`.

use toolwright_model::Json;
use toolwright_schema::{MistakeKind, SchemaMistake, SchemaSide, contradictions, mistakes};
use toolwright_source::{RecordFinding, RecordPath};

use super::{
    duplicate_enum_value, ineffective_keyword, invalid_mcp_header, misspelled_keyword,
    required_not_declared, schema_value_invalid, unsatisfiable_schema, unused_definition,
};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::written_schema;

pub(crate) static RULE: Rule = Rule {
    codes: &[
        &required_not_declared::REQUIRED_NOT_DECLARED,
        &unsatisfiable_schema::UNSATISFIABLE_SCHEMA,
        &schema_value_invalid::SCHEMA_VALUE_INVALID,
        &misspelled_keyword::MISSPELLED_KEYWORD,
        &ineffective_keyword::INEFFECTIVE_KEYWORD,
        &duplicate_enum_value::DUPLICATE_ENUM_VALUE,
        &unused_definition::UNUSED_DEFINITION,
        &invalid_mcp_header::INVALID_MCP_HEADER,
    ],
    check,
};

/// If only errors are wanted, the search for other mistakes is skipped.
///
/// At most fifty mistakes are found in one schema; see `schema::mistakes`.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (tool, draft) in subject.tools() {
        for side in [SchemaSide::Input, SchemaSide::Output] {
            let Some(schema) = written_schema(draft, side) else { continue };
            if out.is_full(&unsatisfiable_schema::UNSATISFIABLE_SCHEMA)
                || !subject.has_valid_schema(tool.0, side)
            {
                continue;
            }
            let found = match out.is_for_errors() {
                // The only mistake that is an error.
                true => contradictions(schema),
                false => mistakes(schema, side),
            };
            if found.is_empty() {
                continue;
            }
            let at = tool.child(side.field());
            // Without a value in the document, the reader has filled the schema in.
            if subject.document_value(&at).is_some() {
                report(&CheckedSchema { schema, at }, &found, out);
            }
        }
    }
}

/// A schema and where it is in the record. Places of mistakes are pointers into `schema`; `path`
/// puts `at` before them.
pub(super) struct CheckedSchema<'a> {
    pub(super) schema: &'a Json,
    at: RecordPath,
}

impl CheckedSchema<'_> {
    /// The path in the record of a place in the schema, which the crate `schema` gives as text.
    pub(super) fn path(&self, place: &str) -> RecordPath {
        self.at.join(&RecordPath::parse(place).unwrap_or_default())
    }
}

/// Turns each mistake into a finding. A rule may decide against it: an unknown keyword that is
/// close to no other is not reported.
fn report(schema: &CheckedSchema<'_>, found: &[SchemaMistake], out: &mut Report<'_>) {
    for mistake in found {
        let finding = match &mistake.kind {
            MistakeKind::RequiredNotDeclared { name, declared, is_open } => {
                required_not_declared::finding(schema, mistake, name, declared, *is_open)
            }
            MistakeKind::Unsatisfiable { reason } => {
                Some(unsatisfiable_schema::finding(schema, mistake, reason))
            }
            MistakeKind::InvalidValue { keyword, reason, is_null_default } => Some(
                schema_value_invalid::finding(schema, mistake, keyword, reason, *is_null_default),
            ),
            MistakeKind::UnknownKeyword { keyword } => {
                misspelled_keyword::finding(schema, mistake, keyword)
            }
            MistakeKind::IneffectiveKeyword { keyword, applies_to, types } => {
                Some(ineffective_keyword::finding(schema, mistake, keyword, applies_to, types))
            }
            MistakeKind::DuplicateEnumValue { value } => {
                Some(duplicate_enum_value::finding(schema, mistake, value))
            }
            // All unused definitions of a schema become one finding, below.
            MistakeKind::UnusedDefinition { .. } => None,
            MistakeKind::InvalidHeader { reason } => {
                Some(invalid_mcp_header::finding(schema, mistake, reason))
            }
        };
        finding.into_iter().for_each(|finding| out.push(finding));
    }
    unused_definition::finding(schema, found).into_iter().for_each(|finding| out.push(finding));
}

/// The message, with the number of places if there are several: only the first is a finding.
pub(super) fn counted(message: String, mistake: &SchemaMistake) -> String {
    match mistake.count {
        1 => message,
        count => format!("{message} ({count} places)"),
    }
}

/// The first place of a mistake. A mistake always has a place; an empty text would be the schema
/// itself.
pub(super) fn first_place(schema: &CheckedSchema<'_>, mistake: &SchemaMistake) -> RecordPath {
    schema.path(mistake.places.first().map_or("", String::as_str))
}

/// A finding at the first place of a mistake. One finding for a mistake, however often it occurs:
/// the remedy is the same at each place.
pub(super) fn first_finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    code: &'static toolwright_source::DiagnosticCode,
    message: String,
) -> RecordFinding {
    RecordFinding::new(code, first_place(schema, mistake), counted(message, mistake))
}
