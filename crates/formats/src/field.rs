//! The fields of a format as data. One table per format lists what may stand where, and three
//! things follow from it: the shape findings (`crate::shape`), the texts of help messages, and the
//! list of members that no table claims, which the reader keeps for writing the document back
//! (`extract`).
//!
//! ```text
//! static TOOL: &[Field]  ──▶ shape::check_object  ──▶ findings
//!                        ──▶ extract::keep_unknown ──▶ Rest
//! ```
//!
//! A table describes one value at a time. Rules that relate two values ("every capability of a tool
//! is declared by its manifest") are in the crate `check`. What a table cannot express, such as a
//! version that is a number or a string, is a [`FieldKind::Custom`] with a function of its own.
//!
//! The tables are `const`-built statics and not JSON Schemas: the findings need more than a schema
//! can say (common misspellings, words that only compatibility mode accepts, a line of help for
//! each field), and a typo in a table should not compile.

use toolwright_source::Node;

use crate::findings::FindingList;

/// One field of a format.
#[derive(Debug)]
pub struct Field {
    /// The key in the document.
    pub name: &'static str,
    /// The values it accepts.
    pub kind: FieldKind,
    /// Whether it may be absent.
    pub presence: FieldPresence,
    /// The first version of the format that has it, or `""` if all have. Nothing is reported from
    /// it: it is for documentation.
    pub since: &'static str,
    /// What it is for, as a phrase that completes "`name` is …" in the help of a missing field.
    pub about: &'static str,
    /// A wrong name that authors use for it although it is not spelled alike, for example
    /// `readOnly` for `readOnlyHint`. Names that are spelled alike are recognised without this.
    pub misspelling: Option<&'static str>,
}

/// Whether a field may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPresence {
    /// Absent, `null` and blank are errors.
    Required,
    /// The specification requires it, but many published documents leave it out: an error, and with
    /// `--compat` a warning.
    RequiredInStrictMode,
    /// It may be absent. `null` is checked like any other value, and rarely passes.
    Optional,
    /// It may be absent or `null`. YAML reads a key with nothing behind it as `null`, and authors
    /// of YAML write such keys for "not filled in yet".
    OptionalOrNull,
}

/// The values a field accepts.
///
/// What each kind reports is in `shape::check_value`, an arm for each.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// Any value, `null` included.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A string with bounds on its length, and optionally a pattern or a format.
    Text {
        /// Fewest code points.
        min: usize,
        /// Most code points.
        max: usize,
        /// The pattern it must match; a mismatch is an error.
        pattern: Option<&'static TextPattern>,
        /// The format it should have; a mismatch is a warning.
        format: Option<TextFormat>,
    },
    /// A whole number in a range. `60000.0` counts as one: JSON does not tell the two apart.
    Integer {
        /// The smallest number that is allowed.
        min: i64,
        /// The largest number that is allowed.
        max: i64,
    },
    /// One of a few words.
    Choice {
        /// The words, in the order in which a message lists them.
        words: &'static [&'static str],
        /// Words outside the list that many published documents use: a warning with `--compat`.
        tolerated: &'static [&'static str],
    },
    /// A semantic version.
    Version {
        /// Whether `v1.2.3` is accepted besides `1.2.3`.
        v_prefix: bool,
    },
    /// A JSON Schema. Here only its being an object is checked; the crate `check` compiles it.
    Schema,
    /// A list whose items all have one kind.
    List {
        /// The kind of its items.
        of: &'static FieldKind,
        /// Fewest items.
        min: usize,
    },
    /// An object with arbitrary keys, whose values all have one kind.
    Map(&'static FieldKind),
    /// An object with the fields of this table.
    Object(&'static [Field]),
    /// A check in code, for what the other kinds cannot express.
    Custom {
        /// The accepted values in words, for documentation.
        expects: &'static str,
        /// Reports everything that is wrong with the value, its type included.
        check: CustomCheck,
    },
}

/// The function of a [`FieldKind::Custom`]: takes the object that has the field, the value, and the
/// list to report to. The object is passed because it need not be the value's parent in the text:
/// an alias or a merge key may have brought the value in. It must accept any value, and report a
/// wrong type itself.
#[derive(Clone, Copy)]
pub struct CustomCheck(pub(crate) fn(Node<'_>, Node<'_>, &mut FindingList));

impl std::fmt::Debug for CustomCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CustomCheck")
    }
}

/// A pattern that a format publishes, with the hand-written check that implements it.
#[derive(Debug)]
pub struct TextPattern {
    /// The regular expression as the specification prints it, shown in messages.
    pub regex: &'static str,
    /// The pattern in words, for the help text.
    pub description: &'static str,
    /// The check. A property test compares it with `regex`.
    pub matches: fn(&str) -> bool,
    /// Texts that do not match and that many published documents use: a warning with `--compat`.
    pub tolerated: &'static [&'static str],
}

/// The format of an address. JSON Schema treats `format` as an annotation, so a text that does not
/// have it is a warning and not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// A URI.
    Uri,
    /// An e-mail address.
    Email,
}

/// Any string. Where the field is required it must not be blank.
pub(crate) const TEXT: FieldKind =
    FieldKind::Text { min: 0, max: usize::MAX, pattern: None, format: None };
/// A list of strings.
pub(crate) const TEXTS: FieldKind = FieldKind::List { of: &TEXT, min: 0 };
/// An object whose content the format does not describe.
pub(crate) const FREE: FieldKind = FieldKind::Map(&FieldKind::Any);

/// A field that must be present. `about` completes "`name` is …", so it begins in lower case and
/// has no full stop.
pub(crate) const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, presence: FieldPresence::Required, since: "", about, misspelling: None }
}

/// A field that may be absent, but not `null`.
pub(crate) const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, presence: FieldPresence::Optional, since: "", about, misspelling: None }
}

/// A field that may be absent or `null`, for formats written in YAML.
pub(crate) const fn optional_or_null(
    name: &'static str,
    kind: FieldKind,
    about: &'static str,
) -> Field {
    Field {
        name,
        kind,
        presence: FieldPresence::OptionalOrNull,
        since: "",
        about,
        misspelling: None,
    }
}

impl Field {
    /// The same field, first present in `version`.
    pub(crate) const fn since(mut self, version: &'static str) -> Field {
        self.since = version;
        self
    }

    /// The same field, for which authors often write `spelling`.
    pub(crate) const fn misspelled_as(mut self, spelling: &'static str) -> Field {
        self.misspelling = Some(spelling);
        self
    }

    /// The same required field, whose absence is only a warning with `--compat`.
    pub(crate) const fn in_strict_mode(mut self) -> Field {
        self.presence = FieldPresence::RequiredInStrictMode;
        self
    }
}

/// A string that matches `pattern` and has `min` to `max` code points.
pub(crate) const fn pattern(pattern: &'static TextPattern, min: usize, max: usize) -> FieldKind {
    FieldKind::Text { min, max, pattern: Some(pattern), format: None }
}

/// A string of `min` to `max` code points.
pub(crate) const fn length(min: usize, max: usize) -> FieldKind {
    FieldKind::Text { min, max, pattern: None, format: None }
}

/// A string that should be an address.
pub(crate) const fn address(format: TextFormat) -> FieldKind {
    FieldKind::Text { min: 0, max: usize::MAX, pattern: None, format: Some(format) }
}

/// One of `words`.
pub(crate) const fn choice(words: &'static [&'static str]) -> FieldKind {
    FieldKind::Choice { words, tolerated: &[] }
}
