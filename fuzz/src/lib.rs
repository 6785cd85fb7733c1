//! The properties that must hold for any input, one public function per property. The fuzz targets
//! in `fuzz_targets/` only pass their input on, so that the properties can be read in one place and
//! called from elsewhere.
//!
//! That nothing panics, loops or uses too much memory is checked by the fuzzer itself (`fuzz/run`
//! sets the limits); the assertions here are about wrong results. Where a second implementation
//! exists, it is the oracle: `serde_json` for our JSON parser, an edit of the value for an edit of
//! the text.

mod knowledge;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use toolwright_check::{Subject, check, silence};
use toolwright_formats::{by_name, detect};
use toolwright_schema::Schema;
use toolwright_script::{
    AnalysisFailure, AnalysisLimits, AnalysisWorker, InProcessAnalyzer, ParseGoal, ScriptAnalyzer,
    ScriptFacts, ScriptSource, WorkerAnalyzer,
};
use toolwright_source::{
    Document, DocumentPath, Edit, Node, Syntax, ValueKind, locate, plan, render, splice,
};

pub use knowledge::knowledge;

/// Our JSON parser accepts what serde_json accepts, and produces the same values.
pub fn json(data: &[u8]) {
    let document = whole(data, Syntax::Json);
    let ours = clean(&document);
    let theirs = serde_json::from_slice::<Json>(data);
    // Known differences: serde_json accepts duplicate keys, refuses numbers beyond f64 and byte
    // order marks, and has another limit on nesting.
    if ours {
        match theirs {
            Ok(value) => assert_eq!(document.root().to_json(), value),
            Err(error) => assert!(
                error.to_string().contains("out of range")
                    || error.to_string().contains("recursion")
                    || data.starts_with(b"\xEF\xBB\xBF")
            ),
        }
    } else if theirs.is_ok() {
        let tolerated = ["DUPLICATE_KEY", "TOO_DEEP", "TOO_LARGE"];
        assert!(
            document
                .problems()
                .iter()
                .all(|p| p.code.severity < toolwright_source::Severity::Error
                    || tolerated.contains(&p.code.name))
        );
    }
}

/// Pieces of JavaScript that get far into a parser, whatever order they are in.
const JAVASCRIPT: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "`",
    "${",
    "'",
    "\"",
    "/",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "\r\n",
    " ",
    ";",
    ",",
    ".",
    "?.",
    "=>",
    "=",
    "+",
    "++",
    "**",
    "??",
    "...",
    ":",
    "?",
    "!",
    "#",
    "@",
    "<!--",
    "-->",
    "a",
    "ä",
    "😀",
    "1",
    "0x",
    "1n",
    "let ",
    "const ",
    "var ",
    "using ",
    "function ",
    "function*",
    "async ",
    "await ",
    "yield ",
    "class ",
    "extends ",
    "static ",
    "get ",
    "set ",
    "return ",
    "throw ",
    "if",
    "else ",
    "for",
    "do ",
    "while",
    "switch",
    "case ",
    "try",
    "catch",
    " of ",
    " in ",
    "import ",
    "export ",
    "default ",
    " from ",
    "module",
    "exports",
    "require",
    "globalThis",
    "this",
    "super",
    "typeof ",
    "new ",
    "delete ",
    "with",
    "fs",
    "process",
    "valid",
    "errors",
    "undefined",
    "'use strict';",
    "\u{2028}",
    "\u{feff}",
    "\\u{61}",
    "\\u0069f",
    "this.#in",
    "(?<g>",
    "(?:",
    "[^",
    "]/v",
    "$/u",
    "constructor(){",
    "arguments",
    "eval",
];

/// Bytes of stack for code of 4 KiB that is nested as deep as it can be, with the large frames of
/// a sanitizer. A worker process ends where its stack does; here that would end the fuzzer.
const PARSER_STACK: usize = 1 << 30;

/// What a worker answers to any code, is what its parent accepts: no list or text exceeds its
/// bound, and every range lies in the code. An odd first byte makes the others choose pieces of
/// JavaScript, an even one makes them the code itself.
pub fn script(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let code = match choice & 1 {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => rest.iter().map(|byte| JAVASCRIPT[usize::from(*byte) % JAVASCRIPT.len()]).collect(),
    };
    with_parser_stack(|| {
        for goal in [ParseGoal::Function, ParseGoal::Module, ParseGoal::File] {
            // Panics if the parent refuses the answer.
            let facts = WorkerAnalyzer(InProcessWorker).analyze(&code, goal, &["tools"]);
            assert_eq!(facts, toolwright_script::read(&code, goal, &["tools"]));
        }
    });
}

/// Runs `work` on a thread with [`PARSER_STACK`].
fn with_parser_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(PARSER_STACK);
        thread.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

