//! The keys of the configuration as data. From the tables follow the checks of each key by itself
//! (`key_checks`) and the JSON Schema for editors (`schema`).
//!
//! It is the same idea as `formats::field`, for TOML: the two parsers have different trees, and the
//! configuration has kinds of values (commands, tables of secrets) that no tool format has.
//!
//! ```text
//! TABLES ─▶ ConfigTable { name, shape } ─▶ ConfigKey { name, form, about, goes_with }
//!                                            ├─ key_checks: is this value right?
//!                                            ├─ schema: what editors complete and show
//!                                            └─ config: the value, by the name of its key
//! ```
//!
//! `about` is a sentence for people, in the documentation as well: docs/toolwright.schema.json is
//! made of it, and a test compares the two.

use toolwright_formats::FORMATS;
use toolwright_schema::VendorTarget;

use super::audit_settings::RECORDED_ARGUMENTS;
use super::limits::OUTPUT_CHECKS;
use super::policy_settings::{ANNOTATED_NEEDS, RULE_ACTIONS, is_grant_origin, is_sha256};
use super::server_settings::{ISOLATIONS, START_MODES};
use super::trust_settings::PIN_MODES;
use crate::text_forms::{can_be_variable, is_header_name, is_host, is_origin};

/// A table of the file.
pub(super) struct ConfigTable {
    pub(super) name: &'static str,
    pub(super) shape: TableShape,
    /// What editors show for it.
    pub(super) about: &'static str,
}

