//! A map of a topology: its islands by name, with the nodes in the color of their group of the farthest network level.

use super::map_colors::NUMBERED;
use super::map_figure::{draw_block, legend};
use crate::draw::heading::{MARGIN, heading, shorten_name};
use crate::draw::scene::{DrawScene, MUTED_COLOR, Rgb, TextAnchor, text_width};
use sim_analysis::capacity::NodeGroups;
use sim_analysis::format::{count, thousands};
use sim_api::spec::{Interconnect, TopologySpec};
use sim_policy::topology::ClusterBuilder;

/// Maximum number of blocks. With more islands, the blocks are the groups of a network level.
const BLOCKS_MAX: usize = 400;
/// Text size of the names, and the height of their line.
const NAME_SIZE: i32 = 12;
const NAME_HEIGHT: i32 = 18;
/// Space between two blocks.
const AIR: i32 = 8;
/// Smallest size of a node for which complete names are preferred to larger nodes.
const NAMED_CELL_MIN: i32 = 4;
/// Largest size of a node.
const CELL_MAX: i32 = 40;

/// Describes the links of an island.
pub fn links_text(links: &Interconnect) -> String {
    match links {
        Interconnect::Torus { shape, wrap, rate } => {
            let axis = |(at, chips): (usize, &u32)| match wrap.get(at) {
                Some(true) => format!("{chips} (ring)"),
                _ => chips.to_string(),
            };
            let axes: Vec<String> = shape.iter().enumerate().map(axis).collect();
            format!("torus {}, {} Gbit/s per link", axes.join(" x "), rate.gbits_per_s)
        }
        Interconnect::Switch(rate) => format!("switch, {} Gbit/s per accelerator", rate.gbits_per_s),
    }
}

/// Draws the topology.
pub fn topology_map(topology: &TopologySpec, size: (u32, u32)) -> DrawScene {
    let mut columns = vec!["pods".to_owned()];
    columns.extend(topology.pools.iter().map(|pool| pool.accelerator.clone()));
    let cluster = ClusterBuilder::build(topology, &columns);
    let groups = NodeGroups::of_placement(topology, &cluster, std::iter::empty());
    let named = NodeGroups::failure_domains(topology, &cluster).into_iter().filter(|groups| groups.name == "island");
    let candidates: Vec<NodeGroups> = named.chain(groups.iter().cloned()).collect();
    let (blocks, unit) = blocks(&candidates, cluster.len());
    let coloring = groups[1..].iter().rev().find(|groups| groups.nodes.len() > 1);
    let color = |node: usize| match coloring.map(|groups| groups.of[node]) {
        Some(group) if group.is_some() => NUMBERED[group.ix() % NUMBERED.len()],
        Some(_) => MUTED_COLOR,
        None => NUMBERED[pool_of(topology, node) % NUMBERED.len()],
    };
    let mut scene = DrawScene::new(size);
    let accelerators = topology.accelerators().0;
    let subtitle = format!(
        "{}, {}; each field is one {unit}, each square one node",
        count(cluster.len() as u64, "node"),
        count(accelerators, "accelerator")
    );
    let top = heading(&mut scene, &format!("{}: {}", topology.name, topology.description), &subtitle) + 70;
    let entries: Vec<(Rgb, String)> = match coloring {
        Some(groups) => {
            let named = groups.names.iter().enumerate().take(NUMBERED.len());
            named.map(|(at, name)| (NUMBERED[at], format!("{} {name}", groups.name))).collect()
        }
        None => {
            let pools = topology.pools.iter().enumerate().take(NUMBERED.len());
            pools.map(|(at, pool)| (NUMBERED[at], format!("pool {}", pool.name))).collect()
        }
    };
    let mut top = legend(&mut scene, &entries, top) + 34;
    for text in links(topology) {
        scene.text((MARGIN, top), 18, TextAnchor::Left, MUTED_COLOR, &text);
        top += 24;
    }
    let area = (size.0 as i32 - 2 * MARGIN, size.1 as i32 - top - 24);
    draw_blocks(&mut scene, &blocks, (MARGIN, top), area, color);
    scene
}

/// A field of the map.
struct NamedBlock {
    name: String,
    nodes: Vec<usize>,
}

