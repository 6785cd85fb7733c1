//! Errors about the object of all arguments, in the words of a caller: an argument is missing, or
//! unknown and probably meant as another one. `schema` says the same of any object, as properties
//! that are required or unexpected; a caller has never seen that object.

use toolwright_schema::ValidationError;

use crate::Json;
use crate::capped_texts::{MAX_CHARS, shorten};

/// Unknown arguments that a message lists.
const MAX_LISTED: usize = 8;
/// Characters of a name that a message quotes.
const MAX_NAME: usize = 80;

/// The message for an error of arguments that should match `schema`. `None` for errors about the
/// value of one argument: those name it by their path.
pub(crate) fn describe(error: &ValidationError, schema: &Json) -> Option<String> {
    if !error.instance_path.is_empty() {
        return None;
    }
    let properties = schema.get("properties").and_then(Json::as_object);
    if let Some(name) = &error.missing {
        let kind = properties.and_then(|all| all.get(name)?.get("type")?.as_str());
        let kind = kind.map_or(String::new(), |kind| format!(" ({kind})"));
        return Some(shorten(&format!("missing argument `{name}`{kind}"), MAX_CHARS).into_owned());
    }
    let mut message = match error.unexpected.as_slice() {
        [] => return None,
        [name] => format!("unknown argument {}", quoted(name)),
        names => {
            let listed: Vec<String> =
                names.iter().take(MAX_LISTED).map(|name| quoted(name)).collect();
            let more = match names.len() - listed.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("unknown arguments {}{more}", listed.join(", "))
        }
    };
    if let ([name], Some(known)) = (error.unexpected.as_slice(), properties)
        && let Some(meant) = similar_name(name, known.keys())
    {
        message += &format!("; did you mean `{meant}`?");
    }
    Some(message)
}

/// A name in backticks.
fn quoted(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("`{}…`", &name[..end]),
        None => format!("`{name}`"),
    }
}

/// The known name that is at most two typing slips away, and by less than half of it.
fn similar_name<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> Option<&'n str> {
    // The distance takes quadratic time.
    let known = known.filter(|known| known.len().max(name.len()) <= 64);
    let distances = known.map(|known| {
        (strsim::osa_distance(&name.to_lowercase(), &known.to_lowercase()), known.as_str())
    });
    let near = distances.filter(|(slips, known)| *slips <= 2 && slips * 2 < known.chars().count());
    near.min_by_key(|(slips, _)| *slips).map(|(_, known)| known)
}
