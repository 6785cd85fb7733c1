//! A format's fields as data. One table per format says what may stand where; the shape findings,
//! the docs and completion all come from it.

use toolwright_source::Node;

use crate::findings::Findings;

/// One field of a format.
#[derive(Debug)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it must be there.
    pub need: Need,
    /// The version of the format that has it first, or `""` for all.
    pub since: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// Another spelling that people take for it.
    pub mistaken: Option<&'static str>,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// It should by the letter, but documents in the wild go without.
    RequiredTolerably,
    /// It need not; `null` is a value like any other, and rarely the right one.
    Optional,
    /// It need not, and `null` says the same as leaving it out: a YAML key with nothing behind it.
    OrNull,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// Any value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A text between two lengths, perhaps of a form.
    Text {
        /// Fewest code points.
        min: usize,
        /// Most code points.
        max: usize,
        /// The form it must have.
        pattern: Option<&'static Pattern>,
        /// What it should be the address of.
        format: Option<TextFormat>,
    },
    /// A whole number in a range; `60000.0` is one.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of a few words.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Words outside the list that documents in the wild use.
        tolerated: &'static [&'static str],
    },
    /// A semantic version; with `v` it may start with one.
    Version {
        /// Whether `v1.2.3` is fine.
        v: bool,
    },
    /// A JSON Schema; only that it is an object is looked at here.
    Schema,
    /// A list of values of one kind.
    List {
        /// What each item is.
        of: &'static FieldKind,
        /// Fewest items.
        min: usize,
    },
    /// An object with free keys and values of one kind.
    Map(&'static FieldKind),
    /// An object with these fields.
    Object(&'static [Field]),
    /// A rule of its own, for what no table says.
    Rule {
        /// What it wants, for the docs.
        wants: &'static str,
        /// Looks at the value.
        check: RuleCheck,
    },
}

/// Looks at the value of a field and reports. The first node is the object that has the field,
/// which need not be the value's parent in the text: an alias or a merge key may have brought it
/// in.
#[derive(Clone, Copy)]
pub struct RuleCheck(pub(crate) fn(Node<'_>, Node<'_>, &mut Findings));

impl std::fmt::Debug for RuleCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RuleCheck")
    }
}

/// A form of text: the pattern a format publishes, and the check that stands for it.
#[derive(Debug)]
pub struct Pattern {
    /// As published.
    pub regex: &'static str,
    /// In words.
    pub means: &'static str,
    /// The check; a test holds it against the regex.
    pub matches: fn(&str) -> bool,
    /// Texts outside the form that documents in the wild use.
    pub tolerated: &'static [&'static str],
}

/// What a text should be the address of. A wrong one is a warning: formats annotate, they do not
/// assert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// A URI.
    Uri,
    /// An e-mail address.
    Email,
}

/// Any text; where it is required it must not be blank.
pub(crate) const TEXT: FieldKind =
    FieldKind::Text { min: 0, max: usize::MAX, pattern: None, format: None };
/// A list of texts.
pub(crate) const TEXTS: FieldKind = FieldKind::List { of: &TEXT, min: 0 };
/// An object with free content.
pub(crate) const FREE: FieldKind = FieldKind::Map(&FieldKind::Any);

pub(crate) const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, need: Need::Required, since: "", about, mistaken: None }
}

pub(crate) const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, need: Need::Optional, since: "", about, mistaken: None }
}

/// An optional field of a format in which `null` counts as absent.
pub(crate) const fn optional_or_null(
    name: &'static str,
    kind: FieldKind,
    about: &'static str,
) -> Field {
    Field { name, kind, need: Need::OrNull, since: "", about, mistaken: None }
}

impl Field {
    /// The same field, marked as new in `version`.
    pub(crate) const fn since(mut self, version: &'static str) -> Field {
        self.since = version;
        self
    }

    /// The same field, with a spelling that people take for it.
    pub(crate) const fn not(mut self, spelling: &'static str) -> Field {
        self.mistaken = Some(spelling);
        self
    }

    /// The same field, required by the letter only.
    pub(crate) const fn tolerably(mut self) -> Field {
        self.need = Need::RequiredTolerably;
        self
    }
}

pub(crate) const fn pattern(pattern: &'static Pattern, min: usize, max: usize) -> FieldKind {
    FieldKind::Text { min, max, pattern: Some(pattern), format: None }
}

pub(crate) const fn length(min: usize, max: usize) -> FieldKind {
    FieldKind::Text { min, max, pattern: None, format: None }
}

pub(crate) const fn address(format: TextFormat) -> FieldKind {
    FieldKind::Text { min: 0, max: usize::MAX, pattern: None, format: Some(format) }
}

pub(crate) const fn choice(words: &'static [&'static str]) -> FieldKind {
    FieldKind::Choice { words, tolerated: &[] }
}
