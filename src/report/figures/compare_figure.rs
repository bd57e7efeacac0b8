//! Layouts of the charts of a comparison: paired differences, accelerator time by category, and distributions.
//!
//! The estimates and intervals come from the comparison and are not computed here.

use super::compare_ledger::{ledger, shares};
pub use super::compare_panel::provenance;
use super::compare_panel::{
    ComparedVariants, PanelAxis, ROW, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, legend, plot_left_edge,
    shrunk_font_size,
};
use super::compare_time::{self, line_width, variant_color};
use crate::console::compare::{
    HEADLINES, estimates, format_metric_value, is_headline_metric, split_by_difference, unit,
};
use crate::draw::heading::MARGIN;
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_width};
use sim_analysis::experiment::{CompareVerdict, SimulatedVariant, VariantComparison, metrics};

/// Maximum number of panels.
const PANELS: usize = 4;

const BETTER: Rgb = PALETTE[4];
const WORSE: Rgb = PALETTE[1];
const INCONCLUSIVE: Rgb = PALETTE[0];

/// Returns the charts for which the comparison has data, with their file names.
///
/// `footer` contains the footer lines with the assumptions.
pub fn figures(
    all: &VariantComparison,
    simulated_variants: &[SimulatedVariant],
    footer: &[String],
) -> Vec<(&'static str, DrawScene)> {
    let metrics = headlines(all);
    let mut figures = Vec::new();
    if all.variants.len() > 1 && !metrics.is_empty() {
        figures.push(("differences", differences((all, footer), &metrics)));
    }
    if shares(all).iter().any(|(_, s)| !s.is_empty()) {
        figures.push(("ledger", ledger((all, footer))));
    }
    if !metrics.is_empty() {
        figures.push(("distributions", distributions((all, footer), simulated_variants, &metrics)));
    }
    figures.extend(compare_time::figures((all, footer), simulated_variants));
    figures
}

/// Returns the most relevant metrics that differ between the variants, in order of relevance.
fn headlines(all: &VariantComparison) -> Vec<&str> {
    let (different, _) = split_by_difference(all);
    //  Differences within rounding error are ignored.
    let differs = |metric: &&&str| {
        let size = |e: &sim_analysis::experiment::MetricEstimate| e.mean.map_or(0.0, f64::abs);
        let most = estimates(all, metric).map(|(_, e)| size(e)).fold(0.0, f64::max);
        let mut bounds = all.paired.iter().filter(|p| p.metric == ***metric);
        bounds.any(|p| p.difference.ci95.iter().any(|b| b.abs() > most * 1e-9))
    };
    let request = HEADLINES.iter().flat_map(|headline| {
        let fit = different.iter().filter(differs);
        fit.filter(move |metric| is_headline_metric(metric, headline))
    });
    request.copied().take(PANELS).collect()
}

fn metric_with_unit(metric: &str) -> String {
    match unit(metric).trim_end_matches("; ") {
        "" => metric.to_owned(),
        unit => format!("{metric} ({unit})"),
    }
}

