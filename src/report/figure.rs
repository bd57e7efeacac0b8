//! Layouts of the charts: restarts as stacked bars, growth as lines.

use super::scene::*;
use super::words::{seconds, thousands};
use crate::base::*;
use crate::metrics::{Phase, Restart};

/// Colors of the phases, in the order of `Phase::ALL`.
pub(super) fn color_of(phase: Phase) -> Color {
    let i = match phase {
        Phase::Detect => 0,
        Phase::Terminate => 1,
        Phase::Recreate => 2,
        Phase::Queue | Phase::Schedule => 3,
        Phase::Start => 4,
        Phase::Barrier => 5,
        Phase::Rendezvous | Phase::Restore => 6,
        Phase::Redo => 7,
    };
    PALETTE[i]
}

pub(super) const MARGIN: i32 = 60;

/// Horizontal stacked bars, one per restart, on one axis of seconds.
pub fn restarts(
    title: &str,
    subtitle: &str,
    bars: &[(String, Restart)],
    lines: &[String],
    size: (u32, u32),
) -> Scene {
    let mut scene = Scene::new(size);
    let (w, h) = (size.0 as i32, size.1 as i32);
    let normal = (h / 36).max(22);
    let below = heading(&mut scene, title, subtitle);
    let top = legend(&mut scene, bars, below + 2 * normal + normal / 2, normal) + normal;
    let end = h - foot_height(lines, w);
    let bottom = end - MARGIN - 2 * normal;
    let longest = bars
        .iter()
        .map(|b| b.1.total().seconds())
        .fold(0.0, f64::max);
    let right = w - MARGIN - text_width("0000 s", normal + 6) - 12;
    let x = |s: f64| MARGIN + (s / longest.max(1e-9) * f64::from(right - MARGIN)) as i32;
    for t in ticks(longest, 7) {
        scene.line(vec![(x(t), top), (x(t), bottom)], 2, GRID);
        scene.text(
            (x(t), bottom + normal),
            normal,
            Anchor::Middle,
            FAINT,
            &tick_label(t),
        );
    }
    scene.line(vec![(MARGIN, bottom), (right, bottom)], 2, FAINT);
    let axis = "seconds from the fault until every pod is ready again";
    scene.text(
        ((MARGIN + right) / 2, end - MARGIN / 2 - 4),
        normal,
        Anchor::Middle,
        INK,
        axis,
    );
    foot(&mut scene, lines);
    let slot = (bottom - top) / bars.len().max(1) as i32;
    for (i, (label, restart)) in bars.iter().enumerate() {
        bar(
            &mut scene,
            label,
            restart,
            top + i as i32 * slot,
            slot,
            normal,
            &x,
        );
    }
    scene
}

/// Title and subtitle; where the first of them ends, and further down if the other one takes two lines.
pub(super) fn heading(scene: &mut Scene, title: &str, subtitle: &str) -> i32 {
    let (w, h) = (scene.width as i32, scene.height as i32);
    let (big, normal) = ((h / 20).clamp(28, 45), (h / 36).clamp(22, 25));
    let width = w - 2 * MARGIN;
    let size = fitting(title, big, width);
    let title = shorten(title, size, width);
    scene.text((MARGIN, MARGIN), size, Anchor::Left, INK, &title);
    let below = MARGIN + big;
    let size = fitting(subtitle, normal, width);
    let lines = two_lines(subtitle, size, width);
    for (i, line) in (0..).zip(&lines) {
        let at = (MARGIN, below + normal / 2 + i * 3 * size / 2);
        scene.text(at, size, Anchor::Left, FAINT, line);
    }
    below + (lines.len() as i32 - 1) * 3 * size / 2
}

/// A text on one line, or on two where it has no room on one; cut if it has none on two.
fn two_lines(text: &str, size: i32, width: i32) -> Vec<String> {
    if text_width(text, size) <= width {
        return vec![text.to_owned()];
    }
    let ends = text.match_indices(' ').map(|(at, _)| at);
    let fits = |at: &usize| text_width(&text[..*at], size) <= width;
    match ends.take_while(fits).last() {
        Some(at) => vec![text[..at].to_owned(), shorten(&text[at + 1..], size, width)],
        None => vec![shorten(text, size, width)],
    }
}

