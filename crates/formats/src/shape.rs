//! Holds a value against a table of fields and reports every difference: missing, type, enum,
//! pattern, range, length, unknown and misspelled fields. What relates two values is not here.

use serde_json::Value as Json;
use toolwright_model::Version;
use toolwright_source::codes as text_codes;
use toolwright_source::words::{alternatives, nearest, nearest_word, shorten};
use toolwright_source::{Edit, Finding, Member, Node, Safety, Severity, ValueKind};

use crate::codes;
use crate::field::{Field, FieldKind, Need, TextFormat};
use crate::findings::Findings;
use crate::{MAX_ITEMS, take};

/// Checks an object against its fields. A value that is no object is reported and left alone.
pub(crate) fn object(node: Node<'_>, fields: &'static [Field], out: &mut Findings) {
    if out.is_full() {
        return;
    }
    if node.kind() != ValueKind::Map {
        return wrong_type(node, "an object", out);
    }
    let entries = node.members();
    for field in fields {
        if matches!(field.need, Need::Required | Need::RequiredTolerably) {
            required(node, field, &entries, out);
        }
    }
    let place = |entry: &Member<'_>| fields.iter().position(|field| entry.is(field.name));
    let places: Vec<Option<usize>> = entries.iter().map(place).collect();
    // Of duplicates the last one counts, and only it can be found by pointer.
    let mut last = vec![0; fields.len()];
    for (n, place) in places.iter().enumerate() {
        if let Some(place) = place {
            last[*place] = n;
        }
    }
    for (n, (entry, place)) in entries.iter().zip(places).enumerate() {
        if out.is_full() {
            return;
        }
        match place {
            Some(place) if last[place] != n => {}
            Some(place) if !is_left_out(entry.value, &fields[place]) => {
                let (told, field) = (out.len(), &fields[place]);
                value(node, entry.value, &field.kind, out);
                // Serialisers that write every field write null for the optional ones that are not
                // there.
                let optional =
                    field.need == Need::Optional && !matches!(field.kind, FieldKind::Schema);
                if optional && entry.value.kind() == ValueKind::Null {
                    out.tolerate_from(told);
                }
            }
            Some(_) => {}
            None => unknown(node, entry, fields, out),
        }
    }
}

/// Whether a value says as much as none: what was reported as missing, and a legal `null`.
fn is_left_out(node: Node<'_>, field: &Field) -> bool {
    match field.need {
        Need::Required | Need::RequiredTolerably => blank(node, &field.kind).is_some(),
        Need::OrNull => node.kind() == ValueKind::Null && !matches!(field.kind, FieldKind::Schema),
        Need::Optional => false,
    }
}

