//! Layout of a group of the timeline as a chart: lanes over one time window.
//!
//! The counts are those of the timeline on the page.

use crate::draw::heading::{MARGIN, draw_footer, footer_height, heading, shorten_name};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::draw::time_axis::{round_times, time_label};
use crate::page::cumulative_heights;
use crate::timeline::{LaneGroup, TimelineChart, TimelineLane, ViewWindow};
use sim_analysis::metrics::RunView;

const LABEL_WIDTH: i32 = 330;
const ROW: (i32, i32) = (30, 90);

/// Returns a chart per group over the initial time window of the page.
pub fn charts(
    run: &RunView<'_>, timeline: &TimelineChart, below: &[String], size: (u32, u32),
) -> Vec<(&'static str, DrawScene)> {
    let Some(window) = timeline.windows.first() else {
        return Vec::new();
    };
    let one = |group: &LaneGroup| {
        let subtitle = run.with_failures(&format!("{}: {}", run.scenario.name, window.name));
        let names = (group.title, subtitle.as_str());
        (group.name, chart(names, timeline, (group, window), below, size))
    };
    timeline.groups.iter().map(one).collect()
}

fn chart(
    (title, subtitle): (&str, &str), timeline: &TimelineChart, (group, window): (&LaneGroup, &ViewWindow),
    below: &[String], size: (u32, u32),
) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let top = heading(&mut scene, title, subtitle) + 74;
    let mut x = MARGIN;
    let is_drawn = |color: &Rgb| {
        let mut layers = group.lanes.iter().flat_map(|lane| &lane.layers).filter(|(own, _)| own == color).peekable();
        layers.peek().is_none() || layers.any(|(_, changes)| is_seen(timeline, changes, window))
    };
    for (color, what) in group.legend.iter().filter(|(color, _)| is_drawn(color)) {
        scene.rect(x, top - 11, 22, 22, *color);
        scene.text((x + 32, top), 22, TextAnchor::Left, TEXT_COLOR, what);
        x += 32 + text_width(what, 22) + 28;
    }
    let top = top + 34;
    let under = 62 + footer_height(below, size.0 as i32);
    let lanes = group.lanes.len().max(1) as i32;
    let row = ((size.1 as i32 - top - under) / lanes).clamp(ROW.0, ROW.1);
    scene.height = scene.height.max((top + lanes * row + under) as u32);
    let bottom = top + lanes * row;
    let axis = TimelineAxis { window, left: MARGIN + LABEL_WIDTH, right: size.0 as i32 - MARGIN };
    let (unit, ticks) = round_times(window.from.seconds(), window.to.seconds(), 7);
    for t in ticks {
        let x = axis.x(t);
        scene.line(vec![(x, top), (x, bottom)], 2, GRID);
        let label = format!("{} {}", time_label(t, unit), unit.symbol());
        scene.text((x, bottom + 22), 22, TextAnchor::Middle, MUTED_COLOR, &label);
    }
    for (i, lane) in group.lanes.iter().enumerate() {
        draw(&mut scene, timeline, lane, &axis, (top + i as i32 * row, row));
    }
    let marks: Vec<_> = timeline.marks.iter().filter(|m| is_in_window(window, m.at)).collect();
    for mark in &marks {
        let x = axis.x(mark.at.seconds());
        let color = if mark.label == "fault" { TEXT_COLOR } else { MUTED_COLOR };
        scene.line(vec![(x, top), (x, bottom)], 2, color);
    }
    let has = |is_fault: bool| marks.iter().any(|mark| (mark.label == "fault") == is_fault);
    let drawn = match (has(true), has(false)) {
        (true, true) => "; black lines: faults, gray lines: ends of restarts",
        (true, false) => "; black lines: faults",
        (false, true) => "; gray lines: ends of restarts",
        (false, false) => "",
    };
    scene.line(vec![(axis.left, bottom), (axis.right, bottom)], 2, MUTED_COLOR);
    let words = &format!("time since the start of the run{drawn}");
    let middle = (axis.left + axis.right) / 2;
    scene.text((middle, bottom + 48), 19, TextAnchor::Middle, MUTED_COLOR, words);
    draw_footer(&mut scene, below);
    scene
}

/// Returns whether a layer is not empty at some time in the window.
fn is_seen(timeline: &TimelineChart, changes: &[(u32, u32)], window: &ViewWindow) -> bool {
    let at = |i: u32| timeline.moments[i as usize];
    let mut ends = changes.iter().skip(1).map(|(i, _)| at(*i)).chain([sim_base::SimTime::NEVER]);
    changes.iter().any(|(i, n)| {
        let end = ends.next().unwrap_or(sim_base::SimTime::NEVER);
        *n > 0 && at(*i) < window.to && end > window.from
    })
}

fn is_in_window(window: &ViewWindow, at: sim_base::SimTime) -> bool {
    window.from <= at && at <= window.to
}

struct TimelineAxis<'w> {
    window: &'w ViewWindow,
    left: i32,
    right: i32,
}

impl TimelineAxis<'_> {
    fn x(&self, s: f64) -> i32 {
        let (from, to) = (self.window.from.seconds(), self.window.to.seconds());
        let share = ((s - from) / (to - from).max(1e-9)).clamp(0.0, 1.0);
        self.left + (share * f64::from(self.right - self.left)) as i32
    }
}

fn draw(
    scene: &mut DrawScene, timeline: &TimelineChart, lane: &TimelineLane, axis: &TimelineAxis<'_>,
    (top, row): (i32, i32),
) {
    let middle = top + row / 2;
    let width = LABEL_WIDTH - 20;
    let words = |size: i32, text: &str| shorten_name(text, size, width);
    if row >= 46 {
        scene.text((MARGIN, middle - 11), 20, TextAnchor::Left, TEXT_COLOR, &words(20, &lane.label));
        scene.text((MARGIN, middle + 13), 18, TextAnchor::Left, MUTED_COLOR, &words(18, &lane.note));
    } else {
        scene.text((MARGIN, middle), 18, TextAnchor::Left, TEXT_COLOR, &words(18, &lane.label));
    }
    let (base, high) = (top + row - 3, row - 6);
    for layer in (0..lane.layers.len()).rev() {
        if lane.layers[layer].1.iter().all(|(_, n)| *n == 0) {
            continue;
        }
        for (x, to, y) in stack_outline(timeline, lane, layer, axis, (base, high)) {
            scene.rect(x, y, to - x, base - y, lane.layers[layer].0);
        }
    }
}

/// Returns the outline of the stack up to a layer as (from, to, height) segments, clipped to the window.
fn stack_outline(
    timeline: &TimelineChart, lane: &TimelineLane, top: usize, axis: &TimelineAxis<'_>, (base, high): (i32, i32),
) -> Vec<(i32, i32, i32)> {
    let y = |n: u32| base - (u64::from(n) * high as u64 / u64::from(lane.full_height)) as i32;
    let mut pieces: Vec<(i32, i32, i32)> = Vec::new();
    let (mut from, mut last) = (axis.left, base);
    for (at, n) in cumulative_heights(lane, top) {
        let at = timeline.moments[at as usize];
        if at > axis.window.to {
            break;
        }
        let (x, now) = (axis.x(at.seconds()), y(n));
        if now != last {
            pieces.push((from, x, last));
            (from, last) = (x, now);
        }
    }
    pieces.push((from, axis.right, last));
    pieces.retain(|(from, to, y)| to > from && *y < base);
    pieces
}