/// What a table holds.
pub(super) enum TableShape {
    /// `[[name]]`, any number of times, each with these keys; the second list has those that every
    /// one must have.
    List(&'static [ConfigKey], &'static [&'static str]),
    /// `[name]`, once, with these keys.
    Once(&'static [ConfigKey]),
    /// `[name]`, once, with the codes of diagnostics as keys and severities as values.
    Levels,
}

/// A key and the values it accepts.
pub(super) struct ConfigKey {
    pub(super) name: &'static str,
    /// The values it accepts.
    pub(super) form: KeyForm,
    /// What editors show for it.
    pub(super) about: &'static str,
    /// The kinds of source that may have it, by their key in [`KIND_KEYS`].
    pub(super) goes_with: &'static [&'static str],
}

/// The values that a key accepts.
pub(super) enum KeyForm {
    /// A string that is not blank.
    Text,
    /// A portable namespace.
    Namespace,
    /// A command: a list of words, or a line that is split into words.
    Command,
    /// The address of an MCP server.
    Url,
    /// `true` or `false`.
    Flag,
    /// A whole number in this range, both ends included.
    Integer(u64, u64),
    /// One of a few words.
    Choice(fn() -> Vec<&'static str>),
    /// A list of such words.
    Choices(fn() -> Vec<&'static str>),
    /// The name of a diagnostic code.
    Code,
    /// A list of capabilities that can be granted.
    Capabilities,
    /// A JSON Schema, as a table.
    Schema,
    /// A string of one form.
    Form {
        /// Whether a text has it.
        allowed: fn(&str) -> bool,
        /// The same as a regular expression, for the schema.
        pattern: &'static str,
        /// What it is called in messages.
        what: &'static str,
    },
    /// A table of strings.
    Texts {
        /// Whether a text can be a key of it.
        allowed: fn(&str) -> bool,
        /// The same as a regular expression, for the schema.
        pattern: &'static str,
        /// What the keys are called in messages.
        what: &'static str,
    },
    /// A list of strings.
    TextList {
        /// Whether a text can be an item of it.
        allowed: fn(&str) -> bool,
        /// The same as a regular expression, for the schema.
        pattern: &'static str,
        /// What an item is called in messages, with an example.
        what: &'static str,
    },
}

/// The tables of the file, which has no other keys.
///
/// The order is that of the schema for editors, which lists them as they are here.
pub(super) const TABLES: &[ConfigTable] = &[
    ConfigTable {
        name: "source",
        shape: TableShape::List(SOURCE_KEYS, &["name"]),
        about: "A source of tools: a name, and one of `path`, `executables`, `mcp`, `command`, \
            `url` and `builtin`.",
    },
    ConfigTable {
        name: "limits",
        shape: TableShape::Once(LIMIT_KEYS),
        about: "Limits of calls. Definitions and callers can set their own within these.",
    },
    ConfigTable {
        name: "call",
        shape: TableShape::Once(CALL_KEYS),
        about: "How calls are made, by `toolwright call` and for clients of `toolwright serve`.",
    },
    ConfigTable {
        name: "serve",
        shape: TableShape::Once(SERVE_KEYS),
        about: "How `toolwright serve` treats its clients.",
    },
    ConfigTable {
        name: "audit",
        shape: TableShape::Once(AUDIT_KEYS),
        about: "What is kept about calls, for `toolwright audit`.",
    },
    ConfigTable {
        name: "browser",
        shape: TableShape::Once(BROWSER_KEYS),
        about: "The browser on whose pages BTCP tools work. It is started on first use.",
    },
    ConfigTable {
        name: "trust",
        shape: TableShape::Once(TRUST_KEYS),
        about: "What happens when a definition differs from the one that was accepted.",
    },
    ConfigTable {
        name: "policy",
        shape: TableShape::Once(POLICY_KEYS),
        about: "What needs a grant, and how a person is asked for one.",
    },
    ConfigTable {
        name: "rule",
        shape: TableShape::List(RULE_KEYS, &["tool", "action"]),
        about: "Calls that are refused, or about which a person is asked.",
    },
    ConfigTable {
        name: "grant",
        shape: TableShape::List(GRANT_KEYS, &["toolset", "capabilities"]),
        about: "Capabilities that an agent has.",
    },
    ConfigTable {
        name: "agent",
        shape: TableShape::List(AGENT_KEYS, &["name", "token_sha256"]),
        about: "A client of `toolwright serve --http` with a token, rights and limits of its own.",
    },
    ConfigTable {
        name: "check",
        shape: TableShape::Once(CHECK_KEYS),
        about: "What `toolwright check` looks for.",
    },
    ConfigTable {
        name: "levels",
        shape: TableShape::Levels,
        about: "The severities that `toolwright check` gives to codes.",
    },
    ConfigTable {
        name: "ignore",
        shape: TableShape::List(IGNORE_KEYS, &["code", "reason"]),
        about: "Findings of one code that `toolwright check` does not report, with the reason.",
    },
];

/// The keys that tell where the tools of a source are. Every source has exactly one of them. The
/// order is that of the help text that lists them.
pub(super) const KIND_KEYS: &[&str] = &["path", "executables", "mcp", "command", "url", "builtin"];

/// The built-in toolsets that `builtin` can name. The binary has each of them.
pub const BUILTIN_TOOLSETS: &[&str] = &["web", "browser", "webmcp"];

/// The keys of `[[source]]`.
pub(super) const SOURCE_KEYS: &[ConfigKey] = &[
    key("name", KeyForm::Namespace, "What the ids of its tools start with. Unique in the file."),
    key("path", KeyForm::Text, "A file or folder of definitions, relative to this file."),
    key("executables", KeyForm::Text, "A folder; its programs named `*-tool` are tools."),
    key("mcp", KeyForm::Text, "A file with `mcpServers`, such as `.mcp.json`."),
    key(
        "command",
        KeyForm::Command,
        "An MCP server to start: a list of words, or a line that is split into words. `${VAR}` is \
         replaced by an environment variable.",
    ),
    key(
        "url",
        KeyForm::Url,
        "An MCP server over HTTP, or over a WebSocket (`ws`, `wss`). `${VAR}` is replaced by an \
         environment variable.",
    ),
    key(
        "builtin",
        KeyForm::Choice(|| BUILTIN_TOOLSETS.to_vec()),
        "Tools that Toolwright brings along. `web`: fetch pages as Markdown, and search.",
    ),
    // Not with `url`: a server that is reached over HTTP has its own environment.
    key(
        "env",
        KeyForm::Texts {
            allowed: can_be_variable,
            pattern: "^[^=\\u0000]+$",
            what: "the name of an environment variable",
        },
        "Variables for what the source starts, and for built-in tools. `${VAR}` and \
         `${VAR:-default}` are replaced.",
    )
    .with(&["path", "executables", "mcp", "command", "builtin"]),
    // A program that is started receives no HTTP request.
    key(
        "headers",
        KeyForm::Texts {
            allowed: is_header_name,
            pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
            what: "the name of a header",
        },
        "Headers of every request. `${VAR}` and `${VAR:-default}` are replaced.",
    )
    .with(&["url"]),
    key("directory", KeyForm::Text, "The working directory of the server that `command` starts.")
        .with(&["command"]),
    key("compat", KeyForm::Flag, "Tolerate common deviations from the specifications."),
    // Programs and servers answer in a known format; only files may need it.
    key("format", KeyForm::Choice(format_names), "Read every file as this format.").with(&["path"]),
    key(
        "implementations",
        KeyForm::Text,
        "The folder of the JavaScript bodies of its tools, if they are not beside their manifests.",
    )
    .with(&["path"]),
    // Up to an hour: a first start may have to download a server.
    key(
        "start_timeout",
        KeyForm::Integer(1, 3_600_000),
        "Milliseconds that a server may take to start and to list its tools.",
    )
    .with(SERVER_KINDS),
    key(
        "timeout",
        KeyForm::Integer(1, 3_600_000),
        "Milliseconds that a call of a server may go without a result and without progress.",
    )
    .with(SERVER_KINDS),
    // Up to a day: a server that reports progress may work for hours.
    key(
        "max_timeout",
        KeyForm::Integer(1, 86_400_000),
        "Milliseconds that a call of a server may take in all. Without it: that of `[limits]`.",
    )
    .with(SERVER_KINDS),
    key(
        "isolation",
        KeyForm::Choice(|| ISOLATIONS.iter().map(|(word, _)| *word).collect()),
        "Which clients share a connection to a server: all of them, or each session has its own.",
    )
    .with(SERVER_KINDS),
    key(
        "start",
        KeyForm::Choice(|| START_MODES.iter().map(|(word, _)| *word).collect()),
        "When `serve` starts a server: at once, or with the first request to it, if its lists are \
         known from an earlier run.",
    )
    .with(SERVER_KINDS),
];

/// The kinds of source that can name an MCP server: definitions may name the server of their tools.
const SERVER_KINDS: &[&str] = &["path", "mcp", "command", "url"];

/// The keys of `[limits]`. Times are in milliseconds, sizes in bytes.
pub(super) const LIMIT_KEYS: &[ConfigKey] = &[
    // 5 minutes is also what BTCP allows at most.
    key(
        "timeout",
        KeyForm::Integer(1, 300_000),
        "Milliseconds for a call, if neither the caller nor the definition sets a limit.",
    ),
    // At most an hour.
    key(
        "max_timeout",
        KeyForm::Integer(1, 3_600_000),
        "The longest limit that a caller or a definition can set, in milliseconds.",
    ),
    // From 1 KiB, which still holds an error message, to 64 MiB, which every running call may then
    // occupy in memory.
    key(
        "output",
        KeyForm::Integer(1 << 10, 64 << 20),
        "The largest result in bytes. A larger one is refused as a whole.",
    ),
    key(
        "output_schema",
        KeyForm::Choice(|| OUTPUT_CHECKS.iter().map(|(word, _)| *word).collect()),
        "What happens to a result that breaks its output schema.",
    ),
    // For each toolset. 0 would refuse every call.
    key("max_concurrent", KeyForm::Integer(1, 1024), "Calls of one toolset that run at once."),
    // 0 is allowed: calls beyond `max_concurrent` then fail at once instead of waiting.
    key("queue", KeyForm::Integer(0, 65_536), "Calls of one toolset that may wait."),
    key(
        "validator_timeout",
        KeyForm::Integer(1, 60_000),
        "Milliseconds of processor time for a validator of a definition.",
    ),
    key(
        "function_timeout",
        KeyForm::Integer(1, 60_000),
        "Milliseconds of processor time for a helper or processor of a definition.",
    ),
    key(
        "function_memory",
        KeyForm::Integer(1 << 20, 256 << 20),
        "Bytes of memory for each function of a definition, beyond its input.",
    ),
    key(
        "body_memory",
        KeyForm::Integer(1 << 20, 256 << 20),
        "Bytes of memory for the JavaScript body of a tool, beyond its input.",
    ),
];

/// The keys of `[serve]`. Times are in milliseconds.
pub(super) const SERVE_KEYS: &[ConfigKey] = &[
    // From a second to 30 days.
    key(
        "session_idle",
        KeyForm::Integer(1_000, 2_592_000_000),
        "Milliseconds after which a session without any request ends.",
    ),
    // 0 is allowed: the first list of tools then has only what is ready.
    key(
        "list_wait",
        KeyForm::Integer(0, 600_000),
        "Milliseconds that the first list of tools waits for servers that are still starting.",
    ),
    // 0 is allowed: answers are then never shortened.
    key(
        "answer_tokens",
        KeyForm::Integer(0, 10_000_000),
        "The tokens of an answer above which a client gets a shortened one; 0: never.",
    ),
    key(
        "allowed_hosts",
        KeyForm::TextList {
            allowed: is_host,
            pattern: "^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$",
            what: "a host, such as `tools.example.com` or `tools.example.com:8080`",
        },
        "Values of the header `Host` that are accepted beside those of this machine.",
    ),
    key(
        "allowed_origins",
        KeyForm::TextList {
            allowed: is_origin,
            pattern: "^[A-Za-z][A-Za-z0-9+.-]*://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$",
            what: "an origin, such as `https://app.example.com`",
        },
        "Values of the header `Origin` that are accepted: web pages that may use the server.",
    ),
];

/// The keys of `[call]`.
pub(super) const CALL_KEYS: &[ConfigKey] = &[key(
    "defaults",
    KeyForm::Flag,
    "Whether arguments that are missing get the defaults of the input schema.",
)];

/// The keys of `[audit]`.
pub(super) const AUDIT_KEYS: &[ConfigKey] = &[
    key("required", KeyForm::Flag, "Whether a call fails if it cannot be recorded."),
    key(
        "arguments",
        KeyForm::Choice(|| RECORDED_ARGUMENTS.iter().map(|(word, _)| *word).collect()),
        "What records keep of the arguments of calls.",
    ),
    // Up to ten years.
    key("keep_days", KeyForm::Integer(1, 3_650), "Days after which records are removed."),
    key(
        "max_bytes",
        KeyForm::Integer(1 << 20, 1 << 40),
        "The size of the store in bytes above which its oldest records are removed.",
    ),
];

/// The keys of `[trust]`.
pub(super) const TRUST_KEYS: &[ConfigKey] = &[
    key(
        "pin",
        KeyForm::Choice(|| PIN_MODES.iter().map(|(word, _)| *word).collect()),
        "What happens to tools that differ from the accepted ones: nothing, a report, or they are \
         set aside. Without it, they are set aside if there is a `toolwright.lock`, and reported \
         otherwise.",
    ),
    key(
        "required",
        KeyForm::Flag,
        "Whether nothing is served while pins that are enforced cannot be read.",
    ),
];

/// The keys of `[browser]`.
pub(super) const BROWSER_KEYS: &[ConfigKey] = &[
    key(
        "program",
        KeyForm::Text,
        "Chromium, by name or path. Without it: the first of the usual names on the PATH.",
    ),
    key("start", KeyForm::Text, "The address of the page that a new tab opens."),
    key(
        "origins",
        KeyForm::TextList {
            allowed: is_origin,
            pattern: "^[A-Za-z][A-Za-z0-9+.-]*://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$",
            what: "an origin, such as `https://example.org`",
        },
        "The origins whose pages may be opened. Without it: all.",
    ),
    key("headless", KeyForm::Flag, "Whether it runs without a window."),
    key(
        "profile",
        KeyForm::Text,
        "The folder of its profile, relative to this file. Without it, a temporary one is used, \
         and removed at the end.",
    ),
    key(
        "idle",
        KeyForm::Integer(1_000, 86_400_000),
        "Milliseconds without a call after which it is ended.",
    ),
    key(
        "memory",
        KeyForm::Integer(64 << 20, 1 << 40),
        "Bytes of memory of all its processes above which it is killed.",
    ),
];

/// The keys of `[policy]`.
pub(super) const POLICY_KEYS: &[ConfigKey] = &[
    key(
        "elicit",
        KeyForm::Flag,
        "Whether a person is asked through MCP clients that can show questions.",
    ),
    key(
        "need_grant",
        KeyForm::Choices(|| ANNOTATED_NEEDS.iter().map(|(word, _)| *word).collect()),
        "What tools state in their annotations that needs a grant: `destructiveHint`, \
         `openWorldHint`, or no `readOnlyHint`.",
    ),
];

/// The keys of `[[rule]]`.
pub(super) const RULE_KEYS: &[ConfigKey] = &[
    key("tool", KeyForm::Text, "The ids of the tools, with `*` and `?`, such as `git:push*`."),
    key("agent", KeyForm::Text, "The agents, with `*` and `?`. Without it: all agents."),
    key(
        "action",
        KeyForm::Choice(|| RULE_ACTIONS.iter().map(|(word, _)| *word).collect()),
        "Whether a person is asked about the call, or it is refused.",
    ),
    key(
        "arguments",
        KeyForm::Schema,
        "A JSON Schema. The rule is about calls whose arguments match it. Without it: all calls.",
    ),
    key("reason", KeyForm::Text, "Why. The agent and the person read it."),
];

/// The keys of `[[grant]]`.
pub(super) const GRANT_KEYS: &[ConfigKey] = &[
    key("agent", KeyForm::Text, "The name of the agent. Without it: `local`."),
    key("toolset", KeyForm::Text, "The name of the toolset: the part of ids before the colon."),
    key("capabilities", KeyForm::Capabilities, "What the agent may do with its tools."),
    key(
        "origins",
        KeyForm::TextList {
            allowed: is_grant_origin,
            pattern: "^\\*$|^[A-Za-z][A-Za-z0-9+.-]*://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$",
            what: "an origin, such as `https://example.org`, or `*`",
        },
        "The pages on which it may, by their origin; `*`: all pages. Without it, what is about \
         pages is granted on none.",
    ),
];

/// The keys of `[[agent]]`.
pub(super) const AGENT_KEYS: &[ConfigKey] = &[
    key("name", KeyForm::Namespace, "Its name in grants and in the records of calls."),
    key(
        "token_sha256",
        KeyForm::Form {
            allowed: is_sha256,
            pattern: "^[0-9A-Fa-f]{64}$",
            what: "a SHA-256 of 64 hexadecimal digits, as `toolwright agent add` prints it",
        },
        "The SHA-256 of its token.",
    ),
    key(
        "sources",
        KeyForm::TextList { allowed: is_pattern, pattern: "\\S", what: "the name of a source" },
        "The sources that it may use, with `*` and `?`. Without it: all sources.",
    ),
    key(
        "tools",
        KeyForm::TextList { allowed: is_pattern, pattern: "\\S", what: "the id of a tool" },
        "The tools that it may use, with `*` and `?`. Without it: all tools.",
    ),
    key("max_concurrent", KeyForm::Integer(1, 1024), "Calls that it may have at once."),
    key("calls_per_minute", KeyForm::Integer(1, 100_000), "Calls that it may make in a minute."),
];

/// Whether a text can be a pattern for names.
fn is_pattern(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Keys that were renamed: the table and the old name, and what to write instead.
pub(super) const RENAMED_KEYS: &[(&str, &str, &str)] =
    &[("limits", "startup", "`list_wait` under `[serve]`")];

/// The keys of `[check]`.
pub(super) const CHECK_KEYS: &[ConfigKey] = &[
    key(
        "targets",
        KeyForm::Choices(target_ids),
        "The APIs that the tools are sent to. Without it, what vendors reject is not checked.",
    ),
    // 0 would warn of every tool.
    key(
        "max_tool_tokens",
        KeyForm::Integer(1, 1_000_000),
        "Warn of each tool that costs more tokens than this in every request.",
    ),
    key(
        "max_total_tokens",
        KeyForm::Integer(1, 100_000_000),
        "Warn if all tools together cost more tokens than this in every request.",
    ),
];

/// The keys of `[[ignore]]`.
pub(super) const IGNORE_KEYS: &[ConfigKey] = &[
    key(
        "source",
        KeyForm::Text,
        "A file, relative to this one, or the name of a server or source. `*` stands for any \
         characters, `?` for one. Without it: all sources.",
    ),
    key("tool", KeyForm::Text, "The name of a tool, with `*` and `?`. Without it: all tools."),
    key("code", KeyForm::Code, "The code of the findings."),
    key("reason", KeyForm::Text, "Why they are not a mistake here, for the next reader."),
];

/// A key that every kind of source may have.
/// For a key of certain kinds only, `goes_with` is set beside it.
const fn key(name: &'static str, form: KeyForm, about: &'static str) -> ConfigKey {
    ConfigKey { name, form, about, goes_with: KIND_KEYS }
}

/// The names of the tables.
pub(super) fn table_names() -> impl Iterator<Item = &'static str> + Clone {
    TABLES.iter().map(|table| table.name)
}

impl ConfigKey {
    /// The same key, for these kinds of source only.
    const fn with(mut self, kinds: &'static [&'static str]) -> ConfigKey {
        self.goes_with = kinds;
        self
    }

    /// Whether the number is in the range of this key.
    pub(super) fn allows(&self, number: u64) -> bool {
        matches!(self.form, KeyForm::Integer(min, max) if (min..=max).contains(&number))
    }
}

/// The names that `format` accepts.
fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.id().0).collect()
}

/// The ids that `targets` accepts.
fn target_ids() -> Vec<&'static str> {
    VendorTarget::ALL.iter().map(|target| target.id()).collect()
}

/// The tables that have a key of this name, for the help "it belongs under …". Example: `queue`
/// under `[[source]]` gets "it belongs under `[limits]`".
pub(super) fn tables_with_key(name: &str) -> Vec<String> {
    let has = |keys: &[ConfigKey]| keys.iter().any(|key| key.name == name);
    let tables = TABLES.iter().filter_map(|table| match table.shape {
        TableShape::List(keys, _) => has(keys).then(|| format!("[[{}]]", table.name)),
        TableShape::Once(keys) => has(keys).then(|| format!("[{}]", table.name)),
        TableShape::Levels => None,
    });
    tables.collect()
}
