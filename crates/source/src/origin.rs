//! From a pointer back to the place in the text.
//!
//! A record is not shaped like the document it was read from. The reader notes for each part of
//! the record which value it came from; everything below such a part is found by walking the tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::edit::{TextEdit, plan};
use crate::tree::NodeId;
use crate::{
    Diagnostic, Document, Edit, Finding, Fix, Label, Node, Part, Pointer, Repair, Safety, Span,
};

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The key that leads to it, if it is a member of an object.
    pub key: Option<Span>,
    /// The value itself.
    pub value: Span,
    /// Whether this is the very value asked for; otherwise it is the nearest one around it.
    pub exact: bool,
}

/// Which part of a record came from which value of a document.
#[derive(Clone, Debug)]
pub struct Origin {
    document: Arc<Document>,
    parts: BTreeMap<Pointer, NodeId>,
}

impl Origin {
    /// The origin of a record that is the document itself.
    pub fn whole(document: &Arc<Document>) -> Origin {
        let parts = BTreeMap::from([(Pointer::root(), 0)]);
        Origin { document: Arc::clone(document), parts }
    }

    /// Notes that the part of the record at `pointer` is `node`.
    pub fn note(&mut self, pointer: Pointer, node: Node<'_>) {
        self.parts.insert(pointer, node.id);
    }

    /// The document the record was read from.
    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// The parts that were noted, with their places.
    pub fn parts(&self) -> impl Iterator<Item = (&Pointer, Node<'_>)> {
        self.parts.iter().map(|(pointer, id)| (pointer, self.node(*id)))
    }

    fn node(&self, id: NodeId) -> Node<'_> {
        Node { doc: &self.document, id }
    }

    /// The value at `pointer` or the nearest one around it, and what of the pointer leads no
    /// further.
    fn find<'p>(&self, pointer: &'p Pointer) -> (Node<'_>, &'p str) {
        let whole = pointer.as_str();
        let mut base = whole;
        loop {
            if let Some(id) = self.parts.get(base) {
                return self.node(*id).walk(&whole[base.len()..]);
            }
            match base.rfind('/') {
                Some(end) => base = &base[..end],
                None => return (self.document.root(), whole),
            }
        }
    }

    /// The place of `pointer`; an absent one falls back to what stands around it.
    pub fn place(&self, pointer: &Pointer) -> Place {
        let (node, left) = self.find(pointer);
        let key = node.key().map(Node::span);
        Place { key, value: node.span(), exact: left.is_empty() }
    }

    /// A finding about the record as one about the document.
    pub fn in_document(&self, mut finding: Finding) -> Finding {
        finding.at = self.document_pointer(&finding.at);
        finding.related.iter_mut().for_each(|(at, _)| *at = self.document_pointer(at));
        for edit in finding.repair.iter_mut().flat_map(|repair| &mut repair.edits) {
            *edit = edit.with_pointer(|at| self.document_pointer(at));
        }
        finding
    }

    /// The value of the document that `pointer` into the record stands for, if there is one.
    pub fn value(&self, pointer: &Pointer) -> Option<Node<'_>> {
        let (node, left) = self.find(pointer);
        left.is_empty().then_some(node)
    }

    /// The pointer into the document that `pointer` into the record stands for.
    pub fn document_pointer(&self, pointer: &Pointer) -> Pointer {
        let (node, left) = self.find(pointer);
        node.pointer().join_text(left)
    }
}

/// Turns a finding into a diagnostic: the one way from pointers to places.
pub fn locate(finding: Finding, origin: &Origin) -> Diagnostic {
    let document = origin.document();
    let (node, left) = origin.find(&finding.at);
    let exact = left.is_empty();
    let key = node.key().map(Node::span);
    let mut span = match (exact, finding.part) {
        (true, Part::Value) => node.span(),
        (true, Part::Key) => key.unwrap_or(node.span()),
        // Something is missing: point at the key of what lacks it, or at the start of a list item.
        (false, _) => key.unwrap_or_else(|| opening(node)),
    };
    if let Some(bytes) = finding.within.filter(|_| exact) {
        let start = node.byte_at(bytes.start);
        span = Span::new(start, node.byte_at(bytes.end).max(start));
    }
    let label = |(at, text): (Pointer, String)| {
        let place = origin.place(&at);
        Label { span: place.key.filter(|_| !place.exact).unwrap_or(place.value), text }
    };
    let fix = finding.repair.and_then(|repair| fix(document, origin, repair));
    Diagnostic {
        code: finding.code,
        severity: finding.severity,
        message: finding.message,
        source: Arc::clone(document.source()),
        span: Some(span),
        path: node.pointer().join_text(left),
        labels: finding.related.into_iter().map(label).collect(),
        help: finding.help,
        fix,
    }
}

/// The first character of a value, for what concerns the value as a whole.
fn opening(node: Node<'_>) -> Span {
    let start = node.span().start as usize;
    let text = node.doc.source().text();
    let width = text[start..].chars().next().map_or(0, char::len_utf8);
    Span::new(start, (start + width).min(node.span().end as usize))
}

fn fix(document: &Arc<Document>, origin: &Origin, repair: Repair) -> Option<Fix> {
    let mapped = |p: &Pointer| origin.document_pointer(p);
    let edits: Vec<Edit> = repair.edits.iter().map(|edit| edit.with_pointer(mapped)).collect();
    // What an alias repeats is changed in all places at once, and a comment is somebody's words: a
    // person should look.
    let shared =
        edits.iter().any(|edit| document.is_shared(document.root().nearest(edit.pointer())));
    let edits = plan(document, &edits).ok()?;
    let takes_words = |edit: &TextEdit| {
        let span = edit.span;
        document
            .comments()
            .iter()
            .any(|comment| comment.start < span.end && span.start < comment.end)
    };
    let safe = repair.safety == Safety::Safe && !shared && !edits.iter().any(takes_words);
    Some(Fix { title: repair.title, safe, edits })
}