/// Returns the fields and the name of their kind: islands, or groups of the nearest level with few enough groups.
fn blocks(groups: &[NodeGroups], nodes: usize) -> (Vec<NamedBlock>, String) {
    let is_useful =
        |groups: &&NodeGroups| groups.nodes.len() <= BLOCKS_MAX && groups.nodes.iter().any(|nodes| nodes.len() > 1);
    let Some(groups) = groups.iter().find(is_useful) else {
        return (vec![NamedBlock { name: String::new(), nodes: (0..nodes).collect() }], "cluster".to_owned());
    };
    let block = |(name, nodes): (&String, &Vec<sim_base::NodeId>)| NamedBlock {
        name: name.clone(),
        nodes: nodes.iter().map(|node| node.ix()).collect(),
    };
    let mut all: Vec<NamedBlock> = groups.names.iter().zip(&groups.nodes).map(block).collect();
    let rest: Vec<usize> = (0..nodes).filter(|node| !groups.of[*node].is_some()).collect();
    if !rest.is_empty() {
        all.push(NamedBlock { name: "other nodes".to_owned(), nodes: rest });
    }
    (all, groups.name.clone())
}

fn pool_of(topology: &TopologySpec, node: usize) -> usize {
    let mut end = 0;
    let ends = topology.pools.iter().map(|pool| {
        end += pool.nodes();
        end
    });
    ends.take_while(|end| *end <= node as u64).count()
}

/// Returns the different links of islands and of the network levels, with their number.
fn links(topology: &TopologySpec) -> Vec<String> {
    let mut islands: Vec<(String, u64)> = Vec::new();
    for pool in topology.pools.iter().filter(|pool| pool.interconnect.is_some()) {
        let text = pool.interconnect.as_ref().map_or_else(String::new, links_text);
        let number = u64::from(pool.count) * u64::from(pool.islands);
        match islands.iter_mut().find(|(known, _)| *known == text) {
            Some((_, sum)) => *sum += number,
            None => islands.push((text, number)),
        }
    }
    let island = |(text, number): &(String, u64)| format!("{}: {text}", count(*number, "island"));
    let mut all: Vec<String> = islands.iter().map(island).collect();
    if all.len() > 2 {
        all = vec![format!("{} different kinds of links within islands", thousands(all.len() as u64))];
    }
    let levels = topology.dcn_levels.iter().map(|level| {
        let over = level.oversubscription;
        let over = if over == 1.0 { String::new() } else { format!(", oversubscribed {over}:1") };
        format!("{} {} Gbit/s per node{over}", level.name, level.rate.gbits_per_s)
    });
    let levels: Vec<String> = levels.collect();
    if !levels.is_empty() {
        all.push(format!("network levels: {}", levels.join("; ")));
    }
    all
}

/// Draws the blocks in rows, with the largest cells that fit.
fn draw_blocks(
    scene: &mut DrawScene, blocks: &[NamedBlock], (left, top): (i32, i32), (width, height): (i32, i32),
    color: impl Fn(usize) -> Rgb,
) {
    let n = blocks.len().max(1) as i32;
    let largest = blocks.iter().map(|block| block.nodes.len()).max().unwrap_or(1) as i32;
    let fit = |across: i32| {
        let down = (n + across - 1) / across;
        let (w, h) = (width / across - AIR, height / down - AIR - NAME_HEIGHT);
        (1..=CELL_MAX).rev().find(|cell| (w / cell) * (h / cell) >= largest).unwrap_or(0)
    };
    let longest = blocks.iter().map(|block| text_width(&block.name, NAME_SIZE)).max().unwrap_or(0);
    let shows_names = |across: i32| width / across - AIR >= longest && fit(across) >= NAMED_CELL_MIN;
    let largest_cells = |named: bool| {
        let all = (1..=n).filter(|across| !named || shows_names(*across));
        all.max_by_key(|across| (fit(*across), -across))
    };
    let across = largest_cells(true).or(largest_cells(false)).unwrap_or(1);
    let cell = fit(across).max(1);
    let w = width / across;
    let columns = ((w - AIR) / cell).clamp(1, largest);
    let h = (largest + columns - 1) / columns * cell + NAME_HEIGHT + AIR;
    for (i, block) in blocks.iter().enumerate() {
        let (x, y) = (left + i as i32 % across * w, top + i as i32 / across * h);
        let name = shorten_name(&block.name, NAME_SIZE, w - AIR);
        scene.text((x, y + NAME_HEIGHT / 2), NAME_SIZE, TextAnchor::Left, MUTED_COLOR, &name);
        let colors: Vec<Rgb> = block.nodes.iter().map(|node| color(*node)).collect();
        draw_block(scene, &colors, (x, y + NAME_HEIGHT), (cell, columns));
    }
}
