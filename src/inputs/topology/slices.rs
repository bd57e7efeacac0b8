//! Slices of several TPU7x cubes that GKE's slice controller formed before the run (dynamic slicing). The nodes of a
//! slice get the label that the controller sets, so that exclusive placement and the fabric use it.

use super::inferred_links::CUBE_SIDE;
use super::platforms::shape_of;
use crate::read;
use crate::text::{diagnostic::DiagnosticReport, node::YamlNode};
use serde_json::{Value, json};
use sim_api::admission::names;
use sim_api::spec::keys::{TPU_BLOCK, TPU_CUBE, TPU_SLICE};
use sim_api::spec::{FormedSlice, NamedNode, NodeNumbers, NodePool, TopologySpec};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of cubes that an error lists.
const LISTED_MAX: usize = 10;

/// Reads `slices`. `check` reports shapes that are not valid.
pub fn slices(node: &YamlNode) -> Vec<FormedSlice> {
    let slice = |node: &YamlNode| FormedSlice {
        name: read::string(node, "name").unwrap_or_default(),
        shape: node.get("shape").and_then(YamlNode::scalar_text).and_then(|text| shape_of(&text)).unwrap_or_default(),
        cubes: read::list(node, "cubes").iter().filter_map(YamlNode::scalar_text).collect(),
    };
    read::list(node, "slices").iter().map(slice).collect()
}

/// The nodes of a cube, as (pool, number in the pool), and its superpod.
#[derive(Default)]
struct CubeNodes {
    nodes: Vec<(usize, u64)>,
    block: Option<String>,
}

fn cubes(topology: &TopologySpec) -> BTreeMap<String, CubeNodes> {
    let mut cubes: BTreeMap<String, CubeNodes> = BTreeMap::new();
    for (p, pool) in topology.pools.iter().enumerate() {
        for numbers in numbers(pool, 0..pool.nodes()) {
            let Some(cube) = numbers.label(pool, TPU_CUBE) else { continue };
            let cube = cubes.entry(cube).or_default();
            cube.nodes.push((p, numbers.node));
            cube.block = numbers.label(pool, TPU_BLOCK);
        }
    }
    cubes
}

fn numbers(pool: &NodePool, nodes: Range<u64>) -> impl Iterator<Item = NodeNumbers> + use<> {
    let per_island = u64::from(pool.nodes_per_island).max(1);
    let per_pool = (u64::from(pool.islands) * per_island).max(1);
    nodes.map(move |node| NodeNumbers { pool: node / per_pool, island: node / per_island, node })
}

/// Checks the slices and labels their nodes.
pub fn apply(topology: &mut TopologySpec, node: &YamlNode, report: &mut DiagnosticReport) {
    if topology.slices.is_empty() {
        return;
    }
    let cubes = cubes(topology);
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let slices = std::mem::take(&mut topology.slices);
    for (slice, node) in slices.iter().zip(read::list(node, "slices")) {
        check(slice, node, (&cubes, &mut owners), report);
        for (pool, number) in slice.cubes.iter().filter_map(|cube| cubes.get(cube)).flat_map(|cube| &cube.nodes) {
            label(&mut topology.pools[*pool], *number, &slice.name);
        }
    }
    topology.slices = slices;
}

