//! HTML rendering of tables.

use super::Table;
use sim_base::escape::for_html;
use std::fmt::Write;

/// Writes the table as HTML. Rows after the first `open` are in a closed `details` element.
pub(crate) fn write_html(out: &mut String, table: &Table) {
    let hidden = table.initial_rows.map_or(0, |open| table.rows.len().saturating_sub(open));
    let (open, more) = table.rows.split_at(table.rows.len() - hidden);
    write_rows(out, table, open);
    if !more.is_empty() {
        let _ = writeln!(out, "<details><summary>{} more</summary>", more.len());
        write_rows(out, table, more);
        out.push_str("</details>\n");
    }
}

fn write_rows(out: &mut String, table: &Table, rows: &[Vec<String>]) {
    let class = |i: usize| {
        if table.columns[i].is_number { " class=\"n\"" } else { "" }
    };
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    for (i, column) in table.columns.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(i), for_html(&column.name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(i), allow_line_breaks(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Allows line breaks after `.`, `/` and `-` in words of more than 18 characters.
fn allow_line_breaks(text: &str) -> String {
    const LONG: usize = 18;
    let word = |word: &str| {
        let text = for_html(word);
        if word.chars().count() > LONG {
            text.replace('.', ".<wbr>").replace('/', "/<wbr>").replace('-', "-<wbr>")
        } else {
            text
        }
    };
    let words: Vec<String> = text.split(' ').map(word).collect();
    words.join(" ")
}
