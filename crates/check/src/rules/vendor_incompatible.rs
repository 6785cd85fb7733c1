//! The APIs that the user's agents call accept a tool as it is: its name, its description, its
//! input schema, and all tools of a request together.
//!
//! Only for the targets that the user asks for (`--target`, `[check] targets`); without one the
//! rule does nothing. What each target accepts is collected with its sources in `schema::vendors`.
//!
//! A keyword is reported once for each tool, at its first position, with the number of the others.
//! Silent about schemas that are invalid or that the reader filled in. Limits on the parameters of
//! a request are counted for each document, the number of tools over all documents.
//!
//! ```text
//! each tool   ─ name, description ─▶ limits of the targets
//!             ─ input schema ──────▶ `incompatibilities`: one finding per keyword
//! a document  ─ counts of parameters, over all tools ─▶ limits of a request
//! all         ─ number of tools ───▶ limits of a request (`RULE_BETWEEN`)
//! ```
//!
//! There is no repair: a rewrite that suits one vendor may lose something for another. `convert`
//! rewrites a schema for one target and reports what it lost.

use serde_json::Value as Json;
use toolwright_schema::{
    Incompatibility, IncompatiblePart, NameRule, RequestPart, SchemaCounts, VendorEffect,
    VendorTarget, incompatibilities,
};
use toolwright_source::{Node, RecordFinding, RecordPath, words};

use super::parameters;
use crate::Subject;
use crate::report::Report;
use crate::rule::{Rule, RuleBetween};
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };
pub(crate) static RULE_BETWEEN: RuleBetween =
    RuleBetween { codes: &[], check: check_number_of_tools };

toolwright_source::codes! {
    VENDOR_INCOMPATIBLE Warning
        "A tool is valid, but an API that it is going to be sent to does not accept a part of it. \
         The APIs are the targets of `--target` or of `[check] targets` in `toolwright.toml`; \
         without a target nothing is reported.\n\n\
         The message tells what will happen if the tool is sent unchanged. `reject the request` \
         means that the whole request fails, with every tool in it: because of a keyword, of the \
         lack of one, of a name, or of a limit that is exceeded. `ignores it` means that the \
         request passes, but the keyword has no effect on what the model sends.\n\n\
         Write the tool as the help suggests, or let the client rewrite it. Each keyword is \
         reported once for each tool, at its first position. For example, `toolwright check \
         --target gemini-openapi` reports `const`, which the schemas of that API lack; an `enum` \
         of one value means the same."
}

/// First names and descriptions, which are cheap, then schemas, then what all schemas together
/// have.
///
/// The rule ends when the report is full: each further schema would be work for nothing.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.targets().is_empty() {
        return;
    }
    for (at, tool) in subject.tools() {
        if out.is_full(&VENDOR_INCOMPATIBLE) {
            return;
        }
        if let Some(name) = tool.name.ok() {
            check_name(subject, at, name.as_str(), out);
        }
        check_description(subject, at, out);
    }
    let mut counts: Vec<(usize, SchemaCounts)> = Vec::new();
    for (tool, schema) in parameters::valid_input_schemas(subject) {
        if out.is_full(&VENDOR_INCOMPATIBLE) {
            return;
        }
        counts.push((tool, SchemaCounts::of(schema)));
        let found = incompatibilities_as_written(subject, tool, schema);
        if found.is_empty() {
            continue;
        }
        let Some(at) = parameters::authored_path(subject, tool) else { continue };
        for entry in found {
            // The crate `schema` gives positions as text, counted from the schema. Here such a
            // position continues the path that leads to the schema in the record.
            let inside = RecordPath::parse(&entry.at).unwrap_or_default();
            out.push(
                RecordFinding::new(&VENDOR_INCOMPATIBLE, at.join(&inside), message(&entry))
                    .on_key()
                    .help(entry.note),
            );
        }
    }
    check_parameters_of_request(subject, &counts, out);
}

/// What the targets do not accept. Gemini's `parameters` is judged as the document has it: the
/// record states `nullable` as a list of types, and values of enums as numbers.
///
/// The record would hide what the target sees: `nullable: true` is supported there, a list of types
/// is not. So that target judges the document, and all others judge the record.
fn incompatibilities_as_written(
    subject: &Subject<'_>,
    tool: usize,
    schema: &Json,
) -> Vec<Incompatibility> {
    let targets = subject.targets();
    let written = parameters::authored_path(subject, tool)
        .filter(|_| subject.toolset.conventions.has_openapi_schemas)
        .filter(|_| targets.contains(VendorTarget::GeminiOpenapi))
        .and_then(|at| subject.document_value(&at))
        .map(|node| with_plain_types(node.to_json()));
    let Some(written) = written.filter(|written| written != schema) else {
        return incompatibilities(schema, targets);
    };
    let others = targets.iter().filter(|target| *target != VendorTarget::GeminiOpenapi).collect();
    let mut found = incompatibilities(schema, others);
    found.extend(incompatibilities(&written, [VendorTarget::GeminiOpenapi].into_iter().collect()));
    found
}

