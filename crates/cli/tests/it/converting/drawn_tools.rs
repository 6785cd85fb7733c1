//! Definitions drawn in all formats, for properties that hold for every definition.
//!
//! Every text and number occurs once in a definition, so that finding it in a converted document
//! means that this one was written, and not another one that is equal. Flags have no values to tell
//! them apart; each occurs once, too, as far as a format allows it.

use std::collections::HashSet;

use serde_json::{Map, Value as Json, json};

/// The forms that definitions are written in.
pub(super) const FORMS: [&str; 13] = [
    "btcp",
    "btcp-tool",
    "aios",
    "ikigai",
    "mcp",
    "webmcp",
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-openapi",
    "bedrock",
    "openapi",
];

/// The format that reads a form.
pub(super) fn format_of(form: &str) -> &'static str {
    match form {
        "btcp" | "btcp-tool" => "btcp",
        "aios" => "aios",
        "ikigai" => "ikigai",
        "mcp" => "mcp",
        "webmcp" => "webmcp",
        "openai" | "openai-responses" => "openai",
        "anthropic" => "anthropic",
        "gemini" | "gemini-openapi" => "gemini",
        "bedrock" => "bedrock",
        _ => "openapi",
    }
}

/// Random numbers, reproducible by seed (SplitMix64).
pub(super) struct DefinitionDraw {
    state: u64,
    /// Texts and numbers so far.
    count: u64,
    /// Flags that are in the definition already.
    flags: HashSet<&'static str>,
}

impl DefinitionDraw {
    pub(super) fn new(seed: u64) -> DefinitionDraw {
        DefinitionDraw {
            state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d),
            count: 1_000,
            flags: HashSet::new(),
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("small")
    }

    /// Whether something happens that happens once in `chance` times.
    pub(super) fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn number(&mut self) -> u64 {
        self.count += 1 + self.next() % 3;
        self.count
    }

    /// A bound above all others, so that most schemas have instances.
    fn large_number(&mut self) -> u64 {
        1_000_000 + self.number()
    }

    fn word(&mut self) -> String {
        format!("w{}", self.number())
    }

    fn prose(&mut self) -> String {
        format!("Says number {} of the text.", self.number())
    }

    fn flag(&mut self, name: &'static str, chance: usize) -> bool {
        self.one_in(chance) && self.flags.insert(name)
    }
}

/// Members that are there once in a few times.
struct Members<'d>(Map<String, Json>, &'d mut DefinitionDraw);

impl Members<'_> {
    fn put(&mut self, name: &str, value: impl Into<Json>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn sometimes(
        &mut self,
        name: &str,
        chance: usize,
        value: impl FnOnce(&mut DefinitionDraw) -> Json,
    ) {
        if self.1.one_in(chance) {
            let value = value(self.1);
            self.put(name, value);
        }
    }
}

