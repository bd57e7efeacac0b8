//! A plot with two axes: scales, grid lines, labels and marks.

use super::PlanProvenance;
use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width, ticks};
use crate::{figures::compare_panel::SIZE, metric_label::MetricLabel};

/// Width and height of all charts of planning results, in pixels.
pub const WIDTH: i32 = 1600;
pub const HEIGHT: i32 = 900;

/// The range of an axis.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PlaneScale {
    pub from: f64,
    pub to: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl PlaneScale {
    pub fn new(from: f64, to: f64) -> PlaneScale {
        let to = if to > from { to } else { from + 1.0 };
        PlaneScale { from, to, log: false }
    }

    /// Creates a logarithmic scale. `from` must be positive.
    pub fn logarithmic(from: f64, to: f64) -> PlaneScale {
        PlaneScale { log: true, ..PlaneScale::new(from, to) }
    }

    /// Returns about `count` round numbers of a unit.
    pub fn ticks_in(&self, count: usize, unit: f64) -> Vec<f64> {
        let scaled = PlaneScale { from: self.from / unit, to: self.to / unit, log: self.log };
        scaled.ticks(count).into_iter().map(|t| t * unit).collect()
    }

    /// Returns round times in seconds, for a logarithmic scale: at most `count`, unless only multiples of ten fit.
    pub fn time_ticks(&self, count: usize) -> Vec<f64> {
        const COARSE: [f64; 14] = [
            0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0,
            31_536_000.0, 315_360_000.0,
        ];
        const ALL: [f64; 34] = [
            0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0, 420.0, 600.0,
            900.0, 1_200.0, 1_800.0, 2_700.0, 3_600.0, 5_400.0, 7_200.0, 10_800.0, 14_400.0, 28_800.0, 86_400.0,
            172_800.0, 432_000.0, 864_000.0, 1_728_000.0, 4_320_000.0,
        ];
        let inside = |t: &f64| (self.from..=self.to).contains(t);
        let all: Vec<f64> = ALL.into_iter().filter(inside).collect();
        let coarse: Vec<f64> = COARSE.into_iter().filter(inside).collect();
        if all.len() > count && coarse.len() > 1 { coarse } else { all }
    }

    /// Returns round times in seconds, for a linear scale.
    pub fn round_times(&self, count: usize) -> Vec<f64> {
        let unit = match (self.to - self.from) / count as f64 {
            s if s < 60.0 => 1.0,
            s if s < 3_600.0 => 60.0,
            s if s < 86_400.0 => 3_600.0,
            _ => 86_400.0,
        };
        self.ticks_in(count, unit)
    }

    /// Creates a linear scale over the values with a margin of 8 % on both sides.
    pub fn from_values(values: impl Iterator<Item = f64>) -> PlaneScale {
        let finite = values.filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return PlaneScale::new(0.0, 1.0);
        }
        let air = ((high - low) * 0.08).max(high.abs() * 1e-6).max(1e-9);
        PlaneScale::new(low - air, high + air)
    }

    /// Creates the scale of a metric over the values. It does not leave the range of the metric.
    pub fn of_metric(values: impl Iterator<Item = f64>, metric: &MetricLabel) -> PlaneScale {
        let [low, high] = metric.range();
        let scale = PlaneScale::from_values(values.map(|v| v.clamp(low, high)));
        PlaneScale::new(scale.from.max(low), scale.to.min(high))
    }

    /// Creates the scale of differences of a metric, which contains zero. Without any difference it is one unit of the
    /// metric to both sides, because rounding errors are not an effect.
    pub fn around_zero(values: impl Iterator<Item = f64>, metric: &MetricLabel) -> PlaneScale {
        let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        if values.iter().all(|v| *v == 0.0) {
            let unit = metric.tick_unit(1.0);
            return PlaneScale::new(-unit, unit);
        }
        PlaneScale::from_values(values.into_iter().chain([0.0]))
    }

    fn share(&self, v: f64) -> f64 {
        if !v.is_finite() {
            return if v > 0.0 { 1.0 } else { 0.0 };
        }
        let share = if self.log {
            libm::log(v / self.from) / libm::log(self.to / self.from)
        } else {
            (v - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }

    /// Returns about `count` round numbers. A logarithmic scale ignores `count`.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        if self.log {
            return self.log_ticks();
        }
        let step = ticks(self.to - self.from, count).get(1).copied();
        let step = step.unwrap_or(self.to - self.from);
        let first = (self.from / step).ceil();
        let number = |i: u32| (first + f64::from(i)) * step;
        //  Avoids labels such as `-0` due to rounding errors.
        let clean = |v: f64| if v.abs() < step * 1e-9 { 0.0 } else { v };
        let inside = |v: &f64| *v <= self.to + step * 1e-9;
        (0..60).map(number).map(clean).take_while(inside).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let low = libm::floor(libm::log10(self.from)) as i32;
        let high = libm::ceil(libm::log10(self.to)) as i32;
        let steps: &[f64] = match high - low {
            ..=4 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let of = |power: i32| steps.iter().map(move |s| s * libm::pow(10.0, f64::from(power)));
        let all = (low..=high).flat_map(of);
        all.filter(|v| (self.from..=self.to).contains(v)).collect()
    }
}

