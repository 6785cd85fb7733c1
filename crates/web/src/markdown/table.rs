//! Tables: which are data and which only arrange a page, where the cells stand, and GFM's lines.

use super::shown::{declaration, is_hidden};
use crate::html::{AttrName, NodeId, Tag, Tree};

/// Columns of a table; cells beyond are joined to the last.
const MAX_COLUMNS: usize = 256;

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Alignment {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// The cells of a table that holds data, row by row.
#[derive(Debug)]
pub(super) struct Grid {
    rows: Vec<Row>,
    /// Whether the first row is the header.
    header: bool,
    alignments: Vec<Alignment>,
}

/// The cells of a row with their columns, in order.
pub(super) type Row = Vec<(usize, NodeId)>;

/// Lays a table out, unless it only arranges other things on the page.
pub(super) fn grid(tree: &Tree, table: NodeId) -> Option<Grid> {
    let rows = own(tree, table).filter(|id| tree.tag(*id) == Some(Tag::Row));
    let mut reaching: Vec<usize> = Vec::new();
    let mut grid = Grid { rows: Vec::new(), header: false, alignments: Vec::new() };
    let mut columns = 0;
    for row in rows {
        let cells: Vec<NodeId> =
            tree.children(row).filter(|id| is_cell(tree, *id) && !is_hidden(tree, *id)).collect();
        if grid.rows.is_empty() {
            let in_head =
                tree.parent(row).is_some_and(|parent| tree.tag(parent) == Some(Tag::TableHead));
            let all =
                !cells.is_empty() && cells.iter().all(|id| tree.tag(*id) == Some(Tag::HeaderCell));
            grid.header = in_head || all;
        }
        let (row, width) = lay_out(tree, &cells, &mut reaching);
        columns = columns.max(width);
        grid.rows.push(row);
    }
    if grid.rows.iter().all(Vec::is_empty) || arranges(tree, table, &grid, columns) {
        return None;
    }
    grid.alignments.resize(columns, Alignment::None);
    for (column, cell) in grid.rows.first().into_iter().flatten() {
        grid.alignments[*column] = alignment(tree, *cell);
    }
    Some(grid)
}

/// Puts the cells of a row into their columns and says how many those are; `reaching` counts the
/// rows that a cell above still takes up.
fn lay_out(tree: &Tree, cells: &[NodeId], reaching: &mut Vec<usize>) -> (Row, usize) {
    let mut row = Row::with_capacity(cells.len());
    let mut column = 0;
    let skip = |column: &mut usize, reaching: &mut Vec<usize>| {
        while let Some(rows) = reaching.get_mut(*column).filter(|rows| **rows > 0) {
            *rows -= 1;
            *column += 1;
        }
    };
    for cell in cells {
        skip(&mut column, reaching);
        let number =
            |name| tree.attr(*cell, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1);
        row.push((column.min(MAX_COLUMNS - 1), *cell));
        let end = (column + number(AttrName::Colspan).max(1)).min(MAX_COLUMNS);
        let rows = number(AttrName::Rowspan).clamp(1, 65_534) - 1;
        if rows > 0 && end > column {
            reaching.resize(reaching.len().max(end), 0);
            reaching[column..end].fill(rows);
        }
        column = end;
    }
    skip(&mut column, reaching);
    // What reaches over columns beyond the last cell.
    for rows in reaching.iter_mut().skip(column) {
        *rows = rows.saturating_sub(1);
    }
    (row, column)
}

/// Whether a table is there for the looks: it says so, or it has no header and holds what no row of
/// data holds.
fn arranges(tree: &Tree, table: NodeId, grid: &Grid, columns: usize) -> bool {
    if matches!(tree.attr(table, AttrName::Role), Some("presentation" | "none")) {
        return true;
    }
    let has_header = own(tree, table)
        .any(|id| matches!(tree.tag(id), Some(Tag::HeaderCell | Tag::TableHead | Tag::Caption)));
    if has_header {
        return false;
    }
    let mut blocks = tree.descendants(table).filter(|id| {
        matches!(
            tree.tag(*id),
            Some(
                Tag::Table
                    | Tag::Heading(_)
                    | Tag::Preformatted
                    | Tag::List
                    | Tag::OrderedList
                    | Tag::Quote
                    | Tag::Rule
            )
        )
    });
    columns < 2 || grid.rows.len() < 2 || blocks.next().is_some()
}

/// The rows, groups and cells of a table, without what is within its cells.
fn own(tree: &Tree, table: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let next = move |at: NodeId| {
        let inner =
            if is_cell(tree, at) || is_hidden(tree, at) { None } else { tree.first_child(at) };
        inner.or_else(|| tree.after(at, table))
    };
    std::iter::successors(tree.first_child(table), move |at| next(*at))
        .filter(|id| !is_hidden(tree, *id))
}

fn is_cell(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.tag(id), Some(Tag::Cell | Tag::HeaderCell))
}

fn alignment(tree: &Tree, cell: NodeId) -> Alignment {
    let style = tree.attr(cell, AttrName::Style).and_then(|style| declaration(style, "text-align"));
    let word = style.or_else(|| tree.attr(cell, AttrName::Align)).unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "left" => Alignment::Left,
        "center" => Alignment::Center,
        "right" => Alignment::Right,
        _ => Alignment::None,
    }
}

impl Grid {
    /// The header, which may be empty, and the other rows.
    pub(super) fn parts(&self) -> (&[(usize, NodeId)], &[Row]) {
        match self.rows.split_first() {
            Some((header, body)) if self.header => (header, body),
            _ => (&[], &self.rows),
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.alignments.len()
    }

    /// The line below the header.
    pub(super) fn rule(&self) -> String {
        let mut rule = String::from("|");
        for alignment in &self.alignments {
            rule.push_str(match alignment {
                Alignment::None => " --- |",
                Alignment::Left => " :-- |",
                Alignment::Center => " :-: |",
                Alignment::Right => " --: |",
            });
        }
        rule
    }
}

/// Brings the pipes of a cell, which begins at `start`, out of the way.
pub(super) fn escape_pipes(out: &mut String, start: usize) {
    if !out[start..].contains('|') {
        return;
    }
    for c in out.split_off(start).chars() {
        match c {
            // Readers differ on whether a pipe behind two backslashes is escaped.
            '|' if out.ends_with('\\') => out.push_str("&#124;"),
            '|' => out.push_str("\\|"),
            c => out.push(c),
        }
    }
}
