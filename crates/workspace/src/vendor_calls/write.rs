//! Results as the vendor's API takes them in the next request: for each target the messages, or the
//! one message, that follow the model's calls.
//!
//! A result comes as MCP has it, in blocks of content. Where the API has no place for images they
//! are named in a text; where it has no flag for errors, the text starts with `Error: `.
//!
//! | target | result of one call |
//! |---|---|
//! | OpenAI chat, Mistral, Cohere, Ollama | `{"role": "tool", …, "content": TEXT}` |
//! | OpenAI responses | `{"type": "function_call_output", …, "output": TEXT or parts}` |
//! | Anthropic | `{"type": "tool_result", …, "content": TEXT or blocks, "is_error"}` |
//! | Gemini | `{"functionResponse": {…, "response": {"output"} or {"error"}}}` |
//! | Bedrock | `{"toolResult": {…, "content": [blocks], "status"}}` |

use serde_json::json;
use toolwright_model::Json;
use toolwright_schema::VendorTarget;

use super::{CallShape, VendorCall};

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct VendorResult {
    /// The call that it answers.
    pub call: VendorCall,
    /// Blocks of content, as MCP has them.
    pub content: Vec<Json>,
    /// The result as a value, if the tool gave one.
    pub structured: Option<Json>,
    /// Whether the call failed; then the content has the reason.
    pub is_error: bool,
}

impl VendorResult {
    /// A call that failed.
    pub fn error(call: VendorCall, message: &str) -> VendorResult {
        let content = vec![json!({"type": "text", "text": message})];
        VendorResult { call, content, structured: None, is_error: true }
    }

    /// All of it as one text. A result that has a value and no content is written as JSON.
    fn text(&self) -> String {
        let texts: Vec<String> = self.content.iter().map(block_text).collect();
        match (&self.structured, texts.is_empty()) {
            (Some(value), true) => value.to_string(),
            _ => texts.join("\n"),
        }
    }

    /// The text for an API that has no flag for errors.
    fn marked_text(&self) -> String {
        if self.is_error { format!("Error: {}", self.text()) } else { self.text() }
    }

    /// Whether a block has to be sent as something else than text.
    fn has_images(&self) -> bool {
        self.content.iter().any(|block| image(block).is_some())
    }

    /// The id that the API needs back; empty if the call had none.
    fn id(&self) -> &str {
        self.call.id.as_deref().unwrap_or_default()
    }
}

/// The type and the Base64 text of an image. The APIs take images of four types, and refuse the
/// whole request for another one, which is named in a text instead.
fn image(block: &Json) -> Option<(&str, &str)> {
    let text = |key: &str| block.get(key).and_then(Json::as_str);
    let kind = text("mimeType").filter(|_| text("type") == Some("image"))?;
    let kind = ["image/png", "image/jpeg", "image/gif", "image/webp"].into_iter().find(|known| {
        kind.eq_ignore_ascii_case(known) || kind == "image/jpg" && *known == "image/jpeg"
    });
    Some((kind?, text("data")?))
}

/// A block as text. What is not text is named, because its data would fill the model's context.
fn block_text(block: &Json) -> String {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    let resource = block.get("resource").unwrap_or(&Json::Null);
    let kind = text(block, "type").unwrap_or_default();
    let named = match kind.as_str() {
        "text" => return text(block, "text").unwrap_or_default(),
        "resource_link" => text(block, "uri"),
        "resource" => match text(resource, "text") {
            Some(text) => return text,
            None => text(resource, "uri"),
        },
        _ => text(block, "mimeType"),
    };
    format!("[{kind}: {}]", named.unwrap_or_default())
}

/// The results as the next request of the target has them: a list of messages or items, or the one
/// message that holds all results.
///
/// ```
/// use toolwright_workspace::vendor_calls::{VendorCall, VendorResult, write_results};
/// use toolwright_schema::VendorTarget;
/// let call = VendorCall { id: Some("c1".into()), name: "f".into(), arguments: String::new() };
/// let results = [VendorResult::error(call, "there is no tool `f`")];
/// assert_eq!(
///     write_results(VendorTarget::OpenAi, &results),
///     serde_json::json!([
///         {"role": "tool", "tool_call_id": "c1", "content": "Error: there is no tool `f`"}
///     ])
/// );
/// ```
pub fn write_results(target: VendorTarget, results: &[VendorResult]) -> Json {
    let all =
        |one: &dyn Fn(&VendorResult) -> Json| -> Vec<Json> { results.iter().map(one).collect() };
    match CallShape::of(target) {
        CallShape::Chat => all(&|result| chat_message(target, result)).into(),
        CallShape::Responses => all(&responses_item).into(),
        CallShape::Anthropic => json!({"role": "user", "content": all(&anthropic_block)}),
        CallShape::Gemini => json!({"role": "user", "parts": all(&gemini_part)}),
        CallShape::Bedrock => json!({"role": "user", "content": all(&bedrock_block)}),
    }
}

