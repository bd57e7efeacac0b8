//! Chart of a metric over a swept field: one line per combination of the other fields, and a closed form for
//! comparison.
//!
//! The caller provides the values of the closed form.

use super::super::scaling_figure::{Axes, Line, scaling};
use super::band::{lines_along, others};
use super::{Swept, labelled, lines, numbers, told_number};
use crate::draw::scene::Scene;
use crate::sweep_pick::axis_names;
use sim_analysis::sweep::Results;
use sim_analysis::sweep::points::short;

/// Maximum number of lines.
const LINES: usize = 7;

/// A closed form: its name, the formula, and its value at each point.
#[derive(Clone, Debug)]
pub struct Closed {
    pub name: String,
    pub formula: String,
    pub values: Vec<Option<f64>>,
}

/// Returns the axis with the given name, or the first axis with numeric values.
pub fn axis_of(all: &Results, asked: Option<&str>) -> Result<usize, String> {
    let axes = all.points().axes();
    let names = axis_names(all);
    let has_numbers = |a: &usize| numbers(all, *a).is_some_and(|n| n.len() > 1);
    let Some(asked) = asked else {
        let first = (0..axes.len()).find(has_numbers);
        let none =
            || "no swept field has several numbers: there is no axis to draw along".to_owned();
        return first.ok_or_else(none);
    };
    let is =
        |a: &usize| [axes[*a].path.as_str(), short(&axes[*a].path), &names[*a]].contains(&asked);
    let found = (0..axes.len()).find(is);
    let found = found.ok_or_else(|| {
        format!(
            "--over: no axis is {asked:?}; there are {}",
            names.join(", ")
        )
    })?;
    match has_numbers(&found) {
        true => Ok(found),
        false => Err(format!("--over: {asked} has no numbers to draw along")),
    }
}

/// Returns the lines of means, followed by the distinct lines of the closed form.
pub fn along(all: &Results, (metric, axis): (&str, usize), closed: Option<&Closed>) -> Vec<Line> {
    let values = numbers(all, axis).unwrap_or_default();
    let names = axis_names(all);
    let mut told: Vec<Line> = Vec::new();
    let mut formulas: Vec<Line> = Vec::new();
    for points in lines_along(all, axis).into_iter().take(LINES) {
        let at = |p: usize| values[all.points().indexes(p)[axis]];
        let name_of = others(all, axis, points[0], &names);
        let name = match name_of.is_empty() {
            true => "mean".to_owned(),
            false => name_of.clone(),
        };
        let mut line = Line::new(name);
        for p in &points {
            let e = all.estimate(*p, metric);
            line.points.extend(e.mean.map(|mean| (at(*p), mean)));
            let interval = e.ci95.filter(|ci| ci.iter().all(|v| v.is_finite()));
            line.bars
                .extend(interval.map(|[low, high]| (at(*p), low, high)));
        }
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        told.push(line);
        if let Some(closed) = closed {
            let mut line = Line::new(match name_of.is_empty() {
                true => closed.name.clone(),
                false => format!("{}: {}", closed.name, name_of),
            });
            line.closed = true;
            let own = points
                .iter()
                .filter_map(|p| Some((at(*p), closed.values[*p]?)));
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
    told.extend(formulas);
    told
}

pub fn over(
    of: Swept<'_>,
    (metric, axis): (&str, usize),
    closed: Option<&Closed>,
    size: (u32, u32),
) -> Scene {
    let all = of.results;
    let names = axis_names(all);
    let drawn = along(all, (metric, axis), closed);
    let every = lines_along(all, axis).len();
    let title = format!("{}: {metric} over {}", of.identity.scenario, names[axis]);
    let mut subtitle = "mean of the replications, and its 95 % interval".to_owned();
    if every > LINES {
        subtitle.push_str(&format!(
            "; {} more combinations are in the table",
            every - LINES
        ));
    }
    let mut below = lines(of);
    if let Some(closed) = closed.filter(|_| drawn.iter().any(|l| l.closed)) {
        below.push(closed.formula.clone());
    }
    let values = numbers(all, axis).unwrap_or_default();
    let texts = all.points().grid(axis).unwrap_or(&[]);
    let x_label = |v: f64| {
        let at = values.iter().position(|known| *known == v);
        at.map_or(String::new(), |at| texts[at].clone())
    };
    let y_label = |v: f64| told_number(metric, Some(v));
    let axes = Axes {
        x: &names[axis],
        y: &labelled(metric),
        x_label: &x_label,
        y_label: &y_label,
        is_time: crate::console::compare::is_seconds(metric),
    };
    scaling((&title, &subtitle), &axes, &drawn, &below, size)
}
