//! Valid documents, broken in one place and in two, and what is found then: each mutant gets the expected
//! code on the expected line, and nothing else changes.
//!
//! What is expected does not come from the program: lines, keys and blocks are told apart by indentation, edits are
//! made to lines of text, and what each field holds is written down here once more.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use serde_json::json;
use toolwright_catalog::{Reader, read};

use crate::program::project;
use crate::rules::{Seed, parse};

/// The valid documents: those of the rows in `tests/rules`, by name, and files below `examples`.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("btcp", "btcp-manifest", "manifest smallest"),
    ("btcp", "btcp-tool", "tool smallest list"),
    ("mcp", "toolfoundation", "tool plain list answer draft7"),
    ("ikigai", "ikigai", "search fetch"),
    ("aios", "aios", "tool cli local meta v1"),
    ("btcp", "examples", "btcp/count-words.json btcp/page-tools.json"),
    ("mcp", "examples", "mcp/clock.json mcp/read-file.json"),
    ("ikigai", "examples", "ikigai/convert-units.json"),
    ("aios", "examples", "aios/git.yaml aios/slugs.yaml aios/tickets.yaml aios/triage.yaml"),
];

/// Format, object, and its fields by what they hold; `!` is required. `@` is a tool, which may be the whole document or an
/// item of a list; `.` is the object around that list, `*` any key.
const FIELDS: &str = "
btcp . text: btcp! name! description version: version! object: provider config list: tools! capabilities!
btcp provider text: name! url contact icon
btcp config number: timeout maxConcurrent word: sandbox
btcp @ text: name! description! schema: inputSchema! outputSchema list: capabilities! examples tags flag: deprecated number: timeout
btcp @.examples[] text: description object: input! any: output
mcp . word: jsonrpc any: id object: result! list: tools!
mcp result list: tools! text: nextCursor
mcp @ text: name! namespace title description version: version list: tags icons schema: inputSchema! outputSchema object: annotations _meta
mcp @.annotations text: title flag: readOnlyHint destructiveHint idempotentHint openWorldHint
ikigai @ text: name! description! schema: parameters!
aios tool any: schema_version text: id! name! description! word: type! knowledge_strategy version: version! list: commands tools anti_patterns
aios tool object: command_groups executable_knowledge api_complexity examples mcp_specific cli_specific local_specific meta_specific
aios tool.tools[] text: id! description schema: inputSchema outputSchema
aios tool.command_groups.*[] text: command! description
aios tool.executable_knowledge list: helpers processors validators
aios tool.executable_knowledge.helpers[] text: id! function! description word: language! runtime!
aios tool.executable_knowledge.processors[] text: id! function! processes word: language! runtime stage
aios tool.executable_knowledge.validators[] text: id! validates! function! word: language! list: checks
aios tool.api_complexity list: payload_schemas api_quirks object: field_mappings
aios tool.api_complexity.payload_schemas[] text: type! detection! payload_path!
aios tool.api_complexity.api_quirks[] text: quirk! description! impact mitigation!
aios tool.anti_patterns[] text: pattern! description! category wrong! correct! rationale
aios tool.examples.*[] text: scenario! description mitigation any: input! output object: error
aios tool.mcp_specific text: server_command word: transport list: environment_variables object: health_check
aios tool.mcp_specific.environment_variables[] text: name! description flag: required
aios tool.mcp_specific.health_check text: method command object: arguments any: expected_response number: timeout_ms
aios tool.cli_specific text: executable install_check install_guide
aios tool.local_specific text: entry_point runtime list: dependencies
aios tool.meta_specific list: aggregates text: orchestration
";