/// A definition in this form.
pub(super) fn definition(form: &str, draw: &mut DefinitionDraw) -> Json {
    match form {
        "btcp" => {
            let tools: Vec<Json> = (0..=draw.below(2)).map(|_| btcp_tool(draw)).collect();
            json!({
                "btcp": "1.0", "name": draw.word(), "version": format!("1.{}.0", draw.number()),
                "description": draw.prose(), "capabilities": [], "tools": tools,
                "x-kept": draw.word(), "provider": {"name": draw.word()},
            })
        }
        "btcp-tool" => btcp_tool(draw),
        "aios" => json!({"tool": {
            "id": draw.word(), "type": "mcp", "name": draw.prose(),
            "version": format!("2.{}.0", draw.number()), "description": draw.prose(),
            "x-kept": draw.word(),
            "tools": [{
                "id": draw.word(), "description": draw.prose(), "inputSchema": schema(draw),
            }],
        }}),
        "ikigai" => json!({
            "name": draw.word(), "description": draw.prose(), "parameters": schema(draw),
            "x-kept": draw.word(),
        }),
        "mcp" => {
            let tools: Vec<Json> = (0..=draw.below(2)).map(|_| mcp_tool(draw)).collect();
            json!({ "tools": tools })
        }
        "webmcp" => {
            let tools: Vec<Json> = (0..=draw.below(2))
                .map(|_| {
                    json!({
                        "name": draw.word(), "description": draw.prose(),
                        "inputSchema": schema(draw), "title": draw.prose(),
                    })
                })
                .collect();
            json!({ "tools": tools })
        }
        "openai" => {
            let mut function = Members(Map::new(), draw);
            let name = function.1.word();
            function.put("name", name);
            function.sometimes("description", 2, |draw| draw.prose().into());
            let parameters = schema(function.1);
            function.put("parameters", parameters);
            let function = function.0;
            json!([{"type": "function", "function": function, "x-kept": draw.word()}])
        }
        "openai-responses" => json!([{
            "type": "function", "name": draw.word(), "description": draw.prose(),
            "parameters": schema(draw), "strict": false,
        }]),
        "anthropic" => {
            let mut tool = Members(Map::new(), draw);
            let (name, description) = (tool.1.word(), tool.1.prose());
            tool.put("name", name);
            tool.put("description", description);
            let input = schema(tool.1);
            tool.put("input_schema", input);
            tool.sometimes("type", 3, |_| "custom".into());
            tool.sometimes("cache_control", 3, |_| json!({"type": "ephemeral"}));
            json!([tool.0])
        }
        "gemini" => json!([{"functionDeclarations": [{
            "name": draw.word(), "description": draw.prose(), "parametersJsonSchema": schema(draw),
            "responseJsonSchema": small_schema(draw),
        }]}]),
        "gemini-openapi" => json!([{"functionDeclarations": [{
            "name": draw.word(), "description": draw.prose(), "parameters": openapi_schema(draw, true),
        }]}]),
        "bedrock" => json!({"tools": [{"toolSpec": {
            "name": draw.word(), "description": draw.prose(),
            "inputSchema": {"json": schema(draw)},
        }}]}),
        _ => openapi(draw),
    }
}

fn btcp_tool(draw: &mut DefinitionDraw) -> Json {
    let mut tool = Members(Map::new(), draw);
    let (name, description) = (tool.1.word(), tool.1.prose());
    tool.put("name", name);
    tool.put("description", description);
    let input = schema(tool.1);
    tool.put("inputSchema", input);
    tool.put("capabilities", json!([]));
    tool.sometimes("outputSchema", 2, small_schema);
    tool.sometimes("version", 3, |draw| format!("3.{}.0", draw.number()).into());
    tool.sometimes("tags", 3, |draw| json!([draw.word()]));
    tool.sometimes("timeout", 3, |draw| draw.number().into());
    tool.sometimes("x-kept", 3, |draw| draw.word().into());
    tool.0.into()
}

fn mcp_tool(draw: &mut DefinitionDraw) -> Json {
    let mut tool = Members(Map::new(), draw);
    let name = tool.1.word();
    tool.put("name", name);
    tool.sometimes("title", 2, |draw| draw.prose().into());
    tool.sometimes("description", 2, |draw| draw.prose().into());
    let input = schema(tool.1);
    tool.put("inputSchema", input);
    tool.sometimes("outputSchema", 2, small_schema);
    tool.sometimes("namespace", 3, |draw| draw.word().into());
    tool.sometimes("version", 3, |draw| format!("4.{}.0", draw.number()).into());
    tool.sometimes("tags", 3, |draw| json!([draw.word(), draw.word()]));
    let hint = ["readOnlyHint", "idempotentHint", "openWorldHint"][tool.1.below(3)];
    tool.sometimes("annotations", 2, |draw| json!({hint: true, "title": draw.prose()}));
    tool.sometimes("_meta", 3, |draw| json!({"example.org/kept": draw.word()}));
    tool.sometimes("x-kept", 3, |draw| json!({"deep": [draw.word(), draw.number()]}));
    tool.0.into()
}

