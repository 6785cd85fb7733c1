//! Whether an installed version is one that a dependency asks for: `requests>=2.31,<3` as pip
//! writes it, `left-pad@^1.3` as npm does.
//!
//! Versions are compared by their numbers; of two with the same numbers a prerelease is the lower
//! one. What is not understood (epochs, URLs, tags such as `latest`, ranges with a hyphen) allows
//! every version: the installer knows better.

use std::cmp::Ordering;

/// Whose notation a range is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RangeNotation {
    Pip,
    Npm,
}

/// A dependency as a definition lists it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency<'d> {
    pub(super) name: &'d str,
    /// The versions that it asks for; empty for any.
    pub(super) range: &'d str,
    /// Whether a condition follows (`; python_version < "3.9"`). Whether it is needed is then
    /// unknown.
    pub(super) is_conditional: bool,
}

impl Dependency<'_> {
    /// Reads `requests>=2`, `uvicorn[standard]`, `left-pad@1.3` or `@scope/name@^2`.
    pub(super) fn parse(text: &str) -> Dependency<'_> {
        let (text, condition) = text.split_once(';').unwrap_or((text, ""));
        let text = text.trim();
        // The first character of a scope is `@`, too.
        let is_end = |&(n, c): &(usize, char)| "<>=!~^[ (".contains(c) || (n > 0 && c == '@');
        let end = text.char_indices().find(is_end).map_or(text.len(), |(n, _)| n);
        let (name, mut range) = text.split_at(end);
        // Extras do not change the version.
        if let Some((_, rest)) = range.strip_prefix('[').and_then(|it| it.split_once(']')) {
            range = rest;
        }
        let range = range.trim().trim_start_matches(['@', '(']).trim_end_matches(')').trim();
        Dependency { name, range, is_conditional: !condition.trim().is_empty() }
    }

    /// Whether a version is one of those that it asks for.
    pub(super) fn allows(&self, installed: &str, notation: RangeNotation) -> bool {
        let Some(installed) = ReleaseNumbers::parse(installed) else { return true };
        self.range.split("||").any(|part| {
            let Some(comparators) = comparators(part) else { return true };
            comparators
                .iter()
                .all(|(operator, version)| allows(operator, version, &installed, notation))
        })
    }
}

/// The numbers of a version, and whether it is a prerelease. Missing numbers count as 0.
struct ReleaseNumbers {
    numbers: Vec<u64>,
    is_prerelease: bool,
    /// Whether it ends in `.*` or `.x`: any number may follow.
    is_open: bool,
}

impl ReleaseNumbers {
    fn parse(text: &str) -> Option<ReleaseNumbers> {
        let text = text.trim().trim_start_matches(['v', 'V']);
        let text = text.split('+').next().unwrap_or_default();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (release, rest) = text.split_at(end);
        let is_open = matches!(rest, "*" | "x" | "X");
        let parts = release.split('.').filter(|part| !part.is_empty());
        let numbers = parts.map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
        // `post` and `.post` follow a release; everything else precedes it.
        let is_prerelease = !is_open && !rest.is_empty() && !rest.contains("post");
        let is_known = !rest.contains('!') && (is_open || !numbers.is_empty());
        is_known.then_some(ReleaseNumbers { numbers, is_prerelease, is_open })
    }

    fn number(&self, n: usize) -> u64 {
        self.numbers.get(n).copied().unwrap_or(0)
    }

    fn compare(&self, other: &ReleaseNumbers) -> Ordering {
        let parts = self.numbers.len().max(other.numbers.len());
        let of_numbers = (0..parts).map(|n| self.number(n).cmp(&other.number(n)));
        let first = of_numbers.into_iter().find(|it| it.is_ne()).unwrap_or(Ordering::Equal);
        first.then(other.is_prerelease.cmp(&self.is_prerelease))
    }

    /// Whether the first numbers of both are the same.
    fn shares(&self, other: &ReleaseNumbers, parts: usize) -> bool {
        (0..parts).all(|n| self.number(n) == other.number(n))
    }
}