/// Draws a panel per metric with the interval of each variant's difference from the first variant.
fn differences((all, footer): ComparedVariants<'_>, metrics: &[&str]) -> DrawScene {
    let others = all.variants.len() as i32 - 1;
    let panel = others * ROW + 4 * SIZE + 10;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let first = &all.variants[0].name;
    let title = format!("{}: differences from {first} with the same faults", all.scenario);
    let subtitle = "mean of the paired differences with its 95 % interval; inconclusive if it contains zero";
    let mut top = comparison_heading(&mut scene, all, (&title, subtitle)) + 3 * SIZE;
    let words = [(BETTER, "better"), (WORSE, "worse"), (INCONCLUSIVE, "inconclusive")];
    legend(&mut scene, top, words.map(|(c, w)| (c, w.to_owned())).into_iter());
    top += SIZE;
    for metric in metrics {
        let pairs = all.paired.iter();
        let pairs: Vec<_> = pairs.filter(|p| p.metric == *metric && p.a == *first).collect();
        let label = metric_with_unit(metric);
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, &label);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + others * ROW);
        let bounds = pairs.iter().flat_map(|p| p.difference.ci95);
        let axis = PanelAxis::from_values(bounds.chain([0.0]), (plot_left_edge(all), WIDTH - MARGIN - 420));
        axis.draw(&mut scene, metric, (from, to));
        scene.line(vec![(axis.x(0.0), from), (axis.x(0.0), to)], 3, TEXT_COLOR);
        for (i, p) in pairs.iter().enumerate() {
            let y = from + i as i32 * ROW + ROW / 2;
            let color = match p.verdict {
                CompareVerdict::A => WORSE,
                CompareVerdict::B => BETTER,
                CompareVerdict::Inconclusive | CompareVerdict::NoDifference | CompareVerdict::CompletesLess => {
                    INCONCLUSIVE
                }
            };
            draw_name(&mut scene, y, &p.b);
            let [low, high] = p.difference.ci95;
            scene.line(vec![(axis.x(low), y), (axis.x(high), y)], 5, color);
            scene.rect(axis.x(p.difference.mean) - 7, y - 7, 14, 14, color);
            let text = format!(
                "{}  ({} to {})",
                format_metric_value(metric, p.difference.mean),
                format_metric_value(metric, low),
                format_metric_value(metric, high)
            );
            let size = shrunk_font_size(&text, SIZE, 400);
            scene.text((WIDTH - MARGIN - 400, y), size, TextAnchor::Left, TEXT_COLOR, &text);
        }
        top += panel;
    }
    finish_scene(&mut scene, top, (all, footer));
    scene
}

/// Draws a panel per metric with the empirical distribution over the replications, one line per variant.
fn distributions((all, footer): ComparedVariants<'_>, variants: &[SimulatedVariant], metrics: &[&str]) -> DrawScene {
    const PLOT: i32 = 220;
    let panel = PLOT + 11 * SIZE / 2;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: distribution over the replications", all.scenario);
    let subtitle = "share of the replications at or below a value; deadlocked and censored replications have no value";
    let top = comparison_heading(&mut scene, all, (&title, subtitle)) + 3 * SIZE;
    let entries = variants.iter().enumerate().map(|(i, v)| (variant_color(i), v.name.clone()));
    let mut top = legend(&mut scene, top, entries);
    for metric in metrics {
        let label = metric_with_unit(metric);
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, &label);
        //  Leaves room for the upper axis label below the name.
        let from = top + 5 * SIZE / 2;
        let to = from + PLOT;
        let values: Vec<Vec<f64>> = variants.iter().map(|v| sorted_values(v, metric)).collect();
        let left = MARGIN + text_width("100 %", SIZE) + 14;
        let axis = PanelAxis::from_values(values.iter().flatten().copied(), (left, WIDTH - MARGIN));
        axis.draw(&mut scene, metric, (from, to));
        let y = |share: f64| to - (share * f64::from(PLOT)) as i32;
        for share in [0.0, 0.5, 1.0] {
            scene.line(vec![(axis.left, y(share)), (axis.right, y(share))], 2, GRID);
            let text = sim_analysis::format::percent(share, 0);
            scene.text((axis.left - 12, y(share)), SIZE - 2, TextAnchor::Right, MUTED_COLOR, &text);
        }
        for (i, own) in values.iter().enumerate() {
            let step = |(k, v): (usize, &f64)| {
                let n = own.len() as f64;
                let (before, after) = (k as f64 / n, (k + 1) as f64 / n);
                [(axis.x(*v), y(before)), (axis.x(*v), y(after))]
            };
            let points: Vec<_> = own.iter().enumerate().flat_map(step).collect();
            if points.len() > 1 {
                scene.line(points, line_width(i, values.len()), variant_color(i));
            }
        }
        top += panel;
    }
    finish_scene(&mut scene, top, (all, footer));
    scene
}

fn sorted_values(variant: &SimulatedVariant, metric: &str) -> Vec<f64> {
    let of = |r| {
        let own = metrics(r, &variant.jobsets).into_iter();
        own.filter(|(name, _)| name == metric).find_map(|(_, m)| m.value())
    };
    let mut values: Vec<f64> = variant.replications.iter().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/compare_figure.rs"]
pub mod tests;
