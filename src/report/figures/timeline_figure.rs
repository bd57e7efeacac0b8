//! Layout of a group of the timeline as a chart: lanes over one time window.
//!
//! The counts are those of the timeline on the page.

use crate::draw::heading::{MARGIN, draw_footer, fitting_font_size, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{BACKGROUND_COLOR, DrawScene, GRID, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::draw::time_axis::{round_times, time_label};
use crate::page::cumulative_heights;
use crate::timeline::{LaneGroup, MarkKind, TimelineChart, TimelineLane, TimelineMark, ViewWindow};
use sim_analysis::format::thousands;
use sim_analysis::metrics::RunView;

/// Width of the names, and of the labels of the vertical axes next to them.
const LABEL_WIDTH: i32 = 330;
const TICK_WIDTH: i32 = 84;
/// Smallest and largest height of a lane.
const ROW: (i32, i32) = (24, 420);
/// Lanes of this height have a second line of text.
const TALL_ROW: i32 = 46;
/// Lanes of this height have room for three lines of text.
const THREE_LINES: i32 = 76;
const TICK_SIZE: i32 = 18;
/// Height of the smallest value that is not 0.
const LOWEST: i32 = 2;

/// Returns a chart per group over the initial time window of the page.
pub fn charts(
    run: &RunView<'_>, timeline: &TimelineChart, below: &[String], size: (u32, u32),
) -> Vec<(&'static str, DrawScene)> {
    let names: Vec<&'static str> = timeline.groups.iter().map(|group| group.name).collect();
    let one = |name: &'static str| Some((name, chart_of(run, timeline, name, below, size)?));
    names.into_iter().filter_map(one).collect()
}

/// Returns the chart of the group with this name over the initial time window. `None` if there is no such group.
pub fn chart_of(
    run: &RunView<'_>, timeline: &TimelineChart, name: &str, below: &[String], size: (u32, u32),
) -> Option<DrawScene> {
    let window = timeline.windows.first()?;
    let group = timeline.groups.iter().find(|group| group.name == name)?;
    let subtitle = run.with_failures(&format!("{}: {}", run.scenario.name, window.name));
    Some(chart((group.title, &subtitle), timeline, (group, window), below, size))
}

fn chart(
    (title, subtitle): (&str, &str), timeline: &TimelineChart, (group, window): (&LaneGroup, &ViewWindow),
    below: &[String], size: (u32, u32),
) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let top = heading(&mut scene, title, subtitle) + 74;
    let legend = group.legend_of(|changes| is_seen(timeline, changes, window));
    let top = legend_line(&mut scene, &legend, top) + 34;
    let under = 76 + footer_height(below, size.0 as i32);
    let lanes = group.lanes.len().max(1) as i32;
    let row = ((size.1 as i32 - top - under) / lanes).clamp(ROW.0, ROW.1);
    scene.height = (top + lanes * row + under) as u32;
    let bottom = top + lanes * row;
    let axis = TimelineAxis { window, left: MARGIN + LABEL_WIDTH + TICK_WIDTH, right: size.0 as i32 - MARGIN };
    let (unit, ticks) = round_times(window.from.seconds(), window.to.seconds(), 7);
    for t in ticks {
        let x = axis.x(t);
        scene.line(vec![(x, top), (x, bottom)], 2, GRID);
        let label = format!("{} {}", time_label(t, unit), unit.symbol());
        scene.text((x, bottom + 22), 22, TextAnchor::Middle, MUTED_COLOR, &label);
    }
    let share_height = share_height(timeline, group, window);
    for (i, lane) in group.lanes.iter().enumerate() {
        let full_height = share_height.unwrap_or(lane.full_height);
        let lane = TimelineLane { full_height, ..lane.clone() };
        draw(&mut scene, timeline, &lane, &axis, (top + i as i32 * row, row));
    }
    let marks: Vec<_> = timeline.marks.iter().filter(|m| is_in_window(window, m.at)).collect();
    for mark in &marks {
        let x = axis.x(mark.at.seconds());
        match mark.kind {
            MarkKind::Fault => scene.line(vec![(x, top), (x, bottom)], 2, TEXT_COLOR),
            MarkKind::NodeReturn | MarkKind::UserAction => scene.dashed_vertical(x, (top, bottom), 2, TEXT_COLOR),
            MarkKind::Ready => scene.line(vec![(x, top), (x, bottom)], 2, MUTED_COLOR),
        }
    }
    scene.line(vec![(axis.left, bottom), (axis.right, bottom)], 2, MUTED_COLOR);
    let words = format!("time since the start of the run{}", marks_text(&marks));
    let middle = size.0 as i32 / 2;
    let at = fitting_font_size(&words, 22, size.0 as i32 - 2 * MARGIN).min(22);
    scene.text((middle, bottom + 48), at, TextAnchor::Middle, MUTED_COLOR, &words);
    draw_footer(&mut scene, below);
    scene
}

/// Returns the common height of lanes of shares, in percent: a round number above the largest one in the window. `None`
/// for lanes of counts, which have their own heights.
fn share_height(timeline: &TimelineChart, group: &LaneGroup, window: &ViewWindow) -> Option<u32> {
    const ROUND: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];
    if group.lanes.iter().any(|lane| lane.unit.is_empty()) {
        return None;
    }
    let mut highest = 0;
    for (_, changes) in group.lanes.iter().flat_map(|lane| &lane.layers) {
        for (i, change) in changes.iter().enumerate() {
            let until = changes.get(i + 1).map(|(end, _)| (*end, 0));
            let step: Vec<(u32, u32)> = std::iter::once(*change).chain(until).collect();
            if change.1 > highest && is_seen(timeline, &step, window) {
                highest = change.1;
            }
        }
    }
    ROUND.into_iter().find(|round| *round >= highest)
}

