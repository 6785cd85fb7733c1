//! Finds the calls in what a vendor's API answered: in a whole response, in a message of it, in a
//! list of calls, or in a single call. Texts and other blocks between the calls are skipped.

use toolwright_model::Json;
use toolwright_schema::VendorTarget;

use super::CallShape;

/// A call that a model made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorCall {
    /// What its result refers to. Gemini and Ollama may leave it out.
    pub id: Option<String>,
    /// The name of the tool, as the target has it.
    pub name: String,
    /// The arguments as JSON text, as the model wrote it: not always JSON, and empty for none.
    pub arguments: String,
}

/// The input has no call of the target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the input has no tool call of `{}`; expected a response, a message, a list of calls or a call",
    .0.id()
)]
pub struct NoCalls(pub VendorTarget);

/// The calls of an answer, in their order. An answer with several alternatives (`choices`,
/// `candidates`) counts with its first one.
///
/// ```
/// use toolwright_workspace::vendor_calls::read_calls;
/// use toolwright_schema::VendorTarget;
/// let answer = serde_json::json!({"content": [
///     {"type": "text", "text": "I look it up."},
///     {"type": "tool_use", "id": "t1", "name": "find", "input": {"word": "x"}},
/// ]});
/// let calls = read_calls(VendorTarget::Anthropic, &answer).unwrap();
/// assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("find", r#"{"word":"x"}"#));
/// ```
///
/// # Errors
/// If the answer has no call.
pub fn read_calls(target: VendorTarget, answer: &Json) -> Result<Vec<VendorCall>, NoCalls> {
    let shape = CallShape::of(target);
    let parts = match answer {
        Json::Array(parts) => parts.iter().flat_map(|part| blocks(shape, part)).collect(),
        answer => blocks(shape, answer),
    };
    let calls: Vec<VendorCall> = parts.into_iter().filter_map(|part| call(shape, part)).collect();
    if calls.is_empty() { Err(NoCalls(target)) } else { Ok(calls) }
}

/// The blocks of a response or of a message; a block is its own only one.
fn blocks(shape: CallShape, value: &Json) -> Vec<&Json> {
    // From the whole response inwards.
    let around: &[&str] = match shape {
        CallShape::Chat => &["/choices/0/message/tool_calls", "/message/tool_calls", "/tool_calls"],
        CallShape::Responses => &["/output"],
        CallShape::Anthropic => &["/content"],
        CallShape::Gemini => &["/candidates/0/content/parts", "/content/parts", "/parts"],
        CallShape::Bedrock => &["/output/message/content", "/message/content", "/content"],
    };
    match around.iter().find_map(|at| value.pointer(at)) {
        Some(Json::Array(blocks)) => blocks.iter().collect(),
        Some(_) => Vec::new(),
        None => vec![value],
    }
}

/// The call in a block, if it is one.
fn call(shape: CallShape, block: &Json) -> Option<VendorCall> {
    let has_type = |name: &str| block.get("type").and_then(Json::as_str) == Some(name);
    let has_members = |names: &[&str]| names.iter().all(|name| block.get(name).is_some());
    // The object with the name, its key for the arguments, and where the id is.
    let (call, arguments, id) = match shape {
        // A custom tool was never sent; the answer to its call is an error, but there must be one.
        CallShape::Chat => {
            let call = block.get("function").or_else(|| block.get("custom"))?;
            (call, "arguments", block.get("id"))
        }
        CallShape::Responses => {
            has_type("function_call").then_some((block, "arguments", block.get("call_id")))?
        }
        CallShape::Anthropic => {
            has_type("tool_use").then_some((block, "input", block.get("id")))?
        }
        CallShape::Gemini => {
            // Google's Python library writes the names of its own fields unless asked otherwise,
            // and its `response.function_calls` are the calls without the part around them.
            let part = block.get("functionCall").or_else(|| block.get("function_call"));
            let call = part.or_else(|| has_members(&["name", "args"]).then_some(block))?;
            (call, "args", call.get("id"))
        }
        CallShape::Bedrock => {
            let is_call = || has_members(&["name", "toolUseId"]);
            let call = block.get("toolUse").or_else(|| is_call().then_some(block))?;
            (call, "input", call.get("toolUseId"))
        }
    };
    let text = |value: &Json| value.as_str().map(str::to_owned);
    Some(VendorCall {
        id: id.and_then(text),
        name: call.get("name").and_then(text).unwrap_or_default(),
        arguments: match call.get(arguments) {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        },
    })
}
