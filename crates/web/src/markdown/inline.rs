//! A run of text with its formatting, collected first and written when the paragraph is complete:
//! whether `*` opens emphasis depends on the characters on both of its sides, and those are known
//! only then.

use super::escape::{line_start, push_code, push_text};
use super::links::Links;
use crate::html::NodeId;

/// Formatting around a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Emphasis,
    Strong,
    Deleted,
    /// An HTML element that Markdown has no sign for.
    Kept(&'static str),
    /// The element that says where it leads.
    Link(NodeId),
}

/// How a line break within the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    /// A backslash and a new line.
    Lines,
    /// `<br>`, where everything has to stay on one line.
    Tags,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    Open(usize),
    Close(usize),
    /// Code, up to this place in the text.
    Code(usize),
    Image(NodeId),
    Break,
    /// Nothing any more.
    Gone,
}

impl Mark {
    /// Whether it shows something by itself.
    fn is_solid(self) -> bool {
        matches!(self, Mark::Code(_) | Mark::Image(_))
    }
}

/// The signs a span is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Delimiter(&'static str),
    Tag(&'static str),
    Link,
}

/// What stands beside a delimiter, as CommonMark tells it apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Space,
    Punctuation,
    Letter,
}

/// The text of the paragraph, heading or cell at hand.
#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    marks: Vec<(usize, Mark)>,
    spans: Vec<Span>,
    /// The spans that are open, outermost first.
    open: Vec<usize>,
    /// Where the code at hand began.
    code: Option<usize>,
    /// Whether white space that comes now adds nothing.
    after_space: bool,
    has_content: bool,
    /// The signs of the spans that are open while it is written; empty otherwise.
    signs: Vec<(usize, Sign)>,
    /// Bytes of output, beyond which nothing more is written.
    limit: usize,
}

impl Inline {
    pub(super) fn new(limit: usize) -> Inline {
        Inline { after_space: true, limit, ..Inline::default() }
    }

    /// What is still to be written, as bytes: a mark counts as a few of them.
    pub(super) fn pending(&self) -> usize {
        self.text.len() + 8 * self.marks.len()
    }

    /// Whether there is anything to show.
    pub(super) fn has_content(&self) -> bool {
        self.has_content || self.code.is_some_and(|start| !self.text[start..].trim().is_empty())
    }

    /// Whether a line break now would be the second in a row.
    pub(super) fn is_after_break(&self) -> bool {
        self.after_space
            && matches!(self.marks.last(), Some((at, Mark::Break)) if self.text[*at..].trim().is_empty())
    }

    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(start) = self.code {
            let begins = !self.has_content && self.text.len() == start;
            let text = if begins { text.trim_ascii_start() } else { text };
            collapse(&mut self.text, text, start);
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

    /// White space, such as between two boxes of one line.
    pub(super) fn space(&mut self) {
        self.text(" ");
    }

    pub(super) fn line_break(&mut self) {
        if self.code.is_some() {
            self.text(" ");
        } else if self.has_content {
            self.marks.push((self.text.len(), Mark::Break));
            self.after_space = true;
        }
    }

    pub(super) fn image(&mut self, id: NodeId) {
        self.interrupt_code(|inline| {
            inline.after_space = false;
            inline.has_content = true;
            inline.marks.push((inline.text.len(), Mark::Image(id)));
        });
    }

    pub(super) fn open(&mut self, span: Span) {
        self.interrupt_code(|inline| {
            let index = inline.spans.len();
            inline.spans.push(span);
            inline.open.push(index);
            inline.marks.push((inline.text.len(), Mark::Open(index)));
        });
    }

    /// Closes the innermost span.
    pub(super) fn close(&mut self) {
        self.interrupt_code(|inline| {
            if let Some(index) = inline.open.pop() {
                inline.marks.push((inline.text.len(), Mark::Close(index)));
            }
        });
    }

    pub(super) fn is_code(&self) -> bool {
        self.code.is_some()
    }

    pub(super) fn open_code(&mut self) {
        self.code = Some(self.text.len());
    }

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

    /// What the text has from `start` on is code.
    fn mark_code(&mut self, start: usize) {
        let end = self.text.len();
        match self.marks.last_mut() {
            // Code right behind code: two fences in a row would be one.
            Some((_, Mark::Code(before))) if *before == start => *before = end,
            _ => self.marks.push((start, Mark::Code(end))),
        }
        self.has_content = true;
        self.after_space = false;
    }

    /// A line of code, its white space as it stands.
    pub(super) fn code_line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.interrupt_code(|inline| {
            let start = inline.text.len();
            inline.text.push_str(line);
            inline.mark_code(start);
        });
    }

