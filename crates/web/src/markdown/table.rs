//! Tables: which are data and which only arrange a page, where the cells stand, and GFM's lines.

use super::escape::is_space;
use crate::html::{AttrName, Kind, NodeId, Tag, Tree};

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
    /// One cell in each place; where another reaches over a place, or nothing is there, none.
    pub(super) rows: Vec<Vec<Option<NodeId>>>,
    /// Whether the first row is the header.
    header: bool,
    alignments: Vec<Alignment>,
}

/// Lays a table out, unless it only arranges other things on the page.
pub(super) fn grid(tree: &Tree, table: NodeId) -> Option<Grid> {
    let rows: Vec<NodeId> = own(tree, table).filter(|id| tree.tag(*id) == Some(Tag::Row)).collect();
    let mut reaching: Vec<usize> = Vec::new();
    let mut grid = Grid { rows: Vec::new(), header: false, alignments: Vec::new() };
    let mut cell_count = 0;
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<NodeId> = tree.children(*row).filter(|id| is_cell(tree, *id)).collect();
        cell_count += cells.len();
        if number == 0 {
            let in_head = tree.parent(*row).is_some_and(|parent| tree.tag(parent) == Some(Tag::TableHead));
            let all = !cells.is_empty() && cells.iter().all(|id| tree.tag(*id) == Some(Tag::HeaderCell));
            grid.header = in_head || all;
        }
        grid.rows.push(lay_out(tree, &cells, &mut reaching));
    }
    let columns = grid.rows.iter().map(Vec::len).max().unwrap_or(0);
    if cell_count == 0 || arranges(tree, table, &grid, columns) {
        return None;
    }
    let first = grid.rows.first().into_iter().flatten();
    grid.alignments = first.map(|cell| cell.map_or(Alignment::None, |id| alignment(tree, id))).collect();
    grid.alignments.resize(columns, Alignment::None);
    Some(grid)
}

/// Puts the cells of a row into their columns; `reaching` counts the rows that a cell above still takes up.
fn lay_out(tree: &Tree, cells: &[NodeId], reaching: &mut Vec<usize>) -> Vec<Option<NodeId>> {
    let mut row = Vec::new();
    let mut cells = cells.iter();
    loop {
        while let Some(rows) = reaching.get_mut(row.len()).filter(|rows| **rows > 0) {
            *rows -= 1;
            row.push(None);
        }
        let Some(cell) = cells.next().filter(|_| row.len() < MAX_COLUMNS) else { break };
        let number = |name| tree.attr(*cell, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1);
        let columns = number(AttrName::Colspan).clamp(1, MAX_COLUMNS - row.len());
        let rows = number(AttrName::Rowspan).clamp(1, 65_534) - 1;
        for column in 0..columns {
            if rows > 0 {
                reaching.resize(reaching.len().max(row.len() + 1), 0);
                reaching[row.len()] = rows;
            }
            row.push((column == 0).then_some(*cell));
        }
    }
    // What reaches over columns beyond the last cell.
    for rows in reaching.iter_mut().skip(row.len()) {
        *rows = rows.saturating_sub(1);
    }
    row
}

/// Whether a table is there for the looks: it says so, or it has no header and holds what no row of data holds.
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
        let inner = if is_cell(tree, at) { None } else { tree.first_child(at) };
        inner.or_else(|| tree.after(at, table))
    };
    std::iter::successors(tree.first_child(table), move |at| next(*at))
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

/// What a `style` says about a property.
pub(super) fn declaration<'a>(style: &'a str, property: &str) -> Option<&'a str> {
    style.split(';').find_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().trim_end_matches("!important").trim();
        name.trim().eq_ignore_ascii_case(property).then_some(value)
    })
}

impl Grid {
    /// The lines, given each cell's text in the places of `rows`.
    pub(super) fn lines(&self, texts: &[Vec<String>]) -> Vec<String> {
        let columns = self.alignments.len();
        let empty = Vec::new();
        let (header, body) = match texts.split_first() {
            Some((header, body)) if self.header => (header, body),
            _ => (&empty, texts),
        };
        let line = |cells: &[String]| {
            let mut line = String::from("|");
            for column in 0..columns {
                line.push(' ');
                line.push_str(cells.get(column).map_or("", String::as_str));
                line.push_str(" |");
            }
            line
        };
        let mut rule = String::from("|");
        for alignment in &self.alignments {
            rule.push_str(match alignment {
                Alignment::None => " --- |",
                Alignment::Left => " :-- |",
                Alignment::Center => " :-: |",
                Alignment::Right => " --: |",
            });
        }
        let mut lines = vec![line(header), rule];
        lines.extend(body.iter().map(|row| line(row)));
        lines
    }
}

/// A cell's Markdown with its pipes out of the way.
pub(super) fn escape_pipes(cell: String) -> String {
    if cell.contains('|') { cell.replace('|', "\\|") } else { cell }
}

/// Whether there is anything to see below a node.
pub(super) fn is_blank(tree: &Tree, id: NodeId) -> bool {
    !tree.descendants(id).any(|node| match tree.kind(node) {
        Kind::Text { start, end } => !tree.text(start, end).bytes().all(is_space),
        Kind::Element { tag, .. } => {
            matches!(tag, Tag::Image | Tag::Rule | Tag::Preformatted | Tag::Heading(_))
        }
        Kind::Other => false,
    })
}
