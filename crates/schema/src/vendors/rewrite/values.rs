//! Listed values (`enum`, `const`), and `null` beside other values.
//!
//! ```text
//! {"const": 1}                            ─▶  {"enum": [1]}        if `const` is refused
//! {"enum": ["a", "bcd"], "maxLength": 1}  ─▶  {"enum": ["a"]}      if `maxLength` is refused
//! {"enum": ["on", 5]}                     ─▶  {"enum": ["on", "5"]}                for Gemini
//! {"enum": [true, false]}                 ─▶  {"type": "boolean"}                  for Gemini
//! {"enum": ["a", null]}                   ─▶  {"enum": ["a"], "nullable": true}    for Gemini
//! ```
//!
//! Where texts stand for values, a `TextToValue` step turns them back. Keywords about the values
//! are not about their texts, so they are applied here, once, and removed.

use serde_json::{Map, Value, json};

use super::facts;
use super::full::NodeContext;
use super::merge::listed_values;
use super::source_tree::{NodeContent, NodeKeyword, NodeKeywords, SchemaNode, is_assertion};
use super::types::TypeSet;
use super::{ChangeAction, ChangeReport, FullStyle, Rewriter, TooLarge, refuses_keyword};
use crate::Schema;
use crate::restore::{RestoreAction, same_json};

/// Subschemas and values of the largest node that is applied to its own listed values.
///
/// A larger one is not applied, which widens and is reported.
const MAX_APPLIED_PARTS: usize = 1_000;

/// Values of an enum above which they are not compared with each other.
const MAX_COMPARED_VALUES: usize = 2_000;

impl<'t> Rewriter<'t> {
    /// Brings the listed values of a node into a form that the target accepts. The result is the
    /// whole node where that is more than a list of values.
    ///
    /// `None` if the node is still to be written: its list is in the form of the target, and the
    /// other keywords follow. A list without a possible value becomes what nothing matches.
    pub(super) fn write_values(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        style: FullStyle,
    ) -> Result<Option<Value>, TooLarge> {
        let Some(listed) = listed_values(keywords) else { return Ok(None) };
        if keywords.has("const") && self.refuses(&facts::CONST) {
            let reason = "an `enum` of one value means the same";
            self.record(keywords.place_of("const"), "const", ChangeAction::Rewritten, reason);
            keywords.take("enum");
            let values = NodeContent::Data(Value::Array(listed.clone()).into());
            keywords.replace("const", "enum", values);
        }
        let values = self.apply_to_values(keywords, listed);
        if values.is_empty() {
            return Ok(Some(self.write_nothing(keywords.place)));
        }
        let listed = keywords.data("enum").and_then(Value::as_array).map(Vec::len);
        // They are some of those that are listed, in the same order.
        if listed.is_some_and(|listed| listed != values.len()) {
            keywords.set_data("enum", Value::Array(values.clone()));
        }
        let has_containers = values.iter().any(|value| value.is_object() || value.is_array());
        let containers = TypeSet::OBJECT.or(TypeSet::ARRAY);
        let types = TypeSet::of(keywords);
        if !has_containers && keywords.has("type") && types.has_any(containers) {
            let reason = "no listed value is an object or an array";
            self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
            keywords.set_data("type", types.without(containers).to_keyword());
        }
        if style.is_strict() && !keywords.has("type") && !has_containers {
            let reason = "the type of the listed values is stated";
            self.record(keywords.place, "type", ChangeAction::Rewritten, reason);
            let listed = values.iter().map(TypeSet::of_value).fold(TypeSet::NONE, TypeSet::or);
            keywords.set_data("type", listed.to_keyword());
        }
        match style {
            FullStyle::Gemini => self.write_gemini_values(keywords, values).map(Some),
            // In these, `type: object` would ask for more than the list (A1: no complex types).
            _ if has_containers => self.write_value_texts(keywords, values, style).map(Some),
            FullStyle::AnthropicStrict => {
                self.tolerate_case(&values);
                Ok(None)
            }
            FullStyle::OpenAiStrict | FullStyle::Ollama => Ok(None),
        }
    }

