//! A schema of an older dialect as 2020-12, with the same meaning: so that schemas of draft-07 and
//! 2020-12 can be compared, and so that `toolwright upgrade` can rewrite documents.
//!
//! | dialect | older form | 2020-12 |
//! |---|---|---|
//! | all | `items` as a list, `additionalItems` | `prefixItems`, `items` |
//! | all | `$ref: "#/items/0"` and the like | what it refers to has moved, so the pointer follows |
//! | draft-04, -06, -07 | `dependencies` | `dependentRequired`, `dependentSchemas` |
//! | draft-04, -06, -07 | keywords beside `$ref` | dropped, but for annotations: they are ignored |
//! | draft-06, -07 | `$id: "#name"` | `$anchor: "name"` |
//! | draft-07 | keywords that it does not have | dropped: it ignores them |
//! | draft-04 | `id` | `$id`, `$anchor` |
//! | draft-04 | `minimum: 1, exclusiveMinimum: true` | `exclusiveMinimum: 1` |
//! | 2019-09 | `$recursiveRef: "#"`, without `$recursiveAnchor` anywhere | `$ref: "#"` |
//!
//! Not rewritten: resources inside the document (other `$id`s), whose references would have to
//! follow, too; and, in the dialects that the runner does not have, keywords that only a later one
//! has. They are ignored there, but their author may mean them.

use serde_json::{Map, Value, json};

use crate::{Dialect, Schema};

/// What becomes of a schema in 2020-12.
#[derive(Debug, Clone, PartialEq)]
pub enum DialectUpgrade {
    /// It is a schema of 2020-12, or not a schema of any dialect.
    NotNeeded,
    /// A schema of 2020-12 that accepts the same values.
    Rewritten {
        /// The name of the dialect that it was written in, such as `draft-07`.
        from: &'static str,
        /// The schema.
        schema: Value,
        /// A difference that no rewrite can avoid, as a sentence.
        note: Option<&'static str>,
    },
    /// It is of an older or unknown dialect, and stays as it is.
    Impossible {
        /// The name of the dialect, or its URI if that is unknown.
        from: String,
        /// Why, as a part of a sentence.
        reason: String,
    },
}

/// A schema of an older dialect as a 2020-12 schema that accepts the same values. A schema that
/// states no dialect counts as draft-07 if it is valid there and not in 2020-12.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{DialectUpgrade, in_2020_12};
///
/// let pair = json!({ "type": "array", "items": [{ "type": "string" }, { "type": "number" }] });
/// let DialectUpgrade::Rewritten { from, schema, .. } = in_2020_12(&pair) else { panic!() };
/// assert_eq!((from, &schema["prefixItems"]), ("draft-07", &pair["items"]));
/// assert_eq!(in_2020_12(&schema), DialectUpgrade::NotNeeded);
/// ```
///
/// ```text
/// states 2020-12, or states nothing and compiles as it   NotNeeded
/// not a schema of the dialect                            NotNeeded: other rules report it
/// rewritten, and the result compiles                     Rewritten
/// an unknown dialect, or a part without a counterpart    Impossible
/// ```
pub fn in_2020_12(schema: &Value) -> DialectUpgrade {
    let Value::Object(members) = schema else { return DialectUpgrade::NotNeeded };
    let stated = members.get("$schema").filter(|uri| *uri != "");
    let draft = match (Dialect::of(schema), stated) {
        (Ok(Dialect::Draft202012), Some(_)) => return DialectUpgrade::NotNeeded,
        (Ok(Dialect::Draft202012), None) if Schema::compile(schema).is_ok() => {
            return DialectUpgrade::NotNeeded;
        }
        (Ok(_), _) => OlderDraft::Draft7,
        (Err(_), Some(Value::String(uri))) => match OlderDraft::by_uri(uri) {
            Some(draft) => draft,
            None => {
                let reason = "the dialect is unknown".to_owned();
                return DialectUpgrade::Impossible { from: uri.clone(), reason };
            }
        },
        (Err(_), _) => return DialectUpgrade::NotNeeded,
    };
    // The runner tells whether the document is a schema, where it has the dialect.
    if draft == OlderDraft::Draft7 {
        let mut source = members.clone();
        source.insert("$schema".to_owned(), json!(Dialect::Draft7.uri()));
        if Schema::compile(&Value::Object(source)).is_err() {
            return DialectUpgrade::NotNeeded;
        }
    }
    let impossible = |reason| DialectUpgrade::Impossible { from: draft.name().to_owned(), reason };
    let mut upgraded = match (DraftUpgrade { draft, root: schema }).root() {
        Ok(upgraded) => upgraded,
        Err(reason) => return impossible(reason),
    };
    if let (Some(_), Some(own)) = (stated, upgraded.as_object_mut()) {
        own["$schema"] = json!(Dialect::Draft202012.uri());
    }
    match Schema::compile(&upgraded) {
        Ok(_) => {
            let note = (draft == OlderDraft::Draft4 && mentions_integer(schema))
                .then_some("`1.0` counts as an integer there, but not in draft-04");
            DialectUpgrade::Rewritten { from: draft.name(), schema: upgraded, note }
        }
        Err(error) => impossible(format!("the result would not be a schema: {error}")),
    }
}

