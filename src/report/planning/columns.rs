//! Console tables with a marked row.

use super::WaterfallStyle;
use crate::table::Table;
use std::fmt::Write;

/// Writes a table. The first of `rows` is the header; rows for which `is_marked` returns true end with an arrow.
pub fn columns(out: &mut String, rows: &[Vec<String>], is_marked: impl Fn(usize) -> bool, style: &WaterfallStyle) {
    let Some((head, rows)) = rows.split_first() else {
        return;
    };
    let table = Table::new(head.iter().map(String::as_str)).with_rows(rows.iter().cloned());
    let mark = if style.unicode { "  ◄" } else { "  <" };
    let text = table.text(is_marked, mark, style.width);
    let has_head = text.len() > table.rows.len();
    for (at, lines) in text.iter().enumerate() {
        for line in lines {
            let line = if at == 0 && has_head { style.dim(line) } else { line.clone() };
            let _ = writeln!(out, "{line}");
        }
    }
}
