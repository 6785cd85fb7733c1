//! Fields that only one format knows. They are kept so that the same format can write them back;
//! in another format they are a loss.
//!
//! Each is kept under its JSON Pointer (RFC 6901), so that a writer can put it back exactly where
//! it was. The rest of a tool counts from the object that describes the tool; the rest of a toolset
//! counts from the root of the document.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Json, Object};

/// The name of a format, such as `btcp`. The names are declared by the crate `formats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatId(pub &'static str);

impl fmt::Display for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Unclaimed fields by the format they were read from, then by JSON Pointer. The pointers are in
/// the order in which the reader came across the fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest(BTreeMap<FormatId, Object>);

impl Rest {
    /// Keeps the field at `pointer`, the text of a JSON Pointer.
    pub fn keep(&mut self, format: FormatId, pointer: impl Into<String>, value: Json) {
        let pointer = pointer.into();
        debug_assert!(pointer.starts_with('/'), "{pointer} is not a JSON Pointer to a member");
        self.0.entry(format).or_default().insert(pointer, value);
    }

    /// The field at `pointer` that was read from `format`.
    pub fn get(&self, format: FormatId, pointer: &str) -> Option<&Json> {
        self.0.get(&format)?.get(pointer)
    }

    /// Takes the field at `pointer` out.
    pub fn take(&mut self, format: FormatId, pointer: &str) -> Option<Json> {
        let fields = self.0.get_mut(&format)?;
        let value = fields.shift_remove(pointer);
        if fields.is_empty() {
            self.0.remove(&format);
        }
        value
    }

    /// The fields of each format, by JSON Pointer.
    pub fn iter(&self) -> impl Iterator<Item = (FormatId, &Object)> {
        self.0.iter().map(|(format, fields)| (*format, fields))
    }
}
