//! Tags, normalised for search by the rules of the toolfoundation specification. What the author
//! wrote is kept beside them.

use std::fmt;

/// The most tags of a tool. Further ones are dropped.
const MAX_TAGS: usize = 20;
/// The most characters of a tag. Longer ones are cut.
const MAX_LENGTH: usize = 64;

/// A normalised tag: 1 to 64 characters of `a-z 0-9 - _ .`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(Box<str>);

impl Tag {
    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How normalising changed a tag that the author wrote. The check TAG_NOT_NORMALIZED reports these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagChange {
    /// The tag is kept in this spelling.
    Rewritten(Tag),
    /// The tag is dropped, because it normalises to this one, which came before.
    Repeated(Tag),
    /// The tag is dropped, because no character of it is allowed.
    Emptied,
    /// The tag is dropped, because there were twenty already.
    BeyondLimit,
}

/// The tags of a tool, as written and as normalised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    authored: Vec<String>,
    normalised: Vec<Tag>,
}

impl Tags {
    /// Normalises a list. Never fails; normalising the result again changes nothing.
    pub fn new(authored: Vec<String>) -> Tags {
        let mut normalised: Vec<Tag> = Vec::new();
        for text in &authored {
            if normalised.len() == MAX_TAGS {
                break;
            }
            if let Some(tag) = normalise(text).filter(|tag| !normalised.contains(tag)) {
                normalised.push(tag);
            }
        }
        Tags { authored, normalised }
    }

    /// The normalised tags in the order of the list, at most twenty, without repetitions.
    pub fn normalised(&self) -> &[Tag] {
        &self.normalised
    }

    /// The list as the author wrote it.
    pub fn authored(&self) -> &[String] {
        &self.authored
    }

    /// The tags that normalising changed, each with its index in the written list.
    pub fn changes(&self) -> Vec<(usize, TagChange)> {
        let mut seen: Vec<Tag> = Vec::new();
        let mut changes = Vec::new();
        for (n, text) in self.authored.iter().enumerate() {
            let change = match normalise(text) {
                _ if seen.len() == MAX_TAGS => Some(TagChange::BeyondLimit),
                None => Some(TagChange::Emptied),
                Some(tag) if seen.contains(&tag) => Some(TagChange::Repeated(tag)),
                Some(tag) => {
                    seen.push(tag.clone());
                    (tag.as_str() != text).then_some(TagChange::Rewritten(tag))
                }
            };
            changes.extend(change.map(|change| (n, change)));
        }
        changes
    }
}

/// Lower case, white space trimmed and inside replaced by `-`, other characters removed, cut to the
/// maximum: in this order, which the specification prescribes. Letters with accents are removed and
/// not folded: `Café` becomes `caf`. `None` if nothing is left.
fn normalise(text: &str) -> Option<Tag> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let kept = |c: &char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
    let tag: String = words.join("-").chars().filter(kept).take(MAX_LENGTH).collect();
    (!tag.is_empty()).then(|| Tag(tag.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(tags: &[&str]) -> Vec<String> {
        let tags = Tags::new(tags.iter().map(|t| (*t).to_owned()).collect());
        tags.normalised().iter().map(Tag::to_string).collect()
    }

    #[test]
    fn tags_are_normalised_in_the_order_of_the_specification() {
        let a64 = "a".repeat(64);
        let a100 = "a".repeat(100);
        let a63_b = format!("{} b", "a".repeat(63));
        let cut = format!("{}-", "a".repeat(63));
        let cases: &[(&[&str], &[&str])] = &[
            (
                &["  Foo ", "foo", "Bar Baz", "bar-baz", "A_B", "A.B"],
                &["foo", "bar-baz", "a_b", "a.b"],
            ),
            (&[&a100], &[&a64]),
            (&[&a63_b], &[&cut]),
            (&["Café", "naïve", "日本語", "ÀÉ"], &["caf", "nave"]),
            (
                &[" nbsp\u{a0}", "em\u{2003}space", "zero\u{200b}width", "nl\nline\ttab"],
                &["nbsp", "em-space", "zerowidth", "nl-line-tab"],
            ),
            (
                &["\u{212a}", "İstanbul", "STRASSE", "straße"],
                &["k", "istanbul", "strasse", "strae"],
            ),
            (&["a  b   c", "a - b", "--", "-", ".", "_"], &["a-b-c", "a---b", "--", "-", ".", "_"]),
            (&["C++", "C#", "c"], &["c"]),
            (&["ns:tag", "a/b", "k=v", "@scope/pkg"], &["nstag", "ab", "kv", "scopepkg"]),
            (&["\0a", "ab"], &["a", "ab"]),
            (&["", "  ", "!!"], &[]),
        ];
        for (authored, expected) in cases {
            assert_eq!(normalised(authored), *expected, "{authored:?}");
        }
    }

    #[test]
    fn at_most_twenty_tags_are_kept_and_repeated_ones_do_not_count() {
        let many: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(normalised(&many).len(), 20);
        let mut with_repeat = vec!["t0"];
        with_repeat.extend(&many[..20]);
        assert_eq!(normalised(&with_repeat).len(), 20);
    }

    #[test]
    fn changes_list_each_tag_that_is_not_kept_as_written() {
        let tags = Tags::new(["ok", "Not OK", "ok", "!!"].map(String::from).to_vec());
        let ok = || Tag("ok".into());
        assert_eq!(
            tags.changes(),
            [
                (1, TagChange::Rewritten(Tag("not-ok".into()))),
                (2, TagChange::Repeated(ok())),
                (3, TagChange::Emptied)
            ]
        );
        assert_eq!(tags.authored().len(), 4);
    }

    proptest::proptest! {
        #[test]
        fn normalised_tags_are_legal_unique_and_stay_as_they_are(
            authored in proptest::collection::vec(".{0,80}", 0..30)
        ) {
            let once = Tags::new(authored);
            let texts: Vec<String> = once.normalised().iter().map(Tag::to_string).collect();
            assert!(texts.len() <= MAX_TAGS);
            for (n, text) in texts.iter().enumerate() {
                assert!((1..=MAX_LENGTH).contains(&text.len()));
                assert!(text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.')));
                assert!(!texts[..n].contains(text));
            }
            let twice = Tags::new(texts.clone());
            assert_eq!(twice.normalised(), once.normalised());
            assert_eq!(twice.changes(), []);
        }
    }
}
