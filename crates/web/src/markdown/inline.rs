//! The text of one paragraph, heading or table cell, with its formatting.
//!
//! It is collected first and written when it is complete, because Markdown's delimiters depend on
//! what comes later: whether `*` opens emphasis is decided by the characters on both of its sides
//! (CommonMark, section 6.2), and whether the emphasis is closed by those at its end.
//!
//! ```text
//! text:  "High at noon, see the table."               escaped, white space collapsed
//! marks: 8 Open(Strong)  12 Close  18 Open(Link) …    byte offsets into the text
//! ```
//!
//! Writing takes two steps: `normalize_spans` moves and removes marks until all spans can be
//! written, and [`InlineWriter`] goes through text and marks once, choosing the syntax for each
//! span. Where no delimiter works, a span becomes an HTML element, which always works.

use super::escape::{is_html_whitespace, line_start_escape, push_code_span, push_text};
use super::links::LinkWriter;
use crate::html::HtmlNodeId;

/// A kind of formatting around a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineSpan {
    /// `*text*` or `_text_`.
    Emphasis,
    /// `**text**` or `__text__`.
    Strong,
    /// `~~text~~`, from GFM.
    Deleted,
    /// The HTML element of this name, which Markdown has no syntax for.
    RawHtml(&'static str),
    /// A link; [`LinkWriter`] finds the destination in the attributes of this element.
    Link(HtmlNodeId),
}

impl InlineSpan {
    /// Whether both are the same kind of formatting; where links lead does not matter.
    fn is_same_kind(self, other: InlineSpan) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// How a line break within the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineBreakStyle {
    /// A backslash at the end of the line.
    Newline,
    /// `<br>`, for headings and table cells, which cannot have a second line.
    Tag,
}

/// What happens at an offset of the text. Spans are indices into `InlineBuffer::spans`.
#[derive(Clone, Copy, Debug)]
enum InlineMark {
    /// A span opens.
    Open(usize),
    /// A span closes.
    Close(usize),
    /// Code begins, which ends at this offset.
    Code(usize),
    /// An image, by its element.
    Image(HtmlNodeId),
    /// A line break.
    LineBreak,
    /// Left by `drop_invisible_spans`, which removes it before it returns.
    Removed,
}

impl InlineMark {
    /// Whether it stands for content, so that line breaks before it have to be kept.
    fn is_content(self) -> bool {
        matches!(self, InlineMark::Code(_) | InlineMark::Image(_))
    }
}

/// The syntax chosen for one span; a span is closed with the syntax that it was opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanSyntax {
    /// The same delimiter on both sides, such as `**`.
    Delimiter(&'static str),
    /// An HTML element of this name.
    Tag(&'static str),
    /// `[text](destination)`.
    Link,
}

/// The character beside a delimiter, in the classes that CommonMark's rules distinguish. The
/// beginning and the end of a line count as white space.
///
/// CommonMark 6.2: whether a delimiter run can open or close depends on the classes on both of its
/// sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NeighbourClass {
    Whitespace,
    Punctuation,
    /// Everything else: letters, digits, symbols of other scripts.
    Letter,
}

/// Collects the text of the current paragraph, heading or cell.
#[derive(Debug, Default)]
pub(super) struct InlineBuffer {
    /// Escaped text with white space collapsed. Code is part of it, not escaped.
    text: String,
    /// Offsets into `text` in ascending order, each with what happens there.
    marks: Vec<(usize, InlineMark)>,
    /// All spans that were opened since the last write.
    spans: Vec<InlineSpan>,
    /// The spans that are open, outermost first, as indices into `spans`.
    open: Vec<usize>,
    /// The offset at which the current code began.
    code: Option<usize>,
    /// Whether the text ends with white space or is empty: more white space then adds nothing, as
    /// in a browser.
    after_space: bool,
    /// Whether there is anything other than white space. Code that is still open does not count.
    has_content: bool,
    /// Bytes of output after which nothing more is written. The walker fails with
    /// `ConversionError::TooLarge` soon after; this keeps one paragraph from taking all memory
    /// before the walker gets to check.
    limit: usize,
}

impl InlineBuffer {
    /// `limit` is the number of bytes that the whole output may have.
    pub(super) fn new(limit: usize) -> InlineBuffer {
        InlineBuffer { after_space: true, limit, ..InlineBuffer::default() }
    }

    /// About how many bytes of output the collected text will take. A mark counts as eight.
    pub(super) fn size_hint(&self) -> usize {
        self.text.len() + 8 * self.marks.len()
    }

