//! Layout of a scaling chart: a metric against a size, with one line per series and closed forms for comparison.
//! Axes are logarithmic where all values are positive.
//!
//! Points are simulation results and closed forms are formulas with given parameters. No curves are fitted.

use crate::draw::heading::{MARGIN, draw_footer, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_width, tick_label};
use crate::{draw::time_axis::TimeUnit, metric_label::parameter_tick, planning::plane::PlaneScale};
use sim_analysis::format::{seconds, thousands};
use sim_analysis::planning::RangeUnit;
use sim_base::Duration;

#[derive(Clone, Debug)]
pub struct ScalingLine {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Intervals: x, lower bound, upper bound.
    pub bars: Vec<(f64, f64, f64)>,
    /// Whether the line is a closed form, which is drawn thin and gray.
    pub is_closed_form: bool,
}

impl ScalingLine {
    pub fn new(name: String) -> ScalingLine {
        ScalingLine { name, points: Vec::new(), bars: Vec::new(), is_closed_form: false }
    }
}

/// Names of the axes and the formats of their labels.
pub struct ScalingAxes<'a> {
    pub x: &'a str,
    pub y: &'a str,
    pub x_label: &'a dyn Fn(f64) -> String,
    pub y_label: &'a dyn Fn(f64) -> String,
    /// Format of the values at the line ends, with their units.
    pub y_value: &'a dyn Fn(f64) -> String,
    /// Unit of round labels on an axis of a given length.
    pub y_unit: &'a dyn Fn(f64) -> f64,
    /// Whether `y` is a time. Its axis is then logarithmic if any value is positive.
    pub is_time: bool,
    /// Range of the metric. Intervals and the axis do not leave it.
    pub range: [f64; 2],
}

impl ScalingAxes<'_> {
    /// Axes for recovery time in seconds against the number of nodes.
    pub const NODES_TO_RECOVERY: ScalingAxes<'static> = ScalingAxes {
        x: "nodes",
        y: "time to recover",
        x_label: &|n| {
            if n >= 1000.0 { thousands(n as u64) } else { tick_label(n) }
        },
        y_label: &|v| parameter_tick(v, RangeUnit::Seconds),
        y_value: &|v| seconds(Duration::from_seconds_f64(v)),
        y_unit: &|span| TimeUnit::for_span(span).seconds(),
        is_time: true,
        range: [0.0, f64::INFINITY],
    };
}

/// Name of the closed form of a token bucket. Restarts in place create no pods, so that it does not apply to them.
pub const TOKEN_BUCKET_NAME: &str = "lower bound with new pods";
/// Explanation of the closed form in a footer.
pub const TOKEN_BUCKET_SCOPE: &str = "one request of the Job controller per node (calibration.md 6.6)  ·  bound of the \
    strategies that create all pods again, not of restarts in place";

/// Returns the time in seconds after which the last of `n` simultaneous requests passes a token bucket
/// (calibration.md 6.6).
pub fn token_bucket(n: f64, rate: f64, burst: f64) -> f64 {
    ((n - burst) / rate).max(0.0)
}

const COLORS: [usize; 7] = [1, 2, 4, 6, 7, 3, 0];
/// Width reserved for the names at the line ends.
const RIGHT_MARGIN: i32 = 330;
const SIZE: i32 = 22;
const NAME: i32 = 19;
/// Distance in pixels between the intervals of two lines at the same x value.
const SIDE_BY_SIDE: i32 = 16;

