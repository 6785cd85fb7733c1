//! The size of a JSON value, measured without recursion.
//!
//! Everything behind this file may recurse once per nesting level: `jsonschema`, `Value::clone`,
//! even dropping a value. So the depth is measured first, with an explicit stack on the heap, and a
//! value nested too deep is rejected before any recursive code sees it.

use serde_json::{Value, map};

/// The size of one JSON value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ValueSize {
    /// Nested containers, 0 for a scalar.
    pub depth: usize,
    /// Values, the root included.
    pub values: u64,
    /// Strings, property names included: `propertyNames` and `patternProperties` match those too.
    pub strings: u64,
    /// Bytes of those strings.
    pub string_bytes: u64,
    /// The sum of their squared lengths: high if some of them are long.
    pub string_squares: u64,
}

impl ValueSize {
    /// Counts a string or a property name.
    fn add_string(&mut self, text: &str) {
        let bytes = text.len() as u64;
        self.strings += 1;
        self.string_bytes += bytes;
        self.string_squares = self.string_squares.saturating_add(bytes.saturating_mul(bytes));
    }
}

/// The number of containers nested in `value`, or `None` when there are more than `limit`.
///
/// Runs before every validation by a recursive schema, so it stops at the limit and skips scalars;
/// [`measure`] is the complete, slower pass.
pub(crate) fn depth_within(value: &Value, limit: usize) -> Option<usize> {
    let mut deepest = 0;
    // One iterator per open container, the outermost first: its length is the current depth.
    let mut open: Vec<ChildIter<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(children) = next.take().and_then(ChildIter::of) {
            if open.len() == limit {
                return None;
            }
            open.push(children);
            deepest = deepest.max(open.len());
        }
        while next.is_none() {
            let Some(innermost) = open.last_mut() else {
                return Some(deepest);
            };
            // Only containers can add depth, so scalars are skipped here.
            next = innermost.find(|child| child.is_array() || child.is_object());
            if next.is_none() {
                open.pop();
            }
        }
    }
}

/// The number of values in `value`, itself included.
pub(crate) fn values_in(value: &Value) -> usize {
    usize::try_from(measure(value).values).unwrap_or(usize::MAX)
}

/// Measures the whole of `value`. The budget of an evaluation depends on the result.
///
/// One iterator per open container, as in [`depth_within`]: the memory is the depth, not the size.
pub(crate) fn measure(value: &Value) -> ValueSize {
    let mut size = ValueSize::default();
    let mut open: Vec<ChildIter<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        match next {
            Some(current) => {
                size.values += 1;
                if let Value::String(text) = current {
                    size.add_string(text);
                }
                if let Value::Object(members) = current {
                    members.keys().for_each(|name| size.add_string(name));
                }
                if let Some(children) = ChildIter::of(current) {
                    open.push(children);
                    size.depth = size.depth.max(open.len());
                }
            }
            None => {
                open.pop();
            }
        }
        let Some(innermost) = open.last_mut() else {
            return size;
        };
        next = innermost.next();
    }
}

/// Iterates over the values directly inside a container.
enum ChildIter<'a> {
    Items(std::slice::Iter<'a, Value>),
    Members(map::Values<'a>),
}

impl<'a> ChildIter<'a> {
    /// `None` for a scalar.
    fn of(value: &'a Value) -> Option<ChildIter<'a>> {
        match value {
            Value::Array(items) => Some(ChildIter::Items(items.iter())),
            Value::Object(members) => Some(ChildIter::Members(members.values())),
            _ => None,
        }
    }
}

impl<'a> Iterator for ChildIter<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        match self {
            ChildIter::Items(items) => items.next(),
            ChildIter::Members(members) => members.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn depth_counts_nested_containers() {
        let cases = [
            (json!(1), 0),
            (json!([]), 1),
            (json!([1, [2], 3]), 2),
            (json!({ "a": { "b": [] }, "c": 1 }), 3),
            (json!([[[]], [], [[[]]]]), 4),
        ];
        for (value, depth) in cases {
            assert_eq!(measure(&value).depth, depth, "{value}");
            assert_eq!(depth_within(&value, depth), Some(depth), "{value}");
            assert!(depth == 0 || depth_within(&value, depth - 1).is_none(), "{value}");
        }
    }

    #[test]
    fn property_names_count_as_strings() {
        let size = measure(&json!({ "ab": ["cde", 1], "f": null }));
        assert_eq!((size.values, size.strings, size.string_bytes), (5, 3, 6));
    }
}
