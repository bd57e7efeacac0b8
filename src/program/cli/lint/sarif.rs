//! `lint --format sarif`: findings as SARIF 2.1.0, which code hosts and editors show in the source.

use serde_json::{Value, json};
use sim_lint::{FindingKind, LintFinding, LintReport, LintTrap, TrapSeverity, trap_table};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ABOUT: &str = "https://github.com/kubernetes-sigs/jobset";

/// Returns a SARIF document with all traps as rules and the findings as results.
pub fn sarif(report: Option<&LintReport>) -> Value {
    let rules: Vec<Value> = all_rules();
    let findings = report.map_or(&[][..], |r| r.findings.as_slice());
    let results: Vec<Value> = findings.iter().map(|f| result(f, &rules)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "jobset-sim",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": ABOUT,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Returns all traps with their themes.
pub fn all_traps() -> impl Iterator<Item = (&'static str, &'static LintTrap)> {
    trap_table::themes().iter().flat_map(|(theme, traps)| traps.iter().map(move |trap| (theme.as_str(), trap)))
}

fn all_rules() -> Vec<Value> {
    let mut rules = vec![json!({
        "id": "rejected",
        "shortDescription": {"text": "rejected by the API server"},
        "fullDescription": {"text": "The API server, the CRD validation or the JobSet webhooks reject the object."},
        "defaultConfiguration": {"level": "error"},
        "help": {"text": "The message contains the legal values."},
    })];
    rules.extend(all_traps().map(|(theme, trap)| rule(theme, trap)));
    rules
}

fn rule(theme: &str, trap: &LintTrap) -> Value {
    let help = format!("{} {}", trap.consequence, trap.fix);
    json!({
        "id": trap.name,
        "shortDescription": {"text": trap.title},
        "fullDescription": {"text": trap.consequence},
        "defaultConfiguration": {"level": trap.severity.as_str()},
        "help": {"text": help, "markdown": format!("{}\n\n**Fix:** {}", trap.consequence, trap.fix)},
        "properties": {"tags": [theme], "rules": trap.rules},
    })
}

fn result(f: &LintFinding, rules: &[Value]) -> Value {
    let d = &f.diagnostic;
    let index = rules.iter().position(|rule| rule["id"] == f.name);
    let level = match f.severity {
        TrapSeverity::Error => "error",
        TrapSeverity::Warning => "warning",
    };
    let mut text = d.message.clone();
    for (lead, more) in [
        ("", f.server.as_deref().filter(|_| f.kind == FindingKind::Rejected)),
        ("Legal: ", d.legal.as_deref()),
        ("", d.suggestion.as_deref()),
        ("", Some(f.consequence.as_str())),
        ("Fix: ", Some(f.fix.as_str())),
    ] {
        if let Some(more) = more.filter(|t| !t.is_empty()) {
            text.push_str(&format!("\n{lead}{more}"));
        }
    }
    json!({
        "ruleId": f.name,
        "ruleIndex": index.map_or(-1, |i| i as i64),
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": location(f)}],
        "properties": {"jobSet": f.jobset, "rules": f.rules},
    })
}

/// Returns the location of a finding; a finding about the whole file has no region.
fn location(f: &LintFinding) -> Value {
    let d = &f.diagnostic;
    // A JobSet embedded in another object is a separate text that does not exist as a file.
    let (file, inside) = match d.file.split_once('#') {
        Some((file, part)) if part.contains('/') => (file, true),
        _ => (d.file.as_str(), false),
    };
    let mut place = json!({"artifactLocation": {"uri": uri(file)}});
    if d.line > 0 && !inside {
        place["region"] = json!({
            "startLine": d.line,
            "startColumn": d.column.max(1),
            "endColumn": d.column.max(1) + d.len.max(1),
        });
        if !d.snippet.is_empty() {
            place["region"]["snippet"] = json!({"text": d.snippet});
        }
    }
    place
}

/// Converts a path to a relative URI reference.
fn uri(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut out = String::new();
    for byte in path.bytes() {
        if plain(byte) { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/lint/sarif.rs"]
mod tests;
