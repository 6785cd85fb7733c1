//! The parameters and the request body of an operation as one schema.
//!
//! ```text
//! path id, query id, query limit, body  ─▶  {id, id_query, limit, body}
//! ```
//!
//! The body is one property, whatever its schema is: taking it apart would lose its `oneOf` and its
//! `additionalProperties`, and its properties could be called like parameters.

use serde_json::json;
use toolwright_model::{Json, Object};
use toolwright_source::{Node, Severity, ValueKind};

use super::schemas::{Definitions, OpenApiSchemas, SchemaUse};
use crate::extract;

/// Headers that the specification says are not parameters. In lower case, since names of headers
/// have no case (OpenAPI, Parameter Object).
const NOT_PARAMETERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// The schema of the arguments, and the value that each property came from. `properties` is in the
/// order of the schema; the reader notes the origin of each.
pub(super) struct OperationInput<'d> {
    pub(super) schema: Json,
    pub(super) properties: Vec<(String, Node<'d>)>,
    pub(super) definitions: Definitions<'d>,
}

/// The input of an operation of `path_item`; `None` if the budget is spent.
///
/// The object is closed, so that a misspelled parameter is refused. Path and query, headers and
/// cookies alike become properties; the body comes last.
pub(super) fn operation_input<'d>(
    path_item: Node<'d>,
    operation: Node<'d>,
    context: &mut OpenApiSchemas<'d>,
) -> Option<OperationInput<'d>> {
    let mut definitions = Definitions::new(SchemaUse::Request);
    let (mut properties, mut required) = (Object::new(), Vec::new());
    let mut origins = Vec::new();
    for parameter in parameters(path_item, operation, context) {
        let name = free_name(&parameter.name, parameter.place, &properties);
        let (schema, node) = parameter_schema(parameter.node, &mut definitions, context)?;
        // A parameter in the path is always required.
        let is_required = parameter.node.get("required").and_then(Node::boolean) == Some(true)
            || parameter.place == "path";
        if is_required {
            required.push(Json::from(name.as_str()));
        }
        origins.push((name.clone(), node));
        properties.insert(name, schema);
    }
    if let Some(body) = extract::object(operation, "requestBody") {
        let body = context.resolve(body, Severity::Error);
        let name = free_name("body", "request", &properties);
        let schema = extract::object(body, "content").and_then(json_media_type);
        let (mut value, node) = match schema.and_then(|media| media.get("schema")) {
            Some(node) => (definitions.schema(node, context)?, node),
            // A file, or a body that is not described.
            None => (json!({}), body),
        };
        describe(&mut value, body);
        if body.get("required").and_then(Node::boolean) == Some(true) {
            required.push(Json::from(name.as_str()));
        }
        origins.push((name.clone(), node));
        properties.insert(name, value);
    }
    definitions.finish(context)?;
    let mut schema = Object::new();
    schema.insert("type".to_owned(), json!("object"));
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Json::Object(properties));
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), Json::Array(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    definitions.add_to(&mut schema);
    Some(OperationInput { schema: Json::Object(schema), properties: origins, definitions })
}

/// A parameter, with references followed.
struct Parameter<'d> {
    name: String,
    /// The value of `in`.
    place: &'d str,
    node: Node<'d>,
}

/// The parameters of an operation: those of its path that it does not replace, then its own.
///
/// A parameter is identified by its name and its place, as the specification says: `id` in the path
/// and `id` in the query are two.
///
/// Those without a name or a place were reported and are left out.
fn parameters<'d>(
    path_item: Node<'d>,
    operation: Node<'d>,
    context: &mut OpenApiSchemas<'d>,
) -> Vec<Parameter<'d>> {
    let mut read = |object: Node<'d>| -> Vec<Parameter<'d>> {
        let nodes = extract::objects(object, "parameters");
        let nodes = nodes.map(|node| context.resolve(node, Severity::Error));
        let parameter = |node: Node<'d>| {
            let name = extract::text(node, "name")?;
            let place = node.get("in").and_then(Node::text)?;
            let is_ignored =
                place == "header" && NOT_PARAMETERS.contains(&name.to_ascii_lowercase().as_str());
            (!is_ignored).then_some(Parameter { name, place, node })
        };
        nodes.filter_map(parameter).collect()
    };
    let own = read(operation);
    let mut all = read(path_item);
    all.retain(|shared| {
        own.iter().all(|own| (own.name.as_str(), own.place) != (shared.name.as_str(), shared.place))
    });
    all.extend(own);
    all
}

/// The name of a property: that of the parameter, with its place if another one has it already.
///
/// The second `id`, in the query, becomes `id_query`; one more becomes `id_query_2`. Deterministic,
/// as it depends on the order of the parameters alone.
fn free_name(name: &str, place: &str, properties: &Object) -> String {
    let with_place = format!("{name}_{place}");
    let numbered = (2..).map(|n| format!("{name}_{place}_{n}"));
    let mut names = [name.to_owned(), with_place].into_iter().chain(numbered);
    names.find(|name| !properties.contains_key(name)).unwrap_or_else(|| name.to_owned())
}

/// The schema of a parameter, with its description, and the value that it came from.
///
/// A parameter has its schema under `schema` or, for a parameter that is itself a document, under
/// `content`. Without either, any value is accepted. `None` if the budget is spent.
fn parameter_schema<'d>(
    parameter: Node<'d>,
    definitions: &mut Definitions<'d>,
    context: &mut OpenApiSchemas<'d>,
) -> Option<(Json, Node<'d>)> {
    let content = || extract::object(parameter, "content").and_then(json_media_type);
    let node = parameter.get("schema").or_else(|| content().and_then(|media| media.get("schema")));
    let (mut schema, node) = match node {
        Some(node) => (definitions.schema(node, context)?, node),
        None => (json!({}), parameter),
    };
    describe(&mut schema, parameter);
    if parameter.get("deprecated").and_then(Node::boolean) == Some(true)
        && let Json::Object(members) = &mut schema
    {
        members.entry("deprecated").or_insert(Json::Bool(true));
    }
    Some((schema, node))
}

/// Gives a schema without a description that of the object which has it.
fn describe(schema: &mut Json, owner: Node<'_>) {
    if let (Json::Object(members), Some(text)) = (schema, extract::text(owner, "description")) {
        members.entry("description").or_insert(Json::String(text));
    }
}

/// The media type object whose schema describes a value: JSON if there is any, else the first one.
/// Example: of `text/html` and `application/problem+json` the second.
pub(super) fn json_media_type(content: Node<'_>) -> Option<Node<'_>> {
    let members = content.members();
    let is_json = |name: &str| {
        let name = name.split(';').next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case("application/json") || name.ends_with("+json")
    };
    let json = members.iter().find(|member| is_json(member.name()));
    json.or(members.first()).map(|member| member.value).filter(|node| node.kind() == ValueKind::Map)
}
