//! Shared parts of the charts of a comparison: sizes, axes, names, legends and footers.

use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{
    BACKGROUND_COLOR, DrawScene, GRID, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_width, ticks,
};
use crate::{console::compare::failures, metric_label::MetricLabel};
use sim_analysis::experiment::{SimulatedVariant, VariantComparison};
use sim_analysis::format::count;

pub(crate) const WIDTH: i32 = 1600;

/// Font size, and the line height of panels.
pub(crate) const SIZE: i32 = 22;

pub(crate) const ROW: i32 = 40;

/// Height of a slide of this width.
const SLIDE_HEIGHT: i32 = 900;

/// A comparison with the layout of its charts.
#[derive(Copy, Clone)]
pub struct ComparedVariants<'a> {
    pub all: &'a VariantComparison,
    pub simulated_variants: &'a [SimulatedVariant],
    /// Footer lines with the assumptions.
    pub assumption_lines: &'a [String],
    /// Whether the charts must fit a slide: they have fewer or lower panels and a short footer.
    pub is_slide: bool,
    /// Time window of the charts over time, in seconds since the first start.
    pub window: Option<(f64, f64)>,
}

impl ComparedVariants<'_> {
    /// Returns the name and unit of a metric. Costs in different currencies have no unit.
    pub(crate) fn label(&self, metric: &str) -> MetricLabel {
        let mut currencies = self.simulated_variants.iter().map(|v| v.currency.as_str());
        let first = currencies.next().unwrap_or("");
        MetricLabel::new(metric, if currencies.all(|c| c == first) { first } else { "" })
    }

    fn footer_lines(&self) -> Vec<String> {
        let mut lines = provenance(self.all);
        lines.extend_from_slice(self.assumption_lines);
        if self.is_slide {
            lines.truncate(1);
        }
        lines
    }

    /// Returns how many of `wanted` panels of this height fit below `top`, at least one.
    pub(crate) fn panels(&self, wanted: usize, top: i32, height: i32) -> usize {
        let room = SLIDE_HEIGHT - top - SIZE - footer_height(&self.footer_lines(), WIDTH);
        if self.is_slide { wanted.min((room / height).max(1) as usize) } else { wanted }
    }

    /// Returns the height of each of `panels` panels below `top`: `height`, or less on a slide, at least `least`.
    pub(crate) fn panel_height(&self, panels: usize, top: i32, (least, height): (i32, i32)) -> i32 {
        let room = SLIDE_HEIGHT - top - SIZE - footer_height(&self.footer_lines(), WIDTH);
        if self.is_slide { (room / panels.max(1) as i32).clamp(least, height) } else { height }
    }
}

/// Draws title and subtitle, and a line below them if the JobSet fails in some replications. Returns the y coordinate
/// below them.
pub(crate) fn comparison_heading(
    scene: &mut DrawScene, all: &VariantComparison, (title, subtitle): (&str, &str),
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
pub(crate) fn finish_scene(scene: &mut DrawScene, top: i32, of: ComparedVariants<'_>) {
    let lines = of.footer_lines();
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
            "jobset-sim {}  ·  scenario {}  ·  seed {}  ·  {}{}",
            all.version,
            all.scenario,
            all.seed,
            count(n.unwrap_or(0) as u64, all.level.replication_term()),
            if all.variants.len() > 1 { " per variant" } else { "" }
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
        //  Zero instead of a rounding error, which would be labeled as one.
        let number = |i: u32| if (first + f64::from(i)).abs() < 0.5 { 0.0 } else { (first + f64::from(i)) * step };
        (0..40).map(number).take_while(|&v| v <= self.to).collect()
    }

    /// Draws the grid lines with their labels below.
    pub(crate) fn draw(&self, scene: &mut DrawScene, metric: &MetricLabel, (top, bottom): (i32, i32)) {
        let mut free = i32::MIN;
        for t in self.ticks(8, metric.tick_unit(self.to - self.from)) {
            scene.line(vec![(self.x(t), top), (self.x(t), bottom)], 2, GRID);
            let label = metric.tick(t);
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

/// Smallest font size of texts that shrink.
const SMALLEST: i32 = 14;

/// Returns the font size at which the text fits the width, at least `SMALLEST`.
pub(crate) fn shrunk_font_size(text: &str, size: i32, width: i32) -> i32 {
    size.min(size * width / text_width(text, size).max(1)).max(SMALLEST)
}

/// Draws a name at the left edge, smaller if it is long, and shortened in the middle if it is very long.
pub(crate) fn draw_name(scene: &mut DrawScene, y: i32, name: &str, width: i32) {
    let size = shrunk_font_size(name, SIZE, width).max(SIZE - 5);
    scene.text((MARGIN, y), size, TextAnchor::Left, TEXT_COLOR, &shorten_name(name, size, width));
}

pub(crate) fn legend(scene: &mut DrawScene, y: i32, entries: impl Iterator<Item = (Rgb, String)>) -> i32 {
    mark_legend(scene, y, entries.map(|(color, text)| (color, text, false)))
}

/// Draws a legend with filled and hollow marks. Returns the y coordinate of its lower edge.
pub(crate) fn mark_legend(scene: &mut DrawScene, y: i32, entries: impl Iterator<Item = (Rgb, String, bool)>) -> i32 {
    let (mut x, mut y) = (MARGIN, y);
    for (color, text, is_hollow) in entries {
        let text = shorten_name(&text, SIZE, WIDTH / 2);
        let width = SIZE + 10 + text_width(&text, SIZE) + 28;
        if x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + SIZE * 3 / 2);
        }
        scene.mark((x + SIZE / 2, y), SIZE, color, is_hollow);
        scene.text((x + SIZE + 10, y), SIZE, TextAnchor::Left, TEXT_COLOR, &text);
        x += width;
    }
    y + SIZE
}

/// Draws white lines between the segments of a stacked bar, at their right ends.
pub(crate) fn separate_segments(scene: &mut DrawScene, ends: &[i32], (y, height): (i32, i32)) {
    for x in ends.iter().rev().skip(1) {
        scene.rect(x - 1, y - height / 2, 2, height, BACKGROUND_COLOR);
    }
}
