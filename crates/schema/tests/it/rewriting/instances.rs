//! Instances drawn along a schema, mostly valid ones. Not a complete generator: tests judge each
//! instance with the validator.

use serde_json::{Map, Value, json};

/// Small random numbers, reproducible by seed (SplitMix64).
pub(super) struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("small")
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }
}

/// Draws an instance of `schema`, whose references lead into `root`.
pub(super) fn instance(schema: &Value, root: &Value, draw: &mut Draw, depth: usize) -> Value {
    let Value::Object(members) = schema else { return any_value(draw) };
    if draw.one_in(40) {
        return any_value(draw);
    }
    if let Some(listed) = members.get("enum").and_then(Value::as_array).filter(|l| !l.is_empty()) {
        return listed[draw.below(listed.len())].clone();
    }
    if let Some(value) = members.get("const") {
        return value.clone();
    }
    if depth > 8 {
        return any_value(draw);
    }
    let mut parts = Vec::new();
    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).cloned();
        parts.push(instance(&target.unwrap_or(Value::Bool(true)), root, draw, depth + 1));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = members.get(keyword).and_then(Value::as_array)
            && let Some(branch) = branches.get(draw.below(branches.len()))
        {
            parts.push(instance(branch, root, draw, depth + 1));
        }
    }
    for branch in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        parts.push(instance(branch, root, draw, depth + 1));
    }
    let has_own = members.keys().any(|name| {
        !["$ref", "anyOf", "oneOf", "allOf", "description", "title", "default", "$defs"]
            .contains(&name.as_str())
    });
    if has_own || parts.is_empty() {
        parts.push(by_type(members, root, draw, depth));
    }
    parts.into_iter().reduce(overlay).unwrap_or(Value::Null)
}

/// The members of both objects; of other values the first.
fn overlay(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            for (name, value) in second {
                let both = match first.shift_remove(&name) {
                    Some(own) => overlay(own, value),
                    None => value,
                };
                first.insert(name, both);
            }
            Value::Object(first)
        }
        (first, _) => first,
    }
}

fn by_type(members: &Map<String, Value>, root: &Value, draw: &mut Draw, depth: usize) -> Value {
    let kind = match members.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) if !kinds.is_empty() => {
            kinds[draw.below(kinds.len())].as_str().unwrap_or("null").to_owned()
        }
        _ => {
            let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
            if has(&["properties", "required", "additionalProperties", "patternProperties"]) {
                "object".to_owned()
            } else if has(&["items", "prefixItems", "contains"]) {
                "array".to_owned()
            } else if has(&["minLength", "maxLength", "pattern"]) {
                "string".to_owned()
            } else {
                return any_value(draw);
            }
        }
    };
    match kind.as_str() {
        "object" => object(members, root, draw, depth),
        "array" => array(members, root, draw, depth),
        "string" => text(members, draw),
        "integer" => json!(number(members, draw).floor() as i64),
        "number" => match draw.one_in(2) {
            true => json!(number(members, draw).floor() as i64),
            false => json!(number(members, draw) + 0.5),
        },
        "boolean" => json!(draw.one_in(2)),
        _ => Value::Null,
    }
}

fn object(members: &Map<String, Value>, root: &Value, draw: &mut Draw, depth: usize) -> Value {
    let mut drawn = Map::new();
    let required: Vec<&str> = members
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = members.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if (required.contains(&name.as_str()) && !draw.one_in(12)) || draw.one_in(2) {
            drawn.insert(name.clone(), instance(schema, root, draw, depth + 1));
        }
    }
    for name in required {
        if !drawn.contains_key(name) && !draw.one_in(6) {
            drawn.insert(name.to_owned(), any_value(draw));
        }
    }
    let others = members.get("additionalProperties");
    let pattern = members.get("patternProperties").and_then(Value::as_object);
    for number in 0..draw.below(3) {
        if let Some((pattern, schema)) = pattern.into_iter().flatten().next() {
            let name =
                if pattern.contains('x') { format!("x{number}") } else { format!("k{number}") };
            drawn.insert(name, instance(schema, root, draw, depth + 1));
        } else if others.is_none_or(|others| *others != Value::Bool(false)) || draw.one_in(8) {
            let schema = others.cloned().unwrap_or(Value::Bool(true));
            drawn.insert(format!("k{number}"), instance(&schema, root, draw, depth + 1));
        }
    }
    Value::Object(drawn)
}

fn array(members: &Map<String, Value>, root: &Value, draw: &mut Draw, depth: usize) -> Value {
    let count = |name: &str| members.get(name).and_then(Value::as_u64).map(|n| n as usize);
    let least = count("minItems").unwrap_or(0).min(6);
    let length = least + draw.below(3);
    let length = count("maxItems").map_or(length, |most| length.min(most));
    let prefix = members.get("prefixItems").and_then(Value::as_array);
    let rest = members.get("items").cloned().unwrap_or(Value::Bool(true));
    (0..length)
        .map(|index| {
            let schema = prefix.and_then(|prefix| prefix.get(index)).unwrap_or(&rest).clone();
            instance(&schema, root, draw, depth + 1)
        })
        .collect()
}

fn text(members: &Map<String, Value>, draw: &mut Draw) -> Value {
    if members.get("pattern").is_some() && !draw.one_in(4) {
        return json!(["x1", "a", "ab12", "1"][draw.below(4)]);
    }
    let least = members.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(20) as usize;
    let length = least + draw.below(4);
    match draw.below(6) {
        0 => json!(["1", "true", "null", "{}", "\"a\"", "-2"][draw.below(6)]),
        _ => json!("abcdefghijklmnopqrstuvwxyz".chars().take(length).collect::<String>()),
    }
}

fn number(members: &Map<String, Value>, draw: &mut Draw) -> f64 {
    let bound = |name: &str| members.get(name).and_then(Value::as_f64);
    let low = bound("minimum").or(bound("exclusiveMinimum"));
    let high = bound("maximum").or(bound("exclusiveMaximum"));
    let offset = draw.below(5) as f64;
    match (low, high, bound("multipleOf")) {
        (_, _, Some(step)) if draw.one_in(2) => step * offset,
        (Some(low), _, _) if draw.one_in(2) => low + offset,
        (_, Some(high), _) => high - offset,
        (Some(low), _, _) => low + offset,
        _ => offset - 2.0,
    }
}

/// A value without regard to a schema.
pub(super) fn any_value(draw: &mut Draw) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(7),
        json!(1.5),
        json!(""),
        json!("a"),
        json!([]),
        json!(["a", 1]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": "b", "b": null }),
    ];
    values[draw.below(values.len())].clone()
}
