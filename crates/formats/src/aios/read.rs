//! AIOS documents into the record: a toolset whose namespace is the tool's id.

use std::sync::Arc;

use toolwright_model::{Draft, Namespace, Rest, Toolset};
use toolwright_source::{Document, Finding, Kind, Node, Origin, words};

use super::fields::{CLI, COMPLEXITY, EXECUTABLE, HEALTH, LOCAL, MCP, META, ROOT, TOOL};
use super::{ID, commands, knowledge, version};
use crate::findings::Findings;
use crate::{Reading, codes, shape, take};

pub(super) fn read(document: &Arc<Document>) -> Reading {
    let mut findings = Findings::default();
    let mut origin = Origin::whole(document);
    let root = document.root();
    let tool = root_tool(root, &mut findings);
    let version = version::of(tool);
    shape::object(tool, TOOL, &mut findings);
    let toolset = read_tool(tool, &mut origin, &mut findings);
    Reading {
        format: ID,
        dialect: Some(version.name().to_owned()),
        toolset,
        origin,
        findings: findings.into_vec(),
    }
}

/// The value of `tool:`, or the root itself where that is left out.
fn root_tool<'d>(root: Node<'d>, out: &mut Findings) -> Node<'d> {
    let Some(tool) = root.get("tool") else {
        let message = "the root key `tool` is missing";
        let finding =
            Finding::new(&codes::MISSING_REQUIRED_FIELD, root.pointer().child("tool"), message);
        out.push(finding.help("indent everything under `tool:`").tolerable());
        return root;
    };
    for entry in
        root.entries().iter().filter(|entry| ROOT.iter().all(|field| field.name != entry.name()))
    {
        if out.is_full() {
            break;
        }
        let message = format!("root key `{}` beside `tool`", words::shorten(entry.name()));
        let finding = Finding::new(&codes::EXTRA_ROOT_KEY, entry.value.pointer(), message).on_key();
        out.push(finding.help("everything but `tool` belongs under it").tolerable());
    }
    tool
}

fn read_tool(tool: Node<'_>, origin: &mut Origin, findings: &mut Findings) -> Toolset<Draft> {
    let mut toolset = Toolset {
        namespace: take::namespace(tool, "id"),
        title: take::text(tool, "name"),
        description: take::text(tool, "description"),
        version: take::bare_version(tool),
        knowledge: knowledge::read(tool, origin),
        ..Toolset::default()
    };
    for (record, field) in [("", None), ("/namespace", Some("id")), ("/title", Some("name"))] {
        take::note(origin, record, field.map_or(Some(tool), |name| tool.get(name)));
    }
    if let Some(id) = tool.get("id").filter(|_| toolset.namespace.is_bad())
        && let Some(Err(error)) = id.text().map(Namespace::parse)
    {
        let message =
            format!("`{}` cannot start the ids of tools: {error}", words::shorten(id.raw()));
        findings.push(Finding::new(&codes::INVALID_PATTERN, id.pointer(), message));
    }
    commands::read(tool, &mut toolset, origin, findings);
    // Only prose stays behind: everything else of the table is in the record.
    for field in ["schema_version", "type", "capabilities"] {
        if let Some(node) = tool.get(field).filter(|node| node.kind() != Kind::Null) {
            toolset.rest.keep(ID, field, node.to_json());
        }
    }
    take::keep(tool, TOOL, ID, &mut toolset.rest);
    keep_sections(tool, &mut toolset.rest);
    keep_root(tool, &mut toolset.rest);
    toolset
}

/// What the sections hold beyond their tables, and the sections of other types as they are.
fn keep_sections(tool: Node<'_>, rest: &mut Rest) {
    let kind = tool.get("type").and_then(Node::text);
    for (own, name, fields) in [
        ("mcp", "mcp_specific", MCP),
        ("cli", "cli_specific", CLI),
        ("local", "local_specific", LOCAL),
        ("meta", "meta_specific", META),
    ] {
        match take::object(tool, name) {
            Some(section) if kind == Some(own) => {
                take::keep_within(section, fields, name, ID, rest)
            }
            Some(section) => rest.keep(ID, name, section.to_json()),
            None => {}
        }
    }
    for (name, fields) in [
        ("executable_knowledge", EXECUTABLE),
        ("api_complexity", COMPLEXITY),
        ("health_check", HEALTH),
    ] {
        let section = take::object(tool, name);
        let unclaimed = section.map(|section| take::unclaimed(section, fields)).unwrap_or_default();
        unclaimed
            .into_iter()
            .for_each(|(member, value)| rest.keep(ID, format!("{name}.{member}"), value));
    }
}

/// Keys beside `tool:` are kept too, under a name that says where they stood.
fn keep_root(tool: Node<'_>, rest: &mut Rest) {
    let Some(root) = tool.parent() else { return };
    for entry in root.entries().iter().filter(|entry| entry.name() != "tool") {
        rest.keep(ID, format!("/{}", entry.name()), entry.value.to_json());
    }
}