fn openapi(draw: &mut DefinitionDraw) -> Json {
    let path = draw.word();
    let mut operation = Members(Map::new(), draw);
    let (id, description) = (operation.1.word(), operation.1.prose());
    operation.put("operationId", id);
    operation.put("description", description);
    operation.sometimes("summary", 2, |draw| draw.prose().into());
    operation.sometimes("tags", 2, |draw| json!([draw.word()]));
    operation.sometimes("parameters", 2, |draw| {
        json!([{
            "name": draw.word(), "in": "query", "description": draw.prose(),
            "schema": openapi_schema(draw, false),
        }])
    });
    let responses = json!({"200": {
        "description": operation.1.prose(),
        "content": {"application/json": {"schema": small_schema(operation.1)}},
    }});
    operation.put("responses", responses);
    let operation = operation.0;
    json!({
        "openapi": "3.0.3",
        "info": {"title": draw.prose(), "version": format!("5.{}.0", draw.number())},
        "paths": {format!("/{path}"): {"get": operation}},
    })
}

/// The schema of a result.
fn small_schema(draw: &mut DefinitionDraw) -> Json {
    json!({
        "type": "object",
        "properties": {draw.word(): {"type": "string", "description": draw.prose()}},
    })
}

/// A schema of OpenAPI 3.0, or of Gemini's `parameters`; an object if it is one of a tool.
fn openapi_schema(draw: &mut DefinitionDraw, is_root: bool) -> Json {
    let mut schema = Members(Map::new(), draw);
    if is_root {
        let properties: Map<String, Json> = (0..1 + schema.1.below(3))
            .map(|_| (schema.1.word(), openapi_schema(schema.1, false)))
            .collect();
        let required: Vec<String> =
            properties.keys().filter(|_| schema.1.one_in(2)).cloned().collect();
        schema.put("type", "object");
        schema.put("properties", properties);
        if !required.is_empty() {
            schema.put("required", required);
        }
        return schema.0.into();
    }
    match schema.1.below(3) {
        0 => {
            schema.put("type", "string");
            schema.sometimes("minLength", 3, |draw| draw.number().into());
            schema.sometimes("maxLength", 3, |draw| draw.large_number().into());
        }
        1 => {
            schema.put("type", "integer");
            schema.sometimes("minimum", 3, |draw| draw.number().into());
            schema.sometimes("maximum", 3, |draw| draw.large_number().into());
        }
        _ => {
            schema.put("type", "array");
            let items = json!({"type": "string", "enum": [schema.1.word(), schema.1.word()]});
            schema.put("items", items);
            schema.sometimes("maxItems", 3, |draw| draw.large_number().into());
        }
    }
    schema.sometimes("description", 2, |draw| draw.prose().into());
    schema.sometimes("nullable", 3, |_| true.into());
    schema.0.into()
}

/// An input schema.
pub(super) fn schema(draw: &mut DefinitionDraw) -> Json {
    let mut root = object(draw, 2);
    if draw.one_in(4) {
        let name = draw.word();
        let definition = draw.word();
        let shared = subschema(draw, 0);
        root["$defs"] = json!({ definition.clone(): shared });
        root["properties"][name] = json!({ "$ref": format!("#/$defs/{definition}") });
    }
    if draw.one_in(8) {
        root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    }
    root
}

fn object(draw: &mut DefinitionDraw, depth: usize) -> Json {
    let mut schema = Members(Map::new(), draw);
    schema.put("type", "object");
    let properties: Map<String, Json> = (0..schema.1.below(4))
        .map(|_| {
            // Some targets do not accept a hyphen at the start of a name or in it.
            let name = match schema.1.one_in(8) {
                true => format!("x-{}", schema.1.number()),
                false => schema.1.word(),
            };
            (name, subschema(schema.1, depth))
        })
        .collect();
    let required: Vec<String> = properties.keys().filter(|_| schema.1.one_in(2)).cloned().collect();
    let depending = match properties.keys().take(2).collect::<Vec<_>>().as_slice() {
        [one, other] => Some(json!({ (*one).clone(): [other] })),
        _ => None,
    };
    schema.put("properties", properties);
    if !required.is_empty() {
        schema.put("required", required);
    }
    match schema.1.below(6) {
        0 | 1 => schema.put("additionalProperties", false),
        2 if depth < 2 => {
            let others = subschema(schema.1, 0);
            schema.put("additionalProperties", others);
        }
        _ => {}
    }
    if schema.1.one_in(10) {
        let key = format!("^k{}", schema.1.number());
        let node = subschema(schema.1, 0);
        schema.put("patternProperties", json!({ key: node }));
    }
    schema.sometimes("maxProperties", 12, |draw| draw.large_number().into());
    schema.sometimes("propertyNames", 16, |draw| json!({ "maxLength": draw.large_number() }));
    if let Some(depending) = depending {
        schema.sometimes("dependentRequired", 8, |_| depending);
    }
    schema.0.into()
}

