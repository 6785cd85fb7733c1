//! The results: a tree for people, JSON lines for programs, JUnit XML for continuous integration.

use std::fmt::Write;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Style};
use serde_json::json;
use toolwright_source::render::visible;

use toolwright_workspace::examples::ExampleCase;

use super::run::{ExampleResult, ExampleStatus};
use crate::report::plural;

const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();

/// How many of each kind.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Count {
    fn of<'t>(tried: impl Iterator<Item = &'t ExampleResult>) -> Count {
        let mut count = Count::default();
        for tried in tried {
            match tried.status {
                ExampleStatus::Passed => count.passed += 1,
                ExampleStatus::Failed(_) => count.failed += 1,
                ExampleStatus::Skipped(_) => count.skipped += 1,
            }
        }
        count
    }
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

/// Files, tools and examples, then the sum.
pub(super) fn tree(cases: &[ExampleCase], tried: &[ExampleResult], time: Duration) -> String {
    let mut text = String::new();
    let (mut file, mut tool) = ("", "");
    for (case, tried) in cases.iter().zip(tried) {
        if case.file != file {
            let _ = writeln!(
                text,
                "{}{}",
                if file.is_empty() { "" } else { "\n" },
                visible(&case.file)
            );
            (file, tool) = (&case.file, "");
        }
        if case.tool != tool {
            let _ = writeln!(text, "  {}", visible(&case.tool));
            tool = &case.tool;
        }
        let name = visible(&case.name);
        let _ = match &tried.status {
            ExampleStatus::Passed => {
                writeln!(
                    text,
                    "    {GREEN}ok{GREEN:#}   {name} {DIM}({} ms){DIM:#}",
                    ms(tried.time)
                )
            }
            ExampleStatus::Skipped(why) => {
                writeln!(text, "    {DIM}skip{DIM:#} {name}: {}", visible(why))
            }
            ExampleStatus::Failed(lines) => {
                let _ = writeln!(
                    text,
                    "    {RED}FAIL{RED:#} {name} {DIM}({} ms){DIM:#}",
                    ms(tried.time)
                );
                let _ = writeln!(text, "         at {}:{}", visible(&case.file), case.line);
                lines.iter().try_for_each(|line| writeln!(text, "         {}", visible(line)))
            }
        };
    }
    let count = Count::of(tried.iter());
    if !cases.is_empty() {
        text.push('\n');
    }
    let Count { passed, failed, skipped } = count;
    let _ = writeln!(
        text,
        "{}: {passed} passed, {failed} failed, {skipped} skipped ({} ms)",
        plural(cases.len(), "example"),
        ms(time)
    );
    text
}

/// One object per line, then the sum.
pub(super) fn json(
    cases: &[ExampleCase],
    tried: &[ExampleResult],
    unread: &[String],
    time: Duration,
) -> String {
    let mut text = String::new();
    for (case, tried) in cases.iter().zip(tried) {
        let (status, messages) = match &tried.status {
            ExampleStatus::Passed => ("passed", Vec::new()),
            ExampleStatus::Failed(lines) => ("failed", lines.clone()),
            ExampleStatus::Skipped(why) => ("skipped", vec![why.clone()]),
        };
        let line = json!({
            "file": case.file, "line": case.line, "tool": case.tool, "example": case.name,
            "status": status, "ms": ms(tried.time), "messages": messages,
        });
        let _ = writeln!(text, "{line}");
    }
    let Count { passed, failed, skipped } = Count::of(tried.iter());
    let sum = json!({
        "examples": cases.len(), "passed": passed, "failed": failed, "skipped": skipped, "unread": unread, "ms": ms(time),
    });
    let _ = writeln!(text, "{sum}");
    text
}

/// JUnit XML: a suite per file, and one for what hides examples, because who reads the file does
/// not see the exit code.
pub(super) fn junit(
    cases: &[ExampleCase],
    tried: &[ExampleResult],
    unread: &[String],
    time: Duration,
) -> String {
    let all: Vec<(&ExampleCase, &ExampleResult)> = cases.iter().zip(tried).collect();
    let head = |element: &str,
                name: &str,
                of: &[(&ExampleCase, &ExampleResult)],
                errors: usize,
                time: Duration| {
        let Count { failed, skipped, .. } = Count::of(of.iter().map(|(_, tried)| *tried));
        format!(
            "<{element} name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{:.3}\">\n",
            escaped(name),
            of.len() + errors,
            time.as_secs_f64()
        )
    };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &head("testsuites", "toolwright", &all, unread.len(), time);
    for suite in all.chunk_by(|a, b| a.0.file == b.0.file) {
        let time = suite.iter().map(|(_, tried)| tried.time).sum();
        text += &head("testsuite", &suite[0].0.file, suite, 0, time);
        suite.iter().for_each(|(case, tried)| test_case(case, tried, &mut text));
        text += "</testsuite>\n";
    }
    if !unread.is_empty() {
        text += &head("testsuite", "definitions", &[], unread.len(), Duration::ZERO);
        for why in unread.iter().map(|why| escaped(why)) {
            let _ = writeln!(
                text,
                "<testcase classname=\"definitions\" name=\"{why}\" time=\"0.000\"><error message=\"{why}\"/></testcase>"
            );
        }
        text += "</testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn test_case(case: &ExampleCase, tried: &ExampleResult, text: &mut String) {
    let (tool, name, file) = (escaped(&case.tool), escaped(&case.name), escaped(&case.file));
    let seconds = tried.time.as_secs_f64();
    let _ = write!(
        text,
        "<testcase classname=\"{tool}\" name=\"{name}\" file=\"{file}\" line=\"{}\" time=\"{seconds:.3}\"",
        case.line
    );
    let _ = match &tried.status {
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

/// Text as XML may hold it: what no XML may hold becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
