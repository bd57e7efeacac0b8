//! Charts of a metric over a swept field: median and quantile bands along an axis of discrete values, and scatter
//! plots along a range.

use super::super::compare_panel::legend;
use super::{SIZE, SweptMetric, WIDTH, finish_scene, footer_lines, metric_ticks, number, numbers, ranges, scale};
use crate::draw::heading::{MARGIN, heading, shorten_name};
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, TextAnchor};
use crate::metric_label::parameter_tick;
use crate::planning::plane::{ParameterPlane, PlaneLabels, PlaneScale, plot_left_edge};
use sim_analysis::format::count;
use sim_analysis::planning::RangeUnit;
use sim_analysis::sweep::SweepResults;

/// Maximum number of panels.
const PANELS: usize = 6;
const PLOT: i32 = 460;
const COLOR: Rgb = PALETTE[2];
/// Width of the note that an axis is logarithmic.
const LOG_WIDTH: i32 = 150;

/// Returns the points grouped into lines that differ only in this axis, in the order of its values.
pub fn points_by_line(all: &SweepResults, axis: usize) -> Vec<Vec<usize>> {
    let mut lines: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for point in 0..all.points().count() {
        let mut others = all.points().indexes(point);
        others.remove(axis);
        match lines.iter_mut().find(|(known, _)| *known == others) {
            Some((_, points)) => points.push(point),
            None => lines.push((others, vec![point])),
        }
    }
    lines.into_iter().map(|(_, points)| points).collect()
}

/// Draws a panel per combination of the other axes, all on the same scale.
pub fn bands(of: SweptMetric<'_>, metric: &str, axis: usize) -> DrawScene {
    let (identity, all) = (of.identity, of.results);
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let (names, metric_label) = (of.axes(), of.label(metric));
    let name = &names[axis];
    let title = format!("{}: {} by {name}", identity.scenario, metric_label.name);
    let every = points_by_line(all, axis);
    let listed: Vec<&Vec<usize>> = every.iter().take(PANELS).collect();
    let subtitle = match every.len() - listed.len() {
        0 => "median and central 80 % of the replications".to_owned(),
        more => format!("median and central 80 % of the replications; {more} more combinations are in the table"),
    };
    let top = heading(&mut scene, &title, &subtitle) + 3 * SIZE;
    let entries = [(COLOR, "median".to_owned()), (PALETTE[3], "p10 to p90".to_owned())];
    let top = legend(&mut scene, top, entries.into_iter()) + 4 * SIZE;
    let bounds = listed.iter().flat_map(|line| line.iter()).flat_map(|p| {
        let e = all.estimate(*p, metric);
        [e.p10, e.p90, e.mean]
    });
    let y = PlaneScale::of_metric(bounds.flatten(), &metric_label);
    let values = numbers(all, axis).unwrap_or_default();
    let labels = all.points().grid(axis).unwrap_or(&[]);
    let y_label = |v: f64| metric_label.tick(v);
    let y_name = metric_label.axis();
    let y_ticks = || metric_ticks(&metric_label, y, 6);
    let first = PlaneLabels { name: &y_name, ticks: y_ticks(), label: &y_label };
    let left = plot_left_edge(&first);
    let gap = 30;
    let panels = listed.len() as i32;
    let width = (WIDTH - MARGIN - left - gap * (panels - 1)) / panels;
    let label = |v: f64| {
        let at = values.iter().position(|known| *known == v);
        at.map_or(String::new(), |at| labels[at].clone())
    };
    for (i, line) in listed.iter().enumerate() {
        let left = left + i as i32 * (width + gap);
        let plane = ParameterPlane { x: scale(&values), y, left, right: left + width, top, bottom: top + PLOT };
        let none = |_: f64| String::new();
        let y_labels = match i {
            0 => PlaneLabels { name: &y_name, ticks: y_ticks(), label: &y_label },
            _ => PlaneLabels { name: "", ticks: y_ticks(), label: &none },
        };
        let x_name = shorten_name(name, SIZE, width - if plane.x.log { LOG_WIDTH } else { 0 });
        plane.draw(&mut scene, &PlaneLabels { name: &x_name, ticks: values.clone(), label: &label }, &y_labels);
        let others = other_axis_values(all, axis, line[0], &names);
        let others = shorten_name(&others, SIZE, width);
        let at = ((left + left + width) / 2, top + PLOT + 4 * SIZE);
        scene.text(at, SIZE, TextAnchor::Middle, TEXT_COLOR, &others);
        draw_panel(&mut scene, &plane, all, metric, (line, &values));
    }
    finish_scene(&mut scene, top + PLOT + 6 * SIZE, &footer_lines(of));
    scene
}

/// Returns the values of the other axes at a point, for example `replicas 4, kube-scheduler QPS 50`.
pub fn other_axis_values(all: &SweepResults, axis: usize, point: usize, names: &[String]) -> String {
    let values = all.points().values(point);
    let each = names.iter().zip(values).enumerate();
    let each = each.filter(|(i, _)| *i != axis);
    let each: Vec<String> = each.map(|(_, (name, value))| format!("{name} {value}")).collect();
    each.join(", ")
}

