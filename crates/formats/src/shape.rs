//! Checks a value against a table of fields (`crate::field`) and reports every difference: missing,
//! unknown and misspelled fields, wrong types, words, patterns, ranges and lengths.
//!
//! ```text
//! check_object ─┬─ check_required        for each required field
//!               ├─ check_value           for each member that the table has ─▶ check_object …
//!               └─ report_unknown_field  for each other member
//! ```
//!
//! Checks never stop at a mistake: the value with the wrong type is reported and its siblings are
//! checked all the same. The recursion is bounded, because `source` limits nesting to 128 levels.
//!
//! Repairs that change only the spelling are `Safety::Safe`; those that guess what the author meant
//! (the nearest word, `.0` added to a version) are `Unsafe` and applied only on request.
//!
//! Not here: rules that relate two values, and whether a JSON Schema is valid.

use serde_json::Value as Json;
use toolwright_model::Version;
use toolwright_source::codes as text_codes;
use toolwright_source::words::{alternatives, nearest, nearest_word, shorten};
use toolwright_source::{Edit, Finding, Member, Node, Safety, Severity, ValueKind};

use crate::codes;
use crate::field::{Field, FieldKind, FieldPresence, TextFormat, TextPattern};
use crate::findings::FindingList;
use crate::{MAX_ITEMS, extract};

/// Checks an object and all its members against `fields`. A value that is not an object gets one
/// finding, for its type.
///
/// Missing fields are reported first, then the members in the order of the document. Ends when the
/// list of findings is full.
pub(crate) fn check_object(node: Node<'_>, fields: &'static [Field], out: &mut FindingList) {
    if out.is_full() {
        return;
    }
    if node.kind() != ValueKind::Map {
        return report_wrong_type(node, "an object", out);
    }
    let members = node.members();
    for field in fields {
        if matches!(field.presence, FieldPresence::Required | FieldPresence::RequiredInStrictMode) {
            check_required(node, field, &members, out);
        }
    }
    // For each member, the index of its field in the table.
    let index = |member: &Member<'_>| fields.iter().position(|field| member.is(field.name));
    let indices: Vec<Option<usize>> = members.iter().map(index).collect();
    // The last of several members with the same key counts, and a pointer can lead only to it, so
    // the others are not checked. The parser has reported them as `DUPLICATE_KEY`. Filled in order,
    // so that the last one stays.
    let mut last = vec![0; fields.len()];
    for (n, index) in indices.iter().enumerate() {
        if let Some(index) = index {
            last[*index] = n;
        }
    }
    for (n, (member, index)) in members.iter().zip(indices).enumerate() {
        if out.is_full() {
            return;
        }
        match index {
            // An earlier duplicate.
            Some(index) if last[index] != n => {}
            Some(index) if !is_left_out(member.value, &fields[index]) => {
                // What `check_value` adds behind this index is about this member.
                let (before, field) = (out.len(), &fields[index]);
                check_value(node, member.value, &field.kind, out);
                // Many serialisers write `null` for optional fields that have no value. The formats
                // do not allow it, but with `--compat` it is a warning. Not for the schema of the
                // arguments: without it the tool cannot be called.
                let is_optional = field.presence == FieldPresence::Optional
                    && (field.name != "inputSchema" || !matches!(field.kind, FieldKind::Schema));
                if is_optional && member.value.kind() == ValueKind::Null {
                    out.mark_tolerable_from(before);
                }
            }
            // Absent for all purposes; `check_required` has reported it if it must not be.
            Some(_) => {}
            None => report_unknown_field(node, member, fields, out),
        }
    }
}

/// Whether the value counts as absent, so that its type need not be checked: a required value that
/// `check_required` has reported as null or blank, or a `null` that the field allows.
///
/// Without it a null would be reported twice: as missing, and as a wrong type.
fn is_left_out(node: Node<'_>, field: &Field) -> bool {
    match field.presence {
        FieldPresence::Required | FieldPresence::RequiredInStrictMode => {
            blank_reason(node, &field.kind).is_some()
        }
        FieldPresence::OptionalOrNull => {
            node.kind() == ValueKind::Null && !matches!(field.kind, FieldKind::Schema)
        }
        // Null is reported as a wrong type, see above.
        FieldPresence::Optional => false,
    }
}

