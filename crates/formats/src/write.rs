//! Writes a toolset as a document: the other direction of the readers.
//!
//! ```text
//! WriteTarget ── one list of ids ──▶ write ──▶ <format>/write.rs ──▶ WrittenDocument
//!                                      └──▶ MissingField: what would have to be invented
//! ```
//!
//! A writer puts down what its format holds, and the fields that were read from the same format and
//! have no place in the record (`Rest`). It reports no losses: `workspace::convert` reads the
//! document back and compares, so that a writer cannot forget one. What a format demands and the
//! record lacks is filled in only where a neutral value exists (`capabilities: []`, version 0.1.0).
//!
//! Deliberately absent: rewriting schemas for a vendor and choosing names (`workspace::convert`),
//! which come before.

use std::fmt;

use serde_json::json;
use toolwright_model::{FormatId, InputSchema, Json, Object, Rest, Tool, Toolset};
use toolwright_schema::VendorTarget;
use toolwright_source::{DocumentPath, Syntax, json_document, yaml_document};

use crate::{aios, anthropic, bedrock, btcp, gemini, ikigai, mcp, openai, webmcp};

/// What a toolset is written as: a format, or an API of a vendor in one of its modes.
///
/// To add a target: a variant, its arms in the functions below, and a writer. Its column in
/// docs/format-support.md follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTarget {
    /// A BTCP manifest.
    Btcp,
    /// BTCP tools without a manifest.
    BtcpTool,
    /// An AIOS tool, version 2.0, in YAML.
    Aios,
    /// The document that an ikigai program prints.
    Ikigai,
    /// An MCP tool list with the fields of toolfoundation.
    Mcp,
    /// An MCP tool list with the fields of MCP alone.
    McpPlain,
    /// WebMCP tools as JSON.
    WebMcp,
    /// The list of tools that a request to a vendor has.
    Vendor(VendorTarget),
}

use WriteTarget::*;

impl WriteTarget {
    /// The formats that do not belong to a vendor, in the order of `--help`.
    const FORMATS: [WriteTarget; 7] = [Btcp, BtcpTool, Aios, Ikigai, Mcp, McpPlain, WebMcp];

    /// All targets, in the order of `--help`.
    pub fn all() -> impl Iterator<Item = WriteTarget> {
        WriteTarget::FORMATS.into_iter().chain(VendorTarget::ALL.map(Vendor))
    }

    /// The id that `--to` takes.
    pub const fn id(self) -> &'static str {
        match self {
            Btcp => "btcp",
            BtcpTool => "btcp-tool",
            Aios => "aios",
            Ikigai => "ikigai",
            Mcp => "mcp",
            McpPlain => "mcp-plain",
            WebMcp => "webmcp",
            Vendor(target) => target.id(),
        }
    }

    /// What the id stands for, in a few words; shown by `--help`.
    pub const fn about(self) -> &'static str {
        match self {
            Btcp => "BTCP manifest",
            BtcpTool => "BTCP tool, or a list of them, without a manifest",
            Aios => "AIOS tool, version 2.0",
            Ikigai => "the document that an executable tool prints for `--schema`",
            Mcp => "MCP tool list, with toolfoundation's fields",
            McpPlain => "MCP tool list, with the fields of MCP alone",
            WebMcp => "WebMCP tools, as JSON",
            Vendor(target) => target.about(),
        }
    }

    /// The target with this id.
    pub fn by_id(id: &str) -> Option<WriteTarget> {
        WriteTarget::all().find(|target| target.id() == id)
    }

    /// The vendor's API, if it is one.
    pub const fn vendor(self) -> Option<VendorTarget> {
        match self {
            Vendor(target) => Some(target),
            _ => None,
        }
    }

    /// The format that reads what is written.
    pub fn format(self) -> FormatId {
        match self {
            Btcp | BtcpTool => btcp::ID,
            Aios => aios::ID,
            Ikigai => ikigai::ID,
            Mcp | McpPlain => mcp::ID,
            WebMcp => webmcp::ID,
            Vendor(target) => match target {
                VendorTarget::Anthropic | VendorTarget::AnthropicStrict => anthropic::ID,
                VendorTarget::Gemini | VendorTarget::GeminiOpenapi => gemini::ID,
                VendorTarget::Bedrock => bedrock::ID,
                _ => openai::ID,
            },
        }
    }

    /// Whether a document of the target has a place for the namespace of its tools. Elsewhere the
    /// namespace has to become a part of the names.
    pub const fn holds_namespace(self) -> bool {
        matches!(self, Btcp | Aios | Mcp)
    }

    /// The names of tools that the target holds.
    pub const fn names(self) -> NameShape {
        match self {
            Btcp | BtcpTool => NameShape { max: 64, others: "_", start: NameStart::Letter },
            Aios | Ikigai | Mcp | McpPlain | WebMcp => {
                NameShape { max: 128, others: "_.-", start: NameStart::Any }
            }
            // Gemini's API demands it; the set is the one that every vendor accepts.
            Vendor(VendorTarget::Gemini | VendorTarget::GeminiOpenapi) => {
                NameShape { max: 64, others: "_-", start: NameStart::LetterOrUnderscore }
            }
            Vendor(_) => NameShape { max: 64, others: "_-", start: NameStart::Any },
        }
    }
}

