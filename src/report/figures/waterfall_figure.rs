//! Layout of a restart as a waterfall: a row per step with the wait that preceded it, on one axis of seconds.
//!
//! The content is the same as in the console output of `run`; both use `metrics::gate`.

use super::figure::color_of;
use crate::console::waterfall::{is_shown, longest};
use crate::draw::heading::{MARGIN, fitting, foot, foot_height, heading, shorten};
use crate::draw::scene::*;
use sim_analysis::format;
use sim_analysis::format::seconds;
use sim_analysis::metrics::restarts::gate;
use sim_analysis::metrics::restarts::gate::Gated;
use sim_analysis::metrics::restarts::waits;
use sim_analysis::metrics::{Restart, RunView};

/// Minimum width of the first column, which contains the step and what it waited for.
const WORDS: i32 = 620;
/// Share of the chart width used for the first column in wide charts.
const PART: (i32, i32) = (9, 20);
const ROW: (i32, i32) = (50, 92);

/// Draws the waterfall of a restart. `below` contains the footer lines with provenance and assumptions.
pub fn waterfall(
    run: &RunView<'_>,
    r: &Restart,
    number: usize,
    below: &[String],
    size: (u32, u32),
) -> Scene {
    let gated = gate::gated(run, r);
    let shown: Vec<&Gated> = gated.iter().filter(|g| is_shown(g, r.total())).collect();
    let mut scene = Scene::new(size);
    let cause = format!("cause: {}, at {}", format::cause(run, &r.cause), r.start);
    let top = heading(&mut scene, &format::restart_title(run, r, number), &cause) + 70;
    let rows = shown.len().max(1) as i32;
    //  Height of the axis with its label, the line on the longest wait, and the footer.
    let under = 3 * 22 + 40 + foot_height(below, size.0 as i32);
    let room = size.1 as i32 - top - under;
    let row = (room / rows).clamp(ROW.0, ROW.1);
    scene.height = scene.height.max((top + rows * row + under) as u32);
    let bottom = top + rows * row;
    let right = size.0 as i32 - MARGIN - text_width("000.0 s", 22) - 10;
    let words = WORDS.max(size.0 as i32 * PART.0 / PART.1);
    let axis = Axis {
        left: MARGIN + words + 20,
        right,
        longest: r.total().seconds().max(1e-9),
    };
    grid(&mut scene, &axis, (top, bottom));
    for (i, g) in shown.iter().enumerate() {
        step(&mut scene, r, g, &axis, (top + i as i32 * row, row));
    }
    let text = longest(run, r);
    let width = size.0 as i32 - 2 * MARGIN;
    let y = bottom + 3 * 22 + 12;
    let at = fitting(&text, 24, width);
    scene.text(
        (MARGIN, y),
        at,
        Anchor::Left,
        INK,
        &shorten(&text, at, width),
    );
    foot(&mut scene, below);
    scene
}

struct Axis {
    left: i32,
    right: i32,
    longest: f64,
}

impl Axis {
    fn x(&self, s: f64) -> i32 {
        self.left + (s / self.longest * f64::from(self.right - self.left)) as i32
    }
}

fn grid(scene: &mut Scene, axis: &Axis, (top, bottom): (i32, i32)) {
    for t in ticks(axis.longest, 7) {
        scene.line(vec![(axis.x(t), top), (axis.x(t), bottom)], 2, GRID);
        let label = tick_label(t);
        scene.text((axis.x(t), bottom + 20), 22, Anchor::Middle, FAINT, &label);
    }
    scene.line(vec![(axis.left, bottom), (axis.right, bottom)], 2, FAINT);
    let middle = (axis.left + axis.right) / 2;
    let words = "seconds after the fault";
    scene.text((middle, bottom + 46), 22, Anchor::Middle, FAINT, words);
}

fn step(scene: &mut Scene, r: &Restart, g: &Gated, axis: &Axis, (top, row): (i32, i32)) {
    let what = waits::with_pods(g.span.step.what, r.pods);
    let gate = g.gate.as_ref().map(|gate| gate.text()).unwrap_or_default();
    let color = color_of(g.span.phase());
    scene.rect(MARGIN, top + row / 2 - 18, 8, 36, color);
    let left = MARGIN + 20;
    let line = |text: &str, size: i32| {
        let width = axis.left - MARGIN - 40;
        let at = size.min(size * width / text_width(text, size)).max(16);
        (at, shorten(text, at, width))
    };
    let (size, text) = line(&format!("{}: {what}", g.span.phase().as_str()), 22);
    scene.text((left, top + row / 2 - 12), size, Anchor::Left, INK, &text);
    let (size, text) = line(&gate, 19);
    scene.text((left, top + row / 2 + 14), size, Anchor::Left, FAINT, &text);
    let (from, to) = (g.span.from.since(r.start), g.span.to.since(r.start));
    let (x, end) = (axis.x(from.seconds()), axis.x(to.seconds()));
    let height = (row * 3 / 5).min(44);
    scene.rect(x, top + (row - height) / 2, (end - x).max(3), height, color);
    let took = seconds(g.span.duration());
    scene.note((x.max(end) + 10, top + row / 2), 22, INK, &took);
}
