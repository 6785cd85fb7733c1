//! Reads AIOS documents into the record: a toolset whose namespace is the id of the tool. The
//! commands and the knowledge sections have files of their own.
//!
//! ```text
//! root ─ root_tool ─▶ tool ─┬─ version: by `schema_version`, else by its sections
//!                           ├─ shape: all findings about single values
//!                           └─ read_tool ─▶ Toolset: id, name, …, knowledge, commands
//! ```

use std::sync::Arc;

use toolwright_model::{Draft, Namespace, Rest, Toolset};
use toolwright_source::{Document, DocumentPath, Finding, Node, Origin, ValueKind, words};

use super::fields::{
    API_COMPLEXITY, CLI_SECTION, EXECUTABLE_KNOWLEDGE, HEALTH_CHECK, LOCAL_SECTION, MCP_SECTION,
    META_SECTION, ROOT, TOOL,
};
use super::{CONVENTIONS, ID, commands, knowledge, version};
use crate::findings::FindingList;
use crate::{Reading, codes, extract, shape};

/// Reads a document of either version: the tool under the root key `tool`, or at the root. The
/// version becomes the dialect. It does not change what is read: it decides which checks apply.
pub(super) fn read(document: &Arc<Document>) -> Reading {
    let mut findings = FindingList::default();
    let mut origin = Origin::whole(document);
    let root = document.root();
    let tool = root_tool(root, &mut findings);
    let version = version::detect_version(tool);
    // The shape first. Everything after it reads leniently, because each mistake has been reported
    // by now.
    shape::check_object(tool, TOOL, &mut findings);
    let toolset = read_tool(tool, &mut origin, &mut findings);
    Reading {
        format: ID,
        dialect: Some(version.name().to_owned()),
        toolset,
        origin,
        findings: findings.into_vec(),
    }
}

/// The value of `tool:`. Many published files leave out that key and start with its members, so the
/// root itself is read as the tool then, with a finding that is only a warning with `--compat`.
/// Keys beside `tool` are reported and not read.
fn root_tool<'d>(root: Node<'d>, out: &mut FindingList) -> Node<'d> {
    let Some(tool) = root.get("tool") else {
        let message = "the root key `tool` is missing";
        let finding =
            Finding::new(&codes::MISSING_REQUIRED_FIELD, root.pointer().child("tool"), message);
        out.push(finding.help("indent everything under `tool:`").tolerable());
        return root;
    };
    for member in
        root.members().iter().filter(|member| ROOT.iter().all(|field| field.name != member.name()))
    {
        // A hostile document may have a million keys beside `tool`.
        if out.is_full() {
            break;
        }
        let message = format!("root key `{}` beside `tool`", words::shorten(member.name()));
        let finding =
            Finding::new(&codes::EXTRA_ROOT_KEY, member.value.pointer(), message).on_key();
        out.push(finding.help("everything but `tool` belongs under it").tolerable());
    }
    tool
}

/// The toolset, and findings that need a parser and not a table. Where a part of the record has
/// another name or place than in the document, that is noted in `origin`.
fn read_tool(tool: Node<'_>, origin: &mut Origin, findings: &mut FindingList) -> Toolset<Draft> {
    let mut toolset = Toolset {
        // An AIOS document is one tool to its author. In the record it is a toolset, because its
        // commands are what an agent calls: `notes:add_note`.
        namespace: extract::namespace(tool, "id"),
        title: extract::text(tool, "name"),
        description: extract::text(tool, "description"),
        version: extract::bare_version(tool),
        knowledge: knowledge::read(tool, origin),
        conventions: &CONVENTIONS,
        ..Toolset::default()
    };
    // The record's root is the tool and not the document's root, and `id` and `name` are called
    // `namespace` and `title` there. Parts with the same name are found without a note.
    for (record, field) in [("", None), ("/namespace", Some("id")), ("/title", Some("name"))] {
        extract::note_if_present(origin, record, field.map_or(Some(tool), |name| tool.get(name)));
    }
    // The table accepts any text as an id, but as a namespace it must not have `:` or white space.
    if let Some(id) = tool.get("id").filter(|_| toolset.namespace.is_invalid())
        && let Some(Err(error)) = id.text().map(Namespace::parse)
    {
        let message =
            format!("`{}` cannot start the ids of tools: {error}", words::shorten(id.raw()));
        findings.push(Finding::new(&codes::INVALID_PATTERN, id.pointer(), message));
    }
    commands::read(tool, &mut toolset, origin, findings);
    let at = tool.pointer();
    // In the table but not in the record: kept, so that writing the document back loses nothing.
    for field in ["schema_version", "type", "capabilities"] {
        if let Some(node) = tool.get(field).filter(|node| node.kind() != ValueKind::Null) {
            toolset.rest.keep(ID, at.child(field).as_str(), node.to_json());
        }
    }
    extract::keep_unknown(tool, TOOL, &at, ID, &mut toolset.rest);
    keep_sections(tool, &at, &mut toolset.rest);
    keep_root(tool, &mut toolset.rest);
    toolset
}

/// Keeps what the sections hold beyond their tables. A section of another type than the tool's own
/// does not take effect, and is kept as a whole.
fn keep_sections(tool: Node<'_>, at: &DocumentPath, rest: &mut Rest) {
    let kind = tool.get("type").and_then(Node::text);
    // A document may have the sections of several types, for instance after its type was changed.
    for (own, name, fields) in [
        ("mcp", "mcp_specific", MCP_SECTION),
        ("cli", "cli_specific", CLI_SECTION),
        ("local", "local_specific", LOCAL_SECTION),
        ("meta", "meta_specific", META_SECTION),
    ] {
        match extract::object(tool, name) {
            // The record has most of the tool's own section, in the bindings of its commands.
            Some(section) if kind == Some(own) => {
                extract::keep_unknown_nested(section, fields, &at.child(name), ID, rest)
            }
            // The section of another type: kept as it is.
            Some(section) => rest.keep(ID, at.child(name).as_str(), section.to_json()),
            None => {}
        }
    }
    // Sections that do not belong to one type. Only their unknown members are kept.
    for (name, fields) in [
        ("executable_knowledge", EXECUTABLE_KNOWLEDGE),
        ("api_complexity", API_COMPLEXITY),
        ("health_check", HEALTH_CHECK),
    ] {
        if let Some(section) = extract::object(tool, name) {
            extract::keep_unknown(section, fields, &at.child(name), ID, rest);
        }
    }
}

/// Keeps the keys beside `tool:`. A tool without that key has no parent, and nothing beside it.
fn keep_root(tool: Node<'_>, rest: &mut Rest) {
    let Some(root) = tool.parent() else { return };
    for member in root.members().iter().filter(|member| member.name() != "tool") {
        let at = DocumentPath::root().child(member.name());
        rest.keep(ID, at.as_str(), member.value.to_json());
    }
}