/// The schema with the names of types in lower case, as the facts about targets have them. The
/// keywords of Gemini's variant hold schemas in `properties`, `items` and `anyOf` only. Example:
/// `{"type": "STRING"}` becomes `{"type": "string"}`.
///
/// The recursion is bounded: documents nest at most 128 levels deep.
fn with_plain_types(mut schema: Json) -> Json {
    if let Json::Object(members) = &mut schema {
        for (keyword, value) in members.iter_mut() {
            match (keyword.as_str(), &mut *value) {
                ("type", Json::String(name)) => name.make_ascii_lowercase(),
                ("properties", Json::Object(named)) => named
                    .values_mut()
                    .for_each(|property| *property = with_plain_types(property.take())),
                ("anyOf", Json::Array(branches)) => {
                    branches.iter_mut().for_each(|branch| *branch = with_plain_types(branch.take()))
                }
                ("items", value) => *value = with_plain_types(value.take()),
                _ => {}
            }
        }
    }
    schema
}

/// Reports a name that a target does not accept.
///
/// The help is the rule of the targets that has the shortest names. All targets that refuse the
/// name are in one message.
fn check_name(subject: &Subject<'_>, at: ToolPath, name: &str, out: &mut Report<'_>) {
    let rejects = |target: &VendorTarget| {
        target.name_rule().is_some_and(|rule: &NameRule| !rule.allows(name))
    };
    let targets: Vec<VendorTarget> = subject.targets().iter().filter(rejects).collect();
    let message = rejection(&format!("the name `{}`", words::shorten(name)), &targets);
    let mut rules: Vec<&NameRule> = targets.iter().filter_map(|it| it.name_rule()).collect();
    rules.dedup();
    let Some(rule) = rules.iter().min_by_key(|rule| rule.max) else { return };
    let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, at.child("name"), message);
    out.push(finding.help(rule.about));
}

/// Reports a description that is too long for a target, or empty where it must not be. Read from
/// the document, because an empty description counts as missing in the record. Length is in
/// characters, not bytes.
fn check_description(subject: &Subject<'_>, at: ToolPath, out: &mut Report<'_>) {
    let path = at.child("description");
    let Some(text) = subject.document_value(&path).and_then(Node::text) else { return };
    let length = text.chars().count();
    let too_long = |target: &VendorTarget| target.max_description().is_some_and(|max| length > max);
    let targets: Vec<VendorTarget> = subject.targets().iter().filter(too_long).collect();
    if let Some(max) = targets.iter().filter_map(|target| target.max_description()).min() {
        let what = format!("a description of {length} characters, more than {max},");
        let finding =
            RecordFinding::new(&VENDOR_INCOMPATIBLE, path.clone(), rejection(&what, &targets));
        out.push(finding.help(
            "known from errors of 2025; OpenAI's current documents do not mention the limit",
        ));
    }
    let rejects_empty = |target: &VendorTarget| target.rejects_empty_description();
    let targets: Vec<VendorTarget> = subject.targets().iter().filter(rejects_empty).collect();
    if text.is_empty() && !targets.is_empty() {
        let message = rejection("an empty description", &targets);
        let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, path, message);
        out.push(finding.help("leave `description` out, or write one"));
    }
}

/// Reports the first tool whose parameters a request has no room for. `counts` are those of each
/// tool, by its number.
///
/// A request is assumed to carry all tools of the document. The finding is at the tool with which
/// the sum exceeds the limit. Of each kind of parameter there is at most one finding for a target.
fn check_parameters_of_request(
    subject: &Subject<'_>,
    counts: &[(usize, SchemaCounts)],
    out: &mut Report<'_>,
) {
    let parts =
        [RequestPart::OptionalParameters, RequestPart::UnionParameters, RequestPart::Parameters];
    for part in parts {
        let total: usize = counts.iter().map(|(_, of)| part.count(of)).sum();
        for target in subject.targets().iter() {
            let Some(max) = max_in_request(target, part).filter(|max| total > *max) else {
                continue;
            };
            let mut sum = 0;
            let crosses = |(_, of): &&(usize, SchemaCounts)| {
                sum += part.count(of);
                sum > max
            };
            let Some((tool, _)) = counts.iter().find(crosses) else { continue };
            let what = format!("sending {total} {}, more than {max},", part.words());
            let at = ToolPath(*tool).child("name");
            let message = rejection(&what, &[target]);
            let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, at, message);
            out.push(finding.help("send fewer tools in strict mode at a time"));
        }
    }
}

