//! The tables of AIOS: the fields of the specification, and those that published tools rely on
//! although it does not mention them (`command_groups`, `connection`, `environment_variables`).
//!
//! Two fields need code and not only a table: `examples`, which has rules in version 2.0 only, and
//! `field_mappings`, which may be grouped or not.
//!
//! The tables follow the document from the outside in: the root, the tool, its commands, its
//! knowledge, its examples, the sections of its types. The texts beside the fields are quoted by
//! messages about them.
//!
//! ```text
//! required(…)                  an error if missing, null or blank
//! required(…).in_strict_mode() the same, and a warning with `--compat`
//! optional(…)                  here: also null, see the import below
//! .since("2.0")                states the version; the field is accepted in both
//! ```

use toolwright_source::{Finding, Member, Node, ValueKind, words};

use super::version;
// A YAML key with nothing behind it is null, and the seed takes that for absent.
use crate::field::optional_or_null as optional;
use crate::field::{CustomCheck, FREE, Field, FieldKind, TEXT, TEXTS, choice, required};
use crate::findings::FindingList;
use crate::{codes, shape};

/// The only language of functions that the specification has.
const LANGUAGE: FieldKind = choice(&["javascript"]);
/// The only runtime that it has. The word names the isolation that functions can rely on, not the
/// engine that provides it.
const RUNTIME: FieldKind = choice(&["isolated_vm"]);
/// A time-out; the format sets no upper bound.
const MILLISECONDS: FieldKind = FieldKind::Integer { min: 0, max: i64::MAX };

/// The root of a document.
pub(super) static ROOT: &[Field] =
    &[required("tool", FieldKind::Object(TOOL), "the root of every AIOS document")];

/// The fields of a tool, of all types and both versions. Whether the section of its `type` is
/// present relates two values, so no table says it.
///
/// Type-specific sections are optional here. `NOT_RUNNABLE` notes the lack of the one that the type
/// needs, and `MISMATCHED_SECTION` reports that of another type.
pub(super) static TOOL: &[Field] = &[
    optional("schema_version", SCHEMA_VERSION, "the version of the schema: 1.0 or 2.0"),
    // Kebab-case is a convention, which the crate `check` warns about.
    required("id", TEXT, "what the tool is called by, in kebab-case"),
    required(
        "type",
        choice(&["mcp", "cli", "local", "meta"]),
        "its category: mcp, cli, local or meta",
    ),
    required("name", TEXT, "its display name"),
    required("version", FieldKind::Version { v_prefix: false }, "its semantic version"),
    required("description", TEXT, "what it is for"),
    optional("knowledge_strategy", STRATEGY, "where an agent finds its knowledge"),
    // Three ways to list commands. A document may use several; `commands` merges them.
    optional("commands", TEXTS, "the names of its commands"),
    optional(
        "tools",
        FieldKind::List { of: &FieldKind::Object(COMMAND), min: 0 },
        "its commands, described",
    ),
    optional(
        "command_groups",
        FieldKind::Map(&FieldKind::List { of: &FieldKind::Object(GROUPED_COMMAND), min: 0 }),
        "its command lines, by topic",
    ),
    // Prose here, and not the permissions that BTCP calls capabilities.
    optional("capabilities", FieldKind::Any, "what it can do, in prose"),
    optional(
        "executable_knowledge",
        FieldKind::Object(EXECUTABLE_KNOWLEDGE),
        "helpers, processors and validators",
    )
    .since("2.0"),
    optional(
        "api_complexity",
        FieldKind::Object(API_COMPLEXITY),
        "payload shapes, field mappings and quirks",
    )
    .since("2.0"),
    optional(
        "anti_patterns",
        FieldKind::List { of: &FieldKind::Object(ANTI_PATTERN), min: 0 },
        "mistakes to avoid",
    )
    .since("2.0"),
    optional("examples", EXAMPLES, "calls by command and scenario"),
    optional("mcp_specific", FieldKind::Object(MCP_SECTION), "how its server is reached"),
    optional("cli_specific", FieldKind::Object(CLI_SECTION), "the program it runs"),
    optional("local_specific", FieldKind::Object(LOCAL_SECTION), "the script it runs"),
    optional("meta_specific", FieldKind::Object(META_SECTION), "the tools it calls"),
    optional("health_check", FieldKind::Object(HEALTH_CHECK), "how to tell that it works"),
];