/// A message of the chat shape. The APIs that share it differ in how they name the call.
fn chat_message(target: VendorTarget, result: &VendorResult) -> Json {
    let content = result.marked_text();
    match target {
        // Its own client knows the name alone, its server also the id.
        VendorTarget::Ollama => match &result.call.id {
            Some(id) => json!({
                "role": "tool", "tool_name": result.call.name, "tool_call_id": id, "content": content
            }),
            None => json!({"role": "tool", "tool_name": result.call.name, "content": content}),
        },
        VendorTarget::Mistral => json!({
            "role": "tool", "tool_call_id": result.id(), "name": result.call.name,
            "content": content,
        }),
        _ => json!({"role": "tool", "tool_call_id": result.id(), "content": content}),
    }
}

/// An item of the responses API. Images have a form there, but not beside an error.
fn responses_item(result: &VendorResult) -> Json {
    let part = |block: &Json| match image(block) {
        Some((kind, data)) => {
            json!({"type": "input_image", "image_url": format!("data:{kind};base64,{data}")})
        }
        None => json!({"type": "input_text", "text": block_text(block)}),
    };
    let output = match result.has_images() && !result.is_error {
        true => result.content.iter().map(part).collect(),
        false => Json::from(result.marked_text()),
    };
    json!({"type": "function_call_output", "call_id": result.id(), "output": output})
}

/// A block of the user's message.
fn anthropic_block(result: &VendorResult) -> Json {
    let part = |block: &Json| match image(block) {
        Some((kind, data)) => json!({
            "type": "image", "source": {"type": "base64", "media_type": kind, "data": data}
        }),
        None => json!({"type": "text", "text": block_text(block)}),
    };
    let content = match result.has_images() {
        true => result.content.iter().map(part).collect(),
        false => Json::from(result.text()),
    };
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id(), "content": content});
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// A part of the user's message. The response is always an object, so a text is put into one.
fn gemini_part(result: &VendorResult) -> Json {
    let response = match (result.is_error, &result.structured) {
        (true, _) => json!({"error": result.text()}),
        (false, Some(value)) => json!({"output": value}),
        (false, None) => json!({"output": result.text()}),
    };
    let mut answer = json!({"name": result.call.name, "response": response});
    // Without an id the API matches names, in order.
    if let Some(id) = &result.call.id {
        answer["id"] = json!(id);
    }
    if result.has_images() {
        let images = result.content.iter().filter_map(image);
        answer["parts"] = images
            .map(|(kind, data)| json!({"inlineData": {"mimeType": kind, "data": data}}))
            .collect();
    }
    json!({ "functionResponse": answer })
}

/// A block of the user's message. A value that is an object replaces the text of the content.
fn bedrock_block(result: &VendorResult) -> Json {
    let part = |block: &Json| match image(block) {
        // The format is the second half of the type, such as `png`.
        Some((kind, data)) => json!({"image": {
            "format": kind.rsplit('/').next().unwrap_or_default(), "source": {"bytes": data}
        }}),
        None => json!({"text": block_text(block)}),
    };
    let content: Vec<Json> = match &result.structured {
        // Bedrock accepts only an object here, not a list or a number.
        Some(value) if value.is_object() && !result.is_error => {
            let images = result.content.iter().filter(|block| image(block).is_some());
            std::iter::once(json!({ "json": value })).chain(images.map(part)).collect()
        }
        _ if result.content.is_empty() => vec![json!({"text": result.text()})],
        _ => result.content.iter().map(part).collect(),
    };
    let status = if result.is_error { "error" } else { "success" };
    json!({"toolResult": {"toolUseId": result.id(), "content": content, "status": status}})
}
