//! Layouts of the charts of a comparison over time: goodput fan charts, availability and restart duration.
//!
//! The statistics come from `experiment::over_time`.

use super::compare_panel::{
    ComparedVariants, PanelAxis, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, legend, plot_left_edge,
    shrunk_font_size,
};
use crate::draw::colors::variant_color;
use crate::draw::heading::{MARGIN, shorten_name};
use crate::draw::scene::{BACKGROUND_COLOR, DrawScene, GRID, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::draw::svg::AREA_OPACITY;
use crate::draw::time_axis::{round_times, time_label};
use crate::planning::plane::PlaneScale;
use sim_analysis::experiment::over_time::{OverTime, over_time, restart_times};
use sim_analysis::format::count;
use std::collections::BTreeSet;

/// Plot heights in pixels: of one variant in the goodput chart, and of all variants in the other charts.
const GOODPUT_HEIGHT: i32 = 170;
const PLOT: i32 = 420;
/// Width reserved to the right of a plot.
const RIGHT_MARGIN: i32 = 300;
/// The first share of the time is ignored when the goodput axis is scaled, because early values vary widely.
const IGNORED_TIME_SHARE: f64 = 0.1;

/// Width of the lines of variants.
const LINE_WIDTH: u32 = 4;
/// Size in pixels of the cells in which lines coincide, and length of the dashes of coinciding lines.
const CELL: i32 = 4;
const DASH: i32 = 28;

/// Draws lines of equal width. Where some of them coincide, their colors alternate.
fn draw_curves(scene: &mut DrawScene, curves: &[(Vec<(i32, i32)>, Rgb)]) {
    let pieces: Vec<Vec<[(i32, i32); 2]>> = curves.iter().map(|(points, _)| subdivide(points)).collect();
    let cell = |[(x, y), (u, v)]: &[(i32, i32); 2]| ((x + u) / 2 / CELL, (y + v) / 2 / CELL);
    let cells: Vec<BTreeSet<(i32, i32)>> = pieces.iter().map(|own| own.iter().map(cell).collect()).collect();
    let is_near = |(x, y): (i32, i32), other: usize| {
        let near = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
        near.into_iter().any(|cell| cells[other].contains(&cell))
    };
    for (points, color) in curves.iter().filter(|(points, _)| points.len() > 1) {
        scene.line(points.clone(), LINE_WIDTH, *color);
    }
    for (i, own) in pieces.iter().enumerate() {
        let mut dash: Vec<(i32, i32)> = Vec::new();
        for piece in own {
            let at = cell(piece);
            let together: Vec<usize> = (0..curves.len()).filter(|other| *other == i || is_near(at, *other)).collect();
            let turn = (at.0 + at.1) * CELL / DASH;
            let is_own = together.len() > 1 && together[turn.rem_euclid(together.len() as i32) as usize] == i;
            if is_own {
                dash.extend(if dash.is_empty() { &piece[..] } else { &piece[1..] });
            }
            if !is_own && dash.len() > 1 {
                scene.line(std::mem::take(&mut dash), LINE_WIDTH, curves[i].1);
            }
        }
        if dash.len() > 1 {
            scene.line(dash, LINE_WIDTH, curves[i].1);
        }
    }
}

/// Divides a line into pieces of at most the size of a cell.
fn subdivide(points: &[(i32, i32)]) -> Vec<[(i32, i32); 2]> {
    let mut pieces = Vec::new();
    for pair in points.windows(2) {
        let ((x, y), (u, v)) = (pair[0], pair[1]);
        let n = ((u - x).abs().max((v - y).abs()) / CELL).max(1);
        let at = |k: i32| (x + (u - x) * k / n, y + (v - y) * k / n);
        pieces.extend((0..n).map(|k| [at(k), at(k + 1)]));
    }
    pieces
}

/// Returns the charts over time for which the comparison has data, with their file names.
pub(crate) fn figures(of: ComparedVariants<'_>) -> Vec<(&'static str, DrawScene)> {
    let mut figures = Vec::new();
    if let Some((jobset, mut variants)) = over_time(of.simulated_variants) {
        if let Some((from, to)) = of.window {
            for v in &mut variants {
                v.goodput.retain(|(t, _)| (from..=to).contains(t));
                v.at_work.retain(|(t, _)| (from..=to).contains(t));
            }
        }
        figures.push(("goodput", goodput(of, jobset, &variants)));
        figures.push(("availability", availability(of, jobset, &variants)));
    }
    let times: Vec<(Vec<f64>, usize)> = of.simulated_variants.iter().map(restart_times).collect();
    if times.iter().any(|(own, _)| own.len() > 1) {
        figures.push(("restarts", restarts(of, &times)));
    }
    figures
}

/// A vertical axis of shares from `low` to 1.
struct ComparedShares {
    low: f64,
    top: i32,
    bottom: i32,
}

impl ComparedShares {
    /// Creates an axis from the lowest value, rounded down to a tenth and at most 0.9.
    fn from_values(values: impl Iterator<Item = f64>, (top, bottom): (i32, i32)) -> ComparedShares {
        let low = values.fold(0.9, f64::min);
        let low = (low * 10.0).floor() / 10.0;
        ComparedShares { low, top, bottom }
    }

    /// Returns the y coordinate of a share, clamped to the axis.
    fn y(&self, share: f64) -> i32 {
        let part = ((share - self.low) / (1.0 - self.low)).clamp(0.0, 1.0);
        self.bottom - (part * f64::from(self.bottom - self.top)) as i32
    }

    fn draw(&self, scene: &mut DrawScene, axis: &PanelAxis) {
        for part in 0..=2 {
            let share = self.low + (1.0 - self.low) * f64::from(part) / 2.0;
            let y = self.y(share);
            scene.line(vec![(axis.left, y), (axis.right, y)], 2, GRID);
            let text = sim_analysis::format::percent(share, 0);
            scene.text((axis.left - 10, y), SIZE - 4, TextAnchor::Right, MUTED_COLOR, &text);
        }
    }
}

fn time_axis(of: ComparedVariants<'_>, variants: &[OverTime], (left, right): (i32, i32)) -> PanelAxis {
    let last = variants.iter().filter_map(|v| v.goodput.last());
    let to = last.map(|(after, _)| *after).fold(0.0, f64::max);
    let from = of.window.map_or(0.0, |(from, _)| from);
    PanelAxis { from, to: to.max(from + 1e-9), left, right }
}

/// Draws the time axis below a plot in days, hours, minutes or seconds. Returns the times of its labels.
fn draw_time_axis(scene: &mut DrawScene, axis: &PanelAxis, (top, bottom): (i32, i32)) -> Vec<f64> {
    let (unit, all) = round_times(axis.from, axis.to, 8);
    for &t in &all {
        let x = axis.x(t);
        scene.line(vec![(x, top), (x, bottom)], 2, GRID);
        let text = format!("{} {}", time_label(t, unit), unit.symbol());
        scene.text((x, bottom + SIZE), SIZE - 4, TextAnchor::Middle, MUTED_COLOR, &text);
    }
    all
}

/// Writes the number of replications of a variant that are left at these times, up to where its line stops.
fn draw_remaining(scene: &mut DrawScene, axis: &PanelAxis, (v, times): (&OverTime, &[f64]), y: i32, color: Rgb) {
    scene.text((axis.left - 48, y), SIZE - 4, TextAnchor::Right, MUTED_COLOR, "left");
    scene.rect(axis.left - 42, y - 6, 12, 12, color);
    let stop = v.goodput.last().map_or(0.0, |(after, _)| *after);
    for t in times.iter().filter(|t| **t <= stop) {
        let text = v.remaining(*t).to_string();
        scene.text((axis.x(*t), y), SIZE - 4, TextAnchor::Middle, MUTED_COLOR, &text);
    }
}

/// Returns the color of an area of this opacity on the background.
fn blend((r, g, b): Rgb, opacity: f64) -> Rgb {
    let mix = |own: u8, paper: u8| (f64::from(own) * opacity + f64::from(paper) * (1.0 - opacity)).round() as u8;
    (mix(r, BACKGROUND_COLOR.0), mix(g, BACKGROUND_COLOR.1), mix(b, BACKGROUND_COLOR.2))
}

/// Draws a panel per variant: the median, the p25 to p75 and p10 to p90 bands, and the median of the first variant.
fn goodput(of: ComparedVariants<'_>, jobset: &str, variants: &[OverTime]) -> DrawScene {
    /// Space below a plot for its labels.
    const LABELS: i32 = 4 * SIZE;
    let all = of.all;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: cumulative goodput of {jobset}", all.scenario);
    let subtitle = "productive time / time since all pods were first ready. Ended replications keep their last value; lines stop when half have ended";
    let top = comparison_heading(&mut scene, of.all, (&title, subtitle)) + 3 * SIZE;
    let first = format!("median of {}", all.variants[0].name);
    //  The bands are drawn over each other with the opacity of areas.
    let band = |layers: i32| blend(variant_color(0), 1.0 - libm::pow(1.0 - AREA_OPACITY, f64::from(layers)));
    let mut words = vec![
        (variant_color(0), "median".to_owned()),
        (band(2), "p25 to p75".to_owned()),
        (band(1), "p10 to p90".to_owned()),
    ];
    words.extend((variants.len() > 1).then_some((MUTED_COLOR, first)));
    words.push((BACKGROUND_COLOR, "left: replications that have not ended".to_owned()));
    let mut top = legend(&mut scene, top, words.into_iter()) + SIZE;
    let height = of.panel_height(variants.len(), top, (LABELS + 50, LABELS + GOODPUT_HEIGHT)) - LABELS;
    let axis = time_axis(of, variants, (plot_left_edge(all) + 70, WIDTH - MARGIN - RIGHT_MARGIN));
    let said = |v: &OverTime| {
        let from = axis.to * IGNORED_TIME_SHARE;
        let later = v.goodput.iter().filter(move |(after, _)| *after >= from);
        later.map(|(_, fan)| fan[0]).collect::<Vec<f64>>()
    };
    let lows: Vec<f64> = variants.iter().flat_map(said).collect();
    let label = of.label("goodput");
    for (i, v) in variants.iter().enumerate() {
        let y = ComparedShares::from_values(lows.iter().copied(), (top, top + height));
        draw_name(&mut scene, top + height / 2, &v.name, WIDTH / 4);
        let times = draw_time_axis(&mut scene, &axis, (top, top + height));
        draw_remaining(&mut scene, &axis, (v, &times), top + height + 2 * SIZE, variant_color(i));
        y.draw(&mut scene, &axis);
        let line = |nth: usize| v.goodput.iter().map(move |(t, fan)| (*t, fan[nth]));
        for (low, high) in [(0, 4), (1, 3)] {
            let there = line(low).map(|(t, s)| (axis.x(t), y.y(s)));
            let back = line(high).map(|(t, s)| (axis.x(t), y.y(s)));
            let mut points: Vec<(i32, i32)> = there.collect();
            points.extend(back.collect::<Vec<_>>().into_iter().rev());
            scene.area(points, variant_color(i));
        }
        let median =
            |v: &OverTime| -> Vec<(i32, i32)> { v.goodput.iter().map(|(t, fan)| (axis.x(*t), y.y(fan[2]))).collect() };
        if i > 0 {
            scene.line(median(&variants[0]), 2, MUTED_COLOR);
        }
        scene.line(median(v), 4, variant_color(i));
        if let Some((_, fan)) = v.goodput.last() {
            let text = format!("{}  ({} to {})", label.value(fan[2]), label.tick(fan[0]), label.value(fan[4]));
            let at = (axis.right + 16, y.y(fan[2]).clamp(top + SIZE, top + height - SIZE));
            let size = shrunk_font_size(&text, SIZE - 2, RIGHT_MARGIN - 16);
            scene.text(at, size, TextAnchor::Left, TEXT_COLOR, &text);
        }
        top += height + LABELS;
    }
    finish_scene(&mut scene, top, of);
    scene
}

/// Draws a line per variant: the mean share of each sixtieth of the time in which all pods were at work.
fn availability(of: ComparedVariants<'_>, jobset: &str, variants: &[OverTime]) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: share of time with all pods of {jobset} at work", of.all.scenario);
    let subtitle = "in 60 equal intervals of the time since all pods were first ready; mean of the replications that have not ended. Lines stop when half have ended";
    let top = comparison_heading(&mut scene, of.all, (&title, subtitle)) + 3 * SIZE;
    let entries = variants.iter().enumerate();
    let entries = entries.map(|(i, v)| (variant_color(i), v.name.clone()));
    let note = (BACKGROUND_COLOR, "left: replications that have not ended".to_owned());
    let top = legend(&mut scene, top, entries.chain([note])) + SIZE;
    let axis = time_axis(of, variants, (MARGIN + 70, WIDTH - MARGIN));
    let y = ComparedShares { low: 0.0, top, bottom: top + PLOT };
    let times = draw_time_axis(&mut scene, &axis, (top, top + PLOT));
    y.draw(&mut scene, &axis);
    let line =
        |(i, v): (usize, &OverTime)| (v.at_work.iter().map(|(t, s)| (axis.x(*t), y.y(*s))).collect(), variant_color(i));
    draw_curves(&mut scene, &variants.iter().enumerate().map(line).collect::<Vec<_>>());
    //  One line is enough if all variants have the same numbers.
    let numbers = |v: &OverTime| times.iter().map(|t| v.remaining(*t)).collect::<Vec<_>>();
    let is_common = variants.iter().all(|v| numbers(v) == numbers(&variants[0]));
    let rows = if is_common { 1 } else { variants.len() };
    for (i, v) in variants.iter().enumerate().take(rows) {
        let color = if is_common { BACKGROUND_COLOR } else { variant_color(i) };
        draw_remaining(&mut scene, &axis, (v, &times), top + PLOT + (i as i32 + 2) * SIZE, color);
    }
    finish_scene(&mut scene, top + PLOT + (rows as i32 + 3) * SIZE, of);
    scene
}

/// Draws the empirical distribution of restart durations, on a logarithmic axis if they differ by more than a factor.
fn restarts(of: ComparedVariants<'_>, times: &[(Vec<f64>, usize)]) -> DrawScene {
    let all = of.all;
    const MARKS: [f64; 11] = [0.1, 1.0, 3.0, 10.0, 30.0, 60.0, 300.0, 1200.0, 3600.0, 6.0 * 3600.0, 86_400.0];
    /// With fewer of these marks on the axis, round numbers are used instead.
    const FEW: usize = 2;
    /// Ratio of the longest to the shortest duration from which the axis is logarithmic.
    const LOG_FROM: f64 = 5.0;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: restart duration", all.scenario);
    let subtitle = "share of the restarts of all replications that took at most this long, from the fault or other interruption until every pod is ready";
    let top = comparison_heading(&mut scene, of.all, (&title, subtitle)) + 3 * SIZE;
    let rows = all.variants.iter().zip(times).enumerate();
    let entries = rows.map(|(i, (v, (over, left)))| {
        let unfinished = match left {
            0 => String::new(),
            n => format!(", {n} unfinished"),
        };
        let n = count(over.len() as u64, "restart");
        (variant_color(i), format!("{} ({n}{unfinished})", shorten_name(&v.name, SIZE, WIDTH / 3)))
    });
    let top = legend(&mut scene, top, entries) + SIZE;
    let values = || times.iter().flat_map(|(own, _)| own).copied();
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let is_log = high >= LOG_FROM * low.max(1e-3);
    let place = |s: f64| if is_log { libm::log10(s.max(1e-3)) } else { s };
    let (low, high) = (place(low), place(high));
    let air = ((high - low) * 0.06).max(if is_log { 0.002 } else { high * 0.01 }).max(1e-6);
    let axis = PanelAxis { from: low - air, to: high + air, left: MARGIN + 70, right: WIDTH - MARGIN };
    let bottom = top + PLOT;
    let y = ComparedShares { low: 0.0, top, bottom };
    y.draw(&mut scene, &axis);
    let label = of.label("restartLatency_s.p50");
    let mut free = i32::MIN;
    let seen = |m: &f64| (axis.from..=axis.to).contains(&place(*m));
    let mut marks: Vec<(f64, String)> = MARKS.into_iter().filter(seen).map(|mark| (mark, label.tick(mark))).collect();
    if !is_log {
        let (unit, times) = round_times(axis.from, axis.to, 6);
        let text = |t: f64| format!("{} {}", time_label(t, unit), unit.symbol());
        marks = times.into_iter().filter(seen).map(|t| (t, text(t))).collect();
    } else if marks.len() < FEW {
        let times = PlaneScale::new(libm::pow(10.0, axis.from), libm::pow(10.0, axis.to)).round_times(6);
        marks = times.into_iter().map(|mark| (mark, label.tick(mark))).collect();
    }
    for (mark, text) in marks {
        let x = axis.x(place(mark));
        let half = text_width(&text, SIZE - 4) / 2;
        if x - half <= free {
            continue;
        }
        free = x + half + 10;
        scene.line(vec![(x, top), (x, bottom)], 2, GRID);
        scene.text((x, bottom + SIZE), SIZE - 4, TextAnchor::Middle, MUTED_COLOR, &text);
    }
    let line = |(i, (own, _)): (usize, &(Vec<f64>, usize))| {
        let share = |k: usize| y.y(k as f64 / own.len() as f64);
        let step = |(k, s): (usize, &f64)| [(axis.x(place(*s)), share(k)), (axis.x(place(*s)), share(k + 1))];
        let mut points: Vec<_> = own.iter().enumerate().flat_map(step).collect();
        points.dedup();
        (points, variant_color(i))
    };
    draw_curves(&mut scene, &times.iter().enumerate().map(line).collect::<Vec<_>>());
    let middle = ((axis.left + axis.right) / 2, bottom + 5 * SIZE / 2);
    let axis_name = if is_log { "restart duration (logarithmic)" } else { "restart duration" };
    scene.text(middle, SIZE, TextAnchor::Middle, TEXT_COLOR, axis_name);
    finish_scene(&mut scene, bottom + 4 * SIZE, of);
    scene
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/compare_time.rs"]
mod tests;
