//! Joins the instructions of several servers into one text for clients, within a budget.
//!
//! Models read instructions with every conversation, so all servers together get 8 KiB. The budget
//! is shared fairly: short texts are kept whole, and what they leave is divided among the others.

/// The bytes of all instructions together, headings included.
pub(crate) const MAX_INSTRUCTIONS: usize = 8 << 10;
/// The mark behind a text that was cut.
const CUT: &str = " […]";
/// A share below this many bytes tells a model nothing; the last servers are left out instead.
const MIN_SHARE: usize = 64;

/// The instructions of all servers, each under the name of its source; `None` if there are none.
pub(crate) fn join<'t>(texts: impl Iterator<Item = (&'t str, &'t str)>) -> Option<String> {
    let mut texts: Vec<(&str, &str)> = texts
        .map(|(name, text)| (name, text.trim()))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let overhead = |name: &str| "## \n\n\n\n".len() + name.len() + CUT.len();
    let mut budget = MAX_INSTRUCTIONS;
    let mut kept = 0;
    for (name, text) in &texts {
        match budget.checked_sub(overhead(name)) {
            Some(left) if left >= (kept + 1) * MIN_SHARE.min(text.len()) => budget = left,
            _ => break,
        }
        kept += 1;
    }
    texts.truncate(kept);
    let shares = shares(&texts.iter().map(|(_, text)| text.len()).collect::<Vec<_>>(), budget);
    let parts: Vec<String> = texts
        .iter()
        .zip(shares)
        .map(|((name, text), share)| format!("## {name}\n\n{}", shorten(text, share)))
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Divides a budget among texts of these lengths: nobody gets more than they need, and those that
/// need more than an equal part get the same.
fn shares(lengths: &[usize], mut budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|n| lengths[*n]);
    let mut shares = vec![0; lengths.len()];
    for (done, n) in order.into_iter().enumerate() {
        shares[n] = lengths[n].min(budget / (lengths.len() - done));
        budget -= shares[n];
    }
    shares
}

/// The text, cut to `max` bytes behind a sentence, or else behind a word, with a mark.
fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(max)];
    // A sentence in the first half would give away too much.
    let sentence = [". ", ".\n", "! ", "? ", "\n"].iter().filter_map(|end| start.rfind(end)).max();
    let sentence = sentence.map(|at| at + 1).filter(|at| *at > max / 2);
    let word = start.rfind(char::is_whitespace).filter(|at| *at > max / 2);
    let end = sentence.or(word).unwrap_or(start.len());
    format!("{}{CUT}", start[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_instructions_are_joined_under_their_names() {
        let texts = [("a", " Use it well. "), ("b", ""), ("c", "Ask first.")];
        let joined = join(texts.into_iter());
        assert_eq!(joined.as_deref(), Some("## a\n\nUse it well.\n\n## c\n\nAsk first."));
        assert_eq!(join([("a", " \n")].into_iter()), None);
    }

    #[test]
    fn long_instructions_share_what_short_ones_leave() {
        let long = "Every word counts here. ".repeat(1_000);
        let texts = [("a", long.as_str()), ("b", "Short."), ("c", long.as_str())];
        let joined = join(texts.into_iter()).expect("there are some");
        assert!(joined.len() <= MAX_INSTRUCTIONS, "{}", joined.len());
        assert!(joined.len() > MAX_INSTRUCTIONS - 100, "{}", joined.len());
        assert!(joined.contains("## b\n\nShort.\n\n## c"), "kept whole");
        assert_eq!(joined.matches("counts here. […]").count(), 2, "cut behind a sentence");
        let parts: Vec<usize> = joined.split("## ").skip(1).map(str::len).collect();
        assert!(parts[0].abs_diff(parts[2]) < 50, "{parts:?}");
    }

    #[test]
    fn the_budget_holds_for_any_number_of_servers_and_any_text() {
        let names: Vec<String> = (0..2_000).map(|n| format!("server-{n}")).collect();
        for text in ["é".repeat(10_000), "x".repeat(9_000), "Do. ".repeat(5_000)] {
            let joined = join(names.iter().map(|name| (name.as_str(), text.as_str())));
            let joined = joined.expect("there are some");
            assert!(joined.len() <= MAX_INSTRUCTIONS, "{}", joined.len());
            assert!(joined.contains("## server-0\n"));
        }
    }
}
