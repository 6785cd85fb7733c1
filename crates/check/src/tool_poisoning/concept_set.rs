//! A set of concepts, one bit each. Rules compare sets for every word of a text, so a set is a
//! value of a fixed size and not a collection.

use std::ops::{BitOr, BitOrAssign};

/// Concepts that a set has room for.
pub(super) const MAX_CONCEPTS: usize = 256;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConceptSet([u128; 2]);

impl ConceptSet {
    /// The set of one concept. The number is below [`MAX_CONCEPTS`].
    pub(super) fn of(number: usize) -> Self {
        let mut set = Self::default();
        set.0[number / 128] = 1 << (number % 128);
        set
    }

    pub(super) fn intersects(self, other: Self) -> bool {
        (self.0[0] & other.0[0]) | (self.0[1] & other.0[1]) != 0
    }

    /// The numbers of its concepts, in ascending order.
    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        let bits = |half: usize| {
            let mut rest = self.0[half];
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.checked_sub(1)?;
                Some(128 * half + bit)
            })
        };
        bits(0).chain(bits(1))
    }
}

impl BitOr for ConceptSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }
}

impl BitOrAssign for ConceptSet {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The union of the sets.
impl FromIterator<ConceptSet> for ConceptSet {
    fn from_iter<I: IntoIterator<Item = ConceptSet>>(sets: I) -> Self {
        sets.into_iter().fold(Self::default(), BitOr::bitor)
    }
}
