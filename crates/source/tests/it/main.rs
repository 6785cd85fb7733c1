//! The public API of the crate: parse text, locate pointers, edit by pointer, render diagnostics.

mod answers;
mod edits;
mod generate;
mod github;
mod grouped;
mod hostile_documents;
mod json;
mod origin;
mod render;
mod sarif;
mod textmap;
mod yaml;

use toolwright_source::{
    Diagnostic, Document, DocumentPath, Node, Severity, Span, Syntax, render as forms,
};

fn parse(text: &str, syntax: Syntax) -> Document {
    Document::parse("doc", text, syntax)
}

fn pointer(text: &str) -> DocumentPath {
    DocumentPath::parse(text).expect("a JSON pointer")
}

/// `line:column CODE message`, as the tables write it.
fn brief(problem: &Diagnostic) -> String {
    let (line, column) = problem.line_column().expect("problems of a text have a place");
    format!("{line}:{column} {} {}", problem.code.name, problem.message)
}

fn briefs(document: &Document) -> Vec<String> {
    document.problems().iter().map(brief).collect()
}

fn errors(document: &Document) -> Vec<String> {
    let errors = document.problems().iter().filter(|p| p.severity == Severity::Error);
    errors.map(brief).collect()
}

/// Every value of a document, aliases not followed twice; stops when there are many.
fn nodes(document: &Document) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut todo = vec![document.root()];
    while let Some(node) = todo.pop() {
        found.push(node);
        if found.len() > 20_000 {
            break;
        }
        todo.extend(node.items());
        todo.extend(node.members().iter().flat_map(|e| [e.key, e.value]));
    }
    found
}

/// Asserts what is true of every document, however broken: locations are inside the text and on
/// boundaries of characters, and no method panics.
fn assert_sound(document: &Document) {
    let text = document.source().text();
    let check = |span: Span, what: &str| {
        assert!(span.start <= span.end, "{what} {span:?} of {text:?}");
        assert!(text.get(span.range()).is_some(), "{what} {span:?} of {text:?}");
    };
    for node in nodes(document) {
        check(node.span(), "value");
        let raw = node.raw();
        for offset in (0..=raw.len().min(50)).chain([raw.len() + 1]) {
            let byte = node.byte_at(offset);
            assert!(
                text.is_char_boundary(byte),
                "byte_at({offset}) is {byte} for {raw:?} of {text:?}"
            );
        }
        let _ = (node.pointer(), node.key().map(Node::raw), node.boolean(), node.len());
    }
    for comment in document.comments() {
        check(*comment, "comment");
    }
    let duplicates = document.problems().iter().any(|p| p.code.name == "DUPLICATE_KEY");
    for problem in document.problems() {
        check(problem.span.unwrap_or_default(), "problem");
        problem.labels.iter().for_each(|label| check(label.span, "label"));
        assert!(
            !problem.message.contains(['\n', '\r']),
            "{:?} is more than one line",
            problem.message
        );
        // Of duplicate keys a pointer can name the last one only.
        let found = document.root().find(&problem.path).is_some();
        assert!(found || duplicates, "{} leads nowhere in {text:?}", problem.path);
    }
    for problem in document.problems().iter().take(3) {
        let _ = (
            forms::full(problem, forms::Colour::Off),
            forms::concise(problem),
            forms::json(problem),
        );
        let _ = (forms::github(problem), forms::sarif([problem], &[], "0"));
    }
    let _ = document.root().to_json();
}

/// In a document without problems, every pointer resolves to its value, and every key is right.
fn assert_pointers_lead_back(document: &Document) {
    let mut todo = vec![document.root()];
    while let Some(node) = todo.pop() {
        let at = node.pointer();
        let found = document.root().find(&at).map(Node::span);
        assert_eq!(found, Some(node.span()), "{at} of {:?}", document.source().text());
        for entry in node.members() {
            assert_eq!(
                entry.value.key().map(Node::span),
                Some(entry.key.span()),
                "the key of {at}"
            );
            assert_eq!(node.get(entry.name()).map(Node::span), Some(entry.value.span()));
            todo.push(entry.value);
        }
        todo.extend(node.items());
    }
}
