//! Chart of restarts as stacked bars.

use crate::draw::colors::phase_color;
use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, TEXT_COLOR, TextAnchor, text_color_on, text_width};
use crate::draw::time_axis::{round_times, time_label};
use sim_analysis::format::{self, seconds};
use sim_analysis::metrics::{Phase, RestartMetrics, RestartOutcome};
use sim_base::{Duration, SimTime};

/// Draws one horizontal stacked bar per restart on a common time axis.
pub fn restart_bars(
    title: &str, subtitle: &str, bars: &[(String, RestartMetrics)], lines: &[String], size: (u32, u32),
) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let w = size.0 as i32;
    let normal = (size.1 as i32 / 36).clamp(22, 25);
    let below = heading(&mut scene, title, subtitle);
    let top = legend(&mut scene, bars, below + 2 * normal + normal / 2, normal) + normal;
    let under = MARGIN + 2 * normal + footer_height(lines, w);
    //  The page grows if the bars do not fit: each has a label, a bar, and up to two lines of durations.
    let needed = bars.iter().map(|(_, restart)| slot_height(restart, normal)).max().unwrap_or(0);
    let slot = ((size.1 as i32 - top - under) / bars.len().max(1) as i32).max(needed);
    let bottom = top + slot * bars.len() as i32;
    scene.height = scene.height.max((bottom + under) as u32);
    let end = scene.height as i32 - footer_height(lines, w);
    let bottom = end - MARGIN - 2 * normal;
    let longest = bars.iter().map(|b| b.1.total().seconds()).fold(0.0, f64::max);
    let totals = bars.iter().map(|b| text_width(&total_text(&b.1), normal + 6));
    let right = w - MARGIN - totals.max().unwrap_or(0) - 12;
    let x = |s: f64| MARGIN + (s / longest.max(1e-9) * f64::from(right - MARGIN)) as i32;
    let (unit, ticks) = round_times(0.0, longest, 7);
    for t in ticks {
        scene.line(vec![(x(t), top), (x(t), bottom)], 2, GRID);
        scene.text((x(t), bottom + normal), normal, TextAnchor::Middle, MUTED_COLOR, &time_label(t, unit));
    }
    scene.line(vec![(MARGIN, bottom), (right, bottom)], 2, MUTED_COLOR);
    let until = format::common_end(bars.iter().map(|(_, restart)| restart.ending));
    let axis = format!("{} {until}", unit.plural());
    scene.text(((MARGIN + right) / 2, end - MARGIN / 2 - 4), normal, TextAnchor::Middle, TEXT_COLOR, &axis);
    draw_footer(&mut scene, lines);
    for (i, (label, restart)) in bars.iter().enumerate() {
        bar(&mut scene, label, restart, top + i as i32 * slot, slot, normal, &x);
    }
    scene
}

/// Returns the duration of a restart, with its end if that is not the readiness of all pods.
fn total_text(r: &RestartMetrics) -> String {
    match r.ending {
        RestartOutcome::Ready => seconds(r.total()),
        RestartOutcome::JobSetEnded => format!("{} (JobSet ended)", seconds(r.total())),
        RestartOutcome::Unfinished => format!("{} (unfinished)", seconds(r.total())),
    }
}

/// Smallest and largest height of a bar, and the space below the last line of a slot.
const BAR: (i32, i32) = (36, 150);
const SLOT_GAP: i32 = 12;

/// Returns the height of a slot with the lowest bar.
fn slot_height(restart: &RestartMetrics, size: i32) -> i32 {
    2 * size + BAR.0 + duration_lines(restart).len() as i32 * (size * 3 / 2) + SLOT_GAP
}

/// Returns the lines below a bar: the durations of its phases, and of those that follow the restart.
fn duration_lines(r: &RestartMetrics) -> Vec<String> {
    let line = |(prefix, is_after): (&str, bool)| {
        let own = Phase::ALL.iter().zip(r.phases());
        let own = own.filter(|(phase, time)| is_after_restart(**phase) == is_after && *time > Duration::ZERO);
        let parts: Vec<String> = own.map(|(phase, time)| format!("{} {}", phase.as_str(), seconds(time))).collect();
        (!parts.is_empty()).then(|| format!("{prefix}{}", parts.join("  ·  ")))
    };
    [("", false), ("afterwards: ", true)].into_iter().filter_map(line).collect()
}

