//! The big vendors' APIs accept the name and the input schema of a tool as they are.
//!
//! Source: the vendors' documentation of function calling, collected in
//! `schema::incompatibilities`. The definition is not wrong, so this is a note.
//!
//! Each keyword is reported once for each tool, at its first position, with the number of the
//! others. Silent about schemas that are invalid or that the reader filled in.

use toolwright_schema::{Incompatibility, VendorEffect, incompatibilities};
use toolwright_source::{RecordFinding, RecordPath, words};

use super::parameters;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    VENDOR_INCOMPATIBLE Info
        "A part of the input schema is valid JSON Schema, but a vendor's API does not accept it \
         if the tool is passed on unchanged. `rejects` means that the whole request fails, with \
         every tool in it. `ignores` means that the request passes, but the restriction has no \
         effect on what the model sends.\n\n\
         The definition is not wrong. To use its tools with the vendor that is named, write the \
         schema as the help suggests, or let the client rewrite it. Each keyword is reported \
         once for each tool, at its first position."
    => (
        "tool.json",
        r#"{
  "name": "weather",
  "description": "Returns the weather of a city",
  "inputSchema": {
    "type": "object",
    "properties": {"unit": {"type": "string", "const": "C", "description": "Only Celsius is known"}}
  }
}
"#,
        r#"{
  "name": "weather",
  "description": "Returns the weather of a city",
  "inputSchema": {
    "type": "object",
    "properties": {"unit": {"type": "string", "enum": ["C"], "description": "Only Celsius is known"}}
  }
}
"#
    )
}

/// The longest name of a tool, in characters, that OpenAI and Anthropic accept. MCP and
/// toolfoundation allow 128, so valid definitions can exceed it. It is compared with bytes: a valid
/// name is ASCII.
const MAX_NAME: usize = 64;

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let Some(name) = tool.name.ok().map(|name| name.as_str()) else { continue };
        // `ToolName` allows letters, digits, `_`, `-` and `.`. Only `.` is outside of what the two
        // vendors accept, so no other character needs a test.
        if name.contains('.') || name.len() > MAX_NAME {
            let message =
                format!("OpenAI and Anthropic reject the name `{}`", words::shorten(name));
            let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, at.child("name"), message);
            out.push(finding.help("they accept letters, digits, `_` and `-`, at most 64 of them"));
        }
    }
    for (tool, schema) in parameters::valid_input_schemas(subject) {
        if out.is_full() {
            return;
        }
        let found = incompatibilities(schema);
        if found.is_empty() {
            continue;
        }
        let Some(at) = parameters::authored_path(subject, tool) else { continue };
        for entry in found {
            // The crate `schema` gives positions as text, counted from the schema. Here such a
            // position continues the path that leads to the schema in the record.
            let inside = RecordPath::parse(&entry.at).unwrap_or_default();
            let message = message(&entry, &inside);
            out.push(
                RecordFinding::new(&VENDOR_INCOMPATIBLE, at.join(&inside), message)
                    .on_key()
                    .help(entry.note),
            );
        }
    }
}

/// One sentence with all vendors: those that reject the part first, then those that ignore it, as
/// in ``Gemini rejects `const` (2 places)``. `inside` points from the schema to the part.
fn message(entry: &Incompatibility, inside: &RecordPath) -> String {
    let what = part(entry, inside);
    let verb = |effect, count: usize| match (effect, count) {
        (VendorEffect::Rejects, 1) => "rejects",
        (VendorEffect::Rejects, _) => "reject",
        (VendorEffect::Ignores, 1) => "ignores",
        (VendorEffect::Ignores, _) => "ignore",
    };
    let mut message = String::new();
    // With both effects: ``OpenAI and Gemini reject `x`, Anthropic ignores it``.
    for effect in [VendorEffect::Rejects, VendorEffect::Ignores] {
        let names =
            || entry.vendors.iter().filter(|(_, e)| *e == effect).map(|(vendor, _)| vendor.name());
        let count = names().count();
        if count == 0 {
            continue;
        }
        // The part is named once; the second half of the sentence refers to it.
        let object = if message.is_empty() { what.as_str() } else { "it" };
        // `A`, `A and B`, `A, B and C`.
        for (n, name) in names().enumerate() {
            message.push_str(match n {
                0 if message.is_empty() => "",
                0 => ", ",
                _ if n + 1 == count => " and ",
                _ => ", ",
            });
            message.push_str(name);
        }
        message.extend([" ", verb(effect, count), " ", object]);
    }
    // Only the first place is a finding. The remedy for the others is the same.
    if entry.count > 1 {
        message.push_str(&format!(" ({} places)", entry.count));
    }
    message
}