    /// Whether there is anything other than white space and line breaks.
    pub(super) fn has_content(&self) -> bool {
        self.has_content || self.code.is_some_and(|start| !self.text[start..].trim().is_empty())
    }

    /// Whether a line break was added last, so that another would be the second in a row.
    pub(super) fn is_after_break(&self) -> bool {
        self.after_space
            && matches!(self.marks.last(), Some((at, InlineMark::LineBreak))
                if self.text[*at..].trim().is_empty())
    }

    /// Adds text of the page. Characters that would be read as markup are escaped and white space
    /// is collapsed; code is not escaped.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(start) = self.code {
            // White space at the beginning of a paragraph is not shown, not even in code.
            // Elsewhere it belongs to the code: `<code> a</code>` has a space to see.
            let is_first = !self.has_content && self.text.len() == start;
            let text = if is_first { text.trim_ascii_start() } else { text };
            push_code_text(&mut self.text, text, start);
            return;
        }
        let before = self.text.len();
        push_text(&mut self.text, text, self.after_space);
        let added = &self.text[before..];
        if !added.is_empty() {
            self.after_space = added.ends_with(' ');
            self.has_content = self.has_content || !added.trim().is_empty();
        }
    }

    /// Adds white space, such as between two buttons.
    pub(super) fn space(&mut self) {
        self.text(" ");
    }

    /// Adds a line break. In code it is a space, and at the beginning of a paragraph it is
    /// ignored: Markdown can express neither.
    pub(super) fn line_break(&mut self) {
        if self.code.is_some() {
            self.text(" ");
        } else if self.has_content {
            self.marks.push((self.text.len(), InlineMark::LineBreak));
            self.after_space = true;
        }
    }

    /// Adds an image.
    pub(super) fn image(&mut self, id: HtmlNodeId) {
        self.outside_code(|inline| {
            inline.after_space = false;
            inline.has_content = true;
            inline.marks.push((inline.text.len(), InlineMark::Image(id)));
        });
    }

    /// Opens a span inside of those that are open already.
    pub(super) fn open(&mut self, span: InlineSpan) {
        self.outside_code(|inline| {
            let index = inline.spans.len();
            inline.spans.push(span);
            inline.open.push(index);
            inline.marks.push((inline.text.len(), InlineMark::Open(index)));
        });
    }

    /// Closes the innermost span.
    pub(super) fn close(&mut self) {
        self.outside_code(|inline| {
            if let Some(index) = inline.open.pop() {
                inline.marks.push((inline.text.len(), InlineMark::Close(index)));
            }
        });
    }

    /// Whether code is open.
    pub(super) fn is_code(&self) -> bool {
        self.code.is_some()
    }

    /// Begins code. The walker counts nested code elements; here code is either open or not.
    pub(super) fn open_code(&mut self) {
        self.code = Some(self.text.len());
    }

    /// Ends code, if it is open. Code of nothing but white space becomes a space, because Markdown
    /// has no empty code spans.
    pub(super) fn close_code(&mut self) {
        let Some(start) = self.code.take() else { return };
        let end = self.text.len();
        if end > start && self.text[start..].trim().is_empty() {
            self.text.truncate(start);
            return self.space();
        }
        if end > start {
            self.mark_code(start);
        }
    }

    /// Marks the text from `start` to its end as code.
    fn mark_code(&mut self, start: usize) {
        let end = self.text.len();
        match self.marks.last_mut() {
            // Directly after other code it extends that: the backticks that end one code span and
            // begin the next would be read as one run.
            Some((_, InlineMark::Code(before))) if *before == start => *before = end,
            _ => self.marks.push((start, InlineMark::Code(end))),
        }
        self.has_content = true;
        self.after_space = false;
    }

    /// Adds a line of preformatted text as code, with its white space as it is. Used in table
    /// cells, where a code block is impossible.
    pub(super) fn code_line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.outside_code(|inline| {
            let start = inline.text.len();
            inline.text.push_str(line);
            inline.mark_code(start);
        });
    }

    /// Ends open code, does `work` and begins code again. A code span of Markdown contains only
    /// text, so a link in code becomes code in a link, between two pieces of code.
    fn outside_code(&mut self, work: impl FnOnce(&mut InlineBuffer)) {
        let in_code = self.is_code();
        self.close_code();
        work(self);
        if in_code {
            self.open_code();
        }
    }

    /// Appends the collected text to `out` and empties the buffer. Every line after the first
    /// begins with `prefix`.
    ///
    /// Spans that are open are closed here and opened again for what follows: in HTML one `<b>`
    /// can contain two paragraphs, in Markdown each paragraph needs its own delimiters.
    pub(super) fn write(
        &mut self,
        out: &mut String,
        prefix: &str,
        breaks: LineBreakStyle,
        links: &LinkWriter,
    ) {
        let in_code = self.is_code();
        if in_code {
            // The code continues in the next paragraph. White space at its end is at the end of
            // this paragraph, where it is not shown.
            self.text.truncate(self.text.trim_end().len().max(self.code.unwrap_or_default()));
        }
        self.close_code();
        let open: Vec<InlineSpan> = self.open.iter().map(|index| self.spans[*index]).collect();
        while !self.open.is_empty() {
            self.close();
        }
        // Without content there is nothing to write, whatever spans were opened and closed.
        if self.has_content {
            self.normalize_spans();
            let writer = InlineWriter {
                links,
                content_end: self.text.trim_end().len(),
                last_content_mark: self.marks.iter().rposition(|(_, mark)| mark.is_content()),
                inline: self,
                out,
                prefix,
                breaks,
                open: Vec::new(),
                at_line_start: true,
                first_line: true,
            };
            writer.write();
        }
        self.text.clear();
        self.marks.clear();
        self.spans.clear();
        self.after_space = true;
        self.has_content = false;
        for span in open {
            self.open(span);
        }
        if in_code {
            self.open_code();
        }
    }

    /// Changes the marks until all spans can be written. The two steps repeat until nothing more
    /// is removed, because an empty span may have kept white space or a line break from moving.
    fn normalize_spans(&mut self) {
        loop {
            let before = self.marks.len();
            self.move_whitespace_out_of_spans();
            self.drop_invisible_spans();
            if self.marks.len() == before {
                return;
            }
        }
    }

    /// Moves white space and line breaks at the edges of spans out of them: `<b> a </b>` is bold,
    /// `** a **` is not.
    ///
    /// The text stays as it is; opening marks move forward past white space, closing marks move
    /// back. How far a mark can move is limited by the next mark in that direction, so opening
    /// marks are visited from the last to the first, and closing marks from the first to the last:
    /// the next mark has its final place by then.
    fn move_whitespace_out_of_spans(&mut self) {
        let InlineBuffer { text, marks, .. } = self;
        let end_of = |(at, mark): &(usize, InlineMark)| {
            if let InlineMark::Code(end) = mark { *end } else { *at }
        };
        for index in (0..marks.len()).rev() {
            if !matches!(marks[index].1, InlineMark::Open(_)) {
                continue;
            }
            let mut here = index;
            loop {
                let limit = marks.get(here + 1).map_or(text.len(), |(at, _)| *at);
                let rest = &text[marks[here].0..limit];
                marks[here].0 = limit - rest.trim_start().len();
                let is_before_break =
                    matches!(marks.get(here + 1), Some((_, InlineMark::LineBreak)));
                if marks[here].0 != limit || !is_before_break {
                    break;
                }
                marks.swap(here, here + 1);
                here += 1;
            }
        }
        for index in 0..marks.len() {
            if !matches!(marks[index].1, InlineMark::Close(_)) {
                continue;
            }
            let mut here = index;
            loop {
                let limit = if here == 0 { 0 } else { end_of(&marks[here - 1]) };
                let rest = &text[limit..marks[here].0];
                marks[here].0 = limit + rest.trim_end().len();
                let is_after_break = here > 0 && matches!(marks[here - 1].1, InlineMark::LineBreak);
                if marks[here].0 != limit || !is_after_break {
                    break;
                }
                marks.swap(here, here - 1);
                here -= 1;
            }
        }
    }

    /// Removes spans that change nothing: empty ones, and links within links and deletions within
    /// deletions; Markdown can nest neither.
    fn drop_invisible_spans(&mut self) {
        // For each open span: the index of its mark, how many marks with content there were before
        // it, and whether a span of the same kind is around it.
        let mut opened: Vec<(usize, usize, bool)> = Vec::new();
        let mut contents = 0;
        for index in 0..self.marks.len() {
            match self.marks[index].1 {
                InlineMark::Open(span) => {
                    let span = self.spans[span];
                    let repeats = matches!(span, InlineSpan::Deleted | InlineSpan::Link(_))
                        && opened.iter().any(|(mark, ..)| self.opens_same_kind(*mark, span));
                    opened.push((index, contents, repeats));
                }
                InlineMark::Close(_) => {
                    let Some((open, contents_before, repeats)) = opened.pop() else { continue };
                    let is_empty =
                        self.marks[open].0 >= self.marks[index].0 && contents_before == contents;
                    if repeats || is_empty {
                        self.marks[open].1 = InlineMark::Removed;
                        self.marks[index].1 = InlineMark::Removed;
                    }
                }
                InlineMark::Code(_) | InlineMark::Image(_) => contents += 1,
                InlineMark::LineBreak | InlineMark::Removed => {}
            }
        }
        self.marks.retain(|(_, mark)| !matches!(mark, InlineMark::Removed));
    }

    /// `mark` is the index of an opening mark.
    fn opens_same_kind(&self, mark: usize, span: InlineSpan) -> bool {
        let InlineMark::Open(other) = self.marks[mark].1 else { return false };
        self.spans[other].is_same_kind(span)
    }
}

