//! Findings as text, JSON, CSV and Markdown.

use crate::{cli::failure::CommandFailure, cli::lint::args::LintFormat, cli::lint::sarif::all_traps};
use serde_json::{Value, json};
use sim_analysis::format::wrap;
use sim_base::escape::for_markdown;
use sim_lint::{FindingKind, LintFinding, LintReport, LintTrap, TrapSeverity};
use sim_report::table::Table;
use std::fmt::Write;

/// Options for text output.
pub struct LintLayout {
    pub color: bool,
    /// Width of a line in columns.
    pub width: usize,
    /// Whether to print the summary line.
    pub verbose: bool,
}

pub fn render(format: LintFormat, report: &LintReport, shape: &LintLayout) -> Result<String, CommandFailure> {
    match format {
        LintFormat::Text => Ok(text(report, shape)),
        LintFormat::Json => pretty(&as_json(report)),
        LintFormat::Csv => Ok(csv(report)),
        LintFormat::Md => Ok(markdown(report)),
        LintFormat::Sarif => pretty(&super::sarif::sarif(Some(report))),
    }
}

fn pretty(value: &Value) -> Result<String, CommandFailure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|t| t + "\n").map_err(|e| CommandFailure::Internal(e.to_string()))
}

fn text(report: &LintReport, shape: &LintLayout) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        format_finding(&mut out, finding, shape);
    }
    if shape.verbose {
        out.push_str(&last_line(report));
    }
    out
}

fn format_finding(out: &mut String, f: &LintFinding, shape: &LintLayout) {
    let complete = f.diagnostic.fitted(shape.width).to_string();
    let body = complete.strip_prefix("error: ").unwrap_or(&complete);
    let lead = format!("{}[{}]", f.severity.as_str(), f.name);
    let painted = match (shape.color, f.severity) {
        (false, _) => lead.clone(),
        (true, TrapSeverity::Error) => format!("\u{1b}[1;31m{lead}\u{1b}[0m"),
        (true, TrapSeverity::Warning) => format!("\u{1b}[1;33m{lead}\u{1b}[0m"),
    };
    let (title, place) = body.split_once('\n').unwrap_or((body, ""));
    let title = format!("{lead}: {title}");
    let title = wrap(&title, shape.width - 2).join("\n  ");
    let _ = writeln!(out, "{}\n{place}", title.replacen(&lead, &painted, 1));
    let gutter = " ".repeat(f.diagnostic.line.to_string().len());
    let rules = f.rules.join(", ");
    let server = f.server.as_deref().unwrap_or("");
    let notes = [
        ("consequence", f.consequence.as_str()),
        ("fix", f.fix.as_str()),
        ("server", server),
        ("rules", rules.as_str()),
    ];
    for (what, note) in notes.iter().filter(|(_, note)| !note.is_empty()) {
        let indent = gutter.len() + 3;
        let room = shape.width.saturating_sub(indent + 2);
        let lines = wrap(&format!("{what}: {note}"), room);
        let next = format!("\n{}", " ".repeat(indent + 2));
        let _ = writeln!(out, "{gutter} = {}", lines.join(&next));
    }
    out.push('\n');
}

fn last_line(report: &LintReport) -> String {
    let count = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    };
    let (errors, warnings) = (report.traps(TrapSeverity::Error), report.traps(TrapSeverity::Warning));
    let jobsets = count(report.examined, "JobSet", "JobSets");
    if report.findings.is_empty() {
        return format!("{jobsets}: no findings\n");
    }
    let rejected = match report.rejected() {
        0 => "accepted".to_owned(),
        n => count(n, "error of the API server", "errors of the API server"),
    };
    format!(
        "{jobsets}: {rejected}; traps: {}, {}\n",
        count(errors, "error", "errors"),
        count(warnings, "warning", "warnings")
    )
}

fn as_json(report: &LintReport) -> Value {
    let findings: Vec<Value> = report.findings.iter().map(finding_json).collect();
    let mut value = json!({
        "schema": "jobset-sim/lint/v1",
        "jobSets": report.examined,
        "rejected": report.rejected(),
        "errors": report.traps(TrapSeverity::Error),
        "warnings": report.traps(TrapSeverity::Warning),
        "findings": findings,
    });
    if let Some(why) = &report.not_simulated {
        value["notSimulated"] = why.as_str().into();
    }
    value
}

