//! Node states by pool and island: a map at one instant, and an animation of restarts side by side.
//!
//! The states come from `metrics::node_states`.

use super::map_colors::STRANDED;
use super::map_figure::{MapGrid, blocks, islands};
use crate::draw::colors::{node_color as color, phase_color};
use crate::draw::heading::{MARGIN, draw_footer, footer_height, heading, shorten_name};
use crate::draw::scene::{DrawScene, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::draw::svg::{AnimatedItem, Animation};
use crate::draw::time_axis::{round_times, time_label};
use sim_analysis::format::{self, count, seconds, thousands};
use sim_analysis::metrics::node_states::{NodeState, NodeStates};
use sim_analysis::metrics::{Phase, RestartMetrics, RunView};
use sim_base::{Duration, SimTime};
use std::collections::BTreeMap;

const FONT: i32 = 20;
/// Frames per second of the animation. A higher rate increases the file size without a visible benefit.
const FRAMES_PER_S: f64 = 12.0;
/// Time in seconds for which the last frame is shown.
const REST_S: f64 = 1.5;
/// Height of the time axis of the phases, and of each line with their durations.
const AXIS: i32 = 76;
const PHASE_LINE: i32 = 26;
const GAP: i32 = 40;

/// Draws a legend. Returns the y coordinate of its last line.
fn legend(scene: &mut DrawScene, entries: &[(Rgb, String)], mut y: i32) -> i32 {
    let mut x = MARGIN;
    for (color, text) in entries {
        let width = 30 + text_width(text, FONT) + 26;
        if x + width > scene.width as i32 - MARGIN {
            (x, y) = (MARGIN, y + 3 * FONT / 2);
        }
        scene.rect(x, y - 10, 20, 20, *color);
        scene.text((x + 30, y), FONT, TextAnchor::Left, TEXT_COLOR, text);
        x += width;
    }
    y
}

/// Draws the state of every node at one instant. A free node is spare if its whole island is free, otherwise stranded.
pub fn map(run: &RunView<'_>, (states, at): (&NodeStates, SimTime), below: &[String], size: (u32, u32)) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let (blocks, islands) = (blocks(run, states.nodes()), islands(run, states.nodes()));
    let state = |node: usize| states.at(node, at);
    let is_free = |node: usize| matches!(state(node), NodeState::Free);
    let spare = islands.iter().flat_map(|island| {
        let is_spare = (island.from..island.to).all(is_free);
        std::iter::repeat_n(is_spare, island.to - island.from)
    });
    let spare: Vec<bool> = spare.collect();
    let mut painted = Vec::new();
    let mut counts: BTreeMap<Rgb, (String, u64)> = BTreeMap::new();
    for (i, block) in blocks.iter().enumerate() {
        for (node, is_spare) in (block.from..block.to).zip(&spare[block.from..block.to]) {
            let (color, name) = match state(node) {
                NodeState::Free if !is_spare => (STRANDED, "stranded (free, rest of the slice in use)"),
                NodeState::Free => (color(NodeState::Free), "spare (whole slice free)"),
                other => (color(other), other.as_str()),
            };
            painted.push((i, node - block.from, color));
            let (_, n) = counts.entry(color).or_insert_with(|| (name.to_owned(), 0));
            *n += 1;
        }
    }
    let title = format!("{}: node states after {}", run.scenario.name, seconds(at.since(SimTime::ZERO)));
    let (nodes, n) = (count(states.nodes() as u64, "node"), islands.len());
    let subtitle = match n {
        n if n == 1 || n == states.nodes() => nodes,
        n => format!("{nodes} in {} slices or pools", thousands(n as u64)),
    };
    let top = heading(&mut scene, &title, &run.with_failures(&subtitle)) + 74;
    let entry = |(color, (name, n)): (Rgb, (String, u64))| (color, format!("{name}: {}", thousands(n)));
    let entries: Vec<(Rgb, String)> = counts.into_iter().map(entry).collect();
    let top = legend(&mut scene, &entries, top);
    let bottom = size.1 as i32 - footer_height(below, size.0 as i32) - 16;
    let room = (size.0 as i32 - 2 * MARGIN, bottom - top - 40);
    let grid = MapGrid::new(&blocks, (MARGIN, top + 40), room);
    grid.draw_names(&mut scene, run, &blocks);
    for (block, i, color) in painted {
        let (x, y, side) = cell(&grid, block, i);
        scene.rect(x, y, side, side, color);
    }
    draw_footer(&mut scene, below);
    scene
}

/// Returns the position and size of the `i`th node of a block. Cells of at least 5 pixels leave a gap of one pixel.
fn cell(grid: &MapGrid, block: usize, i: usize) -> (i32, i32, i32) {
    let (x, y) = grid.block(block);
    let (column, row) = (i as i32 % grid.columns, i as i32 / grid.columns);
    let side = grid.cell - i32::from(grid.cell >= 5);
    (x + column * grid.cell, y + row * grid.cell, side)
}

/// One side of an animation.
pub struct NodeInterval<'a> {
    pub label: String,
    pub run: RunView<'a>,
    pub restart: &'a RestartMetrics,
    pub states: NodeStates,
}

