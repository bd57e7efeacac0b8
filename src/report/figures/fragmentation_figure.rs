//! Free nodes over time: those of islands that are free as a whole, those in partly used islands, and the largest slice
//! that still fits. The groups are those of `topology show --place`.

use super::map_colors::{SPARE, STRANDED_NODE};
use super::timeline_figure;
use crate::draw::scene::{DrawScene, PALETTE, Rgb};
use crate::timeline::{LaneGroup, TimelineChart, TimelineLane, ViewWindow, marks, moments, window_name};
use sim_analysis::capacity::CountedGroups;
use sim_analysis::format::count;
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::node_states::{NodeState, NodeStates};
use sim_base::SimTime;
use sim_policy::topology::{FreeNodes, free_nodes};

const LARGEST: Rgb = PALETTE[2];

/// Draws the chart over a window, or over the whole run. Returns `None` if no group has several nodes.
pub fn fragmentation(
    run: &RunView<'_>, states: &NodeStates, window: Option<(SimTime, SimTime)>, below: &[String], size: (u32, u32),
) -> Option<DrawScene> {
    let moments = moments(run, window);
    let lanes = lanes(run, states, &moments);
    if lanes.is_empty() {
        return None;
    }
    let (from, to) = window.unwrap_or((SimTime::ZERO, run.outcome.end));
    let name = match window {
        Some(_) => window_name(from, to),
        None => "whole run".to_owned(),
    };
    let chart = TimelineChart {
        moments,
        windows: vec![ViewWindow { name, from, to }],
        marks: marks(run, window),
        groups: vec![LaneGroup {
            name: "fragmentation",
            title: "Free nodes",
            legend: vec![
                (SPARE, "in islands or groups that are free as a whole"),
                (STRANDED_NODE, "stranded: the rest is in use or not ready"),
                (LARGEST, "largest number in one group"),
            ],
            lanes,
        }],
    };
    timeline_figure::charts(run, &chart, below, size).pop().map(|(_, scene)| scene)
}

/// Returns two lanes for each kind of group with several nodes: all free nodes, and the largest free part of a group.
fn lanes(run: &RunView<'_>, states: &NodeStates, moments: &[SimTime]) -> Vec<TimelineLane> {
    let mut lanes = Vec::new();
    for CountedGroups { name, nodes } in CountedGroups::of_scenario(run.scenario) {
        let (largest, all) = (nodes.iter().map(Vec::len).max().unwrap_or(0), nodes.iter().map(Vec::len).sum::<usize>());
        let free: Vec<FreeNodes> =
            moments.iter().map(|at| free_nodes(&nodes, |node| is_held(states.at(node.ix(), *at)))).collect();
        let layer = |color, of: fn(&FreeNodes) -> usize| (color, changes(free.iter().map(of)));
        lanes.push(TimelineLane {
            label: format!("free, by {}", name),
            note: format!("{} in {}", count(all as u64, "node"), count(nodes.len() as u64, "group")),
            critical: String::new(),
            full_height: all as u32,
            unit: "",
            layers: vec![layer(SPARE, |free| free.nodes - free.stranded), layer(STRANDED_NODE, |free| free.stranded)],
        });
        lanes.push(TimelineLane {
            label: format!("most in one {}", name),
            note: count(largest as u64, "node"),
            critical: String::new(),
            full_height: largest as u32,
            unit: "",
            layers: vec![layer(LARGEST, |free| free.largest)],
        });
    }
    lanes
}

/// Returns whether pods hold the node, or it is not ready. Finished pods hold nothing.
fn is_held(state: NodeState) -> bool {
    !matches!(state, NodeState::Free | NodeState::Succeeded | NodeState::Failed)
}

/// Returns the index and the value of each change.
fn changes(values: impl Iterator<Item = usize>) -> Vec<(u32, u32)> {
    let mut changes: Vec<(u32, u32)> = Vec::new();
    for (at, value) in values.enumerate() {
        if changes.last().map_or(0, |(_, last)| *last as usize) != value {
            changes.push((at as u32, value as u32));
        }
    }
    changes
}
