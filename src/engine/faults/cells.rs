//! Cells: sets of nodes that every fault affects together or not at all, so that their state is computed once.

use sim_base::{CellId, NodeId};
use std::collections::BTreeMap;

/// The cells of a cluster, numbered in the order of their first nodes.
pub struct FaultCells {
    nodes: Vec<Vec<NodeId>>,
    cell_of_node: Vec<CellId>,
}

impl FaultCells {
    /// Partitions `nodes` nodes by sets of nodes that fail together.
    pub fn partition<'s>(nodes: usize, sets: impl Iterator<Item = &'s [NodeId]>) -> FaultCells {
        let mut class = vec![0_u32; nodes];
        let mut classes = 1;
        for set in sets {
            // Nodes of one cell that are in the set stay together.
            let mut split: BTreeMap<u32, u32> = BTreeMap::new();
            for node in set {
                let own = &mut class[node.ix()];
                *own = *split.entry(*own).or_insert_with(|| {
                    classes += 1;
                    classes - 1
                });
            }
        }
        let mut cells = FaultCells { nodes: Vec::new(), cell_of_node: Vec::new() };
        let mut numbers = vec![CellId::NONE; classes as usize];
        for (i, class) in class.iter().enumerate() {
            let cell = &mut numbers[*class as usize];
            if *cell == CellId::NONE {
                *cell = CellId(cells.nodes.len() as u32);
                cells.nodes.push(Vec::new());
            }
            cells.nodes[cell.ix()].push(NodeId(i as u32));
            cells.cell_of_node.push(*cell);
        }
        cells
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes of a cell, in order.
    pub fn nodes(&self, cell: CellId) -> &[NodeId] {
        &self.nodes[cell.ix()]
    }

    /// The cells that make up a set.
    pub fn cells_in(&self, set: &[NodeId]) -> Vec<CellId> {
        let mut cells: Vec<CellId> = set.iter().map(|node| self.cell_of_node[node.ix()]).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

#[cfg(test)]
mod tests {
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
}
