//! Tables: which of them hold data, in which column each cell stands, and GFM's syntax.
//!
//! A GFM table is a grid with one header row and one line for each row. HTML tables have more:
//! `colspan` leaves the columns to its right empty, `rowspan` those below; a table without a
//! header gets an empty one, because GFM requires it. And many tables of HTML only arrange a page;
//! those are not laid out, and the walker writes their content as ordinary blocks.

use super::visibility::{is_hidden, style_property};
use crate::html::{AttributeName, HtmlNodeId, HtmlTag, HtmlTree};

/// Columns of a table; cells beyond are joined to the last. Without a limit, one row with a large
/// `colspan` would make all other rows as long.
const MAX_COLUMNS: usize = 256;

/// How a column is aligned. The cell in the first row decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ColumnAlignment {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// The cells of a data table, row by row.
#[derive(Debug)]
pub(super) struct TableLayout {
    /// In document order, the header included.
    rows: Vec<TableRow>,
    /// Whether the first row is the header.
    header: bool,
    /// One for each column.
    alignments: Vec<ColumnAlignment>,
}

/// The cells of a row, each with its column, in ascending order. Only the last column of a table
/// can have more than one.
pub(super) type TableRow = Vec<(usize, HtmlNodeId)>;

/// Assigns the cells of a table to rows and columns. `None` for a layout table and for one without
/// cells.
pub(super) fn lay_out_table(tree: &HtmlTree, table: HtmlNodeId) -> Option<TableLayout> {
    let rows = table_parts(tree, table).filter(|id| tree.tag(*id) == Some(HtmlTag::Row));
    // For each column, how many of the next rows a cell above still covers.
    let mut rowspans: Vec<usize> = Vec::new();
    let mut layout = TableLayout { rows: Vec::new(), header: false, alignments: Vec::new() };
    let mut columns = 0;
    for row in rows {
        let cells: Vec<HtmlNodeId> =
            tree.children(row).filter(|id| is_cell(tree, *id) && !is_hidden(tree, *id)).collect();
        if layout.rows.is_empty() {
            // The first row is the header if it is in `<thead>` or has only header cells. Header
            // cells further down, at the left of a row, are ordinary cells in GFM.
            let in_head =
                tree.parent(row).is_some_and(|parent| tree.tag(parent) == Some(HtmlTag::TableHead));
            let all = !cells.is_empty()
                && cells.iter().all(|id| tree.tag(*id) == Some(HtmlTag::HeaderCell));
            layout.header = in_head || all;
        }
        let (row, width) = lay_out_row(tree, &cells, &mut rowspans);
        columns = columns.max(width);
        layout.rows.push(row);
    }
    if layout.rows.iter().all(Vec::is_empty) || is_layout_table(tree, table, &layout, columns) {
        return None;
    }
    // Also the number of columns of the table.
    layout.alignments.resize(columns, ColumnAlignment::None);
    for (column, cell) in layout.rows.first().into_iter().flatten() {
        layout.alignments[*column] = alignment(tree, *cell);
    }
    Some(layout)
}

/// Assigns the cells of a row to columns, and returns how many columns the row has. `rowspans`
/// holds for each column how many more rows a cell above takes up; it is updated for the next row.
fn lay_out_row(
    tree: &HtmlTree,
    cells: &[HtmlNodeId],
    rowspans: &mut Vec<usize>,
) -> (TableRow, usize) {
    let mut row = TableRow::with_capacity(cells.len());
    let mut column = 0;
    // Skips the columns that cells above take up.
    let skip = |column: &mut usize, rowspans: &mut Vec<usize>| {
        while let Some(rows) = rowspans.get_mut(*column).filter(|rows| **rows > 0) {
            *rows -= 1;
            *column += 1;
        }
    };
    for cell in cells {
        skip(&mut column, rowspans);
        let number =
            |name| tree.attr(*cell, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1);
        row.push((column.min(MAX_COLUMNS - 1), *cell));
        let width = number(AttributeName::Colspan).clamp(1, MAX_COLUMNS);
        let end = (column + width).min(MAX_COLUMNS);
        // The HTML standard's limit. Zero, which means all rows to the end, is read as one.
        let rows = number(AttributeName::Rowspan).clamp(1, 65_534) - 1;
        if rows > 0 && end > column {
            rowspans.resize(rowspans.len().max(end), 0);
            rowspans[column..end].fill(rows);
        }
        column = end;
    }
    skip(&mut column, rowspans);
    // Cells above can also reach into columns to the right of the last cell.
    for rows in rowspans.iter_mut().skip(column) {
        *rows = rows.saturating_sub(1);
    }
    (row, column)
}

