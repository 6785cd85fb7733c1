//! Names, namespaces and ids.
//!
//! ```text
//! github:list_issues:1.2.0
//! └─────┘└──────────┘└────┘
//! namespace  name     version, only in a VersionedRef
//! └─────────────────┘
//!       ToolId
//! ```
//!
//! The rules are those of the toolfoundation specification.

use std::collections::HashSet;
use std::fmt;

/// The most characters of a tool name or a namespace.
const MAX_LENGTH: usize = 128;

/// The characters of names, which every format and every client accepts.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// A tool's name: 1 to 128 characters of `A-Z a-z 0-9 _ . -`. `.` and `..` are legal names, so a
/// name must never be used as part of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Box<str>);

/// Why a text is not a tool name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name must not be empty")]
    Empty,
    /// The text has characters outside the set. Each is listed once, in the order of the text.
    #[error("a name may not contain {}", list(.0))]
    Characters(Vec<char>),
    /// The text has this many characters, more than 128.
    #[error("a name has at most {MAX_LENGTH} characters, this one has {0}")]
    TooLong(usize),
}

/// The first eight characters for a message: a hostile name has thousands of different ones.
fn list(chars: &[char]) -> String {
    let quoted = chars.iter().take(8).map(|c| format!("`{}`", c.escape_debug()));
    let mut text = quoted.collect::<Vec<_>>().join(", ");
    if chars.len() > 8 {
        text.push_str(", …");
    }
    text
}

impl ToolName {
    /// Checks that the text is a name: characters first, then length.
    pub fn parse(text: &str) -> Result<ToolName, NameError> {
        check_name(text).map(|()| ToolName(text.into()))
    }

    /// A name that stands for a text that is not one, such as `get weather` or `搜索`: its letters
    /// and digits with `_` between them, and a hash of the text, so that different texts get
    /// different names and a text always the same. `None` for a blank text.
    ///
    /// It cannot be turned back into the text: a caller keeps the text beside it.
    pub fn stand_in_for(text: &str) -> Option<ToolName> {
        /// Characters of the text that are kept. Short enough that a client which accepts 64
        /// characters accepts most ids.
        const KEPT: usize = 40;
        if text.trim().is_empty() {
            return None;
        }
        let allowed = |c: char| if is_name_char(c) { c } else { '_' };
        let kept: String = text.chars().take(KEPT).map(allowed).collect();
        let kept = match kept.trim_matches('_') {
            "" => "tool",
            kept => kept,
        };
        Some(ToolName(format!("{kept}_{:08x}", short_hash(text)).into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A hash of a text for names that are made from it: FNV-1a with 64 bits, folded to 32. Names must
/// not change between versions and machines, which the standard library's hashers do not promise.
pub fn short_hash(text: &str) -> u32 {
    let full = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (full ^ (full >> 32)) as u32
}

/// Takes time in proportion to the length of the text, whatever it contains.
fn check_name(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    let mut seen = HashSet::new();
    let bad: Vec<char> = text.chars().filter(|c| !is_name_char(*c) && seen.insert(*c)).collect();
    if !bad.is_empty() {
        return Err(NameError::Characters(bad));
    }
    // Only ASCII is left, so bytes are characters.
    if text.len() > MAX_LENGTH {
        return Err(NameError::TooLong(text.len()));
    }
    Ok(())
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The first part of a tool's id: the name of its manifest, server or collection. It has no `:`, no
/// white space and no control characters, and at most 128 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Box<str>);

/// Why a text is not a namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamespaceError {
    /// The text is empty.
    #[error("a namespace must not be empty")]
    Empty,
    /// The text has a colon, white space or a control character; this is the first.
    #[error("a namespace may not contain `{}`", .0.escape_debug())]
    Character(char),
    /// The text has this many characters, more than 128.
    #[error("a namespace has at most {MAX_LENGTH} characters, this one has {0}")]
    TooLong(usize),
}

impl Namespace {
    /// Refuses what would make ids ambiguous. Other unusual characters are accepted, because
    /// collections have names in all scripts; see [`Namespace::is_portable`].
    pub fn parse(text: &str) -> Result<Namespace, NamespaceError> {
        if text.is_empty() {
            return Err(NamespaceError::Empty);
        }
        if let Some(c) = text.chars().find(|c| *c == ':' || c.is_whitespace() || c.is_control()) {
            return Err(NamespaceError::Character(c));
        }
        let length = text.chars().count();
        if length > MAX_LENGTH {
            return Err(NamespaceError::TooLong(length));
        }
        Ok(Namespace(text.into()))
    }

    /// Whether all characters are those of a tool name, which every client and server accepts.
    pub fn is_portable(&self) -> bool {
        self.0.chars().all(is_name_char)
    }

    /// The namespace as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `namespace:name`, or just `name`: what identifies a tool in a catalog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolId {
    /// The part before the colon.
    pub namespace: Option<Namespace>,
    /// The part after the colon, or all of it.
    pub name: ToolName,
}

/// Why a text is not a tool id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text has more than one colon.
    #[error("an id has at most one `:`")]
    Colons,
    /// The part before the colon has characters that names do not have.
    #[error("before the `:`: {0}")]
    Namespace(NameError),
    /// The part after the colon, or all of it, is not a name.
    #[error(transparent)]
    Name(NameError),
}

impl ToolId {
    /// Parses `name` or `namespace:name`. Here the namespace must be portable, too: an id is typed
    /// by people and travels between programs.
    pub fn parse(text: &str) -> Result<ToolId, IdError> {
        let Some((namespace, name)) = text.split_once(':') else {
            return Ok(ToolId {
                namespace: None,
                name: ToolName::parse(text).map_err(IdError::Name)?,
            });
        };
        if name.contains(':') {
            return Err(IdError::Colons);
        }
        let namespace = ToolName::parse(namespace).map_err(IdError::Namespace)?;
        let name = ToolName::parse(name).map_err(IdError::Name)?;
        Ok(ToolId { namespace: Some(Namespace(namespace.0)), name })
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}:{}", self.name),
            None => self.name.fmt(f),
        }
    }
}

/// `namespace:name:version`, as other programs write it. A version is not part of an id; it follows
/// one only where several versions have to be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionedRef {
    /// The part before the version.
    pub id: ToolId,
    /// The version as it was written. It need not be a semantic version.
    pub version: Option<String>,
}

