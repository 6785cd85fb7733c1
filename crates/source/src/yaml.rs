//! YAML text into the tree. Only this module and its child name the YAML parser.
//!
//! ```text
//! text ─ simple_blocks::read ─────────────────▶ YamlEventReader ─▶ Tree    most definitions
//!   └──── granit_parser ─ Event with span ────▶ YamlEventReader ─▶ Tree    everything else
//! ```
//!
//! The parser delivers a flat stream of events. [`YamlEventReader`] turns it into the tree that
//! JSON has as well, and does what the parser leaves out:
//!
//! - Aliases stay references. Each anchor has the size and height of its value with aliases written
//!   out, so that the limits hold for the expanded document and a few hundred bytes cannot become
//!   gigabytes in a later step.
//! - Spans are corrected where the parser's events start late (block scalars, block lists, values
//!   that are not written), because diagnostics and edits work by span.
//! - YAML that JSON cannot express (keys that are not scalars, foreign tags, a second document) is
//!   reported and read as `null` or ignored, so that readers see JSON values only.
//!
//! In contrast to JSON, reading stops at the first syntax error: behind one, indentation cannot be
//! trusted. The tree keeps what came before it.

mod simple_blocks;

use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};

use crate::document::ParsedText;
use crate::problems::{ProblemCollector, shorten_to_ascii};
use crate::tree::{NodeData, NodeId, Style, TreeBuilder, ValueKind};
use crate::{MAX_ALIASED_NODES, MAX_BYTES, MAX_DEPTH, MAX_NODES, Source, Span, codes, core_schema};

/// How large and how deep a value is, with aliases counted as if written out.
///
/// ```text
/// a: &a [1, 1]       size 3, height 1
/// b: &b [*a, *a]     size 7, height 2
/// c: [*b, *b]        size 15, height 3: it doubles with every line
/// ```
#[derive(Clone, Copy)]
struct ExpandedSize {
    /// Values in it, itself included.
    size: usize,
    /// Bytes of text of its scalars.
    bytes: usize,
    /// Levels of containers: 0 for a scalar, 1 for an empty container.
    height: usize,
}

/// Comments in a row. The parser buffers them while it looks for the next value, at some 200 bytes
/// each, so this bounds its memory to 10 MB.
const MAX_COMMENT_LINES: usize = 50_000;
/// Comments that are kept in all.
const MAX_COMMENTS: usize = MAX_NODES;

/// The size of a scalar without text.
const LEAF: ExpandedSize = ExpandedSize { size: 1, bytes: 0, height: 0 };
/// The size of a container before its first child.
const EMPTY: ExpandedSize = ExpandedSize { size: 1, bytes: 0, height: 1 };

/// An anchor (`&name`) that aliases may refer to.
struct YamlAnchor {
    /// The slot of the anchored value.
    id: NodeId,
    /// `None` while the anchored collection is still open: an alias to it would be a cycle.
    expanded: Option<ExpandedSize>,
}

/// A collection that is being read; one for each open container of the builder.
struct OpenCollection {
    /// The number of its anchor, 0 if it has none. (The parser numbers anchors from 1.)
    anchor: usize,
    expanded: ExpandedSize,
}

/// Turns parser events into the tree.
struct YamlEventReader<'s> {
    text: &'s str,
    builder: TreeBuilder,
    problems: ProblemCollector<'s>,
    /// By the parser's number, which counts from one. A name that is anchored again gets a new
    /// number.
    anchors: Vec<Option<YamlAnchor>>,
    open_collections: Vec<OpenCollection>,
    /// Values that aliases have added so far, against [`MAX_ALIASED_NODES`].
    aliased: usize,
    /// Bytes of text that aliases have added so far, against [`MAX_BYTES`].
    aliased_bytes: usize,
    /// How many collections are open inside a key that is not a scalar. Events are dropped until it
    /// is 0 again, and the key becomes `null`.
    skipping: usize,
    /// The byte where such a key starts.
    skipped_from: u32,
    /// Where the document's own text starts, behind any `---`.
    start: usize,
    /// Documents started so far. Only the first one is read.
    documents: usize,
}

/// Parses the text of `source`. Never fails; mistakes are in the problems of the result. Builds
/// with debug assertions read simple texts in both ways and panic if the results differ, so that
/// every test and every fuzzing run compares the two.
pub(crate) fn parse(source: &Arc<Source>) -> ParsedText {
    let simple = simple_blocks::read(source);
    if cfg!(debug_assertions)
        && let Some(simple) = &simple
    {
        let parsed = parse_events(source);
        assert_eq!(format!("{simple:?}"), format!("{parsed:?}"), "{}", source.text());
    }
    simple.unwrap_or_else(|| parse_events(source))
}

