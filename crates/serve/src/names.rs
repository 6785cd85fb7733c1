//! Names that every client takes: letters, digits, `_` and `-`, at most 64. The way back is a
//! table, never a guess from the name.

use std::collections::HashMap;

/// The longest name that every client takes.
const LONGEST: usize = 64;

/// Which name stands for which id.
#[derive(Debug, Default)]
pub struct Names {
    ids: HashMap<String, String>,
}

impl Names {
    /// Gives every id a name, in the order of the ids: who comes first keeps the plain one.
    pub fn of<'i>(ids: impl Iterator<Item = &'i str>) -> (Names, Vec<String>) {
        let mut names = Names::default();
        let given = ids.map(|id| names.give(id)).collect();
        (names, given)
    }

    fn give(&mut self, id: &str) -> String {
        let mut name = plain(id);
        // A name that stands for what no client takes always has the hash: otherwise a tool that
        // comes later could take it over.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-:".contains(c);
        if name.len() > LONGEST || !id.chars().all(is_plain) || self.ids.contains_key(&name) {
            name.truncate(LONGEST - 9);
            name = format!("{name}_{:08x}", hash(id));
        }
        // Two ids with one hash: count until it is free.
        for n in 2.. {
            if !self.ids.contains_key(&name) {
                break;
            }
            name = format!("{:.*}_{:08x}", LONGEST - 9, plain(id), hash(&format!("{id}#{n}")));
        }
        self.ids.insert(name.clone(), id.to_owned());
        name
    }

    /// The id that a name stands for.
    pub fn id(&self, name: &str) -> Option<&str> {
        self.ids.get(name).map(String::as_str)
    }
}

/// `ns:name` as `ns__name`; what no client takes becomes `_`.
fn plain(id: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    id.replace(':', "__").chars().map(allowed).collect()
}

/// FNV-1a, folded to 32 bits: the same in every version and on every machine.
fn hash(text: &str) -> u32 {
    let full = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (full ^ (full >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_plain_and_lead_back() {
        let long = format!("server:{}", "x".repeat(128));
        let longer = format!("server:{}y", "x".repeat(127));
        let ids = [
            "a.b",
            "a_b",
            "fs:read",
            "fs__read",
            "ns:a.b",
            long.as_str(),
            longer.as_str(),
            "größe",
        ];
        let (names, given) = Names::of(ids.into_iter());
        assert_eq!(given[1], "a_b");
        assert!(given[0].starts_with("a_b_"), "{given:?}");
        assert_eq!(given[2], "fs__read");
        assert!(given[4].starts_with("ns__a_b_"), "{given:?}");
        for (id, name) in ids.iter().zip(&given) {
            assert_eq!(names.id(name), Some(*id));
            assert!(name.len() <= LONGEST && !name.is_empty(), "{name}");
            assert!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
                "{name}"
            );
        }
        let distinct: std::collections::HashSet<_> = given.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{given:?}");
        // A name never changes because other tools come or go, unless they take it.
        assert_eq!(Names::of([long.as_str()].into_iter()).1[0], given[5]);
    }
}
