//! A part of a text: from a line or a character on, so many of them.
//!
//! Agents read a long page in pieces. Lines are the unit of the tool's specification; characters
//! are for pages with lines that are too long for one piece.

/// What an offset and a limit count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagingUnit {
    /// Lines of the Markdown.
    #[default]
    Lines,
    /// Characters of the Markdown, line ends included.
    Characters,
}

/// A part of a text, and where it is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageExcerpt {
    /// The part, without a line break at its end if it is made of lines.
    pub text: String,
    /// How many lines or characters it has.
    pub count: usize,
    /// Lines of the whole text.
    pub total_lines: usize,
    /// Characters of the whole text.
    pub total_characters: usize,
    /// The offset at which the next part begins; `None` if this is the last.
    pub next_offset: Option<usize>,
}

/// The part of a text from `offset` (1 is the first) on, with at most `limit` lines or characters.
/// Empty past the end.
pub fn excerpt(text: &str, unit: PagingUnit, offset: usize, limit: usize) -> PageExcerpt {
    let text = text.trim_end_matches(['\n', '\r']);
    let skipped = offset.saturating_sub(1);
    let (part, count) = match unit {
        PagingUnit::Lines => {
            // `str::lines` also removes carriage returns, which texts from servers often have.
            let (mut part, mut count) = (String::new(), 0);
            for line in text.lines().skip(skipped).take(limit) {
                if count > 0 {
                    part.push('\n');
                }
                part.push_str(line);
                count += 1;
            }
            (part, count)
        }
        PagingUnit::Characters => {
            let at = |count: usize| {
                text.char_indices().nth(count).map_or(text.len(), |(start, _)| start)
            };
            let start = at(skipped);
            let part = &text[start..];
            let end = part.char_indices().nth(limit).map_or(part.len(), |(end, _)| end);
            (part[..end].to_owned(), part[..end].chars().count())
        }
    };
    let total_lines = text.lines().count();
    let total_characters = text.chars().count();
    let total = match unit {
        PagingUnit::Lines => total_lines,
        PagingUnit::Characters => total_characters,
    };
    let read = skipped.saturating_add(count);
    PageExcerpt {
        text: part,
        count,
        total_lines,
        total_characters,
        next_offset: (read < total).then_some(read + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{PagingUnit, excerpt};

    #[test]
    fn parts_by_lines_and_by_characters_cover_the_text() {
        let text = "één\r\ntwo\n\nfour\n";
        let lines = excerpt(text, PagingUnit::Lines, 2, 2);
        assert_eq!((lines.text.as_str(), lines.count, lines.next_offset), ("two\n", 2, Some(4)));
        assert_eq!((lines.total_lines, lines.total_characters), (4, 14));
        let end = excerpt(text, PagingUnit::Lines, 4, usize::MAX);
        assert_eq!((end.text.as_str(), end.count, end.next_offset), ("four", 1, None));
        let past = excerpt(text, PagingUnit::Lines, 9, 1);
        assert_eq!((past.text.as_str(), past.count, past.next_offset), ("", 0, None));
        let mut offset = 1;
        let mut joined = String::new();
        loop {
            let part = excerpt(text, PagingUnit::Characters, offset, 4);
            assert!(part.count <= 4);
            joined.push_str(&part.text);
            match part.next_offset {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(joined, text.trim_end());
        let past = excerpt(text, PagingUnit::Characters, 99, 4);
        assert_eq!((past.text.as_str(), past.count, past.next_offset), ("", 0, None));
    }
}
