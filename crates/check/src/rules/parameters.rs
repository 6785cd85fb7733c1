//! The objects of an input schema whose properties are parameters, each with the way to it. Only a
//! walk: what is good or bad about them is told by the rules that use it.

use toolwright_model::{Json, Object};
use toolwright_source::RecordPath;

use crate::Subject;
use crate::subject::{ToolPath, WhichSchema};

/// Names in a message; more would drown it.
const NAMED: usize = 5;

/// One step from a schema into a schema inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'s> {
    /// Of `properties`.
    Property(&'s str),
    /// A keyword that holds one schema for everything inside: `items`, `additionalProperties`.
    All(&'static str),
    /// One of a keyword's list: `prefixItems`, `anyOf`.
    One(&'static str, usize),
    /// Of `$defs` or `definitions`.
    Definition(&'static str, &'s str),
}

/// The way from an input schema to a schema inside it.
pub(super) type Way<'s> = [Step<'s>];

/// The pointer at the end of the way.
pub(super) fn pointer(schema: &RecordPath, way: &Way<'_>) -> RecordPath {
    way.iter().fold(schema.clone(), |at, step| match *step {
        Step::Property(name) => at.child("properties").child(name),
        Step::All(keyword) => at.child(keyword),
        Step::One(keyword, n) => at.child(keyword).child(n),
        Step::Definition(keyword, name) => at.child(keyword).child(name),
    })
}

/// What people call the end of the way: `filter.tags[].name`.
pub(super) fn name(way: &Way<'_>) -> String {
    let mut out = String::new();
    for step in way {
        match *step {
            Step::Property(name) | Step::Definition(_, name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            Step::All("additionalProperties") => {
                out.push_str(if out.is_empty() { "*" } else { ".*" })
            }
            Step::All(_) | Step::One("items" | "prefixItems", _) => out.push_str("[]"),
            Step::One(..) => {}
        }
    }
    out
}

/// The first few names, and how many there are besides.
pub(super) fn list(names: &[String]) -> String {
    let quoted = |name: &String| format!("`{}`", toolwright_source::words::shorten(name));
    let shown: Vec<String> = names.iter().take(NAMED).map(quoted).collect();
    match (names.len().saturating_sub(NAMED), shown.split_last()) {
        (0, Some((last, rest))) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        (0, _) => shown.concat(),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The input schemas of tools that were written in the document and are good ones, with the place
/// of the tool. What stands in for a schema that nobody wrote is not the author's to improve; that
/// is asked only when there is something to report (see [`authored_place`]).
pub(super) fn schemas<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = (usize, &'s Json)> {
    let tools = subject.toolset.tools.iter().enumerate();
    tools.filter_map(|(n, tool)| {
        let schema = WhichSchema::Input.written(tool)?;
        subject.is_good(n, WhichSchema::Input).then_some((n, schema))
    })
}

/// The place of a tool's input schema, if the document has it.
pub(super) fn authored_place(subject: &Subject<'_>, tool: usize) -> Option<RecordPath> {
    let at = ToolPath(tool).child("inputSchema");
    subject.document_value(&at).is_some().then_some(at)
}

/// Visits every schema that may describe an object of parameters: the input schema, what its
/// properties and items hold, and its definitions. Branches of a schema that has properties of its
/// own restate these, so they are left out; so is what only decides (`if`, `not`).
pub(super) fn each<'s>(schema: &'s Json, visit: &mut dyn FnMut(&'s Object, &Way<'s>)) {
    let mut way = Vec::new();
    walk(schema, &mut way, visit);
    for keyword in ["$defs", "definitions"] {
        for (name, definition) in
            schema.get(keyword).and_then(Json::as_object).into_iter().flatten()
        {
            way.push(Step::Definition(keyword, name));
            walk(definition, &mut way, visit);
            way.pop();
        }
    }
}

/// Recursion ends where the nesting of a schema that compiles does.
fn walk<'s>(
    schema: &'s Json,
    way: &mut Vec<Step<'s>>,
    visit: &mut dyn FnMut(&'s Object, &Way<'s>),
) {
    let Json::Object(members) = schema else { return };
    visit(members, way);
    let composed = !members.contains_key("properties");
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties", Json::Object(properties)) => {
                for (name, property) in properties {
                    inside(Step::Property(name), property, way, visit);
                }
            }
            ("items", Json::Object(_)) => inside(Step::All("items"), value, way, visit),
            ("additionalProperties", Json::Object(_)) => {
                inside(Step::All("additionalProperties"), value, way, visit);
            }
            ("items", Json::Array(list)) => each_of("items", list, way, visit),
            ("prefixItems", Json::Array(list)) => each_of("prefixItems", list, way, visit),
            ("anyOf", Json::Array(list)) if composed => each_of("anyOf", list, way, visit),
            ("oneOf", Json::Array(list)) if composed => each_of("oneOf", list, way, visit),
            ("allOf", Json::Array(list)) if composed => each_of("allOf", list, way, visit),
            _ => {}
        }
    }
}

fn each_of<'s>(
    keyword: &'static str,
    list: &'s [Json],
    way: &mut Vec<Step<'s>>,
    visit: &mut dyn FnMut(&'s Object, &Way<'s>),
) {
    for (n, schema) in list.iter().enumerate() {
        inside(Step::One(keyword, n), schema, way, visit);
    }
}

fn inside<'s>(
    step: Step<'s>,
    schema: &'s Json,
    way: &mut Vec<Step<'s>>,
    visit: &mut dyn FnMut(&'s Object, &Way<'s>),
) {
    way.push(step);
    walk(schema, way, visit);
    way.pop();
}
