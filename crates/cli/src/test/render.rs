//! The results of `toolwright test` as text: a tree for people, JSON lines for programs, JUnit XML
//! for continuous integration. The functions take the cases and, in the same order, their results.
//!
//! Names and messages come from definitions and tools: the tree makes control characters visible,
//! JSON and XML escape them.
//!
//! ```text
//! tree     file, tool, example, with colours; a blank line and the totals
//! JSON     one object per example, then one with the totals
//! JUnit    testsuites > testsuite per file > testcase per example
//! ```

use std::fmt::Write;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Style};
use serde_json::json;
use toolwright_source::render::visible;

use toolwright_workspace::examples::ExampleCase;

use super::run::{ExampleResult, ExampleStatus};
use crate::report::plural;

// `output::print` removes the styles where the terminal does not support them.
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();

/// The number of results of each status. Their sum is the number of examples.
#[derive(Default)]
struct ResultCounts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl ResultCounts {
    fn of<'t>(results: impl Iterator<Item = &'t ExampleResult>) -> ResultCounts {
        let mut count = ResultCounts::default();
        for result in results {
            match result.status {
                ExampleStatus::Passed => count.passed += 1,
                ExampleStatus::Failed(_) => count.failed += 1,
                ExampleStatus::Skipped(_) => count.skipped += 1,
            }
        }
        count
    }
}

/// Milliseconds with one decimal. Example: 1.24 ms gives 1.2. Whole milliseconds would show 0 for
/// most validators.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

/// Files, tools and examples as an indented tree, then the totals. A file or tool is printed when
/// it differs from that of the previous example.
///
/// The order is that of the cases: by file, then by tool. Skipped examples show their reason,
/// because they are a gap in the tests. `time` is that of the whole run, which is shorter than the
/// sum: examples run side by side.
///
/// ```text
/// tickets.yaml
///   tickets:create
///     ok   success (1.2 ms)
///     FAIL failure_invalid_param (0.8 ms)
///          at tickets.yaml:31
///          the validators must refuse it, but accept it
///
/// 2 examples: 1 passed, 1 failed, 0 skipped (2.1 ms)
/// ```
pub(super) fn tree(cases: &[ExampleCase], results: &[ExampleResult], time: Duration) -> String {
    let mut text = String::new();
    // The headings that are printed already.
    let (mut file, mut tool) = ("", "");
    for (case, result) in cases.iter().zip(results) {
        if case.file != file {
            let _ = writeln!(
                text,
                "{}{}",
                if file.is_empty() { "" } else { "\n" },
                visible(&case.file)
            );
            // The same tool id in another file gets a heading of its own.
            (file, tool) = (&case.file, "");
        }
        if case.tool != tool {
            let _ = writeln!(text, "  {}", visible(&case.tool));
            tool = &case.tool;
        }
        let name = visible(&case.name);
        let _ = match &result.status {
            ExampleStatus::Passed => {
                writeln!(
                    text,
                    "    {GREEN}ok{GREEN:#}   {name} {DIM}({} ms){DIM:#}",
                    milliseconds(result.time)
                )
            }
            ExampleStatus::Skipped(why) => {
                writeln!(text, "    {DIM}skip{DIM:#} {name}: {}", visible(why))
            }
            ExampleStatus::Failed(lines) => {
                let _ = writeln!(
                    text,
                    "    {RED}FAIL{RED:#} {name} {DIM}({} ms){DIM:#}",
                    milliseconds(result.time)
                );
                // `file:line`, which editors and terminals turn into links.
                let _ = writeln!(text, "         at {}:{}", visible(&case.file), case.line);
                lines.iter().try_for_each(|line| writeln!(text, "         {}", visible(line)))
            }
        };
    }
    // Writing to a string cannot fail, so the results of `writeln!` are ignored throughout.
    let count = ResultCounts::of(results.iter());
    // A blank line between the tree and the totals.
    if !cases.is_empty() {
        text.push('\n');
    }
    let ResultCounts { passed, failed, skipped } = count;
    let _ = writeln!(
        text,
        "{}: {passed} passed, {failed} failed, {skipped} skipped ({} ms)",
        plural(cases.len(), "example"),
        milliseconds(time)
    );
    text
}

