//! A comparison as CSV and Markdown tables, and the CSV table of its replications.

use crate::console::compare::{conclusion, format_metric_row, format_metric_value, multiplicity_note, unit};
use crate::estimates::{COLUMNS, MISSING_COLUMNS, metric_cells};
use crate::table::Table;
use sim_analysis::experiment::{
    CompareVerdict, MetricEstimate, SimulatedVariant, VariantComparison, VariantEstimates, metrics, unnamed,
};
use sim_base::escape::for_markdown;
use std::fmt::Write;

/// Returns a row per variant and metric, followed by a row per pair of variants and metric.
pub fn estimates(all: &VariantComparison) -> Table {
    let header = ["kind", "a", "b", "metric"];
    let header: Vec<&str> = [&header[..], &COLUMNS, &MISSING_COLUMNS, &["verdict"]].concat();
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
        row.resize(columns - 1, String::new());
        row.push(verdict_word(p.verdict).to_owned());
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
pub fn markdown(all: &VariantComparison, request: &[String]) -> String {
    let mut out = format!("{}\n\n", for_markdown(&conclusion(all, request)));
    if let Some(note) = multiplicity_note(all) {
        let _ = writeln!(out, "{}\n", for_markdown(&note));
    }
    for v in &all.variants {
        let _ = writeln!(out, "- {}: {}", for_markdown(&v.name), v.outcomes);
    }
    let names = all.variants.iter().map(|v| v.name.as_str());
    let mut means = Table::new(["metric"].into_iter().chain(names));
    for metric in &all.metrics {
        let mean = |v: &VariantEstimates| v.metrics.get(metric).map_or("-".to_owned(), |e| mean_cell(metric, e));
        means.push([metric_with_unit(metric)].into_iter().chain(all.variants.iter().map(mean)));
    }
    let head = ["difference", "metric", "mean", "95 % interval", "n", "better"];
    let mut differences = Table::new(head).with_number_columns(&[2, 3, 4]);
    for p in &all.paired {
        let row = [p.difference.mean, p.difference.ci95[0], p.difference.ci95[1]];
        let [mean, low, high] = format_metric_row(&p.metric, row.map(|v| Some(v).filter(|v| v.is_finite())));
        let better = match p.verdict {
            CompareVerdict::A => &p.a,
            CompareVerdict::B => &p.b,
            CompareVerdict::Inconclusive => "inconclusive",
            CompareVerdict::NoDifference => "no difference",
            CompareVerdict::CompletesLess => "completes less often",
        };
        differences.push([
            format!("{} − {}", p.b, p.a),
            metric_with_unit(&p.metric),
            mean,
            format!("{low} to {high}"),
            p.difference.n.to_string(),
            better.to_owned(),
        ]);
    }
    let _ = write!(out, "\n{}\n{}", means.markdown(), differences.markdown());
    out
}

/// Returns the metric with the unit of its values, where they do not contain it.
fn metric_with_unit(metric: &str) -> String {
    match unit(metric).trim_end_matches("; ") {
        unit @ ("accelerator-hours" | "node-hours") => format!("{metric} ({unit})"),
        _ => metric.to_owned(),
    }
}

/// Formats a mean with its interval and number of values: `12.3 s (12.1 s to 12.5 s; n 20)`.
pub(super) fn mean_cell(metric: &str, e: &MetricEstimate) -> String {
    let shown = |v: f64| format_metric_value(metric, v);
    let excluded = match e.excluded() {
        0 => String::new(),
        n => format!("; {n} runs excluded"),
    };
    match (e.mean, e.ci95) {
        (Some(mean), Some([low, high])) if e.n > 1 => {
            format!("{} ({} to {}; n {}{excluded})", shown(mean), shown(low), shown(high), e.n)
        }
        (Some(mean), _) => format!("{} (n {}{excluded})", shown(mean), e.n),
        _ => "-".to_owned(),
    }
}
