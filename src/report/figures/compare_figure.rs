//! Layouts of the charts of a comparison: paired differences, accelerator time by category, and distributions.
//!
//! The estimates and intervals come from the comparison and are not computed here.

use super::compare_distribution::distributions;
use super::compare_ledger::{ledger, shares};
pub use super::compare_panel::{ComparedVariants, provenance};
use super::compare_panel::{
    PanelAxis, ROW, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, mark_legend, plot_left_edge,
    shrunk_font_size,
};
use super::compare_steps::{step_bars, steps};
use super::compare_time;
use crate::console::compare::{HEADLINES, estimates, is_headline_metric, split_by_difference};
use crate::draw::heading::MARGIN;
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, TextAnchor};
use sim_analysis::experiment::{BetterDirection, CompareVerdict, VariantComparison, better};

/// Maximum number of panels.
const PANELS: usize = 4;

const BETTER: Rgb = PALETTE[4];
const WORSE: Rgb = PALETTE[1];
const INCONCLUSIVE: Rgb = PALETTE[0];

/// Returns the charts for which the comparison has data, with their file names.
pub fn figures(of: ComparedVariants<'_>) -> Vec<(&'static str, DrawScene)> {
    let all = of.all;
    let metrics = headlines(all);
    let mut figures = Vec::new();
    if all.variants.len() > 1 && !metrics.is_empty() {
        figures.push(("differences", differences(of, &metrics)));
    }
    if shares(all).iter().any(|(_, s)| !s.is_empty()) {
        figures.push(("ledger", ledger(of)));
    }
    let jobs = step_bars(of.simulated_variants);
    if !jobs.is_empty() {
        figures.push(("steps", steps(of, &jobs)));
    }
    if !metrics.is_empty() {
        figures.push(("distributions", distributions(of, &metrics)));
    }
    figures.extend(compare_time::figures(of));
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

/// Draws a panel per metric with the interval of each variant's difference from the first variant.
fn differences(of: ComparedVariants<'_>, metrics: &[&str]) -> DrawScene {
    let all = of.all;
    let others = all.variants.len() as i32 - 1;
    let panel = others * ROW + 4 * SIZE + 10;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let first = &all.variants[0].name;
    let title = format!("{}: differences from {first} with the same faults", all.scenario);
    let subtitle = "mean of the paired differences with its 95 % interval; inconclusive if it contains zero";
    let mut top = comparison_heading(&mut scene, all, (&title, subtitle)) + 3 * SIZE;
    let color_of = |verdict: CompareVerdict| match verdict {
        CompareVerdict::A => WORSE,
        CompareVerdict::B => BETTER,
        CompareVerdict::Inconclusive | CompareVerdict::NoDifference | CompareVerdict::CompletesLess => INCONCLUSIVE,
    };
    let panels = of.panels(metrics.len(), top + SIZE, panel);
    let is_drawn = |color: Rgb| {
        let own = all.paired.iter().filter(|p| p.a == *first && metrics[..panels].contains(&p.metric.as_str()));
        own.map(|p| color_of(p.verdict)).any(|own| own == color)
    };
    let words = [(BETTER, "better"), (WORSE, "worse"), (INCONCLUSIVE, "inconclusive")];
    let words = words.into_iter().filter(|(color, _)| is_drawn(*color));
    mark_legend(&mut scene, top, words.map(|(c, w)| (c, w.to_owned(), c == INCONCLUSIVE)));
    top += SIZE;
    for metric in &metrics[..panels] {
        let pairs = all.paired.iter();
        let pairs: Vec<_> = pairs.filter(|p| p.metric == *metric && p.a == *first).collect();
        let label = of.label(metric);
        let direction = match better(metric) {
            BetterDirection::Lower => "lower is better",
            BetterDirection::Higher => "higher is better",
        };
        let name = format!("{} ({direction})", label.difference_axis());
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, &name);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + others * ROW);
        let bounds = pairs.iter().flat_map(|p| p.difference.ci95);
        let axis = PanelAxis::from_values(bounds.chain([0.0]), (plot_left_edge(all), WIDTH - MARGIN - 420));
        axis.draw(&mut scene, &label, (from, to));
        scene.line(vec![(axis.x(0.0), from), (axis.x(0.0), to)], 3, TEXT_COLOR);
        for (i, p) in pairs.iter().enumerate() {
            let y = from + i as i32 * ROW + ROW / 2;
            let color = color_of(p.verdict);
            draw_name(&mut scene, y, &p.b, WIDTH / 4);
            let [low, high] = p.difference.ci95;
            scene.line(vec![(axis.x(low), y), (axis.x(high), y)], 5, color);
            scene.mark((axis.x(p.difference.mean), y), 14, color, color == INCONCLUSIVE);
            let text = label.change(p.difference.mean, p.difference.ci95);
            let size = shrunk_font_size(&text, SIZE, 400);
            scene.text((WIDTH - MARGIN - 400, y), size, TextAnchor::Left, TEXT_COLOR, &text);
        }
        top += panel;
    }
    finish_scene(&mut scene, top, of);
    scene
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/compare_figure.rs"]
pub mod tests;
