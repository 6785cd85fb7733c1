//! An anti-pattern has a `category`.
//!
//! Source: AIOS, anti-patterns: optional but recommended, so this is a note. The specification
//! lists five categories and leaves the set open, so any word is accepted here.
//!
//! Silent about a category of another type than text, which the shape of the value reports.
//!
//! No repair: which category fits is a matter of the text.

use toolwright_source::words::shorten;
use toolwright_source::{RecordFinding, RecordPath};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISSING_CATEGORY Info
        "An anti-pattern has no `category`. AIOS recommends one, so that an agent can read the \
         anti-patterns that concern its next step and skip the others.\n\n\
         Add `api_usage`, `validation`, `error_handling`, `performance`, `security`, or a word \
         of your own."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  anti_patterns:
    - pattern: empty_note
      description: Notes without a text
      wrong: add_note({})
      correct: "add_note({text: 'milk'})"
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  anti_patterns:
    - pattern: empty_note
      description: Notes without a text
      category: validation
      wrong: add_note({})
      correct: "add_note({text: 'milk'})"
"#
    )
}

/// A finding for each anti-pattern, at the field that is missing. Its path does not exist, so it is
/// shown at the anti-pattern.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let list = RecordPath::root().child("knowledge").child("antiPatterns");
    for (n, pattern) in subject.toolset.knowledge.anti_patterns.iter().enumerate() {
        let at = list.child(n).child("category");
        // A category of another type is not in the record, but it is in the document. The record is
        // asked first, because most anti-patterns have a category and a look into the document is
        // slower.
        if pattern.category.is_none() && subject.document_value(&at).is_none() {
            // An anti-pattern without a name was reported by its shape; it needs a category, too.
            let name = shorten(pattern.name.as_deref().unwrap_or("the anti-pattern"));
            out.push(RecordFinding::new(
                &MISSING_CATEGORY,
                at,
                format!("`{name}` has no category"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn an_anti_pattern_without_a_category_is_reported() {
        let text = "tool:\n  id: a\n  anti_patterns:\n    - {pattern: x, category: y}\n    - no object\n    - {pattern: z}\n    - {pattern: w, category: 7}\n";
        assert_eq!(
            found("MISSING_CATEGORY", text),
            ["MISSING_CATEGORY at /tool/anti_patterns/2/category"]
        );
    }
}
