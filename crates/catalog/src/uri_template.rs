//! Matches URIs against templates of resources (RFC 6570, levels 1 to 3), to find the server that
//! has a URI which no list contains.
//!
//! Only whether a URI matches is asked, not the values of the variables: the server gets the whole
//! URI. So an expression is a run of characters, and a template is a list of runs and literals:
//!
//! ```text
//! weather://{city}/now{?units}  ─▶  "weather://"  [^/]+  "/now"  (\?.+)?
//! ```
//!
//! Instead of backtracking, the set of positions that can be reached is moved forward part by part,
//! so the time grows with the length of the URI times that of the template, never exponentially.
//!
//! Templates come from servers and URIs from models, so both may be made to be expensive. Three
//! bounds hold: the length of each, the number of parts, and a budget of steps for all templates
//! together.

/// Longer URIs and templates, in bytes, match nothing.
const MAX_LENGTH: usize = 2_048;
/// Templates with more parts match nothing.
const MAX_PARTS: usize = 64;

/// A template in parts.
#[derive(Debug)]
pub(crate) struct UriTemplate {
    parts: Vec<TemplatePart>,
    /// The bytes outside of expressions. Of two templates that match, the one with more is more
    /// specific.
    pub(crate) literal_bytes: usize,
}

#[derive(Debug)]
enum TemplatePart {
    Literal(Vec<u8>),
    Expression {
        /// The character that the operator puts in front, such as `?`.
        first: Option<u8>,
        /// Whether the text may contain `/`.
        takes_slashes: bool,
        /// Whether the expression may be missing as a whole: parameters of a query often are.
        optional: bool,
    },
}

impl UriTemplate {
    /// Parses a template; `None` if it is malformed, or too long to be matched.
    pub(crate) fn parse(text: &str) -> Option<UriTemplate> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let (mut parts, mut literal_bytes) = (Vec::new(), 0);
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, expression) = match rest.split_once('{') {
                Some((literal, behind)) => {
                    let (expression, behind) = behind.split_once('}')?;
                    rest = behind;
                    (literal, Some(expression))
                }
                None => (std::mem::take(&mut rest), None),
            };
            if literal.contains('}') {
                return None;
            }
            literal_bytes += literal.len();
            if !literal.is_empty() {
                parts.push(TemplatePart::Literal(literal.as_bytes().to_vec()));
            }
            if let Some(expression) = expression {
                parts.push(parse_expression(expression)?);
            }
        }
        (parts.len() <= MAX_PARTS).then_some(UriTemplate { parts, literal_bytes })
    }

    /// Whether an expansion of the template is this URI. Every step takes from `budget`, which the
    /// caller shares between templates; if nothing is left of it, no template matches.
    ///
    /// `reached[n]` says whether the parts so far can end right before byte `n`.
    pub(crate) fn matches(&self, uri: &str, budget: &mut usize) -> bool {
        if uri.len() > MAX_LENGTH {
            return false;
        }
        let bytes = uri.as_bytes();
        let mut reached = vec![false; bytes.len() + 1];
        reached[0] = true;
        for part in &self.parts {
            let mut next = vec![false; bytes.len() + 1];
            let cost = match part {
                TemplatePart::Literal(text) => after_literal(text, bytes, &reached, &mut next),
                TemplatePart::Expression { first, takes_slashes, optional } => {
                    if *optional {
                        next.clone_from(&reached);
                    }
                    after_expression(*first, *takes_slashes, bytes, &reached, &mut next)
                }
            };
            match budget.checked_sub(cost) {
                Some(left) => *budget = left,
                None => {
                    *budget = 0;
                    return false;
                }
            }
            reached = next;
        }
        reached[bytes.len()]
    }
}

/// Marks the positions behind a literal. Returns the number of steps.
fn after_literal(text: &[u8], bytes: &[u8], reached: &[bool], next: &mut [bool]) -> usize {
    let mut cost = bytes.len();
    for (start, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
        cost += text.len();
        if bytes[start..].starts_with(text) {
            next[start + text.len()] = true;
        }
    }
    cost
}

