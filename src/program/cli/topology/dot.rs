//! `topology show --format dot`: the links of a topology as a graph for Graphviz. In large clusters, equal parts are
//! one vertex with their number.

use sim_analysis::format::{count, thousands};
use sim_api::spec::TopologySpec;
use sim_policy::fabric::graph::mbits;
use sim_policy::fabric::{FabricGraph, FabricMap, FabricTree, FabricVertex, IslandLinks, TreeVertex};
use sim_policy::topology::ClusterBuilder;
use std::fmt::Write;

/// Largest cluster whose nodes are vertices of their own.
const MOST_NODES: usize = 64;

pub fn text(topology: &TopologySpec) -> String {
    let mut resources = vec!["pods".to_owned()];
    resources.extend(topology.pools.iter().map(|pool| pool.accelerator.clone()));
    let cluster = ClusterBuilder::build(topology, &resources);
    let map = FabricMap::build(topology, &cluster);
    let mut out = format!("graph {} {{\n  node [shape=box];\n", quoted(&topology.name));
    if cluster.len() <= MOST_NODES {
        write_graph(&mut out, &map, &cluster);
    } else {
        write_tree(&mut out, &map, &FabricTree::build(&map), (0, 1), &mut 1);
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn gbits(mbits: u64) -> String {
    let fraction = mbits % 1000;
    let whole = thousands(mbits / 1000);
    if fraction == 0 { format!("{whole} Gbit/s") } else { format!("{whole}.{fraction:03} Gbit/s") }
}

fn write_graph(out: &mut String, map: &FabricMap, cluster: &ClusterBuilder) {
    let fabric = FabricGraph::build(map);
    for at in fabric.graph.node_indices() {
        let label = match fabric.graph[at] {
            FabricVertex::Node(node) => cluster.names[node.ix()].clone(),
            FabricVertex::Switch(island) => format!("switch of island {}", island.0),
            FabricVertex::Group((level, group)) => {
                let level = &map.levels[level];
                format!("{} {}", level.name, level.groups.values[group.ix()])
            }
            FabricVertex::Core => "core".to_owned(),
        };
        let _ = writeln!(out, "  v{} [label={}];", at.index(), quoted(&label));
    }
    for edge in fabric.graph.edge_indices() {
        let (Some((from, to)), Some(rate)) = (fabric.graph.edge_endpoints(edge), fabric.graph.edge_weight(edge)) else {
            continue;
        };
        let label = quoted(&gbits(mbits(*rate)));
        let _ = writeln!(out, "  v{} -- v{} [label={label}];", from.index(), to.index());
    }
}

/// Writes vertex number `at`, which represents `count` equal vertices, and all vertices below it. `next` is the next
/// free number.
fn write_tree(out: &mut String, map: &FabricMap, tree: &FabricTree, (at, copies): (usize, usize), next: &mut usize) {
    let times = if copies > 1 { format!("{} × ", thousands(copies as u64)) } else { String::new() };
    let name = match &tree.vertex {
        TreeVertex::Core => "core".to_owned(),
        TreeVertex::Group { level } => map.levels[*level].name.clone(),
        TreeVertex::Island(links) => format!("island{}", links.as_ref().map_or_else(String::new, links_text)),
    };
    let label = quoted(&format!("{times}{name}, {}", count(tree.nodes as u64, "node")));
    let _ = writeln!(out, "  v{at} [label={label}];");
    for branch in &tree.branches {
        let below = *next;
        *next += 1;
        write_tree(out, map, &branch.tree, (below, branch.count), next);
        let times = if branch.count > 1 { format!("{} × ", thousands(branch.count as u64)) } else { String::new() };
        let label = match branch.tree.uplink_mbits {
            0 => "no network".to_owned(),
            mbits => format!("{times}{}", gbits(mbits)),
        };
        let _ = writeln!(out, "  v{at} -- v{below} [label={}];", quoted(&label));
    }
}

fn links_text(links: &IslandLinks) -> String {
    match links {
        IslandLinks::Torus { axes, .. } => {
            let axes: Vec<String> = axes.iter().map(|axis| axis.chips.to_string()).collect();
            format!(" with torus {}", axes.join("x"))
        }
        IslandLinks::Switch { .. } => " with switch".to_owned(),
    }
}