/// Appends text to a code span that began at `start`. Runs of white space become one space, and
/// nothing is escaped: in code, a backslash is a backslash.
fn push_code_text(out: &mut String, text: &str, start: usize) {
    for c in text.chars() {
        if !(c.is_ascii() && is_html_whitespace(c as u8)) {
            out.push(c);
        } else if !out[start..].ends_with(' ') {
            out.push(' ');
        }
    }
}

/// Writes the content of an [`InlineBuffer`] as Markdown, in one pass over its marks.
struct InlineWriter<'a, 'l> {
    inline: &'a InlineBuffer,
    links: &'a LinkWriter<'l>,
    /// The offset from which on the text is only white space.
    content_end: usize,
    /// The index of the last mark that is content itself.
    last_content_mark: Option<usize>,
    out: &'a mut String,
    /// What every line after the first begins with, such as `> `.
    prefix: &'a str,
    breaks: LineBreakStyle,
    /// The spans that are open, outermost first, each with its syntax.
    open: Vec<(usize, SpanSyntax)>,
    /// Whether the current line has nothing but its prefix.
    at_line_start: bool,
    /// Whether this is the first line. Further lines can turn the text before them into a heading
    /// (`===`) or a table (`|---|`).
    first_line: bool,
}

impl InlineWriter<'_, '_> {
    fn write(mut self) {
        let start = self.out.len();
        let mut done = 0;
        for index in 0..self.inline.marks.len() {
            if self.out.len() > self.inline.limit {
                break;
            }
            let (at, mark) = &self.inline.marks[index];
            self.text(done, *at, index);
            done = (*at).max(done);
            match mark {
                InlineMark::Open(span) => self.open_span(index, *span),
                InlineMark::Close(span) => self.close_span(*span),
                InlineMark::Code(end) => {
                    self.code_span(&self.inline.text[*at..*end]);
                    self.at_line_start = false;
                    done = *end;
                }
                InlineMark::Image(id) => {
                    self.links.push_image(self.out, *id);
                    self.at_line_start = false;
                }
                InlineMark::LineBreak => {
                    if self.has_more(index) {
                        self.line_break(start);
                    }
                }
                InlineMark::Removed => {}
            }
        }
        self.text(done, self.inline.text.len(), self.inline.marks.len());
        trim_spaces(self.out, start);
    }

