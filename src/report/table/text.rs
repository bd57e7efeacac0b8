//! Plain-text rendering of tables. The first column is left-aligned, the others are right-aligned.

use super::Table;

/// Maximum width of a column. A longer cell only shifts the rest of its own row.
const WIDEST_CELL: usize = 120;

impl Table {
    /// Returns the header and a line per row, indented by two spaces. Rows for which `is_marked` returns true end
    /// with `mark`.
    pub fn text(&self, is_marked: impl Fn(usize) -> bool, mark: &str) -> Vec<String> {
        let head: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        let cells = self.rows.iter().map(|row| row.iter().map(String::as_str).collect());
        let rows: Vec<Vec<&str>> = std::iter::once(head).chain(cells).collect();
        let width = |k: usize| {
            let cells = rows.iter().filter_map(|row| row.get(k));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.min(WIDEST_CELL)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |(at, row): (usize, &Vec<&str>)| {
            let mut line = String::from("  ");
            for (k, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = cell.replace('\n', " ");
                line.push_str(&match k {
                    0 => format!("{cell:<width$}"),
                    _ => format!("   {cell:>width$}"),
                });
            }
            let marked = at.checked_sub(1).is_some_and(&is_marked);
            line.push_str(if marked { mark } else { "" });
            line.trim_end().to_owned()
        };
        rows.iter().enumerate().map(line).collect()
    }
}
