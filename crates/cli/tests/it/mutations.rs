//! Valid documents with one mistake, and with two: each mutant gets the expected code on the
//! expected line, and no other finding changes.
//!
//! The expectations do not come from the program: keys and blocks are found by their indentation,
//! edits are made to lines of text, and the fields of the formats are written down in `tables` once
//! more.
//!
//! ```text
//! document ─ lines and keys (document) ─▶ mutants: an edit, the codes it should give and where
//!                                              │ one, or two that are independent
//!                                              ▼
//!                            mutated text ─ check ─▶ findings = those before + those expected
//! ```

mod document;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use document::Place::{At, Own};
use document::{Base, FormatChange, Line, LineEdit, Place, check};
use tables::{CODE, DOCUMENTS, KNOWN, VALUES};

/// A mutation of a document, and the findings that it should give.
struct Mutant {
    kind: &'static str,
    path: String,
    what: String,
    edit: LineEdit,
    expect: Vec<(&'static str, Place)>,
    /// Lines that a second mutation must not touch, so that each has the findings it has alone.
    scope: Vec<Range<usize>>,
    /// Findings of the valid document that it may remove: a code, or any, on these lines.
    silenced: Vec<(&'static str, Range<usize>)>,
    /// Whether the format cannot be detected any more, so that this is the only finding.
    alone: bool,
}

/// All mutants of a document.
fn mutants(base: &Base) -> Vec<Mutant> {
    let mut all = Vec::new();
    for line in &base.keys {
        if let Some((kind, required)) = base.field(line) {
            shape(base, line, kind, required, &mut all);
        }
        values(base, line, &mut all);
        relations(base, line, &mut all);
    }
    all
}

impl Mutant {
    fn new(
        kind: &'static str,
        line: &Line,
        edit: LineEdit,
        expect: Vec<(&'static str, Place)>,
    ) -> Mutant {
        let mut scope = vec![line.at..line.end, edit.range.clone()];
        // The lines of its findings belong to it, except that of an object that lacks a field: that
        // object only has to exist.
        let finding_lines = expect.iter().filter_map(|(code, place)| match place {
            At(at) if *code != "MISSING_REQUIRED_FIELD" => Some(*at..*at + 1),
            _ => None,
        });
        scope.extend(finding_lines);
        let what = format!("{kind} `{}` on line {}", line.path, line.at + 1);
        // The commands and their descriptions depend on the type, and for some types on the id.
        let codes: &[&str] = match line.path.as_str() {
            "tool.type" => &["MISSING_SCENARIO", "MISSING_DESCRIPTION"],
            "tool.id" => &["MISSING_SCENARIO"],
            _ => &[],
        };
        let silenced = codes.iter().map(|code| (*code, 0..usize::MAX)).collect();
        Mutant { kind, path: line.path.clone(), what, edit, expect, scope, silenced, alone: false }
    }

    /// Its findings occur only if this field is unchanged.
    fn needs(mut self, line: &Line) -> Mutant {
        self.scope.push(line.at..line.end);
        self
    }
}

/// Mutations of the shape: drop, misspell, retype, blank, duplicate, and add an unknown field.
fn shape(base: &Base, line: &Line, holds: &str, required: bool, all: &mut Vec<Mutant>) {
    let block = line.at..line.end;
    let owner = if line.owner == line.at { Own(0) } else { At(line.owner) };
    let missing = required.then_some(("MISSING_REQUIRED_FIELD", owner));
    let absent: Vec<_> = missing.into_iter().chain(base.follows(line)).collect();
    // References to an id that cannot be read are unresolved.
    let unread = if line.key == "id" { base.follows(line) } else { Vec::new() };
    let mut add = |kind, edit: LineEdit, expect| match base.format_change(line, kind) {
        FormatChange::Nothing => {
            // One of these keys is enough to detect a BTCP tool, and one of two lists names the
            // commands: a mutation needs the others unchanged.
            let own = ["capabilities", "examples", "deprecated", "timeout"];
            let group: &[&str] = match line.key.as_str() {
                "commands" => &["tools"],
                key if own.contains(&key) && base.format == "btcp" => &own,
                _ => &[],
            };
            let group = base.keys.iter().filter(|other| group.contains(&other.key.as_str()));
            all.push(group.fold(Mutant::new(kind, line, edit, expect), Mutant::needs));
        }
        FormatChange::Unknown => {
            let mutant = Mutant::new(kind, line, edit, vec![("UNKNOWN_FORMAT", At(0))]);
            all.push(Mutant { alone: true, ..mutant });
        }
        FormatChange::Other => {}
    };
    if let Some(edit) = dropped(base, line).filter(|_| !absent.is_empty()) {
        add("drop", edit, absent.clone());
    }
    if line.key.len() > 3 {
        let mut lines = base.lines[block.clone()].to_vec();
        lines[0] = base.line(line, &misspelled(&line.key), &line.value);
        let expect = [vec![("MISSPELLED_FIELD", Own(0))], absent].concat();
        add("misspell", LineEdit::new(block.clone(), lines), expect);
    }
    for value in wrong(holds) {
        add(
            "retype",
            base.with(line, value),
            [vec![("INVALID_TYPE", Own(0))], unread.clone()].concat(),
        );
    }
    if required && !matches!(holds, "schema" | "any") {
        let value = if matches!(holds, "list" | "object") { "null" } else { "\"\"" };
        add(
            "blank",
            base.with(line, value),
            [vec![("MISSING_REQUIRED_FIELD", Own(0))], unread].concat(),
        );
    }
    let mut twice = base.lines[block.clone()].to_vec();
    twice.push(base.lines[line.at].replacen("- ", "  ", usize::from(line.dash)));
    let edit = LineEdit { heir: Some(block.len()), ..LineEdit::new(line.at..line.at + 1, twice) };
    add("duplicate", edit, vec![("DUPLICATE_KEY", Own(block.len()))]);
    let before = base.keys.iter().filter(|other| other.owner == line.owner && other.at < line.at);
    if before.filter(|other| other.column == line.column).count() == 0 {
        let unknown = if base.is_json() { "\"unheard_of\": 1" } else { "unheard_of: 1" };
        let edit = LineEdit::new(line.end..line.end, vec![" ".repeat(line.column) + unknown]);
        add("unknown", edit, vec![("UNKNOWN_FIELD", Own(0))]);
    }
}

/// A value of another type.
fn wrong(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" => &["7", "[\"seven\"]"],
        "word" => &["true", "{\"word\": 1}"],
        "version" => &["[1, 0, 0]", "{\"major\": 1}"],
        "number" => &["\"many\"", "1.5"],
        "flag" => &["\"yes\"", "1"],
        "list" => &["\"one\"", "{\"one\": 1}"],
        "object" => &["\"one\"", "[]"],
        "schema" => &["true", "\"object\""],
        _ => &[],
    }
}

/// The key with two letters swapped.
fn misspelled(key: &str) -> String {
    let mut letters: Vec<char> = key.chars().collect();
    let first = usize::from(letters[1] != letters[2]);
    letters.swap(first, first + 1);
    letters.into_iter().collect()
}

/// Removes a field; the next field of a YAML item then starts it. The only field of an item is
/// kept.
fn dropped(base: &Base, line: &Line) -> Option<LineEdit> {
    if !line.dash {
        return Some(LineEdit::new(line.at..line.end, vec![]));
    }
    let next = base
        .keys
        .iter()
        .find(|next| next.at == line.end && next.column == line.column && !next.dash)?;
    let start = format!("{}- {}", " ".repeat(line.column - 2), base.lines[next.at].trim_start());
    Some(LineEdit::new(line.at..next.at + 1, vec![start]))
}

/// The mutations of `VALUES`.
fn values(base: &Base, line: &Line, all: &mut Vec<Mutant>) {
    for row in VALUES.lines().filter(|row| !row.is_empty()) {
        let words: Vec<&'static str> = row.splitn(5, ' ').collect();
        let [format, path, kind, code, value] = words[..] else { panic!("{row} has five parts") };
        if format != base.format || !base.is(&line.path, path) {
            continue;
        }
        for value in value.split(" | ") {
            let long = value.strip_prefix('*').and_then(|count| count.parse().ok());
            let value = long.map_or(value.to_owned(), |count| format!("\"{}\"", "a".repeat(count)));
            let mut mutant = Mutant::new(kind, line, base.with(line, &value), vec![(code, Own(0))]);
            if kind == "schema" {
                // Rules about schemas skip an invalid one.
                let schema =
                    base.keys.iter().rfind(|above| above.at == line.owner).expect("its schema");
                mutant.silenced.push(("", schema.at..schema.end));
            }
            all.push(mutant);
        }
    }
}

/// Mutations that break a relation of two values: code, examples, capabilities, names.
fn relations(base: &Base, line: &Line, all: &mut Vec<Mutant>) {
    let first = base.keys.iter().find(|other| other.path == line.path && other.at < line.at);
    match (line.key.as_str(), first) {
        ("capabilities", _) if base.format == "btcp" => capabilities(base, line, all),
        ("input", _) => all.extend(example(base, line)),
        // With namespaces, two tools may have one name.
        ("name" | "id", Some(first)) if !base.keys.iter().any(|line| line.key == "namespace") => {
            let code = if base.format == "btcp" { "DUPLICATE_TOOL_NAME" } else { "DUPLICATE_ID" };
            let expect = [vec![(code, Own(0))], base.follows(line)].concat();
            all.push(
                Mutant::new("twice", line, base.with(line, &first.value), expect).needs(first),
            );
        }
        ("function", _) => all.extend(CODE.iter().map(|(kind, code, name)| {
            let text = " ".repeat(line.column + 2) + code;
            Mutant::new(
                kind,
                line,
                LineEdit::new(line.at + 1..line.at + 1, vec![text]),
                vec![(name, Own(0))],
            )
        })),
        // One example of a failure is enough, and there is another.
        ("scenario", _) if line.value != "failure_invalid_param" => {
            let inside = |text: &&String| text.starts_with(&" ".repeat(line.column));
            let end = line.at + 1 + base.lines[line.at + 1..].iter().take_while(inside).count();
            let above = base.keys.iter().filter(|above| above.at < line.at);
            let command =
                above.rev().find(|above| above.column + 4 == line.column).expect("a command");
            let expect = vec![("MISSING_SCENARIO", At(command.at))];
            all.push(
                Mutant::new("scenario", line, LineEdit::new(line.at..end, vec![]), expect)
                    .needs(command),
            );
        }
        _ => {}
    }
}

/// An argument that the schema does not allow.
fn example(base: &Base, line: &Line) -> Option<Mutant> {
    let allows = match base.format {
        "btcp" => true,
        // The only command with a schema; that of an example that fails need not be kept.
        _ => {
            line.path.contains(".create_booking[]")
                && base.sibling(line, "scenario")?.value == "success"
        }
    };
    let mut above =
        base.keys.iter().filter(|above| above.key == "inputSchema" && above.at < line.at);
    let schema = above.next_back().filter(|_| allows && line.value.ends_with('}'))?;
    let value = line.value.replacen('{', "{\"unheard_of\": 1, ", 1);
    let expect = vec![("EXAMPLE_INPUT_INVALID", Own(0))];
    Some(Mutant::new("example", line, base.with(line, &value), expect).needs(schema))
}

/// One capability more, and in a manifest one less, which is reported at the first tool that needs
/// it.
fn capabilities(base: &Base, line: &Line, all: &mut Vec<Mutant>) {
    let lists: Vec<&Line> = base.keys.iter().filter(|line| line.key == "capabilities").collect();
    let mut add = |kind, items: &[&str], code, place| {
        let edit = base.with(line, &format!("[{}]", items.join(", ")));
        let mutant = Mutant::new(kind, line, edit, vec![(code, place)]);
        all.push(lists.iter().copied().fold(mutant, Mutant::needs));
    };
    let items = line.value.trim_matches(['[', ']']).split(", ").filter(|item| !item.is_empty());
    let items: Vec<&str> = items.collect();
    let more = |item| [items.clone(), vec![item]].concat();
    let is_manifest = base.keys.iter().any(|line| line.path == "btcp");
    add("pattern", &more("\"dom\""), "INVALID_PATTERN", Own(0));
    let (item, code) = match line.path.as_str() {
        "capabilities" if is_manifest => ("\"clipboard:write\"", "UNUSED_CAPABILITY"),
        _ if is_manifest => ("\"clipboard:write\"", "CAPABILITY_NOT_DECLARED"),
        _ => ("\"dom:teleport\"", "UNKNOWN_CAPABILITY"),
    };
    add("capability", &more(item), code, Own(0));
    for item in items.iter().filter(|_| code == "UNUSED_CAPABILITY") {
        let rest: Vec<&str> = items.iter().filter(|other| *other != item).copied().collect();
        let user = lists.iter().find(|tool| tool.at != line.at && tool.value.contains(item));
        add("capability", &rest, "CAPABILITY_NOT_DECLARED", At(user.expect("all are used").at));
    }
}

/// Stands for the findings of the valid document, where an index of a mutant is expected.
const BEFORE: usize = usize::MAX;

/// The text with all edits made, and where each line of the base and of each edit then is, from 1.
fn mutated(base: &Base, mutants: &[&Mutant]) -> (String, impl Fn(usize, Place) -> Option<usize>) {
    let mut edits: Vec<(usize, LineEdit)> =
        mutants.iter().map(|mutant| mutant.edit.clone()).enumerate().collect();
    edits.sort_by_key(|(_, edit)| (edit.range.start, edit.range.end));
    let mut lines = base.lines.clone();
    for (_, edit) in edits.iter().rev() {
        lines.splice(edit.range.clone(), edit.lines.iter().cloned());
    }
    if base.is_json() {
        commas(&mut lines);
    }
    let place = move |own: usize, place: Place| {
        let mut shift = 0_isize;
        for (n, edit) in &edits {
            let start = edit.range.start.strict_add_signed(shift) + 1;
            match place {
                Own(line) if *n == own => return Some(start + line),
                At(line) if line < edit.range.start => break,
                // The line of an object stays its first line, whatever becomes of its first field.
                At(line) if edit.range.contains(&line) && own != BEFORE => return Some(start),
                At(line) if edit.range.contains(&line) => {
                    return edit.heir.map(|heir| start + heir);
                }
                _ => shift += edit.lines.len() as isize - edit.range.len() as isize,
            }
        }
        match place {
            At(line) => Some(line.strict_add_signed(shift) + 1),
            Own(_) => None,
        }
    };
    (lines.join("\n") + "\n", place)
}

/// A comma behind each member but the last one.
fn commas(lines: &mut [String]) {
    for n in 0..lines.len() {
        let is_last = lines.get(n + 1).is_none_or(|next| next.trim_start().starts_with(['}', ']']));
        let line = lines[n].trim_end_matches(',');
        let comma = if is_last || line.ends_with(['{', '[']) { "" } else { "," };
        lines[n] = format!("{line}{comma}");
    }
}

/// How the findings of a mutated document differ from the expected ones, if they do.
fn failure(base: &Base, mutants: &[&Mutant]) -> Option<String> {
    let (text, place) = mutated(base, mutants);
    let mut found = check(&base.file, &text);
    let (mut wrong, mut around) = (String::new(), Vec::new());
    let stays = base.found.iter().filter(|_| !mutants.iter().any(|mutant| mutant.alone));
    for (code, line, message) in stays {
        let silenced = mutants.iter().flat_map(|mutant| &mutant.silenced);
        let mut silenced =
            silenced.filter(|(name, lines)| lines.contains(&(line - 1)) && code.contains(name));
        let Some(line) = place(BEFORE, At(line - 1)) else { continue };
        match found.iter().position(|found| *found == (code.clone(), line, message.clone())) {
            Some(n) => drop(found.remove(n)),
            None if silenced.next().is_some() => {}
            None => drop(writeln!(wrong, "  gone: {code} on line {line}: {message}")),
        }
    }
    for (n, mutant) in mutants.iter().enumerate() {
        for (code, at) in &mutant.expect {
            let line = place(n, *at).unwrap_or(0);
            match found.iter().position(|found| found.0 == *code && found.1 == line) {
                Some(n) => drop(found.remove(n)),
                None => drop(writeln!(wrong, "  not found: {code} on line {line}")),
            }
            around.push(line);
        }
    }
    for (code, line, message) in found {
        let _ = writeln!(wrong, "  also found: {code} on line {line}: {message}");
        around.push(line);
    }
    if wrong.is_empty() {
        return None;
    }
    let what: Vec<&str> = mutants.iter().map(|mutant| mutant.what.as_str()).collect();
    let near = |n: usize| around.iter().any(|line| n.abs_diff(*line) < 3);
    let excerpt: String = text
        .lines()
        .zip(1..)
        .filter(|(_, n)| near(*n))
        .map(|(line, n)| format!("{n:5} | {line}\n"))
        .collect();
    Some(format!("{}: {}\n{wrong}{excerpt}", base.name, what.join(" and ")))
}

/// All documents with their mutants.
fn everything() -> Vec<(Base, Vec<Mutant>)> {
    let names = DOCUMENTS.iter().flat_map(|(format, source, names)| {
        names.split(' ').map(move |name| (format, source, name))
    });
    let documents = names.map(|(format, source, name)| Base::load(format, source, name));
    documents.map(|base| (mutants(&base), base)).map(|(mutants, base)| (base, mutants)).collect()
}

/// Runs all cases, prints how many there are of each kind, and fails with all differences. Returns
/// the rows of `KNOWN` that still differ.
#[expect(clippy::print_stdout, reason = "the counts show how much is tested")]
fn run(cases: &[(&Base, Vec<&Mutant>)]) -> BTreeSet<&'static str> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
    for (base, mutants) in cases {
        let kind: Vec<&str> = mutants.iter().map(|mutant| mutant.kind).collect();
        *kinds.entry(kind.join(" + ")).or_default() += 1;
        let Some(failure) = failure(base, mutants) else { continue };
        match mutants.iter().find_map(|mutant| base.known(mutant.kind, &mutant.path)) {
            Some(row) => drop(known.insert(row)),
            None => wrong.push(failure),
        }
    }
    println!("{} mutants: {kinds:?}", cases.len());
    assert!(cases.len() >= 300, "only {} mutants", cases.len());
    assert!(wrong.is_empty(), "{} of {} mutants\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    known
}

#[test]
fn one_mutation_gives_exactly_its_findings() {
    let all = everything();
    let cases = all
        .iter()
        .flat_map(|(base, mutants)| mutants.iter().map(move |mutant| (base, vec![mutant])));
    let known = run(&cases.collect::<Vec<_>>());
    let steady = KNOWN.lines().filter(|row| !row.is_empty());
    let right: Vec<&str> = steady.filter(|row| !known.contains(row)).collect();
    assert!(right.is_empty(), "these are right now: remove them from `KNOWN`: {right:?}");
}

/// Each mutant with another one of the same document, of another kind and at another place.
#[test]
fn two_mutations_give_the_findings_of_both() {
    let all = everything();
    let mut cases = Vec::new();
    for (base, mutants) in &all {
        let known = |mutant: &&Mutant| base.known(mutant.kind, &mutant.path).is_some();
        let mutants: Vec<&Mutant> = mutants.iter().filter(|mutant| !known(mutant)).collect();
        let count = mutants.len();
        for (n, &one) in mutants.iter().enumerate() {
            // The stride varies, so that near and distant mutants are combined.
            let mut others = (1..count).map(|step| mutants[(n + step * (n % 7 + 1)) % count]);
            let other = others.find(|other| is_independent(one, other));
            cases.extend(other.map(|other| (base, vec![one, other])));
        }
    }
    run(&cases);
}

fn is_independent(one: &Mutant, other: &Mutant) -> bool {
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end || a == b;
    let apart = !one.scope.iter().any(|a| other.scope.iter().any(|b| overlap(a, b)));
    apart && one.kind != other.kind && !one.alone && !other.alone
}
