//! Which fields of the record and which keywords of schemas each target holds. Nothing is listed by
//! hand: definitions that have every field, and schemas that have every keyword, are converted to
//! the target, and the losses of the conversion are the answer.
//!
//! ```text
//! PROBES ─ convert ─▶ losses ─▶ a row for each part of the record, a cell for each target
//! keyword_probe ─ convert ─▶ losses, changes of the schema ─▶ a row for each keyword
//! ```
//!
//! A probe shows one use of a keyword. Where a target decides by the value, as for `oneOf` with
//! branches that exclude each other, another use may be held although this one is not.

use std::sync::Arc;

use serde_json::json;
use toolwright_formats::{Reading, WriteTarget, by_name, read};
use toolwright_model::{Draft, Json, Toolset};
use toolwright_schema::{ChangeAction, Dialect, VendorTarget, keyword_names, rewrite_for};
use toolwright_source::{Document, Syntax};

use super::record_parts::{tool_parts, toolset_parts};
use super::{ConvertOptions, FieldSetting, LossEffect, convert, settings};
use crate::load::{LoadedDocument, ReadOptions, in_parallel};

/// What the targets hold.
#[derive(Clone, Debug)]
pub struct FormatSupport {
    /// The targets, in the order of the cells.
    pub targets: Vec<WriteTarget>,
    /// The parts of the record.
    pub fields: Vec<SupportRow>,
    /// The keywords of input schemas.
    pub keywords: Vec<SupportRow>,
}

/// One field or keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportRow {
    /// What it belongs to.
    pub subject: SupportSubject,
    /// The path in the record, or the keyword.
    pub name: String,
    /// What becomes of it, by target.
    pub cells: Vec<PartSupport>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupportSubject {
    /// All tools of a document together.
    Toolset,
    /// One tool.
    Tool,
    /// A keyword of an input schema.
    Keyword,
}

impl SupportSubject {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            SupportSubject::Toolset => "toolset",
            SupportSubject::Tool => "tool",
            SupportSubject::Keyword => "keyword",
        }
    }
}

/// What a target makes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartSupport {
    /// It is written, and read back as it was.
    Held,
    /// Other keywords say the same.
    Rewritten,
    /// Calls have another form, and restoring turns them back.
    Restored,
    /// It is lost in this way.
    Lost(LossEffect),
}

impl PartSupport {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            PartSupport::Held => "held",
            PartSupport::Rewritten => "rewritten",
            PartSupport::Restored => "restored",
            PartSupport::Lost(effect) => effect.name(),
        }
    }

    /// Whether nothing is lost.
    pub const fn is_held(self) -> bool {
        !matches!(self, PartSupport::Lost(_))
    }
}

/// Who documents what a target holds, and where.
///
/// The second is a link for readers of the report; `None` for formats without a public page. A
/// vendor's name comes from the crate `schema`, so that it is stated once.
pub fn format_authority(target: WriteTarget) -> (&'static str, Option<&'static str>) {
    use VendorTarget::*;
    let vendor = match target {
        WriteTarget::Btcp | WriteTarget::BtcpTool => {
            return ("the BTCP specification, manifest and tool", None);
        }
        WriteTarget::Aios => return ("the AIOS tool schema, version 2.0", None),
        WriteTarget::Ikigai => return ("the ikigai web tools", None),
        WriteTarget::Mcp => {
            return (
                "MCP 2025-11-25, and toolfoundation's tool schema",
                Some("https://modelcontextprotocol.io/specification/2025-11-25/server/tools"),
            );
        }
        WriteTarget::McpPlain => {
            return (
                "MCP 2025-11-25",
                Some("https://modelcontextprotocol.io/specification/2025-11-25/server/tools"),
            );
        }
        WriteTarget::WebMcp => {
            return (
                "WebMCP, draft community group report",
                Some("https://webmachinelearning.github.io/webmcp/"),
            );
        }
        WriteTarget::Vendor(vendor) => vendor,
    };
    let link = match vendor {
        OpenAi | OpenAiResponses => "https://platform.openai.com/docs/guides/function-calling",
        OpenAiStrict | OpenAiResponsesStrict => {
            "https://platform.openai.com/docs/guides/structured-outputs"
        }
        Anthropic => "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview",
        AnthropicStrict => {
            "https://platform.claude.com/docs/en/build-with-claude/structured-outputs"
        }
        Gemini => "https://github.com/googleapis/python-genai",
        GeminiOpenapi => "https://github.com/googleapis/js-genai",
        Bedrock => "https://github.com/boto/botocore",
        Mistral => "https://github.com/mistralai/client-python",
        Cohere => "https://docs.cohere.com/docs/tool-use-parameter-types",
        Ollama => "https://github.com/ollama/ollama/blob/fb30760/api/types.go",
    };
    (vendor.authority(), Some(link))
}

