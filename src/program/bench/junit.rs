//! The suite as JUnit XML: one test per row, and one per condition that is not evaluated per row. The failure of a row
//! states the value and the phases before and after.

use super::against::{ChangedInputs, MovedRow, changed_inputs};
use super::conditions::{BaselineComparison, CheckedConditions};
use super::print;
use super::row::BenchRow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A failure: the message, and the details.
type JunitFailure = (String, String);

pub fn xml(reports: &BaselineComparison<'_>, checked: &[CheckedConditions]) -> String {
    let mut cases: Vec<(String, Vec<JunitFailure>)> = Vec::new();
    let inputs = reports.before.map(|before| changed_inputs(reports.now, before)).unwrap_or_default();
    for row in &reports.now.rows {
        let name = row.key.text();
        let time = seconds(row.ttr_ns.unwrap_or(0));
        let before = reports.before.and_then(|b| b.find(row));
        let mut failures = Vec::new();
        for c in checked {
            let values = c.rows.iter().filter(|(row, _)| *row == name);
            failures.extend(
                values
                    .map(|(_, v)| (format!("{}: {}", c.condition, print::value(c, *v)), phases(row, before, &inputs))),
            );
            let missing = c.missing.iter().filter(|(row, _)| *row == name);
            failures.extend(missing.map(|(_, reason)| (format!("{}: {reason}", c.condition), String::new())));
        }
        cases.push((format!("{} time=\"{time}\"", attributes(&row.key.case, &name)), failures));
    }
    for c in checked {
        let not_run = c.missing.iter().filter(|(row, _)| !reports.now.rows.iter().any(|r| r.key.text() == *row));
        for (row, reason) in not_run {
            let case = row.split('/').next().unwrap_or_default();
            let failure = (format!("{}: {reason}", c.condition), String::new());
            cases.push((attributes(case, row), vec![failure]));
        }
        if c.rows.is_empty() {
            let failure = (print::verdict(c), String::new());
            let failures = if c.failed { vec![failure] } else { Vec::new() };
            cases.push((attributes("fail-if", &c.condition), failures));
        }
    }
    let (tests, failed) = (cases.len(), cases.iter().filter(|(_, f)| !f.is_empty()).count());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"bench ttr\" tests=\"{tests}\" failures=\"{failed}\">\n"
    );
    for (head, failures) in &cases {
        case(&mut out, head, failures);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn attributes(class: &str, name: &str) -> String {
    format!("classname=\"{}\" name=\"{}\"", escaped(class), escaped(name))
}

/// Formats nanoseconds as seconds with three decimals.
fn seconds(nanos: u64) -> String {
    format!("{:.3}", nanos as f64 / 1e9)
}

/// Formats the change of a row, the changed inputs, and the seconds of each phase before and after.
fn phases(row: &BenchRow, before: Option<&BenchRow>, inputs: &[ChangedInputs]) -> String {
    let mut out = String::new();
    if let Some(before) = before {
        let _ = writeln!(out, "{}", print::change(&MovedRow::new(row, before)));
    }
    for inputs in inputs.iter().filter(|inputs| inputs.case == row.key.case) {
        let _ = writeln!(out, "{}", inputs.text());
    }
    // Phases of a run that never recovers do not explain why.
    if row.ttr_ns.is_none() {
        return out;
    }
    let seconds = |row: &BenchRow, name: &str| seconds(row.phases_ns.get(name).copied().unwrap_or(0));
    let names = row.phases_ns.keys().chain(before.iter().flat_map(|b| b.phases_ns.keys()));
    for name in names.collect::<BTreeSet<_>>() {
        let old = before.map_or(String::new(), |b| format!("{} s before, ", seconds(b, name)));
        let _ = writeln!(out, "{name}: {old}{} s now", seconds(row, name));
    }
    out
}

fn case(out: &mut String, head: &str, failures: &[JunitFailure]) {
    if failures.is_empty() {
        let _ = writeln!(out, "    <testcase {head}/>");
        return;
    }
    // Many readers of JUnit accept only one failure per test.
    let _ = writeln!(out, "    <testcase {head}>");
    let messages: Vec<String> = failures.iter().map(|(message, _)| escaped(message)).collect();
    let mut lines: Vec<String> = Vec::new();
    for line in failures.iter().flat_map(|(_, details)| details.lines()).map(escaped) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let (message, details) = (messages.join("; "), lines.join("\n"));
    let _ = writeln!(out, "      <failure message=\"{message}\">{details}</failure>");
    let _ = writeln!(out, "    </testcase>");
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML cannot represent control characters.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
