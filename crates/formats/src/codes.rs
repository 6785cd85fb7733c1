//! The codes of shape findings. Each has a severity, its page in the manual, and two documents: one
//! with the mistake and one without. Tests check that the first reports the code and the second
//! does not; docs/codes is generated from here. Codes about the text itself are in
//! `toolwright_source`.

toolwright_source::codes! {
    MISSING_REQUIRED_FIELD Error "A field that the format requires is absent, null or blank. The place is the key of what lacks it."
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
    INVALID_TYPE Error "A field holds another type of value than its format says: a text where a list belongs, a number in quotes. In YAML it is often a missing pair of quotes, or one too many."
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
    INVALID_ENUM_VALUE Error "A field takes one of a few words, and this is none of them. The nearest one is suggested; words with `|` between them are the notation of a manual, not a value."
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
    INVALID_SEMVER Error "A version is not a semantic version: MAJOR.MINOR.PATCH, without leading zeros, perhaps with `-pre.release` and `+build`. In YAML, `1.0` is a number with two parts; write all three."
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
    INVALID_PATTERN Error "A text does not have the form its format prescribes, for example a name with characters that clients refuse, or a capability that is not `category:action`."
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
    INVALID_LENGTH Error "A text or list is shorter or longer than its format allows. Lengths of texts count Unicode code points."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Title",
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
    INVALID_FORMAT Warning "A text should be an address (a URI, an e-mail address) and is not. Formats annotate such fields, they do not enforce them, so this is a warning."
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
    UNSUPPORTED_PROTOCOL Error "The document asks for a version of its format that is not supported. For BTCP that is 1.0; a higher minor version of 1 is a warning."
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
    UNKNOWN_FIELD Info "The format does not know this field. It is legal, kept and written back, and means nothing to anybody."
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
    MISSPELLED_FIELD Warning "The format does not know this field, but one that is spelled almost like it. What was meant is not read, so this is hardly what the author wanted."
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
    EXTRA_ROOT_KEY Error "An AIOS document has one root key, `tool`; everything else belongs under it."
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
    UNKNOWN_FORMAT Error "The document is in none of the formats that can be read; the help says what was looked for. `--format` names a format where its own marks are missing."
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
    AMBIGUOUS_FORMAT Error "The document could be in more than one format, and reading it as the wrong one would be worse than not reading it. `--format` names one."
    => (
        "tools.json",
        r#"[{"name": "now", "parameters": {"type": "object"}}]
"#,
        r#"[{"name": "now", "inputSchema": {"type": "object"}}]
"#
    )
}