/// Parses the text with the YAML parser.
fn parse_events(source: &Arc<Source>) -> ParsedText {
    let mut reader = YamlEventReader::new(source);
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: MAX_COMMENT_LINES,
        // The parser has a limit for each kind of collection; ours counts both kinds together and
        // is checked first. The parser's limits remain as a guard of its own stack.
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

/// The tree's word for the style of a collection.
fn style_of(style: StructureStyle) -> Style {
    match style {
        StructureStyle::Flow => Style::Flow,
        StructureStyle::Block => Style::Block,
    }
}

impl<'s> YamlEventReader<'s> {
    /// A reader without any events yet.
    fn new(source: &'s Arc<Source>) -> YamlEventReader<'s> {
        let text = source.text();
        YamlEventReader {
            text,
            builder: TreeBuilder::with_capacity((text.len() / 16).min(MAX_NODES) + 1),
            problems: ProblemCollector::new(source),
            anchors: Vec::new(),
            open_collections: Vec::new(),
            aliased: 0,
            aliased_bytes: 0,
            skipping: 0,
            skipped_from: 0,
            start: 0,
            documents: 0,
        }
    }

    /// Closes what is open and hands over the result.
    /// `incomplete` tells that the tree may lack what followed.
    fn into_parsed(mut self) -> ParsedText {
        self.finish();
        let incomplete = self.problems.stopped;
        ParsedText { tree: self.builder.tree, problems: self.problems.into_vec(), incomplete }
    }

    /// The parser's span in our bytes. It has no offset at the end of some texts; that is the end.
    fn span(&self, span: granit_parser::Span) -> Span {
        let end = self.text.len();
        let start = span.start.byte_offset().unwrap_or(end).min(end);
        Span::new(start, span.end.byte_offset().unwrap_or(start).min(end))
    }

    /// Takes the next event. Comments come first, because they may stand inside a skipped key.
    fn event(&mut self, event: Event<'s>, span: granit_parser::Span) {
        let place = self.span(span);
        if let Event::Comment(..) = event {
            return self.comment(place);
        }
        if self.skipping > 0 {
            return self.skip_key_event(&event, place);
        }
        // A problem with a tag is shown at the tag; the span of the event is that of the value.
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
                self.problems.report(
                    place,
                    format!("no anchor `&{}` before this alias", shorten_to_ascii(&name)),
                );
                self.add_null(place);
            }
            _ => {}
        }
        // Every kind of event may have added a value, so the check stands behind them all.
        if self.builder.is_full() {
            let message = format!("the document has more than {MAX_NODES} values");
            self.problems.stop(&codes::TOO_LARGE, place, message);
        }
    }

    /// Keeps the place of a comment.
    fn comment(&mut self, place: Span) {
        self.builder.tree.comments.push(place);
        if self.builder.tree.comments.len() >= MAX_COMMENTS {
            let message = format!("the document has more than {MAX_COMMENTS} comments");
            self.problems.stop(&codes::TOO_LARGE, place, message);
        }
    }

    /// Notes the start of a document and refuses a second one.
    fn start_document(&mut self, place: Span) {
        self.documents += 1;
        // Without a `---` the event may come late, even behind the header of a block scalar; the
        // document then starts at byte 0.
        let marked = self.text[place.start as usize..].starts_with("---");
        self.start = if marked { place.start as usize + 3 } else { 0 };
        if self.documents == 2 {
            let message = "a second document starts here; only one is read".to_owned();
            self.problems.stop(&codes::INVALID_SYNTAX, place, message);
        }
    }

    /// Whether the next value is a key: in a map with as many values as keys.
    fn expects_key(&self) -> bool {
        matches!(self.builder.top(), Some((_, ValueKind::Map, count)) if count % 2 == 0)
    }

    /// Adds the size of a value to that of the collection it was just added to.
    fn add_to_parent(&mut self, expanded: ExpandedSize) {
        if let Some(collection) = self.open_collections.last_mut() {
            collection.expanded.size = collection.expanded.size.saturating_add(expanded.size);
            collection.expanded.bytes = collection.expanded.bytes.saturating_add(expanded.bytes);
            collection.expanded.height = collection.expanded.height.max(expanded.height + 1);
        }
    }

    /// Adds a `null` in place of something that cannot be read. As a key it keeps the written text
    /// as its name, so that pointers to its value stay unique and readable.
    fn add_null(&mut self, place: Span) {
        let end = if self.expects_key() { place.end } else { place.start };
        let data = NodeData::Scalar { start: place.start, end, owned: false };
        self.builder.add(ValueKind::Null, Style::Plain, place, data);
        self.add_to_parent(LEAF);
    }

    /// Adds a scalar: corrects its span, resolves its type, and records its anchor.
    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<(&Tag, Span)>,
        place: Span,
    ) {
        // The span of an event excludes its anchor and tag, but the place of a value that is not
        // written is behind them.
        let properties = usize::from(anchor > 0) + usize::from(tag.is_some());
        let (text, place) = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                (text, self.block_scalar(place, properties))
            }
            // For a value that is not written the parser delivers `~` with an empty span.
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
        // Only a plain `<<` merges; in quotes it is an ordinary key.
        if is_key && style == Style::Plain && text == "<<" {
            self.mark_merge(id);
        }
        let expanded = ExpandedSize { bytes: text.len(), ..LEAF };
        self.add_to_parent(expanded);
        self.record_anchor(anchor, id, Some(expanded));
    }

    /// Refers to the source where the text stands there unchanged, and copies it where it does not
    /// (escapes, folded lines, doubled quotes).
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

    /// The span of a block scalar, from its `|` or `>` to the end of its text. The parser's own
    /// span starts at the text and runs into the indent of the next line:
    ///
    /// ```text
    /// key: |            parser:  line one␤  line two␤␤  (and the next line's indent)
    ///   line one        ours:    |␤  line one␤  line two
    ///   line two
    /// ```
    fn block_scalar(&self, place: Span, properties: usize) -> Span {
        let is_break = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        let text = self.text[place.range()].trim_end_matches(is_break).len();
        let start =
            self.after_indicator().map_or(0, |at| skip_properties(self.text, at, properties));
        let start = skip_blank(self.text, start);
        // No text at all: the span is the header alone.
        if text == 0 && self.text[start..].starts_with(['|', '>']) {
            let header = self.text[start..].lines().next().unwrap_or("");
            return Span::new(start, start + header.split(' ').next().unwrap_or("").len());
        }
        let end = place.start as usize + text;
        let marked = start < end && self.text[start..].starts_with(['|', '>']);
        Span::new(if marked { start } else { place.start as usize }, end)
    }

    /// The place of a value that is not written: right behind its `:` or `-`, or behind the anchor
    /// or tag it has. The parser notices the absence only at the next token, which may be lines
    /// below.
    ///
    /// ```text
    /// a:        the value of `a` is behind its colon; the parser reports it at `b`
    ///
    /// b: 1
    /// ```
    fn empty_value(&self, place: Span, properties: usize) -> Span {
        let at = self.after_indicator().map(|at| skip_properties(self.text, at, properties));
        at.map_or(place, |at| Span::new(at, at))
    }

    /// Where the text of the next value may begin: behind the `:`, `-` or `?` that precedes it.
    /// `None` if the value has no indicator, as a key without `?` or an item of a flow list.
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

    /// The type of a scalar, from its tag if it has one. A core tag that contradicts the text
    /// (`!!int abc`) is reported, and the text's own type is kept.
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
        // `!!int 1.0` is a contradiction, though both are numbers here. In `0x1e` the `e` is a
        // digit.
        let whole = !text.contains(['.', 'e', 'E']) || text.starts_with("0x");
        if wanted != resolved {
            self.problems
                .report(place, format!("`{}` is not {}", shorten_to_ascii(text), wanted.name()));
        } else if tag.core_suffix() == Some("int") && !whole {
            self.problems
                .report(place, format!("`{}` is not a whole number", shorten_to_ascii(text)));
        }
        resolved
    }

    /// Reports a tag outside of the core schema. Its value is read as if it had none.
    fn unknown_tag(&mut self, tag: &Tag, place: Span) {
        let name = format!("{}{}", tag.original_handle(), tag.suffix());
        self.problems
            .report(place, format!("tag `{}` has no meaning here", shorten_to_ascii(&name)));
    }

    /// Notes in the parent of `key` that it has a merge key, so that `Node` looks for one only
    /// where one is.
    fn mark_merge(&mut self, key: NodeId) {
        let parent = self.builder.tree.slot(key).parent;
        let slot = self.builder.tree.slots.get_mut(parent as usize);
        if let Some(NodeData::Container { merges, .. }) = slot.map(|slot| &mut slot.data) {
            *merges = true;
        }
    }

    /// Opens a collection, unless it is a key or nested too deep.
    fn open(
        &mut self,
        kind: ValueKind,
        style: Style,
        anchor: usize,
        tag: Option<(&Tag, Span)>,
        place: Span,
    ) {
        // JSON has string keys only. The whole key is skipped, so that its parts are not taken for
        // members.
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
        // Block maps start at their first key, and flow collections at their bracket; those events
        // are exact.
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

    /// The span of a block list from its first `-`. The event starts behind the dash where the list
    /// is not indented more than its key.
    ///
    /// ```text
    /// tags:
    /// - a         the list starts at this dash; the event starts at `a`
    /// ```
    fn first_dash(&self, place: Span, properties: usize) -> Span {
        let from = self
            .after_indicator()
            .map_or(place.start as usize, |at| skip_properties(self.text, at, properties));
        let at = skip_blank(self.text, from);
        if self.text[at..].starts_with('-') { Span::new(at, place.end as usize) } else { place }
    }

    /// Drops an event inside a key that is not a scalar; behind the last one the key is a `null`.
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

    /// Ends the innermost collection: its span, its keys, its merge keys, its size.
    fn close(&mut self, place: Span) {
        let Some((id, kind, count)) = self.builder.top() else { return };
        // A syntax error may have ended the text between a key and its value.
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
        // Now the size of the collection is known, for aliases to it and for the collection around
        // it.
        if let Some(collection) = self.open_collections.pop() {
            if let Some(Some(anchor)) = self.anchors.get_mut(collection.anchor) {
                anchor.expanded = Some(collection.expanded);
            }
            self.add_to_parent(collection.expanded);
        }
    }

    /// Reports what `<<` cannot merge. Only objects and lists of objects bring in members; anything
    /// else would be lost silently. `<<:` without a value brings in nothing and is allowed.
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

    /// Notes the value of an anchor; `expanded` is not known before a collection is closed.
    fn record_anchor(&mut self, anchor: usize, id: NodeId, expanded: Option<ExpandedSize>) {
        if anchor > 0 {
            // Numbers of anchors inside skipped keys never come here and leave gaps, hence the
            // `Option`s.
            let known = self.anchors.len().max(anchor + 1);
            self.anchors.resize_with(known, || None);
            self.anchors[anchor] = Some(YamlAnchor { id, expanded });
        }
    }

    /// Adds an alias as a reference, if its target is complete and the limits allow what it
    /// repeats.
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
        // An alias to a scalar is a key like any other.
        if self.expects_key() && expanded.height > 0 {
            self.problems.report(place, "a key must be a scalar");
            return self.add_null(place);
        }
        // Counted before it is added, and as if written out: sizes multiply from anchor to anchor,
        // which is why additions saturate.
        self.aliased = self.aliased.saturating_add(expanded.size);
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases repeat more than {MAX_ALIASED_NODES} values");
            return self.problems.stop(&codes::TOO_LARGE, place, message);
        }
        // Readers copy texts: a thousand aliases to one long text would become gigabytes.
        self.aliased_bytes = self.aliased_bytes.saturating_add(expanded.bytes);
        if self.aliased_bytes > MAX_BYTES {
            let message = format!("aliases repeat more than {} MiB of text", MAX_BYTES >> 20);
            return self.problems.stop(&codes::TOO_LARGE, place, message);
        }
        // The depth counts as if the value were written here: later recursion follows aliases.
        if self.builder.depth() + expanded.height > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep through this alias");
            return self.problems.stop(&codes::TOO_DEEP, place, message);
        }
        let kind = self.builder.tree.slot(id).kind;
        self.builder.add(kind, Style::Plain, place, NodeData::Alias { target: id });
        self.add_to_parent(expanded);
    }

    /// Reports the error that ended the parsing. Limits of the parser become our codes.
    fn syntax_error(&mut self, error: &ScanError) {
        let end = self.text.len();
        let at = error.marker().byte_offset().unwrap_or(end).min(end);
        let at = self.text.floor_char_boundary(at);
        // Mark one character, but not a line break: the caret would be drawn on the next line.
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
        // For `[a, , b]` the parser's message is about an unexpected end of the text.
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

    /// Closes what an error left open, so that the tree is whole.
    fn finish(&mut self) {
        // An open container ends where its last text ends; the rest of the file was not read.
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

/// The tag `!`, which turns type resolution off: a scalar with it is a string.
fn is_non_specific(tag: &Tag) -> bool {
    tag.handle().is_empty() && tag.suffix() == "!"
}

/// The first byte from `at` on that is neither white space nor part of a comment. Edits use it,
/// too.
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

/// The end of the next `count` properties (anchors and tags) from `at` on.
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

/// Help for the mistakes that people make most. The other messages of the parser stand alone.
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