/// Why a required value counts as missing: "null" or "blank". A `null` where a schema belongs is
/// not missing but invalid, with a help text of its own (`check_schema`). A blank list or object is
/// not blank: `[]` is a value.
fn blank_reason(node: Node<'_>, kind: &FieldKind) -> Option<&'static str> {
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

/// Checks one value against `kind`. `owner` is the object that has it, for custom checks.
///
/// At most one finding about the type: what depends on the right type is not checked with a wrong
/// one.
pub(crate) fn check_value(
    owner: Node<'_>,
    node: Node<'_>,
    kind: &FieldKind,
    out: &mut FindingList,
) {
    if out.is_full() {
        return;
    }
    match *kind {
        FieldKind::Any => {}
        FieldKind::Boolean => check_kind(node, ValueKind::Bool, "a boolean", out, |_, _| {}),
        // The three checks are independent: a name that is both too long and has a space gets two
        // findings.
        FieldKind::Text { min, max, pattern, format } => {
            check_kind(node, ValueKind::String, "a string", out, |node, out| {
                check_pattern(node, pattern, out);
                check_length(node, node.raw().chars().count(), min, max, "characters", out);
                check_format(node, format, out);
            })
        }
        FieldKind::Integer { min, max } => {
            check_kind(node, ValueKind::Number, "an integer", out, |node, out| {
                check_integer(node, min, max, out);
            })
        }
        FieldKind::Choice { words, tolerated } => {
            check_kind(node, ValueKind::String, "a string", out, |node, out| {
                check_choice(node, words, tolerated, out);
            })
        }
        FieldKind::Version { v_prefix } => check_version(node, v_prefix, out),
        FieldKind::Schema => check_schema(node, out),
        FieldKind::List { of, min } => {
            check_kind(node, ValueKind::List, "a list", out, |node, out| {
                check_length(node, node.len(), min, usize::MAX, "items", out);
                report_too_many_items(node, out);
                extract::items(node).for_each(|item| check_value(node, item, of, out));
            })
        }
        // An object with free keys, all of whose values have one kind.
        FieldKind::Map(of) => check_kind(node, ValueKind::Map, "an object", out, |node, out| {
            // A map of anything is not looked into, so its size does not matter either.
            if !matches!(of, FieldKind::Any) {
                report_too_many_items(node, out);
                node.members().iter().for_each(|member| check_value(node, member.value, of, out));
            }
        }),
        FieldKind::Object(fields) => check_object(node, fields, out),
        FieldKind::Custom { check, .. } => (check.0)(owner, node, out),
    }
}

/// Reports a list or object with more items than are read. The first `MAX_ITEMS` are checked and
/// read, see `extract::items`.
pub(crate) fn report_too_many_items(node: Node<'_>, out: &mut FindingList) {
    let count = node.len();
    if count > MAX_ITEMS {
        let message =
            format!("{} has {count} items; the first {MAX_ITEMS} are read", display_name(node));
        out.push(Finding::new(&text_codes::TOO_LARGE, node.pointer(), message).on_key());
    }
}

/// Calls `then` if the value has the type `wanted`, which messages call `name`.
fn check_kind(
    node: Node<'_>,
    wanted: ValueKind,
    name: &str,
    out: &mut FindingList,
    then: impl FnOnce(Node<'_>, &mut FindingList),
) {
    if node.kind() == wanted { then(node, out) } else { report_wrong_type(node, name, out) }
}

/// The name of a value in messages: its key, or `this` for items of lists and the root. Shortened,
/// as a key may be of any length.
fn display_name(node: Node<'_>) -> String {
    node.key().map_or_else(|| "this".to_owned(), |key| format!("`{}`", shorten(key.raw())))
}

/// Reports that a value is not `wanted`, a phrase such as "a string".
///
/// The repair is unsafe, because the author may have meant another value.
pub(crate) fn report_wrong_type(node: Node<'_>, wanted: &str, out: &mut FindingList) {
    if out.is_full() {
        return;
    }
    let message = format!("{} is {}, expected {wanted}", display_name(node), node.kind().name());
    let mut finding = Finding::new(&codes::INVALID_TYPE, node.pointer(), message);
    if wanted == "a string" && matches!(node.kind(), ValueKind::Number | ValueKind::Bool) {
        // Usually YAML: `id: 123` and `name: yes` were meant as strings. The raw text keeps what
        // the author typed, where the parsed number could have lost digits.
        let quoted = Json::from(node.raw());
        let edit = Edit::Replace(finding.at.clone(), quoted.clone());
        finding = finding.repair(Safety::Unsafe, format!("write {quoted}"), vec![edit]);
    }
    out.push(finding);
}

/// Reports a required field that is absent, null or blank. The pointer is that of the missing
/// member, which `source::locate` shows at the key of the object that lacks it. `members` are those
/// of `node`, which the caller has collected already.
fn check_required(node: Node<'_>, field: &Field, members: &[Member<'_>], out: &mut FindingList) {
    // From the end, because the last of several members with the same key counts.
    let found = members.iter().rev().find(|member| member.is(field.name));
    // A function, because most fields are there and a pointer allocates.
    let at = || node.pointer().child(field.name);
    let name = field.name;
    let message = match found.map(|member| blank_reason(member.value, &field.kind)) {
        // Present and not blank. Whether its value is right is the business of `check_value`.
        Some(None) => return,
        Some(Some(what)) => format!("`{name}` is required, and is {what}"),
        None => format!("required field `{name}` is missing"),
    };
    let finding = Finding::new(&codes::MISSING_REQUIRED_FIELD, at(), message);
    // The help explains the field, so that its author need not open the specification.
    let finding = finding.help(format!("`{name}` is {}", field.about));
    out.push(if field.presence == FieldPresence::RequiredInStrictMode {
        finding.tolerable()
    } else {
        finding
    });
}

/// Reports a member that the table does not have: as a misspelling if a field has almost the same
/// name and is not present itself, otherwise as a note.
///
/// ```text
/// inputSchem   near `inputSchema`, which is absent    MISSPELLED_FIELD, with a rename
/// inputSchem   near `inputSchema`, which is there     UNKNOWN_FIELD
/// colour       near nothing                           UNKNOWN_FIELD
/// ```
fn report_unknown_field(
    node: Node<'_>,
    member: &Member<'_>,
    fields: &'static [Field],
    out: &mut FindingList,
) {
    let (name, at) = (member.name(), member.value.pointer());
    // A misspelling that the table lists comes before one that is only similar. If the right field
    // is present as well, the wrong one is not a misspelling of it.
    let listed =
        fields.iter().find(|field| field.misspelling == Some(name)).map(|field| field.name);
    // Lazily: the comparison of spellings is slow, and unknown fields are common.
    let near = || nearest(name, fields.iter().map(|field| field.name));
    let suggestion = listed.or_else(near).filter(|suggestion| !node.has(suggestion));
    let suggestion =
        suggestion.and_then(|suggestion| fields.iter().find(|field| field.name == suggestion));
    out.push(match suggestion {
        Some(field) => {
            let suggestion = field.name;
            // Renaming a key whose value does not fit the field would turn a warning into an error,
            // so that repair needs a person's consent.
            let mut wrong = FindingList::default();
            check_value(node, member.value, &field.kind, &mut wrong);
            let safety = if wrong.len() == 0 { Safety::Safe } else { Safety::Unsafe };
            let edit = Edit::RenameKey(at.clone(), suggestion.to_owned());
            let message = format!(
                "unknown field `{}`; `{suggestion}` is spelled almost like it",
                shorten(name)
            );
            Finding::new(&codes::MISSPELLED_FIELD, at, message).on_key().repair(
                safety,
                format!("rename it to `{suggestion}`"),
                vec![edit],
            )
        }
        None => {
            let message = format!("unknown field `{}`", shorten(name));
            Finding::new(&codes::UNKNOWN_FIELD, at, message).on_key()
        }
    });
}

/// Reports a length outside of `min..=max`, counted in `unit`. Text is counted in characters, as
/// JSON Schema counts, not in bytes.
fn check_length(
    node: Node<'_>,
    length: usize,
    min: usize,
    max: usize,
    unit: &str,
    out: &mut FindingList,
) {
    if (min..=max).contains(&length) {
        return;
    }
    // Only the bound that is violated, which makes the message shorter to act on.
    let bound = if length < min { format!("at least {min}") } else { format!("at most {max}") };
    let message = format!("{} has {length} {unit}, expected {bound}", display_name(node));
    out.push(Finding::new(&codes::INVALID_LENGTH, node.pointer(), message));
}

/// Reports a string that does not match its pattern. There is no repair: which characters were
/// meant is not known.
fn check_pattern(node: Node<'_>, pattern: Option<&'static TextPattern>, out: &mut FindingList) {
    let Some(pattern) = pattern else { return };
    let text = node.raw();
    if (pattern.matches)(text) {
        return;
    }
    let message = format!("`{}` does not match `{}`", shorten(text), pattern.regex);
    let finding = Finding::new(&codes::INVALID_PATTERN, node.pointer(), message)
        .help(format!("expected {}", pattern.description));
    // Still reported, but as a warning with `--compat`.
    let tolerated = pattern.tolerated.contains(&text);
    out.push(if tolerated { finding.tolerable() } else { finding });
}

/// Reports a string that does not have its format. A warning by its code, since both checks are
/// lenient.
fn check_format(node: Node<'_>, format: Option<TextFormat>, out: &mut FindingList) {
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

/// Whether it is an absolute URI, leniently: scheme, colon, and characters that RFC 3986 allows or
/// that are not ASCII (an IRI). A `//` must be followed by a host, except for `file:///path`. The
/// crate `url` does not fit: it repairs what is wrong, such as `http:/x`, instead of rejecting it.
///
/// Examples: `https://a.b/c`, `mailto:a@b.c` and `data:,x` are accepted; `a.b/c`, `http:///x` and
/// `https://a b` are not.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    // RFC 3986 excludes these, and so does every parser that tools hand the address to.
    let clean = |c: char| {
        !c.is_whitespace()
            && !c.is_control()
            && !matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`')
    };
    // `http:///x` has an empty host, which only `file` allows.
    let hosted = !rest.starts_with("//")
        || rest.len() > 2 && !rest[2..].starts_with('/')
        || scheme == "file";
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(letters)
        && !rest.is_empty()
        && rest.chars().all(clean)
        && hosted
}

/// Whether it looks like `local@domain`, leniently: the finding is only a warning, so a false one
/// is worse than a missed one. Names around the address (`Ann <a@b.c>`) are not accepted. Full
/// parsers of addresses accept more than anybody means here, such as `a@b` and comments.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    // Letters of any script: internationalised domain names are addresses, too.
    let labels = domain
        .split('.')
        .all(|l| !l.is_empty() && l.chars().all(|c| c.is_alphanumeric() || c == '-'));
    // RFC 5321 allows anything between quotes.
    let quoted = local.len() > 1 && local.starts_with('"') && local.ends_with('"');
    let plain = !local.is_empty()
        && !local.chars().any(|c| c.is_whitespace() || matches!(c, '@' | '<' | '>' | ',' | ';'));
    labels && (quoted || plain)
}

/// Reports a number that is not whole or out of range. Three mistakes: below, above, and not whole.
/// `3.0` is whole.
fn check_integer(node: Node<'_>, min: i64, max: i64, out: &mut FindingList) {
    let name = display_name(node);
    let value = as_integer(node);
    // One bound in the message if the number is an `i64`, the whole range if it is far off.
    let message = match value {
        Some(value) if (min..=max).contains(&value) => return,
        Some(value) if value < min => format!("{name} is {value}, expected at least {min}"),
        Some(value) => format!("{name} is {value}, expected at most {max}"),
        // Whole, but beyond `i64`, such as 1e30: its range is wrong and not its type.
        None if node.to_json().as_f64().is_some_and(|f| f.fract() == 0.0) => {
            format!("{name} is {}, expected {min} to {max}", shorten(node.raw()))
        }
        None => return report_wrong_type(node, "an integer", out),
    };
    out.push(Finding::new(&codes::OUT_OF_RANGE, node.pointer(), message));
}

/// The value as an integer, `60000.0` included. Floats count up to 9.0e15, below 2^53: beyond that
/// they cannot represent every integer.
pub(crate) fn as_integer(node: Node<'_>) -> Option<i64> {
    let json = (node.kind() == ValueKind::Number).then(|| node.to_json())?;
    let float = || json.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9.0e15).map(|f| f as i64);
    json.as_i64().or_else(float)
}

/// Reports a string that is not one of `words`. `tolerated` words are reported, too, and are a
/// warning with `--compat`.
fn check_choice(
    node: Node<'_>,
    words: &[&'static str],
    tolerated: &[&'static str],
    out: &mut FindingList,
) {
    let word = node.raw();
    if words.contains(&word) {
        return;
    }
    let message =
        format!("{} is `{}`, expected {}", display_name(node), shorten(word), alternatives(words));
    let mut finding = Finding::new(&codes::INVALID_ENUM_VALUE, node.pointer(), message);
    // Authors copy `embedded | external | hybrid` from the specification; there is no nearest word
    // then.
    if word.contains('|') {
        finding = finding.help("that is the notation of the manual: pick one of the words");
    } else if let Some(suggestion) = nearest_word(word, words.iter().copied()) {
        let edit = Edit::Replace(finding.at.clone(), Json::from(suggestion));
        finding = finding.help(format!("did you mean `{suggestion}`?"));
        finding = finding.repair(Safety::Unsafe, format!("write `{suggestion}`"), vec![edit]);
    }
    out.push(if tolerated.contains(&word) { finding.tolerable() } else { finding });
}

/// Reports a value that is not a semantic version.
///
/// ```text
/// 1.0       write `1.0.0`, with an unsafe repair
/// v1.2.3    write it without the `v`, unless the format allows one
/// 1.2.x     no help
/// ```
fn check_version(node: Node<'_>, v_prefix: bool, out: &mut FindingList) {
    let text = node.raw();
    match node.kind() {
        // YAML reads `version: 1.0` as a number. Its mistake is the missing third part, not its
        // type, so it is reported as a version.
        ValueKind::String | ValueKind::Number => {}
        _ => return report_wrong_type(node, "a string", out),
    }
    // toolfoundation accepts `v1.2.3`; BTCP and AIOS do not.
    let parsed = if v_prefix { Version::parse(text) } else { Version::parse_bare(text) };
    let Err(error) = parsed else { return };
    let message = format!("`{}` is not a semantic version: {error}", shorten(text));
    let finding = Finding::new(&codes::INVALID_SEMVER, node.pointer(), message);
    let parts: Vec<&str> = text.split('.').collect();
    // `1` and `1.0` need only zeros; other mistakes have no obvious repair.
    let digits = parts.iter().all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    out.push(if digits && parts.len() < 3 {
        let full = format!("{text}{}", ".0".repeat(3 - parts.len()));
        let edit = Edit::Replace(finding.at.clone(), Json::from(full.as_str()));
        finding.help(format!("write all three parts: `{full}`")).repair(
            Safety::Unsafe,
            format!("write `{full}`"),
            vec![edit],
        )
    } else if let Some(bare) =
        text.strip_prefix(['v', 'V']).filter(|_| !v_prefix || text.starts_with('V'))
    {
        finding.help(format!("write it without the `{}`: `{}`", &text[..1], shorten(bare)))
    } else {
        finding
    });
}

/// Reports a value that cannot be a JSON Schema. `null` gets a hint, because authors write it for a
/// tool without parameters. `true` and `false` are schemas in JSON Schema, and are of the wrong
/// type here.
fn check_schema(node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        // Whether it is a valid schema is the rule `invalid_schema` of the crate `check`.
        ValueKind::Map => {}
        ValueKind::Null => {
            let message = format!("{} is null, expected a JSON Schema object", display_name(node));
            let finding = Finding::new(&text_codes::INVALID_SCHEMA, node.pointer(), message);
            let is_output = node.key().is_some_and(|key| key.raw() == "outputSchema");
            out.push(finding.help(if is_output {
                "a tool whose result is not described has no `outputSchema`"
            } else {
                "a tool without parameters has \
                 `{\"type\": \"object\", \"additionalProperties\": false}`"
            }));
        }
        _ => report_wrong_type(node, "a JSON Schema object", out),
    }
}

/// A warning about a name that is legal but not portable.
pub(crate) fn naming_warning(node: Node<'_>, message: String) -> Finding {
    Finding::new(&text_codes::NAMING_CONVENTION, node.pointer(), message)
        .severity(Severity::Warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_email_addresses_are_recognised() {
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