/// The names that a target holds: ASCII letters, digits and a few other characters.
///
/// For callers that choose names: a writer does not check them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameShape {
    /// The longest name, in characters.
    pub max: usize,
    /// Characters beside letters and digits.
    pub others: &'static str,
    /// The first character.
    pub start: NameStart,
}

/// What the first character of a name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStart {
    /// Any character that a name may have.
    Any,
    /// A letter.
    Letter,
    /// A letter or `_`.
    LetterOrUnderscore,
}

impl NameShape {
    /// Whether a name may have this character.
    pub fn allows(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.others.contains(c)
    }

    /// Whether a name may start with this character.
    pub fn may_start_with(&self, c: char) -> bool {
        match self.start {
            NameStart::Any => self.allows(c),
            NameStart::Letter => c.is_ascii_alphabetic(),
            NameStart::LetterOrUnderscore => c.is_ascii_alphabetic() || c == '_',
        }
    }
}

/// A field that the target demands, the record lacks, and nobody but the author can give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingField {
    /// The field as `--set` names it: `namespace`, or `TOOL.description`.
    pub field: String,
    /// Why the target needs it.
    pub reason: &'static str,
}

impl fmt::Display for MissingField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is missing: {}", self.field, self.reason)
    }
}

/// A document that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenDocument {
    /// The document as a value.
    pub value: Json,
    /// How it is written down.
    pub syntax: Syntax,
}

impl WrittenDocument {
    /// The text, as users of the format write it: JSON with two spaces, YAML in blocks. It ends
    /// with a line end.
    pub fn text(&self) -> String {
        match self.syntax {
            Syntax::Json | Syntax::Jsonc => json_document(&self.value),
            Syntax::Yaml => yaml_document(&self.value),
        }
    }
}

