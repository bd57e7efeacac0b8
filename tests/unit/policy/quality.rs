//! The quality of placements, against counting node by node.

use sim_base::NodeId;
use sim_policy::topology::{FreeNodes, free_nodes, group_spread};
use std::collections::BTreeSet;

#[test]
fn free_nodes_equal_a_count_of_every_subset() {
    let group_of = [0, 0, 0, 1, 1, 1, 1, 2, 2];
    let nodes = |group| (0..9).filter(|node| group_of[*node as usize] == group).map(NodeId).collect();
    let groups: Vec<Vec<NodeId>> = (0..3).map(nodes).collect();
    for used in 0u32..1 << 9 {
        let is_used = |node: usize| used >> node & 1 == 1;
        let free_in = |group| (0..9).filter(|node| group_of[*node] == group && !is_used(*node)).count();
        let touched = |group| (0..9).any(|node| group_of[node] == group && is_used(node));
        let expected = FreeNodes {
            nodes: 9 - used.count_ones() as usize,
            whole_groups: (0..3).filter(|group| !touched(*group)).count(),
            largest: (0..3).map(free_in).max().expect("a group"),
            stranded: (0..9).filter(|node| !is_used(*node) && touched(group_of[*node])).count(),
        };
        assert_eq!(free_nodes(&groups, |node| is_used(node.ix())), expected, "{used:b}");
    }
}

#[test]
fn crossings_equal_a_count_of_every_sequence() {
    for code in 0u32..3u32.pow(6) {
        let ranks: Vec<u32> = (0..6).map(|at| code / 3u32.pow(at) % 3).collect();
        let spread = group_spread(&ranks);
        let crossings = (0..6).filter(|at| ranks[*at] != ranks[(at + 1) % 6]).count();
        let groups = ranks.iter().collect::<BTreeSet<_>>().len();
        assert_eq!((spread.groups, spread.crossings), (groups, crossings), "{ranks:?}");
    }
    assert_eq!(group_spread::<u32>(&[]).groups, 0);
    // A ring of one pod, and of two pods in two groups.
    assert_eq!((group_spread(&[1]).crossings, group_spread(&[1, 2]).crossings), (0, 2));
}