/// Finds out what `targets` hold.
///
/// One column per target, on all cores; the rows follow from the first column. Each column converts
/// the six probes and one document with a tool per keyword.
///
/// Cells of one row have the order of `targets`. Nothing depends on the machine or on files, so the
/// result is the same for every user and can be compared with the documentation.
pub fn format_support(targets: &[WriteTarget]) -> FormatSupport {
    let probes: Vec<Reading> = PROBES.iter().map(|(format, text)| parse(format, text)).collect();
    let keywords: Vec<(&str, Json)> =
        keyword_names().filter_map(|name| Some((name, keyword_probe(name)?))).collect();
    let columns = in_parallel(targets, |target| {
        let fields: Vec<FieldSupport> =
            probes.iter().flat_map(|probe| fields(probe, *target)).collect();
        (merged(fields), keyword_cells(&keywords, *target))
    });
    let mut support =
        FormatSupport { targets: targets.to_vec(), fields: Vec::new(), keywords: Vec::new() };
    let row = |subject, name: &str| SupportRow { subject, name: name.to_owned(), cells: vec![] };
    for (fields, cells) in columns {
        if support.fields.is_empty() {
            let rows = fields.iter().map(|field| row(field.subject, &field.name));
            support.fields = rows.collect();
            let rows = keywords.iter().map(|(name, _)| row(SupportSubject::Keyword, name));
            support.keywords = rows.collect();
        }
        // All columns are made of the same probes, so their rows are the same.
        for (row, field) in support.fields.iter_mut().zip(&fields) {
            row.cells.push(field.support);
        }
        for (row, cell) in support.keywords.iter_mut().zip(cells) {
            row.cells.push(cell);
        }
    }
    support.keywords.sort_by(|a, b| a.name.cmp(&b.name));
    support
}

/// A part of the record and what a target makes of it.
///
/// Several of one name are merged into a row: `/tags/0` and `/tags/1` are both `tags`.
struct FieldSupport {
    subject: SupportSubject,
    name: String,
    support: PartSupport,
}

/// Merges the rows of each field over all probes. A field counts as held if one probe shows that it
/// is: in the others its parent has no place in the target, such as the example of a failure.
///
/// The rows keep the order in which the parts were met, those of the toolset before those of tools.
fn merged(fields: Vec<FieldSupport>) -> Vec<FieldSupport> {
    let mut rows: Vec<FieldSupport> = Vec::new();
    for field in fields {
        let same = |row: &&mut FieldSupport| row.subject == field.subject && row.name == field.name;
        match rows.iter_mut().find(same) {
            Some(row) if field.support.is_held() => row.support = field.support,
            Some(_) => {}
            None => rows.push(field),
        }
    }
    rows.sort_by_key(|row| row.subject);
    rows
}

/// Reads a probe. Its syntax follows from its first character.
///
/// Findings are ignored: a probe has no errors, which the conversion would refuse.
fn parse(format: &str, text: &str) -> Reading {
    let syntax = if text.starts_with('{') { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse("probe", text.as_bytes(), syntax));
    let format = by_name(format).expect("the probes are in formats that exist");
    let mut reading = read(&document, format.id());
    // Only running servers have instructions.
    reading.toolset.instructions = Some("Ask first".to_owned());
    reading
}

