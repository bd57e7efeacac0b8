//! Unit tests of `sim_reliability::faults::cells`.

use super::*;

#[test]
fn nodes_are_in_one_cell_as_long_as_no_set_parts_them() {
    for (sets, expected) in [
        (vec![], vec![vec![0, 1, 2, 3, 4]]),
        (vec![vec![0, 1], vec![2, 3]], vec![vec![0, 1], vec![2, 3], vec![4]]),
        (vec![vec![0, 1, 2], vec![1, 2, 3]], vec![vec![0], vec![1, 2], vec![3], vec![4]]),
        (vec![vec![4, 0], vec![1, 3]], vec![vec![0, 4], vec![1, 3], vec![2]]),
        (vec![vec![0, 1, 2, 3, 4], vec![3]], vec![vec![0, 1, 2, 4], vec![3]]),
    ] {
        let sets: Vec<Vec<NodeId>> =
            (sets.into_iter()).map(|set: Vec<u32>| set.into_iter().map(NodeId).collect()).collect();
        let cells = FaultCells::partition(5, sets.iter().map(Vec::as_slice));
        let all = (0..cells.len()).map(|i| cells.nodes(CellId(i as u32)));
        let all: Vec<Vec<u32>> = all.map(|c| c.iter().map(|node| node.0).collect()).collect();
        assert_eq!(all, expected, "{sets:?}");
        for set in &sets {
            let within = cells.cells_in(set);
            let mut nodes: Vec<NodeId> = within.iter().flat_map(|c| cells.nodes(*c)).copied().collect();
            let mut set = set.clone();
            nodes.sort();
            set.sort();
            assert_eq!(nodes, set);
        }
    }
}