/// The draft-07 schema in 2020-12; `None` where it has an `$id` below the root.
///
/// For comparisons, which need no identifiers: those of the root are left out.
pub(super) fn from_draft7(schema: &Value) -> Option<Value> {
    let mut upgraded = DraftUpgrade { draft: OlderDraft::Draft7, root: schema }.root().ok()?;
    if let Value::Object(members) = &mut upgraded {
        members.shift_remove("$schema");
        members.shift_remove("$id");
    }
    Some(upgraded)
}

/// The dialects before 2020-12 that are rewritten, the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OlderDraft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
}

impl OlderDraft {
    /// By the value of `$schema`, in the spellings that [`Dialect::of`] accepts.
    fn by_uri(uri: &str) -> Option<OlderDraft> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match rest.strip_prefix("json-schema.org/")? {
            "draft-04/schema" => Some(OlderDraft::Draft4),
            "draft-06/schema" => Some(OlderDraft::Draft6),
            "draft-07/schema" => Some(OlderDraft::Draft7),
            "draft/2019-09/schema" => Some(OlderDraft::Draft201909),
            _ => None,
        }
    }

    /// The name that messages use.
    fn name(self) -> &'static str {
        match self {
            OlderDraft::Draft4 => "draft-04",
            OlderDraft::Draft6 => "draft-06",
            OlderDraft::Draft7 => "draft-07",
            OlderDraft::Draft201909 => "2019-09",
        }
    }

    /// The keyword that names a schema.
    fn id_keyword(self) -> &'static str {
        if self == OlderDraft::Draft4 { "id" } else { "$id" }
    }

    /// Whether a keyword asserts something in a later dialect, and nothing in this one.
    ///
    /// By the dialect in which the keyword appeared.
    fn ignores(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" | "$id" => OlderDraft::Draft6,
            "if" | "then" | "else" => OlderDraft::Draft7,
            "minContains"
            | "maxContains"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "$anchor"
            | "$recursiveRef"
            | "$recursiveAnchor" => OlderDraft::Draft201909,
            "prefixItems" | "$dynamicRef" | "$dynamicAnchor" => return true,
            // It became two keywords.
            "dependencies" => return self == OlderDraft::Draft201909,
            _ => return false,
        };
        self < since
    }
}

/// Whether a schema or a value in it is called `integer`.
/// May be a property or a text of that name; the note is then only superfluous.
fn mentions_integer(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.values().any(mentions_integer),
        Value::Array(items) => items.iter().any(mentions_integer),
        value => value == "integer",
    }
}

/// Whether a schema is the document. An `$id` below it starts another resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDepth {
    Root,
    Below,
}

