//! Layouts of the charts of a comparison: paired differences, accelerator time by category, and distributions.
//!
//! The estimates and intervals come from the comparison and are not computed here.

use super::compare_ledger::{ledger, shares};
pub use super::compare_panel::provenance;
use super::compare_panel::{
    Axis, Compared, ROW, SIZE, WIDTH, end, legend, name, names_end, shrunk,
};
use super::compare_time::{self, beneath, color_of};
use crate::console::compare::{HEADLINES, estimates, parted, shown, tells, unit};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::*;
use sim_analysis::experiment::{Comparison, PlayedVariant, Verdict, metrics};

/// Maximum number of panels.
const PANELS: usize = 4;

const BETTER: Color = PALETTE[4];
const WORSE: Color = PALETTE[1];
const OPEN: Color = PALETTE[0];

/// Returns the charts for which the comparison has data, with their file names.
///
/// `hangs` contains the footer lines with the assumptions.
pub fn figures(
    all: &Comparison,
    played: &[PlayedVariant],
    hangs: &[String],
) -> Vec<(&'static str, Scene)> {
    let told = headlines(all);
    let mut figures = Vec::new();
    if all.variants.len() > 1 && !told.is_empty() {
        figures.push(("differences", differences((all, hangs), &told)));
    }
    if shares(all).iter().any(|(_, s)| !s.is_empty()) {
        figures.push(("ledger", ledger((all, hangs))));
    }
    if !told.is_empty() {
        figures.push(("distributions", distributions((all, hangs), played, &told)));
    }
    figures.extend(compare_time::figures((all, hangs), played));
    figures
}

/// Returns the most relevant metrics that differ between the variants, in order of relevance.
fn headlines(all: &Comparison) -> Vec<&str> {
    let (told, _) = parted(all);
    //  Differences within rounding error are ignored.
    let differs = |metric: &&&str| {
        let size = |e: &sim_analysis::experiment::MetricEstimate| e.mean.map_or(0.0, f64::abs);
        let most = estimates(all, metric)
            .map(|(_, e)| size(e))
            .fold(0.0, f64::max);
        let mut bounds = all.paired.iter().filter(|p| p.metric == ***metric);
        bounds.any(|p| p.difference.ci95.iter().any(|b| b.abs() > most * 1e-9))
    };
    let asked = HEADLINES.iter().flat_map(|headline| {
        let fit = told.iter().filter(differs);
        fit.filter(move |metric| tells(metric, headline))
    });
    asked.copied().take(PANELS).collect()
}

fn labelled(metric: &str) -> String {
    match unit(metric).trim_end_matches("; ") {
        "" => metric.to_owned(),
        unit => format!("{metric} ({unit})"),
    }
}

/// Draws a panel per metric with the interval of each variant's difference from the first variant.
fn differences((all, hangs): Compared<'_>, told: &[&str]) -> Scene {
    let others = all.variants.len() as i32 - 1;
    let panel = others * ROW + 4 * SIZE + 10;
    let mut scene = Scene::new((WIDTH as u32, 900));
    let first = &all.variants[0].name;
    let title = format!(
        "{}: differences to {first} on the same faults",
        all.scenario
    );
    let subtitle = "mean of the paired differences with its 95 % interval; what contains zero is not separated";
    let mut top = heading(&mut scene, &title, subtitle) + 3 * SIZE;
    let words = [
        (BETTER, "better"),
        (WORSE, "worse"),
        (OPEN, "not separated"),
    ];
    legend(
        &mut scene,
        top,
        words.map(|(c, w)| (c, w.to_owned())).into_iter(),
    );
    top += SIZE;
    for metric in told {
        let pairs = all.paired.iter();
        let pairs: Vec<_> = pairs
            .filter(|p| p.metric == *metric && p.a == *first)
            .collect();
        let label = labelled(metric);
        scene.text((MARGIN, top + SIZE), SIZE, Anchor::Left, INK, &label);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + others * ROW);
        let bounds = pairs.iter().flat_map(|p| p.difference.ci95);
        let axis = Axis::over(bounds.chain([0.0]), (names_end(all), WIDTH - MARGIN - 420));
        axis.draw(&mut scene, metric, (from, to));
        scene.line(vec![(axis.x(0.0), from), (axis.x(0.0), to)], 3, INK);
        for (i, p) in pairs.iter().enumerate() {
            let y = from + i as i32 * ROW + ROW / 2;
            let color = match p.verdict {
                Verdict::A => WORSE,
                Verdict::B => BETTER,
                Verdict::NotSeparated => OPEN,
            };
            name(&mut scene, y, &p.b);
            let [low, high] = p.difference.ci95;
            scene.line(vec![(axis.x(low), y), (axis.x(high), y)], 5, color);
            scene.rect(axis.x(p.difference.mean) - 7, y - 7, 14, 14, color);
            let text = format!(
                "{}  ({} to {})",
                shown(metric, p.difference.mean),
                shown(metric, low),
                shown(metric, high)
            );
            let size = shrunk(&text, SIZE, 400);
            scene.text((WIDTH - MARGIN - 400, y), size, Anchor::Left, INK, &text);
        }
        top += panel;
    }
    end(&mut scene, top, (all, hangs));
    scene
}

