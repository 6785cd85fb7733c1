//! Tags are written in the form in which they are stored and searched.
//!
//! Source: toolfoundation, tag normalization: lower case, spaces become `-`, only `a-z 0-9 - _ .`
//! stay, at most 64 characters each, no duplicates, at most 20.
//!
//! `model::Tags` normalizes; here each change is reported, with the repair that writes the
//! normalized form. The repair is safe if only case and white space change; `C++` becomes `c`,
//! which means something else. Silent about tags that are not texts.
//!
//! ```text
//! Date and Time   kept as `date-and-time`   safe repair
//! C++             kept as `c`               unsafe repair: it means something else
//! Web, web        the second is dropped     safe repair
//! 日本語           dropped                   unsafe repair
//! the 21st tag    dropped                   unsafe repair
//! ```

use toolwright_model::{Json, TagChange};
use toolwright_source::words::shorten;
use toolwright_source::{Edit, RecordFinding, Safety};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    TAG_NOT_NORMALIZED Warning
        "A tag is not stored as it is written. Tags are normalized for search: they become \
         lower case, white space becomes `-`, only the characters `a-z 0-9 - _ .` stay, each \
         tag has at most 64 characters and occurs once, and there are at most 20. A search for \
         the tag as it is written may not find the tool, and a tag that loses all its \
         characters is dropped.\n\n\
         Write the tag in its normalized form. The repair is safe if only case and white space \
         change."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "description": "Returns the current time",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "tags": ["Date and Time"]
}
"#,
        r#"{
  "name": "now",
  "description": "Returns the current time",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "tags": ["date-and-time"]
}
"#
    )
}

/// A finding at each tag that is stored in another form, or not at all.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let tags = &tool.details.tags;
        for (n, change) in tags.changes() {
            if out.is_full(&TAG_NOT_NORMALIZED) {
                return;
            }
            // `n` counts the tags that are texts. The reader noted the origin of each if the list
            // has other items, so the path leads to the right one.
            let (at, authored) = (at.child("tags").child(n), tags.authored()[n].as_str());
            let shown = shorten(authored);
            let (message, title, edit) = match &change {
                TagChange::Rewritten(tag) => (
                    format!("tag `{shown}` is kept as `{tag}`"),
                    format!("write `{tag}`"),
                    Edit::Replace(at.clone(), Json::from(tag.as_str())),
                ),
                TagChange::Repeated(tag) => (
                    format!("tag `{shown}` is left out: `{tag}` is there already"),
                    "remove it".to_owned(),
                    Edit::Remove(at.clone()),
                ),
                TagChange::Emptied => (
                    format!("tag `{shown}` is left out: it has no letter or digit that is kept"),
                    "remove it".to_owned(),
                    Edit::Remove(at.clone()),
                ),
                TagChange::BeyondLimit => (
                    format!("tag `{shown}` is left out: only the first 20 tags are kept"),
                    "remove it".to_owned(),
                    Edit::Remove(at.clone()),
                ),
            };
            let safety =
                if keeps_its_meaning(authored, &change) { Safety::Safe } else { Safety::Unsafe };
            out.push(RecordFinding::new(&TAG_NOT_NORMALIZED, at, message).repair(
                safety,
                title,
                vec![edit],
            ));
        }
    }
}

