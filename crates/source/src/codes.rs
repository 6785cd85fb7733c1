//! The codes that are about text itself, whatever it says.

use crate::finding::{Code, Severity};

/// Declares codes, one a line: name, severity, manual. `ALL` lists them.
#[macro_export]
macro_rules! codes {
    ($($name:ident $severity:ident $manual:literal)*) => {
        $(
            #[doc = $manual]
            pub static $name: $crate::Code = $crate::Code {
                name: stringify!($name),
                severity: $crate::Severity::$severity,
                manual: $manual,
            };
        )*
        /// All codes of this crate.
        pub static ALL: &[&$crate::Code] = &[$(&$name),*];
    };
}

/// The text is not JSON or YAML.
pub static INVALID_SYNTAX: Code = Code {
    name: "INVALID_SYNTAX",
    severity: Severity::Error,
    manual: "The text breaks a rule of JSON or YAML at this place. In JSON the reader notes the \
             mistake and goes on, so several can be shown at once; in YAML nothing is read \
             behind a mistake in the grammar.",
};

/// The same key twice in one object.
pub static DUPLICATE_KEY: Code = Code {
    name: "DUPLICATE_KEY",
    severity: Severity::Error,
    manual: "A key appears twice in one object. Parsers disagree about which one counts, so a \
             definition must not rely on it. Remove one of the two.",
};

/// Nesting beyond [`crate::MAX_DEPTH`].
pub static TOO_DEEP: Code = Code {
    name: "TOO_DEEP",
    severity: Severity::Error,
    manual: "Lists and objects are nested more than 128 levels deep, aliases included. No real \
             definition needs that, and programs further down the line may crash on it.",
};

/// More bytes, values or aliased values than the limits.
pub static TOO_LARGE: Code = Code {
    name: "TOO_LARGE",
    severity: Severity::Error,
    manual: "The document has more than 16 MiB, more than 1,000,000 values or comments, more than \
             50,000 comments in a row, or aliases that repeat more than 250,000 values. Reading \
             stops there.",
};

/// Not UTF-8.
pub static INVALID_ENCODING: Code = Code {
    name: "INVALID_ENCODING",
    severity: Severity::Error,
    manual: "Definitions are UTF-8, with or without a byte order mark. Save the file as UTF-8.",
};

/// A number that no machine type holds.
pub static NUMBER_PRECISION: Code = Code {
    name: "NUMBER_PRECISION",
    severity: Severity::Warning,
    manual: "The number has more digits, or a larger exponent, than a 64-bit integer or a double \
             can hold, so programs will see another number than the one written. Write it as a \
             string if every digit matters.",
};

/// All codes of this crate.
pub static ALL: &[&Code] =
    &[&INVALID_SYNTAX, &DUPLICATE_KEY, &TOO_DEEP, &TOO_LARGE, &INVALID_ENCODING, &NUMBER_PRECISION];