/// Whatever a worker sends, its parent has facts about every script, and every range lies in its
/// code. The input is the answer of a worker, or the request that one gets.
pub fn script_wire(data: &[u8]) {
    let _ = toolwright_script::answer_analysis_request(data);
    let codes = ["", "ä", "function f(args) { return missing + require('fs'); }"];
    let scripts = codes.map(|code| ScriptSource {
        code,
        goal: ParseGoal::Function,
        provided: &[],
        document: 0,
    });
    let facts = WorkerAnalyzer(HostileWorker(data)).analyze_all(&scripts);
    assert_eq!(facts.len(), scripts.len());
    for (facts, code) in facts.iter().zip(codes) {
        let ranges = facts.problems.iter().map(|problem| &problem.range);
        let ranges = ranges.chain(facts.forbidden.iter().map(|used| &used.range));
        let ranges = ranges.chain(facts.free.iter().map(|free| &free.range));
        for range in ranges.chain(&facts.returns.wrong) {
            assert!(code.get(range.clone()).is_some(), "{range:?} is not in the code");
        }
        let _ = (facts.first_error(), facts.returns.can_be_verdict());
    }
}

/// Parses as a worker does, in this process.
struct InProcessWorker;

impl AnalysisWorker for InProcessWorker {
    fn call(
        &self,
        request: &[u8],
        limits: &AnalysisLimits,
    ) -> Result<(Vec<u8>, Duration), AnalysisFailure> {
        let answer = toolwright_script::answer_analysis_request(request);
        assert!(answer.len() <= limits.answer, "a correct answer has {} bytes", answer.len());
        Ok((answer, Duration::ZERO))
    }
}

/// Answers every request with the same bytes.
struct HostileWorker<'a>(&'a [u8]);

impl AnalysisWorker for HostileWorker<'_> {
    fn call(&self, _: &[u8], _: &AnalysisLimits) -> Result<(Vec<u8>, Duration), AnalysisFailure> {
        Ok((self.0.to_vec(), Duration::ZERO))
    }
}

/// Any page converts to Markdown of bounded size, twice with the same result. The limits are lower
/// than the defaults, so that the fuzzer reaches them.
pub fn html(data: &[u8]) {
    let text = toolwright_web::decode(data.to_vec());
    let options = toolwright_web::MarkdownOptions {
        max_depth: 64,
        max_nodes: 20_000,
        ..toolwright_web::MarkdownOptions::default()
    };
    let Ok(document) = toolwright_web::HtmlDocument::parse(&text, &options) else { return };
    let first = document.to_markdown(None, &options);
    assert_eq!(first, document.to_markdown(None, &options));
    if let Ok(markdown) = first {
        assert!(!markdown.ends_with('\n') && markdown.len() <= options.max_output + text.len());
    }
}

/// The parent's side of a sandbox worker, against a worker that sends any bytes: nothing that is
/// read from them is larger or deeper than promised, or points outside of the code.
pub fn worker_wire(data: &[u8]) {
    toolwright_sandbox::fuzz_worker_frames(data);
}

/// Any text can be parsed as YAML.
pub fn yaml(data: &[u8]) {
    whole(data, Syntax::Yaml);
}

/// Any text, as JSON and as YAML, can be read as `format` and checked, and every finding has a
/// valid position.
pub fn reader(data: &[u8], format: &str) {
    for syntax in [Syntax::Json, Syntax::Yaml] {
        let document = whole(data, syntax);
        let _ = detect(&document);
        let reading = by_name(format).expect("a format").read(&document);
        let subject = Subject::new(reading.dialect.as_deref(), &reading.toolset, &reading.origin);
        let found = check(&subject, &DeepStackAnalyzer);
        let mut found: Vec<_> =
            found.into_iter().map(|finding| locate(finding, &document)).collect();
        found.iter().take(4).for_each(show);
        silence(&document, &mut found, toolwright_check::codes());
        for (n, finding) in reading.findings.into_iter().enumerate() {
            let diagnostic = locate(finding, &document);
            // Rendering takes most of the time, so only a few diagnostics of each document.
            if n < 4 {
                show(&diagnostic);
            }
        }
        for (pointer, _) in reading.origin.parts() {
            let _ = reading.origin.location(pointer);
        }
        for tool in reading.toolset.tools {
            let _ = tool.finish();
        }
    }
}

/// Parses in this process, with a stack that suffices.
struct DeepStackAnalyzer;