/// Draws a legend. Returns the y coordinate of its last line.
pub(super) fn legend_line(scene: &mut DrawScene, entries: &[(Rgb, &str)], mut y: i32) -> i32 {
    let mut x = MARGIN;
    for (color, what) in entries {
        let width = 32 + text_width(what, 22) + 28;
        if x > MARGIN && x + width > scene.width as i32 - MARGIN {
            (x, y) = (MARGIN, y + 34);
        }
        //  The entry of the axis line has the color of texts and is drawn as a line.
        let height = if *color == TEXT_COLOR { 3 } else { 22 };
        if *color != BACKGROUND_COLOR {
            scene.rect(x, y - height / 2, 22, height, *color);
        }
        scene.text((x + 32, y), 22, TextAnchor::Left, TEXT_COLOR, what);
        x += width;
    }
    y
}

/// Describes the vertical lines that are drawn.
fn marks_text(marks: &[&TimelineMark]) -> String {
    let has = |kind: MarkKind| marks.iter().any(|mark| mark.kind == kind);
    let dashed = match (has(MarkKind::NodeReturn), has(MarkKind::UserAction)) {
        (true, true) => "dashed: returns of nodes and user actions",
        (true, false) => "dashed: returns of nodes",
        (false, true) => "dashed: user actions",
        (false, false) => "",
    };
    let black = if has(MarkKind::Fault) { "black: faults" } else { "" };
    let gray = if has(MarkKind::Ready) { "gray: ends of restarts" } else { "" };
    let lines: Vec<&str> = [black, dashed, gray].into_iter().filter(|text| !text.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!("; lines: {}", lines.join(", ")) }
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
    let words = |size: i32, text: &str| shorten_name(text, size, LABEL_WIDTH - 20);
    if row >= TALL_ROW {
        let has_third = row >= THREE_LINES && !lane.critical.is_empty();
        let middle = if has_third { middle - 12 } else { middle };
        if has_third {
            scene.text((MARGIN, middle + 36), 18, TextAnchor::Left, MUTED_COLOR, &words(18, &lane.critical));
        }
        scene.text((MARGIN, middle - 12), 20, TextAnchor::Left, TEXT_COLOR, &words(20, &lane.label));
        scene.text((MARGIN, middle + 12), 18, TextAnchor::Left, MUTED_COLOR, &words(18, &lane.note));
    } else {
        scene.text((MARGIN, middle), 18, TextAnchor::Left, TEXT_COLOR, &words(18, &lane.label));
    }
    let (base, high) = (top + row - 3, row - 6);
    draw_lane_axis(scene, lane, axis, (base, high));
    for layer in (0..lane.layers.len()).rev() {
        if lane.layers[layer].1.iter().all(|(_, n)| *n == 0) {
            continue;
        }
        for (x, to, y) in stack_outline(timeline, lane, layer, axis, (base, high)) {
            scene.rect(x, y, to - x, base - y, lane.layers[layer].0);
        }
    }
}

/// Draws the vertical axis of a lane: zero and the full height, or only the full height if the lane is low.
fn draw_lane_axis(scene: &mut DrawScene, lane: &TimelineLane, axis: &TimelineAxis<'_>, (base, high): (i32, i32)) {
    scene.line(vec![(axis.left, base), (axis.right, base)], 1, GRID);
    let label = |n: u32| format!("{}{}", thousands(u64::from(n)), lane.unit);
    let mut text = |y: i32, n: u32| {
        let label = shorten(&label(n), TICK_SIZE, TICK_WIDTH - 10);
        scene.text((axis.left - 8, y), TICK_SIZE, TextAnchor::Right, MUTED_COLOR, &label);
    };
    if high < 2 * TICK_SIZE + 2 {
        return text(base - high / 2, lane.full_height);
    }
    text(base - high + TICK_SIZE / 2, lane.full_height);
    text(base - TICK_SIZE / 2, 0);
    if high >= 8 * TICK_SIZE && lane.full_height.is_multiple_of(2) {
        let y = base - high / 2;
        text(y, lane.full_height / 2);
        scene.line(vec![(axis.left, y), (axis.right, y)], 1, GRID);
    }
}

/// Returns the outline of the stack up to a layer as (from, to, height) segments, clipped to the window.
fn stack_outline(
    timeline: &TimelineChart, lane: &TimelineLane, top: usize, axis: &TimelineAxis<'_>, (base, high): (i32, i32),
) -> Vec<(i32, i32, i32)> {
    //  Small values remain visible.
    let y = |n: u32| match n {
        0 => base,
        n => base - ((u64::from(n) * high as u64 / u64::from(lane.full_height)) as i32).max(LOWEST),
    };
    let mut pieces: Vec<(i32, i32, i32)> = Vec::new();
    let (mut from, mut last) = (axis.left, base);
    for (at, n) in cumulative_heights(lane, top) {
        let at = timeline.moments[at as usize];
        if at > axis.window.to {
            break;
        }
        let (x, now) = (axis.x(at.seconds()), y(n));
        if now != last {
            //  A value that lasts for less than a pixel remains visible.
            let is_brief = at > axis.window.from && x == from && x < axis.right;
            pieces.push((from, if is_brief { x + 1 } else { x }, last));
            (from, last) = (x, now);
        }
    }
    pieces.push((from, axis.right, last));
    pieces.retain(|(from, to, y)| to > from && *y < base);
    pieces
}
