//! Shared parts of the charts of a comparison: sizes, axes, names, legends and footers.

use crate::console::compare::{failures, format_metric_value, is_seconds};
use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height, heading, shorten};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_width, ticks};
use sim_analysis::experiment::VariantComparison;
use sim_analysis::format::count;

pub(crate) const WIDTH: i32 = 1600;

/// Font size, and the line height of panels.
pub(crate) const SIZE: i32 = 22;

pub(crate) const ROW: i32 = 40;

/// A comparison, and the footer lines with its assumptions.
pub(crate) type ComparedVariants<'a> = (&'a VariantComparison, &'a [String]);

/// Draws title and subtitle, and a line below them if the JobSet fails in some replications. Returns the y coordinate
/// below them.
pub(crate) fn comparison_heading(
    scene: &mut DrawScene,
    all: &VariantComparison,
    (title, subtitle): (&str, &str),
) -> i32 {
    let below = heading(scene, title, subtitle);
    let Some(failures) = failures(all) else {
        return below;
    };
    let (below, width) = (below + 3 * SIZE / 2, WIDTH - 2 * MARGIN);
    let size = fitting_font_size(&failures, SIZE, width);
    let text = shorten(&failures, size, width);
    scene.text((MARGIN, below + SIZE / 2), size, TextAnchor::Left, PALETTE[1], &text);
    below
}

/// Sets the height of the scene and draws the footer with provenance and assumptions below the last panel.
pub(crate) fn finish_scene(scene: &mut DrawScene, top: i32, (all, footer): ComparedVariants<'_>) {
    let mut lines = provenance(all);
    lines.extend_from_slice(footer);
    scene.height = (top + SIZE + footer_height(&lines, WIDTH)) as u32;
    draw_footer(scene, &lines);
}

/// Returns the footer lines with program version, scenario, seed, number of replications and digests.
pub fn provenance(all: &VariantComparison) -> Vec<String> {
    let of = |v: &sim_analysis::experiment::VariantEstimates| format!("{} {:016x}", v.name, v.digest);
    let digests: Vec<String> = all.variants.iter().map(of).collect();
    let n = all.variants.iter().map(|v| v.replications).max();
    vec![
        format!(
            "jobset-sim {}  ·  scenario {}  ·  seed {}  ·  {} per variant",
            all.version,
            all.scenario,
            all.seed,
            count(n.unwrap_or(0) as u64, all.level.replication_term())
        ),
        format!("digests: {}", digests.join("  ·  ")),
    ]
}

/// A horizontal axis that maps a range of values to pixels.
pub(crate) struct PanelAxis {
    pub from: f64,
    pub to: f64,
    pub left: i32,
    pub right: i32,
}

impl PanelAxis {
    /// Creates an axis over the values with a margin of 6 % on both sides.
    pub(crate) fn from_values(values: impl Iterator<Item = f64>, (left, right): (i32, i32)) -> PanelAxis {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let air = ((high - low) * 0.06).max(high.abs() * 1e-6).max(1e-12);
        PanelAxis { from: low - air, to: high + air, left, right }
    }

    pub fn x(&self, v: f64) -> i32 {
        let share = (v - self.from) / (self.to - self.from);
        self.left + (share * f64::from(self.right - self.left)) as i32
    }

    /// Returns about `count` values that are round numbers of `unit`.
    pub fn ticks(&self, count: usize, unit: f64) -> Vec<f64> {
        let step = match ticks((self.to - self.from) / unit, count).get(1) {
            Some(step) => *step * unit,
            None => return vec![self.from],
        };
        let first = (self.from / step).ceil();
        let number = |i: u32| (first + f64::from(i)) * step;
        (0..40).map(number).take_while(|&v| v <= self.to).collect()
    }

    /// Returns the display unit of a metric for this range, as a multiple of the metric's own unit.
    pub(crate) fn unit(&self, metric: &str) -> f64 {
        let span = self.to - self.from;
        match metric {
            m if m.contains("ledger.") => 3600.0,
            m if is_seconds(m) && span > 7200.0 => 3600.0,
            m if is_seconds(m) && span > 120.0 => 60.0,
            _ => 1.0,
        }
    }

    /// Draws the grid lines with their labels below.
    pub(crate) fn draw(&self, scene: &mut DrawScene, metric: &str, (top, bottom): (i32, i32)) {
        let mut free = i32::MIN;
        for t in self.ticks(8, self.unit(metric)) {
            scene.line(vec![(self.x(t), top), (self.x(t), bottom)], 2, GRID);
            let label = format_metric_value(metric, t);
            let half = text_width(&label, SIZE - 2) / 2;
            if self.x(t) - half > free {
                let at = (self.x(t), bottom + SIZE);
                scene.text(at, SIZE - 2, TextAnchor::Middle, MUTED_COLOR, &label);
                free = self.x(t) + half + 16;
            }
        }
        scene.line(vec![(self.left, bottom), (self.right, bottom)], 2, MUTED_COLOR);
    }
}

/// Returns the x coordinate at which bars and intervals start, to the right of the longest variant name.
pub(crate) fn plot_left_edge(all: &VariantComparison) -> i32 {
    let widest = all.variants.iter().map(|v| text_width(&v.name, SIZE)).max();
    MARGIN + widest.unwrap_or(0).min(WIDTH / 4) + 20
}

/// Returns the font size at which the text fits the width, without a lower limit.
pub(crate) fn shrunk_font_size(text: &str, size: i32, width: i32) -> i32 {
    size.min(size * width / text_width(text, size).max(1))
}

pub(crate) fn draw_name(scene: &mut DrawScene, y: i32, name: &str) {
    let size = shrunk_font_size(name, SIZE, WIDTH / 4);
    scene.text((MARGIN, y), size, TextAnchor::Left, TEXT_COLOR, name);
}

pub(crate) fn legend(scene: &mut DrawScene, y: i32, entries: impl Iterator<Item = (Rgb, String)>) -> i32 {
    let (mut x, mut y) = (MARGIN, y);
    for (color, text) in entries {
        let width = SIZE + 10 + text_width(&text, SIZE) + 28;
        if x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + SIZE * 3 / 2);
        }
        scene.rect(x, y - SIZE / 2, SIZE, SIZE, color);
        scene.text((x + SIZE + 10, y), SIZE, TextAnchor::Left, TEXT_COLOR, &text);
        x += width;
    }
    y + SIZE
}