/// Whether the change affects only case and white space, so that the tag means the same and the
/// repair is safe. Dropping a duplicate is safe if the tag differed from the first one only in this
/// way.
fn keeps_its_meaning(authored: &str, change: &TagChange) -> bool {
    // Repeats only the first two steps of the normalization. If that gives the stored tag, the
    // later steps removed no character and cut nothing off.
    let lower = authored.to_lowercase();
    let expected = lower.split_whitespace().collect::<Vec<_>>().join("-");
    match change {
        TagChange::Rewritten(tag) | TagChange::Repeated(tag) => expected == tag.as_str(),
        // Safe for a blank tag, not for one in another script, such as `日本語`, whose characters are
        // all dropped.
        TagChange::Emptied => expected.is_empty(),
        // The repair would remove a tag that the author wanted to have. Which 20 are worth keeping
        // is for the author to decide.
        TagChange::BeyondLimit => false,
    }
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::{Edit, Safety};

    use crate::MAX_FINDINGS;
    use crate::testing::{count, findings, found, messages};

    /// An MCP tool with these tags.
    fn tool(tags: &str) -> String {
        format!(r#"{{"name": "a", "inputSchema": {{"type": "object"}}, "tags": {tags}}}"#)
    }

    #[test]
    fn tags_that_normalization_changes_are_reported() {
        let cases: &[(&str, &[&str])] = &[
            (r#"["a", "b-c", "d_e.f", "0"]"#, &[]),
            (r#"["A", "b c", " d ", "C++"]"#, &["/tags/0", "/tags/1", "/tags/2", "/tags/3"]),
            (r#"["a", "a"]"#, &["/tags/1"]),
            (r#"["", "  ", "日本"]"#, &["/tags/0", "/tags/1", "/tags/2"]),
            // Pointers are those of the document, also after items that are not texts.
            (r#"[7, "A", null, "B"]"#, &["/tags/1", "/tags/3"]),
            ("[]", &[]),
            ("7", &[]),
        ];
        for (tags, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("TAG_NOT_NORMALIZED at {at}")).collect();
            assert_eq!(found("TAG_NOT_NORMALIZED", &tool(tags)), expected, "{tags}");
        }
        let many: Vec<String> = (0..22).map(|n| format!("\"t{n}\"")).collect();
        let beyond = ["TAG_NOT_NORMALIZED at /tags/20", "TAG_NOT_NORMALIZED at /tags/21"];
        assert_eq!(found("TAG_NOT_NORMALIZED", &tool(&format!("[{}]", many.join(",")))), beyond);
        let btcp = r#"{"name": "a", "capabilities": [], "tags": ["A"]}"#;
        assert_eq!(found("TAG_NOT_NORMALIZED", btcp), ["TAG_NOT_NORMALIZED at /tags/0"]);
    }

    #[test]
    fn messages_and_repairs() {
        let replace = |text: &str| Some(Json::from(text));
        for (tags, n, message, safety, new) in [
            (
                r#"["Date Time"]"#,
                0,
                "tag `Date Time` is kept as `date-time`",
                Safety::Safe,
                replace("date-time"),
            ),
            (r#"["C++"]"#, 0, "tag `C++` is kept as `c`", Safety::Unsafe, replace("c")),
            (r#"["a", "A "]"#, 1, "tag `A ` is left out: `a` is there already", Safety::Safe, None),
            (
                r#"["c", "C#"]"#,
                1,
                "tag `C#` is left out: `c` is there already",
                Safety::Unsafe,
                None,
            ),
            (
                r#"[" "]"#,
                0,
                "tag ` ` is left out: it has no letter or digit that is kept",
                Safety::Safe,
                None,
            ),
            (
                r#"["!!"]"#,
                0,
                "tag `!!` is left out: it has no letter or digit that is kept",
                Safety::Unsafe,
                None,
            ),
        ] {
            assert_eq!(messages("TAG_NOT_NORMALIZED", &tool(tags)), [message]);
            let all = findings(&tool(tags));
            let found = all.into_iter().find(|f| f.code.name == "TAG_NOT_NORMALIZED").expect(tags);
            assert_eq!(found.at.as_str(), format!("/tags/{n}"));
            let repair = found.repair.expect("a repair");
            let edit = new
                .map_or(Edit::Remove(found.at.clone()), |new| Edit::Replace(found.at.clone(), new));
            assert_eq!((repair.safety, repair.edits), (safety, vec![edit]), "{tags}");
        }
    }

    #[test]
    fn findings_stop_at_the_limit() {
        let tools = vec![tool(r#"["A"]"#); 1_100].join(",");
        assert_eq!(count(&super::RULE, &format!("[{tools}]")), MAX_FINDINGS);
    }
}