/// Format, field, what is broken, the code, and the value that breaks it; `*9` is a text of nine letters.
const VALUES: &str = r#"
btcp btcp pattern INVALID_PATTERN "1"
btcp btcp protocol UNSUPPORTED_PROTOCOL "2.0"
btcp name pattern INVALID_PATTERN "Page-Tools"
btcp name length INVALID_LENGTH *65
btcp version version INVALID_SEMVER "1.4"
btcp version version INVALID_SEMVER "v1.4.0"
btcp description length INVALID_LENGTH *501
btcp provider.name length INVALID_LENGTH *101
btcp provider.url format INVALID_FORMAT "example.com"
btcp provider.icon format INVALID_FORMAT "icon.png"
btcp provider.contact format INVALID_FORMAT "nobody"
btcp tools length INVALID_LENGTH []
btcp config.timeout range OUT_OF_RANGE 999
btcp config.timeout range OUT_OF_RANGE 300001
btcp config.maxConcurrent range OUT_OF_RANGE 0
btcp config.maxConcurrent range OUT_OF_RANGE 11
btcp config.sandbox word INVALID_ENUM_VALUE "vm"
btcp @.name pattern INVALID_PATTERN "read-table"
btcp @.name pattern INVALID_PATTERN "2ndTable"
btcp @.description length INVALID_LENGTH *9
btcp @.description length INVALID_LENGTH *1001
btcp @.timeout range OUT_OF_RANGE 10
btcp @.timeout range OUT_OF_RANGE 300001
btcp @.tags tag TAG_NOT_NORMALIZED ["Two Words"]
btcp @.deprecated deprecation DEPRECATED_WITHOUT_MESSAGE true
btcp @.inputSchema.type schema INVALID_SCHEMA "objekt"
btcp @.outputSchema.type schema INVALID_SCHEMA "objekt"
btcp @.examples[].output example EXAMPLE_OUTPUT_INVALID 7
mcp jsonrpc word INVALID_ENUM_VALUE "1.0"
mcp @.name pattern INVALID_PATTERN "read:file"
mcp @.name length INVALID_LENGTH *129
mcp @.namespace pattern INVALID_PATTERN "two words"
mcp @.version version INVALID_SEMVER "1.2"
mcp @.tags tag TAG_NOT_NORMALIZED ["Files"]
mcp @.inputSchema.type schema INVALID_SCHEMA "objekt"
mcp @.outputSchema.required schema INVALID_SCHEMA "lines"
ikigai @.name pattern INVALID_PATTERN "two words"
ikigai @.name length INVALID_LENGTH *129
ikigai @.parameters.required schema INVALID_SCHEMA "value"
aios tool.schema_version word INVALID_ENUM_VALUE 3.0
aios tool.id pattern INVALID_PATTERN "two words"
aios tool.id naming NAMING_CONVENTION "two_words"
aios tool.type word INVALID_ENUM_VALUE "server"
aios tool.version version INVALID_SEMVER 1.2
aios tool.version version INVALID_SEMVER "latest"
aios tool.knowledge_strategy word INVALID_ENUM_VALUE "wisdom"
aios tool.tools[].inputSchema.type schema INVALID_SCHEMA "objekt"
aios tool.executable_knowledge.helpers[].language word INVALID_ENUM_VALUE "python"
aios tool.executable_knowledge.helpers[].runtime word INVALID_ENUM_VALUE "node"
aios tool.executable_knowledge.processors[].language word INVALID_ENUM_VALUE "python"
aios tool.executable_knowledge.processors[].stage word INVALID_ENUM_VALUE "before"
aios tool.executable_knowledge.processors[].id naming NAMING_CONVENTION "two_words"
aios tool.executable_knowledge.validators[].language word INVALID_ENUM_VALUE "python"
aios tool.executable_knowledge.processors[].processes reference UNRESOLVED_REFERENCE nothing_there
aios tool.executable_knowledge.validators[].validates reference UNRESOLVED_REFERENCE nothing_there
aios tool.api_complexity.payload_schemas[].detection reference UNRESOLVED_REFERENCE helpers.none
aios tool.api_complexity.payload_schemas[].detection detection UNKNOWN_DETECTION who knows
aios tool.api_complexity.field_mappings.*.extraction reference UNRESOLVED_REFERENCE helpers.none
aios tool.anti_patterns[].category naming NAMING_CONVENTION "API Usage"
aios tool.mcp_specific.transport word INVALID_ENUM_VALUE "http"
aios tool.mcp_specific.health_check.command reference UNRESOLVED_REFERENCE nothing_there
aios tool.mcp_specific.health_check.timeout_ms range OUT_OF_RANGE -1
"#;