/// The largest font not above `size` with which a text fits; never below 22 pixels.
pub(super) fn fitting(text: &str, size: i32, width: i32) -> i32 {
    let needed = text_width(text, size);
    if needed <= width {
        size
    } else {
        (size * width / needed).max(22)
    }
}

/// A text cut at the end, where it has no room at this size.
pub(super) fn shorten(text: &str, size: i32, width: i32) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    // By bisection: a name may be of any length.
    let room = width - text_width("...", size);
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fits = ends.partition_point(|end| text_width(&text[..*end], size) <= room);
    let end = ends[..fits].last().copied().unwrap_or(0);
    format!("{}...", text[..end].trim_end())
}

/// Size of the lines at the foot of a chart, and what stands between their parts.
const FOOT: i32 = 18;
const PARTS: &str = "  ·  ";

/// Lines that are too long for the chart, broken between their parts.
fn foot_lines(lines: &[String], width: i32) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in lines {
        let mut open = String::new();
        for part in line.split(PARTS) {
            let longer = match open.is_empty() {
                true => part.to_owned(),
                false => format!("{open}{PARTS}{part}"),
            };
            if !open.is_empty() && text_width(&longer, FOOT) > width {
                all.push(std::mem::replace(&mut open, format!("     {part}")));
            } else {
                open = longer;
            }
        }
        all.push(open);
    }
    all
}

pub(super) fn foot_height(lines: &[String], width: i32) -> i32 {
    match foot_lines(lines, width - 2 * MARGIN).len() {
        0 => 0,
        n => n as i32 * (FOOT + 8) + MARGIN / 2,
    }
}

/// At the lower edge: what a reader must know to make the chart again, and to believe it.
pub(super) fn foot(scene: &mut Scene, lines: &[String]) {
    let width = scene.width as i32 - 2 * MARGIN;
    let top = scene.height as i32 - foot_height(lines, scene.width as i32) + FOOT / 2;
    for (i, line) in foot_lines(lines, width).iter().enumerate() {
        let y = top + i as i32 * (FOOT + 8);
        let line = shorten(line, FOOT, width);
        scene.text((MARGIN, y), FOOT, Anchor::Left, FAINT, &line);
    }
}

fn used(bars: &[(String, Restart)]) -> Vec<Phase> {
    let seen = |p: &&Phase| {
        bars.iter()
            .any(|b| b.1.phases()[**p as usize] > Duration::ZERO)
    };
    Phase::ALL.iter().filter(seen).copied().collect()
}

/// Returns where it ends.
fn legend(scene: &mut Scene, bars: &[(String, Restart)], y: i32, size: i32) -> i32 {
    let mut x = MARGIN;
    let mut y = y;
    for phase in used(bars) {
        let width = size + 10 + text_width(phase.as_str(), size) + 28;
        if x + width > scene.width as i32 - MARGIN {
            x = MARGIN;
            y += size * 3 / 2;
        }
        scene.rect(x, y - size / 2, size, size, color_of(phase));
        scene.text((x + size + 10, y), size, Anchor::Left, INK, phase.as_str());
        x += width;
    }
    y + size / 2
}

fn bar(
    scene: &mut Scene,
    label: &str,
    r: &Restart,
    top: i32,
    slot: i32,
    size: i32,
    x: &dyn Fn(f64) -> i32,
) {
    let label_y = top + slot / 2 - slot / 5 - size;
    let bar_top = label_y + size;
    let height = (slot * 2 / 5).min(150);
    scene.note((MARGIN, label_y), size + 4, INK, label);
    let mut parts = Vec::new();
    for span in r.spans() {
        let (from, to) = (span.from.since(r.start), span.to.since(r.start));
        scene.rect(
            x(from.seconds()),
            bar_top,
            (x(to.seconds()) - x(from.seconds())).max(0),
            height,
            color_of(span.phase()),
        );
    }
    for (phase, d) in Phase::ALL.iter().zip(r.phases()) {
        if d > Duration::ZERO {
            parts.push(format!("{} {}", phase.as_str(), seconds(d)));
        }
    }
    inside(scene, r, bar_top + height / 2, size, x);
    let end = x(r.total().seconds()) + 12;
    let total = seconds(r.total());
    scene.note((end, bar_top + height / 2), size + 6, INK, &total);
    if slot < 5 * size {
        return;
    }
    let line = parts.join("  ·  ");
    let width = scene.width as i32 - 2 * MARGIN;
    let below = bar_top + height + size;
    let fitted = fitting(&line, size, width);
    scene.note((MARGIN, below), fitted, FAINT, &line);
}

