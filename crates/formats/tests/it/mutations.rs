//! A small replacement for fuzzing in `make test`: a few thousand deterministic mutations of valid
//! and invalid documents, each read as every format and in both syntaxes. Nothing may panic, and
//! every location that is reported must be inside the text.

use std::sync::Arc;

use toolwright_formats::{DetectionResult, detect, read};
use toolwright_source::render::{self, Colour};
use toolwright_source::{Diagnostic, Document, Syntax, locate};

use crate::support::{definitions, examples, format, format_ids};

const ROUNDS: usize = 3_000;

/// xorshift64*: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// A range of at most `most` bytes.
    fn range(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let end = (start + self.below(most) + 1).min(length);
        start.min(end)..end
    }
}

/// Words and characters with a meaning to a parser or a reader.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "- ",
    "null",
    "true",
    "~",
    "1e999",
    "-0",
    "0x1F",
    "2.0",
    "&a ",
    "*a",
    "<<: *a\n",
    "!!str ",
    "|\n",
    ">-\n",
    "#",
    "---\n",
    "...",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "é",
    "日本語",
    "👩‍👩‍👧",
    "\u{2028}",
    "\0",
    "tool: ",
    "\"btcp\": ",
    "\"name\": ",
    "\"inputSchema\": ",
    "\"parameters\": ",
    "\"capabilities\": ",
    "commands: ",
    "examples: ",
    "scenario: success",
    "schema_version: ",
    "\"version\": \"v1\"",
    "command_groups: ",
    "field_mappings: ",
    "\"tools\": ",
    "\"result\": ",
    "id: ",
    "type: cli",
];

fn mutate(text: &[u8], random: &mut Random, others: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(random.range(bytes.len(), 40))),
            3 => {
                let range = random.range(bytes.len(), 60);
                let copy = bytes[range].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => drop(bytes.splice(at..at, random.pick(TOKENS).bytes())),
            5 => {
                let range = random.range(bytes.len(), 12);
                drop(bytes.splice(range, random.pick(TOKENS).bytes()));
            }
            6 => bytes.truncate(at),
            7 => {
                let other = &others[random.below(others.len())];
                let range = random.range(other.len(), 200);
                drop(bytes.splice(at..at, other[range].to_vec()));
            }
            _ => swap_words(&mut bytes, random),
        }
    }
    bytes
}

/// Swaps two runs of bytes between line breaks, colons and commas.
fn swap_words(bytes: &mut [u8], random: &mut Random) {
    let mut word = || {
        let start = random.below(bytes.len());
        let end = bytes[start..]
            .iter()
            .position(|b| b"\n:,".contains(b))
            .map_or(bytes.len(), |n| start + n);
        start..end
    };
    let (a, b) = (word(), word());
    let length = a.len().min(b.len());
    for n in 0..length {
        bytes.swap(a.start + n, b.start + n);
    }
}

fn assert_inside(diagnostic: &Diagnostic) {
    let text = diagnostic.source.text();
    let labels = diagnostic.labels.iter().map(|label| label.span);
    let edits = diagnostic.fix.iter().flat_map(|fix| fix.edits.iter().map(|edit| edit.span));
    for span in diagnostic.span.into_iter().chain(labels).chain(edits) {
        let (start, end) = (span.start as usize, span.end as usize);
        assert!(
            start <= end && end <= text.len(),
            "{span:?} of {}: {}",
            text.len(),
            diagnostic.message
        );
        assert!(
            text.is_char_boundary(start) && text.is_char_boundary(end),
            "{span:?}: {}",
            diagnostic.message
        );
    }
    for text in [
        render::full(diagnostic, Colour::Off),
        render::concise(diagnostic),
        render::json(diagnostic),
    ] {
        assert!(!text.is_empty());
    }
}

/// Reads a text as every format and in both syntaxes.
fn exercise(bytes: &[u8]) {
    for syntax in [Syntax::Json, Syntax::Yaml] {
        let document = Arc::new(Document::parse("mutant", bytes.to_vec(), syntax));
        document.problems().iter().for_each(assert_inside);
        let _ = document.root().to_json();
        if let DetectionResult::Unreadable(finding) = detect(&document) {
            assert_inside(&locate(finding, &document));
        }
        for id in format_ids() {
            let reading = read(&document, format(id));
            for finding in reading.findings {
                assert_inside(&locate(finding, &document));
            }
            for (n, draft) in reading.toolset.tools.into_iter().enumerate() {
                let at =
                    toolwright_source::RecordPath::root().child("tools").child(n).child("name");
                let place = reading.origin.location(&at);
                assert!(place.value.end as usize <= document.source().text().len());
                let _ = draft.finish();
            }
        }
    }
}

#[test]
fn mutants_are_read_without_panic() {
    let mut seeds: Vec<Vec<u8>> = definitions(&examples())
        .iter()
        .map(|path| std::fs::read(path).expect("the example is there"))
        .collect();
    seeds.extend(crate::mistakes::texts().into_iter().map(String::into_bytes));
    assert!(seeds.len() > 20);
    seeds.iter().for_each(|seed| exercise(seed));
    let mut random = Random(0x7001_57A6_1234_5678);
    for round in 0..ROUNDS {
        let seed = &seeds[random.below(seeds.len())];
        let mutant = mutate(seed, &mut random, &seeds);
        let result = std::panic::catch_unwind(|| exercise(&mutant));
        if let Err(panic) = result {
            let text = String::from_utf8_lossy(&mutant);
            let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("round {round}: {why}\n{text}");
        }
    }
}
