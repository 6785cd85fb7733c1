//! `toolwright explain`: explains the code of a diagnostic with its manual text, a document that
//! has the mistake, the diagnostics for it, and the corrected document.
//!
//! The samples are part of each code (`toolwright_source::DiagnosticCode`) and are really checked
//! here, so a page always shows what `check` prints. docs/codes is generated from the Markdown
//! output, and a test compares the two.
//!
//! The text for a terminal and the Markdown have the same parts in the same order; they differ in
//! headings, colours and indentation.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::bail;
use toolwright_source::render::{self, Colour};
use toolwright_source::{CodeSample, Diagnostic, DiagnosticCode, Document, Syntax};

use toolwright_workspace::{LoadedDocument, ReadOptions, codes};

use crate::args::ExplainArgs;
use crate::output::{self, ExitStatus};
use crate::sources;

/// Prints one code, or the list of all codes.
///
/// # Errors
/// If there is no such code, or stdout cannot be written.
pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<ExitStatus> {
    let Some(name) = &args.code else {
        output::print(&if args.markdown { markdown_index() } else { text_table() })?;
        return Ok(ExitStatus::Clean);
    };
    // Codes are upper case everywhere, but users type lower case.
    let code = match codes::find(&name.to_ascii_uppercase()) {
        Ok(code) => code,
        Err(help) => bail!("there is no code `{name}` ({help})"),
    };
    output::print(&if args.markdown { markdown_page(code) } else { text_page(code) })?;
    Ok(ExitStatus::Clean)
}

/// All codes with their severity and the first sentence of their manual, in aligned columns.
fn text_table() -> String {
    let width = codes::all().map(|code| code.name.len()).max().unwrap_or(0);
    let line = |code: &DiagnosticCode| {
        format!("{:width$}  {:7}  {}\n", code.name, code.severity.label(), code.title())
    };
    sorted().into_iter().map(line).collect()
}

/// All codes by name: the registry lists them by crate, which means nothing to users.
fn sorted() -> Vec<&'static DiagnosticCode> {
    let mut all: Vec<&DiagnosticCode> = codes::all().collect();
    all.sort_by_key(|code| code.name);
    all
}

/// The page for a terminal. The order: manual, a wrong document, its findings, the corrected
/// document.
fn text_page(code: &DiagnosticCode) -> String {
    let manual = wrapped(code.manual);
    let mut text = format!("{} ({})\n\n{manual}\n", code.name, code.severity.label());
    if let Some(sample) = &code.sample {
        // Codes about encodings or sizes have no sample: it would be unreadable.
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

/// Indents a sample by four, without blanks at line ends. Four blanks, as for code in Markdown.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// A manual text with its lines broken at 100 columns. Paragraphs and list items stay apart; the
/// further lines of a list item are indented like its text. A word that is longer than a line stays
/// whole.
fn wrapped(manual: &str) -> String {
    const COLUMNS: usize = 100;
    let wrap_line = |line: &str| {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let (mut text, mut width) = (String::new(), 0);
        for word in line.split(' ') {
            let length = word.chars().count();
            if width > 0 && width + 1 + length > COLUMNS {
                text += "\n";
                text += indent;
                width = indent.len();
            } else if width > 0 {
                text.push(' ');
                width += 1;
            }
            text += word;
            width += length;
        }
        text
    };
    manual.lines().map(wrap_line).collect::<Vec<_>>().join("\n")
}

/// The page docs/codes/README.md. One row for each code: a link to its page, the severity, and the
/// first sentence of its manual.
fn markdown_index() -> String {
    let mut text = "# Codes\n\n\
        Every code that a diagnostic of `toolwright` can carry. \
        `toolwright explain CODE` prints the same\npages.\n\n\
        | code | severity | |\n|---|---|---|\n"
        .to_owned();
    for code in sorted() {
        // A bar would end the cell of the table.
        let about = code.title().replace('|', "\\|");
        let _ =
            writeln!(text, "| [{0}]({0}.md) | {1} | {about} |", code.name, code.severity.label());
    }
    text
}

/// The page docs/codes/CODE.md. Without colours, because it is a file.
fn markdown_page(code: &DiagnosticCode) -> String {
    let manual = wrapped(code.manual);
    let mut text = format!("# {}\n\nSeverity: {}\n\n{manual}\n", code.name, code.severity.label());
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

/// The diagnostics of this code for its bad sample. Those of other codes are left out: a minimal
/// document often lacks something else, too.
fn diagnostics(code: &DiagnosticCode, sample: &CodeSample) -> Vec<Diagnostic> {
    let syntax = if sample.file.ends_with(".json") { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse(sample.file, sample.bad, syntax));
    // With all rules and silencing comments, as `check` reads a file. Some codes are about these
    // comments.
    let LoadedDocument { mut diagnostics, .. } =
        sources::workspace().read(&document, ReadOptions { rules: true, ..ReadOptions::default() });
    toolwright_check::silence(&document, &mut diagnostics, codes::all());
    diagnostics.retain(|d| d.code.name == code.name);
    diagnostics
}
