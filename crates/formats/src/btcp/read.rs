//! BTCP documents into the record.

use std::sync::Arc;

use toolwright_model::{
    Binding, DeclaredLimits, Deprecation, Details, Draft, Example, FieldValue, Provider, Rest,
    Sandbox, Tags, Toolset,
};
use toolwright_source::{
    Document, DocumentPath, Finding, Node, Origin, RecordPath, Severity, ValueKind, words,
};

use super::{CONFIG, CONVENTIONS, EXAMPLE, ID, LIST, MANIFEST, PROVIDER, TOOL, TOOLS};
use crate::findings::Findings;
use crate::{Field, Reading, codes, shape, take};

pub(super) fn read(document: &Arc<Document>) -> Reading {
    let root = document.root();
    let mut findings = Findings::default();
    let mut origin = Origin::whole(document);
    let (toolset, dialect) = if is_manifest(root) {
        shape::object(root, MANIFEST, &mut findings);
        protocol(root, &mut findings);
        (read_manifest(root, &mut origin), take::text(root, "btcp"))
    } else {
        (read_tools(root, &mut origin, &mut findings), None)
    };
    let limits = DeclaredLimits {
        default_concurrent: Some(DeclaredLimits::DEFAULT_CONCURRENT),
        ..toolset.limits
    };
    let toolset = Toolset { conventions: &CONVENTIONS, limits, ..toolset };
    Reading { format: ID, dialect, toolset, origin, findings: findings.into_vec() }
}

/// A manifest that lacks `btcp` is still one, by anything else it says about its tools.
fn is_manifest(root: Node<'_>) -> bool {
    let about_all = |field: &Field| field.name != "tools" && root.has(field.name);
    root.has("btcp") || root.has("tools") && MANIFEST.iter().any(about_all)
}

/// Which protocol it asks for: 1.x is supported, a higher minor version with a warning.
fn protocol(root: Node<'_>, out: &mut Findings) {
    let Some(node) = root.get("btcp") else { return };
    let Some((major, minor)) = node.text().and_then(|text| text.split_once('.')) else { return };
    let number = |digits: &str| digits.parse::<u64>().ok();
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(major) || !all_digits(minor) {
        return;
    }
    let message = format!("`btcp` is `{}`; version 1.0 is supported", words::shorten(node.raw()));
    let finding = Finding::new(&codes::UNSUPPORTED_PROTOCOL, node.pointer(), message);
    match (number(major), number(minor)) {
        (Some(1), Some(0)) => {}
        (Some(1), _) => out.push(finding.severity(Severity::Warning)),
        _ => out.push(finding),
    }
}

fn read_manifest(root: Node<'_>, origin: &mut Origin) -> Toolset<Draft> {
    let mut toolset = Toolset {
        namespace: take::namespace(root, "name"),
        description: take::text(root, "description"),
        version: take::bare_version(root),
        provider: take::object(root, "provider").map(read_provider),
        declares: root
            .get("capabilities")
            .filter(|list| list.kind() == ValueKind::List)
            .map(take::capabilities),
        ..Toolset::default()
    };
    take::note(origin, "/namespace", root.get("name"));
    take::note(origin, "/declares", root.get("capabilities"));
    if let Some(config) = take::object(root, "config") {
        toolset.limits = DeclaredLimits {
            timeout_ms: milliseconds(config),
            max_concurrent: config
                .get("maxConcurrent")
                .and_then(shape::whole)
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| (1..=10).contains(n)),
            sandbox: config
                .get("sandbox")
                .and_then(|node| Sandbox::ALL.into_iter().find(|s| node.text() == Some(s.name()))),
            ..DeclaredLimits::default()
        };
        take::note(origin, "/limits", Some(config));
        for (field, record) in
            [("timeout", "/limits/timeoutMs"), ("maxConcurrent", "/limits/maxConcurrent")]
        {
            take::note(origin, record, config.get(field));
        }
        take::keep_nested(
            config,
            CONFIG,
            &DocumentPath::root().child("config"),
            ID,
            &mut toolset.rest,
        );
    }
    if let Some(provider) = take::object(root, "provider") {
        take::keep_nested(
            provider,
            PROVIDER,
            &DocumentPath::root().child("provider"),
            ID,
            &mut toolset.rest,
        );
    }
    for tool in take::objects(root, "tools") {
        toolset.tools.push(read_tool(tool, toolset.tools.len(), origin));
    }
    take::keep(root, MANIFEST, &DocumentPath::root(), ID, &mut toolset.rest);
    toolset
}

/// One tool, or a list of tools without a manifest around it.
fn read_tools(root: Node<'_>, origin: &mut Origin, findings: &mut Findings) -> Toolset<Draft> {
    let mut toolset = Toolset::default();
    let around = take::object(root, "result").filter(|result| result.has("tools")).unwrap_or(root);
    let list: Vec<Node<'_>> = if around.has("tools") {
        shape::object(around, LIST, findings);
        take::keep(around, LIST, &around.pointer(), ID, &mut toolset.rest);
        take::objects(around, "tools").collect()
    } else if root.kind() == ValueKind::List {
        shape::value(root, root, &TOOLS, findings);
        take::items(root).collect()
    } else {
        shape::object(root, TOOL, findings);
        vec![root]
    };
    for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
        toolset.tools.push(read_tool(node, toolset.tools.len(), origin));
    }
    toolset
}

fn read_provider(node: Node<'_>) -> Provider {
    let text = |name| take::text(node, name);
    Provider { name: text("name"), url: text("url"), contact: text("contact"), icon: text("icon") }
}

fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let at = RecordPath::root().child("tools").child(index);
    if let Some(timeout) = node.get("timeout") {
        origin.note(at.child("limits").child("timeoutMs"), timeout);
    }
    take::note_taken(origin, &at.child("tags"), node.get("tags"), ValueKind::String);
    take::note_taken(origin, &at.child("examples"), node.get("examples"), ValueKind::Map);
    origin.note(at, node);
    let mut rest = Rest::default();
    take::keep(node, TOOL, &DocumentPath::root(), ID, &mut rest);
    Draft {
        name: take::name(node, "name"),
        namespace: FieldValue::Missing,
        description: take::given_text(node, "description"),
        version: FieldValue::Missing,
        input: take::input_schema(node, "inputSchema"),
        output: take::output_schema(node, "outputSchema"),
        needs: node.get("capabilities").map(take::capabilities).unwrap_or_default(),
        details: Details {
            tags: Tags::new(take::texts(node, "tags")),
            examples: take::objects(node, "examples").map(read_example).collect(),
            deprecation: Deprecation {
                deprecated: node.get("deprecated").and_then(Node::boolean).unwrap_or(false),
                message: take::text(node, "deprecationMessage"),
            },
            limits: DeclaredLimits { timeout_ms: milliseconds(node), ..DeclaredLimits::default() },
            binding: Binding::Script,
            rest,
            ..Details::default()
        },
    }
}

fn read_example(node: Node<'_>) -> Example {
    Example {
        description: take::text(node, "description"),
        input: node.get("input").map(Node::to_json),
        output: node.get("output").map(Node::to_json),
        rest: take::unclaimed(node, EXAMPLE),
        ..Example::default()
    }
}

/// A time-out within the bounds; what lies outside was reported and does not hold.
fn milliseconds(parent: Node<'_>) -> Option<u64> {
    let ms = u64::try_from(shape::whole(parent.get("timeout")?)?).ok()?;
    (1_000..=300_000).contains(&ms).then_some(ms)
}
