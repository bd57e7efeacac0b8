//! A plot with two axes: scales, grid lines, labels and marks.

use super::Provenance;
use crate::draw::heading::{MARGIN, fitting, foot, foot_height};
use crate::draw::scene::*;
use crate::figures::compare_panel::SIZE;

/// Width and height of all charts of planning results, in pixels.
pub const WIDTH: i32 = 1600;
pub const HEIGHT: i32 = 900;

/// The range of an axis.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Scale {
    pub from: f64,
    pub to: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl Scale {
    pub fn new(from: f64, to: f64) -> Scale {
        let to = if to > from { to } else { from + 1.0 };
        Scale {
            from,
            to,
            log: false,
        }
    }

    /// Creates a logarithmic scale. `from` must be positive.
    pub fn log(from: f64, to: f64) -> Scale {
        Scale {
            log: true,
            ..Scale::new(from, to)
        }
    }

    /// Returns round times in seconds, for a logarithmic scale.
    pub fn times(&self) -> Vec<f64> {
        const ALL: [f64; 28] = [
            1.0,
            2.0,
            5.0,
            10.0,
            20.0,
            30.0,
            60.0,
            120.0,
            180.0,
            300.0,
            420.0,
            600.0,
            900.0,
            1_200.0,
            1_800.0,
            2_700.0,
            3_600.0,
            5_400.0,
            7_200.0,
            10_800.0,
            14_400.0,
            28_800.0,
            86_400.0,
            172_800.0,
            432_000.0,
            864_000.0,
            1_728_000.0,
            4_320_000.0,
        ];
        let inside = |t: &f64| (self.from..=self.to).contains(t);
        ALL.into_iter().filter(inside).collect()
    }

    /// Returns round times in seconds, for a linear scale.
    pub fn round_times(&self, count: usize) -> Vec<f64> {
        let unit = match (self.to - self.from) / count as f64 {
            s if s < 60.0 => 1.0,
            s if s < 3_600.0 => 60.0,
            s if s < 86_400.0 => 3_600.0,
            _ => 86_400.0,
        };
        let scaled = Scale::new(self.from / unit, self.to / unit);
        scaled.ticks(count).into_iter().map(|t| t * unit).collect()
    }

    /// Creates a linear scale over the values with a margin of 8 % on both sides.
    pub fn over(values: impl Iterator<Item = f64>) -> Scale {
        let finite = values.filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Scale::new(0.0, 1.0);
        }
        let air = ((high - low) * 0.08).max(high.abs() * 1e-6).max(1e-9);
        Scale::new(low - air, high + air)
    }

    fn share(&self, v: f64) -> f64 {
        let share = match self.log {
            true => libm::log(v / self.from) / libm::log(self.to / self.from),
            false => (v - self.from) / (self.to - self.from),
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
        let of = |power: i32| {
            steps
                .iter()
                .map(move |s| s * libm::pow(10.0, f64::from(power)))
        };
        let all = (low..=high).flat_map(of);
        all.filter(|v| (self.from..=self.to).contains(v)).collect()
    }
}

/// A plot area with the scales of its axes; edges are in pixels.
pub struct Plane {
    pub x: Scale,
    pub y: Scale,
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
}

/// Name, tick positions and tick labels of an axis.
pub struct Labels<'a> {
    pub name: &'a str,
    pub ticks: Vec<f64>,
    pub label: &'a dyn Fn(f64) -> String,
}

impl Plane {
    /// Creates the only plot of a chart, below the heading and the legend.
    pub fn alone(below: i32, (x, y): (Scale, Scale), labels: &Labels<'_>) -> Plane {
        Plane {
            x,
            y,
            left: left_of(labels),
            right: WIDTH - MARGIN - 20,
            top: below + 7 * SIZE,
            bottom: HEIGHT - MARGIN - 4 * SIZE,
        }
    }

    pub fn at(&self, x: f64, y: f64) -> (i32, i32) {
        let across = f64::from(self.right - self.left) * self.x.share(x);
        let up = f64::from(self.bottom - self.top) * self.y.share(y);
        (self.left + across as i32, self.bottom - up as i32)
    }

