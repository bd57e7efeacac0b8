//! The suite as text, CSV and Markdown: times by case, strategy and size, and changes.

use super::against::{BaselineReport, MovedRow, changed_inputs, moved, signed};
use super::conditions::{BaselineComparison, CheckedConditions};
use super::row::BenchRow;
use sim_analysis::format::{column, count, exact_seconds, seconds, thousands};
use sim_analysis::metrics::Phase;
use sim_base::Duration;
use sim_base::escape::for_markdown;
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::table::Table;
use std::fmt::Write;

/// Maximum number of changed rows that are listed.
const WORST: usize = 10;

pub fn text(reports: &BaselineComparison<'_>, checked: &[CheckedConditions], style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let report = reports.now;
    for (plane, rows) in planes(report) {
        let _ = writeln!(out, "{}", style.bold(&plane));
        table(&mut out, &rows, style);
        out.push('\n');
    }
    let reasons = report.rows.iter().filter_map(|row| Some((row, row.reason.as_ref()?)));
    for (row, reason) in reasons.take(WORST) {
        let never = if row.ttr_ns.is_none() { "never: " } else { "" };
        let _ = writeln!(out, "  {}: {never}{reason}", row.key.text());
    }
    if let Some(before) = reports.before {
        changes(&mut out, report, before);
        for (row, reason) in reports.missing.reasons(|_| true).iter().take(WORST) {
            let _ = writeln!(out, "  {row}: {reason}");
        }
    }
    for c in checked {
        let _ = writeln!(out, "{}", verdict(c));
    }
    if !report.not_run.is_empty() {
        let _ = writeln!(out, "not run:");
        for line in &report.not_run {
            for (i, line) in sim_analysis::format::wrap(line, style.width - 4).iter().enumerate() {
                let _ = writeln!(out, "{} {line}", if i == 0 { "  -" } else { "   " });
            }
        }
    }
    out
}

/// Groups rows by control plane, in order.
pub(super) fn planes(report: &BaselineReport) -> Vec<(String, Vec<&BenchRow>)> {
    let mut all: Vec<(String, Vec<&BenchRow>)> = Vec::new();
    for row in &report.rows {
        let several = match row.replications.len() {
            0 => String::new(),
            n => format!(", p50 / p95 of {}", count(n as u64, "replication")),
        };
        let plane = format!("{}, Kubernetes {}: time to recover{several}", row.key.preset, row.key.kubernetes);
        match all.iter_mut().find(|(known, _)| *known == plane) {
            Some((_, rows)) => rows.push(row),
            None => all.push((plane, vec![row])),
        }
    }
    all
}

/// Returns the cluster sizes in ascending order.
pub(super) fn sizes(rows: &[&BenchRow]) -> Vec<u64> {
    let mut sizes: Vec<u64> = rows.iter().map(|r| r.key.nodes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns the pairs of case and strategy, in order.
pub(super) fn lines<'r>(rows: &[&'r BenchRow]) -> Vec<(&'r str, &'r str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let line = (row.key.case.as_str(), row.key.strategy.as_str());
        if !all.contains(&line) {
            all.push(line);
        }
    }
    all
}

pub(super) fn cell(rows: &[&BenchRow], (case, strategy): (&str, &str), nodes: u64) -> String {
    let mut rows = rows.iter();
    let matching = rows.find(|r| r.key.case == case && r.key.strategy == strategy && r.key.nodes == nodes);
    let Some(row) = matching else {
        return String::new();
    };
    if row.replications.is_empty() {
        return row.ttr().map_or("never".to_owned(), seconds);
    }
    let [low, high] = [0.5, 0.95].map(|q| row.quantile_s(q));
    let text = |s: f64| {
        let finite = Some(s).filter(|s| s.is_finite());
        finite.map_or("never".to_owned(), |s| seconds(Duration::from_seconds_f64(s)))
    };
    format!("{} / {}", text(low), text(high))
}