    /// Writes code; `<code>` where backticks are ambiguous.
    fn code_span(&mut self, code: &str) {
        // In a table, a pipe has to be escaped even in code, and renderers differ on what a
        // backslash before that escape means. HTML has no such ambiguity.
        if self.breaks == LineBreakStyle::Tag && code.contains("\\|") {
            self.out.push_str("<code>");
            push_text(self.out, code, false);
            self.out.push_str("</code>");
        } else {
            push_code_span(self.out, code);
        }
    }

    /// Whether content follows the mark. A line break at the end of a paragraph is not shown.
    fn has_more(&self, index: usize) -> bool {
        self.inline.marks[index].0 < self.content_end
            || self.last_content_mark.is_some_and(|last| index < last)
    }

    /// Ends the line. Spaces before a line break are not shown, and two of them would be a second
    /// line break in Markdown. `start` is where this paragraph began in the output.
    fn line_break(&mut self, start: usize) {
        trim_spaces(self.out, start);
        match self.breaks {
            LineBreakStyle::Tag => self.out.push_str("<br>"),
            LineBreakStyle::Newline => {
                self.out.push_str("\\\n");
                self.out.push_str(self.prefix);
                self.at_line_start = true;
                self.first_line = false;
            }
        }
    }

    /// Writes the text between two offsets; `next` is the index of the mark that follows. At the
    /// beginning of a line, it escapes what would make the line a heading, a list item or the
    /// like.
    fn text(&mut self, from: usize, to: usize, next: usize) {
        if from >= to {
            return;
        }
        let mut piece = &self.inline.text[from..to];
        if self.at_line_start {
            piece = piece.trim_start_matches(' ');
            if piece.is_empty() {
                return;
            }
            // `---` is a thematic break only if nothing else is on the line, so the decision needs
            // the whole line, not only this piece.
            let start = to - piece.len();
            let line_break = self.inline.marks[next..]
                .iter()
                .find(|(_, mark)| matches!(mark, InlineMark::LineBreak));
            let end = line_break.map_or(self.inline.text.len(), |(at, _)| *at);
            let line = self.inline.text[start..end].trim_end();
            if self.breaks == LineBreakStyle::Newline
                && let Some(at) = line_start_escape(line, self.first_line)
                && at < piece.len()
            {
                self.out.push_str(&piece[..at]);
                self.out.push('\\');
                piece = &piece[at..];
            }
            self.at_line_start = false;
        }
        self.out.push_str(piece);
    }

