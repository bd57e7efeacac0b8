//! Console tables with a marked row.

use super::WaterfallStyle;
use crate::table::Table;

/// Returns a text per row of a table, which may have several lines. The first of `rows` is the header, which is absent
/// from the result if the rows are too wide for a table; rows for which `is_marked` returns true end with an arrow.
pub fn columns(rows: &[Vec<String>], is_marked: impl Fn(usize) -> bool, style: &WaterfallStyle) -> Vec<String> {
    let Some((head, rows)) = rows.split_first() else {
        return Vec::new();
    };
    let table = Table::new(head.iter().map(String::as_str)).with_rows(rows.iter().cloned());
    let mark = if style.unicode { "  ◄" } else { "  <" };
    let text = table.text(is_marked, mark, style.width);
    let has_head = text.len() > table.rows.len();
    let dimmed = |at: usize, line: &String| if at == 0 && has_head { style.dim(line) } else { line.clone() };
    let row = |(at, lines): (usize, &Vec<String>)| lines.iter().map(|line| dimmed(at, line)).collect::<Vec<_>>();
    text.iter().enumerate().map(|row_lines| row(row_lines).join("\n")).collect()
}
