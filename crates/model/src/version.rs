//! Versions: Semantic Versioning 2.0.0, with an optional `v` in front, as the toolfoundation
//! specification allows. The spelling is kept, because a definition is written back as it was.

use std::cmp::Ordering;
use std::fmt;

/// A semantic version. Two versions are equal only if they are spelled the same; to find the later
/// one, use [`Version::precedence`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    authored: Box<str>,
    semver: semver::Version,
}

/// Why a text is not a version: the parts that are missing, or the words of the crate `semver`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VersionError(String);

impl Version {
    /// Parses `1.2.3` or `v1.2.3`.
    pub fn parse(text: &str) -> Result<Version, VersionError> {
        Version::read(text, text.strip_prefix('v').unwrap_or(text))
    }

    /// Parses `1.2.3`, for formats that do not allow the `v`.
    pub fn parse_bare(text: &str) -> Result<Version, VersionError> {
        Version::read(text, text)
    }

    fn read(authored: &str, bare: &str) -> Result<Version, VersionError> {
        let semver = semver::Version::parse(bare)
            .map_err(|error| VersionError(missing_parts(bare).unwrap_or(error.to_string())))?;
        Ok(Version { authored: authored.into(), semver })
    }

    /// The version as it was written, `v` included.
    pub fn authored(&self) -> &str {
        &self.authored
    }

    /// The major, minor and patch number.
    pub fn numbers(&self) -> [u64; 3] {
        [self.semver.major, self.semver.minor, self.semver.patch]
    }

    /// The parts that decide about precedence, as text: without the `v` and build metadata. Two
    /// versions are the same one if this is equal.
    ///
    /// ```
    /// # use toolwright_model::Version;
    /// let (one, other) = (Version::parse("v1.0.0-rc.1+a"), Version::parse("1.0.0-rc.1"));
    /// assert_eq!(one.unwrap().release(), other.unwrap().release());
    /// ```
    pub fn release(&self) -> String {
        let bare = self.authored.strip_prefix('v').unwrap_or(&self.authored);
        bare.split('+').next().unwrap_or(bare).to_owned()
    }

    /// Compares two versions by the precedence of SemVer. Build metadata does not count, so
    /// different versions can be equal here; that is why there is no `Ord`.
    pub fn precedence(&self, other: &Version) -> Ordering {
        self.semver.cmp_precedence(&other.semver)
    }
}

/// Which of the three numbers are missing, if that is all that is wrong with them: the crate
/// `semver` only says where it stopped reading.
fn missing_parts(bare: &str) -> Option<String> {
    let numbers = bare.split(['-', '+']).next().filter(|numbers| !numbers.is_empty())?;
    let parts: Vec<&str> = numbers.split('.').collect();
    if parts.len() > 3 || !parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let is_missing = |n: &usize| parts.get(*n).is_none_or(|part| part.is_empty());
    let missing: Vec<&str> =
        (0..3).filter(is_missing).map(|n| ["major", "minor", "patch"][n]).collect();
    match missing.as_slice() {
        [] => None,
        [one] => Some(format!("the {one} number is missing")),
        [rest @ .., last] => {
            Some(format!("the {} and {last} numbers are missing", rest.join(", ")))
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.authored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_semantic_versions_with_an_optional_v_are_accepted() {
        for good in ["1.2.3", "v1.2.3", "1.0.0-alpha.1+build.5", "1.0.0+b-1", "1.0.0--"] {
            assert_eq!(Version::parse(good).expect(good).authored(), good);
        }
        for bad in [
            "",
            "v",
            "vv1.2.3",
            "V1.2.3",
            "1.2",
            "1",
            "01.2.3",
            "1.02.3",
            "1.0.0-",
            "1.0.0-alpha..1",
            "1.0.0-01",
            "1.0.0-.",
            "1.0.0+",
            "1.0.0-a+b+c",
            "1.0.0.0",
            "1.0.0-é",
            "1.2.x",
            "v1.2.3\n",
            " 1.2.3",
            "99999999999999999999.0.0",
        ] {
            assert!(Version::parse(bad).is_err(), "{bad:?}");
        }
        assert!(Version::parse_bare("v1.2.3").is_err());
    }

    #[test]
    fn missing_numbers_are_named() {
        for (text, reason) in [
            ("1", "the minor and patch numbers are missing"),
            ("1.0", "the patch number is missing"),
            ("v1.0", "the patch number is missing"),
            ("1.0-beta.2", "the patch number is missing"),
            ("1..3", "the minor number is missing"),
            (".1.2", "the major number is missing"),
            ("1.2.", "the patch number is missing"),
        ] {
            assert_eq!(Version::parse(text).expect_err(text).to_string(), reason, "{text}");
        }
        for other in ["", "1.2.x", "01.2.3", "1.2.3.4", "1.0.0-01", "latest", "-1"] {
            let error = Version::parse(other).expect_err(other).to_string();
            assert!(!error.contains("missing"), "{other}: {error}");
        }
    }

    #[test]
    fn precedence_is_that_of_semver() {
        let cases = [
            ("1.0.0", "v1.0.0", Ordering::Equal),
            ("1.0.0-alpha", "1.0.0-alpha.1", Ordering::Less),
            ("1.0.0-alpha.1", "1.0.0-alpha.beta", Ordering::Less),
            ("1.0.0-beta.2", "1.0.0-beta.11", Ordering::Less),
            ("1.0.0-rc.1", "1.0.0", Ordering::Less),
            ("1.0.0+a", "1.0.0+b", Ordering::Equal),
            ("1.0.0-1", "1.0.0-a", Ordering::Less),
            ("1.0.0-A", "1.0.0-a", Ordering::Less),
            ("1.10.0", "1.9.0", Ordering::Greater),
        ];
        for (a, b, order) in cases {
            let parse = |text| Version::parse(text).expect("a version");
            assert_eq!(parse(a).precedence(&parse(b)), order, "{a} {b}");
        }
    }
}