    /// `index` is that of the mark, `span` that of the span.
    fn open_span(&mut self, index: usize, span: usize) {
        let syntax = self.choose_syntax(index, span);
        match syntax {
            SpanSyntax::Delimiter(delimiter) => self.out.push_str(delimiter),
            SpanSyntax::Tag(name) => self.out.extend(["<", name, ">"]),
            SpanSyntax::Link => {
                // A link after an exclamation mark would be an image.
                if !self.at_line_start && self.out.ends_with('!') {
                    self.out.pop();
                    self.out.push_str("\\!");
                }
                self.out.push('[');
            }
        }
        self.at_line_start = false;
        self.open.push((span, syntax));
    }

    /// Spans are properly nested, so the innermost open one is the one to close.
    fn close_span(&mut self, span: usize) {
        let Some((_, syntax)) = self.open.pop() else { return };
        match (syntax, &self.inline.spans[span]) {
            (SpanSyntax::Delimiter(delimiter), _) => self.out.push_str(delimiter),
            (SpanSyntax::Tag(name), _) => self.out.extend(["</", name, ">"]),
            (SpanSyntax::Link, InlineSpan::Link(id)) => self.links.push_target(self.out, *id),
            _ => {}
        }
    }

    /// The first syntax for a span that works at this place; an HTML element if no delimiter does.
    fn choose_syntax(&self, index: usize, span: usize) -> SpanSyntax {
        let kind = self.inline.spans[span];
        let (delimiters, tag): (&[&'static str], _) = match kind {
            InlineSpan::Emphasis => (&["*", "_"], "em"),
            InlineSpan::Strong => (&["**", "__"], "strong"),
            InlineSpan::Deleted => (&["~~"], "del"),
            InlineSpan::RawHtml(name) => return SpanSyntax::Tag(name),
            InlineSpan::Link(_) => return SpanSyntax::Link,
        };
        let marks = &self.inline.marks;
        // A span that is never closed does not occur, since `write` closes all; an element is the
        // safe choice.
        let close = marks[index..]
            .iter()
            .position(|(_, mark)| matches!(mark, InlineMark::Close(closed) if *closed == span));
        let Some(close) = close.map(|offset| index + offset) else { return SpanSyntax::Tag(tag) };
        delimiters
            .iter()
            .find(|delimiter| self.delimiter_works(delimiter, kind, index, close))
            .map_or(SpanSyntax::Tag(tag), |delimiter| SpanSyntax::Delimiter(delimiter))
    }

    /// Whether a span between the marks `open` and `close` is read as one if it is written with
    /// this delimiter.
    ///
    /// Three conditions: no delimiter of the same character touches it, because two runs would be
    /// read as one; no open span of its kind has the same delimiter, because the first closing one
    /// would end the outer span; and CommonMark's flanking rules (section 6.2) hold on both sides.
    ///
    /// ```text
    ///        outer_left │ inner_left      inner_right │ outer_right
    ///     …  e.g. space ** N o t e            t  e  : ** e.g. space  …
    /// ```
    fn delimiter_works(
        &self,
        delimiter: &'static str,
        kind: InlineSpan,
        open: usize,
        close: usize,
    ) -> bool {
        use NeighbourClass::{Letter, Punctuation, Whitespace};
        let character = &delimiter[..1];
        let touches_before = !self.at_line_start && self.out.ends_with(character);
        // On the right, only the end of an enclosing span can touch: everything else has not been
        // written yet, and looks at this delimiter when it is.
        let touches_after = match self.inline.marks.get(close + 1) {
            Some((at, InlineMark::Close(outer))) if *at == self.inline.marks[close].0 => {
                let outer = self.open.iter().find(|(span, _)| span == outer);
                outer.is_some_and(|(_, syntax)| match syntax {
                    SpanSyntax::Delimiter(other) => other.starts_with(character),
                    _ => false,
                })
            }
            _ => false,
        };
        let is_taken = self.open.iter().any(|(span, syntax)| {
            self.inline.spans[*span].is_same_kind(kind)
                && *syntax == SpanSyntax::Delimiter(delimiter)
        });
        if touches_before || touches_after || is_taken {
            return false;
        }
        let outer_left = match self.out.chars().next_back() {
            _ if self.at_line_start => Whitespace,
            c => outer_class(c),
        };
        let inner_left = self.class_after(open, inner_class);
        let inner_right = self.class_before(close);
        let outer_right = self.class_after(close, outer_class);
        // Left-flanking at its beginning, right-flanking at its end.
        let opens = inner_left != Whitespace && (inner_left == Letter || outer_left != Letter);
        let closes = inner_right != Whitespace && (inner_right == Letter || outer_right != Letter);
        if character != "_" {
            return opens && closes;
        }
        // `_` has a stricter rule, so that `snake_case` stays a word: a delimiter that is flanking
        // on both sides opens only after punctuation, and closes only before it.
        let closes_at_start =
            outer_left != Whitespace && (outer_left == Letter || inner_left != Letter);
        let opens_at_end =
            outer_right != Whitespace && (outer_right == Letter || inner_right != Letter);
        opens
            && closes
            && (!closes_at_start || outer_left == Punctuation)
            && (!opens_at_end || outer_right == Punctuation)
    }

    /// What the output will have directly after the mark. Another mark at the same offset is
    /// written as syntax, which always begins with punctuation; a line break counts as white
    /// space.
    fn class_after(
        &self,
        index: usize,
        class: fn(Option<char>) -> NeighbourClass,
    ) -> NeighbourClass {
        let (at, _) = self.inline.marks[index];
        match self.inline.marks.get(index + 1) {
            Some((next, InlineMark::LineBreak)) if *next == at => NeighbourClass::Whitespace,
            Some((next, _)) if *next == at => NeighbourClass::Punctuation,
            _ => class(self.inline.text[at..].chars().next()),
        }
    }

    /// What the output will have directly before the mark.
    fn class_before(&self, index: usize) -> NeighbourClass {
        let (at, _) = self.inline.marks[index];
        let previous = index.checked_sub(1).map(|previous| &self.inline.marks[previous]);
        match previous {
            Some((_, InlineMark::Code(end))) if *end == at => NeighbourClass::Punctuation,
            Some((there, InlineMark::LineBreak)) if *there == at => NeighbourClass::Whitespace,
            Some((there, _)) if *there == at => NeighbourClass::Punctuation,
            _ => inner_class(self.inline.text[..at].chars().next_back()),
        }
    }
}

/// Removes spaces at the end of what was written since `start`.
fn trim_spaces(out: &mut String, start: usize) {
    let end = start + out[start..].trim_end_matches(' ').len();
    out.truncate(end);
}

/// The class of a character inside of a span, next to its delimiter.
///
/// Renderers differ on symbols outside of ASCII: newer versions of CommonMark count them as
/// punctuation, older ones do not. The class with which a delimiter is less likely to work is
/// assumed, so that it works in all of them: punctuation inside, a letter outside.
fn inner_class(c: Option<char>) -> NeighbourClass {
    match c {
        Some(c) if !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() => {
            NeighbourClass::Punctuation
        }
        c => outer_class(c),
    }
}

/// The class of a character outside of a span, next to its delimiter; `None` is the end of the
/// text.
fn outer_class(c: Option<char>) -> NeighbourClass {
    match c {
        None => NeighbourClass::Whitespace,
        Some(c) if c.is_whitespace() => NeighbourClass::Whitespace,
        Some(c) if c.is_ascii_punctuation() => NeighbourClass::Punctuation,
        Some(_) => NeighbourClass::Letter,
    }
}