    pub fn draw(&self, scene: &mut Scene, x: &Labels<'_>, y: &Labels<'_>) {
        for &tick in &y.ticks {
            let at = self.at(self.x.from, tick).1;
            scene.line(vec![(self.left, at), (self.right, at)], 2, GRID);
            let label = (y.label)(tick);
            said(scene, (self.left - 14, at), Anchor::Right, FAINT, &label);
        }
        let mut free = i32::MIN;
        for &tick in &x.ticks {
            let at = self.at(tick, self.y.from).0;
            scene.line(vec![(at, self.top), (at, self.bottom)], 2, GRID);
            let label = (x.label)(tick);
            let half = text_width(&label, SIZE) / 2;
            if at - half > free {
                scene.text(
                    (at, self.bottom + SIZE),
                    SIZE,
                    Anchor::Middle,
                    FAINT,
                    &label,
                );
                free = at + half + 14;
            }
        }
        scene.line(
            vec![(self.left, self.bottom), (self.right, self.bottom)],
            2,
            FAINT,
        );
        let middle = (self.left + self.right) / 2;
        let below = self.bottom + 5 * SIZE / 2;
        said(scene, (middle, below), Anchor::Middle, INK, x.name);
        let above = (MARGIN, self.top - SIZE - 6);
        said(scene, above, Anchor::Left, INK, y.name);
    }

    /// Fills the area between two x values.
    pub fn between(&self, scene: &mut Scene, [low, high]: [f64; 2], color: Color) {
        let (left, right) = (self.at(low, self.y.from).0, self.at(high, self.y.from).0);
        let (top, bottom) = (self.top, self.bottom);
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        scene.area(corners, color);
    }

    /// Draws a vertical line.
    pub fn upright(&self, scene: &mut Scene, x: f64, width: u32, color: Color) {
        let at = self.at(x, self.y.from).0;
        scene.line(vec![(at, self.top), (at, self.bottom)], width, color);
    }

    /// Draws a horizontal line.
    pub fn level(&self, scene: &mut Scene, y: f64, width: u32, color: Color) {
        let at = self.at(self.x.from, y).1;
        scene.line(vec![(self.left, at), (self.right, at)], width, color);
    }

    /// Fills the area between two curves over the same points.
    pub fn band(&self, scene: &mut Scene, points: &[(f64, f64, f64)], color: Color) {
        let upper = points.iter().map(|(x, _, high)| self.at(*x, *high));
        let lower = points.iter().rev().map(|(x, low, _)| self.at(*x, *low));
        scene.area(upper.chain(lower).collect(), color);
    }

    pub fn curve(&self, scene: &mut Scene, points: &[(f64, f64)], width: u32, color: Color) {
        let points: Vec<_> = points.iter().map(|(x, y)| self.at(*x, *y)).collect();
        if points.len() > 1 {
            scene.line(points, width, color);
        }
    }

    /// Draws a mark with a vertical interval.
    pub fn mark(
        &self,
        scene: &mut Scene,
        x: f64,
        (low, value, high): (f64, f64, f64),
        color: Color,
    ) {
        scene.line(vec![self.at(x, low), self.at(x, high)], 4, color);
        let (px, py) = self.at(x, value);
        scene.rect(px - 7, py - 7, 14, 14, color);
    }
}

/// Draws a text unless it is empty. Panels to the right of the first one have no axis labels.
fn said(scene: &mut Scene, at: (i32, i32), anchor: Anchor, color: Color, text: &str) {
    if !text.is_empty() {
        scene.text(at, SIZE, anchor, color, text);
    }
}

/// Returns the x coordinate of the left edge of a plot with these labels on its y axis.
pub fn left_of(labels: &Labels<'_>) -> i32 {
    let widths = labels
        .ticks
        .iter()
        .map(|t| text_width(&(labels.label)(*t), SIZE));
    MARGIN + widths.max().unwrap_or(0) + 20
}

/// Draws the footer of a chart: provenance and assumptions.
pub fn provenance(scene: &mut Scene, of: &Provenance) {
    let line = of.line();
    let size = fitting(&line, 22, WIDTH - 2 * MARGIN).min(22);
    let size = size.min(22 * (WIDTH - 2 * MARGIN) / text_width(&line, 22).max(1));
    let bottom = scene.height as i32 - MARGIN / 2;
    scene.text((MARGIN, bottom), size, Anchor::Left, FAINT, &line);
    scene.height += foot_height(&of.hangs, WIDTH) as u32;
    foot(scene, &of.hangs);
}
