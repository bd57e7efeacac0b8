//! The knee chart: the metric over a swept field above, and the cost below.

use super::super::compare_panel::mark_legend;
use super::band::points_by_line;
use super::{SIZE, SweptMetric, WIDTH, finish_scene, footer_lines, format_value, metric_ticks, numbers, scale};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::{BACKGROUND_COLOR, DrawScene, PALETTE, Rgb};
use crate::planning::plane::{ParameterPlane, PlaneLabels, PlaneScale, plot_left_edge};
use sim_analysis::experiment::MeasuredMetric;
use sim_analysis::sweep::SweepResults;

const COST: &str = "cost.total";
const NODE_HOURS: &str = "nodeHours.";
const NODE_HOURS_AXIS: &str = "node-hours of a run, spares and repairs included";
const NOT_WORSE: Rgb = PALETTE[4];
const WORSE: Rgb = PALETTE[0];

/// Returns the chart along the axis through the best point; `None` if there are no costs.
pub fn knee(of: SweptMetric<'_>, metric: &str, axis: usize) -> Option<DrawScene> {
    let (identity, all) = (of.identity, of.results);
    if metric == COST {
        return None;
    }
    let best = all.best(metric)?;
    let along = points_by_line(all, axis);
    let line = along.into_iter().find(|line| line.contains(&best.point))?;
    let cost = |p: usize| cost(all, p);
    let cost_label = of.label(if has_prices(all) { COST } else { NODE_HOURS });
    let costs: Vec<f64> = line.iter().map(|p| cost(*p)).collect::<Option<_>>()?;
    let values = numbers(all, axis)?;
    let (names, metric_label) = (of.axes(), of.label(metric));
    //  The smallest value on this line that is best or whose difference from the best is inconclusive.
    let is_similar = |p: &usize| *p == best.point || best.inconclusive.contains(p) || best.equal.contains(p);
    let by_value = |p: &usize| values[all.points().indexes(*p)[axis]];
    let mut order = line.clone();
    order.sort_by(|a, b| by_value(a).total_cmp(&by_value(b)));
    let least = *order.iter().find(|p| is_similar(p))?;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: {} and cost by {}", identity.scenario, metric_label.name, names[axis]);
    let subtitle = format!(
        "{}: {} at a cost of {}; smallest value that is best or inconclusive against the best. Bars: 95 % intervals of the mean",
        of.point(least),
        format_value(&metric_label, all.estimate(least, metric).mean),
        cost_label.value(cost(least)?)
    );
    let below = heading(&mut scene, &title, &subtitle);
    let means: Vec<_> = line.iter().map(|p| all.estimate(*p, metric)).collect();
    let bounds = means.iter().flat_map(|e| e.ci95.into_iter().flatten().chain(e.mean));
    let y = PlaneScale::of_metric(bounds, &metric_label);
    let highest = costs.iter().copied().fold(0.0, f64::max);
    let cost_scale = PlaneScale::new(0.0, highest * 1.08);
    let y_label = |v: f64| metric_label.tick(v);
    //  Large amounts are in millions or billions.
    let (unit, unit_name) = match highest {
        high if high >= 1e10 => (1e9, "billion "),
        high if high >= 1e7 => (1e6, "million "),
        _ => (1.0, ""),
    };
    let cost_tick = |v: f64| cost_label.tick(v / unit);
    let cost_axis = if has_prices(all) { cost_label.axis_in(unit_name) } else { NODE_HOURS_AXIS.to_owned() };
    let y_name = metric_label.axis();
    let y_labels = PlaneLabels { name: &y_name, ticks: metric_ticks(&metric_label, y, 5), label: &y_label };
    let cost_labels = PlaneLabels { name: &cost_axis, ticks: cost_scale.ticks(4), label: &cost_tick };
    let left = plot_left_edge(&y_labels).max(plot_left_edge(&cost_labels));
    let x = widen_scale(scale(&values));
    let top = below + 8 * SIZE;
    let right = WIDTH - MARGIN - 20;
    let upper = ParameterPlane { x, y, left, right, top, bottom: top + 340 };
    let lower_top = upper.bottom + 5 * SIZE;
    let lower = ParameterPlane { x, y: cost_scale, left, right, top: lower_top, bottom: lower_top + 180 };
    let texts = all.points().grid(axis)?;
    let label = |v: f64| {
        let at = values.iter().position(|known| *known == v);
        at.map_or(String::new(), |at| texts[at].clone())
    };
    let axis_of = |name| PlaneLabels { name, ticks: values.clone(), label: &label };
    upper.draw(&mut scene, &axis_of(""), &y_labels);
    lower.draw(&mut scene, &axis_of(&names[axis]), &cost_labels);
    let mut curve: Vec<(f64, Option<f64>)> = Vec::new();
    for (i, p) in line.iter().enumerate() {
        let value = by_value(p);
        curve.push((value, means[i].mean));
        let (px, py) = lower.to_pixels(value, costs[i]);
        let color = if is_similar(p) { NOT_WORSE } else { WORSE };
        scene.rect(px - 18, py, 36, lower.bottom - py, color);
        if color == WORSE && lower.bottom - py > 6 {
            scene.rect(px - 15, py + 3, 30, lower.bottom - py - 3, BACKGROUND_COLOR);
        }
    }
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    upper.curve_with_gaps(&mut scene, &curve, 3, PALETTE[3]);
    for (i, p) in line.iter().enumerate() {
        if let Some((mean, [low, high])) = means[i].mean.zip(means[i].ci95) {
            let clear = |v: f64| if v.is_finite() { v } else { mean };
            let color = if is_similar(p) { NOT_WORSE } else { WORSE };
            upper.mark_shaped(&mut scene, by_value(p), (clear(low), mean, clear(high)), (color, color == WORSE));
        }
    }
    let words = [(NOT_WORSE, "best, or inconclusive against the best"), (WORSE, "worse in paired differences")];
    let is_drawn = |color: Rgb| line.iter().any(|p| is_similar(p) == (color == NOT_WORSE));
    let words = words.into_iter().filter(|(color, _)| is_drawn(*color));
    let entries = words.map(|(color, word)| (color, word.to_owned(), color == WORSE));
    mark_legend(&mut scene, below + 3 * SIZE, entries);
    finish_scene(&mut scene, lower.bottom + 4 * SIZE, &footer_lines(of));
    Some(scene)
}

