//! The targets: APIs of model vendors that tools are sent to, each in one of its modes.
//!
//! This is the only list of them. `check --target`, `[check] targets` and everything that writes
//! tools for a vendor take their ids from here. A strict mode is a target of its own, because a
//! request chooses it for each tool and it accepts a much smaller part of JSON Schema.

/// An API that tools are sent to, in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VendorTarget {
    /// OpenAI's chat completions, `strict` not set.
    OpenAi,
    /// OpenAI's responses, `strict: false`. Left out, `strict` makes the API try the strict mode.
    OpenAiResponses,
    /// OpenAI's chat completions, `strict: true`.
    OpenAiStrict,
    /// OpenAI's responses, `strict: true`.
    OpenAiResponsesStrict,
    /// Anthropic's messages, `strict` not set.
    Anthropic,
    /// Anthropic's messages, `strict: true`.
    AnthropicStrict,
    /// Google's Gemini, with the schema in `parametersJsonSchema`.
    Gemini,
    /// Google's Gemini, with the schema in `parameters`, a subset of OpenAPI.
    GeminiOpenapi,
    /// The Converse API of Amazon Bedrock, `strict` not set.
    Bedrock,
    /// Mistral's chat completions.
    Mistral,
    /// Cohere's chat, version 2.
    Cohere,
    /// Ollama's chat.
    Ollama,
}

use VendorTarget::*;

impl VendorTarget {
    /// All targets, in the order of messages and of the rows in `facts`.
    pub const ALL: [VendorTarget; 12] = [
        OpenAi,
        OpenAiResponses,
        OpenAiStrict,
        OpenAiResponsesStrict,
        Anthropic,
        AnthropicStrict,
        Gemini,
        GeminiOpenapi,
        Bedrock,
        Mistral,
        Cohere,
        Ollama,
    ];

    /// The id on command lines, in configurations and in messages.
    pub const fn id(self) -> &'static str {
        match self {
            OpenAi => "openai",
            OpenAiResponses => "openai-responses",
            OpenAiStrict => "openai-strict",
            OpenAiResponsesStrict => "openai-responses-strict",
            Anthropic => "anthropic",
            AnthropicStrict => "anthropic-strict",
            Gemini => "gemini",
            GeminiOpenapi => "gemini-openapi",
            Bedrock => "bedrock",
            Mistral => "mistral",
            Cohere => "cohere",
            Ollama => "ollama",
        }
    }

    /// What the id stands for, in a few words; shown by `--help`.
    pub const fn about(self) -> &'static str {
        match self {
            OpenAi => "OpenAI chat completions",
            OpenAiResponses => "OpenAI responses, `strict: false`",
            OpenAiStrict => "OpenAI chat completions, `strict: true`",
            OpenAiResponsesStrict => "OpenAI responses, `strict: true`",
            Anthropic => "Anthropic messages",
            AnthropicStrict => "Anthropic messages, `strict: true`",
            Gemini => "Gemini, schema in `parametersJsonSchema`",
            GeminiOpenapi => "Gemini, schema in `parameters`",
            Bedrock => "Amazon Bedrock Converse",
            Mistral => "Mistral chat completions",
            Cohere => "Cohere chat v2",
            Ollama => "Ollama chat",
        }
    }

    /// Who states what it accepts, in a few words.
    pub fn authority(self) -> &'static str {
        super::facts::authority(self)
    }

    /// The target with this id.
    pub fn by_id(id: &str) -> Option<VendorTarget> {
        VendorTarget::ALL.into_iter().find(|target| target.id() == id)
    }
}

/// Some of the targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetSet {
    /// Bit `n` is the `n`th of [`VendorTarget::ALL`].
    bits: u16,
}

impl TargetSet {
    /// Whether it contains no target.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Whether `target` is one of them.
    pub const fn contains(self, target: VendorTarget) -> bool {
        self.bits & (1 << target as u16) != 0
    }

    /// They, in the order of [`VendorTarget::ALL`].
    pub fn iter(self) -> impl Iterator<Item = VendorTarget> {
        // By bits: most sets have one target, and this is asked for every keyword.
        let mut left = self.bits;
        std::iter::from_fn(move || {
            let first = VendorTarget::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(*first)
        })
    }
}

impl FromIterator<VendorTarget> for TargetSet {
    fn from_iter<I: IntoIterator<Item = VendorTarget>>(targets: I) -> TargetSet {
        let bits = targets.into_iter().fold(0, |bits, target| bits | 1 << target as u16);
        TargetSet { bits }
    }
}