/// What every target demands of a toolset. Given as settings, they also keep a document from being
/// written as it is, without the writer.
fn demanded() -> Vec<FieldSetting> {
    [("namespace", "probe"), ("description", "What the tools are for"), ("version", "1.0.0")]
        .map(|(field, value)| FieldSetting { field: field.to_owned(), value: value.to_owned() })
        .to_vec()
}

/// The losses of a probe: tool, part and effect. `None` if it cannot be converted.
///
/// Nothing of a file is needed: the probe is a document without a path.
///
/// A refusal means that the target holds nothing of the probe, and callers count every part as
/// dropped. The demanded settings keep that from happening for a field that a probe merely lacks.
fn losses(
    reading: &Reading,
    target: WriteTarget,
) -> Option<Vec<(Option<String>, String, LossEffect)>> {
    let loaded = LoadedDocument {
        path: None,
        reading: Some(reading.clone()),
        diagnostics: Vec::new(),
        secret: false,
        options: ReadOptions::default(),
        bodies: None,
        in_bodies: Vec::new(),
    };
    let options = ConvertOptions {
        target,
        settings: demanded(),
        leave_out_bad_tools: false,
        find_losses: true,
    };
    let conversion = convert(&loaded, &options).ok()?;
    Some(conversion.losses.into_iter().map(|loss| (loss.tool, loss.part, loss.effect)).collect())
}

/// What becomes of each part of a probe.
///
/// A part is held if the conversion reports no loss for its path. The parts are listed from the
/// record with the demanded settings, so that their paths are those of the losses.
///
/// Parts that only one format has (`is_rest`) are left out: they would be a row for each field of
/// each format, held by one target.
fn fields(reading: &Reading, target: WriteTarget) -> Vec<FieldSupport> {
    let drafts = reading.toolset.tools.iter().cloned();
    let tools: Vec<_> = drafts.filter_map(|draft: Draft| draft.finish().ok()).collect();
    let mut toolset: Toolset<_> = reading.toolset.clone().with_tools(tools);
    let _ = settings::apply(std::slice::from_mut(&mut toolset), &demanded());
    let lost = losses(reading, target);
    let mut fields = Vec::new();
    let mut add = |subject, tool: Option<&str>, path: &str| {
        let part = path.trim_start_matches('/');
        let own = |(of, lost, _): &&(Option<String>, String, LossEffect)| {
            of.as_deref() == tool && lost == part
        };
        let support = match &lost {
            None => PartSupport::Lost(LossEffect::Dropped),
            Some(lost) => {
                let own = lost.iter().find(own).map(|(_, _, effect)| *effect);
                own.map_or(PartSupport::Held, PartSupport::Lost)
            }
        };
        fields.push(FieldSupport { subject, name: without_numbers(part), support });
    };
    add(SupportSubject::Toolset, None, "namespace");
    for part in toolset_parts(&toolset).iter().filter(|part| !part.is_rest) {
        add(SupportSubject::Toolset, None, &part.path);
    }
    for tool in &toolset.tools {
        let id = tool.id(toolset.namespace.ok()).to_string();
        // The name of a tool is held by all, and changes only with its namespace.
        for part in tool_parts(tool, &toolset).iter().filter(|part| !part.is_rest) {
            add(SupportSubject::Tool, Some(&id), &part.path);
        }
    }
    fields
}

/// `examples/0/input` as `examples/input`.
///
/// A property that is a number would be left out, too; the probes have none.
fn without_numbers(path: &str) -> String {
    let is_name = |token: &&str| token.parse::<usize>().is_err();
    path.split('/').filter(is_name).collect::<Vec<_>>().join("/")
}