fn check(
    slice: &FormedSlice, node: &YamlNode,
    (cubes, owners): (&BTreeMap<String, CubeNodes>, &mut BTreeMap<String, String>), report: &mut DiagnosticReport,
) {
    let at = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if let Some(problem) = names::label_value(&slice.name).into_iter().next().filter(|_| !slice.name.is_empty()) {
        let problem = names::without_examples(&problem);
        report.error(at("name"), format!("the slice name is {:?}: {problem}", slice.name));
    }
    if owners.values().any(|owner| *owner == slice.name) {
        report.error(at("name"), format!("duplicate slice name {:?}", slice.name));
    }
    let is_cubes = slice.shape.len() == 3 && slice.shape.iter().all(|side| side % CUBE_SIDE == 0);
    let wanted: u64 = slice.shape.iter().map(|side| u64::from(side / CUBE_SIDE)).product();
    if !is_cubes {
        let error = report.error(at("shape"), "the shape of a slice must be three multiples of 4 chips");
        error.suggest("shape: 4x4x8");
    } else if wanted != slice.cubes.len() as u64 {
        let message = format!("a slice of this shape has {wanted} cubes, but {} are listed", slice.cubes.len());
        report.error(at("cubes"), message);
    }
    let mut blocks: Vec<&Option<String>> = Vec::new();
    for (cube, node) in slice.cubes.iter().zip(read::list(node, "cubes")) {
        let Some(known) = cubes.get(cube) else {
            let legal: Vec<&str> = cubes.keys().take(LISTED_MAX).map(String::as_str).collect();
            let more = if cubes.len() > LISTED_MAX { " and others" } else { "" };
            let error = report.error(node.at, format!("no node has {TPU_CUBE}={cube}"));
            error.legal(format!("{}{more}", legal.join(", ")));
            continue;
        };
        if let Some(other) = owners.insert(cube.clone(), slice.name.clone()) {
            report.error(node.at, format!("cube {cube:?} is already in slice {other:?}"));
        }
        blocks.push(&known.block);
    }
    if blocks.windows(2).any(|pair| pair[0] != pair[1]) {
        let message = format!("the cubes of a slice must be in one block, that is, have the same {TPU_BLOCK}");
        report.error(at("cubes"), message);
    }
}

/// Returns a value of `slices` with `count` slices of a shape, each of the first unused cubes of one block. Returns
/// `None` for other shapes, if no block has enough cubes, and if the value is too long for a message.
pub fn example(topology: &TopologySpec, name: &str, count: u32, shape: &str) -> Option<String> {
    let sides = shape_of(shape).filter(|sides| sides.len() == 3 && sides.iter().all(|side| side % CUBE_SIDE == 0))?;
    let wanted = sides.iter().map(|side| (side / CUBE_SIDE) as usize).product::<usize>();
    if wanted * count as usize > LISTED_MAX {
        return None;
    }
    let mut blocks: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    for (cube, nodes) in cubes(topology) {
        blocks.entry(nodes.block).or_default().push(cube);
    }
    let mut slices = Vec::new();
    for nth in 0..count {
        let block = blocks.values_mut().find(|cubes| cubes.len() >= wanted)?;
        let cubes: Vec<String> = block.drain(..wanted).collect();
        slices.push(format!("{{name: {name}-{nth}, shape: {shape}, cubes: [{}]}}", cubes.join(", ")));
    }
    Some(format!("[{}]", slices.join(", ")))
}

/// Adds the label of a slice to a node, which is then listed by name like those before it.
fn label(pool: &mut NodePool, number: u64, slice: &str) {
    for numbers in numbers(pool, pool.nodes.len() as u64..number + 1) {
        let name = numbers.node_name(pool);
        pool.nodes.push(NamedNode { name, ..NamedNode::default() });
    }
    pool.nodes[number as usize].labels.insert(TPU_SLICE.to_owned(), slice.to_owned());
}

pub fn written_slice(slice: &FormedSlice) -> Value {
    let shape: Vec<String> = slice.shape.iter().map(u32::to_string).collect();
    json!({"name": slice.name, "shape": shape.join("x"), "cubes": slice.cubes})
}

/// Returns the labels of a listed node without that of a slice, which `slices` states.
pub fn own_labels(labels: &BTreeMap<String, String>, slices: &[FormedSlice]) -> BTreeMap<String, String> {
    let is_formed = |key: &str, value: &str| key == TPU_SLICE && slices.iter().any(|slice| slice.name == value);
    let own = labels.iter().filter(|(key, value)| !is_formed(key, value));
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}
