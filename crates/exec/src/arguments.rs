//! The arguments of a call, in two forms: parsed for the checks, and as the caller wrote them.
//!
//! ```text
//! text ── parse ──▶ value ─▶ schema, validators, processors
//!   └── unchanged, unless a processor replaced the arguments ─▶ program, MCP server
//! ```
//!
//! A parsed number is a 64-bit integer or a double, so `12345678901234567890123` and `0.10` are
//! other numbers or other texts once they are written again. The tool may read numbers exactly, so
//! it gets the caller's text. Only line breaks between values become spaces: a message on standard
//! streams is one line.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use crate::Json;
use crate::offload::{LARGE, WorkSize, offload};
use crate::outcome::json_size;

/// The arguments of a call. Dereferences to the parsed value; cheap to clone.
#[derive(Clone, Debug)]
pub struct CallArguments {
    value: Arc<Json>,
    /// The text that was parsed. `None` for arguments that were made as a value.
    text: Option<Arc<str>>,
}

impl CallArguments {
    /// Parses arguments and keeps their text.
    ///
    /// # Errors
    /// Why the text is not JSON, or which name appears twice in an object: two parsers would
    /// disagree about which of the two counts.
    pub fn parse(text: &str) -> Result<CallArguments, String> {
        CallArguments::of(text.into())
    }

    fn of(text: Arc<str>) -> Result<CallArguments, String> {
        let value = toolwright_schema::decode(text.as_bytes())?;
        // Inside of strings, JSON has no line breaks.
        let has_breaks = text.bytes().any(|byte| matches!(byte, b'\n' | b'\r'));
        let text = if has_breaks { text.replace(['\n', '\r'], " ").into() } else { text };
        Ok(CallArguments { value: Arc::new(value), text: Some(text) })
    }

    /// [`CallArguments::parse`], on another thread if the text is long.
    ///
    /// # Errors
    /// As for [`CallArguments::parse`].
    pub async fn read(text: Arc<str>) -> Result<CallArguments, String> {
        let size = WorkSize::of_bytes(text.len());
        offload(size, move || CallArguments::of(text)).await
    }

    /// The value, to be used on other threads.
    pub(crate) fn shared(&self) -> Arc<Json> {
        Arc::clone(&self.value)
    }

    /// The arguments as JSON on one line: the caller's text, or else the value written out.
    pub fn to_text(&self) -> Cow<'_, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.value.to_string()),
        }
    }

    /// About the bytes of the text, counted no further than [`LARGE`].
    pub(crate) fn size(&self) -> usize {
        self.text.as_ref().map_or_else(|| json_size(&self.value, LARGE), |text| text.len())
    }
}

impl From<Json> for CallArguments {
    fn from(value: Json) -> CallArguments {
        CallArguments { value: Arc::new(value), text: None }
    }
}

impl Deref for CallArguments {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.value
    }
}
