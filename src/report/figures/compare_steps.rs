//! Chart of the mean step time of training jobs that communicate, with one stacked bar per variant.

use super::compare_panel::separate_segments;
use super::compare_panel::{
    ComparedVariants, PanelAxis, ROW, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, legend, plot_left_edge,
    shrunk_font_size,
};
use crate::draw::colors::category_color;
use crate::draw::heading::MARGIN;
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_color_on, text_width};
use crate::metric_label::MetricLabel;
use sim_analysis::experiment::SimulatedVariant;
use sim_analysis::format::percent;
use sim_analysis::metrics::step_time::MeanStep;
use sim_engine::record::LedgerCategory;

/// Width reserved for the text to the right of the longest bar.
const TEXT: i32 = 520;
const COMPUTATION: &str = "computation";
/// Colors of exposed communication, by entry. The colors repeat.
const EXPOSED: [Rgb; 6] = [(170, 68, 153), PALETTE[7], PALETTE[3], PALETTE[5], PALETTE[1], PALETTE[2]];

/// A stacked bar: durations in seconds with their names, and the share and limit of the exposed communication.
pub(crate) struct StepBar {
    parts: Vec<(String, f64)>,
    exposed_share: f64,
    limit: String,
}

impl StepBar {
    /// Returns the duration of a part; 0 if the bar does not have it.
    fn part(&self, name: &str) -> f64 {
        self.parts.iter().find(|(own, _)| own == name).map_or(0.0, |(_, s)| *s)
    }

    /// Returns the sum of some parts.
    fn seconds(&self, shown: &[(String, Rgb)]) -> f64 {
        shown.iter().map(|(name, _)| self.part(name)).sum()
    }

    fn from_means(all: &[&MeanStep]) -> Option<StepBar> {
        if all.is_empty() {
            return None;
        }
        let mean = |of: &dyn Fn(&MeanStep) -> f64| all.iter().map(|m| of(m)).sum::<f64>() / all.len() as f64;
        let (step, exposed) = (mean(&|m| m.step_s), mean(&|m| m.exposed_s));
        let mut parts = vec![(COMPUTATION.to_owned(), step - exposed)];
        for m in all {
            for part in &m.exposed {
                match parts.iter_mut().find(|(name, _)| *name == part.name) {
                    Some((_, sum)) => *sum += part.mean_s / all.len() as f64,
                    None => parts.push((part.name.clone(), part.mean_s / all.len() as f64)),
                }
            }
        }
        // The most frequent limit; of equally frequent ones that of the first replication.
        let limits = || all.iter().filter_map(|m| m.limit.as_deref());
        let times = |limit: &str| limits().filter(|other| *other == limit).count();
        let limit = limits().fold(None, |best: Option<&str>, next| match best {
            Some(best) if times(best) >= times(next) => Some(best),
            _ => Some(next),
        });
        let limit = limit.unwrap_or_default().to_owned();
        Some(StepBar { parts, exposed_share: exposed / step, limit })
    }
}

/// Returns the bars of each training job that communicates: the name of its JobSet, and a bar per variant.
pub(crate) fn step_bars(variants: &[SimulatedVariant]) -> Vec<(&str, Vec<Option<StepBar>>)> {
    let mut names: Vec<&str> = Vec::new();
    for name in variants.iter().flat_map(|v| &v.jobsets) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let bar = |v: &SimulatedVariant, name: &str| {
        let at = v.jobsets.iter().position(|own| own == name)?;
        let means = v.replications.iter().filter_map(|r| r.jobsets.get(at)?.training.as_ref()?.mean_step.as_ref());
        StepBar::from_means(&means.collect::<Vec<_>>())
    };
    let all = names.into_iter().map(|name| (name, variants.iter().map(|v| bar(v, name)).collect::<Vec<_>>()));
    all.filter(|(_, bars)| bars.iter().any(Option::is_some)).collect()
}