/// What the absence of a field leaves to be said, and where: at the object that lacks it (`.`), or at another field.
const FOLLOWS: &str = "
btcp @.outputSchema MISSING_OUTPUT_SCHEMA .
mcp @.description MISSING_DESCRIPTION name
aios tool.anti_patterns[].category MISSING_CATEGORY .
aios tool.examples.*[].output EXAMPLE_OUTCOME_MISSING .
aios tool.examples.*[].error EXAMPLE_OUTCOME_MISSING .
aios tool.mcp_specific NOT_RUNNABLE type
aios tool.mcp_specific.server_command NOT_RUNNABLE ..type
aios tool.cli_specific NOT_RUNNABLE type
aios tool.cli_specific.executable NOT_RUNNABLE ..type
aios tool.local_specific NOT_RUNNABLE type
aios tool.local_specific.entry_point NOT_RUNNABLE ..type
";

/// Lines of code that no function may have.
const CODE: &[(&str, &str, &str)] = &[
    ("syntax", "let 1st = ;", "INVALID_FUNCTION_SYNTAX"),
    ("require", "const other = require('other');", "FORBIDDEN_REQUIRE"),
    ("files", "Deno.readTextFileSync('x');", "FORBIDDEN_FILE_ACCESS"),
    ("free name", "outside();", "NOT_SELF_CONTAINED"),
];

/// A line with a key, as indentation tells it. Lines are counted from 0.
#[derive(Debug)]
struct Line {
    at: usize,
    /// Behind the last line of its value.
    end: usize,
    column: usize,
    key: String,
    value: String,
    path: String,
    /// The line of the object it stands in.
    owner: usize,
    /// Whether a list item starts here, in YAML.
    dash: bool,
}

/// A finding: code, line from 1, message.
type Found = (String, usize, String);

struct Base {
    name: String,
    file: String,
    format: &'static str,
    lines: Vec<String>,
    keys: Vec<Line>,
    found: Vec<Found>,
}

/// Lines `range` of the base become `lines`. A finding on one of them moves to the line `heir` of these, or is gone.
#[derive(Clone, Debug)]
struct Edit {
    range: Range<usize>,
    lines: Vec<String>,
    heir: Option<usize>,
}

/// A line in the mutant: one of the base, or one of its edit.
#[derive(Clone, Copy, Debug)]
enum Place {
    Base(usize),
    Own(usize),
}
use Place::{Base as At, Own};

