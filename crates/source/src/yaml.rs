//! YAML text into the tree. The only file that names the YAML parser.
//!
//! Aliases stay references and are counted, so that a few hundred bytes cannot grow into
//! gigabytes. What JSON cannot say (non-scalar keys, foreign tags, a second document) is reported.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};

use crate::document::Parsed;
use crate::json::{imprecise, shorten};
use crate::tree::{Builder, Data, Kind, NodeId, Style};
use crate::{
    Code, Diagnostic, Label, MAX_ALIASED_NODES, MAX_DEPTH, MAX_NODES, MAX_PROBLEMS, Source, Span, codes,
    number, scalar,
};

/// How large and how deep a value is, aliases counted as if written out.
#[derive(Clone, Copy)]
struct Extent {
    size: usize,
    height: usize,
}

const LEAF: Extent = Extent { size: 1, height: 0 };

struct Anchor {
    id: NodeId,
    /// `None` while the anchored collection is still open.
    extent: Option<Extent>,
}

/// What the parser is inside of, beside the builder's own stack.
struct Frame {
    anchor: usize,
    extent: Extent,
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    text: &'s str,
    builder: Builder,
    problems: Vec<Diagnostic>,
    anchors: HashMap<usize, Anchor>,
    frames: Vec<Frame>,
    aliased: usize,
    /// Collections open inside a key that is not a scalar; such keys are skipped.
    skipping: usize,
    documents: usize,
    stopped: bool,
}

pub(crate) fn parse(source: &Arc<Source>) -> Parsed {
    let text = source.text();
    let mut reader = Reader {
        source,
        text,
        builder: Builder::with_capacity((text.len() / 20).min(MAX_NODES) + 1),
        problems: Vec::new(),
        anchors: HashMap::new(),
        frames: Vec::new(),
        aliased: 0,
        skipping: 0,
        documents: 0,
        stopped: false,
    };
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: usize::MAX,
        // Its own limits come second: ours counts both kinds together.
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => reader.event(event, span),
            Err(error) => reader.syntax_error(&error),
        }
        if reader.stopped {
            break;
        }
    }
    reader.finish();
    Parsed { tree: reader.builder.tree, problems: reader.problems }
}

fn style_of(style: StructureStyle) -> Style {
    match style {
        StructureStyle::Flow => Style::Flow,
        StructureStyle::Block => Style::Block,
    }
}

impl<'s> Reader<'s> {
    fn span(&self, span: granit_parser::Span) -> Span {
        let end = self.text.len();
        let start = span.start.byte_offset().unwrap_or(end).min(end);
        Span::new(start, span.end.byte_offset().unwrap_or(start).min(end))
    }

