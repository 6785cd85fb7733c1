//! From an offset in a decoded string back to the byte of the file, for every style of writing.

use proptest::prelude::*;
use toolwright_source::{Node, Syntax};

use crate::generate::{self, Choices};
use crate::parse;

/// The character at `byte` of the file, with escapes decoded.
fn written_at(text: &str, byte: usize) -> Option<char> {
    let rest = &text[byte..];
    let mut chars = rest.chars();
    match chars.next()? {
        '\\' => {
            let hex = |len: usize| u32::from_str_radix(rest.get(2..2 + len)?, 16).ok();
            match chars.next()? {
                'x' => char::from_u32(hex(2)?),
                'u' => match hex(4)? {
                    high @ 0xD800..0xDC00 => {
                        let low = u32::from_str_radix(rest.get(8..12)?, 16).ok()?;
                        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
                    }
                    code => char::from_u32(code),
                },
                'U' => char::from_u32(hex(8)?),
                '0' => Some('\0'),
                'a' => Some('\u{7}'),
                'b' => Some('\u{8}'),
                'e' => Some('\u{1b}'),
                other => Some(other),
            }
        }
        c => Some(c),
    }
}

/// Every character that is not white space maps to the byte where it is written.
fn assert_maps_back(node: Node<'_>, text: &str, quoted: bool) {
    let decoded = node.raw();
    let mut before = 0;
    for (offset, c) in decoded.char_indices() {
        let byte = node.byte_at(offset);
        assert!(byte >= before, "offset {offset} of {decoded:?} goes back in {text:?}");
        before = byte;
        if !c.is_whitespace() {
            let found = if quoted { written_at(text, byte) } else { text[byte..].chars().next() };
            assert_eq!(found, Some(c), "offset {offset} of {decoded:?} is byte {byte} of {text:?}");
        }
    }
}