/// What a required value is instead of given. A null schema is an invalid one, not a missing one.
fn blank(node: Node<'_>, kind: &FieldKind) -> Option<&'static str> {
    match (node.kind(), kind) {
        (ValueKind::Null, FieldKind::Any | FieldKind::Schema) => None,
        (ValueKind::Null, _) => Some("null"),
        (
            ValueKind::String,
            FieldKind::Text { .. } | FieldKind::Choice { .. } | FieldKind::Version { .. },
        ) => node.raw().trim().is_empty().then_some("blank"),
        _ => None,
    }
}

/// Checks one value, which `owner` holds, against its kind.
pub(crate) fn value(owner: Node<'_>, node: Node<'_>, kind: &FieldKind, out: &mut Findings) {
    if out.is_full() {
        return;
    }
    match *kind {
        FieldKind::Any => {}
        FieldKind::Boolean => expect(node, ValueKind::Bool, "a boolean", out, |_, _| {}),
        FieldKind::Text { min, max, pattern, format } => {
            expect(node, ValueKind::String, "a string", out, |node, out| {
                text_pattern(node, pattern, out);
                length(node, node.raw().chars().count(), min, max, "characters", out);
                text_format(node, format, out);
            })
        }
        FieldKind::Integer { min, max } => {
            expect(node, ValueKind::Number, "an integer", out, |node, out| {
                integer(node, min, max, out);
            })
        }
        FieldKind::Choice { words, tolerated } => {
            expect(node, ValueKind::String, "a string", out, |node, out| {
                choice(node, words, tolerated, out);
            })
        }
        FieldKind::Version { v } => version(node, v, out),
        FieldKind::Schema => schema(node, out),
        FieldKind::List { of, min } => expect(node, ValueKind::List, "a list", out, |node, out| {
            length(node, node.len(), min, usize::MAX, "items", out);
            too_many(node, out);
            take::items(node).for_each(|item| value(node, item, of, out));
        }),
        FieldKind::Map(of) => expect(node, ValueKind::Map, "an object", out, |node, out| {
            if !matches!(of, FieldKind::Any) {
                too_many(node, out);
                node.members().iter().for_each(|entry| value(node, entry.value, of, out));
            }
        }),
        FieldKind::Object(fields) => object(node, fields, out),
        FieldKind::Rule { check, .. } => (check.0)(owner, node, out),
    }
}

/// Reports a container with more items than are read.
pub(crate) fn too_many(node: Node<'_>, out: &mut Findings) {
    let count = node.len();
    if count > MAX_ITEMS {
        let message = format!("{} has {count} items; the first {MAX_ITEMS} are read", called(node));
        out.push(Finding::new(&text_codes::TOO_LARGE, node.pointer(), message).on_key());
    }
}

fn expect(
    node: Node<'_>,
    wanted: ValueKind,
    name: &str,
    out: &mut Findings,
    then: impl FnOnce(Node<'_>, &mut Findings),
) {
    if node.kind() == wanted { then(node, out) } else { wrong_type(node, name, out) }
}

/// What messages call a value: its key, or `this` in a list and at the root.
fn called(node: Node<'_>) -> String {
    node.key().map_or_else(|| "this".to_owned(), |key| format!("`{}`", shorten(key.raw())))
}

/// Reports a value of the wrong type.
pub(crate) fn wrong_type(node: Node<'_>, wanted: &str, out: &mut Findings) {
    if out.is_full() {
        return;
    }
    let message = format!("{} is {}, expected {wanted}", called(node), node.kind().name());
    let mut finding = Finding::new(&codes::INVALID_TYPE, node.pointer(), message);
    if wanted == "a string" && matches!(node.kind(), ValueKind::Number | ValueKind::Bool) {
        let quoted = Json::from(node.raw());
        let edit = Edit::Replace(finding.at.clone(), quoted.clone());
        finding = finding.repair(Safety::Unsafe, format!("write {quoted}"), vec![edit]);
    }
    out.push(finding);
}

fn required(node: Node<'_>, field: &Field, entries: &[Member<'_>], out: &mut Findings) {
    let found = entries.iter().rev().find(|entry| entry.is(field.name));
    let at = || node.pointer().child(field.name);
    let name = field.name;
    let message = match found.map(|entry| blank(entry.value, &field.kind)) {
        Some(None) => return,
        Some(Some(what)) => format!("`{name}` is required, and is {what}"),
        None => format!("required field `{name}` is missing"),
    };
    let finding = Finding::new(&codes::MISSING_REQUIRED_FIELD, at(), message);
    let finding = finding.help(format!("`{name}` is {}", field.about));
    out.push(if field.need == Need::RequiredTolerably { finding.tolerable() } else { finding });
}

fn unknown(node: Node<'_>, entry: &Member<'_>, fields: &'static [Field], out: &mut Findings) {
    let (name, at) = (entry.name(), entry.value.pointer());
    let mistaken = fields.iter().find(|field| field.mistaken == Some(name)).map(|field| field.name);
    let near = || nearest(name, fields.iter().map(|field| field.name));
    let meant = mistaken.or_else(near).filter(|meant| !node.has(meant));
    let meant = meant.and_then(|meant| fields.iter().find(|field| field.name == meant));
    out.push(match meant {
        Some(field) => {
            let meant = field.name;
            // A value that does not fit would be another mistake under its right name.
            let mut wrong = Findings::default();
            value(node, entry.value, &field.kind, &mut wrong);
            let safety = if wrong.len() == 0 { Safety::Safe } else { Safety::Unsafe };
            let edit = Edit::RenameKey(at.clone(), meant.to_owned());
            let message =
                format!("unknown field `{}`; `{meant}` is spelled almost like it", shorten(name));
            Finding::new(&codes::MISSPELLED_FIELD, at, message).on_key().repair(
                safety,
                format!("rename it to `{meant}`"),
                vec![edit],
            )
        }
        None => {
            let message = format!("unknown field `{}`", shorten(name));
            Finding::new(&codes::UNKNOWN_FIELD, at, message).on_key()
        }
    });
}

fn length(node: Node<'_>, length: usize, min: usize, max: usize, unit: &str, out: &mut Findings) {
    if (min..=max).contains(&length) {
        return;
    }
    let bound = if length < min { format!("at least {min}") } else { format!("at most {max}") };
    let message = format!("{} has {length} {unit}, expected {bound}", called(node));
    out.push(Finding::new(&codes::INVALID_LENGTH, node.pointer(), message));
}

fn text_pattern(
    node: Node<'_>,
    pattern: Option<&'static crate::field::Pattern>,
    out: &mut Findings,
) {
    let Some(pattern) = pattern else { return };
    let text = node.raw();
    if (pattern.matches)(text) {
        return;
    }
    let message = format!("`{}` does not match `{}`", shorten(text), pattern.regex);
    let finding = Finding::new(&codes::INVALID_PATTERN, node.pointer(), message)
        .help(format!("expected {}", pattern.means));
    let tolerated = pattern.tolerated.contains(&text);
    out.push(if tolerated { finding.tolerable() } else { finding });
}

fn text_format(node: Node<'_>, format: Option<TextFormat>, out: &mut Findings) {
    let (ok, what) = match format {
        None => return,
        Some(TextFormat::Uri) => (is_uri(node.raw()), "a URI"),
        Some(TextFormat::Email) => (is_email(node.raw()), "an e-mail address"),
    };
    if !ok {
        let message = format!("`{}` is not {what}", shorten(node.raw()));
        out.push(Finding::new(&codes::INVALID_FORMAT, node.pointer(), message));
    }
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    let clean = |c: char| {
        !c.is_whitespace()
            && !c.is_control()
            && !matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`')
    };
    let hosted = !rest.starts_with("//")
        || rest.len() > 2 && !rest[2..].starts_with('/')
        || scheme == "file";
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(letters)
        && !rest.is_empty()
        && rest.chars().all(clean)
        && hosted
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let labels = domain
        .split('.')
        .all(|l| !l.is_empty() && l.chars().all(|c| c.is_alphanumeric() || c == '-'));
    let quoted = local.len() > 1 && local.starts_with('"') && local.ends_with('"');
    let plain = !local.is_empty()
        && !local.chars().any(|c| c.is_whitespace() || matches!(c, '@' | '<' | '>' | ',' | ';'));
    labels && (quoted || plain)
}

fn integer(node: Node<'_>, min: i64, max: i64, out: &mut Findings) {
    let name = called(node);
    let value = whole(node);
    let message = match value {
        Some(value) if (min..=max).contains(&value) => return,
        Some(value) if value < min => format!("{name} is {value}, expected at least {min}"),
        Some(value) => format!("{name} is {value}, expected at most {max}"),
        None if node.to_json().as_f64().is_some_and(|f| f.fract() == 0.0) => {
            format!("{name} is {}, expected {min} to {max}", shorten(node.raw()))
        }
        None => return wrong_type(node, "an integer", out),
    };
    out.push(Finding::new(&codes::OUT_OF_RANGE, node.pointer(), message));
}

/// The number as an integer; `60000.0` is one.
pub(crate) fn whole(node: Node<'_>) -> Option<i64> {
    let json = (node.kind() == ValueKind::Number).then(|| node.to_json())?;
    let float = || json.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9.0e15).map(|f| f as i64);
    json.as_i64().or_else(float)
}

fn choice(node: Node<'_>, words: &[&'static str], tolerated: &[&'static str], out: &mut Findings) {
    let word = node.raw();
    if words.contains(&word) {
        return;
    }
    let message =
        format!("{} is `{}`, expected {}", called(node), shorten(word), alternatives(words));
    let mut finding = Finding::new(&codes::INVALID_ENUM_VALUE, node.pointer(), message);
    if word.contains('|') {
        finding = finding.help("that is the notation of the manual: pick one of the words");
    } else if let Some(meant) = nearest_word(word, words.iter().copied()) {
        let edit = Edit::Replace(finding.at.clone(), Json::from(meant));
        finding = finding.help(format!("did you mean `{meant}`?"));
        finding = finding.repair(Safety::Unsafe, format!("write `{meant}`"), vec![edit]);
    }
    out.push(if tolerated.contains(&word) { finding.tolerable() } else { finding });
}

fn version(node: Node<'_>, v: bool, out: &mut Findings) {
    let text = node.raw();
    match node.kind() {
        // `version: 1.0` is a number to YAML; what is wrong with it is that it has two parts.
        ValueKind::String | ValueKind::Number => {}
        _ => return wrong_type(node, "a string", out),
    }
    let parsed = if v { Version::parse(text) } else { Version::parse_bare(text) };
    let Err(error) = parsed else { return };
    let message = format!("`{}` is not a semantic version: {error}", shorten(text));
    let finding = Finding::new(&codes::INVALID_SEMVER, node.pointer(), message);
    let parts: Vec<&str> = text.split('.').collect();
    let digits = parts.iter().all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    out.push(if digits && parts.len() < 3 {
        let full = format!("{text}{}", ".0".repeat(3 - parts.len()));
        let edit = Edit::Replace(finding.at.clone(), Json::from(full.as_str()));
        finding.help(format!("write all three parts: `{full}`")).repair(
            Safety::Unsafe,
            format!("write `{full}`"),
            vec![edit],
        )
    } else if let Some(bare) = text.strip_prefix(['v', 'V']).filter(|_| !v || text.starts_with('V'))
    {
        finding.help(format!("write it without the `{}`: `{}`", &text[..1], shorten(bare)))
    } else {
        finding
    });
}

fn schema(node: Node<'_>, out: &mut Findings) {
    match node.kind() {
        ValueKind::Map => {}
        ValueKind::Null => {
            let message = format!("{} is null, expected a JSON Schema object", called(node));
            let finding = Finding::new(&text_codes::INVALID_SCHEMA, node.pointer(), message);
            out.push(finding.help(
                "a tool without parameters has `{\"type\": \"object\", \"additionalProperties\": false}`",
            ));
        }
        _ => wrong_type(node, "a JSON Schema object", out),
    }
}

/// A warning about a value that is legal.
pub(crate) fn convention(node: Node<'_>, message: String) -> Finding {
    Finding::new(&text_codes::NAMING_CONVENTION, node.pointer(), message)
        .severity(Severity::Warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [
            "https://a.example/x?y#z",
            "mailto:a@b.c",
            "urn:x:y",
            "file:///tmp/x",
            "data:image/png;base64,AAA=",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in ["", "example.com", "http://", "https://a b", "://x", "1a:b", "http:///x"] {
            assert!(!is_uri(bad), "{bad}");
        }
        for good in ["a@b.c", "a.b+c@d-e.example", "\"odd one\"@x.y"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a b@c.d", "a@b..c", "Ann <a@b.c>"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