    /// Removes the values that other keywords of the node exclude, and with that the need for those
    /// that the target refuses.
    ///
    /// Only the keywords that the target would drop are applied: all others stay beside the list.
    /// With an object or an array among the values, `apply_whole_node` applies all of them.
    fn apply_to_values(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        listed: Vec<Value>,
    ) -> Vec<Value> {
        let types = TypeSet::of(keywords);
        let mut values: Vec<Value> =
            listed.into_iter().filter(|value| types.has(TypeSet::of_value(value))).collect();
        if values.iter().any(|value| value.is_object() || value.is_array()) {
            return self.apply_whole_node(keywords, values);
        }
        let (mut rules, mut refused) = (Map::new(), Vec::new());
        for keyword in &*keywords {
            let name = &*keyword.name;
            if let NodeContent::Data(value) = &keyword.content
                && keyword.is_assertion()
                && !matches!(name, "type" | "enum" | "const" | "required" | "dependentRequired")
                && refuses_keyword(self.target, keyword)
            {
                rules.insert(name.to_owned(), Value::clone(value));
                refused.push((keyword.name, keyword.place));
            }
        }
        let compiled = (!rules.is_empty()).then(|| Schema::compile(&Value::Object(rules)));
        if let Some(Ok(schema)) = compiled {
            values.retain(|value| schema.is_valid(value));
            for (name, place) in refused {
                let reason = "it is applied to the listed values";
                self.record(place, &name, ChangeAction::Rewritten, reason);
                keywords.take(&name);
            }
        }
        values
    }