    fn event(&mut self, event: Event<'s>, span: granit_parser::Span) {
        let place = self.span(span);
        if let Event::Comment(..) = event {
            self.builder.tree.comments.push(place);
            return;
        }
        if self.skipping > 0 {
            return self.skip(&event, place);
        }
        match event {
            Event::DocumentStart(..) => self.document(place),
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map(|tag| (tag, span.tag_span().map_or(place, |s| self.span(s))));
                self.scalar(&text, style, anchor, tag, place);
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(Kind::List, style_of(style), anchor, tag.as_deref(), place);
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(Kind::Map, style_of(style), anchor, tag.as_deref(), place);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place),
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::UnresolvedAlias(name) => {
                self.report(place, &format!("no anchor `&{}` before this alias", shorten(&name)));
                self.add_null(place);
            }
            _ => {}
        }
        if self.builder.is_full() {
            let message = format!("the document has more than {MAX_NODES} values");
            self.stop(&codes::TOO_LARGE, place, message);
        }
    }

    fn document(&mut self, place: Span) {
        self.documents += 1;
        if self.documents == 2 {
            let message = "a second document starts here; only one is read".to_owned();
            self.stop(&codes::INVALID_SYNTAX, place, message);
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.builder.top(), Some((_, Kind::Map, count)) if count % 2 == 0)
    }

    /// Accounts for a value that was just added to the innermost collection.
    fn count(&mut self, extent: Extent) {
        if let Some(frame) = self.frames.last_mut() {
            frame.extent.size = frame.extent.size.saturating_add(extent.size);
            frame.extent.height = frame.extent.height.max(extent.height + 1);
        }
    }

    fn add_null(&mut self, place: Span) {
        let id = self.builder.add_null(place.start as usize);
        self.builder.tree.slots[id as usize].span = place;
        self.count(LEAF);
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<(&Tag, Span)>,
        place: Span,
    ) {
        let place = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => self.block_scalar(place),
            _ if place.start == place.end => self.empty_value(place),
            _ => place,
        };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let is_key = self.expects_key();
        let kind = self.kind_of(text, style, tag);
        if kind == Kind::Number && !number::is_exact(text) {
            let problem = imprecise(self.source, place, text);
            self.push(problem);
        }
        let data = self.text_data(text, style, place);
        let id = self.builder.add(kind, style, place, data);
        if is_key && style == Style::Plain && text == "<<" {
            self.mark_merge(id);
        }
        self.count(LEAF);
        self.anchor(anchor, id, Some(LEAF));
    }

    /// Points into the source where the text stands there as it is, copies it where it does not.
    fn text_data(&mut self, text: &str, style: Style, place: Span) -> Data {
        let quotes = match style {
            Style::Single | Style::Double => 1,
            _ => 0,
        };
        let range = place.range();
        let inner = self.text.get(range.start + quotes..range.end.saturating_sub(quotes));
        if inner == Some(text) {
            let span = Span::new(range.start + quotes, range.end - quotes);
            return Data::Scalar { start: span.start, end: span.end, owned: false };
        }
        self.builder.intern(text)
    }

    /// A block scalar from its `|` or `>` to the end of its text. The event's own span starts at
    /// the text and runs into the next line's indent.
    fn block_scalar(&self, place: Span) -> Span {
        let text = self.text[place.range()].trim_end().len() + place.start as usize;
        let before = self.text[..place.start as usize].trim_end();
        let line = before.rfind('\n').map_or(0, |n| n + 1);
        let header = before[line..].split(" #").next().unwrap_or("").trim_end();
        let mark = header.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
        if mark.ends_with(['|', '>']) {
            Span::new(line + mark.len() - 1, text.max(line + header.len()))
        } else {
            Span::new(place.start as usize, text)
        }
    }

    /// A member without a value stands behind its `:`, wherever the parser noticed that.
    fn empty_value(&self, place: Span) -> Span {
        let slots = &self.builder.tree.slots;
        let Some(key) = slots.last().filter(|_| !self.expects_key() && self.in_map()) else {
            return place;
        };
        let end = key.span.end as usize;
        let between = self.text.get(end..place.start as usize).unwrap_or("");
        let at = between.find(':').map_or(place.start as usize, |n| end + n + 1);
        Span::new(at, at)
    }

    fn in_map(&self) -> bool {
        matches!(self.builder.top(), Some((_, Kind::Map, _)))
    }

    fn kind_of(&mut self, text: &str, style: Style, tag: Option<(&Tag, Span)>) -> Kind {
        let Some((tag, place)) = tag else {
            return if style == Style::Plain { scalar::resolve(text) } else { Kind::String };
        };
        let resolved = scalar::resolve(text);
        let wanted = match tag.core_suffix() {
            Some("str") => return Kind::String,
            Some("int" | "float") => Kind::Number,
            Some("bool") => Kind::Bool,
            Some("null") => Kind::Null,
            _ if tag.handle().is_empty() && tag.suffix() == "!" => return Kind::String,
            _ => {
                self.unknown_tag(tag, place);
                return if style == Style::Plain { resolved } else { Kind::String };
            }
        };
        if wanted != resolved {
            self.report(place, &format!("`{}` is not {}", shorten(text), wanted.name()));
        }
        resolved
    }

    fn unknown_tag(&mut self, tag: &Tag, place: Span) {
        let name = format!("{}{}", tag.original_handle(), tag.suffix());
        self.report(place, &format!("tag `{}` has no meaning here", shorten(&name)));
    }

    fn mark_merge(&mut self, key: NodeId) {
        let parent = self.builder.tree.slot(key).parent;
        if let Some(slot) = self.builder.tree.slots.get_mut(parent as usize) {
            if let Data::Container { merges, .. } = &mut slot.data {
                *merges = true;
            }
        }
    }

    fn open(&mut self, kind: Kind, style: Style, anchor: usize, tag: Option<&Tag>, place: Span) {
        if self.expects_key() {
            self.report(place, "a key must be a scalar");
            self.skipping = 1;
            return;
        }
        if self.builder.depth() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            self.stop(&codes::TOO_DEEP, place, message);
            return;
        }
        if let Some(tag) = tag.filter(|tag| !matches!(tag.core_suffix(), Some("map" | "seq"))) {
            self.unknown_tag(tag, place);
        }
        let id = self.builder.open(kind, style, place);
        self.anchor(anchor, id, None);
        self.frames.push(Frame { anchor, extent: LEAF });
    }

    fn skip(&mut self, event: &Event<'_>, place: Span) {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => self.skipping += 1,
            Event::SequenceEnd | Event::MappingEnd => self.skipping -= 1,
            _ => {}
        }
        if self.skipping == 0 {
            self.add_null(place);
        }
    }

    fn close(&mut self, place: Span) {
        let Some((id, kind, count)) = self.builder.top() else { return };
        if kind == Kind::Map && count % 2 == 1 {
            self.add_null(Span::new(place.start as usize, place.start as usize));
        }
        let tree = &self.builder.tree;
        let (mut start, mut end) = (tree.slot(id).span.start as usize, place.end as usize);
        if tree.slot(id).style == Style::Block {
            // Block collections have no brackets: they reach from their first child to their last.
            let mut children = tree.children(id);
            let first = children.next();
            let last = children.last().or(first);
            // The event of a list is at its first `-`, which is where it starts.
            if kind == Kind::Map {
                start = first.map_or(start, |n| tree.slot(n).span.start as usize);
            }
            end = last.map_or(end, |n| tree.slot(n).span.end as usize);
        }
        self.builder.close(end);
        self.builder.tree.slots[id as usize].span = Span::new(start, end);
        self.report_duplicates(id);
        if let Some(frame) = self.frames.pop() {
            if let Some(anchor) = self.anchors.get_mut(&frame.anchor) {
                anchor.extent = Some(frame.extent);
            }
            self.count(frame.extent);
        }
    }

    fn report_duplicates(&mut self, id: NodeId) {
        if self.builder.tree.slot(id).kind != Kind::Map {
            return;
        }
        for (first, again) in self.builder.duplicates(id, self.text) {
            let name = shorten(self.builder.tree.raw(again, self.text));
            let message = format!("key `{name}` is used twice in one object");
            let span = self.builder.tree.slot(again).span;
            let label = self.builder.tree.slot(first).span;
            let mut problem = Diagnostic::at(&codes::DUPLICATE_KEY, self.source, span, message);
            problem.labels.push(Label { span: label, text: "first used here".into() });
            self.push(problem);
        }
    }

    fn anchor(&mut self, anchor: usize, id: NodeId, extent: Option<Extent>) {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchor { id, extent });
        }
    }

    fn alias(&mut self, anchor: usize, place: Span) {
        let target = self.anchors.get(&anchor).map(|a| (a.id, a.extent));
        let (id, extent) = match target {
            Some((id, Some(extent))) => (id, extent),
            Some((_, None)) => {
                self.report(place, "this alias stands inside its own anchor");
                return self.add_null(place);
            }
            None => return self.add_null(place),
        };
        if self.expects_key() && extent.height > 0 {
            self.report(place, "a key must be a scalar");
            return self.add_null(place);
        }
        self.aliased = self.aliased.saturating_add(extent.size);
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases repeat more than {MAX_ALIASED_NODES} values");
            return self.stop(&codes::TOO_LARGE, place, message);
        }
        if self.builder.depth() + extent.height > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep through this alias");
            return self.stop(&codes::TOO_DEEP, place, message);
        }
        let kind = self.builder.tree.slot(id).kind;
        self.builder.add(kind, Style::Plain, place, Data::Alias { target: id });
        self.count(extent);
    }

    fn syntax_error(&mut self, error: &ScanError) {
        let end = self.text.len();
        let at = error.marker().byte_offset().unwrap_or(end).min(end);
        let at = self.text.floor_char_boundary(at);
        let width = self.text[at..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
        let place = Span::new(at, at + width);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return self.stop(&codes::TOO_DEEP, place, message);
        }
        let mut problem = Diagnostic::at(&codes::INVALID_SYNTAX, self.source, place, error.info());
        problem.help.extend(hint(error.kind()).map(str::to_owned));
        self.push(problem);
        self.stopped = true;
    }

    fn report(&mut self, place: Span, message: &str) {
        self.push(Diagnostic::at(&codes::INVALID_SYNTAX, self.source, place, message));
    }

    fn push(&mut self, problem: Diagnostic) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.stopped = true;
        }
    }

    fn stop(&mut self, code: &'static Code, place: Span, message: String) {
        self.problems.push(Diagnostic::at(code, self.source, place, message));
        self.stopped = true;
    }

    /// Ends what a mistake left open, so that the tree is whole.
    fn finish(&mut self) {
        let end = self.builder.tree.slots.last().map_or(0, |slot| slot.span.end as usize);
        self.skipping = 0;
        while self.builder.top().is_some() {
            self.close(Span::new(end, end));
        }
        if self.builder.tree.slots.is_empty() {
            self.builder.add_null(0);
        }
    }
}

/// What to do about the mistakes people make most.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => Some("indent with spaces"),
        ErrorKind::UnclosedQuotedScalar => Some("close the quote, or double it if it is part of the text"),
        ErrorKind::InvalidSimpleKey | ErrorKind::SimpleKeyExpected => {
            Some("quote the text if its `:` does not separate a key from a value")
        }
        ErrorKind::InvalidIndentation => Some("indent it like the lines it belongs to"),
        _ => None,
    }
}
