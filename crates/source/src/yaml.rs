//! YAML text into the tree. Only this module names the YAML parser.
//!
//! Aliases stay references and are counted, so that a few hundred bytes cannot grow into
//! gigabytes. What JSON cannot say (non-scalar keys, foreign tags, a second document) is reported.

mod simple_blocks;

use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};

use crate::document::ParsedText;
use crate::problems::{ProblemCollector, excerpt};
use crate::tree::{NodeData, NodeId, Style, TreeBuilder, ValueKind};
use crate::{MAX_ALIASED_NODES, MAX_DEPTH, MAX_NODES, Source, Span, codes, core_schema};

/// How large and how deep a value is, aliases counted as if written out.
#[derive(Clone, Copy)]
struct ExpandedSize {
    size: usize,
    height: usize,
}

/// Comments in a row that the parser keeps while it looks for the next value (it takes some 200
/// bytes for each), and comments that are kept in all.
const MAX_COMMENT_LINES: usize = 50_000;
const MAX_COMMENTS: usize = MAX_NODES;

const LEAF: ExpandedSize = ExpandedSize { size: 1, height: 0 };
const EMPTY: ExpandedSize = ExpandedSize { size: 1, height: 1 };

struct YamlAnchor {
    id: NodeId,
    /// `None` while the anchored collection is still open.
    expanded: Option<ExpandedSize>,
}

/// What the parser is inside of, beside the builder's own stack.
struct OpenCollection {
    anchor: usize,
    expanded: ExpandedSize,
}

struct YamlEventReader<'s> {
    text: &'s str,
    builder: TreeBuilder,
    problems: ProblemCollector<'s>,
    /// By the parser's number, which counts from one.
    anchors: Vec<Option<YamlAnchor>>,
    open_collections: Vec<OpenCollection>,
    aliased: usize,
    /// Collections open inside a key that is not a scalar; such keys are skipped.
    skipping: usize,
    /// Where such a key starts.
    skipped_from: u32,
    /// Where the document's own text starts, behind any `---`.
    start: usize,
    documents: usize,
}

pub(crate) fn parse(source: &Arc<Source>) -> ParsedText {
    let plain = simple_blocks::read(source);
    if cfg!(debug_assertions)
        && let Some(plain) = &plain
    {
        let parsed = parse_events(source);
        assert_eq!(format!("{plain:?}"), format!("{parsed:?}"), "{}", source.text());
    }
    plain.unwrap_or_else(|| parse_events(source))
}

/// What the parser makes of it.
fn parse_events(source: &Arc<Source>) -> ParsedText {
    let mut reader = YamlEventReader::new(source);
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: MAX_COMMENT_LINES,
        // Its own limits come second: ours counts both kinds together.
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    for next in Parser::new_from_str_with_options(source.text(), options) {
        match next {
            Ok((event, span)) => reader.event(event, span),
            Err(error) => reader.syntax_error(&error),
        }
        if reader.problems.stopped {
            break;
        }
    }
    reader.into_parsed()
}

fn style_of(style: StructureStyle) -> Style {
    match style {
        StructureStyle::Flow => Style::Flow,
        StructureStyle::Block => Style::Block,
    }
}

impl<'s> YamlEventReader<'s> {
    fn new(source: &'s Arc<Source>) -> YamlEventReader<'s> {
        let text = source.text();
        YamlEventReader {
            text,
            builder: TreeBuilder::with_capacity((text.len() / 16).min(MAX_NODES) + 1),
            problems: ProblemCollector::new(source),
            anchors: Vec::new(),
            open_collections: Vec::new(),
            aliased: 0,
            skipping: 0,
            skipped_from: 0,
            start: 0,
            documents: 0,
        }
    }

    fn into_parsed(mut self) -> ParsedText {
        self.finish();
        let incomplete = self.problems.stopped;
        ParsedText { tree: self.builder.tree, problems: self.problems.into_vec(), incomplete }
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let end = self.text.len();
        let start = span.start.byte_offset().unwrap_or(end).min(end);
        Span::new(start, span.end.byte_offset().unwrap_or(start).min(end))
    }

    fn event(&mut self, event: Event<'s>, span: granit_parser::Span) {
        let place = self.span(span);
        if let Event::Comment(..) = event {
            return self.comment(place);
        }
        if self.skipping > 0 {
            return self.skip_key_event(&event, place);
        }
        let tag_place = span.tag_span().map_or(place, |s| self.span(s));
        let tagged = |tag| (tag, tag_place);
        match event {
            Event::DocumentStart(..) => self.start_document(place),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref().map(tagged), place);
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(
                    ValueKind::List,
                    style_of(style),
                    anchor,
                    tag.as_deref().map(tagged),
                    place,
                );
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(
                    ValueKind::Map,
                    style_of(style),
                    anchor,
                    tag.as_deref().map(tagged),
                    place,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place),
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::UnresolvedAlias(name) => {
                self.problems
                    .report(place, format!("no anchor `&{}` before this alias", excerpt(&name)));
                self.add_null(place);
            }
            _ => {}
        }
        if self.builder.is_full() {
            let message = format!("the document has more than {MAX_NODES} values");
            self.problems.stop(&codes::TOO_LARGE, place, message);
        }
    }