#[test]
fn offsets_map_into_every_style_of_yaml() {
    let cases: &[(&str, &str)] = &[
        ("plain text", "plain text"),
        ("two\n  lines é\n\n  and  three", "two lines é\nand  three"),
        ("'it''s é'", "it's é"),
        ("'a\n\n  b ''c'''", "a\nb 'c'"),
        (r#""a\tb\x41\u00e9\U0001F600\"\\é""#, "a\tbAé😀\"\\é"),
        (r#""\ud83d\ude00x""#, "😀x"),
        ("\"one\\\n   two \\\n   three\"", "onetwo three"),
        ("\"one\n   \\ttwo\n\n   \\  three\\n\n   four\"", "one \ttwo\n  three\n four"),
        ("\"\\\n  a\\\n  \\  b\"", "a  b"),
        ("\"\\0\\a\\b\\e\\_\\N\\L\\Px\"", "\0\u{7}\u{8}\u{1b}\u{a0}\u{85}\u{2028}\u{2029}x"),
        ("|\n  one\n    two é\n\n  three   \n", "one\n  two é\n\nthree   \n"),
        ("|\n  spaces   \n", "spaces   \n"),
        ("|\n\n\n  after blank lines\n  x\n", "\n\nafter blank lines\nx\n"),
        ("|2\n    deeper\n  flush\n", "  deeper\nflush\n"),
        ("|1-\n\n   three\n  two", "\n  three\n two"),
        ("|-  # a | comment\n  text\n", "text"),
        ("|+\n  text\n\n\n", "text\n\n\n"),
        ("|\n  \ttab\n  x\n", "\ttab\nx\n"),
        (
            ">\n  folded é\n  on\n\n  three\n    more\n  less\n",
            "folded é on\nthree\n  more\nless\n",
        ),
        (">-\n\n  leading\n  blank", "\nleading blank"),
        (">2+\n    deep\n  x\n\n", "  deep\nx\n\n"),
        ("&a !!str 'x y'", "x y"),
        ("!!str |\n  x\n", "x\n"),
    ];
    for (written, decoded) in cases {
        for (newline, lead) in [
            ("\n", "k: "),
            ("\r\n", "k: "),
            ("\n", "é:\n- "),
            ("\r\n", "- a\n- "),
            ("\n", "\"#\": "),
        ] {
            let text = format!("{lead}{written}").replace('\n', newline);
            let doc = parse(&text, Syntax::Yaml);
            assert!(doc.problems().is_empty(), "{text:?}: {:?}", doc.problems());
            let mut node = doc.root();
            while let Some(inner) = node.items().last().or(node.members().last().map(|e| e.value)) {
                node = inner;
            }
            assert_eq!(node.raw(), *decoded, "{text:?}");
            assert_maps_back(node, &text, written.contains('"'));
            assert_eq!(
                node.byte_at(usize::MAX),
                node.byte_at(decoded.len()),
                "past the end is the end"
            );
        }
    }
}

#[test]
fn offsets_map_into_every_escape_of_json() {
    let cases = [
        r#""plain""#,
        r#""é\u00e9\n\"x\"\\ \/ \b\f\r\t.""#,
        r#""\ud83d\ude00\uD83D\uDE00 x""#,
        r#""  \n\n  function() {\n\treturn 1;\n}""#,
    ];
    for text in cases {
        let doc = parse(text, Syntax::Json);
        assert!(doc.problems().is_empty());
        assert_maps_back(doc.root(), text, true);
    }
    // Without folding, white space has an exact location, too.
    let doc = parse(r#""a\n\n  b""#, Syntax::Json);
    let places: Vec<usize> = (0..6).map(|offset| doc.root().byte_at(offset)).collect();
    assert_eq!(places, [1, 2, 4, 6, 7, 8]);
}

#[test]
fn broken_escapes_still_map_to_characters() {
    for text in [
        "\"\\uéé€ x\"",
        "\"\\ud83d€€€€\"",
        "\"\\q€\\",
        "'it\\'s",
        "\"\\u12€4\"",
        "\"\\ud83d\\u00e9€\"",
    ] {
        let doc = parse(text, Syntax::Json);
        for offset in 0..doc.root().raw().len() + 3 {
            let byte = doc.root().byte_at(offset);
            assert!(text.is_char_boundary(byte), "{offset} of {text:?}");
        }
    }
}

#[test]
fn an_offset_inside_a_character_is_its_start() {
    let doc = parse("a: x€y", Syntax::Yaml);
    let node = doc.root().get("a").expect("it is there");
    assert_eq!([1, 2, 3, 4].map(|offset| node.byte_at(offset)), [4, 4, 4, 7]);
}

#[test]
fn an_alias_maps_into_the_anchored_text() {
    let doc = parse("a: &a |\n  one\n  two\nb: *a\n", Syntax::Yaml);
    let node = doc.root().get("b").expect("it is there");
    assert_eq!(node.byte_at(4), "a: &a |\n  one\n  ".len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn offsets_map_into_any_json_string(text in generate::string(), mut choices in Choices::any()) {
        let written = generate::write_json(&text.clone().into(), &mut choices);
        let doc = parse(&written, Syntax::Json);
        prop_assert_eq!(doc.root().raw(), text);
        assert_maps_back(doc.root(), &written, true);
    }

    #[test]
    fn offsets_map_into_any_folded_or_literal_block(
        blank in 0usize..3,
        first in "[aé#:][ ]?[b-d€]{0,2}[ ]{0,2}",
        rest in prop::collection::vec("[ ]{0,2}[aé#: ]{0,3}[b-d€]{0,2}", 0..6),
        mark in "[|>][-+]?",
    ) {
        let mut lines = vec![String::new(); blank];
        lines.push(first);
        lines.extend(rest);
        let body: String = lines.iter().map(|line| format!("   {line}\n")).collect();
        for newline in ["\n", "\r\n"] {
            let text = format!("- {mark}\n{body}- x\n").replace('\n', newline);
            let doc = parse(&text, Syntax::Yaml);
            prop_assert!(doc.problems().is_empty(), "{:?}", doc.problems());
            let node = doc.root().items().next().expect("the first item");
            if mark.starts_with('|') {
                let raw = node.raw().trim_end_matches('\n').to_owned();
                let expected = lines.join("\n").trim_end_matches('\n').to_owned();
                prop_assert_eq!(raw, expected);
            }
            assert_maps_back(node, &text, false);
        }
    }
}
