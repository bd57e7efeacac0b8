//! Layouts of the charts of a sweep: a heat map over two axes, quantile bands over one axis, and the knee of metric
//! and cost.
//!
//! The estimates come from the results and are not computed here.

mod axis_error;
mod band;
mod heat;
mod knee;
mod scaling;
#[cfg(test)]
#[path = "../../../../tests/inside/report/figures/sweep_figure.rs"]
mod tests;

use crate::metric_label::{MetricLabel, parameter_names};
use crate::{draw::heading, draw::scene::DrawScene, planning::plane::PlaneScale, sweep_selection::selected_metrics};
use sim_analysis::sweep::{SweepIdentity, SweepResults};
use sim_base::{Duration, fnv};

pub use axis_error::SweepAxisError;
pub use scaling::{ClosedFormCurve, ClosedFormMetric, numeric_axis_named, scaling_chart, scaling_lines};

const WIDTH: i32 = 1600;
/// Font size in pixels.
const SIZE: i32 = 22;

/// A sweep with its results and the footer lines with its assumptions.
#[derive(Copy, Clone)]
pub struct SweptMetric<'a> {
    pub identity: &'a SweepIdentity,
    pub results: &'a SweepResults,
    pub assumption_lines: &'a [String],
    /// Currency of the costs; empty if they have none.
    pub currency: &'a str,
}

impl SweptMetric<'_> {
    fn label(&self, metric: &str) -> MetricLabel {
        MetricLabel::new(metric, self.currency)
    }

    /// Returns the names of the axes.
    fn axes(&self) -> Vec<String> {
        let axes = self.results.points().axes().iter();
        parameter_names(&axes.map(|axis| axis.path.as_str()).collect::<Vec<_>>())
    }

    /// Returns the values at a point with their names, for example `replicas 4, checkpoint interval 10m`.
    fn point(&self, point: usize) -> String {
        let values = self.results.points().values(point).into_iter();
        let parts: Vec<String> =
            self.axes().iter().zip(values).map(|(name, value)| format!("{name} {value}")).collect();
        parts.join(", ")
    }
}

/// Returns the charts for which the sweep has data, with their file names. `request` contains the requested metrics.
pub fn figures(of: SweptMetric<'_>, request: &[String]) -> Vec<(&'static str, DrawScene)> {
    let all = of.results;
    let metrics = selected_metrics(all, request);
    let Some(first) = metrics.first() else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    let grids: Vec<usize> = (0..all.points().axes().len()).filter(|a| is_discrete(all, *a)).collect();
    if grids.len() == 2 && all.points().axes().len() == 2 {
        let (down, across) = (grids[0], grids[1]);
        figures.push(("heat", heat::map(of, first, (down, across))));
    }
    if let Some(axis) = numeric_axis(all) {
        figures.push(("bands", band::bands(of, first, axis)));
        if let Some(scene) = knee::knee(of, first, axis) {
            figures.push(("knee", scene));
        }
    }
    if !ranges(all).is_empty() {
        figures.push(("scatter", band::scatter(of, first)));
    }
    figures
}

/// Returns whether the axis has at least two discrete values.
fn is_discrete(all: &SweepResults, axis: usize) -> bool {
    all.points().grid(axis).is_some_and(|values| values.len() > 1)
}

fn ranges(all: &SweepResults) -> Vec<usize> {
    let axes = 0..all.points().axes().len();
    axes.filter(|a| all.points().grid(*a).is_none()).collect()
}

/// Returns the first axis with numeric values; `None` if any axis is a continuous range.
fn numeric_axis(all: &SweepResults) -> Option<usize> {
    if !ranges(all).is_empty() {
        return None;
    }
    let numbers = |a: &usize| is_discrete(all, *a) && numbers(all, *a).is_some();
    (0..all.points().axes().len()).find(numbers)
}

/// Returns the values of an axis as numbers, with durations in seconds; `None` if any value is not numeric.
fn numbers(all: &SweepResults, axis: usize) -> Option<Vec<f64>> {
    all.points().grid(axis)?.iter().map(|text| number(text)).collect()
}

fn number(text: &str) -> Option<f64> {
    let plain = text.parse::<f64>().ok();
    let duration = || text.parse::<Duration>().ok().map(Duration::seconds);
    plain.or_else(duration).filter(|v| v.is_finite())
}

/// Returns a scale over the values. It is logarithmic if they are positive and span at least a factor of 8.
fn scale(values: &[f64]) -> PlaneScale {
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    if low > 0.0 && high / low >= 8.0 {
        let air = libm::pow(high / low, 0.04);
        let mut scale = PlaneScale::new(low / air, high * air);
        scale.log = true;
        return scale;
    }
    let air = ((high - low) * 0.04).max(1e-9);
    PlaneScale::new(low - air, high + air)
}

/// Returns the footer line with program version, scenario, seed, replications and digests.
pub fn provenance(of: SweptMetric<'_>) -> Vec<String> {
    let (identity, all) = (of.identity, of.results);
    let points = all.points().count();
    let most = (0..points).map(|p| all.rows(p).len()).max().unwrap_or(0);
    let n = match &identity.until {
        Some(until) => format!("until {until}, at most {most} replications per point"),
        None => format!("{most} replications for each of {points} points"),
    };
    let digest = fnv::fnv1a_words((0..points).flat_map(|p| all.rows(p)).map(|r| r.digest));
    let parts = [
        format!("jobset-sim {}", identity.version),
        format!("scenario {}", identity.scenario),
        format!("seed {}", identity.seed),
        n,
        format!("experiment {}", identity.digest()),
        format!("digest {digest:016x}"),
    ];
    vec![parts.join("  ·  ")]
}

/// Returns the footer lines of a chart.
fn footer_lines(of: SweptMetric<'_>) -> Vec<String> {
    let own = provenance(of).into_iter();
    own.chain(of.assumption_lines.iter().cloned()).collect()
}

/// Sets the height of the scene and draws the footer below `bottom`.
fn finish_scene(scene: &mut DrawScene, bottom: i32, lines: &[String]) {
    scene.height = (bottom + heading::footer_height(lines, scene.width as i32)) as u32;
    heading::draw_footer(scene, lines);
}

/// Formats a value of the metric, or `-` if there is none.
fn format_value(label: &MetricLabel, v: Option<f64>) -> String {
    v.map_or("-".to_owned(), |v| label.value(v))
}

/// Returns about `count` ticks for the values of the metric.
fn metric_ticks(label: &MetricLabel, scale: PlaneScale, count: usize) -> Vec<f64> {
    scale.ticks_in(count, label.tick_unit(scale.to - scale.from))
}