/// The time of each run of spans of one phase, where it fits into its part of the bar.
fn inside(scene: &mut Scene, r: &Restart, y: i32, size: i32, x: &dyn Fn(f64) -> i32) {
    let mut groups: Vec<(Phase, Time, Time)> = Vec::new();
    for s in r.spans() {
        match groups.last_mut() {
            Some((phase, _, to)) if *phase == s.phase() => *to = s.to,
            _ => groups.push((s.phase(), s.from, s.to)),
        }
    }
    for (phase, from, to) in groups {
        let text = seconds(to.since(from));
        let (left, right) = (
            x(from.since(r.start).seconds()),
            x(to.since(r.start).seconds()),
        );
        if text_width(&text, size) + 16 <= right - left {
            let ink = ink_on(color_of(phase));
            scene.text(((left + right) / 2, y), size, Anchor::Middle, ink, &text);
        }
    }
}

/// One quantity against the number of nodes.
pub struct Panel {
    pub label: String,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// Panels one above the other over a logarithmic axis of nodes.
pub fn growth(title: &str, panels: &[Panel], size: (u32, u32)) -> Scene {
    let mut scene = Scene::new(size);
    let (w, h) = (size.0 as i32, size.1 as i32);
    let (big, normal) = ((h / 22).max(28), (h / 40).max(22));
    scene.text(
        (MARGIN, MARGIN),
        fitting(title, big, w - 2 * MARGIN),
        Anchor::Left,
        INK,
        title,
    );
    let top = MARGIN + big + normal / 2;
    let slot = (h - MARGIN - normal - top) / panels.len().max(1) as i32;
    let mut nodes: Vec<f64> = panels
        .iter()
        .flat_map(|p| &p.lines)
        .flat_map(|(_, points)| points.iter().map(|p| p.0))
        .collect();
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    for (i, panel) in panels.iter().enumerate() {
        let frame = Frame {
            left: MARGIN + text_width("00,000", normal),
            right: w - 2 * MARGIN,
            top: top + i as i32 * slot + 2 * normal,
            bottom: top + (i as i32 + 1) * slot - 2 * normal,
        };
        draw_panel(&mut scene, panel, &nodes, &frame, normal);
    }
    scene.text(
        (w / 2, h - MARGIN / 2 - 4),
        normal,
        Anchor::Middle,
        INK,
        "nodes (logarithmic)",
    );
    scene
}

struct Frame {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

fn draw_panel(scene: &mut Scene, panel: &Panel, nodes: &[f64], f: &Frame, size: i32) {
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else {
        return;
    };
    let points = || panel.lines.iter().flat_map(|l| &l.1);
    let max = points().map(|p| p.1).fold(0.0, f64::max) * 1.1;
    let span = (libm::log(last) - libm::log(first)).max(1e-9);
    let x = |n: f64| {
        f.left + ((libm::log(n) - libm::log(first)) / span * f64::from(f.right - f.left)) as i32
    };
    let y = |v: f64| f.bottom - (v / max.max(1e-12) * f64::from(f.bottom - f.top)) as i32;
    for t in ticks(max, 4) {
        scene.line(vec![(f.left, y(t)), (f.right, y(t))], 2, GRID);
        scene.text(
            (f.left - 12, y(t)),
            size,
            Anchor::Right,
            FAINT,
            &tick_label(t),
        );
    }
    let mut free = i32::MIN;
    for &n in nodes {
        let label = thousands(n as u64);
        let half = text_width(&label, size) / 2;
        scene.line(vec![(x(n), f.bottom), (x(n), f.bottom + 6)], 2, FAINT);
        if x(n) - half > free {
            scene.text((x(n), f.bottom + size), size, Anchor::Middle, FAINT, &label);
            free = x(n) + half + 12;
        }
    }
    scene.line(vec![(f.left, f.bottom), (f.right, f.bottom)], 2, FAINT);
    scene.text(
        (MARGIN, f.top - size - size / 4),
        size,
        Anchor::Left,
        INK,
        &panel.label,
    );
    let mut key = MARGIN + text_width(&panel.label, size) + 50;
    for (i, (label, points)) in panel.lines.iter().enumerate() {
        let color = PALETTE[[2, 1, 4, 6, 7, 3, 0, 5][i % 8]];
        scene.line(points.iter().map(|p| (x(p.0), y(p.1))).collect(), 4, color);
        for p in points {
            scene.rect(x(p.0) - 5, y(p.1) - 5, 10, 10, color);
        }
        scene.rect(key, f.top - size - size / 4 - size / 2, size, size, color);
        scene.text(
            (key + size + 10, f.top - size - size / 4),
            size,
            Anchor::Left,
            INK,
            label,
        );
        key += size + 10 + text_width(label, size) + 28;
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::metrics::restart::{Cause, Ending, Milestone, Shape};

    pub fn bars() -> Vec<(String, Restart)> {
        let t = |tenths: u64| Time::ZERO + Duration::from_millis(tenths * 100);
        let mut recreate = Restart::new(JobSetId(0), t(0), Cause::UNKNOWN);
        recreate.shape = Shape::Recreate;
        for (m, at) in [
            (Milestone::PodFailed, 9),
            (Milestone::FailureTarget, 110),
            (Milestone::JobFailed, 220),
            (Milestone::FirstJobDeleting, 221),
            (Milestone::LastJobGone, 700),
            (Milestone::FirstPodCreated, 703),
            (Milestone::LastPodCreated, 1205),
            (Milestone::LastPodBound, 1208),
        ] {
            recreate.last(m, t(at));
        }
        (recreate.ending, recreate.end) = (Ending::Ready, t(1262));
        let mut in_place = Restart::new(JobSetId(0), t(0), Cause::UNKNOWN);
        in_place.shape = Shape::InPlaceRestart;
        for (m, at) in [
            (Milestone::AttemptsFirst, 14),
            (Milestone::PreviousWritten, 15),
            (Milestone::LastContainersRestarting, 20),
            (Milestone::AttemptsLast, 79),
            (Milestone::CurrentWritten, 90),
        ] {
            in_place.last(m, t(at));
        }
        (in_place.ending, in_place.end) = (Ending::Ready, t(101));
        vec![
            ("Recreate".into(), recreate),
            ("InPlaceRestart".into(), in_place),
        ]
    }

    pub fn panels() -> Vec<Panel> {
        let line = |scale: f64| {
            let sizes = [64.0, 256.0, 1024.0, 5000.0, 16384.0, 65536.0];
            sizes
                .iter()
                .map(|&n| (n, scale * (1.0 + libm::log(n) / 8.0)))
                .collect()
        };
        vec![
            Panel {
                label: "simulated seconds per pod".into(),
                lines: vec![
                    ("Recreate".into(), line(0.011)),
                    ("InPlaceRestart".into(), line(0.001)),
                ],
            },
            Panel {
                label: "bytes per pod".into(),
                lines: vec![("process".into(), line(300.0))],
            },
        ]
    }

    pub fn check(scene: &Scene) {
        let boxes = scene.text_boxes();
        for (i, a) in boxes.iter().enumerate() {
            assert!(a.0 >= 0 && a.1 >= 0, "{:?} starts outside", a.4);
            assert!(
                a.2 <= scene.width as i32 && a.3 <= scene.height as i32,
                "{:?} ends outside",
                a.4
            );
            for b in &boxes[i + 1..] {
                let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
                assert!(apart, "{:?} overlaps {:?}", a.4, b.4);
            }
        }
    }

    #[test]
    fn no_text_overlaps_another_or_leaves_the_picture() {
        for size in [(1600, 900), (1280, 720)] {
            check(&restarts(
                "One failed container, 5,000 pods: time to all ready",
                "12.5 times as fast",
                &bars(),
                &["jobset-sim 0.1.0".to_owned(), "assumes much".to_owned()],
                size,
            ));
            check(&growth("Growth with the number of nodes", &panels(), size));
        }
        let four: Vec<_> = bars().into_iter().chain(bars()).collect();
        check(&restarts("Four", "", &four, &[], (1600, 900)));
    }
}