fn subschema(draw: &mut DefinitionDraw, depth: usize) -> Json {
    let kind = draw.below(if depth == 0 { 8 } else { 14 });
    let mut schema = Members(Map::new(), draw);
    match kind {
        0 | 1 => {
            schema.put("type", "string");
            schema.sometimes("minLength", 3, |draw| draw.number().into());
            schema.sometimes("maxLength", 3, |draw| draw.large_number().into());
            schema.sometimes("pattern", 4, |draw| format!("^[a-z]*{}", draw.number()).into());
            schema.sometimes("format", 6, |draw| ["date", "uri", "email"][draw.below(3)].into());
        }
        2 | 3 => {
            let kind = ["integer", "number"][schema.1.below(2)];
            schema.put("type", kind);
            schema.sometimes("minimum", 3, |draw| draw.number().into());
            schema.sometimes("exclusiveMinimum", 6, |draw| draw.number().into());
            schema.sometimes("maximum", 3, |draw| draw.large_number().into());
            schema.sometimes("exclusiveMaximum", 6, |draw| draw.large_number().into());
            schema.sometimes("multipleOf", 6, |draw| draw.number().into());
        }
        4 => {
            let values = json!([schema.1.word(), schema.1.word()]);
            schema.put("enum", values);
            schema.sometimes("type", 2, |_| "string".into());
        }
        5 => {
            let value = match schema.1.below(3) {
                0 => json!(schema.1.number()),
                _ => json!(schema.1.word()),
            };
            schema.put("const", value);
        }
        6 => schema.put("type", "boolean"),
        7 => {
            schema.put("type", json!(["string", "null"]));
            schema.sometimes("maxLength", 2, |draw| draw.large_number().into());
        }
        8 | 9 => return object(schema.1, depth - 1),
        10 | 11 => {
            schema.put("type", "array");
            let items = subschema(schema.1, depth - 1);
            schema.put("items", items);
            schema.sometimes("minItems", 4, |draw| draw.number().into());
            schema.sometimes("maxItems", 4, |draw| draw.large_number().into());
            if schema.1.flag("uniqueItems", 4) {
                schema.put("uniqueItems", true);
            }
        }
        12 => {
            let branches = json!([subschema(schema.1, depth - 1), subschema(schema.1, depth - 1)]);
            let keyword = ["anyOf", "oneOf", "allOf"][schema.1.below(3)];
            schema.put(keyword, branches);
        }
        _ => match schema.1.below(3) {
            0 => {
                let (test, then) = (subschema(schema.1, 0), subschema(schema.1, 0));
                schema.put("if", test);
                schema.put("then", then);
            }
            1 => {
                let refused = subschema(schema.1, 0);
                schema.put("not", refused);
            }
            _ => {
                let first = subschema(schema.1, 0);
                schema.put("type", "array");
                schema.put("prefixItems", json!([first]));
            }
        },
    }
    schema.sometimes("description", 3, |draw| draw.prose().into());
    schema.sometimes("title", 10, |draw| draw.prose().into());
    schema.sometimes("x-hint", 20, |draw| draw.word().into());
    schema.sometimes("$comment", 20, |draw| draw.prose().into());
    if schema.1.flag("deprecated", 20) {
        schema.put("deprecated", true);
    }
    schema.0.into()
}
