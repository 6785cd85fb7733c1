//! `toolwright validate`: validates JSON or YAML values against JSON Schemas. Two modes:
//!
//! - two files, with diagnostics that point into them (stderr) and `valid` on stdout;
//! - `--batch`, for programs: each line of stdin holds a schema and an instance, each line of
//!   stdout the result, in the same order. The fields are in docs/validate.md.
//!
//! The validation itself is in `toolwright_schema`. A value that no JSON number type holds is
//! refused in both modes instead of being validated as something else.
//!
//! The second mode answers every line and does not stop at one that is broken, so a program can
//! pair requests and results by counting.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use serde_json::{Value as Json, json};
use toolwright_check::schema_finding;
use toolwright_schema::{
    FormatAssertion, SchemaOptions, SchemaValidator, ValidateError, ValidationError,
};
use toolwright_source::{
    Diagnostic, DiagnosticCode, Document, DocumentPath, Finding, MAX_BYTES, Severity, Syntax,
    codes, locate, render,
};

use crate::args::ValidateArgs;
use crate::output::{self, ExitStatus};
use crate::{report, sources};

/// Used only by this command, so it is not among the codes that `explain` lists. Schemas have the
/// codes of `check`.
static INVALID_INSTANCE: DiagnosticCode = DiagnosticCode {
    name: "INVALID_INSTANCE",
    severity: Severity::Error,
    manual: "The value does not match the schema it was validated against.",
    sample: None,
};

/// Runs the mode that the arguments choose. Exits with 1 for an invalid instance or schema.
///
/// # Errors
/// If a file cannot be read, or stdin or stdout fails.
pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<ExitStatus> {
    let assert =
        if args.assert_formats { FormatAssertion::Assert } else { FormatAssertion::Annotate };
    let options = SchemaOptions { formats: assert };
    match (&args.schema, &args.instance) {
        (Some(schema), Some(instance)) => validate(schema, instance, &options, args),
        // The parser of arguments requires both files or `--batch`.
        _ => batch(&options),
    }
}

/// Validates one file against another. A document with a syntax error is not validated: its tree
/// lacks what could not be read.
fn validate(
    schema: &Path,
    instance: &Path,
    options: &SchemaOptions,
    args: &ValidateArgs,
) -> anyhow::Result<ExitStatus> {
    // Stdin can be read once.
    if toolwright_workspace::is_stdin(schema) && toolwright_workspace::is_stdin(instance) {
        bail!("schema and instance cannot both come from standard input");
    }
    // Both are parsed before either is judged, so that one run shows the mistakes of both.
    let schema_doc = Arc::new(sources::workspace().parse(schema)?);
    let instance_doc = Arc::new(sources::workspace().parse(instance)?);
    let mut diagnostics: Vec<Diagnostic> = [&schema_doc, &instance_doc]
        .iter()
        .flat_map(|doc| doc.problems().iter().cloned())
        .collect();
    // An imprecise number is a warning when reading definitions. Here a wrong value would be
    // validated, so one that cannot be represented at all is an error.
    for diagnostic in &mut diagnostics {
        // A diagnostic knows its text, but not which of the two documents it came from.
        let document = if Arc::ptr_eq(&diagnostic.source, schema_doc.source()) {
            &schema_doc
        } else {
            &instance_doc
        };
        if is_unrepresentable(diagnostic, document) {
            diagnostic.severity = Severity::Error;
        }
    }
    // Of a broken document only a part was read; validating it would report consequences.
    if !diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.extend(validation_diagnostics(&schema_doc, &instance_doc, options));
    }
    let format = args.report.output_format;
    render::sort(&mut diagnostics);
    report::print_diagnostics(diagnostics.iter(), format);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Ok(ExitStatus::Findings);
    }
    output::print(&format!("{}: valid\n", toolwright_workspace::display_name(instance)))?;
    Ok(ExitStatus::Clean)
}

/// The violations of the schema, located in the instance, or the mistake in the schema itself. At
/// most one finding for a schema that does not compile; nothing was validated then.
fn validation_diagnostics(
    schema: &Arc<Document>,
    instance: &Arc<Document>,
    options: &SchemaOptions,
) -> Vec<Diagnostic> {
    let (schema_json, instance_json) = (schema.root().to_json(), instance.root().to_json());
    match SchemaValidator::validate_with(schema_json, instance_json, options) {
        Ok(()) => Vec::new(),
        Err(ValidateError::Schema(error)) => {
            vec![locate(schema_finding(&error, &DocumentPath::root()), schema)]
        }
        Err(ValidateError::Instance(errors)) => {
            errors.iter().flat_map(violations).map(|found| locate(found, instance)).collect()
        }
    }
}

/// Whether the diagnostic is about a number that fits no number type, such as `1e999`. Its node has
/// no value, which `to_json` shows as null. A number that is only imprecise, such as one with
/// thirty digits, stays a warning.
fn is_unrepresentable(diagnostic: &Diagnostic, document: &Document) -> bool {
    let node = || diagnostic.span.map(|span| document.at_byte(span.start));
    diagnostic.code == &codes::NUMBER_PRECISION
        && node().is_some_and(|node| node.to_json().is_null())
}

