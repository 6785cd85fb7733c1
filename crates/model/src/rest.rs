//! Fields that only one format knows: kept at home, a loss elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Json, Object};

/// The name of a format, such as `btcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatId(pub &'static str);

impl fmt::Display for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Unclaimed fields by the format they were read from, in the order they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest(BTreeMap<FormatId, Object>);

impl Rest {
    /// Keeps a field.
    pub fn keep(&mut self, format: FormatId, name: impl Into<String>, value: Json) {
        self.0.entry(format).or_default().insert(name.into(), value);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (FormatId, &Object)> {
        self.0.iter().map(|(format, fields)| (*format, fields))
    }
}
