//! `toolwright formats`: which fields and schema keywords each target of `convert` holds. What it
//! prints is found out by converting (`toolwright_workspace::format_support`); here it becomes a
//! list, a table, JSON, or the page docs/format-support.md.
//!
//! A row is a field or a schema keyword, a column is a target, and a cell is what a conversion to
//! it reported. The page in the manual is this output, and a test compares the two.
//!
//! Nothing is listed by hand, here or there: a target that starts to write a field appears with the
//! next run. `row.cells` has one cell for each target, in the order of `support.targets`.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};
use toolwright_formats::WriteTarget;
use toolwright_workspace::{
    FormatSupport, PartSupport, SupportRow, SupportSubject, format_authority, format_support,
};

use crate::args::FormatsArgs;
use crate::output::{self, ExitStatus};

/// Prints what the targets hold.
///
/// Without targets the text is one line for each, as a table of all of them would be too wide.
/// Unknown names were refused with the arguments.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn run(args: &FormatsArgs) -> anyhow::Result<ExitStatus> {
    let named: Vec<WriteTarget> =
        args.targets.iter().filter_map(|id| WriteTarget::by_id(id)).collect();
    let targets = if named.is_empty() { WriteTarget::all().collect() } else { named.clone() };
    let support = format_support(&targets);
    if args.json {
        output::print_json(&as_json(&support))?;
    } else if args.markdown {
        output::print_unfiltered(&as_markdown(&support))?;
    } else if named.is_empty() {
        output::print(&as_list(&support))?;
    } else {
        output::print(&as_table(&support))?;
    }
    Ok(ExitStatus::Clean)
}

/// Everything, with the sources.
///
/// Cells by the ids of their targets, in the words of `PartSupport::name`. `source` and `link`
/// state from where a target's column is known; `link` may be null.
fn as_json(support: &FormatSupport) -> Json {
    let target = |target: &WriteTarget| {
        let (source, link) = format_authority(*target);
        json!({"id": target.id(), "about": target.about(), "source": source, "link": link})
    };
    let row = |row: &SupportRow| {
        let cells = support.targets.iter().zip(&row.cells);
        let cells: Map<String, Json> =
            cells.map(|(target, cell)| (target.id().to_owned(), json!(cell.name()))).collect();
        json!({"of": row.subject.name(), "name": row.name, "targets": cells})
    };
    json!({
        "targets": support.targets.iter().map(target).collect::<Vec<_>>(),
        "fields": support.fields.iter().map(row).collect::<Vec<_>>(),
        "keywords": support.keywords.iter().map(row).collect::<Vec<_>>(),
    })
}

/// One line for each target. A part that the target expresses with other keywords counts as held.
fn as_list(support: &FormatSupport) -> String {
    let held = |rows: &[SupportRow], column: usize| {
        let held = rows.iter().filter(|row| row.cells[column].is_held()).count();
        format!("{held} of {}", rows.len())
    };
    let width = support.targets.iter().map(|target| target.id().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (column, target) in support.targets.iter().enumerate() {
        let (fields, keywords) = (held(&support.fields, column), held(&support.keywords, column));
        let _ = writeln!(
            text,
            "{:width$}  {fields:8} fields  {keywords:8} keywords  {}",
            target.id(),
            target.about()
        );
    }
    text
}

/// A line for each field and keyword, a column for each target.
///
/// Columns are at least as wide as the longest word of a cell. Fields come before keywords, each
/// group in the order of `format_support`.
fn as_table(support: &FormatSupport) -> String {
    let rows = || support.fields.iter().chain(&support.keywords);
    let width = rows().map(|row| label(row).len()).max().unwrap_or(0);
    let columns: Vec<usize> = support.targets.iter().map(|it| it.id().len().max(12)).collect();
    let mut text = format!("{:width$}", "");
    for (target, column) in support.targets.iter().zip(&columns) {
        let _ = write!(text, "  {:column$}", target.id());
    }
    let mut lines = vec![text.trim_end().to_owned()];
    for row in rows() {
        let mut line = format!("{:width$}", label(row));
        for (cell, column) in row.cells.iter().zip(&columns) {
            let _ = write!(line, "  {:column$}", cell.name());
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n") + "\n"
}

/// `tool title`, and a keyword by itself.
fn label(row: &SupportRow) -> String {
    match row.subject {
        SupportSubject::Keyword => row.name.clone(),
        subject => format!("{} {}", subject.name(), row.name),
    }
}

/// The start of the page.
///
/// The tables follow. A line of it that is wrong has to be corrected here: the page is generated.
const PAGE_HEAD: &str = "\
# What each format holds

`toolwright formats --markdown` wrote this page. Nothing in it is listed by hand: definitions with
every field, and schemas with every keyword, are [converted](converting.md) to each target, and what
the conversion reports as lost is in the tables. `toolwright formats TARGET…` prints the columns of
some targets, `--json` all of it.

| cell | what becomes of the part |
|---|---|
| ✓ | it is written, and read back as it was |
| = | other keywords say the same |
| `restored` | calls have another form, and `toolwright call --as` turns them back |
| others | it is lost; [converting](converting.md#losses) explains the words |

A row of the second table is about one use of the keyword. Where a target decides by the value,
another use may fare better: a `oneOf` whose branches exclude each other becomes an `anyOf`. That a
keyword is held does not mean that a model obeys it: without a strict mode nothing is enforced.

## Sources

What a column holds is known from:

| target | source |
|---|---|
";

/// The tables of the manual. Targets that hold the same share a column. Called with all targets for
/// docs/format-support.md.
fn as_markdown(support: &FormatSupport) -> String {
    let mut text = String::from(PAGE_HEAD);
    for target in &support.targets {
        let source = match format_authority(*target) {
            (source, Some(link)) => format!("{source} ([documentation]({link}))"),
            (source, None) => source.to_owned(),
        };
        let _ = writeln!(text, "| `{}` | {source} |", target.id());
    }
    for (title, rows) in [("field", &support.fields), ("keyword", &support.keywords)] {
        let _ = write!(text, "\n## By {title}\n\n");
        text += &markdown_table(title, rows, &support.targets);
    }
    text
}

/// Columns with equal cells in every row are joined under one heading, or the table would be too
/// wide for a page. The heading of such a column names all of its targets.
fn markdown_table(title: &str, rows: &[SupportRow], targets: &[WriteTarget]) -> String {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for column in 0..targets.len() {
        let same = |group: &&mut Vec<usize>| {
            rows.iter().all(|row| row.cells[group[0]] == row.cells[column])
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(column),
            None => groups.push(vec![column]),
        }
    }
    let head = |group: &Vec<usize>| {
        group.iter().map(|column| targets[*column].id()).collect::<Vec<_>>().join(", ")
    };
    let heads: Vec<String> = groups.iter().map(head).collect();
    let mut text = format!("| {title} | {} |\n|---|", heads.join(" | "));
    text += &"---|".repeat(groups.len());
    text.push('\n');
    for row in rows {
        let name = match row.subject {
            SupportSubject::Keyword => format!("`{}`", row.name),
            subject => format!("{} `{}`", subject.name(), row.name),
        };
        let cells: Vec<&str> = groups.iter().map(|group| symbol(row.cells[group[0]])).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

/// What a cell has: a mark for what is held, a word for what is not. The words are explained in the
/// table of `PAGE_HEAD`.
fn symbol(cell: PartSupport) -> &'static str {
    match cell {
        PartSupport::Held => "✓",
        PartSupport::Rewritten => "=",
        lost => lost.name(),
    }
}