/// How an agent is given the knowledge of the tool.
const STRATEGY: FieldKind = FieldKind::Choice {
    words: &["embedded", "external", "hybrid", "executable", "none"],
    // All version 1 tools in the wild say this, and mean `embedded`.
    tolerated: &["declarative"],
};

/// A number or a string, which no other kind of field allows.
const SCHEMA_VERSION: FieldKind = FieldKind::Custom {
    expects: "1.0 or 2.0, as a number or a string",
    check: CustomCheck(version::check_explicit),
};

/// A command with a description, in `tools`.
pub(super) static COMMAND: &[Field] = &[
    required("id", TEXT, "the name of the command"),
    optional("description", TEXT, "what it does"),
    optional("parameters", FieldKind::Any, "its parameters, in prose"),
    optional("inputSchema", FieldKind::Schema, "the JSON Schema of its arguments"),
    optional("outputSchema", FieldKind::Schema, "the JSON Schema of its result"),
];

/// A command line, in `command_groups`. Its name is made from its words, see `commands`.
pub(super) static GROUPED_COMMAND: &[Field] =
    &[required("command", TEXT, "the command line"), optional("description", TEXT, "what it does")];

/// Functions that run around a call. Whether the code parses is the business of the crate `check`.
pub(super) static EXECUTABLE_KNOWLEDGE: &[Field] = &[
    optional(
        "helpers",
        FieldKind::List { of: &FieldKind::Object(HELPER), min: 0 },
        "functions to call by name",
    ),
    optional(
        "processors",
        FieldKind::List { of: &FieldKind::Object(PROCESSOR), min: 0 },
        "functions that change data",
    ),
    optional(
        "validators",
        FieldKind::List { of: &FieldKind::Object(VALIDATOR), min: 0 },
        "functions that refuse bad arguments",
    ),
];

/// A function to be called by name. Unlike the other two kinds it must state its runtime.
pub(super) static HELPER: &[Field] = &[
    required("id", TEXT, "its name, in kebab-case"),
    required("language", LANGUAGE, "`javascript`"),
    required("runtime", RUNTIME, "`isolated_vm`"),
    required("function", TEXT, "the JavaScript code"),
    optional("description", TEXT, "what it does"),
];

/// A function that changes arguments before a call, or the result after it. Without `processes` no
/// call runs it.
pub(super) static PROCESSOR: &[Field] = &[
    required("id", TEXT, "its name, in kebab-case"),
    required("language", LANGUAGE, "`javascript`"),
    optional("runtime", RUNTIME, "`isolated_vm`"),
    required("function", TEXT, "the JavaScript code"),
    optional("description", TEXT, "what it does"),
    optional("processes", TEXT, "the command whose calls it belongs to"),
    optional("stage", choice(&["request", "response"]), "whether it works on arguments or results"),
];

/// A function that refuses bad arguments before a call. `checks` are free here, since the
/// specification defines none; `UNKNOWN_CHECK` reports those that are not run.
pub(super) static VALIDATOR: &[Field] = &[
    required("id", TEXT, "its name, in kebab-case"),
    required("validates", TEXT, "the command it judges"),
    required("language", LANGUAGE, "`javascript`"),
    optional("runtime", RUNTIME, "`isolated_vm`"),
    required("function", TEXT, "the JavaScript code"),
    optional("checks", FieldKind::List { of: &FREE, min: 0 }, "checks that need no code"),
    optional("description", TEXT, "what it does"),
];

/// What is difficult about the API behind the tool.
pub(super) static API_COMPLEXITY: &[Field] = &[
    optional(
        "payload_schemas",
        FieldKind::List { of: &FieldKind::Object(PAYLOAD_SCHEMA), min: 0 },
        "the shapes a payload may have",
    ),
    optional("field_mappings", FIELD_MAPPINGS, "fields with a structure of their own"),
    optional(
        "api_quirks",
        FieldKind::List { of: &FieldKind::Object(QUIRK), min: 0 },
        "what is odd about the API",
    ),
];

