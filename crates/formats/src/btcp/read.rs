//! Reads BTCP documents into the record: a manifest, one tool, or a list of tools. Only a manifest
//! has a namespace, a version and declared capabilities; tools by themselves become a toolset
//! without any.
//!
//! ```text
//! {btcp, name, tools: […]}        ─ MANIFEST ─▶ read_manifest ─┐
//! {result: {tools: […]}}          ─ LIST ─┐                    ├─▶ read_tool ─▶ Draft
//! […]                             ─ TOOLS ┼─▶ read_tools ──────┘
//! {name, inputSchema}             ─ TOOL ─┘
//! ```

use std::sync::Arc;

use toolwright_model::{
    Binding, DeclaredLimits, Deprecation, Details, Draft, Example, FieldValue, Provider, Rest,
    Sandbox, Tags, Toolset,
};
use toolwright_source::{
    Document, DocumentPath, Finding, Node, Origin, RecordPath, Severity, ValueKind, words,
};

use super::{CONFIG, CONVENTIONS, EXAMPLE, ID, LIST, MANIFEST, PROVIDER, TOOL, TOOLS};
use crate::findings::FindingList;
use crate::{Field, Reading, codes, extract, shape};

/// Reads a document in any of the forms. The dialect is the version of the protocol, as it is
/// written.
pub(super) fn read(document: &Arc<Document>) -> Reading {
    let root = document.root();
    let mut findings = FindingList::default();
    let mut origin = Origin::whole(document);
    let (toolset, dialect) = if is_manifest(root) {
        shape::check_object(root, MANIFEST, &mut findings);
        check_protocol(root, &mut findings);
        (read_manifest(root, &mut origin), extract::text(root, "btcp"))
    } else {
        (read_tools(root, &mut origin, &mut findings), None)
    };
    // BTCP has a default for `maxConcurrent`, where other formats leave the number of calls
    // unlimited.
    let limits = DeclaredLimits {
        default_concurrent: Some(DeclaredLimits::DEFAULT_CONCURRENT),
        ..toolset.limits
    };
    let toolset = Toolset { conventions: &CONVENTIONS, limits, ..toolset };
    Reading { format: ID, dialect, toolset, origin, findings: findings.into_vec() }
}

/// Whether the document is a manifest. One that lacks `btcp` is recognised by any other field that
/// only manifests have, so that the missing version is reported and not a dozen wrong fields.
/// `tools` beside a `name` is a manifest; `tools` alone is a list.
fn is_manifest(root: Node<'_>) -> bool {
    // `tools` alone proves nothing: a plain list of tools has it, too.
    let about_all = |field: &Field| field.name != "tools" && root.has(field.name);
    root.has("btcp") || root.has("tools") && MANIFEST.iter().any(about_all)
}

/// Reports an unsupported version of the protocol. 1.0 is supported; a higher minor version is only
/// a warning, because minor versions add optional fields, which are read as unknown ones.
///
/// ```text
/// 1.0    fine
/// 1.3    a warning
/// 2.0    an error; the document is read all the same
/// one    not here: the pattern reports it
/// ```
fn check_protocol(root: Node<'_>, out: &mut FindingList) {
    let Some(node) = root.get("btcp") else { return };
    let Some((major, minor)) = node.text().and_then(|text| text.split_once('.')) else { return };
    // `None` for more digits than fit, which is a version that does not exist.
    let number = |digits: &str| digits.parse::<u64>().ok();
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    // `shape` has reported a value that does not match the pattern.
    if !all_digits(major) || !all_digits(minor) {
        return;
    }
    let message = format!("`btcp` is `{}`; version 1.0 is supported", words::shorten(node.raw()));
    let finding = Finding::new(&codes::UNSUPPORTED_PROTOCOL, node.pointer(), message);
    match (number(major), number(minor)) {
        (Some(1), Some(0)) => {}
        (Some(1), _) => out.push(finding.severity(Severity::Warning)),
        // Another major version may have changed the meaning of fields that are known here. The
        // document is read all the same.
        _ => out.push(finding),
    }
}