/// Writes a toolset. Names and schemas are written as they are: a caller that converts chooses
/// names that the target holds, and rewrites schemas, before. Takes the toolset, because most of
/// the document is parts of it that are moved.
///
/// # Errors
/// If the target demands fields that the record lacks: all of them.
///
/// ```
/// use toolwright_formats::{WriteTarget, read, by_name, write};
/// use toolwright_model::Tool;
/// # use std::sync::Arc;
/// # use toolwright_source::{Document, Syntax};
/// let text = r#"{"name": "now", "inputSchema": {"type": "object"}}"#;
/// let document = Arc::new(Document::parse("now.json", text, Syntax::Json));
/// let toolset = read(&document, by_name("mcp").unwrap().id()).toolset.finish().unwrap();
/// let target = WriteTarget::by_id("anthropic").unwrap();
/// let written = write(target, toolset.clone()).unwrap();
/// assert_eq!(written.value[0]["input_schema"], serde_json::json!({"type": "object"}));
/// // ikigai demands a description, and nobody can invent one.
/// let missing = write(WriteTarget::Ikigai, toolset).unwrap_err();
/// assert_eq!(missing[0].field, "now.description");
/// ```
pub fn write(
    target: WriteTarget,
    toolset: Toolset<Tool>,
) -> Result<WrittenDocument, Vec<MissingField>> {
    let missing = missing_fields(target, &toolset);
    if !missing.is_empty() {
        return Err(missing);
    }
    let value = match target {
        Btcp => btcp::write_manifest(toolset),
        BtcpTool => btcp::write_tools(toolset),
        Aios => aios::write(&toolset),
        Ikigai => ikigai::write(toolset),
        Mcp => mcp::write(toolset, mcp::McpFields::WithToolfoundation),
        McpPlain => mcp::write(toolset, mcp::McpFields::Plain),
        WebMcp => mcp::write(toolset, mcp::McpFields::WebMcp),
        Vendor(vendor) => match vendor {
            VendorTarget::Anthropic => anthropic::write(toolset, false),
            VendorTarget::AnthropicStrict => anthropic::write(toolset, true),
            VendorTarget::Gemini => gemini::write(toolset, gemini::SchemaField::JsonSchema),
            VendorTarget::GeminiOpenapi => gemini::write(toolset, gemini::SchemaField::OpenApi),
            VendorTarget::Bedrock => bedrock::write(toolset),
            VendorTarget::OpenAiResponses => openai::write_responses(toolset, false),
            VendorTarget::OpenAiResponsesStrict => openai::write_responses(toolset, true),
            VendorTarget::OpenAiStrict => openai::write_chat(toolset, true),
            VendorTarget::OpenAi
            | VendorTarget::Mistral
            | VendorTarget::Cohere
            | VendorTarget::Ollama => openai::write_chat(toolset, false),
        },
    };
    let syntax = if target == Aios { Syntax::Yaml } else { Syntax::Json };
    Ok(WrittenDocument { value, syntax })
}

/// What would have to be invented. For all tools, so that the author can give everything in one
/// command.
fn missing_fields(target: WriteTarget, toolset: &Toolset<Tool>) -> Vec<MissingField> {
    let mut missing = Vec::new();
    let mut add = |field: String, reason| missing.push(MissingField { field, reason });
    let has_namespace = toolset.namespace.ok().is_some();
    match target {
        Btcp if !has_namespace => add("namespace".to_owned(), "a manifest has a `name`"),
        Aios if !has_namespace => add("namespace".to_owned(), "an AIOS tool has an `id`"),
        _ => {}
    }
    if target == Aios && is_blank(toolset.description.as_deref()) {
        add("description".to_owned(), "an AIOS tool has a `description`");
    }
    for tool in &toolset.tools {
        let name = tool.name.as_str();
        if target != Aios && tool.input == InputSchema::Deferred {
            add(format!("{name}.inputSchema"), "only its server knows the schema");
        }
        let accepts_objects =
            |schema: &Json| schema.get("type").is_none_or(|kind| kind == "object");
        if demands_object(target) && !tool.input.written().is_none_or(accepts_objects) {
            add(format!("{name}.inputSchema"), "the target demands arguments of `type: object`");
        }
        let description = tool.description.as_deref();
        match target {
            Btcp | BtcpTool if description.is_none_or(|text| text.chars().count() < 10) => {
                add(format!("{name}.description"), "BTCP demands at least 10 characters");
            }
            Ikigai | WebMcp if is_blank(description) => {
                add(format!("{name}.description"), "the target demands a description");
            }
            _ => {}
        }
    }
    missing
}

/// Whether input schemas have to say `type: object`.
const fn demands_object(target: WriteTarget) -> bool {
    matches!(target, Mcp | McpPlain | WebMcp | Vendor(VendorTarget::Bedrock))
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.trim().is_empty())
}

/// An object that is filled member by member.
///
/// Members keep the order in which they are added.
pub(crate) struct ObjectWriter(Object);

