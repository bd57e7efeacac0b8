//! The quality of a placement: how far it spreads over groups of nodes, and which nodes it leaves free.
//!
//! A group is an island, or the nodes with the same value of a label.

use serde::Serialize;
use sim_base::NodeId;
use std::collections::BTreeSet;

/// How the nodes of a job are distributed over groups.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupSpread {
    /// Number of groups with a node of the job.
    pub groups: usize,
    /// Number of pairs of consecutive pods, the last and the first included, that are in different groups.
    pub crossings: usize,
}

/// The nodes that a placement leaves free.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FreeNodes {
    /// Number of free nodes.
    pub nodes: usize,
    /// Number of groups without a used node.
    pub whole_groups: usize,
    /// Largest number of free nodes in one group.
    pub largest: usize,
    /// Number of free nodes in groups with a used node.
    pub stranded: usize,
}

/// Returns how a job spreads over groups. `groups` has the group of each pod, in the order of the pods.
pub fn group_spread<G: Ord>(groups: &[G]) -> GroupSpread {
    let next = groups.iter().cycle().skip(1);
    GroupSpread {
        groups: groups.iter().collect::<BTreeSet<&G>>().len(),
        crossings: groups.iter().zip(next).filter(|(group, next)| group != next).count(),
    }
}

/// Returns the free nodes of a cluster whose nodes are divided into `groups`.
pub fn free_nodes(groups: &[Vec<NodeId>], is_used: impl Fn(NodeId) -> bool) -> FreeNodes {
    let mut result = FreeNodes::default();
    for group in groups {
        let free = group.iter().filter(|node| !is_used(**node)).count();
        result.nodes += free;
        result.largest = result.largest.max(free);
        match group.len() - free {
            0 => result.whole_groups += 1,
            _ => result.stranded += free,
        }
    }
    result
}