/// A plot area with the scales of its axes; edges are in pixels.
pub struct ParameterPlane {
    pub x: PlaneScale,
    pub y: PlaneScale,
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
}

/// Name, tick positions and tick labels of an axis.
pub struct PlaneLabels<'a> {
    pub name: &'a str,
    pub ticks: Vec<f64>,
    pub label: &'a dyn Fn(f64) -> String,
}

impl ParameterPlane {
    /// Creates the only plot of a chart, below the heading and the legend.
    pub fn single(below: i32, (x, y): (PlaneScale, PlaneScale), labels: &PlaneLabels<'_>) -> ParameterPlane {
        ParameterPlane {
            x,
            y,
            left: plot_left_edge(labels),
            right: WIDTH - MARGIN - 20,
            top: below + 7 * SIZE,
            bottom: HEIGHT - MARGIN - 4 * SIZE,
        }
    }

    pub fn to_pixels(&self, x: f64, y: f64) -> (i32, i32) {
        let across = f64::from(self.right - self.left) * self.x.share(x);
        let up = f64::from(self.bottom - self.top) * self.y.share(y);
        (self.left + across as i32, self.bottom - up as i32)
    }

    pub fn draw(&self, scene: &mut DrawScene, x: &PlaneLabels<'_>, y: &PlaneLabels<'_>) {
        for &tick in &y.ticks {
            let at = self.to_pixels(self.x.from, tick).1;
            scene.line(vec![(self.left, at), (self.right, at)], 2, GRID);
            let label = (y.label)(tick);
            draw_label(scene, (self.left - 14, at), TextAnchor::Right, MUTED_COLOR, &label);
        }
        let mut free = i32::MIN;
        for &tick in &x.ticks {
            let at = self.to_pixels(tick, self.y.from).0;
            scene.line(vec![(at, self.top), (at, self.bottom)], 2, GRID);
            let label = (x.label)(tick);
            let half = text_width(&label, SIZE) / 2;
            if at - half > free {
                scene.text((at, self.bottom + SIZE), SIZE, TextAnchor::Middle, MUTED_COLOR, &label);
                free = at + half + 14;
            }
        }
        scene.line(vec![(self.left, self.bottom), (self.right, self.bottom)], 2, MUTED_COLOR);
        let middle = (self.left + self.right) / 2;
        let below = self.bottom + 5 * SIZE / 2;
        draw_label(scene, (middle, below), TextAnchor::Middle, TEXT_COLOR, &axis_title(x.name, self.x));
        let above = (MARGIN, self.top - SIZE - 6);
        draw_label(scene, above, TextAnchor::Left, TEXT_COLOR, &axis_title(y.name, self.y));
    }

    /// Fills the area between two x values.
    pub fn fill_between_x(&self, scene: &mut DrawScene, [low, high]: [f64; 2], color: Rgb) {
        let (left, right) = (self.to_pixels(low, self.y.from).0, self.to_pixels(high, self.y.from).0);
        let (top, bottom) = (self.top, self.bottom);
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        scene.area(corners, color);
    }