/// Marks the positions behind a run of at least one character. Returns the number of steps.
///
/// One pass for all starting positions at once: `inside` is true while any run goes on.
fn after_expression(
    first: Option<u8>,
    takes_slashes: bool,
    bytes: &[u8],
    reached: &[bool],
    next: &mut [bool],
) -> usize {
    // Whether a run that began before this position goes on to it.
    let mut inside = false;
    for (n, byte) in bytes.iter().enumerate() {
        let begins = match first {
            None => reached[n],
            Some(first) => n > 0 && reached[n - 1] && bytes[n - 1] == first,
        };
        inside = (inside || begins) && (takes_slashes || *byte != b'/');
        next[n + 1] |= inside;
    }
    bytes.len()
}

/// The part of the text between braces; `None` if it is not an expression.
fn parse_expression(text: &str) -> Option<TemplatePart> {
    let (operator, names) = match text.as_bytes().first()? {
        b'+' | b'#' | b'.' | b'/' | b';' | b'?' | b'&' => (text.as_bytes()[0], &text[1..]),
        _ => (b' ', text),
    };
    let is_name = |name: &str| {
        // `*` and `:3` are modifiers of level 4. They do not change what is matched.
        let name = name.strip_suffix('*').unwrap_or(name);
        let name = name.split_once(':').map_or(name, |(name, _)| name);
        let character = |c: char| c.is_ascii_alphanumeric() || "_.%-".contains(c);
        !name.is_empty() && name.chars().all(character)
    };
    if !names.split(',').all(is_name) {
        return None;
    }
    let first = if matches!(operator, b' ' | b'+') { None } else { Some(operator) };
    // A list of path segments contains slashes between them.
    let several = names.contains([',', '*']);
    let takes_slashes =
        matches!(operator, b'+' | b'#' | b'?' | b'&') || (operator == b'/' && several);
    Some(TemplatePart::Expression {
        first,
        takes_slashes,
        optional: matches!(operator, b'?' | b'&'),
    })
}

#[cfg(test)]
mod tests {
    use super::UriTemplate;

    fn matches(template: &str, uri: &str) -> bool {
        UriTemplate::parse(template).is_some_and(|it| it.matches(uri, &mut { usize::MAX }))
    }

    #[test]
    fn expressions_match_text_of_their_kind() {
        for (template, uri) in [
            ("a://{x}", "a://1"),
            ("a://{x}/b/{y}", "a://1/b/2"),
            ("a://{x}{y}", "a://12"),
            ("file:///{+path}", "file:///a/b/c.txt"),
            ("a://x{?q,r}", "a://x?q=1&r=2"),
            ("a://x{?q}", "a://x"),
            ("a://x?fixed=1{&q}", "a://x?fixed=1&q=2"),
            ("a://x{/y}", "a://x/1"),
            ("a://x{/y*}", "a://x/1/2"),
            ("a://x{.ext}", "a://x.json"),
            ("a://x{#part}", "a://x#a/b"),
            ("a://x{;p}", "a://x;p=1"),
            ("{scheme}://x", "a://x"),
            ("a://{x:3}", "a://123"),
            ("a://fixed", "a://fixed"),
            ("a://{größe}", ""),
        ] {
            assert_eq!(matches(template, uri), !uri.is_empty(), "{template} {uri}");
        }
    }

    #[test]
    fn other_texts_do_not_match() {
        for (template, uri) in [
            ("a://{x}", "a://"),
            ("a://{x}", "a://1/2"),
            ("a://{x}/b", "a://1/c"),
            ("a://{x}{y}", "a://1"),
            ("file:///{+path}", "file:///"),
            ("a://x{/y}", "a://x"),
            ("a://x{?q}", "a://xy"),
            ("a://{x", "a://1"),
            ("a://x}", "a://x}"),
            ("a://{}", "a://1"),
            ("a://{x y}", "a://1"),
            ("a://{x}", "b://1"),
        ] {
            assert!(!matches(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn hostile_templates_take_bounded_time() {
        let template = "{+a}x".repeat(30);
        let uri = "x".repeat(2_000) + "y";
        assert!(!matches(&template, &uri));
        let mut budget = 1_000;
        let template = UriTemplate::parse("{+a}{+b}").expect("a template");
        assert!(!template.matches(&"x".repeat(1_500), &mut budget));
        assert_eq!(budget, 0);
        assert!(!matches("{+x}", &"x".repeat(3_000)));
        assert!(UriTemplate::parse(&"{x}".repeat(65)).is_none());
    }
}