/// A violation as findings at the violating value, or at the keys that should not be there, with
/// the place in the schema as help. Several findings for one violation of `additionalProperties`:
/// one for each key.
fn violations(failure: &ValidationError) -> impl Iterator<Item = Finding> {
    failure.places().into_iter().map(|place| {
        let at = DocumentPath::parse(&place.path).unwrap_or_default();
        let finding = Finding::new(&INVALID_INSTANCE, at, place.message);
        let finding = if place.is_key { finding.on_key() } else { finding };
        // `false` as a schema refuses everything without any keyword to point at.
        if failure.keyword.is_empty() {
            finding
        } else {
            finding.help(format!("required by the schema at `{}`", failure.schema_path))
        }
    })
}

/// Writes a result line for each line of stdin. Invalid instances are results, not failures: the
/// exit status is 2 if a line was not a request at all, and 0 otherwise.
///
/// A line may have as many bytes as a definition, and is refused as `INVALID_LINE` if it has more.
fn batch(options: &SchemaOptions) -> anyhow::Result<ExitStatus> {
    let mut input = io::BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut status = ExitStatus::Clean;
    let mut line = Vec::new();
    loop {
        line.clear();
        // Bounds the memory for one line: one byte more than allowed, to notice that it is too
        // long, and one for the line end. The rest of a longer line is skipped below.
        let length =
            io::Read::take(&mut input, MAX_BYTES as u64 + 2).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if line.len() > MAX_BYTES + 1 && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        // Blank lines get no result, so a line end at the end of the input does no harm.
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let result = batch_line(std::mem::take(&mut line), options);
        // The other lines are still answered: one bad line must not stop a long batch.
        if result["result"] == INVALID_LINE {
            status = ExitStatus::CouldNotRun;
        }
        writeln!(out, "{}", render::line(&result))?;
        // A program may wait for each result before it writes the next line. While there is more
        // input, results are collected.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(status)
}

/// The result for a line that is not `{"schema":…,"instance":…}`.
const INVALID_LINE: &str = "INVALID_LINE";

/// The result for one line: `valid`, `invalid`, a code of a schema error, or `INVALID_LINE`.
///
/// A new document for each line: nothing of one line can influence the next.
fn batch_line(line: Vec<u8>, options: &SchemaOptions) -> Json {
    let document = Document::parse("<line>", line, Syntax::Json);
    // As in the other mode: a number that cannot be represented is an error here.
    let fatal = |d: &&Diagnostic| d.severity == Severity::Error || is_unrepresentable(d, &document);
    let errors: Vec<&Diagnostic> = document.problems().iter().filter(fatal).collect();
    let root = document.root();
    if let Some(error) = errors.first() {
        // A mistake inside the schema is reported as one of the schema, as in the other mode.
        let in_schema =
            DocumentPath::parse("/schema").is_some_and(|p| error.path.below(&p).is_some());
        let result = if in_schema { "INVALID_SCHEMA" } else { INVALID_LINE };
        return line_result(result, errors.iter().map(|d| d.message.as_str()));
    }
    let (Some(schema), Some(instance)) = (root.get("schema"), root.get("instance")) else {
        return line_result(
            INVALID_LINE,
            ["a line is an object with `schema` and `instance`"].into_iter(),
        );
    };
    match SchemaValidator::validate_with(schema.to_json(), instance.to_json(), options) {
        Ok(()) => json!({"result": "valid", "errors": []}),
        Err(ValidateError::Schema(error)) => {
            // The same wording as in the other mode and in `check`.
            let message = schema_finding(&error, &DocumentPath::root()).message;
            let error_json =
                // The path of the instance is empty: the schema is wrong, whatever the instance is.
                error_json("", error.at(), error.at().rsplit('/').next().unwrap_or(""), &message);
            json!({"result": error.code(), "errors": [error_json]})
        }
        Err(ValidateError::Instance(errors)) => {
            let errors = errors
                .iter()
                .map(|f| error_json(&f.instance_path, &f.schema_path, &f.keyword, &f.message));
            json!({"result": "invalid", "errors": errors.collect::<Vec<_>>()})
        }
    }
}

/// A result whose errors have no position.
fn line_result<'a>(result: &str, messages: impl Iterator<Item = &'a str>) -> Json {
    let errors: Vec<Json> = messages.map(|message| error_json("", "", "", message)).collect();
    json!({"result": result, "errors": errors})
}

/// One error, with paths as JSON Pointers. `schemaPath` leads to the keyword, `keyword` is its last
/// part; both are empty for a line that could not be read.
fn error_json(instance_path: &str, schema_path: &str, keyword: &str, message: &str) -> Json {
    json!({
        "instancePath": instance_path, "schemaPath": schema_path,
        "keyword": keyword, "message": message,
    })
}