struct Mutant {
    kind: &'static str,
    what: String,
    edit: Edit,
    expect: Vec<(&'static str, Place)>,
    /// Lines that another mutation must leave alone for both to be told as if alone.
    scope: Vec<Range<usize>>,
    /// Whether the format is no longer told, and with it nothing else.
    alone: bool,
}

impl Base {
    fn load(format: &'static str, source: &str, name: &str) -> Base {
        let (file, text) = match source {
            "examples" => {
                let path = project().join("examples").join(name);
                (name.to_owned(), std::fs::read_to_string(path).expect("an example"))
            }
            _ => Seed::load(source).mutant(&json!({"on": name}), &json!({})),
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let keys = outline(&lines, file.ends_with(".json"));
        let found = check(&file, &text);
        Base { name: format!("{source}/{name}"), file, format, lines, keys, found }
    }

    fn is_json(&self) -> bool {
        self.file.ends_with(".json")
    }

    /// A path as the tables write it.
    fn spelled(&self, path: &str) -> String {
        let listed = self.keys.iter().any(|line| line.key == "tools") || self.lines[0] == "[";
        let inside = ["tools[].", "result.tools[].", "[]."].iter().find_map(|list| path.strip_prefix(list));
        match inside {
            _ if self.format == "aios" => path.to_owned(),
            Some(path) => format!("@.{path}"),
            None if listed => path.to_owned(),
            None => format!("@.{path}"),
        }
    }

    fn is(&self, line: &Line, path: &str) -> bool {
        let spelled = self.spelled(&line.path);
        let (mut have, mut want) = (spelled.split('.'), path.split('.'));
        loop {
            match (have.next(), want.next()) {
                (None, None) => return true,
                (Some(_), Some("*")) => {}
                (Some(have), Some("*[]")) if have.ends_with("[]") => {}
                (Some(have), Some(want)) if have == want => {}
                _ => return false,
            }
        }
    }

    /// What a field holds and whether it is required, if the tables know it.
    fn field(&self, line: &Line) -> Option<(&'static str, bool)> {
        FIELDS.lines().filter(|row| !row.is_empty()).find_map(|row| {
            let mut words = row.split(' ');
            let (format, object) = (words.next()?, words.next()?);
            let mut kind = "";
            words.find_map(|word| {
                if let Some(name) = word.strip_suffix(':') {
                    kind = name;
                    return None;
                }
                let name = word.trim_end_matches('!');
                let path = if object == "." { name.to_owned() } else { format!("{object}.{name}") };
                (format == self.format && self.is(line, &path)).then_some((kind, name != word))
            })
        })
    }

    /// The line with another value, key or start.
    fn line(&self, line: &Line, key: &str, value: &str) -> String {
        let start = if line.dash { line.column - 2 } else { line.column };
        let dash = if line.dash { "- " } else { "" };
        let key = if self.is_json() { format!("\"{key}\"") } else { key.to_owned() };
        format!("{}{dash}{key}: {value}", " ".repeat(start)).trim_end().to_owned()
    }

    fn sibling(&self, line: &Line, key: &str) -> Option<&Line> {
        let path = format!("{}{key}", line.path.strip_suffix(&line.key)?);
        self.keys.iter().find(|other| other.path == path && other.owner == line.owner)
    }

    /// What else is to be said when this field is not there.
    fn follows(&self, line: &Line) -> Vec<(&'static str, Place)> {
        let mut follows = Vec::new();
        for row in FOLLOWS.lines().filter(|row| !row.is_empty()) {
            let words: Vec<&'static str> = row.split(' ').collect();
            if words[0] != self.format || !self.is(line, words[1]) {
                continue;
            }
            let place = match words[3] {
                "." => line.owner,
                "..type" => self.keys.iter().find(|line| line.path == "tool.type").expect("a type").at,
                name => self.sibling(line, name).expect("it is there").at,
            };
            follows.push((words[2], At(place)));
        }
        // Functions are referred to by their ids.
        let ids: Vec<&Line> = match line.key.as_str() {
            "id" => vec![line],
            "helpers" | "validators" => self.inside(line).filter(|line| line.key == "id").collect(),
            _ => Vec::new(),
        };
        let of_functions = line.path.starts_with("tool.executable_knowledge");
        for id in ids.into_iter().filter(|_| of_functions) {
            let (helper, validator) = (format!("helpers.{}", id.value), format!("validator: {}", id.value));
            let refers = |other: &&Line| other.value == helper || other.value.contains(&validator);
            follows.extend(self.keys.iter().filter(refers).map(|other| ("UNRESOLVED_REFERENCE", At(other.at))));
        }
        follows
    }

    fn inside<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = &'a Line> {
        self.keys.iter().filter(|other| other.at > line.at && other.at < line.end)
    }