    /// Removes the values that the other keywords of the node exclude, subschemas included. The
    /// values become texts, to which those keywords do not apply.
    ///
    /// With a schema that cannot be compiled alone, no value is removed, and more calls match.
    fn apply_whole_node(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        values: Vec<Value>,
    ) -> Vec<Value> {
        let is_rule = |one: &NodeKeyword<'t>| {
            one.is_assertion() && !matches!(&*one.name, "type" | "enum" | "const")
        };
        let rules: Vec<NodeKeyword<'t>> =
            keywords.iter().filter(|one| is_rule(one)).cloned().collect();
        if rules.is_empty() {
            return values;
        }
        keywords.retain(|one| !is_rule(one));
        let node = NodeKeywords::of(keywords.place, rules.iter().cloned());
        let mut budget = MAX_APPLIED_PARTS;
        let schema = node.into_node().to_value(&self.tree.definitions, &mut budget);
        let compiled = schema.and_then(|schema| Schema::compile(&schema).ok());
        let (action, reason) = match compiled {
            Some(_) => (ChangeAction::Rewritten, "it is applied to the listed values"),
            // With a reference inside, for example.
            None => (ChangeAction::Widened, "it cannot be applied to the texts of the values"),
        };
        for rule in &rules {
            self.record(rule.place, &rule.name, action, reason);
        }
        match compiled {
            Some(schema) => values.into_iter().filter(|value| schema.is_valid(value)).collect(),
            None => values,
        }
    }

    /// Gemini's `enum` holds texts that are not empty, beside `type: string`.
    ///
    /// Of the four cases the first that applies: `null` alone, both booleans, only texts, anything
    /// else as texts. `null` beside other values is stated by `nullable`.
    fn write_gemini_values(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        values: Vec<Value>,
    ) -> Result<Value, TooLarge> {
        let style = FullStyle::Gemini;
        let place = keywords.place_of("enum");
        let accepts_null = values.iter().any(Value::is_null);
        let others: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
        if accepts_null && !others.is_empty() {
            let reason = "`nullable` states that `null` is valid, too";
            self.record(place, "enum", ChangeAction::Rewritten, reason);
        }
        let is_boolean = |value: &bool| others.contains(&Value::Bool(*value));
        let all_booleans = others.len() == 2 && [true, false].iter().all(is_boolean);
        let mut written = if others.is_empty() {
            let reason = "the type has no other value";
            self.record(place, "enum", ChangeAction::Rewritten, reason);
            keywords.take("enum");
            keywords.set_data("type", "null".into());
            return self.write_plain(keywords, style);
        } else if all_booleans {
            let reason = "both values of the type are listed";
            self.record(place, "enum", ChangeAction::Rewritten, reason);
            keywords.take("enum");
            keywords.set_data("type", "boolean".into());
            self.write_plain(keywords, style)?
        } else if others.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty())) {
            if keywords.data("type").is_none_or(|kind| kind != "string") {
                let reason = "the type of the listed values is stated";
                self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
            }
            keywords.set_data("enum", Value::Array(others));
            keywords.set_data("type", "string".into());
            self.write_plain(keywords, style)?
        } else {
            self.write_value_texts(keywords, others, style)?
        };
        if let (true, Value::Object(members)) = (accepts_null, &mut written) {
            members.insert("nullable".to_owned(), Value::Bool(true));
        }
        Ok(written)
    }

    /// Lists texts that stand for the values.
    ///
    /// The call is restored with the pairs of text and value. `value_texts` makes the texts.
    fn write_value_texts(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        values: Vec<Value>,
        style: FullStyle,
    ) -> Result<Value, TooLarge> {
        let reason = "the target lists texts only, so each value is sent as text";
        self.record(keywords.place_of("enum"), "enum", ChangeAction::Restored, reason);
        let values = value_texts(values);
        keywords.take("const");
        let texts: Vec<&String> = values.iter().map(|(text, _)| text).collect();
        keywords.set_data("enum", json!(texts));
        keywords.set_data("type", "string".into());
        self.push_step(RestoreAction::TextToValue { values });
        // What is left of the node is about the values, not about their texts.
        keywords.retain(|one| !one.is_assertion() || matches!(&*one.name, "type" | "enum"));
        self.write_plain(keywords, style)
    }

    /// Writes a node that holds no subschemas of interest. Leaves `keywords` empty.
    fn write_plain(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        style: FullStyle,
    ) -> Result<Value, TooLarge> {
        let empty = NodeKeywords::new(keywords.place);
        let keywords = std::mem::replace(keywords, empty);
        self.write_members(keywords, NodeContext::new(style), &|_| false)
    }

    /// Anthropic does not promise the case of listed texts, even in strict mode (A1, "Enum value
    /// casing").
    ///
    /// The step maps each text to itself. It has an effect because restoring ignores case if no
    /// text matches exactly. Texts without letters need no such step.
    fn tolerate_case(&mut self, values: &[Value]) {
        let texts = values.iter().filter_map(Value::as_str);
        let values: Vec<(String, Value)> = texts
            .filter(|text| text.to_lowercase() != text.to_uppercase())
            .map(|text| (text.to_owned(), Value::String(text.to_owned())))
            .collect();
        if !values.is_empty() {
            self.push_step(RestoreAction::TextToValue { values });
        }
    }

    /// Reports that `null` cannot be sent where it means that a property is absent.
    ///
    /// Called for the properties that strict mode makes required and nullable. `written` is the
    /// schema before `null` is added, which states more directly than `node` whether it accepts
    /// `null`.
    pub(super) fn report_lost_null(&mut self, node: &SchemaNode<'t>, written: &Value) {
        if self.changes.report == ChangeReport::Unwanted {
            return;
        }
        let branches = written.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let refers = branches.chain([written]).any(|schema| schema.get("$ref").is_some());
        let accepts = if refers { self.accepts_null(node, 0) } else { value_accepts_null(written) };
        if accepts {
            let reason =
                "`null` means that the property is absent, so it cannot be sent as a value";
            self.record(node.place(), "null", ChangeAction::Narrowed, reason);
        }
    }

    /// Whether a node may accept `null`. `true` where that is not obvious.
    ///
    /// Follows references, at most 16 of them and of nested choices. A definition that refers to
    /// itself ends there, with `true`: the report then says more than is certain, never less.
    fn accepts_null(&self, node: &SchemaNode<'t>, depth: usize) -> bool {
        let Some(keywords) = node.keywords() else { return matches!(node, SchemaNode::All(_)) };
        if depth > 16 {
            return true;
        }
        let listed = listed_values(keywords);
        let any_of = keywords.nodes("anyOf");
        let reference = match keywords.get("$ref").map(|keyword| &keyword.content) {
            Some(NodeContent::Reference(Some(index))) => Some(&self.definition(*index).node),
            _ => None,
        };
        TypeSet::of(keywords).has(TypeSet::NULL)
            && listed.is_none_or(|values| values.iter().any(Value::is_null))
            && (any_of.is_empty() || any_of.iter().any(|one| self.accepts_null(one, depth + 1)))
            && reference.is_none_or(|target| self.accepts_null(target, depth + 1))
    }
}