/// A shape that a response may have. The first whose `detection` matches is used.
pub(super) static PAYLOAD_SCHEMA: &[Field] = &[
    required("type", TEXT, "the name of the shape"),
    required("detection", TEXT, "how to tell it from the others"),
    required("payload_path", TEXT, "where the data is"),
    optional("example", FieldKind::Any, "what it looks like"),
];

/// A surprising behaviour of the API.
pub(super) static QUIRK: &[Field] = &[
    required("quirk", TEXT, "its name"),
    required("description", TEXT, "what happens"),
    optional("impact", TEXT, "what that does"),
    required("mitigation", TEXT, "what to do about it"),
];

/// A mistake that agents make, with the right way beside it.
pub(super) static ANTI_PATTERN: &[Field] = &[
    required("pattern", TEXT, "its name"),
    required("description", TEXT, "what is wrong"),
    optional("category", TEXT, "what kind of mistake it is"),
    required("wrong", TEXT, "the mistake"),
    required("correct", TEXT, "the right way"),
    optional("rationale", TEXT, "why"),
];

/// An example by scenario (version 2.0). Published tools often leave out the required fields.
pub(super) static EXAMPLE: &[Field] = &[
    // `in_strict_mode`: missing is an error, and a warning with `--compat`.
    required("scenario", TEXT, "the kind of example, such as `success`").in_strict_mode(),
    optional("description", TEXT, "what it shows"),
    required("input", FieldKind::Any, "the arguments of the call").in_strict_mode(),
    optional("output", FieldKind::Any, "the result that is expected"),
    optional("error", FieldKind::Object(EXPECTED_ERROR), "the failure that is expected"),
    optional("mitigation", TEXT, "how to get around it"),
];

/// The error that a failure example expects.
pub(super) static EXPECTED_ERROR: &[Field] = &[
    optional("code", TEXT, "its code"),
    optional("message", TEXT, "words of its message"),
    optional("validator", TEXT, "the validator that raises it"),
    optional("http_status", FieldKind::Any, "the status an API answers with"),
];

/// Settings of type `mcp`: the server behind the tool. Everything is optional, as tools in the wild
/// name the server in one of several ways.
pub(super) static MCP_SECTION: &[Field] = &[
    optional("server_command", TEXT, "the command line that starts the server, or its URL"),
    optional("server_args", TEXTS, "further arguments"),
    // The specification's words. Streamable HTTP is younger than it, and is tried for `sse`.
    optional("transport", choice(&["stdio", "sse", "websocket"]), "how to talk to it"),
    optional("connection", FieldKind::Object(CONNECTION), "where it listens"),
    optional(
        "environment_variables",
        FieldKind::List { of: &FieldKind::Object(VARIABLE), min: 0 },
        "environment variables it needs",
    ),
    optional("health_check", FieldKind::Object(HEALTH_CHECK), "how to tell that it works"),
];

/// A server that is already running; an alternative to `server_command`.
static CONNECTION: &[Field] =
    &[optional("type", TEXT, "how to talk to it"), optional("url", TEXT, "where it listens")];

/// An environment variable of the server.
static VARIABLE: &[Field] = &[
    required("name", TEXT, "its name"),
    optional("required", FieldKind::Boolean, "whether the server needs it"),
    optional("description", TEXT, "what it is for"),
    optional("value", TEXT, "its value"),
];

/// A call that succeeds if the server works. At the top level or in `mcp_specific`; the second
/// takes precedence.
pub(super) static HEALTH_CHECK: &[Field] = &[
    optional("method", TEXT, "how the server is asked"),
    optional("command", TEXT, "the command to call"),
    optional("arguments", FREE, "the arguments to call it with"),
    optional("expected_response", FieldKind::Any, "what must be in the answer"),
    optional("timeout_ms", MILLISECONDS, "milliseconds to wait"),
];

/// Settings of type `cli`: a program that is installed.
pub(super) static CLI_SECTION: &[Field] = &[
    optional("executable", TEXT, "the name of the program"),
    optional("install_check", TEXT, "a command that succeeds when it is installed"),
    optional("install_guide", TEXT, "how to install it"),
];

