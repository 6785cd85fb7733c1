//! From the record back to the document.
//!
//! A record is not shaped like the document it was read from. The reader notes for each part of
//! the record which value it came from; everything below such a part is found by walking the tree.
//! So reading a good file, whose places are never needed, costs almost nothing for them.
//!
//! [`Origin::in_document`] is the one place where a path into the record becomes a path into the
//! document. [`locate`] then turns a path into the document into bytes of the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::edit::{TextEdit, plan};
use crate::tree::NodeId;
use crate::{
    Diagnostic, Document, DocumentPath, Finding, FindingPart, Fix, InRecord, Label, Node,
    RecordPath, Repair, Safety, Span,
};

/// The bytes of a value in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The key that leads to it, if it is a member of an object.
    pub key: Option<Span>,
    /// The value itself.
    pub value: Span,
    /// Whether the value itself was found; otherwise this is the nearest one around it.
    pub exact: bool,
}

/// Which part of a record came from which value of a document. A reader makes one beside each
/// record; `check::Subject` keeps it from the rules.
#[derive(Clone, Debug)]
pub struct Origin {
    document: Arc<Document>,
    /// Sparse: what is not listed lies below something that is.
    parts: BTreeMap<RecordPath, NodeId>,
}

impl Origin {
    /// The origin of a record that is the document itself: every path is the same in both.
    pub fn whole(document: &Arc<Document>) -> Origin {
        let parts = BTreeMap::from([(RecordPath::root(), 0)]);
        Origin { document: Arc::clone(document), parts }
    }

    /// Notes that the part of the record at `path` was read from `node`. Everything below `path` is
    /// then found below `node`, unless a longer path is noted as well.
    pub fn note(&mut self, path: RecordPath, node: Node<'_>) {
        self.parts.insert(path, node.id);
    }

    /// The document that the record was read from.
    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// The parts that were noted, each with the value it came from.
    pub fn parts(&self) -> impl Iterator<Item = (&RecordPath, Node<'_>)> {
        self.parts.iter().map(|(path, id)| (path, self.node(*id)))
    }

    /// The handle of a noted slot.
    fn node(&self, id: NodeId) -> Node<'_> {
        Node { doc: &self.document, id }
    }

    /// The value at `path` or the nearest one around it, and the rest of the path that leads
    /// nowhere. Starts from the longest prefix of the path that was noted.
    fn find<'p>(&self, path: &'p RecordPath) -> (Node<'_>, &'p str) {
        let whole = path.as_str();
        // Works on slices of the text, see `Borrow<str>` of `Pointer`: rules call this for every
        // finding.
        let mut base = whole;
        loop {
            if let Some(id) = self.parts.get(base) {
                return self.node(*id).walk(&whole[base.len()..]);
            }
            // Cut one token after another from the end: the longest noted prefix wins.
            match base.rfind('/') {
                Some(end) => base = &base[..end],
                None => return (self.document.root(), whole),
            }
        }
    }

    /// The location of `path`; an absent value falls back to the one around it.
    pub fn location(&self, path: &RecordPath) -> Location {
        let (node, left) = self.find(path);
        let key = node.key().map(Node::span);
        Location { key, value: node.span(), exact: left.is_empty() }
    }

    /// A finding about the record as one about the document.
    pub fn in_document(&self, finding: Finding<InRecord>) -> Finding {
        let path = |at: &RecordPath| self.document_path(at);
        let repair = finding.repair.map(|repair| Repair {
            title: repair.title,
            safety: repair.safety,
            edits: repair.edits.into_iter().map(|edit| edit.map_pointer(path)).collect(),
        });
        Finding {
            code: finding.code,
            severity: finding.severity,
            at: path(&finding.at),
            part: finding.part,
            within: finding.within,
            message: finding.message,
            help: finding.help,
            related: finding.related.into_iter().map(|(at, text)| (path(&at), text)).collect(),
            repair,
            tolerable: finding.tolerable,
            wasted_bytes: finding.wasted_bytes,
            shared_id: finding.shared_id,
        }
    }

    /// The value of the document at `path` of the record, if there is one.
    pub fn value(&self, path: &RecordPath) -> Option<Node<'_>> {
        let (node, left) = self.find(path);
        left.is_empty().then_some(node)
    }

    /// The path into the document of what is at `path` of the record. Tokens that lead nowhere are
    /// appended as they are, so that an absent field is named under the value that lacks it.
    pub fn document_path(&self, path: &RecordPath) -> DocumentPath {
        let (node, left) = self.find(path);
        node.pointer().join_text(left)
    }
}

/// Turns a finding into a diagnostic: the only way from paths to bytes of a file. Never fails: a
/// path that leads nowhere is shown at the nearest value around it, and a repair that is not
/// possible in this text is left out.
pub fn locate(finding: Finding, document: &Arc<Document>) -> Diagnostic {
    let (node, left) = document.root().walk(finding.at.as_str());
    let exact = left.is_empty();
    let key = node.key().map(Node::span);
    let mut span = match (exact, finding.part) {
        (true, FindingPart::Value) => node.span(),
        (true, FindingPart::Key) => key.unwrap_or(node.span()),
        // Something is missing: point at the key of what lacks it, or at the start of a list item.
        (false, _) => key.unwrap_or_else(|| opening(node)),
    };
    // A part of the text can only be shown if the value itself was found.
    if let Some(bytes) = finding.within.filter(|_| exact) {
        let start = node.byte_at(bytes.start);
        span = Span::new(start, node.byte_at(bytes.end).max(start));
    }
    // A label on an absent value points at the key of what lacks it, like the finding itself.
    let label = |(at, text): (DocumentPath, String)| {
        let (node, left) = document.root().walk(at.as_str());
        let key = node.key().map(Node::span).filter(|_| !left.is_empty());
        Label { span: key.unwrap_or(node.span()), text }
    };
    let path = node.pointer().join_text(left);
    let fix = finding.repair.and_then(|repair| plan_repair(document, repair));
    Diagnostic {
        code: finding.code,
        severity: finding.severity,
        message: finding.message,
        source: Arc::clone(document.source()),
        about: None,
        tool: None,
        span: Some(span),
        path,
        labels: finding.related.into_iter().map(label).collect(),
        help: finding.help,
        fix,
        wasted_bytes: finding.wasted_bytes,
        shared_id: finding.shared_id,
    }
}

/// The first character of a value, for what concerns the value as a whole.
fn opening(node: Node<'_>) -> Span {
    let start = node.span().start as usize;
    let text = node.doc.source().text();
    let width = text[start..].chars().next().map_or(0, char::len_utf8);
    Span::new(start, (start + width).min(node.span().end as usize))
}

/// Plans a repair in the text; `None` if an edit is not possible there, and the finding is then
/// shown without a fix.
pub fn plan_repair(document: &Arc<Document>, repair: Repair) -> Option<Fix> {
    // Changing what an alias repeats changes all places at once, and a comment inside the edited
    // text is an author's words: in both cases a person should look first.
    let is_shared = |path: &DocumentPath| document.is_shared(document.root().nearest(path));
    let shared = repair.edits.iter().any(|edit| is_shared(edit.pointer()));
    let edits = plan(document, &repair.edits).ok()?;
    let touches_comment = |edit: &TextEdit| {
        let span = edit.span;
        document.comments().iter().any(|it| it.start < span.end && span.start < it.end)
    };
    let safe = repair.safety == Safety::Safe && !shared && !edits.iter().any(touches_comment);
    Some(Fix { title: repair.title, safe, edits })
}