/// Whether a written schema accepts `null`. `false` for a reference, whatever it leads to.
fn value_accepts_null(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return true };
    members.iter().all(|(name, value)| match (name.as_str(), value) {
        ("$ref", _) => false,
        ("type", Value::String(kind)) => kind == "null",
        ("type", Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        ("const", value) => value.is_null(),
        ("enum", Value::Array(values)) => values.iter().any(Value::is_null),
        ("anyOf", Value::Array(branches)) => branches.iter().any(value_accepts_null),
        _ => true,
    })
}

/// A written schema that accepts `null`, too.
///
/// ```text
/// {"type": "string"}                   ─▶  {"type": ["string", "null"]}
/// {"type": "string", "enum": ["a"]}    ─▶  {"type": ["string", "null"], "enum": ["a", null]}
/// {"const": 1}                         ─▶  {"enum": [1, null]}
/// {"$ref": R}                          ─▶  {"anyOf": [{"$ref": R}, {"type": "null"}]}
/// ```
pub(super) fn make_nullable(schema: Value) -> Value {
    if value_accepts_null(&schema) {
        return schema;
    }
    let Value::Object(mut members) = schema else { return schema };
    // One pass over a few keywords: looking each one up would hash it.
    let is_choice = members.keys().any(|name| name == "anyOf");
    if is_choice || members.keys().any(|name| name == "$ref") {
        let has_assertions = members.keys().any(|name| name != "anyOf" && is_assertion(name));
        if let (false, Some(Value::Array(branches))) = (has_assertions, members.get_mut("anyOf")) {
            branches.push(json!({ "type": "null" }));
            return Value::Object(members);
        }
        // The description is about the value, `null` or not.
        let description = members.shift_remove("description");
        let mut choice = Map::new();
        choice.extend(description.map(|text| ("description".to_owned(), text)));
        let branches = vec![Value::Object(members), json!({ "type": "null" })];
        choice.insert("anyOf".to_owned(), branches.into());
        return Value::Object(choice);
    }
    let mut has_const = false;
    for (name, value) in &mut members {
        match (name.as_str(), value) {
            ("type", Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
                kinds.push("null".into());
            }
            ("type", kind @ Value::String(_)) if kind != "null" => {
                *kind = Value::Array(vec![kind.take(), "null".into()]);
            }
            ("enum", Value::Array(values)) => values.push(Value::Null),
            ("const", _) => has_const = true,
            _ => {}
        }
    }
    if has_const {
        // In the place of `const`, so that the order of keywords stays.
        members = members
            .into_iter()
            .filter(|(name, _)| name != "enum")
            .map(|(name, own)| match name == "const" {
                true => ("enum".to_owned(), json!([own, null])),
                false => (name, own),
            })
            .collect();
    }
    Value::Object(members)
}

/// A text for each value, without repetitions: `["on", 5]` gets `on` and `5`. Texts stand for
/// themselves unless two values would have the same, as `"5"` and `5` have; then all get their JSON
/// text.
fn value_texts(values: Vec<Value>) -> Vec<(String, Value)> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if distinct.len() > MAX_COMPARED_VALUES
            || !distinct.iter().any(|other| same_json(other, &value))
        {
            distinct.push(value);
        }
    }
    let plain = |value: &Value| match value.as_str() {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => value.to_string(),
    };
    let mut texts: Vec<String> = distinct.iter().map(plain).collect();
    let unique: std::collections::HashSet<&String> = texts.iter().collect();
    if unique.len() < texts.len() {
        texts = distinct.iter().map(Value::to_string).collect();
    }
    texts.into_iter().zip(distinct).collect()
}
