//! The short form of a comparison: one table of the main metrics.

use super::{
    caveats, deciding_metric, estimates, format_metric_value, grows_until_end, has_running, is_headline_metric,
    metric_estimates, split_by_difference,
};
use crate::{console::waterfall::WaterfallStyle, planning::columns::columns};
use sim_analysis::experiment::{CompareVerdict, MetricEstimate, VariantComparison};
use sim_analysis::format::{count, wrap};
use std::fmt::Write;

/// Maximum number of lines of the short form, unless there are many variants.
const SHORT_LINES: usize = 25;

/// Metrics that answer most questions, in the order of tables. Of each entry, the first metric with values is printed.
pub(crate) const MAIN_METRICS: [&[&str]; 10] = [
    &["timeToComplete_s", "end.t_s", "training_time_h"],
    &["goodput", "effective_training_ratio"],
    &["ettr"],
    &["stepTime_s"],
    &["exposedShare"],
    &["interruptions", "failures"],
    &["restarts"],
    &["restartBudgetUsed"],
    &["restartLatency_s.p50"],
    &["cost.toComplete", "cost.total"],
];

/// Writes one table: the metric of the conclusion and the main metrics in which the variants differ. Caveats follow as
/// far as they fit.
pub(super) fn write(out: &mut String, all: &VariantComparison, style: &WaterfallStyle) {
    let (differing, _) = split_by_difference(all);
    let room = SHORT_LINES.saturating_sub(out.lines().count() + 4) / all.variants.len().max(1);
    let is_open = has_running(all);
    let main = MAIN_METRICS.iter().flat_map(|names| {
        let has_value = |metric: &&&str| metric_estimates(all, metric).any(|e| e.n > 0);
        let of_name = |name: &'static str| -> Vec<&str> {
            let own = differing.iter().filter(|m| is_headline_metric(m, name));
            let own = own.filter(|m| !(is_open && grows_until_end(m)));
            own.filter(has_value).copied().collect()
        };
        let mut own = names.iter().map(|name| of_name(name));
        own.find(|metrics| !metrics.is_empty()).unwrap_or_default()
    });
    let completion_differs = all.paired.iter().any(|p| p.metric == "completed" && p.completed.is_some());
    let mut metrics: Vec<&str> = completion_differs.then_some("completed").into_iter().collect();
    metrics.extend(deciding_metric(all).filter(|metric| !metrics.contains(metric)));
    for metric in main {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics.truncate(room.max(1));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for metric in metrics {
        rows.extend(main_rows(all, metric));
    }
    if !rows.is_empty() {
        let head = ["metric", "variant", "mean", "difference (95 % interval)", "verdict"];
        rows.insert(0, head.map(str::to_owned).to_vec());
        columns(out, &rows, |_| false, style);
        out.push('\n');
    }
    let more = count(all.metrics.len() as u64, "metric");
    let more =
        format!("{more} in total: --all prints each with its quantiles and all caveats, --metric NAME one of them.");
    let mut lines = wrap(&more, style.width);
    for caveat in caveats(all, &[]) {
        let caveat = wrap(&caveat, style.width);
        if out.lines().count() + lines.len() + caveat.len() <= SHORT_LINES {
            lines.splice(0..0, caveat);
        }
    }
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
}

/// Returns the rows of a metric: one per variant, with the difference from the first.
fn main_rows(all: &VariantComparison, metric: &str) -> Vec<Vec<String>> {
    let Some(first) = all.variants.first() else {
        return Vec::new();
    };
    let value = |v: f64| format_metric_value(metric, v);
    let mean = |e: &MetricEstimate| {
        let mean = e.mean.map_or("-".to_owned(), value);
        if e.excluded() > 0 && e.n > 0 { format!("{mean} (n {})", e.n) } else { mean }
    };
    let row = |(i, (name, e)): (usize, (&str, &MetricEstimate))| {
        let pair = all.pair(&first.name, name, metric);
        let difference = pair.map_or(String::new(), |p| {
            let [low, high] = p.difference.ci95.map(value);
            let mean = value(p.difference.mean);
            if p.difference.n > 1 { format!("{mean} ({low} to {high})") } else { mean }
        });
        let verdict = pair.map_or("", |p| match p.verdict {
            CompareVerdict::A => "worse",
            CompareVerdict::B => "better",
            CompareVerdict::Inconclusive => "inconclusive",
            CompareVerdict::NoDifference => "no difference",
            CompareVerdict::CompletesLess => "completes less",
        });
        let metric = if i == 0 { metric } else { "" };
        let cells = [metric, name, &mean(e), &difference, verdict];
        cells.map(str::to_owned).to_vec()
    };
    estimates(all, metric).enumerate().map(row).collect()
}