/// Draws a panel per metric with the empirical distribution over the replications, one line per variant.
fn distributions((all, hangs): Compared<'_>, played: &[PlayedVariant], told: &[&str]) -> Scene {
    const PLOT: i32 = 220;
    let panel = PLOT + 11 * SIZE / 2;
    let mut scene = Scene::new((WIDTH as u32, 900));
    let title = format!("{}: how the replications differ", all.scenario);
    let subtitle = "share of the replications at or below a value; those that got stuck or were cut have no value";
    let top = heading(&mut scene, &title, subtitle) + 3 * SIZE;
    let entries = played
        .iter()
        .enumerate()
        .map(|(i, v)| (color_of(i), v.name.clone()));
    let mut top = legend(&mut scene, top, entries);
    for metric in told {
        let label = labelled(metric);
        scene.text((MARGIN, top + SIZE), SIZE, Anchor::Left, INK, &label);
        //  Leaves room for the upper axis label below the name.
        let from = top + 5 * SIZE / 2;
        let to = from + PLOT;
        let values: Vec<Vec<f64>> = played.iter().map(|v| sorted_values(v, metric)).collect();
        let left = MARGIN + text_width("100 %", SIZE) + 14;
        let axis = Axis::over(values.iter().flatten().copied(), (left, WIDTH - MARGIN));
        axis.draw(&mut scene, metric, (from, to));
        let y = |share: f64| to - (share * f64::from(PLOT)) as i32;
        for share in [0.0, 0.5, 1.0] {
            scene.line(vec![(axis.left, y(share)), (axis.right, y(share))], 2, GRID);
            let text = format!("{:.0} %", share * 100.0);
            scene.text(
                (axis.left - 12, y(share)),
                SIZE - 2,
                Anchor::Right,
                FAINT,
                &text,
            );
        }
        for (i, own) in values.iter().enumerate() {
            let step = |(k, v): (usize, &f64)| {
                let n = own.len() as f64;
                let (before, after) = (k as f64 / n, (k + 1) as f64 / n);
                [(axis.x(*v), y(before)), (axis.x(*v), y(after))]
            };
            let points: Vec<_> = own.iter().enumerate().flat_map(step).collect();
            if points.len() > 1 {
                scene.line(points, beneath(i, values.len()), color_of(i));
            }
        }
        top += panel;
    }
    end(&mut scene, top, (all, hangs));
    scene
}

fn sorted_values(variant: &PlayedVariant, metric: &str) -> Vec<f64> {
    let of = |r| {
        let own = metrics(r, &variant.jobsets).into_iter();
        own.filter(|(name, _)| name == metric)
            .find_map(|(_, m)| m.value())
    };
    let mut values: Vec<f64> = variant.replications.iter().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/compare_figure.rs"]
pub mod tests;
