//! Layout of a map of the cluster before and after a restart: the nodes by pool and island, colored by Job, state,
//! failure domain or stranded capacity.
//!
//! The node assignment comes from `metrics::occupancy`.

use super::map_colors::MapColors;
pub use super::map_colors::{MapColoring, MapNodes};
use crate::draw::heading::{MARGIN, draw_footer, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{BACKGROUND_COLOR, DrawScene, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::timeline::name_range;
use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::node_states::NodeStates;
use sim_analysis::metrics::occupancy::{NodeOccupancy, NodeOccupant};
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_api::spec::IslandKind;
use sim_base::SimTime;

/// One half of the map: the colors of the nodes at one time.
struct MapSide {
    title: String,
    colors: Vec<Rgb>,
}

const GAP: i32 = 40;
/// Consecutive nodes of one island, or of a pool without islands.
pub(crate) struct MapBlock {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Draws a map of the nodes at one or more times, side by side.
pub fn node_map(
    run: &RunView<'_>, coloring: &MapColoring, (title, subtitle): (&str, &str), sides: &[(String, MapNodes<'_>)],
    (below, size): (&[String], (u32, u32)),
) -> DrawScene {
    let nodes: Vec<MapNodes<'_>> = sides.iter().map(|(_, nodes)| *nodes).collect();
    let count = nodes.first().map_or(0, MapNodes::count);
    let ends: Vec<(usize, usize)> = islands(run, count).iter().map(|island| (island.from, island.to)).collect();
    let colors = MapColors::new(run, coloring, &nodes, &ends);
    let titles = sides.iter().zip(&colors.counts).map(|((title, _), counts)| format!("{title}{counts}"));
    let sides: Vec<MapSide> = titles.zip(colors.sides).map(|(title, colors)| MapSide { title, colors }).collect();
    let mut scene = DrawScene::new(size);
    let top = heading(&mut scene, title, subtitle) + 74;
    let top = legend(&mut scene, &colors.legend, top) + 56;
    let bottom = size.1 as i32 - footer_height(below, size.0 as i32) - 16;
    let n = sides.len().max(1) as i32;
    let width = (size.0 as i32 - 2 * MARGIN - (n - 1) * GAP) / n;
    let blocks = blocks(run, sides.first().map_or(0, |s| s.colors.len()));
    for (i, side) in sides.iter().enumerate() {
        let left = MARGIN + i as i32 * (width + GAP);
        scene.text((left, top - 12), 22, TextAnchor::Left, TEXT_COLOR, &shorten(&side.title, 22, width));
        draw((&mut scene, run), side, &blocks, (left, top + 12), (width, bottom - top - 12));
    }
    draw_footer(&mut scene, below);
    scene
}

/// Returns the map before and after a restart; `None` if the node assignment was not recorded or there are no nodes.
/// `states` are needed to color the nodes by state.
pub fn restart_map(
    run: &RunView<'_>, (coloring, pods, states): (&MapColoring, &NodeOccupancy, Option<&NodeStates>),
    (i, r): (usize, &RestartMetrics), below: &[String], size: (u32, u32),
) -> Option<DrawScene> {
    let (before, after) = (pods.at(r.start)?, pods.at(r.end)?);
    if before.is_empty() {
        return None;
    }
    let moves = NodeMoves::between(before, after);
    let side = |name: &str, time: SimTime, occupants| {
        let nodes = match states {
            Some(states) => MapNodes::States(states, time),
            None => MapNodes::Occupants(occupants),
        };
        (format!("{name}, at {}", seconds(time.since(SimTime::ZERO))), nodes)
    };
    let sides = [side("before", r.start, before), side("after", r.end, after)];
    let what = match coloring {
        MapColoring::Job => "node assignment before and after, by Job".to_owned(),
        MapColoring::State => "node states before and after".to_owned(),
        MapColoring::Stranded => "free nodes before and after".to_owned(),
        MapColoring::Domain(label) => format!("node assignment before and after, by {label}"),
    };
    let title = format!("Restart {}: {what}", i + 1);
    let subtitle = moves.text(before.len());
    Some(node_map(run, coloring, (&title, &run.with_failures(&subtitle)), &sides, (below, size)))
}

/// Numbers of nodes by what a restart changed.
struct NodeMoves {
    /// Nodes with pods of different Jobs before and after.
    changed: u64,
    /// Nodes with pods after the restart only, and before it only.
    filled: u64,
    emptied: u64,
}

impl NodeMoves {
    fn between(before: &[NodeOccupant], after: &[NodeOccupant]) -> NodeMoves {
        let mut moves = NodeMoves { changed: 0, filled: 0, emptied: 0 };
        for (a, b) in before.iter().zip(after).filter(|(a, b)| a.job != b.job) {
            match (a.job.is_some(), b.job.is_some()) {
                (true, true) => moves.changed += 1,
                (false, _) => moves.filled += 1,
                (true, false) => moves.emptied += 1,
            }
        }
        moves
    }

    fn text(&self, nodes: usize) -> String {
        let different = self.changed + self.filled;
        if different + self.emptied == 0 {
            return "every node runs pods of the same Job as before".to_owned();
        }
        let verb = if different == 1 { "runs" } else { "run" };
        let mut text = format!(
            "{} of {} {verb} pods of a different Job than before",
            thousands(different),
            count(nodes as u64, "node")
        );
        if self.filled > 0 {
            text.push_str(&format!(" ({} had none)", thousands(self.filled)));
        }
        if self.emptied > 0 {
            let verb = if self.emptied == 1 { "has" } else { "have" };
            text.push_str(&format!("; {} {verb} no pods any more", count(self.emptied, "node")));
        }
        text
    }
}

pub(crate) fn legend(scene: &mut DrawScene, entries: &[(Rgb, String)], y: i32) -> i32 {
    let (mut x, mut y) = (MARGIN, y);
    for (color, text) in entries {
        let text = shorten(text, 20, 560);
        let width = 30 + text_width(&text, 20) + 26;
        if x + width > scene.width as i32 - MARGIN {
            (x, y) = (MARGIN, y + 30);
        }
        scene.rect(x, y - 10, 20, 20, *color);
        scene.text((x + 30, y), 20, TextAnchor::Left, TEXT_COLOR, &text);
        x += width;
    }
    y
}

/// With more blocks, all nodes are drawn as one block.
const BLOCKS: usize = 400;

/// Returns the blocks of a map: the islands, or one block if there are too many or all are single nodes.
pub(crate) fn blocks(run: &RunView<'_>, nodes: usize) -> Vec<MapBlock> {
    let all = islands(run, nodes);
    if all.len() <= BLOCKS && all.iter().any(|block| block.to - block.from > 1) {
        return all;
    }
    vec![MapBlock { from: 0, to: nodes }]
}

/// Returns the islands, or the pools without islands.
pub(crate) fn islands(run: &RunView<'_>, nodes: usize) -> Vec<MapBlock> {
    let mut all = Vec::new();
    let mut from = 0usize;
    for pool in &run.scenario.topology.pools {
        for _ in 0..pool.count {
            let islands = match pool.island_kind {
                IslandKind::None => 1,
                _ => pool.islands.max(1),
            };
            let size = (pool.islands * pool.nodes_per_island / islands) as usize;
            for _ in 0..islands {
                let to = (from + size).min(nodes);
                all.push(MapBlock { from, to });
                from = to;
            }
        }
    }
    //  Nodes added during the run.
    if from < nodes {
        all.push(MapBlock { from, to: nodes });
    }
    all.retain(|b| b.to > b.from);
    all
}

/// The arrangement of blocks of nodes, with the number of blocks per row that gives the largest cells.
pub(crate) struct MapGrid {
    corner: (i32, i32),
    /// Width and height of the area of one block.
    block_size: (i32, i32),
    blocks_per_row: i32,
    /// Size of a node in pixels.
    pub(crate) cell: i32,
    /// Number of nodes per row of a block.
    pub(crate) columns: i32,
    /// The y coordinate of the lower edge of the last row of blocks.
    pub(crate) bottom: i32,
    /// Height of the name above each block; 0 without names.
    label: i32,
}

/// With more blocks, or in narrower ones, the blocks have no names.
const NAMED_BLOCKS: i32 = 200;
const NAMED_WIDTH: i32 = 70;
const NAME_SIZE: i32 = 15;

impl MapGrid {
    /// Computes the arrangement.
    pub(crate) fn new(blocks: &[MapBlock], corner: (i32, i32), (width, height): (i32, i32)) -> MapGrid {
        let n = blocks.len().max(1) as i32;
        let largest = blocks.iter().map(|b| b.to - b.from).max().unwrap_or(1) as i32;
        let label = |across: i32| {
            let is_named = (2..=NAMED_BLOCKS).contains(&n) && width / across - 12 >= NAMED_WIDTH;
            if is_named { NAME_SIZE + 6 } else { 0 }
        };
        let fit = |across: i32| {
            let down = (n + across - 1) / across;
            let (w, h) = (width / across - 12, height / down - 12 - label(across));
            let cell = (1..=40).rev().find(|c| (w / c) * (h / c) >= largest);
            cell.unwrap_or(0)
        };
        let largest_cells = |named: bool| {
            let all = (1..=n).filter(|a| !named || label(*a) > 0);
            all.max_by_key(|a| (fit(*a), -a)).unwrap_or(1)
        };
        // Names are worth half of the size of the cells.
        let (named, any) = (largest_cells(true), largest_cells(false));
        let across = if 2 * fit(named) >= fit(any) { named } else { any };
        let cell = fit(across).max(1);
        let (w, down) = (width / across, (n + across - 1) / across);
        let columns = ((w - 12) / cell).max(1);
        let rows = (largest + columns - 1) / columns;
        let label = label(across);
        let h = (height / down).min(rows * cell + 16 + label);
        MapGrid {
            corner,
            block_size: (w, h),
            blocks_per_row: across,
            cell,
            columns,
            bottom: corner.1 + down * h,
            label,
        }
    }

    /// Draws the names of the first and last node above each block.
    pub(crate) fn draw_names(&self, scene: &mut DrawScene, run: &RunView<'_>, blocks: &[MapBlock]) {
        if self.label == 0 {
            return;
        }
        for (i, block) in blocks.iter().enumerate() {
            let (x, y) = self.block(i);
            let [first, last] = [block.from, block.to - 1].map(|node| &*run.names.nodes[node]);
            let width = self.block_size.0 - 12;
            let fits = |name: &String| text_width(name, NAME_SIZE) <= width;
            let complete = [format!("{first} to {last}"), name_range(first, last), shared_name(first, last)];
            let name = if first == last {
                shorten_name(first, NAME_SIZE, width)
            } else {
                let shared = shorten_name(&complete[2], NAME_SIZE, width);
                complete.into_iter().find(fits).unwrap_or(shared)
            };
            scene.text((x, y - self.label / 2 - 1), NAME_SIZE, TextAnchor::Left, MUTED_COLOR, &name);
        }
    }

    /// Returns the upper left corner of a block.
    pub(crate) fn block(&self, i: usize) -> (i32, i32) {
        let (i, (w, h)) = (i as i32, self.block_size);
        let (left, top) = self.corner;
        (left + i % self.blocks_per_row * w, top + i / self.blocks_per_row * h + self.label)
    }
}

/// Returns the elements that both names start with, or the first name if there are none.
fn shared_name(first: &str, last: &str) -> String {
    let bytes = first.bytes().zip(last.bytes());
    let shared = bytes.take_while(|(a, b)| a == b).count();
    match first.as_bytes()[..shared].iter().rposition(|byte| *byte == b'-') {
        None | Some(0) => first.to_owned(),
        Some(end) => first[..end].to_owned(),
    }
}

fn draw(
    (scene, run): (&mut DrawScene, &RunView<'_>), side: &MapSide, blocks: &[MapBlock], (left, top): (i32, i32),
    (width, height): (i32, i32),
) {
    let grid = MapGrid::new(blocks, (left, top), (width, height));
    grid.draw_names(scene, run, blocks);
    for (i, block) in blocks.iter().enumerate() {
        let nodes = &side.colors[block.from..block.to];
        draw_block(scene, nodes, grid.block(i), (grid.cell, grid.columns));
    }
    if !blocks.is_empty() {
        let largest = blocks.iter().map(|b| b.to - b.from).max().unwrap_or(0);
        let text = match blocks.len() {
            1 => count(largest as u64, "node"),
            many => format!("{} of up to {}", count(many as u64, "block"), count(largest as u64, "node")),
        };
        let y = (grid.bottom + 6).min(top + height - 2);
        scene.text((left, y), 18, TextAnchor::Left, MUTED_COLOR, &text);
    }
}

/// Draws the nodes of a block. Adjacent nodes of one color are one rectangle; with cells of at least 5 pixels, thin
/// lines separate the nodes.
pub(crate) fn draw_block(scene: &mut DrawScene, nodes: &[Rgb], (x, y): (i32, i32), (cell, columns): (i32, i32)) {
    let mut rects: Vec<(Rgb, i32, i32, i32)> = Vec::new();
    for (row, line) in nodes.chunks(columns as usize).enumerate() {
        let mut at = 0;
        for run in line.chunk_by(|a, b| a == b) {
            rects.push((run[0], at, row as i32, run.len() as i32));
            at += run.len() as i32;
        }
    }
    rects.sort_by_key(|r| r.0);
    for (color, column, row, n) in rects {
        scene.rect(x + column * cell, y + row * cell, n * cell, cell, color);
    }
    if cell >= 5 {
        let rows = (nodes.len() as i32 + columns - 1) / columns;
        let wide = columns.min(nodes.len() as i32) * cell;
        for row in 1..rows {
            scene.rect(x, y + row * cell, wide, 1, BACKGROUND_COLOR);
        }
        for column in 1..columns.min(nodes.len() as i32) {
            scene.rect(x + column * cell, y, 1, rows * cell, BACKGROUND_COLOR);
        }
    }
}
