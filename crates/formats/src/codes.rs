//! The codes of shape findings. Each has a severity, its page in the manual, and two documents: one
//! with the mistake and one without. Tests check that the first reports the code and the second
//! does not; docs/codes is generated from here. Codes about the text itself are in
//! `toolwright_source`.
//!
//! The fields of an entry, in their order: name, severity, text of the manual, name of the file,
//! document with the mistake, document without. The name of the file decides how both are parsed.

// The two documents of a code differ in the mistake only, so that a reader of `explain` sees at
// once what to change.
toolwright_source::codes! {
    MISSING_REQUIRED_FIELD Error "A field that the format requires is absent, null or blank. The \
        position shown is the key of the object that lacks it."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
    INVALID_TYPE Error "A field holds a value of another type than its format prescribes: a string \
        where a list belongs, or a number in quotes. In YAML the cause is often a missing or \
        superfluous pair of quotes."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"],
  "timeout": "5000"
}
"#,
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"],
  "timeout": 5000
}
"#
    )
    INVALID_ENUM_VALUE Error "A field accepts one of a few words, and this is not one of them. The \
        nearest word is suggested. Words with `|` between them are the notation of a manual: \
        choose one of them."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cil
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
    INVALID_SEMVER Error "A version is not a semantic version: MAJOR.MINOR.PATCH, without leading \
        zeros, optionally followed by `-pre.release` and `+build`. In YAML, `1.0` is a number with \
        two parts; write all three."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
    INVALID_PATTERN Error "A text does not match the pattern that its format prescribes: for \
        example a name with characters that clients refuse, or a capability that is not \
        `category:action`."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:*"]
}
"#,
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"]
}
"#
    )
    INVALID_LENGTH Error "A text or list is shorter or longer than its format allows. Lengths of \
        texts count Unicode code points."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Heading",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"]
}
"#,
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"]
}
"#
    )
    OUT_OF_RANGE Error "A number is smaller or larger than its format allows."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"],
  "timeout": 500
}
"#,
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object"},
  "capabilities": ["dom:read"],
  "timeout": 5000
}
"#
    )
    INVALID_FORMAT Warning "A text should be an address (a URI or an e-mail address) and is not. \
        Formats describe such fields without enforcing them, so this is a warning."
    => (
        "manifest.json",
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "provider": {"name": "Example", "url": "example.com"},
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "readTitle",
    "description": "Reads the title of the page",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read"]
  }]
}
"#,
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "provider": {"name": "Example", "url": "https://example.com"},
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "readTitle",
    "description": "Reads the title of the page",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read"]
  }]
}
"#
    )
    UNSUPPORTED_PROTOCOL Error "The document requires a version of its format that is not \
        supported. BTCP 1.0 is supported; a higher minor version of 1 is a warning."
    => (
        "manifest.json",
        r#"{
  "btcp": "2.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "readTitle",
    "description": "Reads the title of the page",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read"]
  }]
}
"#,
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "readTitle",
    "description": "Reads the title of the page",
    "inputSchema": {"type": "object"},
    "capabilities": ["dom:read"]
  }]
}
"#
    )
    UNKNOWN_FIELD Info "The format does not define this field. It is allowed, kept and written \
        back, but has no effect."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"},
  "colour": "blue"
}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"}
}
"#
    )
    MISSPELLED_FIELD Warning "The format does not define this field, but has one with almost the \
        same name. The value is not read, which is hardly what its author intended."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"},
  "descripton": "Tells the time"}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"},
  "description": "Tells the time"
}
"#
    )
    EXTRA_ROOT_KEY Error "An AIOS document has one root key, `tool`; everything else belongs under \
        it."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
author: Ann
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
    UNKNOWN_FORMAT Error "The document is in none of the formats that can be read. The help lists \
        the keys that were looked for. If the document lacks them, name its format with \
        `--format`."
    => (
        "tool.json",
        r#"{"title": "now"}
"#,
        r#"{
  "name": "now",
  "inputSchema": {"type": "object"}
}
"#
    )
    AMBIGUOUS_FORMAT Error "The document could be in more than one format, and reading it as the \
        wrong one would be worse than not reading it. Name its format with `--format`."
    => (
        "tools.json",
        r#"[{"name": "now", "parameters": {"type": "object"}}]
"#,
        r#"[{"name": "now", "inputSchema": {"type": "object"}}]
"#
    )
}
