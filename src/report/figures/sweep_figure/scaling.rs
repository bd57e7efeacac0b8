//! Chart of a metric over a swept field: one line per combination of the other fields, and a closed form for
//! comparison.
//!
//! The caller provides the values of the closed form.

use super::super::scaling_figure::{ScalingAxes, ScalingLine, scaling};
use super::axis_error::SweepAxisError;
use super::band::{other_axis_values, points_by_line};
use super::{SweptMetric, footer_lines, numbers};
use crate::{draw::scene::DrawScene, sweep_selection::axis_names};
use sim_analysis::sweep::SweepResults;
use sim_analysis::sweep::points::short;

/// Maximum number of lines.
const LINES: usize = 7;

/// A closed form: its name, the formula, and its value at each point.
#[derive(Clone, Debug)]
pub struct ClosedFormCurve {
    pub metric: ClosedFormMetric,
    pub name: String,
    pub formula: String,
    pub values: Vec<Option<f64>>,
}

/// The metrics that a closed form describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClosedFormMetric {
    /// Quantiles of the restart latency of any JobSet.
    RestartLatency,
    /// The metric with this name.
    Named(String),
}

impl ClosedFormCurve {
    /// Returns whether the closed form describes the metric.
    pub fn applies_to(&self, metric: &str) -> bool {
        match &self.metric {
            ClosedFormMetric::RestartLatency => metric.contains("restartLatency_s."),
            ClosedFormMetric::Named(name) => metric == name,
        }
    }
}

/// Returns the axis with the given name, or the first axis with numeric values.
pub fn numeric_axis_named(all: &SweepResults, request: Option<&str>) -> Result<usize, SweepAxisError> {
    let axes = all.points().axes();
    let names = axis_names(all);
    let has_numbers = |a: &usize| numbers(all, *a).is_some_and(|n| n.len() > 1);
    let Some(request) = request else {
        let first = (0..axes.len()).find(has_numbers);
        return first.ok_or(SweepAxisError::NoNumericAxis);
    };
    let is = |a: &usize| [axes[*a].path.as_str(), short(&axes[*a].path), &names[*a]].contains(&request);
    let matching = (0..axes.len()).find(is);
    let matching =
        matching.ok_or_else(|| SweepAxisError::UnknownAxis { name: request.to_owned(), available: names.clone() })?;
    if has_numbers(&matching) { Ok(matching) } else { Err(SweepAxisError::NotNumeric { name: request.to_owned() }) }
}

/// Returns the lines of means, followed by the distinct lines of the closed form.
pub fn scaling_lines(
    of: SweptMetric<'_>, (metric, axis): (&str, usize), closed: Option<&ClosedFormCurve>,
) -> Vec<ScalingLine> {
    let all = of.results;
    let values = numbers(all, axis).unwrap_or_default();
    let names = of.axes();
    let mut lines: Vec<ScalingLine> = Vec::new();
    let mut formulas: Vec<ScalingLine> = Vec::new();
    for points in points_by_line(all, axis).into_iter().take(LINES) {
        let at = |p: usize| values[all.points().indexes(p)[axis]];
        let name_of = other_axis_values(all, axis, points[0], &names);
        let name = if name_of.is_empty() { "mean".to_owned() } else { name_of.clone() };
        let mut line = ScalingLine::new(name);
        for p in &points {
            let e = all.estimate(*p, metric);
            line.points.extend(e.mean.map(|mean| (at(*p), mean)));
            let interval = e.ci95.filter(|ci| ci.iter().all(|v| v.is_finite()));
            line.bars.extend(interval.map(|[low, high]| (at(*p), low, high)));
        }
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.push(line);
        if let Some(closed) = closed {
            let mut line = ScalingLine::new(if name_of.is_empty() {
                closed.name.clone()
            } else {
                format!("{}: {}", closed.name, name_of)
            });
            line.is_closed_form = true;
            let own = points.iter().filter_map(|p| Some((at(*p), closed.values[*p]?)));
            line.points = own.collect();
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if line.points.len() > 1 && !formulas.iter().any(|f| f.points == line.points) {
                formulas.push(line);
            }
        }
    }
    //  A closed form that is the same for all lines is named without the combination.
    if let ([only], Some(closed)) = (formulas.as_mut_slice(), closed) {
        only.name = closed.name.clone();
    }
    lines.extend(formulas);
    lines
}

pub fn scaling_chart(
    of: SweptMetric<'_>, (metric, axis): (&str, usize), closed: Option<&ClosedFormCurve>, size: (u32, u32),
) -> DrawScene {
    let all = of.results;
    let (names, label) = (of.axes(), of.label(metric));
    let drawn = scaling_lines(of, (metric, axis), closed);
    let every = points_by_line(all, axis).len();
    let title = format!("{}: {} by {}", of.identity.scenario, label.name, names[axis]);
    let mut subtitle = "mean of the replications with its 95 % interval".to_owned();
    if every > LINES {
        subtitle.push_str(&format!("; {} more combinations are in the table", every - LINES));
    }
    let mut below = footer_lines(of);
    if let Some(closed) = closed.filter(|_| drawn.iter().any(|l| l.is_closed_form)) {
        below.push(closed.formula.clone());
    }
    let values = numbers(all, axis).unwrap_or_default();
    let texts = all.points().grid(axis).unwrap_or(&[]);
    let x_label = |v: f64| {
        let at = values.iter().position(|known| *known == v);
        at.map_or(String::new(), |at| texts[at].clone())
    };
    let y_label = |v: f64| label.tick(v);
    let y_value = |v: f64| label.value(v);
    let axes = ScalingAxes {
        x: &names[axis],
        y: &label.axis(),
        x_label: &x_label,
        y_label: &y_label,
        y_value: &y_value,
        y_unit: &|span| label.tick_unit(span),
        is_time: label.is_time(),
        range: label.range(),
    };
    scaling((&title, &subtitle), &axes, &drawn, &below, size)
}
