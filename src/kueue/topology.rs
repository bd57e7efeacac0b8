//! Topology-aware scheduling as flavor assignment, preemption and accounting use it.

use crate::requests::Name;
use crate::tas::{
    NodeConstraints, PlacementFailure, PlacementMode, PodSetRequest, TasFlavor, TasNode, TopologyAssignment,
    TopologyRequest,
};
use crate::workload::{Info, Workload};
use sim_api::spec::ResourceAmounts;
use sim_api::spec::kueue::{ClusterQueue, KueueObjects, ResourceFlavor};
use std::collections::{BTreeMap, BTreeSet};

/// A pod set to place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementRequest {
    /// Index of the pod set in the Workload.
    pub pod_set: usize,
    pub count: u32,
    /// Whether only the ClusterQueue requires a placement by topology.
    pub implied: bool,
    /// Placement from which only the pods on a lost node are moved.
    pub previous: Option<TopologyAssignment>,
}

/// Pod sets to place by flavor.
pub type PlacementRequests = BTreeMap<Name, Vec<PlacementRequest>>;

/// Placements by name of the pod set.
pub type Placements = BTreeMap<String, TopologyAssignment>;

/// Usage of the domains of the snapshot for which it was computed.
pub type TopologyUsage = Vec<crate::tas::TopologyUsage>;

/// Topologies of all flavors that have one.
#[derive(Clone, Debug, Default)]
pub struct TopologySnapshot {
    domains: crate::tas::TopologySnapshot,
    /// Whether a scheduling cycle runs. Usage that it adds or removes counts only in its own flavor.
    is_in_cycle: bool,
}

impl TopologySnapshot {
    /// Builds the topologies from the flavors and the nodes.
    pub fn new(objects: &KueueObjects, nodes: &[TasNode]) -> TopologySnapshot {
        let levels = |name: &String| objects.topologies.iter().find(|t| t.name == *name).map(|t| t.levels.clone());
        let read = |flavor: &ResourceFlavor| {
            let topology = flavor.topology.clone()?;
            Some(TasFlavor {
                name: flavor.name.clone(),
                node_labels: flavor.node_labels.clone(),
                tolerations: flavor.tolerations.clone(),
                levels: levels(&topology)?,
                topology,
            })
        };
        let flavors: Vec<TasFlavor> = objects.flavors.iter().filter_map(read).collect();
        let domains = crate::tas::TopologySnapshot::new(&flavors, nodes);
        TopologySnapshot { domains, is_in_cycle: false }
    }

    /// Begins or ends a scheduling cycle, which must undo its changes before the end.
    pub fn set_in_cycle(&mut self, is_in_cycle: bool) {
        self.is_in_cycle = is_in_cycle;
    }

    /// Returns whether the flavor has a topology.
    pub fn has_flavor(&self, flavor: &str) -> bool {
        self.domains.has_flavor(flavor)
    }

    /// Returns whether a flavor of the ClusterQueue has a topology.
    pub fn has_any(&self, queue: &ClusterQueue) -> bool {
        queue.resource_groups.iter().flat_map(|group| &group.flavors).any(|flavor| self.has_flavor(&flavor.name))
    }

    /// Returns whether the topology of the flavor has the levels that are requested.
    pub fn has_levels(&self, flavor: &str, request: &TopologyRequest) -> bool {
        self.domains.has_level(flavor, request)
    }

    /// Adds a pod without a placement by topology.
    pub fn add_other_pod(&mut self, node: &str, requests: &ResourceAmounts) {
        self.domains.add_other_pod(node, requests);
    }

    pub fn remove_other_pod(&mut self, node: &str, requests: &ResourceAmounts) {
        self.domains.remove_other_pod(node, requests);
    }

    pub fn add(&mut self, usage: &TopologyUsage) {
        for usage in usage {
            if self.is_in_cycle { self.domains.add_in_flavor(usage) } else { self.domains.add(usage) }
        }
    }

    pub fn remove(&mut self, usage: &TopologyUsage) {
        for usage in usage {
            if self.is_in_cycle { self.domains.remove_in_flavor(usage) } else { self.domains.remove(usage) }
        }
    }

    pub fn fits(&self, usage: &TopologyUsage) -> bool {
        usage.iter().all(|usage| self.domains.fits(usage))
    }

    /// Returns the usage of a placement of one pod set.
    pub fn usage(
        &self, flavor: &str, placement: &TopologyAssignment, workload: &Workload, pod_set: &str,
    ) -> Option<crate::tas::TopologyUsage> {
        let pod_set = workload.pod_sets.iter().find(|p| p.name == pod_set)?;
        self.domains.usage(flavor, placement, &pod_set.template.spec.requests())
    }

    /// Returns the usage of a Workload with a reservation.
    pub fn usage_of(&self, info: &Info) -> TopologyUsage {
        let mut usage = TopologyUsage::new();
        let admission = info.workload.status.admission.iter();
        for admitted in admission.flat_map(|a| &a.pod_sets) {
            let Some(placement) = &admitted.topology else { continue };
            let flavors: BTreeSet<&Name> = admitted.flavors.values().collect();
            let of_flavor = |flavor: &Name| self.usage(flavor, placement, &info.workload, &admitted.name);
            usage.extend(flavors.into_iter().filter_map(of_flavor));
        }
        usage
    }

    /// Places the pod sets. With `is_empty`, the domains count as unused. Pods on a lost node are moved alone.
    pub fn place(
        &self, requests: &PlacementRequests, info: &Info, is_empty: bool,
    ) -> Result<Placements, PlacementFailure> {
        let pod_sets = &info.workload.pod_sets;
        let all = || requests.iter().flat_map(|(flavor, list)| list.iter().map(move |request| (flavor, request)));
        let pod_requests: Vec<ResourceAmounts> =
            all().map(|(_, request)| pod_sets[request.pod_set].template.spec.requests()).collect();
        let mut tas = Vec::new();
        for ((flavor, request), requests) in all().zip(&pod_requests) {
            let pod_set = &pod_sets[request.pod_set];
            tas.push(PodSetRequest {
                name: &pod_set.name,
                flavor,
                count: request.count,
                requests,
                topology: pod_set.topology.as_ref(),
                is_implied: request.implied,
                constraints: NodeConstraints::of_pod(&pod_set.template.spec),
                existing: request.previous.as_ref(),
            });
        }
        let lost = info.workload.status.unhealthy_nodes.iter().find(|node| {
            tas.iter().any(|request| request.existing.is_some_and(|placement| placement.contains_node(node)))
        });
        let mode = match lost {
            Some(unhealthy_node) => PlacementMode::Replace { unhealthy_node },
            None if is_empty => PlacementMode::Empty,
            None => PlacementMode::Normal,
        };
        let found = self.domains.find(&tas, mode);
        if let Some(failure) = found.failure {
            return Err(failure);
        }
        let named = tas.iter().map(|request| request.name.to_owned()).zip(found.assignments);
        Ok(named.filter_map(|(name, placement)| Some((name, placement?))).collect())
    }
}