/// JSON Lines: one object per example, then one with the totals and the errors that may hide
/// examples (`unread`). A program knows by the last object, which alone has `examples`, that the
/// run has ended.
pub(super) fn json(
    cases: &[ExampleCase],
    results: &[ExampleResult],
    unread: &[String],
    time: Duration,
) -> String {
    let mut text = String::new();
    for (case, result) in cases.iter().zip(results) {
        // `messages` is always a list, so that programs need no case for each status.
        let (status, messages) = match &result.status {
            ExampleStatus::Passed => ("passed", Vec::new()),
            ExampleStatus::Failed(lines) => ("failed", lines.clone()),
            ExampleStatus::Skipped(why) => ("skipped", vec![why.clone()]),
        };
        let line = json!({
            "file": case.file, "line": case.line, "tool": case.tool, "example": case.name,
            "status": status, "ms": milliseconds(result.time), "messages": messages,
        });
        let _ = writeln!(text, "{line}");
    }
    let ResultCounts { passed, failed, skipped } = ResultCounts::of(results.iter());
    let sum = json!({
        "examples": cases.len(), "passed": passed, "failed": failed, "skipped": skipped,
        "unread": unread, "ms": milliseconds(time),
    });
    let _ = writeln!(text, "{sum}");
    text
}

/// JUnit XML with a suite per file. Errors that may hide examples become a suite of their own:
/// programs that read the file do not see the exit status.
///
/// `failures` are examples that failed, `errors` what kept examples from being read. Its `time` is
/// the sum of the examples in it; that of the whole document is the wall-clock time.
pub(super) fn junit(
    cases: &[ExampleCase],
    results: &[ExampleResult],
    unread: &[String],
    time: Duration,
) -> String {
    let all: Vec<(&ExampleCase, &ExampleResult)> = cases.iter().zip(results).collect();
    // `testsuites` and `testsuite` have the same attributes.
    let head = |element: &str,
                name: &str,
                of: &[(&ExampleCase, &ExampleResult)],
                errors: usize,
                time: Duration| {
        let ResultCounts { failed, skipped, .. } =
            ResultCounts::of(of.iter().map(|(_, result)| *result));
        format!(
            "<{element} name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"{:.3}\">\n",
            escaped(name),
            // Readers of JUnit files expect that `tests` includes the errors.
            of.len() + errors,
            time.as_secs_f64()
        )
    };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &head("testsuites", "toolwright", &all, unread.len(), time);
    // The cases are ordered by file.
    for suite in all.chunk_by(|a, b| a.0.file == b.0.file) {
        let time = suite.iter().map(|(_, result)| result.time).sum();
        text += &head("testsuite", &suite[0].0.file, suite, 0, time);
        suite.iter().for_each(|(case, result)| test_case(case, result, &mut text));
        text += "</testsuite>\n";
    }
    if !unread.is_empty() {
        text += &head("testsuite", "definitions", &[], unread.len(), Duration::ZERO);
        for why in unread.iter().map(|why| escaped(why)) {
            let _ = writeln!(
                text,
                "<testcase classname=\"definitions\" name=\"{why}\" time=\"0.000\">\
                 <error message=\"{why}\"/></testcase>"
            );
        }
        text += "</testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// Writes one `testcase`, with the tool as its class. The first line of a failure is its message,
/// all lines are its text. `file` and `line` are attributes that several readers understand, so
/// that they can show the place of a failed example.
fn test_case(case: &ExampleCase, result: &ExampleResult, text: &mut String) {
    let (tool, name, file) = (escaped(&case.tool), escaped(&case.name), escaped(&case.file));
    let seconds = result.time.as_secs_f64();
    let _ = write!(
        text,
        "<testcase classname=\"{tool}\" name=\"{name}\" file=\"{file}\" line=\"{}\" \
         time=\"{seconds:.3}\"",
        case.line
    );
    let _ = match &result.status {
        // A passed case has no children, so its element ends at once.
        ExampleStatus::Passed => writeln!(text, "/>"),
        ExampleStatus::Skipped(why) => {
            writeln!(text, "><skipped message=\"{}\"/></testcase>", escaped(why))
        }
        ExampleStatus::Failed(lines) => {
            let first = lines.first().map(String::as_str).unwrap_or_default();
            let all = escaped(&lines.join("\n"));
            writeln!(text, "><failure message=\"{}\">{all}</failure></testcase>", escaped(first))
        }
    };
}

/// Escapes text for XML attributes and content. Characters that XML 1.0 forbids even in escaped
/// form become question marks. Line ends are escaped, because parsers turn those of attributes into
/// blanks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            // The only control character beside line ends that XML 1.0 allows.
            '\t' => out.push('\t'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
