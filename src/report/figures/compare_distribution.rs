//! Chart of the distributions of metrics over the replications: a panel per metric, a row per variant.

use super::compare_panel::{
    ComparedVariants, PanelAxis, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, plot_left_edge,
    shrunk_font_size,
};
use crate::draw::scene::{DrawScene, GRID, TEXT_COLOR, TextAnchor};
use crate::{draw::colors::variant_color, draw::heading::MARGIN};
use sim_analysis::experiment::{SimulatedVariant, metrics};

/// Height of a row, and of the highest bar in it.
const RIDGE: i32 = 64;
const HIGHEST: i32 = 52;
/// Least width of a bar.
const NARROWEST: i32 = 3;
/// Width reserved for the quantiles to the right of a row.
const QUANTILES: i32 = 400;

/// Draws a histogram per metric and variant. The rows of a panel have a common axis and the same scale of heights.
pub(crate) fn distributions(of: ComparedVariants<'_>, listed: &[&str]) -> DrawScene {
    let panel = of.simulated_variants.len() as i32 * RIDGE + 5 * SIZE;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: distribution over the replications", of.all.scenario);
    let subtitle = "histogram with the median and p10 to p90; replications without completed work have no value";
    let mut top = comparison_heading(&mut scene, of.all, (&title, subtitle)) + 2 * SIZE;
    for metric in &listed[..of.panels(listed.len(), top, panel)] {
        let label = of.label(metric);
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, &label.axis());
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + of.simulated_variants.len() as i32 * RIDGE);
        let values: Vec<Vec<f64>> = of.simulated_variants.iter().map(|v| values(v, metric)).collect();
        let ends = (plot_left_edge(of.all), WIDTH - MARGIN - QUANTILES - 20);
        let axis = PanelAxis::from_values(values.iter().flatten().copied(), ends);
        axis.draw(&mut scene, &label, (from, to));
        let bins = bin_count(values.iter().map(Vec::len).max().unwrap_or(0));
        // The bars end with the values: a ratio has none beyond 100 %.
        let all = || values.iter().flatten().copied();
        let range = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        let counts: Vec<Vec<u32>> = values.iter().map(|own| histogram(own, range, bins)).collect();
        let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
        for (i, (v, own)) in of.all.variants.iter().zip(&counts).enumerate() {
            let base = from + (i as i32 + 1) * RIDGE;
            let middle = base - RIDGE / 2;
            draw_name(&mut scene, middle, &v.name, WIDTH / 4);
            scene.line(vec![(axis.left, base), (axis.right, base)], 2, GRID);
            let x = |bin: usize| axis.x(range.0 + (range.1 - range.0) * bin as f64 / bins as f64);
            for (bin, n) in own.iter().enumerate().filter(|(_, n)| **n > 0) {
                let height = (*n * HIGHEST as u32 / most).max(2) as i32;
                scene.rect(x(bin), base - height, (x(bin + 1) - x(bin)).max(NARROWEST), height, variant_color(i));
            }
            let Some(e) = v.metrics.get(*metric) else { continue };
            let is_shown = |v: &f64| v.is_finite() && *v <= axis.to;
            if let Some(median) = e.p50.filter(is_shown) {
                let to = e.p90.filter(is_shown).map_or(axis.right, |p90| axis.x(p90));
                let from = e.p10.filter(is_shown).map_or(axis.left, |p10| axis.x(p10));
                scene.line(vec![(from, base - 4), (to, base - 4)], 3, TEXT_COLOR);
                scene.line(vec![(axis.x(median), base - HIGHEST), (axis.x(median), base)], 3, TEXT_COLOR);
            }
            let number = |v: Option<f64>| v.filter(|v| v.is_finite()).map_or("-".to_owned(), |v| label.bare(v));
            let text = format!("{}  ({} to {})", number(e.p50), number(e.p10), number(e.p90));
            let size = shrunk_font_size(&text, SIZE, QUANTILES);
            scene.text((WIDTH - MARGIN - QUANTILES, middle), size, TextAnchor::Left, TEXT_COLOR, &text);
        }
        top += panel;
    }
    finish_scene(&mut scene, top, of);
    scene
}

/// Returns the number of bins for `n` values: twice their square root, at least 10 and at most 60.
fn bin_count(n: usize) -> usize {
    (2.0 * libm::sqrt(n as f64)).clamp(10.0, 60.0) as usize
}

fn histogram(values: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for v in values {
        let share = if high > low { (v - low) / (high - low) } else { 0.0 };
        counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
    }
    counts
}

fn values(variant: &SimulatedVariant, metric: &str) -> Vec<f64> {
    let of = |r| {
        let own = metrics(r, &variant.jobsets).into_iter();
        own.filter(|(name, _)| name == metric).find_map(|(_, m)| m.value())
    };
    variant.replications.iter().filter_map(of).collect()
}
