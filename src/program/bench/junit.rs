//! The suite as JUnit XML: one test per row, and one per condition over all rows.

use super::against::BaselineReport;
use super::conditions::CheckedConditions;
use std::fmt::Write;

pub fn xml(report: &BaselineReport, checked: &[CheckedConditions]) -> String {
    let mut cases = String::new();
    let mut failures = 0;
    for row in &report.rows {
        let name = row.key.text();
        let time = row.ttr_ns.map_or(0.0, |ns| ns as f64 / 1e9);
        let why: Vec<&str> = checked
            .iter()
            .filter(|c| c.rows.contains(&name))
            .map(|c| c.condition.as_str())
            .collect();
        let head = format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{time}\"",
            escaped(&row.key.case),
            escaped(&name)
        );
        failures += usize::from(!why.is_empty());
        case(&mut cases, &head, &why);
    }
    let mut tests = report.rows.len();
    for c in checked.iter().filter(|c| c.rows.is_empty()) {
        tests += 1;
        failures += usize::from(c.failed);
        let head = format!("    <testcase classname=\"fail-if\" name=\"{}\"", escaped(&c.condition));
        let value = format!("{}: the value is {}", c.condition, c.value);
        let why: &[&str] = if c.failed { &[value.as_str()] } else { &[] };
        case(&mut cases, &head, why);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"bench ttr\" tests=\"{tests}\" failures=\"{failures}\">\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn case(out: &mut String, head: &str, why: &[&str]) {
    if why.is_empty() {
        let _ = writeln!(out, "{head}/>");
        return;
    }
    let _ = writeln!(out, "{head}>");
    for text in why {
        let _ = writeln!(out, "      <failure message=\"{}\"/>", escaped(text));
    }
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