fn draw_panel(
    scene: &mut DrawScene, plane: &ParameterPlane, all: &SweepResults, metric: &str,
    (points, values): (&[usize], &[f64]),
) {
    let mut estimates: Vec<_> = points.iter().zip(values).map(|(p, x)| (*x, all.estimate(*p, metric))).collect();
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
    //  A point without values interrupts the band and the line.
    let band: Vec<_> = estimates.iter().map(|(x, e)| Some((*x, e.p10?, e.p90?))).collect();
    for part in band.split(Option::is_none) {
        plane.fill_between_curves(scene, &part.iter().flatten().copied().collect::<Vec<_>>(), PALETTE[3]);
    }
    plane.curve_with_gaps(scene, &estimates.iter().map(|(x, e)| (*x, e.p50)).collect::<Vec<_>>(), 5, COLOR);
    for (x, e) in &estimates {
        if let Some(p50) = e.p50 {
            let (px, py) = plane.to_pixels(*x, p50);
            scene.rect(px - 5, py - 5, 10, 10, COLOR);
        }
    }
}

/// Draws a panel per range with all points of the Latin hypercube and the intervals of their means.
pub fn scatter(of: SweptMetric<'_>, metric: &str) -> DrawScene {
    let (identity, all) = (of.identity, of.results);
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let (names, metric_label) = (of.axes(), of.label(metric));
    let title = format!("{}: {} at the points of a Latin hypercube", identity.scenario, metric_label.name);
    let found = all.best(metric);
    let is_alone = found
        .as_ref()
        .is_some_and(|best| best.inconclusive.is_empty() && best.equal.is_empty() && best.unranked.is_empty());
    let best = found.as_ref().map(|b| b.point).filter(|_| is_alone);
    let subtitle = match found {
        Some(_) if is_alone => "mean of each point with its 95 % interval; best point in orange".to_owned(),
        Some(best) if best.inconclusive.is_empty() && best.equal.is_empty() => format!(
            "mean of each point with its 95 % interval; no best point: fewer replications of {} complete",
            count(best.unranked.len() as u64, "point")
        ),
        Some(best) => format!(
            "mean of each point with its 95 % interval; no best point: {} differ by nothing or are inconclusive",
            count((best.inconclusive.len() + best.equal.len()) as u64 + 1, "point")
        ),
        None => "mean of each point with its 95 % interval".to_owned(),
    };
    let top = heading(&mut scene, &title, &subtitle) + 5 * SIZE;
    let axes: Vec<usize> = ranges(all).into_iter().take(PANELS).collect();
    let points = 0..all.points().count();
    let estimates: Vec<_> = points.map(|p| all.estimate(p, metric)).collect();
    let bounds = estimates.iter().flat_map(|e| e.ci95.into_iter().flatten().chain(e.mean));
    let y = PlaneScale::of_metric(bounds, &metric_label);
    let y_label = |v: f64| metric_label.tick(v);
    let none = |_: f64| String::new();
    let y_name = metric_label.axis();
    let y_ticks = || metric_ticks(&metric_label, y, 6);
    let left = plot_left_edge(&PlaneLabels { name: &y_name, ticks: y_ticks(), label: &y_label });
    let gap = 30;
    let panels = axes.len() as i32;
    let width = (WIDTH - MARGIN - left - gap * (panels - 1)) / panels;
    for (i, axis) in axes.iter().enumerate() {
        let value = |p: usize| number(all.points().values(p)[*axis]);
        let values: Vec<f64> = (0..estimates.len()).filter_map(value).collect();
        let x = scale(&values);
        let left = left + i as i32 * (width + gap);
        let plane = ParameterPlane { x, y, left, right: left + width, top, bottom: top + PLOT };
        let label: &dyn Fn(f64) -> String = if i == 0 { &y_label } else { &none };
        let y_labels = PlaneLabels { name: if i == 0 { &y_name } else { "" }, ticks: y_ticks(), label };
        let is_time = all.points().values(0)[*axis].parse::<f64>().is_err();
        let x_label = move |v: f64| parameter_tick(v, if is_time { RangeUnit::Seconds } else { RangeUnit::Number });
        let ticks = if !is_time {
            x.ticks(6)
        } else if x.log {
            x.time_ticks(7)
        } else {
            x.round_times(6)
        };
        let x_name = shorten_name(&names[*axis], SIZE, width - if x.log { LOG_WIDTH } else { 0 });
        plane.draw(&mut scene, &PlaneLabels { name: &x_name, ticks, label: &x_label }, &y_labels);
        for (point, e) in estimates.iter().enumerate() {
            let Some((v, (mean, [low, high]))) = value(point).zip(e.mean.zip(e.ci95)) else {
                continue;
            };
            let clear = |v: f64| if v.is_finite() { v } else { mean };
            let color = if best == Some(point) { PALETTE[1] } else { COLOR };
            plane.mark(&mut scene, v, (clear(low), mean, clear(high)), color);
        }
    }
    finish_scene(&mut scene, top + PLOT + 4 * SIZE, &footer_lines(of));
    scene
}