/// The operators and versions of a range; `None` if it is not one, such as a tag or a URL. All of
/// them must hold; alternatives (`||`) were split before.
fn comparators(range: &str) -> Option<Vec<(&str, ReleaseNumbers)>> {
    let mut found = Vec::new();
    let mut rest = range.trim();
    while !rest.is_empty() {
        let end = rest.find(|c| !"<>=!~^".contains(c)).unwrap_or(rest.len());
        let (operator, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after.find([',', ' ']).unwrap_or(after.len());
        let (version, left) = after.split_at(end);
        found.push((operator, ReleaseNumbers::parse(version)?));
        rest = left.trim_start_matches([',', ' ']);
    }
    Some(found)
}

fn allows(
    operator: &str,
    version: &ReleaseNumbers,
    installed: &ReleaseNumbers,
    notation: RangeNotation,
) -> bool {
    let order = installed.compare(version);
    let given = version.numbers.len();
    // `1.3` of npm means any 1.3, that of pip 1.3.0.
    let is_open = version.is_open || (notation == RangeNotation::Npm && given < 3);
    let is_same = || if is_open { installed.shares(version, given) } else { order.is_eq() };
    match operator {
        "" | "=" | "==" | "===" => is_same(),
        "!=" => !is_same(),
        ">=" => order.is_ge(),
        "<=" => order.is_le() || is_same(),
        ">" => order.is_gt() && !(is_open && is_same()),
        "<" => order.is_lt(),
        "~=" => order.is_ge() && installed.shares(version, given.saturating_sub(1)),
        "~" => order.is_ge() && installed.shares(version, given.min(2)),
        "^" => {
            // Up to the first number that is not 0.
            let fixed = version.numbers.iter().position(|number| *number != 0);
            order.is_ge() && installed.shares(version, fixed.map_or(given, |n| n + 1))
        }
        // Not an operator of either.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_a_name_and_a_range() {
        for (text, name, range) in [
            ("requests", "requests", ""),
            ("requests>=2.0", "requests", ">=2.0"),
            ("requests >= 2.0, < 3", "requests", ">= 2.0, < 3"),
            ("uvicorn[standard]", "uvicorn", ""),
            ("uvicorn[standard] (>=0.2)", "uvicorn", ">=0.2"),
            ("left-pad@1.3.0", "left-pad", "1.3.0"),
            ("@scope/name", "@scope/name", ""),
            ("@scope/name@^2", "@scope/name", "^2"),
            ("", "", ""),
        ] {
            let expected = Dependency { name, range, is_conditional: false };
            assert_eq!(Dependency::parse(text), expected);
        }
        assert!(Dependency::parse("a>=1; python_version < '3.9'").is_conditional);
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        use RangeNotation::{Npm, Pip};
        for (notation, range, installed, is_allowed) in [
            (Pip, "a>=2.31", "2.31.0", true),
            (Pip, "a>=2.31", "2.9", false),
            (Pip, "a>=2.31,<3", "3.0.1", false),
            (Pip, "a==2.31", "2.31.0", true),
            (Pip, "a==2.31", "2.31.1", false),
            (Pip, "a==2.31.*", "2.31.1", true),
            (Pip, "a!=2.31.*", "2.31.1", false),
            (Pip, "a~=2.2", "2.9", true),
            (Pip, "a~=2.2", "3.0", false),
            (Pip, "a>=1.0", "1.0rc1", false),
            (Pip, "a>1.0", "1.0.post1", false),
            (Pip, "a>=1!2.0", "1.0", true),
            (Pip, "a", "anything", true),
            (Npm, "a@1.3", "1.3.7", true),
            (Npm, "a@1.3.0", "1.3.7", false),
            (Npm, "a@^1.3", "1.9.0", true),
            (Npm, "a@^1.3", "2.0.0", false),
            (Npm, "a@^0.3", "0.4.0", false),
            (Npm, "a@~1.3.2", "1.3.9", true),
            (Npm, "a@~1.3.2", "1.4.0", false),
            (Npm, "a@^1 || ^2", "2.4.0", true),
            (Npm, "a@>1.3", "1.3.9", false),
            (Npm, "a@1.x", "1.9.0", true),
            (Npm, "a@*", "1.9.0", true),
            (Npm, "a@latest", "1.9.0", true),
        ] {
            let dependency = Dependency::parse(range);
            assert_eq!(dependency.allows(installed, notation), is_allowed, "{range} {installed}");
        }
    }
}