pub fn scaling(
    (title, subtitle): (&str, &str), axes: &ScalingAxes<'_>, lines: &[ScalingLine], below: &[String], size: (u32, u32),
) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let top = heading(&mut scene, title, subtitle) + 92;
    let bottom = size.1 as i32 - footer_height(below, size.0 as i32) - 80;
    //  A logarithmic axis cannot show values of 0, such as a closed form of 0 s. They are omitted.
    let all = || lines.iter().flat_map(|l| &l.points);
    let log_y = axes.is_time && all().any(|p| p.1 > 0.0);
    let format_value = |p: &&(f64, f64)| !log_y || p.1 > 0.0;
    let bars = lines.iter().flat_map(|l| &l.bars);
    let within = |v: f64| v.clamp(axes.range[0], axes.range[1]);
    let ends = bars.flat_map(|b| [within(b.1), within(b.2)]).filter(|v| !log_y || *v > 0.0);
    let heights = all().filter(format_value).map(|p| p.1).chain(ends);
    let y = ScalingAxis::from_values(heights, (bottom, top), log_y).within(axes.range);
    let ticks = y.ticks(axes);
    let widest = ticks.iter().map(|v| text_width(&(axes.y_label)(*v), SIZE));
    let left = MARGIN + widest.max().unwrap_or(0) + 12;
    let x_ends = (left, size.0 as i32 - MARGIN - RIGHT_MARGIN);
    let positive = all().all(|p| p.0 > 0.0);
    let x = ScalingAxis::from_values(all().filter(format_value).map(|p| p.0), x_ends, positive);
    for v in ticks {
        scene.line(vec![(x.from, y.to_pixels(v)), (x.to, y.to_pixels(v))], 2, GRID);
        let label = (axes.y_label)(v);
        scene.text((left - 12, y.to_pixels(v)), SIZE, TextAnchor::Right, MUTED_COLOR, &label);
    }
    draw_size_grid(&mut scene, &x, axes, all().map(|p| p.0).collect(), (top, bottom));
    let title = |name: &str, log: bool| if log { format!("{name} (logarithmic)") } else { name.to_owned() };
    let middle = (x.from + x.to) / 2;
    let words = shorten(&title(axes.x, x.log), SIZE, size.0 as i32 - 2 * MARGIN);
    scene.text((middle, bottom + 54), SIZE, TextAnchor::Middle, TEXT_COLOR, &words);
    let words = shorten(&title(axes.y, y.log), SIZE, x.to - MARGIN);
    scene.text((MARGIN, top - 32), SIZE, TextAnchor::Left, TEXT_COLOR, &words);
    draw(&mut scene, lines, axes, (&x, &y));
    draw_footer(&mut scene, below);
    scene
}

/// Draws a grid line and a label for each size.
fn draw_size_grid(
    scene: &mut DrawScene, x: &ScalingAxis, axes: &ScalingAxes<'_>, mut all: Vec<f64>, (top, bottom): (i32, i32),
) {
    all.sort_by(f64::total_cmp);
    all.dedup();
    let mut free = i32::MIN;
    for n in all {
        let label = (axes.x_label)(n);
        let half = text_width(&label, SIZE) / 2;
        scene.line(vec![(x.to_pixels(n), top), (x.to_pixels(n), bottom)], 2, GRID);
        if x.to_pixels(n) - half > free {
            let at = (x.to_pixels(n), bottom + SIZE);
            scene.text(at, SIZE, TextAnchor::Middle, MUTED_COLOR, &label);
            free = x.to_pixels(n) + half + 14;
        }
    }
}

fn draw(scene: &mut DrawScene, lines: &[ScalingLine], axes: &ScalingAxes<'_>, (x, y): (&ScalingAxis, &ScalingAxis)) {
    let mut ends: Vec<(i32, Rgb, String, String)> = Vec::new();
    let mut nth = 0;
    //  Lines with intervals are drawn side by side, so that the intervals do not cover each other.
    let intervals = lines.iter().filter(|line| !line.bars.is_empty()).count() as i32;
    let mut drawn_intervals = 0;
    for line in lines {
        let shift = if line.bars.is_empty() || intervals < 2 {
            0
        } else {
            drawn_intervals += 1;
            (2 * drawn_intervals - 1 - intervals) * SIDE_BY_SIDE / 2
        };
        let shown = line.points.iter().filter(|p| !y.log || p.1 > 0.0);
        let points: Vec<(i32, i32)> = shown.map(|p| (x.to_pixels(p.0) + shift, y.to_pixels(p.1))).collect();
        let Some(end) = points.last().copied() else {
            continue;
        };
        let color = if line.is_closed_form {
            MUTED_COLOR
        } else {
            nth += 1;
            PALETTE[COLORS[(nth - 1) % COLORS.len()]]
        };
        let last = line.points.last().map_or(0.0, |p| p.1);
        let value = (axes.y_value)(last);
        ends.push((end.1, color, line.name.clone(), value));
        for (at, low, high) in &line.bars {
            let (low, high) = (low.max(y.low).max(axes.range[0]), high.min(axes.range[1]));
            let px = x.to_pixels(*at) + shift;
            scene.line(vec![(px, y.to_pixels(low)), (px, y.to_pixels(high))], 2, color);
        }
        scene.line(points.clone(), if line.is_closed_form { 2 } else { 4 }, color);
        for (px, py) in points.iter().filter(|_| !line.is_closed_form) {
            scene.rect(px - 6, py - 6, 12, 12, color);
        }
    }
    names(scene, ends, (x, y));
}

