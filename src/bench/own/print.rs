//! Rows of the budget as text, CSV and Markdown.

use super::{SelfReport, SelfRow, Unit};
use crate::report::csv::markdown;
use crate::report::waterfall::Style;
use crate::report::words::{with_sign, wrap};
use csv::Writer;
use std::fmt::Write;

fn shown(row: &SelfRow, value: f64) -> String {
    match Unit::of(&row.unit) {
        Some(unit) => unit.shown(value),
        None => value.to_string(),
    }
}

/// A table, and what is not in it.
pub fn text(report: &SelfReport, before: Option<&SelfReport>, style: &Style) -> String {
    let cores = report.cores;
    let width = report.rows.iter().map(|row| row.what.len()).max();
    let width = width.unwrap_or(0).min(style.width.saturating_sub(56));
    let width = width.max(20);
    let mut out = format!(
        "jobset-sim {}: its own speed, {cores} cores{}\n\n",
        report.version,
        match report.trial {
            true => "; rows of a trial are small, and stand to nothing",
            false => "",
        }
    );
    let _ = writeln!(
        out,
        "{:<15} {:<width$} {:>11} {:>10} {:>10}",
        "row", "what", "measured", "must", "aim"
    );
    for row in &report.rows {
        let measured = row.value.map_or("-".to_owned(), |value| shown(row, value));
        let (must, aim) = (shown(row, row.must), shown(row, row.aim));
        let was = before.and_then(|before| before.value(&row.name));
        let change = row.value.zip(was).map_or(String::new(), |(now, was)| {
            format!("  {} %", with_sign((now / was - 1.0) * 100.0, 1))
        });
        let lines = wrap(&row.what, width);
        let (first, rest) = lines
            .split_first()
            .map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
        let name = &row.name;
        let standing = if row.standing == "missed" {
            "MISSED"
        } else {
            &row.standing
        };
        let line = format!(
            "{name:<15} {first:<width$} {measured:>11} {must:>10} {aim:>10}  {standing}{change}"
        );
        let _ = writeln!(out, "{}", line.trim_end());
        rest.iter().for_each(|line| {
            let _ = writeln!(out, "{:<15} {line}", "");
        });
        if !row.why.is_empty() {
            let _ = writeln!(out, "{:<15} not measured: {}", "", row.why);
        }
    }
    let _ = writeln!(out, "\nWall time, of several tries the best one.");
    out
}

/// A row each.
pub fn csv(report: &SelfReport) -> Result<Vec<u8>, String> {
    let mut writer = Writer::from_writer(Vec::new());
    let told = |e: csv::Error| e.to_string();
    let header = ["name", "what", "unit", "value", "must", "aim", "standing"];
    writer.write_record(header).map_err(told)?;
    for row in &report.rows {
        let value = row.value.map_or(String::new(), |value| value.to_string());
        let (must, aim) = (row.must.to_string(), row.aim.to_string());
        let cells = [
            &row.name,
            &row.what,
            &row.unit,
            &value,
            &must,
            &aim,
            &row.standing,
        ];
        writer.write_record(cells).map_err(told)?;
    }
    writer.into_inner().map_err(|e| e.to_string())
}

/// For a comment on a pull request, and `benches/README.md`: numbers as text has them.
pub fn md(report: &SelfReport) -> Result<String, String> {
    let mut writer = Writer::from_writer(Vec::new());
    let told = |e: csv::Error| e.to_string();
    let header = ["row", "what", "measured", "must", "aim", "standing"];
    writer.write_record(header).map_err(told)?;
    for row in &report.rows {
        let measured = row.value.map_or("-".to_owned(), |value| shown(row, value));
        let (must, aim) = (shown(row, row.must), shown(row, row.aim));
        let standing = match row.why.is_empty() {
            true => &row.standing,
            false => &row.why,
        };
        let cells = [&row.name, &row.what, &measured, &must, &aim, standing];
        writer.write_record(cells).map_err(told)?;
    }
    markdown(&writer.into_inner().map_err(|e| e.to_string())?)
}
