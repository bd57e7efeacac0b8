//! Charts of a metric over a swept field: median and quantile bands along an axis of discrete values, and scatter
//! plots along a range.

use super::super::compare_panel::legend;
use super::{
    SIZE, SweptMetric, WIDTH, finish_scene, footer_lines, format_value, metric_with_unit, number, numbers, ranges,
    scale,
};
use crate::draw::heading::{MARGIN, heading, shorten};
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, TextAnchor, tick_label};
use crate::planning::plane::{ParameterPlane, PlaneLabels, PlaneScale, plot_left_edge};
use crate::sweep_selection::axis_names;
use sim_analysis::sweep::SweepResults;

/// Maximum number of panels.
const PANELS: usize = 6;
const PLOT: i32 = 460;
const COLOR: Rgb = PALETTE[2];

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
    let names = axis_names(all);
    let name = &names[axis];
    let title = format!("{}: {} over {name}", identity.scenario, metric);
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
    let y = PlaneScale::from_values(bounds.flatten());
    let values = numbers(all, axis).unwrap_or_default();
    let labels = all.points().grid(axis).unwrap_or(&[]);
    let y_label = |v: f64| format_value(metric, Some(v));
    let y_name = metric_with_unit(metric);
    let first = PlaneLabels { name: &y_name, ticks: y.ticks(6), label: &y_label };
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
            0 => PlaneLabels { name: &y_name, ticks: y.ticks(6), label: &y_label },
            _ => PlaneLabels { name: "", ticks: y.ticks(6), label: &none },
        };
        let x_name = shorten(name, SIZE, width);
        plane.draw(&mut scene, &PlaneLabels { name: &x_name, ticks: values.clone(), label: &label }, &y_labels);
        let others = other_axis_values(all, axis, line[0], &names);
        let others = shorten(&others, SIZE, width);
        let at = ((left + left + width) / 2, top + PLOT + 4 * SIZE);
        scene.text(at, SIZE, TextAnchor::Middle, TEXT_COLOR, &others);
        draw_panel(&mut scene, &plane, all, metric, (line, &values));
    }
    finish_scene(&mut scene, top + PLOT + 6 * SIZE, &footer_lines(of));
    scene
}

/// Returns the values of the other axes at a point, for example `replicas=4, qps=50`.
pub fn other_axis_values(all: &SweepResults, axis: usize, point: usize, names: &[String]) -> String {
    let values = all.points().values(point);
    let each = names.iter().zip(values).enumerate();
    let each = each.filter(|(i, _)| *i != axis);
    let each: Vec<String> = each.map(|(_, (name, value))| format!("{name}={value}")).collect();
    each.join(", ")
}

fn draw_panel(
    scene: &mut DrawScene,
    plane: &ParameterPlane,
    all: &SweepResults,
    metric: &str,
    (points, values): (&[usize], &[f64]),
) {
    let mut estimates: Vec<_> = points.iter().zip(values).map(|(p, x)| (*x, all.estimate(*p, metric))).collect();
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let band = estimates.iter().filter_map(|(x, e)| Some((*x, e.p10?, e.p90?)));
    plane.fill_between_curves(scene, &band.collect::<Vec<_>>(), PALETTE[3]);
    let median = estimates.iter().filter_map(|(x, e)| Some((*x, e.p50?)));
    plane.curve(scene, &median.collect::<Vec<_>>(), 5, COLOR);
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
    let names = axis_names(all);
    let title = format!("{}: {} at the points of a Latin hypercube", identity.scenario, metric);
    let subtitle = "mean of each point with its 95 % interval; best point in orange";
    let top = heading(&mut scene, &title, subtitle) + 5 * SIZE;
    let axes: Vec<usize> = ranges(all).into_iter().take(PANELS).collect();
    let points = 0..all.points().count();
    let estimates: Vec<_> = points.map(|p| all.estimate(p, metric)).collect();
    let bounds = estimates.iter().flat_map(|e| e.ci95.into_iter().flatten().chain(e.mean));
    let y = PlaneScale::from_values(bounds);
    let y_label = |v: f64| format_value(metric, Some(v));
    let none = |_: f64| String::new();
    let y_name = metric_with_unit(metric);
    let left = plot_left_edge(&PlaneLabels { name: &y_name, ticks: y.ticks(6), label: &y_label });
    let gap = 30;
    let panels = axes.len() as i32;
    let width = (WIDTH - MARGIN - left - gap * (panels - 1)) / panels;
    let best = all.best(metric).map(|b| b.point);
    for (i, axis) in axes.iter().enumerate() {
        let value = |p: usize| number(all.points().values(p)[*axis]);
        let values: Vec<f64> = (0..estimates.len()).filter_map(value).collect();
        let x = scale(&values);
        let left = left + i as i32 * (width + gap);
        let plane = ParameterPlane { x, y, left, right: left + width, top, bottom: top + PLOT };
        let label: &dyn Fn(f64) -> String = if i == 0 { &y_label } else { &none };
        let y_labels = PlaneLabels { name: if i == 0 { &y_name } else { "" }, ticks: y.ticks(6), label };
        let is_time = all.points().values(0)[*axis].parse::<f64>().is_err();
        let x_label = move |v: f64| {
            if is_time { sim_base::Duration::from_seconds_f64(v).to_string() } else { tick_label(v) }
        };
        let ticks = if is_time { times(x) } else { x.ticks(6) };
        plane.draw(&mut scene, &PlaneLabels { name: &names[*axis], ticks, label: &x_label }, &y_labels);
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

/// Returns round times within a scale of seconds.
fn times(scale: PlaneScale) -> Vec<f64> {
    const ROUND: [f64; 22] = [
        0.1,
        0.2,
        0.5,
        1.0,
        2.0,
        5.0,
        10.0,
        30.0,
        60.0,
        120.0,
        300.0,
        600.0,
        1800.0,
        3600.0,
        7200.0,
        14_400.0,
        28_800.0,
        86_400.0,
        172_800.0,
        604_800.0,
        2_592_000.0,
        31_536_000.0,
    ];
    let inside = |v: &f64| (scale.from..=scale.to).contains(v);
    if scale.log {
        ROUND.into_iter().filter(inside).collect()
    } else {
        let span = scale.to - scale.from;
        let step = ROUND.into_iter().find(|r| span / r <= 7.0).unwrap_or(span / 5.0);
        let first = (scale.from / step).ceil();
        (0..20).map(|i| (first + f64::from(i)) * step).filter(inside).collect()
    }
}