/// Phases that have a segment in some bar.
fn used(bars: &[(String, RestartMetrics)]) -> Vec<Phase> {
    let seen = |p: &&Phase| bars.iter().any(|b| !is_after_restart(**p) && b.1.phases()[**p as usize] > Duration::ZERO);
    Phase::ALL.iter().filter(seen).copied().collect()
}

/// Whether the phase follows the end of the restart, so that it is not part of the bar.
fn is_after_restart(phase: Phase) -> bool {
    phase >= Phase::Rendezvous
}

/// Draws the legend. Returns the y coordinate of its lower edge.
fn legend(scene: &mut DrawScene, bars: &[(String, RestartMetrics)], y: i32, size: i32) -> i32 {
    let mut x = MARGIN;
    let mut y = y;
    for phase in used(bars) {
        let width = size + 10 + text_width(phase.as_str(), size) + 28;
        if x + width > scene.width as i32 - MARGIN {
            x = MARGIN;
            y += size * 3 / 2;
        }
        scene.rect(x, y - size / 2, size, size, phase_color(phase));
        scene.text((x + size + 10, y), size, TextAnchor::Left, TEXT_COLOR, phase.as_str());
        x += width;
    }
    y + size / 2
}

fn bar(scene: &mut DrawScene, label: &str, r: &RestartMetrics, top: i32, slot: i32, size: i32, x: &dyn Fn(f64) -> i32) {
    let lines = duration_lines(r);
    let under = lines.len() as i32 * (size * 3 / 2) + SLOT_GAP;
    let height = (slot - 2 * size - under).min(slot * 2 / 5).clamp(BAR.0, BAR.1);
    //  The label, the bar and the lines are centered in the slot.
    let label_y = top + (slot - height - (under - SLOT_GAP) - size / 2) / 2;
    let bar_top = label_y + size;
    let label = shorten_name(label, size + 4, scene.width as i32 - 2 * MARGIN);
    scene.boxed_text((MARGIN, label_y), size + 4, TEXT_COLOR, &label);
    for span in r.spans() {
        let (from, to) = (span.from.since(r.start), span.to.since(r.start));
        scene.rect(
            x(from.seconds()),
            bar_top,
            (x(to.seconds()) - x(from.seconds())).max(0),
            height,
            phase_color(span.phase()),
        );
    }
    draw_span_durations(scene, r, bar_top + height / 2, size, x);
    let end = x(r.total().seconds()) + 12;
    let total = total_text(r);
    scene.boxed_text((end, bar_top + height / 2), size + 6, TEXT_COLOR, &total);
    let width = scene.width as i32 - 2 * MARGIN;
    for (i, line) in (0..).zip(&lines) {
        let fitted = fitting_font_size(line, size, width);
        let at = (MARGIN, bar_top + height + size + i * (size * 3 / 2));
        scene.boxed_text(at, fitted, MUTED_COLOR, &shorten(line, fitted, width));
    }
}

/// Draws the duration of consecutive spans of one phase inside the bar where there is room for it.
fn draw_span_durations(scene: &mut DrawScene, r: &RestartMetrics, y: i32, size: i32, x: &dyn Fn(f64) -> i32) {
    let mut groups: Vec<(Phase, SimTime, SimTime)> = Vec::new();
    for s in r.spans() {
        match groups.last_mut() {
            Some((phase, _, to)) if *phase == s.phase() => *to = s.to,
            _ => groups.push((s.phase(), s.from, s.to)),
        }
    }
    for (phase, from, to) in groups {
        let text = seconds(to.since(from));
        let (left, right) = (x(from.since(r.start).seconds()), x(to.since(r.start).seconds()));
        if text_width(&text, size) + 16 <= right - left {
            let ink = text_color_on(phase_color(phase));
            scene.text(((left + right) / 2, y), size, TextAnchor::Middle, ink, &text);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/report/figures/figure.rs"]
pub mod tests;