/// Returns an animation of the restarts side by side, starting at their faults, at `speed` times the simulated speed.
pub fn restart_animation(takes: &[NodeInterval<'_>], speed: f64, below: &[String], size: (u32, u32)) -> Animation {
    let mut scene = DrawScene::new(size);
    let longest = takes.iter().map(|t| t.restart.total()).max();
    let longest = longest.unwrap_or(Duration::ZERO).seconds().max(1e-9);
    let of_film = longest / speed;
    let pictures = (of_film * FRAMES_PER_S).ceil().max(1.0) as usize;
    let complete = of_film + REST_S;
    let origin = format::common_origin(takes.iter().map(|take| format::origin(&take.run, take.restart)));
    let end = format::common_end(takes.iter().map(|take| take.restart.ending));
    let title = format!("From the {origin} {end}");
    let subtitle = format!("played at {speed:.1} times the simulated speed, in a loop");
    let subtitle = takes.iter().fold(subtitle, |text, take| take.run.with_failures(&text));
    let top = heading(&mut scene, &title, &subtitle) + 74;
    let entries = NodeState::ALL.map(|state| (color(state), state.as_str().to_owned()));
    let top = legend(&mut scene, &entries, top);
    let bottom = size.1 as i32 - footer_height(below, size.0 as i32) - 16;
    let n = takes.len().max(1) as i32;
    let width = (size.0 as i32 - 2 * MARGIN - (n - 1) * GAP) / n;
    let mut moving = Vec::new();
    let phase_lines = takes.iter().map(|take| wrap_phases(take.restart, width).len()).max().unwrap_or(0);
    let axis_height = AXIS + phase_lines as i32 * PHASE_LINE;
    for (i, take) in takes.iter().enumerate() {
        let left = MARGIN + i as i32 * (width + GAP);
        let total = seconds(take.restart.total());
        let label = shorten_name(&take.label, 24, width - text_width(&format!(": {total}"), 24));
        scene.text((left, top + 46), 24, TextAnchor::Left, TEXT_COLOR, &format!("{label}: {total}"));
        let room = (width, (bottom - axis_height - top - 76).max(1));
        let stage = (left, top + 76, room.0, room.1);
        let at = |picture: usize| longest * picture as f64 / pictures as f64;
        moving.extend(animated_squares(&mut scene, take, stage, (pictures, of_film / complete), at));
        let axis = (left, bottom - axis_height + 20, width);
        moving.push(draw_phases(&mut scene, take, axis, longest, of_film / complete));
    }
    draw_footer(&mut scene, below);
    let shown = (scene.width, scene.height);
    Animation { scene, animated: moving, seconds: complete, shown }
}

/// Returns the animated squares. Nodes with the same states in all frames share a shape.
fn animated_squares(
    scene: &mut DrawScene, take: &NodeInterval<'_>, (left, top, width, height): (i32, i32, i32, i32),
    (pictures, share): (usize, f64), at: impl Fn(usize) -> f64,
) -> Vec<AnimatedItem> {
    let blocks = blocks(&take.run, take.states.nodes());
    let grid = MapGrid::new(&blocks, (left, top), (width, height));
    grid.draw_names(scene, &take.run, &blocks);
    type NodeSquares = Vec<(i32, i32, i32)>;
    let mut similar: BTreeMap<Vec<(usize, Rgb)>, NodeSquares> = BTreeMap::new();
    for (i, block) in blocks.iter().enumerate() {
        for node in block.from..block.to {
            let mut displayed: Vec<(usize, Rgb)> = Vec::new();
            for picture in 0..=pictures {
                let then = take.restart.start + Duration((at(picture) * 1e9) as u64);
                let color = color(take.states.at(node, then.min(take.restart.end)));
                if displayed.last().is_none_or(|(_, last)| *last != color) {
                    displayed.push((picture, color));
                }
            }
            let place = cell(&grid, i, node - block.from);
            similar.entry(displayed).or_default().push(place);
        }
    }
    let moment = |picture: usize| share * picture as f64 / pictures as f64;
    let shape = |(displayed, squares): (Vec<(usize, Rgb)>, _)| AnimatedItem::Squares {
        squares,
        colors: displayed.into_iter().map(|(p, c)| (moment(p), c)).collect(),
    };
    similar.into_iter().map(shape).collect()
}

/// Returns the phases with their durations and horizontal places, in lines of this width.
fn wrap_phases(r: &RestartMetrics, width: i32) -> Vec<Vec<(i32, Phase, String)>> {
    /// Shorter phases are not visible.
    const SHORTEST: Duration = Duration::from_millis(5);
    let (mut lines, mut x) = (Vec::new(), width);
    for (phase, time) in Phase::ALL.iter().zip(r.phases()).filter(|(_, time)| *time >= SHORTEST) {
        let text = format!("{} {}", phase.as_str(), seconds(time));
        let needed = 20 + text_width(&text, 18);
        if x + needed > width {
            (x, _) = (0, lines.push(Vec::new()));
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, *phase, text));
        }
        x += needed + 24;
    }
    lines
}