    /// Whether the format of the document is told by this field alone.
    fn tells_format(&self, line: &Line) -> bool {
        let alone = self.keys.iter().filter(|other| other.key == line.key).count() == 1;
        match self.format {
            "mcp" => matches!(line.key.as_str(), "tools" | "result") || line.key == "inputSchema" && alone,
            "ikigai" => line.path == "parameters",
            _ => false,
        }
    }
}

/// The lines with keys. Good for block style YAML, and JSON with one member on a line or one object.
fn outline(lines: &[String], json: bool) -> Vec<Line> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut keys: Vec<Line> = Vec::new();
    let mut around: Vec<(usize, String, usize)> = Vec::new();
    let mut behind = 0;
    for (at, text) in lines.iter().enumerate() {
        let (start, body) = (indent(text), text.trim().trim_end_matches(','));
        if at < behind || body.is_empty() || body.starts_with(['#', '}', ']']) {
            continue;
        }
        around.retain(|(column, ..)| *column < start);
        let above = around.last().map_or("", |(_, path, _)| path).to_owned();
        let dash = body.starts_with("- ");
        if dash || body == "{" || body == "[" {
            let path = if around.is_empty() { String::new() } else { format!("{above}[]") };
            around.push((start, path, at));
        }
        let (column, body) = if dash { (start + 2, &body[2..]) } else { (start, body) };
        let Some((key, value)) = body.split_once(':').filter(|(key, _)| !key.contains(['{', '[', ' '])) else {
            continue;
        };
        let (key, value) = (key.trim_matches('"').to_owned(), value.trim().to_owned());
        let (above, owner) = around.last().map_or((String::new(), 0), |(_, path, at)| (path.clone(), *at));
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        let inside = |text: &&String| text.trim().is_empty() || indent(text) > column;
        let mut end = at + 1 + lines[at + 1..].iter().take_while(inside).count();
        while lines[end - 1].trim().is_empty() {
            end -= 1;
        }
        end += usize::from(json && value.ends_with(['{', '[']));
        if value == "|" {
            behind = end;
        }
        around.push((column, path.clone(), at));
        keys.push(Line { at, end, column, key, value, path, owner, dash });
    }
    keys
}

fn check(file: &str, text: &str) -> Vec<Found> {
    let loaded = read(&parse(file, text), Reader { format: None, compat: false, rules: true });
    let line = |d: &toolwright_source::Diagnostic| d.line_column().map_or(0, |(line, _)| line);
    loaded.diagnostics.iter().map(|d| (d.code.name.to_owned(), line(d), d.message.clone())).collect()
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
    fn new(kind: &'static str, line: &Line, edit: Edit, expect: Vec<(&'static str, Place)>) -> Mutant {
        let mut scope = vec![line.at..line.end, edit.range.clone()];
        // Where it is told is part of it, but for the object around, which only has to be there.
        let told = expect.iter().filter_map(|(_, place)| match place {
            At(at) if *at != line.owner => Some(*at..*at + 1),
            _ => None,
        });
        scope.extend(told);
        let what = format!("{kind} `{}` on line {}", line.path, line.at + 1);
        Mutant { kind, what, edit, expect, scope, alone: false }
    }

    fn needs(mut self, line: Option<&Line>) -> Mutant {
        self.scope.extend(line.map(|line| line.at..line.end));
        self
    }
}

fn replaced(range: Range<usize>, line: String) -> Edit {
    Edit { range, lines: vec![line], heir: None }
}