/// What a target makes of each keyword: one tool for each of them.
///
/// ```text
/// a loss at the keyword's place            Lost
/// a restoring change at its place          Restored
/// the keyword is in the rewritten schema   Held
/// otherwise                                Rewritten: other keywords say the same
/// ```
///
/// All tools are in one document, so a target is asked once and not once per keyword. The number of
/// the tool leads back to the keyword: `probe:t7`.
fn keyword_cells(keywords: &[(&str, Json)], target: WriteTarget) -> Vec<PartSupport> {
    let tool = |(n, (_, schema)): (usize, &(&str, Json))| json!({"name": format!("t{n}"), "description": "Does what it says", "inputSchema": schema});
    let tools: Vec<Json> = keywords.iter().enumerate().map(tool).collect();
    let reading = parse("mcp", &json!({ "tools": tools }).to_string());
    let Some(losses) = losses(&reading, target) else {
        return vec![PartSupport::Lost(LossEffect::Dropped); keywords.len()];
    };
    let cell = |(n, (keyword, schema)): (usize, &(&str, Json))| {
        let at = pointer_to(schema, keyword).unwrap_or_default();
        let (tool, part) = (format!("probe:t{n}"), format!("inputSchema{at}"));
        let is_own = |(of, lost, _): &&(Option<String>, String, LossEffect)| {
            of.as_deref() == Some(&tool) && *lost == part
        };
        if let Some((_, _, effect)) = losses.iter().find(is_own) {
            return PartSupport::Lost(*effect);
        }
        let Some(vendor) = target.vendor() else { return PartSupport::Held };
        let rewritten = rewrite_for(vendor, schema);
        let restored = |change: &toolwright_schema::SchemaChange| {
            change.at == at && change.action == ChangeAction::Restored
        };
        if rewritten.changes.iter().any(restored) {
            PartSupport::Restored
        } else if pointer_to(&rewritten.schema, keyword).is_some() {
            PartSupport::Held
        } else {
            PartSupport::Rewritten
        }
    };
    keywords.iter().enumerate().map(cell).collect()
}

/// Where a keyword is: in the property of the probe, else elsewhere.
///
/// Depth first. Names of properties are taken for keywords, which does no harm in the probes.
///
/// The property comes first because a probe may use the same keyword around it: `type` is in both.
fn pointer_to(schema: &Json, keyword: &str) -> Option<String> {
    fn find(value: &Json, keyword: &str, at: &str) -> Option<String> {
        let members = value.as_object()?;
        if members.contains_key(keyword) {
            return Some(format!("{at}/{}", keyword.replace('~', "~0").replace('/', "~1")));
        }
        members.iter().find_map(|(name, value)| find(value, keyword, &format!("{at}/{name}")))
    }
    let property = schema.pointer("/properties/p");
    let inside = property.and_then(|value| find(value, keyword, "/properties/p"));
    inside.or_else(|| find(schema, keyword, ""))
}

