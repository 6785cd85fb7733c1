//! Measuring a value without recursion, so that a hostile one is refused before anything recurses.

use serde_json::{Value, map};

/// What one pass over a value finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Nested containers, 0 for a scalar.
    pub depth: usize,
    /// Values, the root included.
    pub values: u64,
    /// Strings, property names included.
    pub strings: u64,
    /// Bytes of those strings.
    pub string_bytes: u64,
}

/// How many containers `value` nests, or `None` when more than `limit`.
pub(crate) fn depth_within(value: &Value, limit: usize) -> Option<usize> {
    let mut deepest = 0;
    let mut open: Vec<Children<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(children) = next.take().and_then(Children::of) {
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
            // Only containers can add depth, so scalars are passed over here.
            next = innermost.find(|child| child.is_array() || child.is_object());
            if next.is_none() {
                open.pop();
            }
        }
    }
}

/// Measures the whole of `value`.
pub(crate) fn measure(value: &Value) -> Measure {
    let mut found = Measure::default();
    let mut open: Vec<Children<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        match next {
            Some(current) => {
                found.values += 1;
                if let Value::String(text) = current {
                    found.strings += 1;
                    found.string_bytes += text.len() as u64;
                }
                if let Value::Object(members) = current {
                    found.strings += members.len() as u64;
                    found.string_bytes += members.keys().map(|key| key.len() as u64).sum::<u64>();
                }
                if let Some(children) = Children::of(current) {
                    open.push(children);
                    found.depth = found.depth.max(open.len());
                }
            }
            None => {
                open.pop();
            }
        }
        let Some(innermost) = open.last_mut() else {
            return found;
        };
        next = innermost.next();
    }
}

/// JSON pointer of `target` within `document`, found by identity.
pub(crate) fn locate(document: &Value, target: &Value) -> Option<String> {
    locate_all(document, &[target]).pop().flatten()
}

/// JSON pointers of `targets` within `document`, found by identity in one pass.
pub(crate) fn locate_all(document: &Value, targets: &[&Value]) -> Vec<Option<String>> {
    let mut found: Vec<(*const Value, Option<String>)> =
        targets.iter().map(|target| (std::ptr::from_ref(*target), None)).collect();
    found.sort_unstable_by_key(|(target, _)| *target);
    found.dedup_by_key(|(target, _)| *target);
    let place = |found: &[(*const Value, Option<String>)], value: &Value| {
        found.binary_search_by_key(&std::ptr::from_ref(value), |(target, _)| *target)
    };
    // The steps from the root, each naming the step before it.
    let mut steps: Vec<(usize, Step<'_>)> = Vec::new();
    let mut pending = vec![(document, usize::MAX)];
    while let Some((value, step)) = pending.pop() {
        if let Ok(at) = place(&found, value) {
            found[at].1 = Some(pointer_of(&steps, step));
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pending.push((item, steps.len()));
                    steps.push((step, Step::Index(index)));
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    pending.push((member, steps.len()));
                    steps.push((step, Step::Key(key)));
                }
            }
            _ => {}
        }
    }
    targets.iter().map(|target| found[place(&found, target).ok()?].1.clone()).collect()
}

enum Step<'a> {
    Index(usize),
    Key(&'a str),
}

fn pointer_of(steps: &[(usize, Step<'_>)], last: usize) -> String {
    let mut way = Vec::new();
    let mut at = last;
    while let Some((before, step)) = steps.get(at) {
        way.push(step);
        at = *before;
    }
    let mut pointer = String::new();
    for step in way.iter().rev() {
        match step {
            Step::Index(index) => extend(&mut pointer, &index.to_string()),
            Step::Key(key) => extend(&mut pointer, key),
        }
    }
    pointer
}

/// `pointer` extended by the property `key`.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    let mut longer = String::with_capacity(pointer.len() + 1 + key.len());
    longer.push_str(pointer);
    extend(&mut longer, key);
    longer
}

/// Extends `pointer` by the property `key`.
pub(crate) fn extend(pointer: &mut String, key: &str) {
    pointer.push('/');
    match key.contains(['~', '/']) {
        true => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
        false => pointer.push_str(key),
    }
}

/// The values directly inside a container.
enum Children<'a> {
    Items(std::slice::Iter<'a, Value>),
    Members(map::Values<'a>),
}

impl<'a> Children<'a> {
    fn of(value: &'a Value) -> Option<Children<'a>> {
        match value {
            Value::Array(items) => Some(Children::Items(items.iter())),
            Value::Object(members) => Some(Children::Members(members.values())),
            _ => None,
        }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        match self {
            Children::Items(items) => items.next(),
            Children::Members(members) => members.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn depth_counts_containers() {
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
    fn names_count_as_strings() {
        let found = measure(&json!({ "ab": ["cde", 1], "f": null }));
        assert_eq!((found.values, found.strings, found.string_bytes), (5, 3, 6));
    }

    #[test]
    fn locates_by_identity() {
        let document = json!({ "a/b": [{}, { "~": {} }] });
        let target = &document["a/b"][1]["~"];
        assert_eq!(locate(&document, target).as_deref(), Some("/a~1b/1/~0"));
        assert_eq!(locate(&document, &json!({})), None);
    }
}