/// Drop, misspell, retype, blank, duplicate, and a field that nobody knows.
fn shape(base: &Base, line: &Line, kind: &'static str, required: bool, all: &mut Vec<Mutant>) {
    let block = line.at..line.end;
    let mut absent = base.follows(line);
    let dropped = dropped(base, line);
    if required {
        let owner = if line.owner == line.at { Own(0) } else { At(line.owner) };
        absent.insert(0, ("MISSING_REQUIRED_FIELD", owner));
    }
    if base.tells_format(line) {
        // Nobody can say what is missing in a document of no known format.
        for (kind, lines) in [("drop", vec![]), ("misspell", vec![base.line(line, &misspelled(&line.key), &line.value)])] {
            let range = if kind == "drop" { block.clone() } else { line.at..line.at + 1 };
            let edit = Edit { range, lines, heir: None };
            let mutant = Mutant::new(kind, line, edit, vec![("UNKNOWN_FORMAT", At(0))]);
            all.push(Mutant { alone: true, ..mutant });
        }
    } else {
        if let Some(edit) = dropped.filter(|_| !absent.is_empty()) {
            all.push(Mutant::new("drop", line, edit, absent.clone()));
        }
        if line.key.len() > 3 {
            let mut lines = base.lines[block.clone()].to_vec();
            lines[0] = base.line(line, &misspelled(&line.key), &line.value);
            let mut expect = vec![("MISSPELLED_FIELD", Own(0))];
            expect.append(&mut absent);
            all.push(Mutant::new("misspell", line, Edit { range: block.clone(), lines, heir: None }, expect));
        }
    }
    for value in wrong(kind) {
        let edit = replaced(block.clone(), base.line(line, &line.key, value));
        all.push(Mutant::new("retype", line, edit, vec![("INVALID_TYPE", Own(0))]));
    }
    let nothing = match kind {
        "text" | "word" | "version" => "\"\"",
        _ => "null",
    };
    if required && !matches!(kind, "schema" | "any") {
        let edit = replaced(block.clone(), base.line(line, &line.key, nothing));
        all.push(Mutant::new("blank", line, edit, vec![("MISSING_REQUIRED_FIELD", Own(0))]));
    }
    let size = block.len();
    let mut lines = base.lines[block.clone()].to_vec();
    lines.push(base.lines[line.at].replacen("- ", "  ", usize::from(line.dash)));
    let edit = Edit { range: line.at..line.at + 1, lines, heir: Some(size) };
    all.push(Mutant::new("duplicate", line, edit, vec![("DUPLICATE_KEY", Own(size))]));
    let is_first = !base.keys.iter().any(|other| other.owner == line.owner && other.at < line.at && other.column == line.column);
    if is_first {
        let stranger = Line { dash: false, key: "unheard_of".into(), path: line.path.clone(), value: String::new(), ..*line };
        let edit = Edit { range: line.end..line.end, lines: vec![base.line(&stranger, "unheard_of", "1")], heir: None };
        all.push(Mutant::new("unknown", line, edit, vec![("UNKNOWN_FIELD", Own(0))]));
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

/// The second and third letter change places, or the last goes.
fn misspelled(key: &str) -> String {
    let mut letters: Vec<char> = key.chars().collect();
    if letters[1] == letters[2] { drop(letters.pop()) } else { letters.swap(1, 2) }
    letters.into_iter().collect()
}

/// The field is taken out; the next one of a YAML item then starts it. The only one of an item stays.
fn dropped(base: &Base, line: &Line) -> Option<Edit> {
    if !line.dash {
        return Some(Edit { range: line.at..line.end, lines: vec![], heir: None });
    }
    let next = base.keys.iter().find(|next| next.at == line.end && next.column == line.column && !next.dash)?;
    let start = format!("{}- {}", " ".repeat(line.column - 2), base.lines[next.at].trim_start());
    Some(replaced(line.at..next.at + 1, start))
}

/// What `VALUES` says.
fn values(base: &Base, line: &Line, all: &mut Vec<Mutant>) {
    for row in VALUES.lines().filter(|row| !row.is_empty()) {
        let words: Vec<&'static str> = row.splitn(5, ' ').collect();
        let [format, path, kind, code, value] = words[..] else { panic!("{row} has five parts") };
        if format != base.format || !base.is(line, path) {
            continue;
        }
        let long = value.strip_prefix('*').and_then(|count| count.parse().ok());
        let value = long.map_or(value.to_owned(), |count| format!("\"{}\"", "a".repeat(count)));
        let edit = replaced(line.at..line.end, base.line(line, &line.key, &value));
        all.push(Mutant::new(kind, line, edit, vec![(code, Own(0))]));
    }
}
