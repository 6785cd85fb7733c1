//! Splitting and comparing words that people wrote, and lists of words for messages.
//!
//! Readers, rules and commands all need these: "did you mean", "expected `a`, `b` or `c`", command
//! lines in a string, and values shortened for a message. Nothing here depends on a document.

use crate::render::is_printable_ascii;

/// Splits a command line as a shell would: at white space, with both kinds of quotes and with
/// backslashes. No variables, no operators: `$HOME` and `|` are ordinary words. `None` if a quote
/// or a backslash at the end is not complete.
///
/// Written by hand because `shlex` takes a word that starts with `#` for a comment and drops the
/// rest of the line, which would lose arguments without a message.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // `None` between words. `Some("")` is a word, too: `a ''` has two.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            // A closing quote does not end the word: `a'b'` is one.
            (Some(q), c) if c == q => quote = None,
            // As in POSIX shells: between double quotes a backslash protects only these four
            // characters; before any other it is an ordinary character.
            (Some('"'), '\\')
                if chars.peek().is_none_or(|next| !matches!(next, '"' | '\\' | '$' | '`')) =>
            {
                word.get_or_insert_default().push('\\');
            }
            (Some('"') | None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The command line that [`split_words`] splits into these words. Words with other characters than
/// letters, digits and a few harmless ones are quoted.
pub fn join_words(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The candidate that `name` is probably meant to be: equal but for case and separators, or a
/// typing slip away. Longer names may have more slips; names of up to three letters none, because
/// short names are often a letter apart (`url`, `uri`). `None` for names over 64 characters, which
/// bounds the quadratic distance.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| {
        s.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    // `maxTimeout`, `max-timeout` and `MAX_TIMEOUT` are one name to the person who wrote them.
    let folded = fold(name);
    // About one slip in four letters; beyond two, a suggestion would be a guess.
    let slips = match folded.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        8..=64 => 2,
        _ => return None,
    };
    let len = folded.chars().count();
    // Most candidates are too long or too short, which is quickly seen. Lower case of other letters
    // than ASCII may be longer than upper case.
    let may_be_near = |candidate: &&str| {
        let letters = candidate.chars().filter(|c| c.is_alphanumeric()).count();
        letters <= len + slips && (letters + slips >= len || !candidate.is_ascii())
    };
    candidates
        .filter(may_be_near)
        .map(|candidate| (strsim::osa_distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Like [`nearest`], for a short list of words where the author must have meant one: a single slip
/// is enough however short the words are.
pub fn nearest_word<'a>(
    word: &str,
    words: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let is_close = |other: &&str| word.len() <= 64 && strsim::osa_distance(word, other) == 1;
    nearest(word, words.clone()).or_else(|| words.clone().find(is_close))
}

/// The words as a phrase: `` `a`, `b` or `c` ``.
pub fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Text for a message: at most 60 characters, control characters escaped. Quotes are not, since
/// messages put values between backticks.
pub fn shorten(text: &str) -> String {
    // The common case: short, printable, without a backslash that an escape could be confused with.
    if text.len() <= 60 && is_printable_ascii(text) && !text.contains('\\') {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out.replace("\\'", "'").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_in_a_shell() {
        let cases: [(&str, Option<&[&str]>); 14] = [
            ("", Some(&[])),
            ("  npx  -y\tserver ", Some(&["npx", "-y", "server"])),
            ("a 'b c' \"d e\"", Some(&["a", "b c", "d e"])),
            ("a ''", Some(&["a", ""])),
            ("a'b'\"c\"", Some(&["abc"])),
            (r"a\ b", Some(&["a b"])),
            (r#""a\"b\n""#, Some(&[r#"a"b\n"#])),
            (r"'a\'", Some(&[r"a\"])),
            ("a $HOME | b", Some(&["a", "$HOME", "|", "b"])),
            ("é 'ü ö'", Some(&["é", "ü ö"])),
            ("a 'b", None),
            ("a \"b", None),
            (r#"a "b\"#, None),
            (r"a\", None),
        ];
        for (line, words) in cases {
            let got = split_words(line);
            assert_eq!(
                got,
                words.map(|w| w.iter().map(|w| w.to_string()).collect::<Vec<_>>()),
                "{line}"
            );
        }
    }

    #[test]
    fn near_misses() {
        let names = ["path", "executables", "timeout", "max_timeout", "env", "url"];
        for (name, meant) in [
            ("paht", Some("path")),
            ("executable", Some("executables")),
            ("maxTimeout", Some("max_timeout")),
            ("ENV", Some("env")),
            ("evn", None),
            ("folder", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names.into_iter()), meant, "{name}");
        }
        for (name, meant) in
            [("evn", Some("env")), ("uri", Some("url")), ("x", None), ("paht", Some("path"))]
        {
            assert_eq!(nearest_word(name, names.into_iter()), meant, "{name}");
        }
        let long = "x".repeat(100_000);
        assert_eq!(nearest(&long, names.into_iter()), None);
        assert_eq!(nearest_word(&long, names.into_iter()), None);
    }

    #[test]
    fn near_misses_of_names() {
        let names = ["inputSchema", "outputSchema", "name", "description", "tags", "id"];
        for (name, meant) in [
            ("inputschema", Some("inputSchema")),
            ("input_schema", Some("inputSchema")),
            ("inputShcema", Some("inputSchema")),
            ("descripton", Some("description")),
            ("nmae", Some("name")),
            ("tag", None),
            ("ID", Some("id")),
            ("idx", None),
            ("author", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names.into_iter()), meant, "{name}");
        }
    }
}
