//! The tables of OpenAPI, as far as a tool is made of it. Objects that may be references are
//! checked in code: a `$ref` stands in place of all their fields.
//!
//! What is in no tool (`servers`, `security`, `callbacks`) is listed as well, so that it is not
//! reported as unknown, and is not looked into.
//!
//! `since` names the version of OpenAPI that introduced a field; a document of an older version may
//! have it all the same.

use toolwright_source::{Node, ValueKind};

use crate::field::{CustomCheck, Field, FieldKind, TEXT, TEXTS, choice, optional, required};
use crate::findings::FindingList;
use crate::function_tools::check_items;
use crate::shape;

/// The methods whose operations are tools, in the order of the specification. Members of a path
/// item with other names are no operations.
pub(super) const METHODS: [&str; 9] =
    ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The root of a document.
pub(super) static ROOT: &[Field] = &[
    required("openapi", TEXT, "the version of OpenAPI, such as `3.1.0`"),
    required("info", FieldKind::Object(INFO), "what the API is called"),
    optional("jsonSchemaDialect", TEXT, "the dialect of its schemas").since("3.1"),
    optional("servers", ANY_LIST, "where the API is"),
    optional("paths", FieldKind::Map(&FieldKind::Object(PATH_ITEM)), "the operations, by path"),
    optional("webhooks", FieldKind::Any, "requests that the API makes").since("3.1"),
    optional("components", FieldKind::Map(&FieldKind::Any), "what the document refers to"),
    optional("security", ANY_LIST, "what a request must prove"),
    optional("tags", ANY_LIST, "descriptions of tags"),
    optional("externalDocs", FieldKind::Any, "where to read more"),
];

/// What the API is called. `version` is that of the API, any text.
pub(super) static INFO: &[Field] = &[
    required("title", TEXT, "the name of the API"),
    optional("summary", TEXT, "a short summary").since("3.1"),
    optional("description", TEXT, "what the API is for"),
    optional("termsOfService", TEXT, "the URL of its terms"),
    optional("contact", FieldKind::Any, "whom to ask"),
    optional("license", FieldKind::Any, "its licence"),
    required("version", TEXT, "the version of the API"),
];

/// The operations of one path. Its keys are a closed set, so a misspelled method is reported.
static PATH_ITEM: &[Field] = &[
    optional("$ref", TEXT, "another path item"),
    optional("summary", TEXT, "what all its operations are about"),
    optional("description", TEXT, "what all its operations are about, at length"),
    optional("get", OPERATION_KIND, "the operation for GET"),
    optional("put", OPERATION_KIND, "the operation for PUT"),
    optional("post", OPERATION_KIND, "the operation for POST"),
    optional("delete", OPERATION_KIND, "the operation for DELETE"),
    optional("options", OPERATION_KIND, "the operation for OPTIONS"),
    optional("head", OPERATION_KIND, "the operation for HEAD"),
    optional("patch", OPERATION_KIND, "the operation for PATCH"),
    optional("trace", OPERATION_KIND, "the operation for TRACE"),
    optional("query", OPERATION_KIND, "the operation for QUERY").since("3.2"),
    optional("servers", ANY_LIST, "where these operations are"),
    optional("parameters", PARAMETERS, "the parameters of all its operations"),
];

const OPERATION_KIND: FieldKind = FieldKind::Object(OPERATION);

/// An operation, which is a tool.
pub(super) static OPERATION: &[Field] = &[
    optional("tags", TEXTS, "words to find it by"),
    optional("summary", TEXT, "what it does, in a few words"),
    optional("description", TEXT, "what it does"),
    optional("externalDocs", FieldKind::Any, "where to read more"),
    optional("operationId", TEXT, "what it is called by"),
    optional("parameters", PARAMETERS, "its parameters"),
    optional("requestBody", FieldKind::Map(&FieldKind::Any), "the body of the request"),
    optional("responses", FieldKind::Map(&FieldKind::Any), "the results, by status"),
    optional("callbacks", FieldKind::Any, "requests that the API makes"),
    optional("deprecated", FieldKind::Boolean, "whether it should no longer be used"),
    optional("security", ANY_LIST, "what a request must prove"),
    optional("servers", ANY_LIST, "where this operation is"),
];

/// A parameter that is not a reference. `schema` and `content` exclude each other; a parameter with
/// neither accepts any value.
pub(super) static PARAMETER: &[Field] = &[
    required("name", TEXT, "the name of the parameter"),
    required(
        "in",
        choice(&["query", "header", "path", "cookie", "querystring"]),
        "where in the request it is",
    ),
    optional("description", TEXT, "what it is"),
    optional("required", FieldKind::Boolean, "whether it must be there"),
    optional("deprecated", FieldKind::Boolean, "whether it should no longer be used"),
    optional("allowEmptyValue", FieldKind::Boolean, "whether it may be empty"),
    optional("schema", FieldKind::Any, "the schema of its value"),
    optional("content", FieldKind::Map(&FieldKind::Any), "its schema by media type"),
    optional("style", TEXT, "how lists and objects are written"),
    optional("explode", FieldKind::Boolean, "whether each item is a parameter of its own"),
    optional("allowReserved", FieldKind::Boolean, "whether reserved characters stay"),
    optional("example", FieldKind::Any, "an example of its value"),
    optional("examples", FieldKind::Any, "examples of its value"),
];

/// A list that the record does not look into.
const ANY_LIST: FieldKind = FieldKind::List { of: &FieldKind::Any, min: 0 };

/// Parameters and references to parameters.
const PARAMETERS: FieldKind =
    FieldKind::Custom { expects: "a list of parameters", check: CustomCheck(parameters) };

/// A parameter or a reference to one.
const PARAMETER_OR_REFERENCE: FieldKind =
    FieldKind::Custom { expects: "a parameter", check: CustomCheck(parameter) };

/// Checks a list whose items are parameters or references.
fn parameters(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        ValueKind::List => check_items(node, &PARAMETER_OR_REFERENCE, out),
        _ => shape::report_wrong_type(node, "a list", out),
    }
}

/// Checks a parameter. A reference has none of its fields, and the reader reports one that leads
/// nowhere. Its other members are not looked at.
fn parameter(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if !node.has("$ref") {
        shape::check_object(node, PARAMETER, out);
    }
}
