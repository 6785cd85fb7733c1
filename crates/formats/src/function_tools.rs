//! What the formats of model vendors share: a tool is a function with a name, a description and a
//! schema, as an item of a list or as an object inside an item. The formats differ in the names of
//! the fields and in what surrounds the list.
//!
//! ```text
//! openai     {type, function: {name, description, parameters}}      {type, name, parameters}
//! anthropic  {name, description, input_schema}
//! gemini     {functionDeclarations: [{name, description, parameters}]}
//! bedrock    {toolSpec: {name, description, inputSchema: {json}}}
//! ```

use serde_json::json;
use toolwright_model::{Draft, FieldValue, FormatId, InputSchema, Json, Rest};
use toolwright_source::{DocumentPath, Node, Origin, RecordPath, ValueKind};

use crate::extract;
use crate::field::{CustomCheck, FieldKind};
use crate::findings::FindingList;
use crate::shape;

/// A schema that may be null, which means the same as its absence: the function takes nothing.
pub(crate) const SCHEMA_OR_NULL: FieldKind = FieldKind::Custom {
    expects: "a JSON Schema object, or null",
    check: CustomCheck(schema_or_null),
};

/// Whether an object is a valid schema is the rule `invalid_schema`.
fn schema_or_null(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if !matches!(node.kind(), ValueKind::Map | ValueKind::Null) {
        shape::report_wrong_type(node, "a JSON Schema object", out);
    }
}

/// The schema of a function that takes nothing, where its format lets the author leave it out.
pub(crate) fn no_parameters() -> Json {
    json!({"type": "object", "additionalProperties": false})
}

/// A function of a document.
#[derive(Clone, Copy)]
pub(crate) struct FunctionTool<'d> {
    /// The item of the list: a finding about the tool as a whole is shown here, and the tool's
    /// unknown fields count from here.
    pub(crate) item: Node<'d>,
    /// The object with `name` and `description`: the item, or an object inside it.
    pub(crate) function: Node<'d>,
    /// The schema of the arguments.
    pub(crate) input: Option<Node<'d>>,
    /// The schema of the result.
    pub(crate) output: Option<Node<'d>>,
}

/// Whether a format lets authors leave out the schema of a function that takes nothing.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum MissingInput {
    /// An absent schema stays missing; the table reports it.
    Error,
    /// The function takes nothing.
    NoParameters,
}

impl FunctionTool<'_> {
    /// The draft of the function, the `index`-th of its toolset.
    ///
    /// ```text
    /// schema          Error         NoParameters
    /// an object       Valid         Valid
    /// null            Invalid       Valid, without parameters
    /// absent          Missing       Valid, without parameters
    /// anything else   Invalid       Invalid
    /// ```
    pub(crate) fn draft(&self, index: usize, missing: MissingInput, origin: &mut Origin) -> Draft {
        let at = RecordPath::root().child("tools").child(index);
        for (part, node) in [("inputSchema", self.input), ("outputSchema", self.output)] {
            if let Some(node) = node {
                origin.note(at.child(part), node);
            }
        }
        // Only where the item is not the function itself: otherwise the names are the record's.
        if self.function.pointer() != self.item.pointer() {
            for part in ["name", "description"] {
                if let Some(node) = self.function.get(part) {
                    origin.note(at.child(part), node);
                }
            }
        }
        origin.note(at, self.item);
        let read = |node: Node<'_>| match node.kind() {
            ValueKind::Map => FieldValue::Valid(node.to_json()),
            _ => FieldValue::Invalid(node.to_json()),
        };
        let input = match self.input {
            Some(node) if node.kind() != ValueKind::Null => read(node),
            None if missing == MissingInput::Error => FieldValue::Missing,
            Some(_) if missing == MissingInput::Error => FieldValue::Invalid(Json::Null),
            _ => FieldValue::Valid(no_parameters()),
        };
        Draft {
            name: extract::name(self.function, "name"),
            description: extract::required_value(self.function, "description", |n| {
                n.text().map(str::to_owned)
            }),
            input: input.map(InputSchema::from),
            output: self
                .output
                .filter(|node| node.kind() != ValueKind::Null)
                .map_or(FieldValue::Missing, read),
            ..Draft::default()
        }
    }
}

/// Keeps the members of `object` that the record has no field for, at their pointers from the
/// tool's own object; `at` is the pointer of `object` there. `taken` are the members that the
/// record has.
pub(crate) fn keep_members(
    object: Node<'_>,
    taken: &[&str],
    at: &DocumentPath,
    format: FormatId,
    rest: &mut Rest,
) {
    for (name, value) in extract::members_except(object, taken) {
        rest.keep(format, at.child(&name).as_str(), value);
    }
}

/// Keeps an item of a list that is not a function, such as a vendor's own search.
pub(crate) fn keep_item(item: Node<'_>, format: FormatId, rest: &mut Rest) {
    let at = item.pointer();
    // A document that is nothing else has no tools, and its shape was reported.
    if at != DocumentPath::root() {
        rest.keep(format, at.as_str(), item.to_json());
    }
}

/// Keeps everything around the list of tools, at its pointers in the document. `list` is the member
/// that has the tools. Nothing is kept around a list at the root.
pub(crate) fn keep_around(root: Node<'_>, list: &str, format: FormatId, rest: &mut Rest) {
    if root.kind() == ValueKind::Map {
        keep_members(root, &[list], &root.pointer(), format, rest);
    }
}

/// Checks a value that is a tool by itself, an item of a list, or a list. Used by formats whose
/// items have more than one shape, which `item` tells apart.
pub(crate) fn check_items(list: Node<'_>, item: &FieldKind, out: &mut FindingList) {
    shape::report_too_many_items(list, out);
    for node in extract::items(list) {
        shape::check_value(list, node, item, out);
    }
}

/// Whether the value is an object with this field; for tables that depend on the form.
pub(crate) fn is_object_with(node: Node<'_>, field: &str) -> bool {
    node.kind() == ValueKind::Map && node.has(field)
}