fn finding_json(f: &LintFinding) -> Value {
    let d = &f.diagnostic;
    let mut value = json!({
        "kind": f.kind.as_str(),
        "name": f.name,
        "severity": f.severity.as_str(),
        "rules": f.rules,
        "jobSet": f.jobset,
        "file": d.file,
        "line": d.line,
        "column": d.column,
        "snippet": d.snippet,
        "message": d.message,
    });
    let optional = [
        ("legal", d.legal.as_deref()),
        ("suggestion", d.suggestion.as_deref()),
        ("consequence", Some(f.consequence.as_str())),
        ("fix", Some(f.fix.as_str())),
        ("server", f.server.as_deref()),
    ];
    for (key, text) in optional {
        if let Some(text) = text.filter(|t| !t.is_empty()) {
            value[key] = text.into();
        }
    }
    value
}

const COLUMNS: [&str; 11] =
    ["kind", "name", "severity", "rules", "jobset", "file", "line", "column", "message", "consequence", "fix"];

/// Formats a table as CSV.
fn text_of(table: Table) -> String {
    String::from_utf8_lossy(&table.csv()).into_owned()
}

fn csv(report: &LintReport) -> String {
    let row = |f: &LintFinding| {
        let d = &f.diagnostic;
        let message = match (&f.server, f.kind) {
            (Some(server), FindingKind::Rejected) => format!("{} ({server})", d.message),
            _ => d.message.clone(),
        };
        vec![
            f.kind.as_str().to_owned(),
            f.name.to_owned(),
            f.severity.as_str().to_owned(),
            f.rules.join(" "),
            f.jobset.clone(),
            d.file.clone(),
            d.line.to_string(),
            d.column.to_string(),
            message,
            f.consequence.clone(),
            f.fix.clone(),
        ]
    };
    text_of(Table::new(COLUMNS).with_rows(report.findings.iter().map(row)))
}

fn markdown(report: &LintReport) -> String {
    let row = |f: &LintFinding| {
        let d = &f.diagnostic;
        let server = f.server.as_deref().map(for_markdown);
        vec![
            format!("{} `{}`", f.severity.as_str(), f.name),
            format!("{}:{}", d.file, d.line),
            d.message.clone(),
            server.unwrap_or_else(|| f.consequence.clone()),
            f.fix.clone(),
        ]
    };
    let table = Table::new(["", "location", "finding", "consequence", "fix"]).with_markdown_columns(&[0, 3, 4]);
    let mut out = table.with_rows(report.findings.iter().map(row)).markdown();
    out.push('\n');
    out.push_str(&last_line(report));
    out
}

pub fn table_sarif() -> Result<String, CommandFailure> {
    pretty(&super::sarif::sarif(None))
}

pub fn table_json() -> Result<String, CommandFailure> {
    let traps = all_traps().map(|(theme, t)| trap(theme, t));
    pretty(&Value::Array(traps.collect()))
}

/// Returns a trap as JSON.
pub fn trap_json(name: &str) -> Result<String, CommandFailure> {
    let matching = all_traps().find(|(_, t)| t.name == name);
    pretty(&matching.map_or(Value::Null, |(theme, t)| trap(theme, t)))
}

fn trap(theme: &str, t: &LintTrap) -> Value {
    json!({
        "name": t.name,
        "theme": theme,
        "severity": t.severity.as_str(),
        "rules": t.rules,
        "title": t.title,
        "consequence": t.consequence,
        "fix": t.fix,
        "needs": t.check.needs(),
    })
}

pub fn table_csv() -> String {
    let head = ["name", "theme", "severity", "rules", "title", "consequence", "fix", "needs"];
    let row = |(theme, t): (&str, &LintTrap)| {
        vec![
            t.name.to_owned(),
            theme.to_owned(),
            t.severity.as_str().to_owned(),
            t.rules.join(" "),
            t.title.to_owned(),
            t.consequence.to_owned(),
            t.fix.to_owned(),
            t.check.needs().to_owned(),
        ]
    };
    text_of(Table::new(head).with_rows(all_traps().map(row)))
}
