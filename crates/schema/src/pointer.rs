//! JSON pointers of values that are already at hand.
//!
//! Walking a schema hands out references to its parts. Most schemas have no error, so the walk does
//! not build a pointer for each part; only when an error is reported, the part is searched for in
//! the document by its address, and its pointer is put together then.

use serde_json::Value;

/// JSON pointer of `target` within `document`; `None` if it is not a part of it.
pub(crate) fn pointer_to(document: &Value, target: &Value) -> Option<String> {
    pointers_to(document, &[target]).pop().flatten()
}

/// JSON pointers of `targets` within `document`, in the order of `targets`.
///
/// One pass over the document, whatever the number of targets. Values are compared by address, so
/// an equal value elsewhere is not mistaken for the target.
pub(crate) fn pointers_to(document: &Value, targets: &[&Value]) -> Vec<Option<String>> {
    // Sorted by address, to look up each value of the document by binary search.
    let mut found: Vec<(*const Value, Option<String>)> =
        targets.iter().map(|target| (std::ptr::from_ref(*target), None)).collect();
    found.sort_unstable_by_key(|(target, _)| *target);
    found.dedup_by_key(|(target, _)| *target);
    let position = |found: &[(*const Value, Option<String>)], value: &Value| {
        found.binary_search_by_key(&std::ptr::from_ref(value), |(target, _)| *target)
    };
    // A tree of steps: each holds the index of the step before it, `usize::MAX` for the root. A
    // pointer is only spelled out for a target.
    let mut steps: Vec<(usize, PointerStep<'_>)> = Vec::new();
    let mut pending = vec![(document, usize::MAX)];
    while let Some((value, step)) = pending.pop() {
        if let Ok(index) = position(&found, value) {
            found[index].1 = Some(spell_out(&steps, step));
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pending.push((item, steps.len()));
                    steps.push((step, PointerStep::Index(index)));
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    pending.push((member, steps.len()));
                    steps.push((step, PointerStep::Key(key)));
                }
            }
            _ => {}
        }
    }
    targets.iter().map(|target| found[position(&found, target).ok()?].1.clone()).collect()
}

/// One token of a pointer.
enum PointerStep<'a> {
    Index(usize),
    Key(&'a str),
}

/// The pointer that ends with the step at index `last`.
fn spell_out(steps: &[(usize, PointerStep<'_>)], last: usize) -> String {
    let mut reversed = Vec::new();
    let mut index = last;
    while let Some((before, step)) = steps.get(index) {
        reversed.push(step);
        index = *before;
    }
    let mut pointer = String::new();
    for step in reversed.iter().rev() {
        match step {
            PointerStep::Index(index) => extend(&mut pointer, &index.to_string()),
            PointerStep::Key(key) => extend(&mut pointer, key),
        }
    }
    pointer
}

/// A copy of `pointer` with `key` appended.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    let mut longer = String::with_capacity(pointer.len() + 1 + key.len());
    longer.push_str(pointer);
    extend(&mut longer, key);
    longer
}

/// Appends `key` to `pointer`, escaped by RFC 6901: `~` as `~0`, `/` as `~1`, in this order.
pub(crate) fn extend(pointer: &mut String, key: &str) {
    pointer.push('/');
    match key.contains(['~', '/']) {
        true => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
        false => pointer.push_str(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_by_address_and_keys_are_escaped() {
        let document = json!({ "a/b": [{}, { "~": {} }] });
        let target = &document["a/b"][1]["~"];
        assert_eq!(pointer_to(&document, target).as_deref(), Some("/a~1b/1/~0"));
        assert_eq!(pointer_to(&document, &json!({})), None);
    }
}