/// Keywords that accept every value.
const ANNOTATIONS: [&str; 7] =
    ["$comment", "title", "description", "default", "examples", "readOnly", "writeOnly"];

/// A document that is rewritten.
struct DraftUpgrade<'a> {
    draft: OlderDraft,
    root: &'a Value,
}

impl DraftUpgrade<'_> {
    /// The whole document.
    ///
    /// # Errors
    /// The reason why it cannot be rewritten, as a part of a sentence.
    fn root(&self) -> Result<Value, String> {
        if self.draft == OlderDraft::Draft201909
            && mentions(self.root, "unevaluatedItems")
            && mentions(self.root, "contains")
        {
            // An item that `contains` accepts counts as evaluated in 2020-12 alone.
            return Err("`contains` and `unevaluatedItems` mean something else together".to_owned());
        }
        self.upgrade(self.root, SchemaDepth::Root)
    }

    /// A schema and all schemas inside it. Keywords stay in their order.
    ///
    /// The recursion is as deep as the document.
    ///
    /// Beside a `$ref` older drafts read nothing, so only annotations and definitions are kept
    /// there.
    ///
    /// # Errors
    /// The reason why it has no counterpart, as a part of a sentence.
    fn upgrade(&self, schema: &Value, level: SchemaDepth) -> Result<Value, String> {
        let Value::Object(members) = schema else { return Ok(schema.clone()) };
        let id_keyword = self.draft.id_keyword();
        let id = members.get(id_keyword);
        let anchor = id.and_then(Value::as_str).and_then(|id| id.strip_prefix('#'));
        let is_resource =
            members.contains_key("$schema") || id.is_some() && anchor.is_none_or(str::is_empty);
        if level == SchemaDepth::Below && is_resource {
            return Err(format!(
                "a part of it, such as an `{id_keyword}` below the root, has no counterpart there"
            ));
        }
        let mut upgraded = Map::new();
        if let Some(reference) =
            members.get("$ref").filter(|_| self.draft < OlderDraft::Draft201909)
        {
            upgraded.insert("$ref".to_owned(), self.reference(reference));
            for keyword in ANNOTATIONS.into_iter().chain(["$schema", "$id"]) {
                // Beside a reference, the `$id` of an inner schema is not read.
                let (own, is_read) = match keyword {
                    "$id" => (id_keyword, level == SchemaDepth::Root),
                    keyword => (keyword, true),
                };
                if let Some(value) = members.get(own).filter(|_| is_read) {
                    upgraded.insert(keyword.to_owned(), value.clone());
                }
            }
            // A reference may lead to definitions beside another one.
            for keyword in ["definitions", "$defs"] {
                if let Some(definitions) = members.get(keyword) {
                    upgraded.insert(keyword.to_owned(), self.each(definitions)?);
                }
            }
            return Ok(Value::Object(upgraded));
        }
        for (keyword, value) in members {
            if self.draft.ignores(keyword) {
                // The runner has draft-07, and ignores it as well.
                if self.draft == OlderDraft::Draft7 {
                    continue;
                }
                return Err(format!(
                    "`{keyword}` is not a keyword of {}, and only its author knows whether it is \
                     meant",
                    self.draft.name()
                ));
            }
            let (keyword, value) = match keyword.as_str() {
                name if name == id_keyword => match level {
                    SchemaDepth::Root => ("$id", value.clone()),
                    SchemaDepth::Below => ("$anchor", Value::from(anchor.unwrap_or_default())),
                },
                "properties" | "patternProperties" | "definitions" | "$defs"
                | "dependentSchemas" => (keyword.as_str(), self.each(value)?),
                "allOf" | "anyOf" | "oneOf" => (keyword.as_str(), self.list(value)?),
                "not"
                | "if"
                | "then"
                | "else"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "contentSchema" => (keyword.as_str(), self.upgrade(value, SchemaDepth::Below)?),
                "items" if value.is_array() => ("prefixItems", self.list(value)?),
                "items" => ("items", self.upgrade(value, SchemaDepth::Below)?),
                // Without a list in `items` it has no effect.
                "additionalItems" => match members.get("items") {
                    Some(Value::Array(_)) => ("items", self.upgrade(value, SchemaDepth::Below)?),
                    _ => continue,
                },
                "dependencies" => {
                    self.split_dependencies(value, &mut upgraded)?;
                    continue;
                }
                "$ref" => ("$ref", self.reference(value)),
                "$recursiveAnchor" => {
                    return Err("what `$recursiveAnchor` means depends on where a reference \
                                comes from"
                        .to_owned());
                }
                // Without an anchor anywhere it is an ordinary reference.
                "$recursiveRef" if !members.contains_key("$ref") => ("$ref", value.clone()),
                "minimum" | "maximum" if self.draft == OlderDraft::Draft4 => {
                    (bound_keyword(members, keyword), value.clone())
                }
                "exclusiveMinimum" | "exclusiveMaximum" if self.draft == OlderDraft::Draft4 => {
                    // Written with the bound that it is about.
                    let bound = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    if !value.is_boolean() || !members.contains_key(bound) {
                        return Err(format!(
                            "`{keyword}` has to be `true` or `false` in draft-04, beside `{bound}`"
                        ));
                    }
                    continue;
                }
                name => (name, value.clone()),
            };
            upgraded.insert(keyword.to_owned(), value);
        }
        Ok(Value::Object(upgraded))
    }

    /// A reference, moved if what it refers to has another pointer in 2020-12.
    fn reference(&self, reference: &Value) -> Value {
        let moved = reference.as_str().and_then(|text| self.moved_reference(text));
        moved.map_or_else(|| reference.clone(), Value::String)
    }

    /// The schemas of a keyword that names them, such as `properties`.
    fn each(&self, value: &Value) -> Result<Value, String> {
        let Value::Object(named) = value else { return Ok(value.clone()) };
        let upgraded = named
            .iter()
            .map(|(name, own)| Ok((name.clone(), self.upgrade(own, SchemaDepth::Below)?)));
        upgraded.collect::<Result<Map<_, _>, _>>().map(Value::Object)
    }

    /// The schemas of a keyword that lists them, such as `anyOf`.
    fn list(&self, value: &Value) -> Result<Value, String> {
        let Value::Array(branches) = value else { return Ok(value.clone()) };
        let upgraded = branches.iter().map(|branch| self.upgrade(branch, SchemaDepth::Below));
        upgraded.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    /// Splits `dependencies` into the two keywords of 2020-12: `{"a": ["b"], "c": S}` becomes
    /// `dependentRequired: {"a": ["b"]}` and `dependentSchemas: {"c": S}`.
    fn split_dependencies(
        &self,
        value: &Value,
        upgraded: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let (mut required, mut schemas) = (Map::new(), Map::new());
        for (name, dependency) in value.as_object().ok_or("`dependencies` is not an object")? {
            match dependency {
                Value::Array(_) => required.insert(name.clone(), dependency.clone()),
                schema => schemas.insert(name.clone(), self.upgrade(schema, SchemaDepth::Below)?),
            };
        }
        for (keyword, named) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
            if !named.is_empty() {
                upgraded.insert(keyword.to_owned(), Value::Object(named));
            }
        }
        Ok(())
    }

    /// The pointer to a subschema that another keyword holds in 2020-12; `None` for a reference
    /// that stays as it is.
    ///
    /// `#/properties/p/items/0` becomes `#/properties/p/prefixItems/0` if `items` is a list there.
    /// The pointer is followed in the old document, because a token means a keyword or a name
    /// depending on what comes before it.
    fn moved_reference(&self, reference: &str) -> Option<String> {
        let mut moved = String::from("#");
        let mut schema = self.root;
        let mut tokens = reference.strip_prefix("#/")?.split('/');
        while let Some(token) = tokens.next() {
            let value = schema.get(token)?;
            let has_list = schema.get("items").is_some_and(Value::is_array);
            let keyword = match token {
                "items" if has_list => "prefixItems",
                "additionalItems" if has_list => "items",
                "dependencies" => "dependentSchemas",
                other => other,
            };
            moved.push('/');
            moved.push_str(keyword);
            // Below these keywords comes a name or a number, and then the next schema.
            let is_keyed = value.is_array()
                || matches!(
                    token,
                    "properties" | "patternProperties" | "definitions" | "$defs" | "dependencies"
                );
            schema = value;
            if let (true, Some(key)) = (is_keyed, tokens.next()) {
                moved.push('/');
                moved.push_str(key);
                // An escaped name is found by the library that knows how.
                schema = value.pointer(&format!("/{key}"))?;
            }
        }
        (moved != reference).then_some(moved)
    }
}

