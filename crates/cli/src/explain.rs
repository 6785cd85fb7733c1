//! `toolwright explain`: what a code means, shown on a document that has the mistake. The pages in
//! docs/codes are what this prints.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::bail;
use toolwright_source::render::{self, Colour};
use toolwright_source::{CodeSample, Diagnostic, DiagnosticCode, Document, Syntax};

use toolwright_workspace::{LoadedDocument, ReadOptions, codes};

use crate::args::ExplainArgs;
use crate::output::{self, Exit};
use crate::sources;

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let Some(name) = &args.code else {
        output::print(&if args.markdown { index() } else { table() })?;
        return Ok(Exit::Clean);
    };
    let code = match codes::find(&name.to_ascii_uppercase()) {
        Ok(code) => code,
        Err(help) => bail!("there is no code `{name}` ({help})"),
    };
    output::print(&if args.markdown { markdown(code) } else { plain(code) })?;
    Ok(Exit::Clean)
}

/// All codes with their severity and the first sentence of their manual.
fn table() -> String {
    let width = codes::all().map(|code| code.name.len()).max().unwrap_or(0);
    let line = |code: &DiagnosticCode| {
        format!(
            "{:width$}  {:7}  {}\n",
            code.name,
            code.severity.name(),
            first_sentence(code.manual)
        )
    };
    sorted().into_iter().map(line).collect()
}

fn sorted() -> Vec<&'static DiagnosticCode> {
    let mut all: Vec<&DiagnosticCode> = codes::all().collect();
    all.sort_by_key(|code| code.name);
    all
}

fn first_sentence(text: &str) -> &str {
    let paragraph = text.lines().next().unwrap_or("");
    paragraph.split_inclusive(". ").next().unwrap_or("").trim_end()
}

fn plain(code: &DiagnosticCode) -> String {
    let mut text = format!("{} ({})\n\n{}\n", code.name, code.severity.name(), code.manual);
    if let Some(sample) = &code.sample {
        let _ = write!(text, "\nWrong:\n\n{}", indented(sample.bad));
        let shown: String = diagnostics(code, sample)
            .iter()
            .map(|d| render::full(d, Colour::On) + "\n\n")
            .collect();
        let _ = write!(text, "\n{}", shown);
        let _ = write!(text, "Right:\n\n{}", indented(sample.good));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

fn index() -> String {
    let mut text = "# Codes\n\nEvery code that a diagnostic of `toolwright` can carry. `toolwright explain CODE` prints the same pages.\n\n| code | severity | |\n|---|---|---|\n".to_owned();
    for code in sorted() {
        let about = first_sentence(code.manual).replace('|', "\\|");
        let _ =
            writeln!(text, "| [{0}]({0}.md) | {1} | {about} |", code.name, code.severity.name());
    }
    text
}

fn markdown(code: &DiagnosticCode) -> String {
    let mut text =
        format!("# {}\n\nSeverity: {}\n\n{}\n", code.name, code.severity.name(), code.manual);
    if let Some(sample) = &code.sample {
        let language = if sample.file.ends_with(".json") { "json" } else { "yaml" };
        let shown: Vec<String> =
            diagnostics(code, sample).iter().map(|d| render::full(d, Colour::Off)).collect();
        let _ = write!(text, "\n## Wrong\n\n```{language}\n{}```\n", sample.bad);
        let _ = write!(text, "\n```text\n{}\n```\n", shown.join("\n\n"));
        let _ = write!(text, "\n## Right\n\n```{language}\n{}```\n", sample.good);
    }
    text
}

/// What the sample shows: the diagnostics of this code, as they are printed.
fn diagnostics(code: &DiagnosticCode, sample: &CodeSample) -> Vec<Diagnostic> {
    let syntax = if sample.file.ends_with(".json") { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse(sample.file, sample.bad, syntax));
    let LoadedDocument { mut diagnostics, .. } =
        sources::workspace().read(&document, ReadOptions { rules: true, ..ReadOptions::default() });
    toolwright_check::silence(&document, &mut diagnostics, codes::all());
    diagnostics.retain(|d| d.code.name == code.name);
    diagnostics
}