/// The toolset of a manifest.
///
/// Values out of range are left out of the record, and the defaults apply: a mistake must not raise
/// a limit.
fn read_manifest(root: Node<'_>, origin: &mut Origin) -> Toolset<Draft> {
    let mut toolset = Toolset {
        namespace: extract::namespace(root, "name"),
        description: extract::text(root, "description"),
        version: extract::bare_version(root),
        provider: extract::object(root, "provider").map(read_provider),
        // `None` if the list is absent or not a list: a manifest that declares nothing, `[]`, is
        // something else, because its tools must not need anything.
        declares: root
            .get("capabilities")
            .filter(|list| list.kind() == ValueKind::List)
            .map(extract::capabilities),
        ..Toolset::default()
    };
    extract::note_if_present(origin, "/namespace", root.get("name"));
    extract::note_if_present(origin, "/declares", root.get("capabilities"));
    if let Some(config) = extract::object(root, "config") {
        toolset.limits = DeclaredLimits {
            timeout_ms: milliseconds(config),
            max_concurrent: config
                .get("maxConcurrent")
                .and_then(shape::as_integer)
                // Negative numbers have been reported.
                .and_then(|n| u32::try_from(n).ok())
                // A value out of range has been reported; the default applies.
                .filter(|n| (1..=10).contains(n)),
            sandbox: config
                .get("sandbox")
                .and_then(|node| Sandbox::ALL.into_iter().find(|s| node.text() == Some(s.name()))),
            ..DeclaredLimits::default()
        };
        extract::note_if_present(origin, "/limits", Some(config));
        // The names differ between document and record, so `Origin` cannot find these without a
        // note.
        for (field, record) in
            [("timeout", "/limits/timeoutMs"), ("maxConcurrent", "/limits/maxConcurrent")]
        {
            extract::note_if_present(origin, record, config.get(field));
        }
        extract::keep_unknown_nested(
            config,
            CONFIG,
            &DocumentPath::root().child("config"),
            ID,
            &mut toolset.rest,
        );
    }
    // Unknown members of these two sections are kept under their own pointers.
    if let Some(provider) = extract::object(root, "provider") {
        extract::keep_unknown_nested(
            provider,
            PROVIDER,
            &DocumentPath::root().child("provider"),
            ID,
            &mut toolset.rest,
        );
    }
    for tool in extract::objects(root, "tools") {
        toolset.tools.push(read_tool(tool, toolset.tools.len(), origin));
    }
    extract::keep_unknown(root, MANIFEST, &DocumentPath::root(), ID, &mut toolset.rest);
    // Only BTCP has it, so that it has no place in the record.
    if let Some(origins) = root.get("match") {
        toolset.rest.keep(ID, "/match", origins.to_json());
    }
    toolset
}

/// The toolset of one tool, or of a list of tools without a manifest around it. An unknown member
/// of the list itself is kept, one of the response around it is not.
fn read_tools(root: Node<'_>, origin: &mut Origin, findings: &mut FindingList) -> Toolset<Draft> {
    let mut toolset = Toolset::default();
    // A list may come as the result of a JSON-RPC response, `{"result": {"tools": […]}}`.
    let around =
        extract::object(root, "result").filter(|result| result.has("tools")).unwrap_or(root);
    let list: Vec<Node<'_>> = if around.has("tools") {
        shape::check_object(around, LIST, findings);
        extract::keep_unknown(around, LIST, &around.pointer(), ID, &mut toolset.rest);
        extract::objects(around, "tools").collect()
    } else if root.kind() == ValueKind::List {
        shape::check_value(root, root, &TOOLS, findings);
        extract::items(root).collect()
    } else {
        shape::check_object(root, TOOL, findings);
        vec![root]
    };
    // An item that is not an object was reported. It has no number in the record, so the notes of
    // `read_tool` count without it.
    for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
        toolset.tools.push(read_tool(node, toolset.tools.len(), origin));
    }
    toolset
}

/// The provider, without the fields that are not strings.
fn read_provider(node: Node<'_>) -> Provider {
    let text = |name| extract::text(node, name);
    Provider { name: text("name"), url: text("url"), contact: text("contact"), icon: text("icon") }
}

/// One tool. `index` is its place in the toolset.
fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let at = RecordPath::root().child("tools").child(index);
    if let Some(timeout) = node.get("timeout") {
        origin.note(at.child("limits").child("timeoutMs"), timeout);
    }
    // Tags that are not texts, and examples that are not objects, are left out of the record, so
    // the positions behind them differ from those in the document.
    extract::note_filtered_items(origin, &at.child("tags"), node.get("tags"), ValueKind::String);
    extract::note_filtered_items(
        origin,
        &at.child("examples"),
        node.get("examples"),
        ValueKind::Map,
    );
    origin.note(at, node);
    let mut rest = Rest::default();
    extract::keep_unknown(node, TOOL, &DocumentPath::root(), ID, &mut rest);
    Draft {
        name: extract::name(node, "name"),
        // A tool of a manifest has the namespace and the version of the manifest.
        namespace: FieldValue::Missing,
        description: extract::non_blank_text(node, "description"),
        version: FieldValue::Missing,
        input: extract::input_schema(node, "inputSchema"),
        output: extract::output_schema(node, "outputSchema"),
        needs: node.get("capabilities").map(extract::capabilities).unwrap_or_default(),
        details: Details {
            tags: Tags::new(extract::texts(node, "tags")),
            examples: extract::objects(node, "examples").map(read_example).collect(),
            deprecation: Deprecation {
                // Only `true` counts. A text such as "yes" was reported.
                deprecated: node.get("deprecated").and_then(Node::boolean).unwrap_or(false),
                message: extract::text(node, "deprecationMessage"),
            },
            limits: DeclaredLimits { timeout_ms: milliseconds(node), ..DeclaredLimits::default() },
            // The body is a JavaScript file beside the manifest, which the loader looks for.
            binding: Binding::Script,
            rest,
            ..Details::default()
        },
    }
}

/// An example of a call.
fn read_example(node: Node<'_>) -> Example {
    Example {
        description: extract::text(node, "description"),
        input: node.get("input").map(Node::to_json),
        output: node.get("output").map(Node::to_json),
        rest: extract::members_outside(node, EXAMPLE),
        ..Example::default()
    }
}

/// A time-out within the bounds. One outside of them has been reported, and the default applies:
/// clamping it would run the tool with a limit that the author did not choose.
fn milliseconds(parent: Node<'_>) -> Option<u64> {
    let ms = u64::try_from(shape::as_integer(parent.get("timeout")?)?).ok()?;
    (1_000..=300_000).contains(&ms).then_some(ms)
}