/// Draws the phases on an axis of seconds. Returns the animated time marker.
fn draw_phases(
    scene: &mut DrawScene, take: &NodeInterval<'_>, (left, top, width): (i32, i32, i32), longest: f64, share: f64,
) -> AnimatedItem {
    let x = |s: f64| left + (s / longest * f64::from(width)) as i32;
    let r = take.restart;
    for span in r.spans() {
        let (from, to) = (span.from.since(r.start), span.to.since(r.start));
        let (from, to) = (x(from.seconds()), x(to.seconds()));
        scene.rect(from, top, (to - from).max(0), 22, phase_color(span.phase()));
    }
    let (unit, ticks) = round_times(0.0, longest, 5);
    for t in ticks {
        scene.line(vec![(x(t), top + 24), (x(t), top + 30)], 2, MUTED_COLOR);
        let text = format!("{} {}", time_label(t, unit), unit.symbol());
        scene.text((x(t), top + 42), 18, TextAnchor::Middle, MUTED_COLOR, &text);
    }
    for (i, line) in (0..).zip(wrap_phases(r, width)) {
        let y = top + 70 + i * PHASE_LINE;
        for (x, phase, text) in line {
            scene.rect(left + x, y - 7, 14, 14, phase_color(phase));
            scene.text((left + x + 20, y), 18, TextAnchor::Left, MUTED_COLOR, &text);
        }
    }
    AnimatedItem::Line { y: (top - 6, top + 30), x: (left, left + width), until: share }
}
