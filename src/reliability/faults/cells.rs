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
#[path = "../../../tests/inside/reliability/faults/cells.rs"]
mod tests;