/// Whether a table only arranges a page: it has the role for that, or it has no header and
/// contains what a table of data does not contain, such as headings or lists, or is a single row
/// or column.
fn is_layout_table(
    tree: &HtmlTree,
    table: HtmlNodeId,
    layout: &TableLayout,
    columns: usize,
) -> bool {
    if matches!(tree.attr(table, AttributeName::Role), Some("presentation" | "none")) {
        return true;
    }
    // A table that has a header or a caption was meant as a table, whatever is in its cells.
    let has_header = table_parts(tree, table).any(|id| {
        matches!(tree.tag(id), Some(HtmlTag::HeaderCell | HtmlTag::TableHead | HtmlTag::Caption))
    });
    if has_header {
        return false;
    }
    let mut blocks = tree.descendants(table).filter(|id| {
        matches!(
            tree.tag(*id),
            Some(
                HtmlTag::Table
                    | HtmlTag::Heading(_)
                    | HtmlTag::Preformatted
                    | HtmlTag::List
                    | HtmlTag::OrderedList
                    | HtmlTag::Quote
                    | HtmlTag::ThematicBreak
            )
        )
    });
    // A single row or column without a header is a list or a line of boxes, not data.
    columns < 2 || layout.rows.len() < 2 || blocks.next().is_some()
}

/// The parts of a table that are not hidden, in document order: groups, rows, cells and captions,
/// but nothing inside of cells, where other tables may be.
fn table_parts(tree: &HtmlTree, table: HtmlNodeId) -> impl Iterator<Item = HtmlNodeId> + '_ {
    // Hidden rows and groups are skipped with all below them, and cells are not entered.
    let next = move |at: HtmlNodeId| {
        let inner =
            if is_cell(tree, at) || is_hidden(tree, at) { None } else { tree.first_child(at) };
        inner.or_else(|| tree.next_after_subtree(at, table))
    };
    std::iter::successors(tree.first_child(table), move |at| next(*at))
        .filter(|id| !is_hidden(tree, *id))
}

fn is_cell(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    matches!(tree.tag(id), Some(HtmlTag::Cell | HtmlTag::HeaderCell))
}

/// The alignment of a cell, by its style or by the older attribute.
fn alignment(tree: &HtmlTree, cell: HtmlNodeId) -> ColumnAlignment {
    let style =
        tree.attr(cell, AttributeName::Style).and_then(|style| style_property(style, "text-align"));
    let word = style.or_else(|| tree.attr(cell, AttributeName::Align)).unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "left" => ColumnAlignment::Left,
        "center" => ColumnAlignment::Center,
        "right" => ColumnAlignment::Right,
        _ => ColumnAlignment::None,
    }
}

impl TableLayout {
    /// The header, which is empty if the table has none, and the other rows.
    pub(super) fn header_and_body(&self) -> (&[(usize, HtmlNodeId)], &[TableRow]) {
        match self.rows.split_first() {
            Some((header, body)) if self.header => (header, body),
            _ => (&[], &self.rows),
        }
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.alignments.len()
    }

    /// The line below the header, which GFM calls the delimiter row.
    ///
    /// GFM demands it directly below the header; it also says how many columns there are.
    pub(super) fn delimiter_row(&self) -> String {
        let mut line = String::from("|");
        for alignment in &self.alignments {
            line.push_str(match alignment {
                ColumnAlignment::None => " --- |",
                ColumnAlignment::Left => " :-- |",
                ColumnAlignment::Center => " :-: |",
                ColumnAlignment::Right => " --: |",
            });
        }
        line
    }
}

/// Escapes the pipes of a cell that begins at `start`; a pipe would begin the next cell. This is
/// done after the cell was written, because GFM splits rows into cells before anything else: even
/// code and addresses must not contain a pipe.
pub(super) fn escape_pipes(out: &mut String, start: usize) {
    if !out[start..].contains('|') {
        return;
    }
    for c in out.split_off(start).chars() {
        match c {
            // Renderers differ on whether a pipe after two backslashes is escaped.
            '|' if out.ends_with('\\') => out.push_str("&#124;"),
            '|' => out.push_str("\\|"),
            c => out.push(c),
        }
    }
}
