//! What must hold for any input. The fuzz targets are one line each over this.

use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_check::{Subject, check, silence};
use toolwright_formats::{by_name, detect};
use toolwright_schema::Schema;
use toolwright_script::ParseGoal;
use toolwright_source::{
    Document, Edit, Kind, Node, Origin, Pointer, Syntax, locate, plan, render, splice,
};

/// Our JSON parser accepts what serde_json accepts, and reads the same values.
pub fn json(data: &[u8]) {
    let document = whole(data, Syntax::Json);
    let ours = clean(&document);
    let theirs = serde_json::from_slice::<Json>(data);
    // serde_json takes duplicate keys, refuses numbers beyond f64 and stops at another depth.
    if ours {
        match theirs {
            Ok(value) => assert_eq!(document.root().to_json(), value),
            Err(error) => assert!(
                error.to_string().contains("out of range")
                    || error.to_string().contains("recursion")
                    || data.starts_with(b"\xEF\xBB\xBF")
            ),
        }
    } else if theirs.is_ok() {
        let tolerated = ["DUPLICATE_KEY", "TOO_DEEP", "TOO_LARGE"];
        assert!(
            document
                .problems()
                .iter()
                .all(|p| p.code.severity < toolwright_source::Severity::Error
                    || tolerated.contains(&p.code.name))
        );
    }
}

/// Any text is read as JavaScript without harm, and every place lies in it.
pub fn script(data: &[u8]) {
    let Ok(code) = std::str::from_utf8(data) else { return };
    for goal in [ParseGoal::Function, ParseGoal::Module, ParseGoal::File] {
        let script = toolwright_script::read(code, goal, &[]);
        let ranges = script.problems.iter().map(|problem| &problem.range);
        let ranges = ranges.chain(script.forbidden.iter().map(|used| &used.range));
        for range in
            ranges.chain(script.free.iter().map(|free| &free.range)).chain(&script.returns.wrong)
        {
            assert!(code.get(range.clone()).is_some(), "{range:?} lies in the code");
        }
    }
}

/// Any page becomes Markdown within the bounds, twice the same, with all links absolute or as they
/// were.
pub fn html(data: &[u8]) {
    let text = toolwright_web::decode(data.to_vec());
    let options = toolwright_web::Options {
        max_depth: 64,
        max_nodes: 20_000,
        ..toolwright_web::Options::default()
    };
    let Ok(document) = toolwright_web::Document::parse(&text, &options) else { return };
    let first = document.to_markdown(None, &options);
    assert_eq!(first, document.to_markdown(None, &options));
    if let Ok(markdown) = first {
        assert!(!markdown.ends_with('\n') && markdown.len() <= options.max_output + text.len());
    }
}

/// Any text is read as YAML without harm.
pub fn yaml(data: &[u8]) {
    whole(data, Syntax::Yaml);
}

/// Any text is read as `format` and checked without harm, in both languages.
pub fn reader(data: &[u8], format: &str) {
    for syntax in [Syntax::Json, Syntax::Yaml] {
        let document = whole(data, syntax);
        let _ = detect(&document);
        let reading = by_name(format).expect("a format").read(&document);
        let origin = Origin::whole(&document);
        let subject = Subject::new(
            reading.format,
            reading.dialect.as_deref(),
            &reading.toolset,
            &reading.origin,
        );
        let mut found: Vec<_> =
            check(&subject).into_iter().map(|finding| locate(finding, &origin)).collect();
        found.iter().take(4).for_each(show);
        silence(&document, &mut found, toolwright_check::codes());
        for (n, finding) in reading.findings.into_iter().enumerate() {
            let diagnostic = locate(finding, &origin);
            // Rendering is most of the time; a few of each document are enough.
            if n < 4 {
                show(&diagnostic);
            }
        }
        for (pointer, _) in reading.origin.parts() {
            let _ = reading.origin.place(pointer);
        }
        for tool in reading.toolset.tools {
            let _ = tool.finish();
        }
    }
}

