//! Plain-text rendering of tables. The first column is left-aligned, the others are right-aligned.

use super::Table;
use sim_analysis::format::wrap;

/// Maximum width of a column. A longer cell only shifts the rest of its own row.
const WIDEST_CELL: usize = 120;
const INDENT: usize = 2;
/// Maximum number of spaces between two columns.
const GAP: usize = 3;
/// Maximum number of lines of a row. Tables with taller rows are written as one list of fields per row.
const TALLEST_ROW: usize = 2;

impl Table {
    /// Returns the header and the rows, indented by two spaces; each is a list of lines. Rows for which `is_marked`
    /// returns true end with `mark`. Lines have at most `room` characters if the longest words permit it: first the
    /// space between columns shrinks, then cells of the widest columns wrap. If that is not sufficient, each row is a
    /// list of its cells with their headings.
    pub fn text(&self, is_marked: impl Fn(usize) -> bool, mark: &str, room: usize) -> Vec<Vec<String>> {
        let head: Vec<String> = self.columns.iter().map(|column| column.name.to_string()).collect();
        let cells = self.rows.iter().map(|row| row.iter().map(|cell| cell.replace('\n', " ")).collect());
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
        let marks = (0..self.rows.len()).any(&is_marked);
        let room = room.saturating_sub(INDENT + if marks { mark.chars().count() } else { 0 });
        let (widths, gap) = fit(&rows, self.columns.len(), room);
        let height = |row: &Vec<String>| row_lines(row, false, &widths, gap).len();
        let total = widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1);
        if total > room || rows[1..].iter().any(|row| height(row) > TALLEST_ROW) {
            let record = |(at, row): (usize, &Vec<String>)| {
                let mut lines = record_lines(&rows[0], row);
                if let Some(first) = lines.first_mut().filter(|_| is_marked(at)) {
                    first.push_str(mark);
                }
                lines
            };
            return rows[1..].iter().enumerate().map(record).collect();
        }
        let row = |(at, row): (usize, &Vec<String>)| {
            let mut lines = row_lines(row, at == 0, &widths, gap);
            if at.checked_sub(1).is_some_and(&is_marked) {
                lines[0].push_str(mark);
            }
            lines
        };
        rows.iter().enumerate().map(row).collect()
    }
}

/// Returns the column widths and the space between columns.
fn fit(rows: &[Vec<String>], columns: usize, room: usize) -> (Vec<usize>, usize) {
    let widest = |k: usize, width: &dyn Fn(&str, bool) -> usize| {
        let cells = rows.iter().enumerate().filter_map(|(at, row)| Some((at, row.get(k)?)));
        cells.map(|(at, cell)| width(cell, at == 0)).max().unwrap_or(0).min(WIDEST_CELL)
    };
    let length = |cell: &str, _: bool| cell.chars().count();
    let longest_part = |cell: &str, is_head: bool| {
        let parts = wrap_cell(cell, 1, is_head);
        parts.iter().map(|part| part.chars().count()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(|k| widest(k, &length)).collect();
    let minimum: Vec<usize> = (0..columns).map(|k| widest(k, &longest_part)).collect();
    let between = columns.saturating_sub(1);
    let total = |widths: &[usize], gap: usize| widths.iter().sum::<usize>() + gap * between;
    let gap = (1..=GAP).rev().find(|gap| total(&widths, *gap) <= room).unwrap_or(1);
    // The column that then needs the fewest lines shrinks, the widest of equals.
    let lines = |k: usize, width: usize| {
        let cells = rows.iter().skip(1).filter_map(|row| row.get(k));
        cells.map(|cell| wrap_cell(cell, width, false).len()).max().unwrap_or(0)
    };
    while total(&widths, gap) > room {
        let shrinkable = (0..columns).filter(|k| widths[*k] > minimum[*k]);
        let cheapest = shrinkable.min_by_key(|k| (lines(*k, widths[*k] - 1), std::cmp::Reverse(widths[*k]), *k));
        let Some(k) = cheapest else { break };
        widths[k] -= 1;
    }
    (widths, gap)
}

/// Wraps a cell at spaces; a heading also after `_` and `.`, so that long metric names do not widen their column.
fn wrap_cell(cell: &str, width: usize, is_head: bool) -> Vec<String> {
    if !is_head {
        return wrap(cell, width);
    }
    let held = cell.replace(" %", "\u{a0}%");
    let mut lines: Vec<String> = Vec::new();
    for part in held.split_inclusive([' ', '_', '.']) {
        let length = part.trim_end().chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + length <= width => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().replace('\u{a0}', " ")).collect()
}

/// Returns the cells of a row as a list: one line per cell that is not empty, with its heading. Cells after the first
/// column are indented.
fn record_lines(head: &[String], row: &[String]) -> Vec<String> {
    let cells = head.iter().zip(row).enumerate().filter(|(_, (_, cell))| !cell.is_empty());
    let line = |(k, (name, cell)): (usize, (&String, &String))| {
        let indent = if k == 0 { INDENT } else { 2 * INDENT };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{:indent$}{name}{cell}", "")
    };
    cells.map(line).collect()
}

/// Returns the lines of one row, without trailing spaces.
fn row_lines(row: &[String], is_head: bool, widths: &[usize], gap: usize) -> Vec<String> {
    let wrapped = row.iter().zip(widths).map(|(cell, width)| {
        if cell.chars().count() > *width { wrap_cell(cell, *width, is_head) } else { vec![cell.clone()] }
    });
    let cells: Vec<Vec<String>> = wrapped.collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let line = |at: usize| {
        let mut line = " ".repeat(INDENT);
        for (k, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let part = cell.get(at).map_or("", String::as_str);
            line.push_str(&match k {
                0 => format!("{part:<width$}"),
                _ => format!("{:gap$}{part:>width$}", ""),
            });
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}