fn table(out: &mut String, rows: &[&BenchRow], style: &WaterfallStyle) {
    let sizes = sizes(rows);
    let lines = lines(rows);
    let widest = column(lines.iter().map(|(case, _)| *case), 4);
    let column = if rows.iter().any(|r| !r.replications.is_empty()) { 19 } else { 13 };
    let mut head = format!("  {:<widest$} {:<16}", "case", "strategy");
    for size in &sizes {
        let _ = write!(head, " {:>column$}", count(*size, "node"));
    }
    let _ = writeln!(out, "{}", style.dim(&head));
    for line in lines {
        let _ = write!(out, "  {:<widest$} {:<16}", line.0, line.1);
        for size in &sizes {
            let _ = write!(out, " {:>column$}", cell(rows, line, *size));
        }
        let _ = writeln!(out);
    }
}

fn changes(out: &mut String, now: &BaselineReport, before: &BaselineReport) {
    let all = moved(now, before);
    let new = now.rows.iter().filter(|r| before.find(r).is_none()).count();
    let same = now.rows.len() - all.len() - new;
    let _ = writeln!(
        out,
        "Compared with the baseline of {}: {} unchanged, {} changed, {} new",
        before.version,
        count(same as u64, "row"),
        thousands(all.len() as u64),
        thousands(new as u64)
    );
    for m in all.iter().take(WORST) {
        let _ = writeln!(out, "  {}", change(m));
    }
    for inputs in changed_inputs(now, before) {
        let _ = writeln!(out, "  {}", inputs.text());
    }
    if all.len() > WORST {
        let _ = writeln!(out, "  and {} more", thousands((all.len() - WORST) as u64));
    }
}

/// Formats a changed row as one line.
pub fn change(m: &MovedRow<'_>) -> String {
    let time = |ns: Option<u64>| ns.map_or("never".to_owned(), |ns| seconds(Duration(ns)));
    let mut text = format!("{}: {} -> {}", m.row.key.text(), time(m.before.ttr_ns), time(m.row.ttr_ns));
    if let Some(change) = m.change_ns {
        let percent = m.share() * 100.0;
        let _ = write!(text, " ({}, {percent:+.2} %)", signed(change, seconds));
    }
    // Phases of a run that never recovers do not explain why.
    if m.row.ttr_ns.is_none() {
        let reason = m.row.reason.as_deref().unwrap_or("not all pods became ready again");
        let _ = write!(text, ": {reason}");
        return text;
    }
    if let Some((phase, by)) = &m.phase {
        let _ = write!(text, "; phase {phase} {}", signed(*by, seconds));
    }
    if let Some((wait, by)) = &m.wait {
        let _ = write!(text, "; wait for {wait} {}", signed(*by, seconds));
    }
    text
}

pub fn value(c: &CheckedConditions, value: f64) -> String {
    match c.is_share {
        true => format!("{:+.3} %", value * 100.0),
        false => format!("{}", (value * 1e3).round() / 1e3),
    }
}

/// Formats the result of a condition.
pub fn verdict(c: &CheckedConditions) -> String {
    let value = value(c, c.value);
    match (c.failed, c.rows.len()) {
        (false, _) => format!("passed: {} is false", c.condition),
        (true, 0) => format!("FAILED: {} (value: {value})", c.condition),
        (true, n) => format!("FAILED: {} in {} (worst value: {value})", c.condition, count(n as u64, "row")),
    }
}

