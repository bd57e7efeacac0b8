//! A comparison as CSV and Markdown tables, and the CSV table of its replications.

use crate::console::compare::conclusion;
use crate::estimates::{COLUMNS, MISSING_COLUMNS, metric_cells};
use crate::table::Table;
use sim_analysis::experiment::{CompareVerdict, SimulatedVariant, VariantComparison, metrics, unnamed};
use std::fmt::Write;

/// Returns a row per variant and metric, followed by a row per pair of variants and metric.
pub fn estimates(all: &VariantComparison) -> Table {
    let header = ["kind", "a", "b", "metric"];
    let header: Vec<&str> = [&header[..], &COLUMNS, &MISSING_COLUMNS, &["verdict", "needed"]].concat();
    let columns = header.len();
    let mut table = Table::new(header);
    let number = |v: Option<f64>| v.filter(|v| v.is_finite()).map_or(String::new(), |v| v.to_string());
    for v in &all.variants {
        for metric in &all.metrics {
            let Some(e) = v.metrics.get(metric) else {
                continue;
            };
            let named = ["variant", &v.name, "", metric].map(str::to_owned);
            let mut row = [&named[..], &metric_cells(e)].concat();
            row.resize(columns, String::new());
            table.push(row);
        }
    }
    for p in &all.paired {
        let mut row = vec![
            "paired".to_owned(),
            p.a.clone(),
            p.b.clone(),
            p.metric.clone(),
            p.difference.n.to_string(),
            number(Some(p.difference.mean)),
            number(Some(p.difference.ci95[0])),
            number(Some(p.difference.ci95[1])),
        ];
        row.resize(columns - 2, String::new());
        row.push(verdict_word(p.verdict).to_owned());
        row.push(p.needed.map_or(String::new(), |n| n.to_string()));
        table.push(row);
    }
    table
}

fn verdict_word(verdict: CompareVerdict) -> &'static str {
    match verdict {
        CompareVerdict::A => "a",
        CompareVerdict::B => "b",
        CompareVerdict::Inconclusive => "inconclusive",
        CompareVerdict::NoDifference => "noDifference",
        CompareVerdict::CompletesLess => "completesLess",
    }
}

/// Returns `replications.csv` with a row per replication and variant. Metrics are exact; cells of undefined metrics
/// are empty.
pub fn replications(seed: u64, variants: &[SimulatedVariant]) -> Table {
    let mut names: Vec<String> = Vec::new();
    for variant in variants {
        for r in &variant.replications {
            for (name, _) in metrics(r, &variant.jobsets) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    let head = ["variant", "replication", "seed", "outcome", "end_reason", "digest"].map(str::to_owned);
    let header: Vec<String> = head.into_iter().chain(names.iter().cloned()).collect();
    let mut table = Table::new(header);
    for variant in variants {
        for r in &variant.replications {
            let measured = metrics(r, &variant.jobsets);
            let value = |name: &String| {
                let matching = measured.iter().find(|(known, _)| known == name);
                let value = matching.map_or(unnamed(name, r), |(_, m)| *m).value();
                value.map_or(String::new(), |v| v.to_string())
            };
            let head = [
                variant.name.clone(),
                r.replication.to_string(),
                seed.to_string(),
                r.outcome().as_str().to_owned(),
                r.end_reason.to_owned(),
                format!("{:016x}", r.digest),
            ];
            let row = head.into_iter().chain(names.iter().map(value));
            table.push(row);
        }
    }
    table
}

/// Returns Markdown for a design document: the conclusion, a table of means and a table of differences.
pub fn markdown(all: &VariantComparison) -> String {
    let mut out = format!("{}\n\n", escape_cell(&conclusion(all)));
    for v in &all.variants {
        let _ = writeln!(out, "- {}: {}", escape_cell(&v.name), v.outcomes);
    }
    out.push('\n');
    let names: Vec<String> = all.variants.iter().map(|v| escape_cell(&v.name)).collect();
    let _ = writeln!(out, "| metric | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(names.len()));
    for metric in &all.metrics {
        let one = |v: &sim_analysis::experiment::VariantEstimates| match v.metrics.get(metric) {
            Some(e) if e.n > 0 => {
                let [mean, low, high] = [e.mean, e.ci95.map(|c| c[0]), e.ci95.map(|c| c[1])];
                let [mean, low, high] = [mean, low, high].map(|v| format_short(v.unwrap_or(f64::NAN)));
                let excluded = match e.excluded() {
                    0 => String::new(),
                    n => format!("; {n} runs excluded"),
                };
                format!("{mean} ({low} to {high}; n {}{excluded})", e.n)
            }
            _ => "-".to_owned(),
        };
        let cells: Vec<String> = all.variants.iter().map(one).collect();
        let _ = writeln!(out, "| {} | {} |", escape_cell(metric), cells.join(" | "));
    }
    let _ = writeln!(out, "\n| difference | metric | mean | 95 % interval | n | better |");
    let _ = writeln!(out, "|---|---|---|---|---|---|");
    for p in &all.paired {
        let d = &p.difference;
        let better = match p.verdict {
            CompareVerdict::A => escape_cell(&p.a),
            CompareVerdict::B => escape_cell(&p.b),
            CompareVerdict::Inconclusive => "inconclusive".to_owned(),
            CompareVerdict::NoDifference => "no difference".to_owned(),
            CompareVerdict::CompletesLess => "completes less often".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {} − {} | {} | {} | {} to {} | {} | {better} |",
            escape_cell(&p.b),
            escape_cell(&p.a),
            escape_cell(&p.metric),
            format_short(d.mean),
            format_short(d.ci95[0]),
            format_short(d.ci95[1]),
            d.n
        );
    }
    out
}

/// Escapes a table cell: `|` is escaped and line breaks become spaces.
pub(crate) fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn format_short(v: f64) -> String {
    match v {
        v if !v.is_finite() => "-".to_owned(),
        v if v == v.trunc() && v.abs() < 1e15 => format!("{v}"),
        v if v.abs() < 100.0 => format!("{v:.3}"),
        v => format!("{v:.1}"),
    }
}