impl VersionedRef {
    /// Parses an id with or without a version.
    pub fn parse(text: &str) -> Result<VersionedRef, IdError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            [_] | [_, _] => Ok(VersionedRef { id: ToolId::parse(text)?, version: None }),
            [namespace, name, version] if !version.is_empty() => {
                let id = ToolId::parse(&format!("{namespace}:{name}"))?;
                Ok(VersionedRef { id, version: Some(version.to_owned()) })
            }
            _ => Err(IdError::Colons),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_by_characters_then_length() {
        let long = "a".repeat(128);
        for good in ["ok", "..", "Read.File_v-2", "0", long.as_str()] {
            assert!(ToolName::parse(good).is_ok(), "{good}");
        }
        let cases = [
            ("", NameError::Empty),
            ("bad:name", NameError::Characters(vec![':'])),
            ("bad!na!me@", NameError::Characters(vec!['!', '@'])),
            ("a b", NameError::Characters(vec![' '])),
            ("a/b", NameError::Characters(vec!['/'])),
        ];
        for (text, error) in cases {
            assert_eq!(ToolName::parse(text), Err(error), "{text}");
        }
        assert_eq!(ToolName::parse(&"a".repeat(129)), Err(NameError::TooLong(129)));
        // Characters are checked before the length.
        assert_eq!(ToolName::parse(&"é".repeat(200)), Err(NameError::Characters(vec!['é'])));
        assert_eq!(
            NameError::Characters(vec!['\n', '!']).to_string(),
            "a name may not contain `\\n`, `!`"
        );
    }

    #[test]
    fn a_text_that_is_not_a_name_gets_one_that_stands_for_it() {
        let long = "x".repeat(500);
        for (text, start) in [
            ("get weather/now", "get_weather_now_"),
            ("get weather now", "get_weather_now_"),
            ("搜索", "tool_"),
            ("\u{1b}[2Jclear", "2Jclear_"),
            (&long, "xxxx"),
        ] {
            let name = ToolName::stand_in_for(text).expect("not blank");
            assert!(name.as_str().starts_with(start), "{text}: {name}");
            assert_eq!(ToolName::parse(name.as_str()), Ok(name.clone()), "{text}");
            assert!(name.as_str().len() <= 49, "{name}");
        }
        let name = |text| ToolName::stand_in_for(text);
        assert_ne!(name("get weather/now"), name("get weather now"));
        assert_eq!(name("a b"), name("a b"));
        assert_eq!((name(""), name(" \n")), (None, None));
    }

    #[test]
    fn namespaces_refuse_only_what_breaks_an_id() {
        for good in ["a", "my-app", "日本", "ns/sub"] {
            assert!(Namespace::parse(good).is_ok(), "{good}");
        }
        assert!(!Namespace::parse("ns/sub").expect("allowed").is_portable());
        for (text, bad) in [("a:b", ':'), ("a b", ' '), ("a\u{a0}b", '\u{a0}'), ("a\0", '\0')] {
            assert_eq!(Namespace::parse(text), Err(NamespaceError::Character(bad)));
        }
        assert_eq!(Namespace::parse(""), Err(NamespaceError::Empty));
        assert_eq!(Namespace::parse(&"é".repeat(129)), Err(NamespaceError::TooLong(129)));
    }

    #[test]
    fn ids_have_at_most_one_colon_between_two_names() {
        for (text, namespace, name) in [("read", None, "read"), ("fs:read", Some("fs"), "read")] {
            let id = ToolId::parse(text).expect("an id");
            assert_eq!(id.namespace.as_ref().map(Namespace::as_str), namespace);
            assert_eq!(id.name.as_str(), name);
            assert_eq!(id.to_string(), text);
        }
        for bad in [
            "", "::", "ns:", ":name", "a:b:c", "a:b:", "a::c", " a : b ", "a b", "ns:na me",
            "日本:x", "ns/sub:t", "a：b",
        ] {
            assert!(ToolId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn versioned_references_accept_a_version_after_the_id() {
        for (text, id, version) in [
            ("read", "read", None),
            ("a:b", "a:b", None),
            ("a:b:c", "a:b", Some("c")),
            ("ns:tool:v1.2.3+b", "ns:tool", Some("v1.2.3+b")),
        ] {
            let reference = VersionedRef::parse(text).expect("a reference");
            assert_eq!(
                (reference.id.to_string().as_str(), reference.version.as_deref()),
                (id, version)
            );
        }
        for bad in ["", "::", "a:b:", "a::c", "a:b:c:d", ":b:c"] {
            assert!(VersionedRef::parse(bad).is_err(), "{bad}");
        }
    }
}