/// Reports the first tool, over all documents, that a request has no room for. The same targets
/// hold for all subjects of a run, so those of the first one are asked.
fn check_number_of_tools(subjects: &[Subject<'_>], report: &mut dyn FnMut(usize, RecordFinding)) {
    let Some(targets) = subjects.first().map(Subject::targets).filter(|it| !it.is_empty()) else {
        return;
    };
    let total: usize = subjects.iter().map(|subject| subject.toolset.tools.len()).sum();
    for target in targets.iter() {
        let Some(max) = max_in_request(target, RequestPart::Tools).filter(|max| total > *max)
        else {
            continue;
        };
        let mut before = 0;
        for (n, subject) in subjects.iter().enumerate() {
            let tools = subject.toolset.tools.len();
            // `max - before` tools of this document still fit, so the next one is the first that
            // does not.
            if before + tools > max {
                let what = format!("sending all {total} tools, more than {max},");
                let at = ToolPath(max - before).child("name");
                let message = rejection(&what, &[target]);
                let finding = RecordFinding::new(&VENDOR_INCOMPATIBLE, at, message);
                report(n, finding.help("this is the first tool that a request has no room for"));
                break;
            }
            before += tools;
        }
    }
}

/// How much of `part` a request to `target` may have. `None` if the target has no such limit.
fn max_in_request(target: VendorTarget, part: RequestPart) -> Option<usize> {
    target.request_limits().iter().find(|(limited, _)| *limited == part).map(|(_, max)| *max)
}

/// ``the name `a.b` makes openai and anthropic reject the request``. `what` is the subject of the
/// sentence and ends in a comma if it has a clause.
fn rejection(what: &str, targets: &[VendorTarget]) -> String {
    let ids: Vec<&str> = targets.iter().map(|target| target.id()).collect();
    format!("{what} makes {} reject the request", joined(&ids))
}

/// One sentence with all targets: those that reject the part first, then those that ignore it, as
/// in `` `const` (2 places) makes gemini-openapi reject the request; ollama ignores it``.
fn message(entry: &Incompatibility) -> String {
    let mut what = part(&entry.part);
    // Only the first place is a finding. The remedy for the others is the same.
    if entry.count > 1 {
        what.push_str(&format!(" ({} places)", entry.count));
    }
    let with = |effect| -> Vec<VendorTarget> {
        entry.effects.iter().filter(|(_, e)| *e == effect).map(|(target, _)| *target).collect()
    };
    let (rejecting, ignoring) = (with(VendorEffect::Rejects), with(VendorEffect::Ignores));
    let ids: Vec<&str> = ignoring.iter().map(|target| target.id()).collect();
    let verb = if ids.len() == 1 { "ignores" } else { "ignore" };
    let ignored = |object: &str| format!("{} {verb} {object}", joined(&ids));
    match (rejecting.is_empty(), ignoring.is_empty()) {
        (true, _) => ignored(&what),
        (false, true) => rejection(&what, &rejecting),
        (false, false) => format!("{}; {}", rejection(&what, &rejecting), ignored("it")),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn joined(ids: &[&str]) -> String {
    match ids {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => ids.concat(),
    }
}

/// What the targets do not accept, as the subject of a sentence. Names and keywords are shortened,
/// as a hostile schema may have long ones.
fn part(part: &IncompatiblePart) -> String {
    match part {
        IncompatiblePart::Keyword(keyword) => format!("`{}`", words::shorten(keyword)),
        IncompatiblePart::Missing(keyword) => format!("a schema without `{keyword}`"),
        IncompatiblePart::Name(name) => format!("the name `{}`", words::shorten(name)),
        IncompatiblePart::OptionalProperty(name) => {
            format!("the optional property `{}`", words::shorten(name))
        }
        IncompatiblePart::Boolean(all) => format!("the schema `{all}`"),
        IncompatiblePart::TooMany { what, count, max } => {
            format!("a schema with {count} {what}, more than {max},")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::findings_for;

    /// An MCP tool with this input schema.
    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    /// `pointer: message` of each finding of this rule.
    fn found(targets: &str, text: &str) -> Vec<String> {
        let found = findings_for(targets, text).into_iter();
        let of_this_rule = found.filter(|f| f.code.name == "VENDOR_INCOMPATIBLE");
        of_this_rule
            .map(|f| {
                assert_eq!(f.help.len(), 1, "{}", f.message);
                format!("{}: {}", f.at, f.message)
            })
            .collect()
    }

    #[test]
    fn keywords_that_a_target_does_not_accept_are_reported_once() {
        let p = "/inputSchema/properties";
        for (targets, schema, expected) in [
            (
                "gemini-openapi",
                r#"{"type": "object", "properties": {"a": {"type": "string", "const": "C"}}}"#,
                format!("{p}/a/const: `const` makes gemini-openapi reject the request"),
            ),
            (
                "gemini-openapi,ollama",
                r#"{"type": "object", "properties": {"a": {"type": "string", "const": "C"}, "b": {"type": "string", "const": "D"}}}"#,
                format!(
                    "{p}/a/const: `const` (2 places) makes gemini-openapi reject the request; \
                     ollama ignores it"
                ),
            ),
            (
                "gemini-openapi",
                r#"{"type": "object", "properties": {"a": true}}"#,
                format!("{p}/a: the schema `true` makes gemini-openapi reject the request"),
            ),
            (
                "openai,gemini-openapi",
                r#"{"type": "object", "properties": {"l": {"type": "array"}}}"#,
                format!(
                    "{p}/l: a schema without `items` makes openai and gemini-openapi reject the \
                     request"
                ),
            ),
            (
                "anthropic",
                r#"{"type": "object", "properties": {"a b": {"type": "string"}}}"#,
                format!("{p}/a b: the name `a b` makes anthropic reject the request"),
            ),
            (
                "openai-strict",
                r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
                format!("{p}/a: the optional property `a` makes openai-strict reject the request"),
            ),
        ] {
            assert_eq!(found(targets, &tool(schema)), [expected]);
        }
    }

    #[test]
    fn names_and_descriptions_are_compared_with_limits() {
        let named = |name: &str, description: &str| {
            format!(
                r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{"type": "object", "properties": {{}}}}}}"#
            )
        };
        assert_eq!(
            found("openai,anthropic,gemini", &named("fs.read", "Reads")),
            ["/name: the name `fs.read` makes openai and anthropic reject the request"]
        );
        assert_eq!(found("gemini,ollama", &named("fs.read", "Reads")), [""; 0]);
        assert_eq!(found("openai", &named("read", &"x".repeat(1024))), [""; 0]);
        assert_eq!(
            found("openai,openai-responses", &named("read", &"x".repeat(1025))),
            [
                "/description: a description of 1025 characters, more than 1024, makes openai reject \
              the request"
            ]
        );
        assert_eq!(
            found("bedrock", &named("read", "")),
            ["/description: an empty description makes bedrock reject the request"]
        );
    }

    #[test]
    fn parameters_are_counted_over_all_tools() {
        let properties: Vec<String> =
            (0..13).map(|n| format!(r#""p{n}": {{"type": "string"}}"#)).collect();
        let tool = |name: &str| {
            format!(
                r#"{{"name": "{name}", "description": "Does it", "inputSchema": {{"type": "object", "properties": {{{}}}, "additionalProperties": false}}}}"#,
                properties.join(",")
            )
        };
        assert_eq!(found("anthropic-strict", &tool("a")), [""; 0]);
        assert_eq!(
            found("anthropic-strict", &format!(r#"{{"tools": [{}, {}]}}"#, tool("a"), tool("b"))),
            ["/tools/1/name: sending 26 optional parameters, more than 24, makes \
                 anthropic-strict reject the request"]
        );
    }

    #[test]
    fn without_a_target_nothing_is_reported() {
        let schema = r#"{"properties": {"a b": {"type": "array", "const": 1}}, "oneOf": []}"#;
        assert_eq!(found("", &tool(schema)), [""; 0]);
    }

    #[test]
    fn invalid_and_filled_in_schemas_are_not_checked() {
        for schema in [
            r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
            // Invalid schemas are reported elsewhere.
            r#"{"type": "objekt", "properties": {"a": {"const": 1}}}"#,
            "null",
        ] {
            assert_eq!(found("openai,gemini-openapi", &tool(schema)), [""; 0], "{schema}");
        }
        // The reader filled this schema in.
        let cli = "tool:\n  id: t\n  type: cli\n  commands: [a]\n";
        assert_eq!(found("openai,gemini-openapi", cli), [""; 0]);
    }
}