impl Default for ObjectWriter {
    fn default() -> Self {
        // Most objects have a few members, and growing one moves those before.
        ObjectWriter(Object::with_capacity(8))
    }
}

impl ObjectWriter {
    /// Adds a member.
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Json>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Adds a member, if there is a value.
    pub(crate) fn put_some(&mut self, name: &str, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Adds a list, unless it is empty.
    pub(crate) fn put_list(&mut self, name: &str, items: Vec<Json>) {
        if !items.is_empty() {
            self.put(name, items);
        }
    }

    /// Adds an object, unless it is empty.
    pub(crate) fn put_object(&mut self, name: &str, object: Object) {
        if !object.is_empty() {
            self.put(name, object);
        }
    }

    /// Adds members that were kept beside those of the record. A member that is there already
    /// stays: the record takes precedence over what was kept.
    pub(crate) fn extend(&mut self, members: &Object) {
        for (name, value) in members {
            self.0.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    /// Adds the members of another one.
    pub(crate) fn append(&mut self, other: ObjectWriter) {
        self.0.extend(other.0);
    }

    /// The object.
    pub(crate) fn finish(self) -> Object {
        self.0
    }

    /// The object as a value.
    pub(crate) fn into_json(self) -> Json {
        Json::Object(self.0)
    }
}

/// An object with one member. Moves the value, which `json!` would copy.
pub(crate) fn object_of(name: &str, value: impl Into<Json>) -> Json {
    Json::Object(Object::from_iter([(name.to_owned(), value.into())]))
}

/// Puts the fields of `format` back where they were, for which the record has no place. `fits` says
/// which pointers have a place in the form that is written. A pointer that leads through a value of
/// another type is left out.
pub(crate) fn put_rest(
    value: &mut Json,
    rest: &Rest,
    format: FormatId,
    fits: impl Fn(&str) -> bool,
) {
    let kept = rest.iter().find(|(id, _)| *id == format).map(|(_, fields)| fields);
    for (pointer, field) in kept.into_iter().flatten().filter(|(pointer, _)| fits(pointer)) {
        if let Some(path) = DocumentPath::parse(pointer) {
            let tokens: Vec<String> = path.tokens().map(|token| token.into_owned()).collect();
            insert_at(value, &tokens, field);
        }
    }
}

/// Inserts a field unless something is there. Objects around it are made; items of a list that does
/// not have as many are not.
fn insert_at(value: &mut Json, tokens: &[String], field: &Json) {
    let Some((token, below)) = tokens.split_first() else { return };
    match value {
        Json::Object(members) => match below {
            [] => drop(members.entry(token.clone()).or_insert_with(|| field.clone())),
            _ => insert_at(members.entry(token.clone()).or_insert_with(|| json!({})), below, field),
        },
        Json::Array(items) => {
            let Ok(index) = token.parse::<usize>() else { return };
            match below {
                [] if index <= items.len() => items.insert(index, field.clone()),
                [] => {}
                _ => {
                    if let Some(item) = items.get_mut(index) {
                        insert_at(item, below, field);
                    }
                }
            }
        }
        _ => {}
    }
}

/// A list of tools as a vendor's request has it, with what was kept around it: the list alone, or
/// the request if something was kept of it.
///
/// ```text
/// kept /model, /messages   ─▶  {tools: […], model, messages}
/// kept /2                  ─▶  […, a tool of the vendor's own, …]
/// kept nothing             ─▶  […]
/// ```
pub(crate) fn with_surroundings(tools: Vec<Json>, rest: &Rest, format: FormatId) -> Json {
    let kept = rest.iter().find(|(id, _)| *id == format).map(|(_, fields)| fields);
    // `/3` is an item of a list at the root, everything else a field of a request.
    let is_item = |pointer: &String| pointer[1..].split('/').next().is_some_and(is_number);
    let is_request = kept.is_some_and(|fields| fields.keys().any(|pointer| !is_item(pointer)));
    let mut value = if is_request { object_of("tools", tools) } else { Json::Array(tools) };
    put_rest(&mut value, rest, format, |_| true);
    value
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