/// An input schema that uses a keyword; `None` for keywords that input schemas do not have.
///
/// Each schema is small, and takes nothing but `p`. Where a keyword has an effect only beside
/// another one (`then`, `minContains`), that one is there, too.
///
/// A keyword that is missing here has no row, without an error: `keyword_names` may list more than
/// input schemas have.
fn keyword_probe(keyword: &str) -> Option<Json> {
    let text = |more: Json| with(json!({"type": "string"}), more);
    let number = |more: Json| with(json!({"type": "number"}), more);
    let list = |more: Json| with(json!({"type": "array", "items": {"type": "string"}}), more);
    let object = |more: Json| with(json!({"type": "object"}), more);
    let pair = json!([{"type": "string"}, {"type": "number"}]);
    let old = |property: Json, more: Json| {
        with(with(json!({"$schema": Dialect::Draft7.uri()}), closed(property)), more)
    };
    Some(match keyword {
        // What only the schemas of schemas have.
        "$vocabulary" => return None,
        "if" | "then" => closed(text(json!({"if": {"minLength": 2}, "then": {"pattern": "^a"}}))),
        "else" => closed(text(json!({"if": {"minLength": 2}, "else": {"pattern": "^a"}}))),
        "$id" => with(json!({"$id": "https://example.org/p"}), closed(text(json!({})))),
        "$schema" => with(json!({"$schema": Dialect::Draft202012.uri()}), closed(text(json!({})))),
        "$ref" | "$defs" => {
            with(closed(json!({"$ref": "#/$defs/t"})), json!({"$defs": {"t": {"type": "string"}}}))
        }
        "definitions" => old(
            json!({"$ref": "#/definitions/t"}),
            json!({"definitions": {"t": {"type": "string"}}}),
        ),
        "$anchor" => with(
            closed(json!({"$ref": "#t"})),
            json!({"$defs": {"t": {"$anchor": "t", "type": "string"}}}),
        ),
        "$dynamicRef" | "$dynamicAnchor" => with(
            closed(json!({"$dynamicRef": "#t"})),
            json!({"$defs": {"t": {"$dynamicAnchor": "t", "type": "string"}}}),
        ),
        "type" | "properties" | "required" => closed(text(json!({}))),
        "not" => closed(text(json!({"not": {"const": "a"}}))),
        "enum" => closed(text(json!({"enum": ["a", "b"]}))),
        "const" => closed(text(json!({"const": "a"}))),
        "allOf" => closed(json!({"allOf": [{"type": "string"}, {"maxLength": 3}]})),
        "anyOf" => closed(json!({"anyOf": pair})),
        // Branches that exclude each other need no `oneOf`.
        "oneOf" => closed(text(json!({"oneOf": [{"maxLength": 3}, {"pattern": "^b"}]}))),
        "title" | "description" | "$comment" => closed(text(json!({keyword: "A text"}))),
        "default" => closed(text(json!({"default": "a"}))),
        "examples" => closed(text(json!({"examples": ["a"]}))),
        "readOnly" => closed(text(json!({"readOnly": true}))),
        "writeOnly" => closed(text(json!({"writeOnly": true}))),
        "deprecated" => closed(text(json!({"deprecated": true}))),
        "format" => closed(text(json!({"format": "date"}))),
        "contentEncoding" => closed(text(json!({"contentEncoding": "base64"}))),
        "contentMediaType" => closed(text(json!({"contentMediaType": "application/json"}))),
        "contentSchema" => closed(text(
            json!({"contentMediaType": "application/json", "contentSchema": {"type": "object"}}),
        )),
        "pattern" => closed(text(json!({"pattern": "^a"}))),
        "minLength" => closed(text(json!({"minLength": 2}))),
        "maxLength" => closed(text(json!({"maxLength": 3}))),
        "minimum" => closed(number(json!({"minimum": 1}))),
        "maximum" => closed(number(json!({"maximum": 9}))),
        "exclusiveMinimum" => closed(number(json!({"exclusiveMinimum": 1}))),
        "exclusiveMaximum" => closed(number(json!({"exclusiveMaximum": 9}))),
        "multipleOf" => closed(number(json!({"multipleOf": 0.5}))),
        "items" => closed(list(json!({}))),
        "prefixItems" => {
            closed(json!({"type": "array", "prefixItems": pair, "items": false, "minItems": 2}))
        }
        "additionalItems" => {
            old(json!({"type": "array", "items": pair, "additionalItems": false}), json!({}))
        }
        "minItems" => closed(list(json!({"minItems": 2}))),
        "maxItems" => closed(list(json!({"maxItems": 3}))),
        "uniqueItems" => closed(list(json!({"uniqueItems": true}))),
        "contains" => closed(list(json!({"contains": {"const": "a"}}))),
        "minContains" => closed(list(json!({"contains": {"const": "a"}, "minContains": 2}))),
        "maxContains" => closed(list(json!({"contains": {"const": "a"}, "maxContains": 2}))),
        "unevaluatedItems" => closed(
            json!({"type": "array", "prefixItems": [{"type": "string"}], "unevaluatedItems": false}),
        ),
        "additionalProperties" => {
            closed(object(json!({"additionalProperties": {"type": "string"}})))
        }
        "patternProperties" => closed(object(
            json!({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}),
        )),
        "propertyNames" => closed(object(json!({"propertyNames": {"pattern": "^a"}}))),
        "minProperties" => closed(object(json!({"minProperties": 1}))),
        "maxProperties" => closed(object(json!({"maxProperties": 3}))),
        "dependentRequired" => closed(object(json!({"dependentRequired": {"a": ["b"]}}))),
        "dependentSchemas" => {
            closed(object(json!({"dependentSchemas": {"a": {"required": ["b"]}}})))
        }
        "dependencies" => old(object(json!({"dependencies": {"a": ["b"]}})), json!({})),
        "unevaluatedProperties" => closed(object(json!({"unevaluatedProperties": false}))),
        _ => return None,
    })
}

