//! Tables for people: columns as wide as their cells, the first one to the left.

use super::Style;
use std::fmt::Write;

/// `rows` begin with the head. Rows of which `marked` holds have an arrow.
pub fn columns(
    out: &mut String,
    rows: &[Vec<String>],
    marked: impl Fn(usize) -> bool,
    style: &Style,
) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| row.get(k));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let any = (1..rows.len()).any(|i| marked(i - 1));
    for (i, row) in rows.iter().enumerate() {
        let mut line = String::from("  ");
        for (k, cell) in row.iter().enumerate() {
            let cell = cell.replace('\n', " ");
            let pad = widths[k].saturating_sub(cell.chars().count());
            let pad = " ".repeat(pad);
            let gap = if k == 0 { "" } else { "   " };
            let _ = match k {
                0 => write!(line, "{gap}{cell}{pad}"),
                _ => write!(line, "{gap}{pad}{cell}"),
            };
        }
        if any && i > 0 && marked(i - 1) {
            line.push_str(if style.unicode { "  ◄" } else { "  <" });
        }
        let line = line.trim_end();
        let line = if i == 0 {
            style.dim(line)
        } else {
            line.to_owned()
        };
        let _ = writeln!(out, "{line}");
    }
}
