//! The cubes of a cluster: the nodes with one value of GKE's label, and the blocks of these nodes.

use crate::store::ObjectStore;
use sim_api::spec::keys::{TPU_BLOCK, TPU_CUBE};
use sim_base::{DomainId, NodeId};
use sim_policy::slices::SliceCube;
use sim_policy::topology::{ClusterBuilder, TopologyDomains};

#[derive(Clone, Default)]
pub(super) struct SliceCubes {
    domains: TopologyDomains,
    /// The block of each cube.
    blocks: Vec<DomainId>,
}

impl SliceCubes {
    pub(super) fn of(cluster: &ClusterBuilder) -> SliceCubes {
        let (domains, blocks) = (TopologyDomains::build(cluster, TPU_CUBE), TopologyDomains::build(cluster, TPU_BLOCK));
        let block = |nodes: &Vec<NodeId>| nodes.first().map_or(DomainId::NONE, |node| blocks.of[node.ix()]);
        SliceCubes { blocks: domains.nodes.iter().map(block).collect(), domains }
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.domains.values.iter().position(|value| value == name)
    }

    pub(super) fn nodes(&self, cube: usize) -> &[NodeId] {
        &self.domains.nodes[cube]
    }

    pub(super) fn of_node(&self, node: NodeId) -> Option<usize> {
        let cube = self.domains.of.get(node.ix()).copied().filter(|cube| cube.is_some());
        cube.map(|cube| cube.ix())
    }

    /// Returns the number of cubes.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the state of a cube. A cube with one lost chip, and thus one lost node, is out of use.
    pub(super) fn view(&self, store: &ObjectStore, cube: usize) -> SliceCube {
        let usable = |node: &NodeId| {
            let row = store.nodes.rows[node.ix()];
            row.exists && !row.unknown && !row.cordoned
        };
        let nodes = self.nodes(cube);
        SliceCube {
            block: self.blocks[cube].0,
            is_usable: nodes.iter().all(usable),
            has_pods: nodes.iter().any(|node| !store.nodes.pods[node.ix()].is_empty()),
        }
    }
}
