//! `toolwright validate`: an instance against a schema, for people with carets, and in batches for
//! programs.

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
use crate::output::{self, Exit};
use crate::{report, sources};

static INVALID_INSTANCE: DiagnosticCode = DiagnosticCode {
    name: "INVALID_INSTANCE",
    severity: Severity::Error,
    manual: "The value does not match the schema it was validated against.",
    sample: None,
};

pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<Exit> {
    let assert =
        if args.assert_formats { FormatAssertion::Assert } else { FormatAssertion::Annotate };
    let options = SchemaOptions { formats: assert };
    match (&args.schema, &args.instance) {
        (Some(schema), Some(instance)) => validate(schema, instance, &options, args),
        _ => batch(&options),
    }
}

fn validate(
    schema: &Path,
    instance: &Path,
    options: &SchemaOptions,
    args: &ValidateArgs,
) -> anyhow::Result<Exit> {
    if toolwright_workspace::is_stdin(schema) && toolwright_workspace::is_stdin(instance) {
        bail!("schema and instance cannot both come from standard input");
    }
    let schema_doc = Arc::new(sources::workspace().parse(schema)?);
    let instance_doc = Arc::new(sources::workspace().parse(instance)?);
    let mut diagnostics: Vec<Diagnostic> = [&schema_doc, &instance_doc]
        .iter()
        .flat_map(|doc| doc.problems().iter().cloned())
        .collect();
    for diagnostic in &mut diagnostics {
        let document = if Arc::ptr_eq(&diagnostic.source, schema_doc.source()) {
            &schema_doc
        } else {
            &instance_doc
        };
        if is_beyond_numbers(diagnostic, document) {
            diagnostic.severity = Severity::Error;
        }
    }
    if !diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.extend(problems(&schema_doc, &instance_doc, options));
    }
    let form = args.report.output_format;
    render::sort(&mut diagnostics);
    report::show(diagnostics.iter(), form);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Ok(Exit::Findings);
    }
    output::print(&format!("{}: valid\n", toolwright_workspace::display_name(instance)))?;
    Ok(Exit::Clean)
}

fn problems(
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
            errors.iter().map(|error| locate(finding(error), instance)).collect()
        }
    }
}

/// A number that no type holds cannot be judged: there is no value to judge.
fn is_beyond_numbers(diagnostic: &Diagnostic, document: &Document) -> bool {
    let node = || diagnostic.span.map(|span| document.at_byte(span.start));
    diagnostic.code == &codes::NUMBER_PRECISION
        && node().is_some_and(|node| node.to_json().is_null())
}

fn finding(failure: &ValidationError) -> Finding {
    let at = DocumentPath::parse(&failure.instance_path).unwrap_or_default();
    let finding = Finding::new(&INVALID_INSTANCE, at, failure.message.clone());
    if failure.keyword.is_empty() {
        finding
    } else {
        finding.help(format!("the schema says so at `{}`", failure.schema_path))
    }
}

/// A result line for each line of standard input, in order.
fn batch(options: &SchemaOptions) -> anyhow::Result<Exit> {
    let mut input = io::BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut exit = Exit::Clean;
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte more than is allowed, plus the line end.
        let length =
            io::Read::take(&mut input, MAX_BYTES as u64 + 2).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if line.len() > MAX_BYTES + 1 && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let result = batch_line(std::mem::take(&mut line), options);
        if result["result"] == INVALID_LINE {
            exit = Exit::CouldNotRun;
        }
        writeln!(out, "{}", render::line(&result))?;
        // Somebody may be waiting for this very answer.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(exit)
}

/// The result for a line that is not `{"schema":…,"instance":…}`.
const INVALID_LINE: &str = "INVALID_LINE";

fn batch_line(line: Vec<u8>, options: &SchemaOptions) -> Json {
    let document = Document::parse("<line>", line, Syntax::Json);
    let fatal = |d: &&Diagnostic| d.severity == Severity::Error || is_beyond_numbers(d, &document);
    let errors: Vec<&Diagnostic> = document.problems().iter().filter(fatal).collect();
    let root = document.root();
    if let Some(error) = errors.first() {
        let in_schema =
            DocumentPath::parse("/schema").is_some_and(|p| error.path.below(&p).is_some());
        let result = if in_schema { "INVALID_SCHEMA" } else { INVALID_LINE };
        return answer(result, errors.iter().map(|d| d.message.as_str()));
    }
    let (Some(schema), Some(instance)) = (root.get("schema"), root.get("instance")) else {
        return answer(
            INVALID_LINE,
            ["a line is an object with `schema` and `instance`"].into_iter(),
        );
    };
    match SchemaValidator::validate_with(schema.to_json(), instance.to_json(), options) {
        Ok(()) => json!({"result": "valid", "errors": []}),
        Err(ValidateError::Schema(error)) => {
            let message = schema_finding(&error, &DocumentPath::root()).message;
            let error_json =
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

fn answer<'a>(result: &str, messages: impl Iterator<Item = &'a str>) -> Json {
    json!({"result": result, "errors": messages.map(|m| error_json("", "", "", m)).collect::<Vec<_>>()})
}

fn error_json(instance_path: &str, schema_path: &str, keyword: &str, message: &str) -> Json {
    json!({"instancePath": instance_path, "schemaPath": schema_path, "keyword": keyword, "message": message})
}
