//! Calls of converted tools, as the APIs of model vendors write them, and the results that go back.
//!
//! ```text
//! response of the vendor ─ read_calls ─▶ VendorCall ─ CallTable::restore ─▶ id, arguments of the
//!                                                        │                  source
//!      message for the vendor ◀─ write_results ◀─ VendorResult ◀─ the caller runs the tool
//! ```
//!
//! The table has the names that `convert` gave and the steps that turn arguments back. It is read
//! from the file of `convert --session`, or computed again from the tools, with the same result.
//!
//! Deliberately absent: running tools, and validating the restored arguments. The runner does both.

mod read;
mod table;
mod write;

pub use read::{NoCalls, VendorCall, read_calls};
pub use table::{CallError, CallTable, RestoredCall, SessionError};
pub use write::{VendorResult, write_results};

use toolwright_schema::VendorTarget;

/// The shapes of calls and results; some vendors share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallShape {
    /// Messages with `tool_calls`.
    Chat,
    /// Items `function_call`.
    Responses,
    /// Blocks `tool_use`.
    Anthropic,
    /// Parts `functionCall`.
    Gemini,
    /// Blocks `toolUse`.
    Bedrock,
}

impl CallShape {
    fn of(target: VendorTarget) -> CallShape {
        use VendorTarget::*;
        match target {
            OpenAi | OpenAiStrict | Mistral | Cohere | Ollama => CallShape::Chat,
            OpenAiResponses | OpenAiResponsesStrict => CallShape::Responses,
            VendorTarget::Anthropic | AnthropicStrict => CallShape::Anthropic,
            VendorTarget::Gemini | GeminiOpenapi => CallShape::Gemini,
            VendorTarget::Bedrock => CallShape::Bedrock,
        }
    }
}
