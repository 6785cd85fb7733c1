//! Which part of a version a change demands to be raised, and which part was raised.
//!
//! | step | demanded by (btcp-manifest, "Versioning") |
//! |---|---|
//! | major | a tool or input that callers use may be refused; another output; another capability |
//! | minor | a new tool, a new optional input, an input that accepts more |
//! | patch | everything else |
//!
//! Below 1.0.0, SemVer promises nothing. As Cargo and npm do, the second number counts as the first
//! there, and the third as the second.
//!
//! ```text
//! 1.2.3 ─▶ 2.0.0   major        0.2.3 ─▶ 0.3.0   major
//! 1.2.3 ─▶ 1.3.0   minor        0.2.3 ─▶ 0.2.4   minor
//! 1.2.3 ─▶ 1.2.4   patch
//! ```

use toolwright_model::Version;

/// A part of a version, the least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionStep {
    /// Nothing changed.
    #[default]
    None,
    /// The third number.
    Patch,
    /// The second number.
    Minor,
    /// The first number.
    Major,
}

impl VersionStep {
    /// The word for it, as in SemVer.
    pub fn name(self) -> &'static str {
        match self {
            VersionStep::None => "none",
            VersionStep::Patch => "patch",
            VersionStep::Minor => "minor",
            VersionStep::Major => "major",
        }
    }

    /// The largest change that the step from one version to the next announces. `None` if the new
    /// version is not later.
    pub(super) fn between(old: &Version, new: &Version) -> VersionStep {
        if new.precedence(old).is_le() {
            return VersionStep::None;
        }
        let (old_numbers, new_numbers) = (old.numbers(), new.numbers());
        let raised = (0..3).find(|n| new_numbers[*n] != old_numbers[*n]);
        match (raised, old_numbers[0]) {
            // The same numbers: a later pre-release, or the release after it. Both may change all.
            (None | Some(0), _) | (Some(1), 0) => VersionStep::Major,
            (Some(1), _) | (Some(2), 0) => VersionStep::Minor,
            (Some(_), _) => VersionStep::Patch,
        }
    }
}

/// A version that the definitions declare, and whether it announces what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCheck {
    /// The tool or the document that has the version.
    pub subject: String,
    /// The version before, as written.
    pub old: String,
    /// The version now.
    pub new: String,
    /// What the changes demand.
    pub demanded: VersionStep,
    /// What the versions announce.
    pub taken: VersionStep,
    /// The new version is an earlier one, which is wrong whatever changed.
    pub is_earlier: bool,
}

impl VersionCheck {
    pub(super) fn new(
        subject: String,
        old: &Version,
        new: &Version,
        demanded: VersionStep,
    ) -> VersionCheck {
        VersionCheck {
            subject,
            old: old.to_string(),
            new: new.to_string(),
            demanded,
            taken: VersionStep::between(old, new),
            is_earlier: new.precedence(old).is_lt(),
        }
    }

    /// Whether the new version announces all that changed.
    pub fn is_taken(&self) -> bool {
        self.taken >= self.demanded && !self.is_earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_between_two_versions() {
        for (old, new, expected) in [
            ("1.2.3", "1.2.3", VersionStep::None),
            ("1.2.3", "1.2.2", VersionStep::None),
            ("1.2.3", "1.2.4", VersionStep::Patch),
            ("1.2.3", "1.3.0", VersionStep::Minor),
            ("1.2.3", "v2.0.0", VersionStep::Major),
            ("0.2.3", "0.2.4", VersionStep::Minor),
            ("0.2.3", "0.3.0", VersionStep::Major),
            ("0.2.3", "1.0.0", VersionStep::Major),
            ("1.0.0-rc.1", "1.0.0", VersionStep::Major),
            ("1.0.0", "1.0.1-rc.1", VersionStep::Patch),
            ("1.0.0+a", "1.0.0+b", VersionStep::None),
        ] {
            let parse = |text| Version::parse(text).expect("a version");
            assert_eq!(VersionStep::between(&parse(old), &parse(new)), expected, "{old} {new}");
        }
    }
}