/// Returns a CSV table with one line per row; times are in seconds with all digits.
pub fn csv(report: &BaselineReport) -> Vec<u8> {
    let head = ["case", "nodes", "strategy", "preset", "kubernetes", "ttr_s", "restarts"];
    let phases = Phase::ALL.iter().map(|p| format!("{}_s", p.as_str()));
    let head = head.map(str::to_owned).into_iter().chain(phases);
    let last = ["digest", "replications", "ttr_p50_s", "ttr_p95_s"];
    let head: Vec<String> = head.chain(last.map(str::to_owned)).collect();
    let mut table = Table::new(head);
    for row in &report.rows {
        let k = &row.key;
        let ttr = row.ttr_ns.map_or(String::new(), |ns| exact_seconds(u128::from(ns)));
        let mut cells = vec![
            k.case.clone(),
            k.nodes.to_string(),
            k.strategy.clone(),
            k.preset.clone(),
            k.kubernetes.clone(),
            ttr,
            row.restarts.to_string(),
        ];
        cells.extend(Phase::ALL.map(|p| exact_seconds(u128::from(row.phase(p).0))));
        cells.extend([row.digest.clone(), row.samples().len().to_string()]);
        let quantile = |q: f64| Some(row.quantile_s(q)).filter(|s| s.is_finite());
        cells.extend([0.5, 0.95].map(|q| quantile(q).map_or(String::new(), |s| s.to_string())));
        table.push(cells);
    }
    table.csv()
}

/// Returns Markdown for a comment on a pull request: changes first, then the tables.
pub fn markdown(reports: &BaselineComparison<'_>, checked: &[CheckedConditions]) -> String {
    let mut out = "## Time to recover\n\n".to_owned();
    let report = reports.now;
    for c in checked {
        let mark = if c.failed { "❌" } else { "✅" };
        let _ = writeln!(out, "{mark} {}\n", verdict(c));
    }
    if let Some(before) = reports.before {
        let all = moved(report, before);
        let _ =
            writeln!(out, "{} changed of {}.\n", count(all.len() as u64, "row"), thousands(report.rows.len() as u64));
        let missing = reports.missing.reasons(|_| true);
        for (row, reason) in missing.iter().take(WORST) {
            let _ = writeln!(out, "- {}: {reason}", for_markdown(row));
        }
        for inputs in changed_inputs(report, before) {
            let _ = writeln!(out, "- {}", for_markdown(&inputs.text()));
        }
        for m in all.iter().filter(|m| m.row.ttr_ns.is_none()).take(WORST) {
            let _ = writeln!(out, "- {}", for_markdown(&change(m)));
        }
        if !out.ends_with("\n\n") {
            out.push('\n');
        }
        if !all.is_empty() {
            let head = ["", "row", "before", "now", "change", "phase", "wait"];
            let table = Table::new(head).with_number_columns(&[2, 3, 4]);
            out.push_str(&table.with_rows(all.iter().take(WORST).map(moved_row)).markdown());
        }
        out.push('\n');
    }
    for (plane, rows) in planes(report) {
        let sizes = sizes(&rows);
        let heads = sizes.iter().map(|s| count(*s, "node"));
        let numbers: Vec<usize> = (2..2 + sizes.len()).collect();
        let head = ["case", "strategy"].into_iter().map(str::to_owned).chain(heads);
        let mut table = Table::new(head).with_number_columns(&numbers);
        for line in lines(&rows) {
            let cells = sizes.iter().map(|s| cell(&rows, line, *s));
            table.push([line.0.to_owned(), line.1.to_owned()].into_iter().chain(cells));
        }
        let _ = write!(out, "### {plane}\n\n{}", table.markdown());
        out.push('\n');
    }
    out
}

fn moved_row(m: &MovedRow<'_>) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or("never".to_owned(), |ns| seconds(Duration(ns)));
    let by = |part: &Option<(String, i128)>| match part {
        Some((name, by)) => format!("{name} {}", signed(*by, seconds)),
        None => String::new(),
    };
    let arrow = if m.share() > 0.0 { "▲" } else { "▼" };
    vec![
        arrow.to_owned(),
        m.row.key.text(),
        time(m.before.ttr_ns),
        time(m.row.ttr_ns),
        format!("{:+.2} %", m.share() * 100.0),
        by(&m.phase),
        by(&m.wait),
    ]
}
