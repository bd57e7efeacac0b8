//! Layout of a restart as a waterfall: a row per step with the wait that preceded it, on one time axis.
//!
//! The content is the same as in the console output of `run`; both use `metrics::gate`.

use crate::console::waterfall::{describe_longest_waits_plainly, is_long_enough, plain_name};
use crate::draw::colors::phase_color;
use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height, heading, shorten};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, TEXT_COLOR, TextAnchor, text_width};
use crate::draw::time_axis::{round_times, time_label};
use sim_analysis::format;
use sim_analysis::format::seconds;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::restarts::bottleneck::{BottleneckShare, RestartBottleneck};
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_base::SimTime;

/// Minimum width of the first column, which contains the step and what it waited for.
const MIN_LABEL_WIDTH: i32 = 620;
/// Share of the chart width used for the first column in wide charts.
const LABEL_SHARE: (i32, i32) = (9, 20);
/// Minimum width of the bars.
const MIN_PLOT_WIDTH: i32 = 400;
const ROW: (i32, i32) = (50, 120);

/// Draws the waterfall of a restart. `below` contains the footer lines with provenance and assumptions.
pub fn waterfall(
    run: &RunView<'_>, r: &RestartMetrics, number: usize, below: &[String], size: (u32, u32),
) -> DrawScene {
    let gated = bottleneck::span_bottlenecks(run, r);
    let displayed: Vec<&BottleneckShare> = gated.iter().filter(|g| is_long_enough(g, r.total())).collect();
    let mut scene = DrawScene::new(size);
    let cause = run.with_failures(&format!(
        "cause: {}, {} after the start",
        format::cause(run, &r.cause),
        seconds(r.start.since(SimTime::ZERO))
    ));
    let top = heading(&mut scene, &format::restart_title(run, r, number), &cause) + 70;
    let rows = displayed.len().max(1) as i32;
    //  Height of the axis with its label, the line on the longest wait, and the footer.
    let under = 3 * 22 + 40 + footer_height(below, size.0 as i32);
    let room = size.1 as i32 - top - under;
    let row = (room / rows).clamp(ROW.0, ROW.1);
    scene.height = (top + rows * row + under) as u32;
    let bottom = top + rows * row;
    let durations = displayed.iter().map(|g| text_width(&seconds(g.span.duration()), 22));
    let right = size.0 as i32 - MARGIN - durations.max().unwrap_or(0) - 10;
    let words = MIN_LABEL_WIDTH.max(size.0 as i32 * LABEL_SHARE.0 / LABEL_SHARE.1);
    let words = words.min(right - MARGIN - 20 - MIN_PLOT_WIDTH);
    let axis = WaterfallAxis {
        left: MARGIN + words + 20,
        right,
        longest: r.total().seconds().max(1e-9),
        origin: format::origin(run, r),
    };
    grid(&mut scene, &axis, (top, bottom));
    for (i, g) in displayed.iter().enumerate() {
        draw_step(&mut scene, r, g, &axis, (top + i as i32 * row, row));
    }
    let text = describe_longest_waits_plainly(run, r);
    let width = size.0 as i32 - 2 * MARGIN;
    let y = bottom + 3 * 22 + 12;
    let at = fitting_font_size(&text, 24, width);
    scene.text((MARGIN, y), at, TextAnchor::Left, TEXT_COLOR, &shorten(&text, at, width));
    draw_footer(&mut scene, below);
    scene
}

/// Smallest font size of the texts of a row. Longer texts are shortened.
const SMALLEST_LABEL: i32 = 18;

struct WaterfallAxis {
    left: i32,
    right: i32,
    longest: f64,
    /// Noun for the time zero.
    origin: &'static str,
}

impl WaterfallAxis {
    fn x(&self, s: f64) -> i32 {
        self.left + (s / self.longest * f64::from(self.right - self.left)) as i32
    }
}

fn grid(scene: &mut DrawScene, axis: &WaterfallAxis, (top, bottom): (i32, i32)) {
    let (unit, ticks) = round_times(0.0, axis.longest, 7);
    for t in ticks {
        scene.line(vec![(axis.x(t), top), (axis.x(t), bottom)], 2, GRID);
        let label = time_label(t, unit);
        scene.text((axis.x(t), bottom + 20), 22, TextAnchor::Middle, MUTED_COLOR, &label);
    }
    scene.line(vec![(axis.left, bottom), (axis.right, bottom)], 2, MUTED_COLOR);
    let middle = (axis.left + axis.right) / 2;
    let words = format!("{} after the {}", unit.plural(), axis.origin);
    scene.text((middle, bottom + 46), 22, TextAnchor::Middle, MUTED_COLOR, &words);
}

fn draw_step(
    scene: &mut DrawScene, r: &RestartMetrics, g: &BottleneckShare, axis: &WaterfallAxis, (top, row): (i32, i32),
) {
    let what = r.describe_step(g.span.step);
    //  Charts do not cite rules.
    let plain = |gate: &RestartBottleneck| RestartBottleneck { name: plain_name(gate, r.pods), ..gate.clone() }.text();
    let gate = g.gate.as_ref().map(plain).unwrap_or_default();
    let color = phase_color(g.span.phase());
    scene.rect(MARGIN, top + row / 2 - 18, 8, 36, color);
    let left = MARGIN + 20;
    let line = |text: &str, size: i32| {
        let width = axis.left - MARGIN - 40;
        let at = size.min(size * width / text_width(text, size)).max(SMALLEST_LABEL);
        (at, shorten(text, at, width))
    };
    let (size, text) = line(&format!("{}: {what}", g.span.phase().as_str()), 22);
    scene.text((left, top + row / 2 - 12), size, TextAnchor::Left, TEXT_COLOR, &text);
    let (size, text) = line(&gate, 19);
    scene.text((left, top + row / 2 + 14), size, TextAnchor::Left, MUTED_COLOR, &text);
    let (from, to) = (g.span.from.since(r.start), g.span.to.since(r.start));
    let (x, end) = (axis.x(from.seconds()), axis.x(to.seconds()));
    let height = (row * 3 / 5).min(44);
    scene.rect(x, top + (row - height) / 2, (end - x).max(3), height, color);
    let elapsed = seconds(g.span.duration());
    scene.boxed_text((x.max(end) + 10, top + row / 2), 22, TEXT_COLOR, &elapsed);
}