/// An object that takes `p` and nothing else.
///
/// Closed and with its only property required, so that strict modes change nothing but the keyword
/// in question.
fn closed(property: Json) -> Json {
    json!({
        "type": "object", "properties": {"p": property}, "required": ["p"],
        "additionalProperties": false,
    })
}

/// The members of both.
fn with(mut one: Json, other: Json) -> Json {
    if let (Json::Object(one), Json::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}

/// Definitions that together have every part of the record, each in a format that has it.
///
/// Their tools have as little else as possible: what is lost should be the part, not its
/// surroundings.
const PROBES: [(&str, &str); 6] = [
    (
        "mcp",
        r#"{"tools": [{
          "name": "read", "title": "Read", "description": "Reads a file", "version": "1.2.0",
          "tags": ["files"], "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"},
          "annotations": {"title": "Read", "readOnlyHint": true, "destructiveHint": false,
                          "idempotentHint": true, "openWorldHint": false},
          "icons": [{"src": "https://example.org/a.png", "mimeType": "image/png", "sizes": ["any"]}],
          "_meta": {"example.org/a": 1},
          "examples": [{"description": "One", "input": {}, "output": {}}]
        }]}"#,
    ),
    (
        "btcp",
        r#"{"btcp": "1.0", "name": "probe", "version": "1.0.0", "description": "Reads pages",
          "provider": {"name": "Example", "url": "https://example.org",
                       "contact": "a@example.org", "icon": "https://example.org/a.png"},
          "capabilities": ["dom:read"],
          "config": {"timeout": 5000, "sandbox": "worker", "maxConcurrent": 2},
          "tools": [{
            "name": "readPage", "description": "Reads the page that is open",
            "inputSchema": {"type": "object"}, "capabilities": ["dom:read"], "timeout": 4000,
            "examples": [{"description": "All of it", "input": {}, "output": {"text": "a"}}],
            "deprecated": true, "deprecationMessage": "Use readText"
          }]}"#,
    ),
    ("aios", AIOS_SERVER),
    ("aios", AIOS_COMMAND),
    ("aios", AIOS_LOCAL),
    ("aios", AIOS_META),
];

/// Has the most parts: knowledge, examples of both outcomes, a server.
const AIOS_SERVER: &str = "\
tool:
  schema_version: 2.0
  id: probe
  type: mcp
  name: Probe
  version: 1.0.0
  description: Reads pages
  knowledge_strategy: hybrid
  tools:
    - id: read
      description: Reads a page
      inputSchema: {type: object}
  mcp_specific: {server_command: npx server, transport: stdio}
  executable_knowledge:
    helpers: [{id: a, language: javascript, runtime: isolated_vm, function: 'x => x'}]
    processors: [{id: b, language: javascript, function: 'x => x'}]
    validators: [{id: c, language: javascript, validates: read, function: 'x => x'}]
  api_complexity:
    payload_schemas: [{type: a, detection: 'a field', payload_path: a}]
    field_mappings: {custom: {a: {structure: text}}}
    api_quirks: [{quirk: a, description: b, mitigation: c}]
  anti_patterns: [{pattern: a, description: b, category: validation, wrong: c, correct: d}]
  examples:
    read:
      - {scenario: success, description: All, input: {}, output: {text: a}}
      - {scenario: failure_invalid_param, input: {}, error: {code: A, message: b}}
";

/// Has the binding of a program.
const AIOS_COMMAND: &str = "\
tool:
  id: probe
  type: cli
  name: Probe
  version: 1.0.0
  description: Reads pages
  cli_specific: {executable: reader, install_check: reader --version, install_guide: Install it}
  command_groups: {all: [{command: reader page, description: Reads a page}]}
";

/// Has the binding of a script.
const AIOS_LOCAL: &str = "\
tool:
  id: probe
  type: local
  name: Probe
  version: 1.0.0
  description: Reads pages
  tools: [{id: read, description: Reads a page, inputSchema: {type: object}}]
  local_specific: {entry_point: ./read.py, runtime: python3, dependencies: [a]}