    fn comment(&mut self, place: Span) {
        self.builder.tree.comments.push(place);
        if self.builder.tree.comments.len() >= MAX_COMMENTS {
            let message = format!("the document has more than {MAX_COMMENTS} comments");
            self.problems.stop(&codes::TOO_LARGE, place, message);
        }
    }

    fn start_document(&mut self, place: Span) {
        self.documents += 1;
        // Without a `---` the event may come as late as the text of a block scalar.
        let marked = self.text[place.start as usize..].starts_with("---");
        self.start = if marked { place.start as usize + 3 } else { 0 };
        if self.documents == 2 {
            let message = "a second document starts here; only one is read".to_owned();
            self.problems.stop(&codes::INVALID_SYNTAX, place, message);
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.builder.top(), Some((_, ValueKind::Map, count)) if count % 2 == 0)
    }

    /// Accounts for a value that was just added to the innermost collection.
    fn add_to_parent(&mut self, expanded: ExpandedSize) {
        if let Some(collection) = self.open_collections.last_mut() {
            collection.expanded.size = collection.expanded.size.saturating_add(expanded.size);
            collection.expanded.height = collection.expanded.height.max(expanded.height + 1);
        }
    }

    /// A `null` for what cannot be read; as a key it goes by the name that is written there.
    fn add_null(&mut self, place: Span) {
        let end = if self.expects_key() { place.end } else { place.start };
        let data = NodeData::Scalar { start: place.start, end, owned: false };
        self.builder.add(ValueKind::Null, Style::Plain, place, data);
        self.add_to_parent(LEAF);
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<(&Tag, Span)>,
        place: Span,
    ) {
        let properties = usize::from(anchor > 0) + usize::from(tag.is_some());
        let (text, place) = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                (text, self.block_scalar(place, properties))
            }
            // The parser says `~` where nothing is written.
            _ if place.start == place.end => ("", self.empty_value(place, properties)),
            _ => (text, place),
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
        if kind == ValueKind::Number {
            self.problems.check_number(place, text);
        }
        let data = self.text_data(text, style, place);
        let id = self.builder.add(kind, style, place, data);
        if is_key && style == Style::Plain && text == "<<" {
            self.mark_merge(id);
        }
        self.add_to_parent(LEAF);
        self.record_anchor(anchor, id, Some(LEAF));
    }

    /// Points into the source where the text stands there as it is, copies it where it does not.
    fn text_data(&mut self, text: &str, style: Style, place: Span) -> NodeData {
        let quotes = match style {
            Style::Single | Style::Double => 1,
            _ => 0,
        };
        let range = place.range();
        let inner = self.text.get(range.start + quotes..range.end.saturating_sub(quotes));
        if inner == Some(text) {
            let span = Span::new(range.start + quotes, range.end - quotes);
            return NodeData::Scalar { start: span.start, end: span.end, owned: false };
        }
        self.builder.intern(text)
    }

    /// A block scalar from its `|` or `>` to the end of its text. The event's own span starts at
    /// the text and runs into the next line's indent.
    fn block_scalar(&self, place: Span, properties: usize) -> Span {
        let is_break = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        let text = self.text[place.range()].trim_end_matches(is_break).len();
        let start =
            self.after_indicator().map_or(0, |at| skip_properties(self.text, at, properties));
        let start = skip_blank(self.text, start);
        if text == 0 && self.text[start..].starts_with(['|', '>']) {
            let header = self.text[start..].lines().next().unwrap_or("");
            return Span::new(start, start + header.split(' ').next().unwrap_or("").len());
        }
        let end = place.start as usize + text;
        let marked = start < end && self.text[start..].starts_with(['|', '>']);
        Span::new(if marked { start } else { place.start as usize }, end)
    }

    /// A value that is not written stands right behind its `:` or `-` (or behind the anchor or
    /// tag it has), wherever the parser noticed that.
    fn empty_value(&self, place: Span, properties: usize) -> Span {
        let at = self.after_indicator().map(|at| skip_properties(self.text, at, properties));
        at.map_or(place, |at| Span::new(at, at))
    }

    /// Where the text of the next value may begin: behind the `:`, `-` or `?` that announces it.
    fn after_indicator(&self) -> Option<usize> {
        let Some((id, kind, count)) = self.builder.top() else { return Some(self.start) };
        let before = self.builder.last_child().map(|last| last.span.end as usize);
        let from = before.unwrap_or(self.builder.tree.slot(id).span.start as usize);
        let mark = match kind {
            ValueKind::Map if count % 2 == 1 => ':',
            ValueKind::Map => '?',
            _ => '-',
        };
        let at = skip_blank(self.text, from);
        if self.text[at..].starts_with(mark) { Some(at + 1) } else { (mark == ':').then_some(from) }
    }

    fn kind_of(&mut self, text: &str, style: Style, tag: Option<(&Tag, Span)>) -> ValueKind {
        let Some((tag, place)) = tag else {
            return if style == Style::Plain {
                core_schema::kind_of(text)
            } else {
                ValueKind::String
            };
        };
        let resolved = core_schema::kind_of(text);
        let wanted = match tag.core_suffix() {
            Some("str") => return ValueKind::String,
            Some("int" | "float") => ValueKind::Number,
            Some("bool") => ValueKind::Bool,
            Some("null") => ValueKind::Null,
            _ if is_non_specific(tag) => return ValueKind::String,
            _ => {
                self.unknown_tag(tag, place);
                return if style == Style::Plain { resolved } else { ValueKind::String };
            }
        };
        let whole = !text.contains(['.', 'e', 'E']) || text.starts_with("0x");
        if wanted != resolved {
            self.problems.report(place, format!("`{}` is not {}", excerpt(text), wanted.name()));
        } else if tag.core_suffix() == Some("int") && !whole {
            self.problems.report(place, format!("`{}` is not a whole number", excerpt(text)));
        }
        resolved
    }

    fn unknown_tag(&mut self, tag: &Tag, place: Span) {
        let name = format!("{}{}", tag.original_handle(), tag.suffix());
        self.problems.report(place, format!("tag `{}` has no meaning here", excerpt(&name)));
    }

    fn mark_merge(&mut self, key: NodeId) {
        let parent = self.builder.tree.slot(key).parent;
        let slot = self.builder.tree.slots.get_mut(parent as usize);
        if let Some(NodeData::Container { merges, .. }) = slot.map(|slot| &mut slot.data) {
            *merges = true;
        }
    }

    fn open(
        &mut self,
        kind: ValueKind,
        style: Style,
        anchor: usize,
        tag: Option<(&Tag, Span)>,
        place: Span,
    ) {
        if self.expects_key() {
            self.problems.report(place, "a key must be a scalar");
            self.skipping = 1;
            self.skipped_from = place.start;
            return;
        }
        if self.builder.depth() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            self.problems.stop(&codes::TOO_DEEP, place, message);
            return;
        }
        let fits = |tag: &Tag| match tag.core_suffix() {
            Some("map") => kind == ValueKind::Map,
            Some("seq") => kind == ValueKind::List,
            _ => is_non_specific(tag),
        };
        if let Some((tag, place)) = tag.filter(|(tag, _)| !fits(tag)) {
            self.unknown_tag(tag, place);
        }
        let place = match (kind, style) {
            (ValueKind::List, Style::Block) => {
                self.first_dash(place, usize::from(anchor > 0) + usize::from(tag.is_some()))
            }
            _ => place,
        };
        let id = self.builder.open(kind, style, place);
        self.record_anchor(anchor, id, None);
        self.open_collections.push(OpenCollection { anchor, expanded: EMPTY });
    }

    /// A block list starts at its first `-`; the event is behind it where the list is not indented.
    fn first_dash(&self, place: Span, properties: usize) -> Span {
        let from = self
            .after_indicator()
            .map_or(place.start as usize, |at| skip_properties(self.text, at, properties));
        let at = skip_blank(self.text, from);
        if self.text[at..].starts_with('-') { Span::new(at, place.end as usize) } else { place }
    }

    fn skip_key_event(&mut self, event: &Event<'_>, place: Span) {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => self.skipping += 1,
            Event::SequenceEnd | Event::MappingEnd => self.skipping -= 1,
            _ => {}
        }
        if self.skipping == 0 {
            self.add_null(Span { start: self.skipped_from, end: place.end.max(self.skipped_from) });
        }
    }

    fn close(&mut self, place: Span) {
        let Some((id, kind, count)) = self.builder.top() else { return };
        if kind == ValueKind::Map && count % 2 == 1 {
            self.add_null(Span::new(place.start as usize, place.start as usize));
        }
        let tree = &self.builder.tree;
        let (start, mut end) = (tree.slot(id).span.start as usize, place.end as usize);
        if tree.slot(id).style == Style::Block {
            // Block collections have no brackets: they end with their last child.
            end = tree.children(id).last().map_or(end, |n| tree.slot(n).span.end as usize);
        }
        self.builder.close(end);
        self.builder.tree.slots[id as usize].span = Span::new(start, end);
        self.problems.check_keys(&self.builder, id);
        self.check_merge_values(id);
        if let Some(collection) = self.open_collections.pop() {
            if let Some(Some(anchor)) = self.anchors.get_mut(collection.anchor) {
                anchor.expanded = Some(collection.expanded);
            }
            self.add_to_parent(collection.expanded);
        }
    }

    /// `<<` brings in the members of maps; anything else under it would be lost without a word.
    fn check_merge_values(&mut self, id: NodeId) {
        let tree = &self.builder.tree;
        if !matches!(tree.slot(id).data, NodeData::Container { merges: true, .. }) {
            return;
        }
        let mut wrong = Vec::new();
        let mut children = tree.children(id);
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            let target = tree.resolve(value);
            let is_map = |id: NodeId| tree.slot(tree.resolve(id)).kind == ValueKind::Map;
            let fits = match tree.slot(target).kind {
                ValueKind::Map | ValueKind::Null => true,
                ValueKind::List => tree.children(target).all(is_map),
                _ => false,
            };
            if !fits && tree.slot(key).style == Style::Plain && tree.raw(key, self.text) == "<<" {
                wrong.push(tree.slot(value).span);
            }
        }
        wrong.into_iter().for_each(|span| {
            self.problems.report(span, "`<<` takes an object or a list of objects")
        });
    }

    fn record_anchor(&mut self, anchor: usize, id: NodeId, expanded: Option<ExpandedSize>) {
        if anchor > 0 {
            let known = self.anchors.len().max(anchor + 1);
            self.anchors.resize_with(known, || None);
            self.anchors[anchor] = Some(YamlAnchor { id, expanded });
        }
    }

    fn alias(&mut self, anchor: usize, place: Span) {
        let target = self.anchors.get(anchor).and_then(Option::as_ref).map(|a| (a.id, a.expanded));
        let (id, expanded) = match target {
            Some((id, Some(expanded))) => (id, expanded),
            Some((_, None)) => {
                self.problems.report(place, "this alias stands inside its own anchor");
                return self.add_null(place);
            }
            None => return self.add_null(place),
        };
        if self.expects_key() && expanded.height > 0 {
            self.problems.report(place, "a key must be a scalar");
            return self.add_null(place);
        }
        self.aliased = self.aliased.saturating_add(expanded.size);
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases repeat more than {MAX_ALIASED_NODES} values");
            return self.problems.stop(&codes::TOO_LARGE, place, message);
        }
        if self.builder.depth() + expanded.height > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep through this alias");
            return self.problems.stop(&codes::TOO_DEEP, place, message);
        }
        let kind = self.builder.tree.slot(id).kind;
        self.builder.add(kind, Style::Plain, place, NodeData::Alias { target: id });
        self.add_to_parent(expanded);
    }

    fn syntax_error(&mut self, error: &ScanError) {
        let end = self.text.len();
        let at = error.marker().byte_offset().unwrap_or(end).min(end);
        let at = self.text.floor_char_boundary(at);
        let width = self.text[at..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
        let place = Span::new(at, at + width);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return self.problems.stop(&codes::TOO_DEEP, place, message);
        }
        if *error.kind() == ErrorKind::TooManyComments {
            let message = format!("more than {MAX_COMMENT_LINES} comments in a row");
            return self.problems.stop(&codes::TOO_LARGE, place, message);
        }
        // The parser's own words for `[a, , b]` are about an end of text that is not there.
        let message = if self.text[at..].starts_with(',') {
            "a value is missing before this `,`".to_owned()
        } else {
            error.info()
        };
        let mut problem = self.problems.syntax(place, message);
        problem.help.extend(hint(error.kind()).map(str::to_owned));
        self.problems.push(problem);
        self.problems.stopped = true;
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

/// The tag `!`, which says "no type but the one of its shape".
fn is_non_specific(tag: &Tag) -> bool {
    tag.handle().is_empty() && tag.suffix() == "!"
}

/// The first byte from `at` on that is neither white space nor part of a comment.
pub(crate) fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_start_matches([' ', '\t', '\r', '\n']);
        at = text.len() - rest.len();
        if !rest.starts_with('#') {
            return at;
        }
        at += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
}

/// The end of the next `count` anchors and tags.
fn skip_properties(text: &str, mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        let next = skip_blank(text, at);
        let rest = &text[next..];
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}');
        let end =
            if rest.starts_with("!<") { rest.find('>').map(|n| n + 1) } else { rest.find(ends) };
        at = next + end.unwrap_or(rest.len());
    }
    at
}

/// What to do about the mistakes people make most.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => Some("indent with spaces"),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => {
            Some("close the quote, or double it if it is part of the text")
        }
        ErrorKind::InvalidSimpleKey
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::MappingValueNotAllowed => {
            Some("quote the text if its `:` does not separate a key from a value")
        }
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey => {
            Some("indent it like the lines it belongs to")
        }
        _ => None,
    }
}