/// The keyword that has the bound in 2020-12. Draft-04 states beside it that the bound itself is
/// excluded.
///
/// `{"minimum": 1, "exclusiveMinimum": true}` gives `exclusiveMinimum`.
fn bound_keyword(members: &Map<String, Value>, bound: &str) -> &'static str {
    let (included, excluded) = match bound {
        "minimum" => ("minimum", "exclusiveMinimum"),
        _ => ("maximum", "exclusiveMaximum"),
    };
    let is_excluded = members.get(excluded) == Some(&Value::Bool(true));
    if is_excluded { excluded } else { included }
}

/// Whether any member of the document has this name.
fn mentions(document: &Value, name: &str) -> bool {
    match document {
        Value::Object(members) => {
            members.iter().any(|(own, value)| own == name || mentions(value, name))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use serde_json::json;

    #[test]
    fn draft_07_keeps_its_meaning() {
        let uri = Dialect::Draft7.uri();
        let cases = [
            (
                json!({ "$schema": uri, "items": [{ "type": "string" }], "additionalItems": false }),
                Some(json!({ "prefixItems": [{ "type": "string" }], "items": false })),
            ),
            (
                json!({ "$schema": uri, "items": { "type": "string" }, "additionalItems": false }),
                Some(json!({ "items": { "type": "string" } })),
            ),
            (
                json!({ "$schema": uri, "dependencies": { "a": ["b"], "c": { "minimum": 1 } } }),
                Some(json!({
                    "dependentRequired": { "a": ["b"] },
                    "dependentSchemas": { "c": { "minimum": 1 } }
                })),
            ),
            (
                json!({
                    "$schema": uri,
                    "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 3 } },
                    "definitions": { "t": { "type": "string" } }
                }),
                Some(json!({
                    "properties": { "a": { "$ref": "#/definitions/t" } },
                    "definitions": { "t": { "type": "string" } }
                })),
            ),
            (json!({ "$schema": uri, "minContains": 2 }), Some(json!({}))),
            (
                json!({ "$schema": uri, "definitions": { "t": { "$id": "#t" } } }),
                Some(json!({ "definitions": { "t": { "$anchor": "t" } } })),
            ),
            (json!({ "$schema": uri, "definitions": { "t": { "$id": "t.json" } } }), None),
        ];
        for (schema, expected) in cases {
            assert_eq!(from_draft7(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_document_in_2020_12_accepts_the_same_values() {
        let uri = Dialect::Draft7.uri();
        let tuple = json!([{ "type": "string" }, { "type": "number" }]);
        let upgraded = [
            json!({ "$schema": uri, "type": "object", "properties": { "a": { "type": "string" } } }),
            json!({ "$schema": uri, "items": tuple, "additionalItems": { "type": "null" } }),
            json!({ "items": tuple, "additionalItems": false }),
            json!({ "$schema": uri, "type": "object", "dependencies": { "a": ["b"] } }),
            json!({
                "$schema": uri, "$id": "https://example.org/a", "type": "object",
                "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 3, "title": "A" } },
                "definitions": { "t": { "type": "string" } }
            }),
            json!({
                "$schema": uri, "type": "object", "definitions": { "t": { "$id": "#t", "minLength": 2 } },
                "properties": { "a": { "$ref": "#t" } }
            }),
            json!({
                "$schema": uri, "type": "object",
                "properties": {
                    "items": { "items": [{ "type": "integer" }], "additionalItems": { "type": "null" } },
                    "a": { "$ref": "#/properties/items/items/0" },
                    "b": { "$ref": "#/properties/items/additionalItems" },
                    "c": { "$ref": "#/dependencies/x~1y/properties/d" }
                },
                "dependencies": { "x/y": { "properties": { "d": { "type": "boolean" } } } }
            }),
        ];
        for schema in upgraded {
            let upgraded = rewritten(&schema, "draft-07");
            assert_eq!(Dialect::of(&upgraded).ok(), Some(Dialect::Draft202012), "{schema}");
            assert_eq!(upgraded.get("$id"), schema.get("$id"));
            if schema.get("$schema").is_some() {
                assert!(crate::compare(&schema, &upgraded).is_equal(), "{schema}: {upgraded}");
            }
            assert_eq!(in_2020_12(&upgraded), DialectUpgrade::NotNeeded, "{upgraded}");
        }
        let left_alone = [
            json!({ "type": "object" }),
            json!({ "$schema": Dialect::Draft202012.uri() }),
            json!({ "type": "objekt" }),
            json!(true),
        ];
        for schema in left_alone {
            assert_eq!(in_2020_12(&schema), DialectUpgrade::NotNeeded, "{schema}");
        }
    }

    fn rewritten(schema: &Value, dialect: &str) -> Value {
        match in_2020_12(schema) {
            DialectUpgrade::Rewritten { from, schema, .. } if from == dialect => schema,
            other => panic!("{schema}: {other:?}"),
        }
    }

    /// Each schema is judged by a validator of its own dialect, and the result by ours.
    #[test]
    fn schemas_of_dialects_that_the_runner_lacks_keep_their_meaning() {
        use jsonschema::Draft;
        let numbers = [json!(-1), json!(0), json!(1), json!(1.5), json!(10), json!(11), json!("a")];
        let lists = [json!([]), json!(["a"]), json!(["a", 1]), json!([1]), json!(["a", 1, null])];
        let objects = [
            json!({}),
            json!({ "a": "x" }),
            json!({ "a": "x", "b": 1 }),
            json!({ "a": "long text" }),
            json!({ "next": { "next": { "a": "x" } } }),
            json!({ "next": { "next": 1 } }),
        ];
        let tuple = json!({ "items": [{ "type": "string" }, { "type": "number" }],
            "additionalItems": false });
        let linked = |reference: &str| {
            json!({
                "type": "object",
                "properties": { "next": { reference: "#" }, "a": { "type": "string" } }
            })
        };
        let of_all = [
            json!({ "type": "number", "multipleOf": 5, "maximum": 10 }),
            tuple.clone(),
            json!({ "items": [{ "items": [{ "type": "string" }] }, tuple] }),
            json!({ "items": { "type": "string" }, "additionalItems": false }),
            json!({ "properties": { "a": { "$ref": "#/definitions/t" } },
                "definitions": { "t": { "type": "string", "maxLength": 4 } } }),
            linked("$ref"),
        ];
        let before_2019 = [
            json!({ "dependencies": { "a": ["b"] } }),
            json!({ "dependencies": { "a": { "properties": { "b": { "type": "string" } } } } }),
            json!({ "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 2 } },
                "definitions": { "t": { "type": "string" } } }),
        ];
        let of_draft4 = [
            json!({ "minimum": 0, "exclusiveMinimum": true, "maximum": 10 }),
            json!({ "exclusiveMaximum": true, "maximum": 10, "minimum": 0, "exclusiveMinimum": false }),
            json!({ "properties": { "a": { "$ref": "#t" } },
                "definitions": { "t": { "id": "#t", "type": "string", "maxLength": 4 } } }),
        ];
        let of_draft6 = [
            json!({ "const": 1 }),
            json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 10 }),
            json!({ "contains": { "type": "number" } }),
            json!({ "propertyNames": { "maxLength": 1 } }),
        ];
        let of_2019 = [
            json!({ "properties": { "a": { "$ref": "#/$defs/t", "maxLength": 4 } },
                "$defs": { "t": { "type": "string" } } }),
            json!({ "dependentRequired": { "a": ["b"] }, "unevaluatedProperties": false,
                "properties": { "a": true, "b": true } }),
            json!({ "contains": { "type": "number" }, "minContains": 0, "maxContains": 1 }),
            json!({ "if": { "required": ["a"] }, "then": { "required": ["b"] } }),
            linked("$recursiveRef"),
        ];
        let drafts: [(&str, &str, Draft, Vec<&Value>); 3] = [
            (
                "http://json-schema.org/draft-04/schema#",
                "draft-04",
                Draft::Draft4,
                of_all.iter().chain(&before_2019).chain(&of_draft4).collect(),
            ),
            (
                "http://json-schema.org/draft-06/schema#",
                "draft-06",
                Draft::Draft6,
                of_all.iter().chain(&before_2019).chain(&of_draft6).collect(),
            ),
            (
                "https://json-schema.org/draft/2019-09/schema",
                "2019-09",
                Draft::Draft201909,
                of_all.iter().chain(&of_2019).collect(),
            ),
        ];
        for (uri, name, draft, schemas) in drafts {
            for schema in schemas {
                let mut stated = schema.clone();
                stated["$schema"] = json!(uri);
                let own = jsonschema::options().with_draft(draft).build(&stated);
                let own = own.unwrap_or_else(|error| panic!("{stated}: {error}"));
                let upgraded = rewritten(&stated, name);
                let ours = Schema::compile(&upgraded).expect("a schema");
                for value in numbers.iter().chain(&lists).chain(&objects) {
                    let context = format!("{stated}\n{upgraded}\n{value}");
                    assert_eq!(own.is_valid(value), ours.is_valid(value), "{context}");
                }
            }
        }
    }

    #[test]
    fn schemas_that_are_not_rewritten_have_a_reason() {
        let draft4 = "http://json-schema.org/draft-04/schema#";
        let draft6 = "http://json-schema.org/draft-06/schema#";
        let draft7 = Dialect::Draft7.uri();
        let draft2019 = "https://json-schema.org/draft/2019-09/schema";
        let cases = [
            (draft4, json!({ "const": 1 }), "draft-04", "`const` is not a keyword of draft-04"),
            (draft4, json!({ "exclusiveMinimum": 1 }), "draft-04", "`exclusiveMinimum` has to be"),
            (draft4, json!({ "type": "any" }), "draft-04", "the result would not be a schema"),
            (draft4, json!({ "not": { "id": "a.json" } }), "draft-04", "an `id` below the root"),
            (draft6, json!({ "if": {} }), "draft-06", "`if` is not a keyword of draft-06"),
            (draft7, json!({ "not": { "$id": "a.json" } }), "draft-07", "an `$id` below the root"),
            (
                draft2019,
                json!({ "dependencies": {} }),
                "2019-09",
                "`dependencies` is not a keyword",
            ),
            (draft2019, json!({ "$recursiveAnchor": true }), "2019-09", "`$recursiveAnchor` means"),
            (
                draft2019,
                json!({ "contains": {}, "unevaluatedItems": false }),
                "2019-09",
                "mean something else together",
            ),
            ("urn:mine", json!({}), "urn:mine", "the dialect is unknown"),
        ];
        for (uri, mut schema, name, wanted) in cases {
            schema["$schema"] = json!(uri);
            let found = in_2020_12(&schema);
            let DialectUpgrade::Impossible { from, reason } = &found else {
                panic!("{schema}: {found:?}");
            };
            assert!(from == name && reason.contains(wanted), "{schema}: {found:?}");
        }
    }
}