impl ScriptAnalyzer for DeepStackAnalyzer {
    fn analyze_all(&self, scripts: &[ScriptSource<'_>]) -> Vec<ScriptFacts> {
        with_parser_stack(|| InProcessAnalyzer.analyze_all(scripts))
    }
}

/// An edit of a document without problems changes the text so that parsing it again gives the
/// edited value. The first byte of the input chooses the syntax, the edit and the node.
pub fn edit(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else { return };
    let syntax = if choice & 1 == 0 { Syntax::Json } else { Syntax::Yaml };
    let document = whole(data, syntax);
    // With aliases one position in the text belongs to several positions in the value.
    if !document.problems().is_empty() || document.source().text().contains(['*', '&']) {
        return;
    }
    let mut nodes = Vec::new();
    collect(document.root(), &mut nodes);
    let node = nodes[usize::from(choice >> 3) % nodes.len()];
    let pointer = node.pointer();
    let edit = match choice >> 1 & 3 {
        0 => Edit::Replace(pointer.clone(), Json::from("new: value")),
        1 => Edit::Remove(pointer.clone()),
        2 => Edit::RenameKey(pointer.clone(), "new key".into()),
        _ if node.kind() == ValueKind::List => Edit::Insert(pointer.child("-"), Json::from("new")),
        _ if choice & 128 == 0 => Edit::InsertFirst(pointer.child("new"), Json::from(1)),
        _ => Edit::Insert(pointer.child("new"), Json::from(1)),
    };
    let before = document.root().to_json();
    let Ok(edits) = plan(&document, std::slice::from_ref(&edit)) else { return };
    let text = splice(document.source().text(), &edits);
    let after = Document::parse("edited", text.clone(), syntax);
    let problems: Vec<_> = after.problems().iter().map(render::concise).collect();
    assert!(
        problems.is_empty(),
        "{edit:?} of {:?} gave {text:?}: {problems:?}",
        document.source().text()
    );
    if let Some(expected) = applied(before, &edit) {
        assert_eq!(
            after.root().to_json(),
            expected,
            "{edit:?} of {:?} gave {text:?}",
            document.source().text()
        );
    }
}

/// Both ways to validate agree for any schema that compiles and any instance.
pub fn schema(data: &[u8]) {
    let document = whole(data, Syntax::Json);
    let root = document.root();
    if let (Some(schema), Some(instance)) = (root.get("schema"), root.get("instance")) {
        if let Ok(schema) = Schema::compile(&schema.to_json()) {
            let instance = instance.to_json();
            assert_eq!(schema.is_valid(&instance), schema.validate(&instance).is_ok());
        }
    }
}

/// Parses a document and visits all of it: every span lies in the text, and the first problems can
/// be rendered.
fn whole(data: &[u8], syntax: Syntax) -> Arc<Document> {
    let document = Arc::new(Document::parse("fuzz", data, syntax));
    let text = document.source().text();
    let mut nodes = Vec::new();
    collect(document.root(), &mut nodes);
    for node in nodes {
        assert!(text.get(node.span().range()).is_some());
        let _ = node.byte_at(node.raw().len() / 2);
    }
    for problem in document.problems().iter().take(4) {
        show(problem);
    }
    let _ = document.root().to_json();
    document
}

/// Whether a document has no problem that is an error.
fn clean(document: &Document) -> bool {
    document.problems().iter().all(|p| p.severity < toolwright_source::Severity::Error)
}

/// A node and those below it; some 500 are enough.
fn collect<'d>(node: Node<'d>, out: &mut Vec<Node<'d>>) {
    out.push(node);
    if out.len() > 500 {
        return;
    }
    node.items().for_each(|item| collect(item, out));
    node.members().iter().for_each(|entry| collect(entry.value, out));
}

/// Renders a diagnostic in every form.
fn show(diagnostic: &toolwright_source::Diagnostic) {
    let text = diagnostic.source.text();
    if let Some(span) = diagnostic.span {
        assert!(span.end as usize <= text.len());
    }
    let _ = (render::concise(diagnostic), render::json(diagnostic));
    let _ = render::full(diagnostic, render::Colour::Off);
}

/// The value after an edit, computed without the text. `None` where the edit cannot be applied.
fn applied(mut value: Json, edit: &Edit) -> Option<Json> {
    let split = |pointer: &DocumentPath| {
        Some((pointer.parent()?.to_string(), pointer.last()?.into_owned()))
    };
    match edit {
        Edit::Replace(at, new) => *value.pointer_mut(at.as_str())? = new.clone(),
        Edit::Insert(at, new) => {
            let (parent, name) = split(at)?;
            match value.pointer_mut(&parent)? {
                Json::Array(items) => items.push(new.clone()),
                Json::Object(map) => drop(map.insert(name, new.clone())),
                _ => return None,
            }
        }
        Edit::InsertFirst(at, new) => {
            let (parent, name) = split(at)?;
            value.pointer_mut(&parent)?.as_object_mut()?.shift_insert(0, name, new.clone());
        }
        Edit::Remove(at) => {
            let (parent, name) = split(at)?;
            match value.pointer_mut(&parent)? {
                Json::Array(items) => drop(items.remove(name.parse().ok()?)),
                Json::Object(map) => drop(map.shift_remove(&name)?),
                _ => return None,
            }
        }
        Edit::RenameKey(at, new) => {
            let (parent, name) = split(at)?;
            let map = value.pointer_mut(&parent)?.as_object_mut()?;
            let old = map.shift_remove(&name)?;
            if map.insert(new.clone(), old).is_some() {
                return None;
            }
        }
    }
    Some(value)
}