/// Draws the names from top to bottom, each as close to the end of its line as possible.
fn names(scene: &mut DrawScene, mut ends: Vec<(i32, Rgb, String, String)>, (x, y): (&ScalingAxis, &ScalingAxis)) {
    let (top, bottom) = (y.to, y.from);
    //  A name that does not fit beside its value takes a line of its own.
    let fits = |name: &str, value: &str| text_width(&format!("{name}  {value}"), NAME) <= RIGHT_MARGIN - 36;
    let is_wrapped = ends.iter().any(|(_, _, name, value)| !fits(name, value));
    let full = if is_wrapped { 2 * NAME + 14 } else { SIZE + 8 };
    let step = full.min((bottom - top) / (ends.len() as i32).max(1));
    let is_wrapped = is_wrapped && step >= 2 * NAME + 6;
    ends.sort_by_key(|e| e.0);
    let mut free = top;
    for (at, ..) in &mut ends {
        *at = (*at).max(free);
        free = *at + step;
    }
    let mut last = bottom;
    for (at, ..) in ends.iter_mut().rev() {
        *at = (*at).min(last);
        last = *at - step;
    }
    for (at, color, name, value) in ends {
        scene.rect(x.to + 14, at - 7, 14, 14, color);
        let width = RIGHT_MARGIN - 36;
        let mut text = |y: i32, text: &str| scene.text((x.to + 36, y), NAME, TextAnchor::Left, TEXT_COLOR, text);
        if is_wrapped && !fits(&name, &value) {
            text(at - NAME / 2 - 2, &shorten_name(&name, NAME, width));
            text(at + NAME / 2 + 2, &value);
        } else {
            let room = width - text_width(&format!("  {value}"), NAME);
            text(at, &format!("{}  {value}", shorten_name(&name, NAME, room)));
        }
    }
}

/// An axis that maps a range of values to pixels.
struct ScalingAxis {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
    log: bool,
}

impl ScalingAxis {
    fn from_values(values: impl Iterator<Item = f64>, (from, to): (i32, i32), log: bool) -> ScalingAxis {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match low <= high {
            true if log => (low, high.max(low * 1.01)),
            true => (low, high.max(low + low.abs().max(1.0) * 0.01)),
            false => (1.0, 10.0),
        };
        let (low, high) = if log {
            let air = libm::pow(high / low, 0.04);
            (low / air, high * air)
        } else {
            let air = (high - low) * 0.04;
            (low - air, high + air)
        };
        ScalingAxis { low, high, from, to, log }
    }

    /// Limits a linear axis to the range of the metric.
    fn within(self, [low, high]: [f64; 2]) -> ScalingAxis {
        let (low, high) = (self.low.max(low), self.high.min(high));
        if self.log || low >= high {
            return self;
        }
        ScalingAxis { low, high, ..self }
    }

    fn to_pixels(&self, v: f64) -> i32 {
        let share = if self.log {
            libm::log(v / self.low) / libm::log(self.high / self.low)
        } else {
            (v - self.low) / (self.high - self.low)
        };
        self.from + (share * f64::from(self.to - self.from)) as i32
    }

    /// Returns round numbers. On a logarithmic axis of numbers these are 1, 2 and 5 times each power of ten, or only
    /// the powers if the range exceeds three decades.
    fn ticks(&self, axes: &ScalingAxes<'_>) -> Vec<f64> {
        let linear = |count| PlaneScale::new(self.low, self.high).ticks_in(count, (axes.y_unit)(self.high - self.low));
        if !self.log {
            return linear(6);
        }
        if axes.is_time {
            let round = PlaneScale::logarithmic(self.low, self.high).time_ticks(10);
            return if round.len() < 2 { linear(4) } else { round };
        }
        let first = libm::floor(libm::log10(self.low)) as i32;
        let last = libm::ceil(libm::log10(self.high)) as i32;
        let steps: &[f64] = match last - first {
            ..=3 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let all = (first..=last).flat_map(|p| steps.iter().map(move |s| s * libm::pow(10.0, f64::from(p))));
        let all: Vec<f64> = all.filter(|v| (self.low..=self.high).contains(v)).collect();
        match all.len() {
            //  A narrow range on a logarithmic axis gets linear ticks.
            ..2 => linear(4),
            _ => all,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/scaling_figure.rs"]
mod tests;
