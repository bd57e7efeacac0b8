//! The topologies of all flavors with the usage of workloads and of other pods.

use super::amounts::{PodAmounts, ResourceNames};
use super::assignment::TopologyAssignment;
use super::flavor::FlavorSnapshot;
use super::request::TopologyRequest;
use super::tree::{TasFlavor, TasNode};
use sim_api::spec::ResourceAmounts;
use std::borrow::Cow;

#[derive(Clone, Debug, Default)]
pub struct TopologySnapshot {
    pub(super) names: ResourceNames,
    /// Ordered by name.
    pub(super) flavors: Vec<FlavorSnapshot>,
}

/// The usage of one pod set, resolved for a snapshot.
#[derive(Clone, Debug)]
pub struct TopologyUsage {
    flavor: usize,
    /// Requests of one pod.
    pod: PodAmounts,
    /// The same with the place of the pod on the node.
    pod_on_node: PodAmounts,
    /// Leaves and their number of pods, by flavor. Other flavors also have some if their leaves are nodes.
    leaves: Vec<(usize, Vec<(usize, u32)>)>,
    /// Whether the flavor lacks a domain of the assignment.
    is_stale: bool,
}

impl TopologySnapshot {
    pub fn new(flavors: &[TasFlavor], nodes: &[TasNode]) -> TopologySnapshot {
        let names = ResourceNames::new(nodes.iter().flat_map(|node| node.allocatable.keys()));
        let mut flavors: Vec<_> = flavors.iter().map(|flavor| FlavorSnapshot::new(flavor, nodes, &names)).collect();
        flavors.sort_by(|a, b| a.name.cmp(&b.name));
        TopologySnapshot { names, flavors }
    }

    pub fn has_flavor(&self, name: &str) -> bool {
        self.flavor(name).is_some()
    }

    pub(super) fn flavor(&self, name: &str) -> Option<usize> {
        self.flavors.binary_search_by(|flavor| flavor.name.as_str().cmp(name)).ok()
    }

    /// Returns whether the topology of a flavor has all levels that a request names.
    pub fn has_level(&self, flavor: &str, request: &TopologyRequest) -> bool {
        self.flavor(flavor).is_some_and(|flavor| self.flavors[flavor].has_level(request))
    }

    /// Adds a pod outside TAS, with requests in thousandths.
    pub fn add_other_pod(&mut self, node: &str, requests: &ResourceAmounts) {
        self.change_other_pod(node, requests, -1);
    }

    pub fn remove_other_pod(&mut self, node: &str, requests: &ResourceAmounts) {
        self.change_other_pod(node, requests, 1);
    }

    fn change_other_pod(&mut self, node: &str, requests: &ResourceAmounts, sign: i64) {
        let pod = PodAmounts::new(requests, &self.names).with_pod(&self.names);
        for flavor in &mut self.flavors {
            if let Some(leaf) = flavor.tree.leaf_of_node(node) {
                flavor.add_free(leaf, &pod, sign);
            }
        }
    }

    /// Returns the usage of an assignment, with requests of one pod in thousandths. Returns `None` if the flavor has no
    /// topology. Domains that do not exist are skipped: their nodes are gone or not ready.
    pub fn usage(
        &self, flavor: &str, assignment: &TopologyAssignment, requests: &ResourceAmounts,
    ) -> Option<TopologyUsage> {
        let own = self.flavor(flavor)?;
        let pod = PodAmounts::new(requests, &self.names);
        Some(self.usage_of_amounts(own, assignment, pod))
    }

    pub(super) fn usage_of_amounts(
        &self, own: usize, assignment: &TopologyAssignment, pod: PodAmounts,
    ) -> TopologyUsage {
        let shares_nodes = |other: usize| {
            other == own || self.flavors[own].tree.has_node_leaves && self.flavors[other].tree.has_node_leaves
        };
        let sharing = (0..self.flavors.len()).filter(|other| shares_nodes(*other));
        let leaves: Vec<_> = sharing.map(|flavor| (flavor, self.flavors[flavor].leaves_of(assignment))).collect();
        TopologyUsage {
            flavor: own,
            pod_on_node: pod.clone().with_pod(&self.names),
            pod,
            is_stale: leaves.iter().any(|(at, found)| *at == own && found.len() < assignment.domains.len()),
            leaves,
        }
    }

    /// Adds the usage of an admitted workload, also to other flavors that share its nodes.
    pub fn add(&mut self, usage: &TopologyUsage) {
        usage.leaves.iter().for_each(|(flavor, leaves)| self.change(*flavor, leaves, usage, -1));
    }

    /// Removes the usage that [`TopologySnapshot::add`] added.
    pub fn remove(&mut self, usage: &TopologyUsage) {
        usage.leaves.iter().for_each(|(flavor, leaves)| self.change(*flavor, leaves, usage, 1));
    }

    /// Adds a usage to its own flavor only, as within a scheduling cycle.
    pub fn add_in_flavor(&mut self, usage: &TopologyUsage) {
        usage.own_leaves().for_each(|leaves| self.change(usage.flavor, leaves, usage, -1));
    }

    /// Removes a usage from its own flavor only, as within a scheduling cycle.
    pub fn remove_in_flavor(&mut self, usage: &TopologyUsage) {
        usage.own_leaves().for_each(|leaves| self.change(usage.flavor, leaves, usage, 1));
    }

    fn change(&mut self, flavor: usize, leaves: &[(usize, u32)], usage: &TopologyUsage, sign: i64) {
        for (leaf, count) in leaves {
            self.flavors[flavor].add_remaining(*leaf, &usage.pod_on_node, sign * i64::from(*count));
        }
    }

    /// Returns whether the requested resources of the usage fit into the remaining capacity. Like Kueue, each domain of
    /// each pod set is compared alone and without the number of pods.
    pub fn fits(&self, usage: &TopologyUsage) -> bool {
        let flavor = &self.flavors[usage.flavor];
        let fits = |(leaf, count): &(usize, u32)| {
            usage.pod.count_in(flavor.row(&flavor.remaining, *leaf)).count >= i64::from(*count)
        };
        !usage.is_stale && usage.own_leaves().flatten().all(fits)
    }
}

impl TopologyUsage {
    fn own_leaves(&self) -> impl Iterator<Item = &Vec<(usize, u32)>> {
        self.leaves.iter().filter(|(flavor, _)| *flavor == self.flavor).map(|(_, leaves)| leaves)
    }

    /// Subtracts the usage from tables of remaining capacities by flavor, where there is a table.
    pub(super) fn subtract_from(&self, snapshot: &TopologySnapshot, tables: &mut [Option<Cow<'_, [i64]>>]) {
        for (flavor, leaves) in &self.leaves {
            let Some(table) = &mut tables[*flavor] else { continue };
            for (leaf, count) in leaves {
                let row = snapshot.flavors[*flavor].row_mut(table.to_mut(), *leaf);
                self.pod_on_node.add_to(row, -i64::from(*count));
            }
        }
    }
}