    fn interrupt_code(&mut self, work: impl FnOnce(&mut Inline)) {
        let in_code = self.is_code();
        self.close_code();
        work(self);
        if in_code {
            self.open_code();
        }
    }

    /// Writes what there is and begins anew. Spans that are open are closed, and opened again for
    /// what follows.
    pub(super) fn write(&mut self, out: &mut String, prefix: &str, breaks: Breaks, links: &Links) {
        let in_code = self.is_code();
        if in_code {
            // The paragraph ends within the code.
            self.text.truncate(self.text.trim_end().len().max(self.code.unwrap_or_default()));
        }
        self.close_code();
        let open: Vec<Span> = self.open.iter().map(|index| self.spans[*index]).collect();
        while !self.open.is_empty() {
            self.close();
        }
        if self.has_content {
            self.settle();
            let signs = std::mem::take(&mut self.signs);
            let painter = Painter {
                links,
                content_end: self.text.trim_end().len(),
                last_solid: self.marks.iter().rposition(|(_, mark)| mark.is_solid()),
                inline: self,
                out,
                prefix,
                breaks,
                signs,
                at_line_start: true,
                first_line: true,
            };
            self.signs = painter.paint();
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

    /// Brings spans into a form that can be written. What is dropped may have been in the way of
    /// what moves.
    fn settle(&mut self) {
        loop {
            let before = self.marks.len();
            self.move_space();
            self.drop_idle();
            if self.marks.len() == before {
                return;
            }
        }
    }

    /// Moves white space and breaks out of spans, where delimiters do not bear them.
    fn move_space(&mut self) {
        let Inline { text, marks, .. } = self;
        let end_of =
            |(at, mark): &(usize, Mark)| if let Mark::Code(end) = mark { *end } else { *at };
        for index in (0..marks.len()).rev() {
            if !matches!(marks[index].1, Mark::Open(_)) {
                continue;
            }
            let mut here = index;
            loop {
                let limit = marks.get(here + 1).map_or(text.len(), |(at, _)| *at);
                let rest = &text[marks[here].0..limit];
                marks[here].0 = limit - rest.trim_start().len();
                if marks[here].0 == limit && matches!(marks.get(here + 1), Some((_, Mark::Break))) {
                    marks.swap(here, here + 1);
                    here += 1;
                } else {
                    break;
                }
            }
        }
        for index in 0..marks.len() {
            if !matches!(marks[index].1, Mark::Close(_)) {
                continue;
            }
            let mut here = index;
            loop {
                let limit = if here == 0 { 0 } else { end_of(&marks[here - 1]) };
                let rest = &text[limit..marks[here].0];
                marks[here].0 = limit + rest.trim_end().len();
                if marks[here].0 == limit && here > 0 && matches!(marks[here - 1].1, Mark::Break) {
                    marks.swap(here, here - 1);
                    here -= 1;
                } else {
                    break;
                }
            }
        }
    }

    /// Drops spans that show nothing: empty ones, and links and strokes within their like.
    fn drop_idle(&mut self) {
        let mut opened: Vec<(usize, usize, bool)> = Vec::new();
        let mut contents = 0;
        for index in 0..self.marks.len() {
            match self.marks[index].1 {
                Mark::Open(span) => {
                    let kind = &self.spans[span];
                    let repeats = matches!(kind, Span::Deleted | Span::Link(_))
                        && opened.iter().any(|(open, ..)| self.is_same_kind(*open, kind));
                    opened.push((index, contents, repeats));
                }
                Mark::Close(_) => {
                    let Some((open, before, repeats)) = opened.pop() else { continue };
                    if repeats || (self.marks[open].0 >= self.marks[index].0 && before == contents)
                    {
                        self.marks[open].1 = Mark::Gone;
                        self.marks[index].1 = Mark::Gone;
                    }
                }
                Mark::Code(_) | Mark::Image(_) => contents += 1,
                Mark::Break | Mark::Gone => {}
            }
        }
        self.marks.retain(|(_, mark)| !matches!(mark, Mark::Gone));
    }

    fn is_same_kind(&self, mark: usize, kind: &Span) -> bool {
        let same = std::mem::discriminant(kind);
        matches!(self.marks[mark].1, Mark::Open(span) if std::mem::discriminant(&self.spans[span]) == same)
    }
}

/// Appends text of a code span that began at `start`: runs of white space are one space, nothing is
/// escaped.
fn collapse(out: &mut String, text: &str, start: usize) {
    for c in text.chars() {
        if !(c.is_ascii() && super::escape::is_space(c as u8)) {
            out.push(c);
        } else if !out[start..].ends_with(' ') {
            out.push(' ');
        }
    }
}

/// Writes one run of text.
struct Painter<'a> {
    inline: &'a Inline,
    links: &'a Links<'a>,
    /// Where the text has nothing but white space any more.
    content_end: usize,
    /// The last mark that shows something by itself.
    last_solid: Option<usize>,
    out: &'a mut String,
    prefix: &'a str,
    breaks: Breaks,
    /// The signs of the spans that are open.
    signs: Vec<(usize, Sign)>,
    at_line_start: bool,
    first_line: bool,
}

impl Painter<'_> {
    fn paint(mut self) -> Vec<(usize, Sign)> {
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
                Mark::Open(span) => self.open(index, *span),
                Mark::Close(span) => self.close(*span),
                Mark::Code(end) => {
                    self.code(&self.inline.text[*at..*end]);
                    self.at_line_start = false;
                    done = *end;
                }
                Mark::Image(id) => {
                    self.links.push_image(self.out, *id);
                    self.at_line_start = false;
                }
                Mark::Break => {
                    if self.has_more(index) {
                        self.line_break(start);
                    }
                }
                Mark::Gone => {}
            }
        }
        self.text(done, self.inline.text.len(), self.inline.marks.len());
        trim_spaces(self.out, start);
        self.signs.clear();
        self.signs
    }

    fn code(&mut self, code: &str) {
        // Where a pipe has to be escaped, readers differ on what a backslash before it is.
        if self.breaks == Breaks::Tags && code.contains("\\|") {
            self.out.push_str("<code>");
            push_text(self.out, code, false);
            self.out.push_str("</code>");
        } else {
            push_code(self.out, code);
        }
    }

    /// Whether anything follows that makes a break before it worth keeping.
    fn has_more(&self, index: usize) -> bool {
        self.inline.marks[index].0 < self.content_end
            || self.last_solid.is_some_and(|last| index < last)
    }

    fn line_break(&mut self, start: usize) {
        trim_spaces(self.out, start);
        match self.breaks {
            Breaks::Tags => self.out.push_str("<br>"),
            Breaks::Lines => {
                self.out.push_str("\\\n");
                self.out.push_str(self.prefix);
                self.at_line_start = true;
                self.first_line = false;
            }
        }
    }

    /// Writes a piece of text, before the mark `next`.
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
            let start = to - piece.len();
            let breaks =
                self.inline.marks[next..].iter().find(|(_, mark)| matches!(mark, Mark::Break));
            let end = breaks.map_or(self.inline.text.len(), |(at, _)| *at);
            let line = self.inline.text[start..end].trim_end();
            if self.breaks == Breaks::Lines
                && let Some(at) = line_start(line, self.first_line)
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

    fn open(&mut self, index: usize, span: usize) {
        let sign = self.sign(index, span);
        match sign {
            Sign::Delimiter(delimiter) => self.out.push_str(delimiter),
            Sign::Tag(name) => self.out.extend(["<", name, ">"]),
            Sign::Link => {
                // A link behind an exclamation mark would be an image.
                if !self.at_line_start && self.out.ends_with('!') {
                    self.out.pop();
                    self.out.push_str("\\!");
                }
                self.out.push('[');
            }
        }
        self.at_line_start = false;
        self.signs.push((span, sign));
    }

    fn close(&mut self, span: usize) {
        let Some((_, sign)) = self.signs.pop() else { return };
        match (sign, &self.inline.spans[span]) {
            (Sign::Delimiter(delimiter), _) => self.out.push_str(delimiter),
            (Sign::Tag(name), _) => self.out.extend(["</", name, ">"]),
            (Sign::Link, Span::Link(id)) => self.links.push_target(self.out, *id),
            _ => {}
        }
    }

    /// The first way of writing a span that readers will understand at this place.
    fn sign(&self, index: usize, span: usize) -> Sign {
        let kind = &self.inline.spans[span];
        let (delimiters, tag): (&[&'static str], _) = match kind {
            Span::Emphasis => (&["*", "_"], "em"),
            Span::Strong => (&["**", "__"], "strong"),
            Span::Deleted => (&["~~"], "del"),
            Span::Kept(name) => return Sign::Tag(name),
            Span::Link(_) => return Sign::Link,
        };
        let marks = &self.inline.marks;
        let close = marks[index..]
            .iter()
            .position(|(_, mark)| matches!(mark, Mark::Close(s) if *s == span));
        let Some(close) = close.map(|offset| index + offset) else { return Sign::Tag(tag) };
        let fits = |delimiter: &&&'static str| self.fits(delimiter, kind, index, close);
        delimiters.iter().find(fits).map_or(Sign::Tag(tag), |delimiter| Sign::Delimiter(delimiter))
    }

    /// The signs of open spans of one kind.
    fn encloses(&self, kind: &Span) -> impl Iterator<Item = Sign> + '_ {
        let same = std::mem::discriminant(kind);
        let spans = &self.inline.spans;
        self.signs
            .iter()
            .filter(move |(s, _)| std::mem::discriminant(&spans[*s]) == same)
            .map(|(_, sign)| *sign)
    }

    /// CommonMark's rules of flanking, and distance from delimiters of the same character.
    fn fits(&self, delimiter: &'static str, kind: &Span, open: usize, close: usize) -> bool {
        use Beside::{Letter, Punctuation, Space};
        let character = &delimiter[..1];
        let touches_before = !self.at_line_start && self.out.ends_with(character);
        let touches_after = match self.inline.marks.get(close + 1) {
            Some((at, Mark::Close(outer))) if *at == self.inline.marks[close].0 => {
                self.signs.iter().any(|(span, sign)| {
                    span == outer
                        && matches!(sign, Sign::Delimiter(other) if other.starts_with(character))
                })
            }
            _ => false,
        };
        if touches_before
            || touches_after
            || self.encloses(kind).any(|sign| sign == Sign::Delimiter(delimiter))
        {
            return false;
        }
        let outside_left = match self.out.chars().next_back() {
            _ if self.at_line_start => Space,
            c => outside(c),
        };
        let (inside_left, outside_right) = (self.after(open, inside), self.after(close, outside));
        let inside_right = self.before(close);
        let opens = inside_left != Space && (inside_left == Letter || outside_left != Letter);
        let closes = inside_right != Space && (inside_right == Letter || outside_right != Letter);
        if character != "_" {
            return opens && closes;
        }
        // Right-flanking where it opens, left-flanking where it closes: within a word, where `_` is
        // no delimiter.
        let closes_there =
            outside_left != Space && (outside_left == Letter || inside_left != Letter);
        let opens_there =
            outside_right != Space && (outside_right == Letter || inside_right != Letter);
        opens
            && closes
            && (!closes_there || outside_left == Punctuation)
            && (!opens_there || outside_right == Punctuation)
    }

    fn after(&self, index: usize, kind: fn(Option<char>) -> Beside) -> Beside {
        let (at, _) = self.inline.marks[index];
        match self.inline.marks.get(index + 1) {
            Some((next, Mark::Break)) if *next == at => Beside::Space,
            Some((next, _)) if *next == at => Beside::Punctuation,
            _ => kind(self.inline.text[at..].chars().next()),
        }
    }

    fn before(&self, index: usize) -> Beside {
        let (at, _) = self.inline.marks[index];
        let previous = index.checked_sub(1).map(|previous| &self.inline.marks[previous]);
        match previous {
            Some((_, Mark::Code(end))) if *end == at => Beside::Punctuation,
            Some((there, Mark::Break)) if *there == at => Beside::Space,
            Some((there, _)) if *there == at => Beside::Punctuation,
            _ => inside(self.inline.text[..at].chars().next_back()),
        }
    }
}

fn trim_spaces(out: &mut String, start: usize) {
    let end = start + out[start..].trim_end_matches(' ').len();
    out.truncate(end);
}

/// What a character within a span is to its delimiters. Readers differ on symbols that are not
/// ASCII, so the reading counts that makes it harder to be a delimiter: punctuation within, letters
/// without.
fn inside(c: Option<char>) -> Beside {
    match c {
        Some(c) if !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() => {
            Beside::Punctuation
        }
        c => outside(c),
    }
}

/// What a character outside of a span is to its delimiters.
fn outside(c: Option<char>) -> Beside {
    match c {
        None => Beside::Space,
        Some(c) if c.is_whitespace() => Beside::Space,
        Some(c) if c.is_ascii_punctuation() => Beside::Punctuation,
        Some(_) => Beside::Letter,
    }
}
