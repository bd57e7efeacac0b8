//! The short form of a comparison: one table of the main metrics.

use super::{
    caveats, conclusion, deciding_metric, estimates, format_metric_row, format_metric_value, grows_until_end,
    has_running, is_headline_metric, metric_estimates, money, multiplicity_note, split_by_difference, title, variants,
};
use crate::console::page::{Block, Page, Rank, wrapped};
use crate::console::style::Detail;
use crate::{console::waterfall::WaterfallStyle, planning::columns::columns};
use sim_analysis::experiment::{CompareVerdict, MetricEstimate, VariantComparison};
use sim_analysis::format::{count, wrap};

/// Maximum number of lines of the short form.
const LINES: usize = 25;
/// Maximum number of lines of the conclusion in the short form.
const CONCLUSION_LINES: usize = 6;
/// Number of rows about the conclusion that the table always has.
const ROWS_MIN: usize = 6;

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

/// Returns the short form: the conclusion, the metric of the conclusion, the other main metrics in which the variants
/// differ, and caveats.
pub(super) fn text(all: &VariantComparison, style: &WaterfallStyle) -> String {
    let style = &WaterfallStyle { detail: Detail::Brief, ..*style };
    let mut page = Page::new(LINES, style);
    page.push(Block::text(Rank::Answer, title(all, style)));
    let conclusion = wrapped(&conclusion(all, &[]), style.width, CONCLUSION_LINES, style);
    page.push(Block::text(Rank::Answer, conclusion.join("\n")));
    page.push(Block::new(Rank::Support, "").entries(variants(all, false)).noun("variant").minimum(2, 0));
    push_table(&mut page, all, style);
    if let Some(note) = multiplicity_note(all) {
        page.push(Block::text(Rank::Answer, wrap(&note, style.width - 2).join("\n  ")).attached());
    }
    let caveats = caveats(all, &[]);
    let caveats = caveats.iter().map(|caveat| wrap(caveat, style.width - 2).join("\n  "));
    page.push(Block::new(Rank::Note, "").entries(caveats).noun("caveat"));
    let more = format!(
        "More: --verbose (all {} with quantiles), --metric NAME (one of them), --out DIR.",
        count(all.metrics.len() as u64, "metric")
    );
    page.push(Block::text(Rank::Answer, more));
    page.finish()
}

/// Adds the table: first the metrics of the conclusion, then the other main metrics in which the variants differ.
fn push_table(page: &mut Page<'_>, all: &VariantComparison, style: &WaterfallStyle) {
    let concluding = concluding_metrics(all);
    let others: Vec<&str> = main_metrics(all).into_iter().filter(|metric| !concluding.contains(metric)).collect();
    let of_each: Vec<Vec<Vec<String>>> =
        concluding.iter().chain(&others).map(|metric| main_rows(all, metric)).collect();
    if of_each.is_empty() {
        return;
    }
    let head = ["metric", "variant", "mean", "difference (95 % interval)", "verdict"];
    let rows: Vec<Vec<String>> =
        std::iter::once(head.map(str::to_owned).to_vec()).chain(of_each.iter().flatten().cloned()).collect();
    let mut text = columns(&rows, |_| false, style);
    let head = if text.len() == rows.len() { text.remove(0) } else { String::new() };
    let mut text = text.into_iter();
    let first = of_each.iter().take(concluding.len().max(1)).map(Vec::len).sum();
    let block = Block::new(Rank::Main, head).entries(text.by_ref().take(first)).noun("variant");
    page.push(block.minimum(first.min(ROWS_MIN), 0));
    let others = of_each[concluding.len().max(1)..].iter();
    let others = others.map(|rows| text.by_ref().take(rows.len()).collect::<Vec<_>>().join("\n"));
    page.push(Block::new(Rank::Note, "").entries(others).noun("metric").attached());
}

/// Returns the metrics that the conclusion names.
fn concluding_metrics(all: &VariantComparison) -> Vec<&str> {
    let completion_differs = all.paired.iter().any(|p| p.metric == "completed" && p.completed.is_some());
    let mut metrics: Vec<&str> = completion_differs.then_some("completed").into_iter().collect();
    metrics.extend(deciding_metric(all).filter(|metric| !metrics.contains(metric)));
    metrics
}

/// Returns the main metrics in which the variants differ.
fn main_metrics(all: &VariantComparison) -> Vec<&str> {
    let (differing, _) = split_by_difference(all);
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
    let mut metrics: Vec<&str> = Vec::new();
    for metric in main {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
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
            let [low, high] = p.difference.ci95;
            let row = [p.difference.mean, low, high].map(Some);
            let [mean, low, high] = format_metric_row(metric, row);
            if p.difference.n > 1 { format!("{mean} ({low} to {high})") } else { mean }
        });
        let verdict = pair.map_or("", |p| match p.verdict {
            CompareVerdict::A => "worse",
            CompareVerdict::B => "better",
            CompareVerdict::Inconclusive => "inconclusive",
            CompareVerdict::NoDifference => "no difference",
            CompareVerdict::CompletesLess => "completes less",
        });
        let metric = match (i, money(metric, &all.currency)) {
            (0, Some(currency)) => format!("{metric}, {currency}"),
            (0, None) => metric.to_owned(),
            _ => String::new(),
        };
        let cells = [&metric, name, &mean(e), &difference, verdict];
        cells.map(str::to_owned).to_vec()
    };
    estimates(all, metric).enumerate().map(row).collect()
}