/// Extends the scale by 2 % at both ends so that bars fit.
fn widen_scale(scale: PlaneScale) -> PlaneScale {
    let mut wide = scale;
    if scale.log {
        let air = libm::pow(scale.to / scale.from, 0.02);
        (wide.from, wide.to) = (scale.from / air, scale.to * air);
    } else {
        let air = (scale.to - scale.from) * 0.02;
        (wide.from, wide.to) = (scale.from - air, scale.to + air);
    }
    wide
}

/// Returns the mean cost of a replication: money, or the node-hours of a fleet if no price is set.
fn cost(all: &SweepResults, point: usize) -> Option<f64> {
    let money = all.estimate(point, COST).mean;
    money.filter(|c| *c > 0.0).or_else(|| node_hours(all, point))
}

fn node_hours(all: &SweepResults, point: usize) -> Option<f64> {
    let names = all.names().iter().filter(|name| name.starts_with(NODE_HOURS));
    let mut sum = None;
    for name in names {
        let own: Vec<f64> = all.column(point, name).iter().copied().filter_map(MeasuredMetric::value).collect();
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        sum = Some(sum.unwrap_or(0.0) + mean);
    }
    sum
}

fn has_prices(all: &SweepResults) -> bool {
    let points = 0..all.points().count();
    points.into_iter().any(|p| all.estimate(p, COST).mean.is_some_and(|c| c > 0.0))
}