    pub fn vertical_line(&self, scene: &mut DrawScene, x: f64, width: u32, color: Rgb) {
        let at = self.to_pixels(x, self.y.from).0;
        scene.line(vec![(at, self.top), (at, self.bottom)], width, color);
    }

    pub fn horizontal_line(&self, scene: &mut DrawScene, y: f64, width: u32, color: Rgb) {
        let at = self.to_pixels(self.x.from, y).1;
        scene.line(vec![(self.left, at), (self.right, at)], width, color);
    }

    /// Fills the area between two curves over the same points.
    pub fn fill_between_curves(&self, scene: &mut DrawScene, points: &[(f64, f64, f64)], color: Rgb) {
        let upper = points.iter().map(|(x, _, high)| self.to_pixels(*x, *high));
        let lower = points.iter().rev().map(|(x, low, _)| self.to_pixels(*x, *low));
        scene.area(upper.chain(lower).collect(), color);
    }

    pub fn curve(&self, scene: &mut DrawScene, points: &[(f64, f64)], width: u32, color: Rgb) {
        let points: Vec<_> = points.iter().map(|(x, y)| self.to_pixels(*x, *y)).collect();
        if points.len() > 1 {
            scene.line(points, width, color);
        }
    }

    /// Draws a curve through adjacent points only: a point without a value interrupts it.
    pub fn curve_with_gaps(&self, scene: &mut DrawScene, points: &[(f64, Option<f64>)], width: u32, color: Rgb) {
        for part in points.split(|(_, y)| y.is_none()) {
            let known: Vec<(f64, f64)> = part.iter().filter_map(|(x, y)| Some((*x, (*y)?))).collect();
            self.curve(scene, &known, width, color);
        }
    }

    /// Draws a mark with a vertical interval.
    pub fn mark(&self, scene: &mut DrawScene, x: f64, range: (f64, f64, f64), color: Rgb) {
        self.mark_shaped(scene, x, range, (color, false));
    }

    /// Draws a filled or hollow mark with a vertical interval.
    pub fn mark_shaped(
        &self, scene: &mut DrawScene, x: f64, (low, value, high): (f64, f64, f64), (color, is_hollow): (Rgb, bool),
    ) {
        scene.line(vec![self.to_pixels(x, low), self.to_pixels(x, high)], 4, color);
        scene.mark(self.to_pixels(x, value), 14, color, is_hollow);
    }
}

/// Returns the title of an axis, which states a logarithmic scale.
pub(crate) fn axis_title(name: &str, scale: PlaneScale) -> String {
    if scale.log && !name.is_empty() { format!("{name} (logarithmic)") } else { name.to_owned() }
}

/// Draws a text unless it is empty. Panels to the right of the first one have no axis labels.
fn draw_label(scene: &mut DrawScene, at: (i32, i32), anchor: TextAnchor, color: Rgb, text: &str) {
    if !text.is_empty() {
        scene.text(at, SIZE, anchor, color, text);
    }
}

/// Returns the x coordinate of the left edge of a plot with these labels on its y axis.
pub fn plot_left_edge(labels: &PlaneLabels<'_>) -> i32 {
    let widths = labels.ticks.iter().map(|t| text_width(&(labels.label)(*t), SIZE));
    MARGIN + widths.max().unwrap_or(0) + 20
}

/// Draws the footer of a chart: provenance and assumptions.
pub fn draw_provenance(scene: &mut DrawScene, of: &PlanProvenance) {
    let line = of.provenance_line();
    let size = fitting_font_size(&line, 22, WIDTH - 2 * MARGIN).min(22);
    let size = size.min(22 * (WIDTH - 2 * MARGIN) / text_width(&line, 22).max(1));
    let bottom = scene.height as i32 - MARGIN / 2;
    scene.text((MARGIN, bottom), size, TextAnchor::Left, MUTED_COLOR, &line);
    scene.height += footer_height(&of.assumption_lines, WIDTH) as u32;
    draw_footer(scene, &of.assumption_lines);
}
