//! The names under which tools and prompts are exposed, and tools are written for a target. Ids
//! such as `fs:read.file` have characters that some clients reject, so each gets a name of letters,
//! digits, `_` and `-` with at most 64 characters, which all known clients accept:
//!
//! ```text
//! fs:read        ─▶ fs__read
//! fs:read.file   ─▶ fs__read_file_d0d676b8    (a replaced character, so a hash of the id)
//! a very long id ─▶ its first 55 characters, `_`, hash
//! ```
//!
//! Calls are resolved with a table, never by reversing the rule: `fs__read` may be an id itself.
//! Formats with other rules for names pass their [`NameShape`].

use std::collections::HashMap;

use toolwright_formats::{NameShape, NameStart};
use toolwright_model::short_hash;

/// The names that all known clients accept.
const ACCEPTED_EVERYWHERE: NameShape = NameShape { max: 64, others: "_-", start: NameStart::Any };

/// The id of every exposed name.
#[derive(Debug, Default)]
pub struct ExposedNames {
    /// By exposed name.
    ids: HashMap<String, String>,
}

impl ExposedNames {
    /// Gives every id a name and returns the table and the names, in the order of the ids. If two
    /// ids would get the same name, the first one keeps it.
    pub fn of<'i>(ids: impl Iterator<Item = &'i str>) -> (ExposedNames, Vec<String>) {
        ExposedNames::of_shape(ids, &ACCEPTED_EVERYWHERE)
    }

    /// The same with names of this shape.
    pub fn of_shape<'i>(
        ids: impl Iterator<Item = &'i str>,
        shape: &NameShape,
    ) -> (ExposedNames, Vec<String>) {
        let mut names = ExposedNames::default();
        let given = ids.map(|id| names.assign(id, shape)).collect();
        (names, given)
    }

    /// Chooses a free name for an id and puts it into the table.
    fn assign(&mut self, id: &str, shape: &NameShape) -> String {
        let is_supported = |c: char| c == ':' || shape.allows(c);
        let may_start = id.chars().next().is_some_and(|first| shape.may_start_with(first));
        let is_supported = may_start && id.chars().all(is_supported);
        // Most ids are names already.
        let mut name = match is_supported && !id.contains(':') {
            true => id.to_owned(),
            false => replace_unsupported(id, shape),
        };
        // A name with replaced characters always has the hash, not only on a collision: otherwise
        // `a.b` would be `a_b` until a tool `a_b` appears, and a client that still uses the old
        // name would call the wrong tool.
        // Nine bytes are `_` and eight hexadecimal digits. All characters are ASCII by now, so
        // `truncate` cannot split one.
        if !is_supported || name.len() > shape.max || self.ids.contains_key(&name) {
            name.truncate(shape.max - 9);
            name = format!("{name}_{:08x}", short_hash(id));
            // Two ids with the same hash: hash with a counter until the name is free.
            for n in 2.. {
                if !self.ids.contains_key(&name) {
                    break;
                }
                name = format!(
                    "{:.*}_{:08x}",
                    shape.max - 9,
                    replace_unsupported(id, shape),
                    short_hash(&format!("{id}#{n}"))
                );
            }
        }
        self.ids.insert(name.clone(), id.to_owned());
        name
    }

    /// The id of an exposed name; `None` if no tool has this name.
    pub fn id(&self, name: &str) -> Option<&str> {
        self.ids.get(name).map(String::as_str)
    }
}

/// `ns:name` as `ns__name`, with `_` for every character that the shape does not have, and a letter
/// in front where the first one may not be.
fn replace_unsupported(id: &str, shape: &NameShape) -> String {
    let allowed = |c: char| if shape.allows(c) { c } else { '_' };
    let mut name: String = id.replace(':', "__").chars().map(allowed).collect();
    if !name.chars().next().is_some_and(|first| shape.may_start_with(first)) {
        name.insert_str(0, "t_");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_distinct_and_resolve_to_their_ids() {
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
        let (names, given) = ExposedNames::of(ids.into_iter());
        assert_eq!(given[1], "a_b");
        assert!(given[0].starts_with("a_b_"), "{given:?}");
        assert_eq!(given[2], "fs__read");
        assert!(given[4].starts_with("ns__a_b_"), "{given:?}");
        for (id, name) in ids.iter().zip(&given) {
            assert_eq!(names.id(name), Some(*id));
            assert!(name.len() <= ACCEPTED_EVERYWHERE.max && !name.is_empty(), "{name}");
            assert!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
                "{name}"
            );
        }
        let distinct: std::collections::HashSet<_> = given.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{given:?}");
        // A name does not depend on other tools, unless one has the same name.
        assert_eq!(ExposedNames::of([long.as_str()].into_iter()).1[0], given[5]);
    }

    #[test]
    fn names_have_the_shape_that_a_target_wants() {
        let btcp = NameShape { max: 64, others: "_", start: NameStart::Letter };
        let ids = ["readFile", "read-file", "2nd", "", "a:b"];
        let (names, given) = ExposedNames::of_shape(ids.into_iter(), &btcp);
        assert_eq!((given[0].as_str(), given[4].as_str()), ("readFile", "a__b"));
        assert!(given[1].starts_with("read_file_"), "{given:?}");
        assert!(given[2].starts_with("t_2nd_"), "{given:?}");
        for (id, name) in ids.iter().zip(&given) {
            assert_eq!(names.id(name), Some(*id));
            assert!(name.starts_with(|c: char| c.is_ascii_alphabetic()), "{name}");
            assert!(name.chars().all(|c| btcp.allows(c)), "{name}");
        }
        let dotted = NameShape { max: 128, others: "_.-", start: NameStart::Any };
        assert_eq!(ExposedNames::of_shape(["a.b"].into_iter(), &dotted).1, ["a.b"]);
    }
}
