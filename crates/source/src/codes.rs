//! Codes about the text itself, and codes that several crates report.
//!
//! A code is declared together with its manual and, where a document can show the mistake, with a
//! pair of documents. `explain`, docs/codes and a test that runs every pair all come from these
//! declarations, so a code cannot exist without its documentation. Other crates declare their codes
//! with the same macro, each beside the code that reports it.
//!
//! The severity is the default: `[levels]` of a configuration and `--compat` change what is shown,
//! not what is declared here.

/// Declares codes, one entry each: name, severity, manual, and where a document can show the
/// mistake `=> ("file", "bad", "good")`. The manual also becomes the doc comment of the static.
/// `ALL` lists all codes of the invocation.
#[macro_export]
macro_rules! codes {
    ($(
        $name:ident $severity:ident $manual:literal
        $(=> ($file:literal, $bad:literal, $good:literal))?
    )*) => {
        $(
            #[doc = $manual]
            pub static $name: $crate::DiagnosticCode = $crate::DiagnosticCode {
                name: stringify!($name),
                severity: $crate::Severity::$severity,
                manual: $manual,
                sample: $crate::codes!(@sample $($file $bad $good)?),
            };
        )*
        /// All codes of this crate.
        pub static ALL: &[&$crate::DiagnosticCode] = &[$(&$name),*];
    };
    (@sample) => { None };
    (@sample $file:literal $bad:literal $good:literal) => {
        Some($crate::CodeSample { file: $file, bad: $bad, good: $good })
    };
}

crate::codes! {
    INVALID_SYNTAX Error
    "The text breaks a rule of JSON or YAML at this place. In JSON the reader reports the \
     mistake and continues, so several can be shown at once; in YAML reading stops at the \
     first mistake in the grammar."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"},
}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"}
}
"#
    )
    DUPLICATE_KEY Error
    "A key appears twice in one object. Parsers disagree about which one counts, so a \
     definition must not rely on it. Remove one of the two."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"},
  "name": "today"
}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"}
}
"#
    )
    TOO_DEEP Error
    "Lists and objects are nested more than 128 levels deep, aliases included. No real \
     definition needs that, and programs that read it later may crash on it."
    TOO_LARGE Error
    "The document has more than 16 MiB, more than 1,000,000 values or comments, more than \
     50,000 comments in a row, or aliases that repeat more than 250,000 values; or a list has \
     more items than are read, or what says how a tool is run is too large for the number of its \
     commands. Reading stops there."
    INVALID_ENCODING Error
    "Definitions are UTF-8, with or without a byte order mark. Save the file as UTF-8."
    NUMBER_PRECISION Warning
    "The number has more digits, or a larger exponent, than a 64-bit integer or a double can \
     hold, so programs will see another number than the one written. Write it as a string if \
     every digit matters."
    => (
        "tool.json",
        r#"{
  "name": "count",
  "inputSchema": {"type": "object", "properties": {"n": {"maximum": 18446744073709551617}}}
}
"#,
        r#"{
  "name": "count",
  "inputSchema": {"type": "object", "properties": {"n": {"maximum": 18446744073709551615}}}
}
"#
    )

    // Readers and rules both report these, so neither can own them.
    INVALID_SCHEMA Error
    "A JSON Schema is invalid: it must be an object, follow the rules of its dialect, have no \
     dangling references, and allow a value to be validated in bounded time."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object", "properties": {"zone": {"type": "text"}}}
}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}
}
"#
    )
    UNSUPPORTED_DIALECT Error
    "`$schema` names another dialect than draft-07 or 2020-12. Callers would have to guess \
     what its keywords mean."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
}
"#
    )
    EXTERNAL_REF Error
    "A JSON Schema refers to another document. Nothing is ever fetched: copy what it refers \
     to into `$defs`."
    => (
        "tool.json",
        r##"{
  "name": "now",
  "inputSchema": {"type": "object", "properties": {"zone": {"$ref": "https://example.com/zone.json"}}}
}
"##,
        r##"{
  "name": "now",
  "inputSchema": {
    "type": "object",
    "properties": {"zone": {"$ref": "#/$defs/zone"}},
    "$defs": {"zone": {"type": "string"}}
  }
}
"##
    )
    DUPLICATE_ID Error
    "An id is used twice, by two tools or by two functions of one kind. A reference to it \
     would be ambiguous; of two tools the first one is kept. Rename one of them. Two tools may have \
     one id if each has a version of its own."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  tools:
    - id: add_note
    - id: add_note
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  tools:
    - id: add_note
    - id: drop_note
  cli_specific: {executable: notes}
"#
    )
    NAMING_CONVENTION Warning
    "A name works, but does not follow the convention of its format: kebab-case for AIOS ids \
     and the ids of functions, snake_case or kebab-case for commands, camelCase for BTCP \
     tools, and a namespace that other programs accept."
    => (
        "tool.yaml",
        r#"tool:
  id: noteKeeper
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: note-keeper
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
}
