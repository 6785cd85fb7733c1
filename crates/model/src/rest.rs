//! Fields that only one format has. They are kept, so that writing the same format again loses
//! nothing; writing another format reports them as lost.

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

/// Fields without a place in the record, by the format that they were read from and in the order in
/// which they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest(BTreeMap<FormatId, Object>);

impl Rest {
    /// Adds a field. A second one with the same name replaces the first.
    pub fn keep(&mut self, format: FormatId, name: impl Into<String>, value: Json) {
        self.0.entry(format).or_default().insert(name.into(), value);
    }

    /// The fields of each format.
    pub fn iter(&self) -> impl Iterator<Item = (FormatId, &Object)> {
        self.0.iter().map(|(format, fields)| (*format, fields))
    }
}
