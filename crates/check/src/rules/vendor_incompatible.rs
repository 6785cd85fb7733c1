//! The big vendors take the input schema as it is.

use toolwright_schema::{Incompatibility, VendorEffect, incompatibilities};
use toolwright_source::{RecordFinding, RecordPath, words};

use super::parameters;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    VENDOR_INCOMPATIBLE Info "A part of the input schema is valid JSON Schema, but a big vendor's API does not take it when the tool is passed on as it is. `rejects` means that the whole request fails, with every tool in it; `ignores` means that the call passes and the restriction has no effect on what the model sends.\n\nNothing is wrong with the definition. If its tools are to be used with the vendor that is named, write the schema in the path that the help suggests, or let whoever passes it on rewrite it. Each keyword is named once for a tool, at its first place."
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

/// Names that OpenAI and Anthropic take.
const MAX_NAME: usize = 64;

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let Some(name) = tool.name.ok().map(|name| name.as_str()) else { continue };
        if name.contains('.') || name.len() > MAX_NAME {
            let message =
                format!("OpenAI and Anthropic reject the name `{}`", words::shorten(name));
            let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, at.child("name"), message);
            out.push(finding.help("they take letters, digits, `_` and `-`, at most 64 of them"));
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

fn message(entry: &Incompatibility, inside: &RecordPath) -> String {
    let what = part(entry, inside);
    let verb = |effect, count: usize| match (effect, count) {
        (VendorEffect::Rejects, 1) => "rejects",
        (VendorEffect::Rejects, _) => "reject",
        (VendorEffect::Ignores, 1) => "ignores",
        (VendorEffect::Ignores, _) => "ignore",
    };
    let mut message = String::new();
    for effect in [VendorEffect::Rejects, VendorEffect::Ignores] {
        let names =
            || entry.vendors.iter().filter(|(_, e)| *e == effect).map(|(vendor, _)| vendor.name());
        let count = names().count();
        if count == 0 {
            continue;
        }
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
    if entry.count > 1 {
        message.push_str(&format!(" ({} places)", entry.count));
    }
    message
}

/// What is not taken: a keyword, one of its names, a boolean schema, or a schema that lacks the
/// keyword.
fn part(entry: &Incompatibility, inside: &RecordPath) -> String {
    let keyword = entry.keyword.as_str();
    let last = inside.last().unwrap_or_default();
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

    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn what_vendors_do_not_take() {
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
    fn nothing_to_say() {
        for schema in [
            r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
            // A schema that is none, and one that is another finding.
            r#"{"type": "objekt", "properties": {"a": {"const": 1}}}"#,
            "null",
        ] {
            assert_eq!(messages("VENDOR_INCOMPATIBLE", &tool(schema)), [""; 0], "{schema}");
        }
        // What stands in for a schema that nobody wrote.
        let cli = "tool:\n  id: t\n  type: cli\n  commands: [a]\n";
        assert_eq!(messages("VENDOR_INCOMPATIBLE", cli), [""; 0]);
    }
}