/// An edit of a clean document does to the text what it does to the value.
pub fn edit(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else { return };
    let syntax = if choice & 1 == 0 { Syntax::Json } else { Syntax::Yaml };
    let document = whole(data, syntax);
    // Aliases make one place of the text many places of the value.
    if !document.problems().is_empty() || document.source().text().contains(['*', '&']) {
        return;
    }
    let mut nodes = Vec::new();
    collect(document.root(), &mut nodes);
    let node = nodes[usize::from(choice >> 3) % nodes.len()];
    let pointer = node.pointer();
    let edit = match choice >> 1 & 3 {
        0 => Edit::Replace(pointer.clone(), Json::from("new: value")),
        1 => Edit::Remove(pointer.clone()),
        2 => Edit::RenameKey(pointer.clone(), "new key".into()),
        _ if node.kind() == Kind::List => Edit::Insert(pointer.child("-"), Json::from("new")),
        _ => Edit::Insert(pointer.child("new"), Json::from(1)),
    };
    let before = document.root().to_json();
    let Ok(edits) = plan(&document, std::slice::from_ref(&edit)) else { return };
    let text = splice(document.source().text(), &edits);
    let after = Document::parse("edited", text.clone(), syntax);
    let problems: Vec<_> = after.problems().iter().map(render::concise).collect();
    assert!(
        problems.is_empty(),
        "{edit:?} of {:?} gave {text:?}: {problems:?}",
        document.source().text()
    );
    if let Some(expected) = applied(before, &edit) {
        assert_eq!(
            after.root().to_json(),
            expected,
            "{edit:?} of {:?} gave {text:?}",
            document.source().text()
        );
    }
}

/// A schema and an instance end in an answer.
pub fn schema(data: &[u8]) {
    let document = whole(data, Syntax::Json);
    let root = document.root();
    if let (Some(schema), Some(instance)) = (root.get("schema"), root.get("instance")) {
        if let Ok(schema) = Schema::compile(&schema.to_json()) {
            let instance = instance.to_json();
            assert_eq!(schema.is_valid(&instance), schema.validate(&instance).is_ok());
        }
    }
}

fn whole(data: &[u8], syntax: Syntax) -> Arc<Document> {
    let document = Arc::new(Document::parse("fuzz", data, syntax));
    let text = document.source().text();
    let mut nodes = Vec::new();
    collect(document.root(), &mut nodes);
    for node in nodes {
        assert!(text.get(node.span().range()).is_some());
        let _ = node.byte_at(node.raw().len() / 2);
    }
    for problem in document.problems().iter().take(4) {
        show(problem);
    }
    let _ = document.root().to_json();
    document
}

fn clean(document: &Document) -> bool {
    document.problems().iter().all(|p| p.severity < toolwright_source::Severity::Error)
}

fn collect<'d>(node: Node<'d>, out: &mut Vec<Node<'d>>) {
    out.push(node);
    if out.len() > 500 {
        return;
    }
    node.items().for_each(|item| collect(item, out));
    node.entries().iter().for_each(|entry| collect(entry.value, out));
}

fn show(diagnostic: &toolwright_source::Diagnostic) {
    let text = diagnostic.source.text();
    if let Some(span) = diagnostic.span {
        assert!(span.end as usize <= text.len());
    }
    let _ = (render::concise(diagnostic), render::json(diagnostic));
    let _ = render::full(diagnostic, render::Colour::Off);
}

/// What the edit does to the value.
fn applied(mut value: Json, edit: &Edit) -> Option<Json> {
    let split =
        |pointer: &Pointer| Some((pointer.parent()?.to_string(), pointer.last()?.into_owned()));
    match edit {
        Edit::Replace(at, new) => *value.pointer_mut(at.as_str())? = new.clone(),
        Edit::Insert(at, new) => {
            let (parent, name) = split(at)?;
            match value.pointer_mut(&parent)? {
                Json::Array(items) => items.push(new.clone()),
                Json::Object(map) => drop(map.insert(name, new.clone())),
                _ => return None,
            }
        }
        Edit::Remove(at) => {
            let (parent, name) = split(at)?;
            match value.pointer_mut(&parent)? {
                Json::Array(items) => drop(items.remove(name.parse().ok()?)),
                Json::Object(map) => drop(map.shift_remove(&name)?),
                _ => return None,
            }
        }
        Edit::RenameKey(at, new) => {
            let (parent, name) = split(at)?;
            let map = value.pointer_mut(&parent)?.as_object_mut()?;
            let old = map.shift_remove(&name)?;
            if map.insert(new.clone(), old).is_some() {
                return None;
            }
        }
    }
    Some(value)
}