/// Settings of type `local`: a script beside the definition.
pub(super) static LOCAL_SECTION: &[Field] = &[
    optional("entry_point", TEXT, "the script, relative to this file"),
    optional("runtime", TEXT, "the interpreter"),
    optional("dependencies", TEXTS, "packages it needs"),
];

/// Settings of type `meta`: a helper that calls other tools. The helper is named as `helpers.ID` or
/// by its id alone.
pub(super) static META_SECTION: &[Field] = &[
    optional("aggregates", TEXTS, "the tools it calls"),
    optional("orchestration", TEXT, "the helper that calls them"),
];

/// Lists of examples by command.
const EXAMPLES: FieldKind = FieldKind::Custom {
    expects: "for each command a list of examples",
    check: CustomCheck(examples),
};

/// The examples of one command in version 2.0.
const SCENARIOS: FieldKind = FieldKind::List { of: &FieldKind::Object(EXAMPLE), min: 0 };

/// Checks the examples. In version 1.0 they may have any form; those by scenario must have the
/// fields of version 2.0.
fn examples(tool: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    // The only check that needs the object around the value, hence a custom one.
    let by_scenario = version::detect_version(tool).uses_scenarios(tool);
    if node.kind() != ValueKind::Map {
        if by_scenario {
            shape::report_wrong_type(node, "an object of lists, one for each command", out);
        }
        return;
    }
    shape::report_too_many_items(node, out);
    for member in node.members() {
        match member.value.kind() {
            ValueKind::List if by_scenario => {
                shape::check_value(node, member.value, &SCENARIOS, out);
            }
            // Version 1.0: the items may be anything, but only the first ones are read.
            ValueKind::List => shape::report_too_many_items(member.value, out),
            _ => shape::report_wrong_type(member.value, "a list of examples", out),
        }
    }
}

/// Mappings by field name, or by group and field name.
const FIELD_MAPPINGS: FieldKind = FieldKind::Custom {
    expects: "objects with `structure` or `extraction`, at most one level of grouping",
    check: CustomCheck(field_mappings),
};

/// Checks that each member is a mapping, or a group with at least one mapping.
fn field_mappings(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if node.kind() != ValueKind::Map {
        return shape::report_wrong_type(node, "an object", out);
    }
    for member in node.members() {
        if out.is_full() {
            return;
        }
        let mapping = member.value;
        if mapping.kind() != ValueKind::Map {
            shape::report_wrong_type(mapping, "an object", out);
            continue;
        }
        // `structure` may be any value, so only `extraction` has a type to check.
        if let Some(extraction) = mapping.get("extraction").filter(|_| is_mapping(mapping)) {
            shape::check_value(mapping, extraction, &TEXT, out);
        }
        if is_group(mapping) && !is_mapping(mapping) {
            let members = mapping.members();
            // In a group, other values are notes. An object without `structure` and `extraction` is
            // more likely a mapping that lacks both.
            let objects = members.iter().filter(|member| member.value.kind() == ValueKind::Map);
            objects
                .filter(|member| !is_mapping(member.value))
                .for_each(|member| report_unmapped(member, out));
        } else if !is_mapping(mapping) {
            report_unmapped(&member, out);
        }
    }
}

/// Reports a mapping that says nothing about its field. Published tools have such notes, so this is
/// a warning with `--compat`.
fn report_unmapped(member: &Member<'_>, out: &mut FindingList) {
    let name = words::shorten(member.name());
    let message = format!("field mapping `{name}` has neither `structure` nor `extraction`");
    let finding = Finding::new(&codes::MISSING_REQUIRED_FIELD, member.value.pointer(), message);
    out.push(finding.on_key().tolerable());
}

/// Whether it is a mapping of one field.
pub(super) fn is_mapping(node: Node<'_>) -> bool {
    node.kind() == ValueKind::Map && (node.has("structure") || node.has("extraction"))
}

/// Whether it is a group: an object with at least one mapping. Its other members are notes.
pub(super) fn is_group(node: Node<'_>) -> bool {
    node.members().iter().any(|member| is_mapping(member.value))
}