/// Draws a panel per training job.
pub(crate) fn steps(of: ComparedVariants<'_>, jobs: &[(&str, Vec<Option<StepBar>>)]) -> DrawScene {
    let all = of.all;
    let slot = ROW + 16;
    let panel = all.variants.len() as i32 * slot + 4 * SIZE + 20;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: time of a training step", all.scenario);
    let subtitle = "mean over the steps of all replications; exposed communication is not hidden by computation";
    let top = comparison_heading(&mut scene, all, (&title, subtitle)) + 3 * SIZE;
    let colors = colors(jobs);
    let entries = colors.iter().map(|(name, color)| {
        let label = if name == COMPUTATION { name.clone() } else { format!("exposed: {name}") };
        (*color, label)
    });
    let mut top = legend(&mut scene, top, entries);
    let label = of.label("stepTime_s");
    let panels: Vec<_> = jobs.iter().flat_map(|job| [(job, true), (job, false)]).collect();
    for ((name, bars), is_complete) in &panels[..of.panels(panels.len(), top, panel)] {
        let what = if *is_complete { "step time" } else { "exposed communication of a step" };
        let axis_name = if jobs.len() > 1 { format!("{what} of {name}") } else { what.to_owned() };
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, &axis_name);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + bars.len() as i32 * slot);
        let shown = if *is_complete { &colors[..] } else { &colors[1..] };
        let longest = bars.iter().flatten().map(|bar| bar.seconds(shown)).fold(0.0, f64::max);
        let (left, right) = (plot_left_edge(all), WIDTH - MARGIN - TEXT);
        let axis = PanelAxis { from: 0.0, to: longest.max(1e-9), left, right };
        axis.draw(&mut scene, &label, (from, to));
        for (i, (variant, bar)) in all.variants.iter().zip(bars).enumerate() {
            let y = from + i as i32 * slot + slot / 2;
            draw_name(&mut scene, y, &variant.name, WIDTH / 4);
            let Some(bar) = bar else {
                scene.text((axis.left + 12, y), SIZE, TextAnchor::Left, TEXT_COLOR, "no training steps");
                continue;
            };
            let end = draw_bar(&mut scene, (&axis, y), bar, (shown, &label));
            let seconds = label.value(bar.seconds(shown));
            let text = match (*is_complete, bar.limit.as_str()) {
                (true, _) => format!("{seconds}, {} exposed", percent(bar.exposed_share, 1)),
                (false, "") => seconds,
                (false, limit) => format!("{seconds}, limited by the {limit}"),
            };
            let size = shrunk_font_size(&text, SIZE, WIDTH - MARGIN - end - 12);
            scene.boxed_text((end + 12, y), size, TEXT_COLOR, &text);
        }
        top += panel;
    }
    finish_scene(&mut scene, top, of);
    scene
}

/// Draws the parts, with their durations where they fit. Returns the right end.
fn draw_bar(
    scene: &mut DrawScene, (axis, y): (&PanelAxis, i32), bar: &StepBar,
    (colors, label): (&[(String, Rgb)], &MetricLabel),
) -> i32 {
    let (mut at, mut ends) = (0.0, Vec::new());
    for (name, color) in colors {
        let seconds = bar.part(name);
        let (left, right) = (axis.x(at), axis.x(at + seconds));
        scene.rect(left, y - ROW / 2, right - left, ROW, *color);
        ends.extend((right > left).then_some(right));
        let text = label.value(seconds);
        if text_width(&text, SIZE - 2) + 12 < right - left {
            scene.text(((left + right) / 2, y), SIZE - 2, TextAnchor::Middle, text_color_on(*color), &text);
        }
        at += seconds;
    }
    separate_segments(scene, &ends, (y, ROW));
    axis.x(at)
}

/// Returns the parts with a duration, in the order of the bars, with their colors.
fn colors(jobs: &[(&str, Vec<Option<StepBar>>)]) -> Vec<(String, Rgb)> {
    let mut names: Vec<&str> = vec![COMPUTATION];
    for (name, seconds) in jobs.iter().flat_map(|(_, bars)| bars.iter().flatten().flat_map(|bar| &bar.parts)) {
        if *seconds > 0.0 && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let color = |i: usize| match i.checked_sub(1) {
        None => category_color(LedgerCategory::Productive),
        Some(entry) => EXPOSED[entry % EXPOSED.len()],
    };
    names.into_iter().enumerate().map(|(i, name)| (name.to_owned(), color(i))).collect()
}