";

/// Has the binding of a tool that calls others.
const AIOS_META: &str = "\
tool:
  schema_version: 2.0
  id: probe
  type: meta
  name: Probe
  version: 1.0.0
  description: Reads pages
  tools: [{id: read, description: Reads a page, inputSchema: {type: object}}]
  executable_knowledge:
    helpers: [{id: a, language: javascript, runtime: isolated_vm, function: 'x => x'}]
  meta_specific: {aggregates: [other], orchestration: helpers.a}
";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use toolwright_formats::{DetectionResult, FORMATS, detect};

    /// The names of the rows that a definition would need.
    fn rows(reading: &Reading) -> BTreeSet<String> {
        let rows = fields(reading, WriteTarget::Mcp).into_iter();
        rows.map(|field| format!("{} {}", field.subject.name(), field.name)).collect()
    }

    #[test]
    fn the_probes_have_every_part_of_the_examples() {
        let probes: BTreeSet<String> =
            PROBES.iter().flat_map(|(format, text)| rows(&parse(format, text))).collect();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let mut seen = 0;
        for format in FORMATS {
            let folder = examples.join(format.id().0);
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let syntax = match path.extension().and_then(|ending| ending.to_str()) {
                    Some("json") => Syntax::Json,
                    Some("yaml") => Syntax::Yaml,
                    _ => continue,
                };
                let bytes = std::fs::read(&path).expect("an example");
                let document = Arc::new(Document::parse("example", bytes, syntax));
                let DetectionResult::Format(id) = detect(&document) else { continue };
                for row in rows(&read(&document, id)) {
                    // Examples of commands that a document does not define are a mistake.
                    let is_known =
                        probes.contains(&row) || row.starts_with("toolset strayExamples");
                    assert!(is_known, "{}: {row}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn every_keyword_of_input_schemas_has_a_probe_that_uses_it() {
        for keyword in keyword_names().filter(|keyword| *keyword != "$vocabulary") {
            let probe = keyword_probe(keyword).unwrap_or_else(|| panic!("{keyword}"));
            assert!(pointer_to(&probe, keyword).is_some(), "{keyword}: {probe}");
            toolwright_schema::Schema::compile(&probe).unwrap_or_else(|e| panic!("{keyword}: {e}"));
        }
    }

    #[test]
    fn the_cells_are_what_conversions_show() {
        let targets: Vec<WriteTarget> = WriteTarget::all().collect();
        let support = format_support(&targets);
        let cell = |rows: &[SupportRow], subject: SupportSubject, name: &str, target: &str| {
            let column = targets.iter().position(|own| own.id() == target).expect(target);
            let row = rows.iter().find(|row| row.subject == subject && row.name == name);
            row.unwrap_or_else(|| panic!("no row {name}")).cells[column].name()
        };
        let field = |name, target| cell(&support.fields, SupportSubject::Tool, name, target);
        let keyword = |name, target| cell(&support.keywords, SupportSubject::Keyword, name, target);
        for (name, target, expected) in [
            ("tags", "mcp", "held"),
            ("tags", "mcp-plain", "dropped"),
            ("examples/input", "anthropic", "held"),
            ("examples/output", "anthropic", "dropped"),
            ("outputSchema", "openai", "dropped"),
            ("capabilities", "btcp", "held"),
        ] {
            assert_eq!(field(name, target), expected, "{name} in {target}");
        }
        for (name, target, expected) in [
            ("pattern", "mcp", "held"),
            ("multipleOf", "gemini-openapi", "widened"),
            ("const", "gemini-openapi", "rewritten"),
            ("examples", "gemini-openapi", "dropped"),
            ("$ref", "gemini-openapi", "rewritten"),
            ("uniqueItems", "openai-strict", "widened"),
            ("minimum", "openai-strict", "held"),
        ] {
            assert_eq!(keyword(name, target), expected, "{name} in {target}");
        }
        let all = support.fields.iter().chain(&support.keywords);
        assert!(all.into_iter().all(|row| row.cells.len() == targets.len()));
    }
}