/// What the vendors do not accept: a keyword, a name under it, a boolean schema, or the lack of the
/// keyword. `keyword` and the end of the pointer distinguish the four.
fn part(entry: &Incompatibility, inside: &RecordPath) -> String {
    let keyword = entry.keyword.as_str();
    let last = inside.last().unwrap_or_default();
    // A boolean schema has no keyword, so the crate `schema` puts its value there.
    if matches!(keyword, "true" | "false") {
        format!("the schema `{keyword}`")
    } else if last == keyword {
        format!("`{}`", words::shorten(keyword))
    } else if inside
        .parent()
        .is_some_and(|parent| parent.last().is_some_and(|token| token == keyword))
    {
        format!("the name `{}`", words::shorten(&last))
    } else {
        format!("a schema without `{keyword}`")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found, messages};

    /// An MCP tool with this input schema.
    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn keywords_that_a_vendor_does_not_accept_are_reported_once() {
        for (schema, at, message) in [
            (
                r#"{"type": "object", "properties": {"a": {"type": "string", "const": "C"}}}"#,
                "/properties/a/const",
                "Gemini rejects `const`",
            ),
            (
                r#"{"type": "object", "properties": {"a": {"type": "string", "const": "C"}, "b": {"type": "string", "const": "D"}}}"#,
                "/properties/a/const",
                "Gemini rejects `const` (2 places)",
            ),
            (
                r#"{"type": "object", "properties": {"a": true}}"#,
                "/properties/a",
                "Gemini rejects the schema `true`",
            ),
        ] {
            let text = tool(schema);
            assert_eq!(
                found("VENDOR_INCOMPATIBLE", &text),
                [format!("VENDOR_INCOMPATIBLE at /inputSchema{at}")]
            );
            assert_eq!(messages("VENDOR_INCOMPATIBLE", &text), [message]);
            assert!(
                findings(&text)
                    .iter()
                    .any(|f| f.code.name == "VENDOR_INCOMPATIBLE" && f.help.len() == 1)
            );
        }
        let lacking = messages(
            "VENDOR_INCOMPATIBLE",
            &tool(r#"{"type": "object", "properties": {"l": {"type": "array"}}}"#),
        );
        assert!(lacking.iter().all(|m| m.ends_with("a schema without `items`")), "{lacking:?}");
        assert_eq!(lacking.len(), 1);
        let named = messages(
            "VENDOR_INCOMPATIBLE",
            &tool(r#"{"type": "object", "properties": {"a b": {"type": "string"}}}"#),
        );
        assert_eq!(named, ["Anthropic rejects the name `a b`"]);
    }

    #[test]
    fn invalid_and_filled_in_schemas_are_not_checked() {
        for schema in [
            r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
            // Invalid schemas are reported elsewhere.
            r#"{"type": "objekt", "properties": {"a": {"const": 1}}}"#,
            "null",
        ] {
            assert_eq!(messages("VENDOR_INCOMPATIBLE", &tool(schema)), [""; 0], "{schema}");
        }
        // The reader filled this schema in.
        let cli = "tool:\n  id: t\n  type: cli\n  commands: [a]\n";
        assert_eq!(messages("VENDOR_INCOMPATIBLE", cli), [""; 0]);
    }
}
