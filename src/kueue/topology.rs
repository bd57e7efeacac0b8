//! Topology-aware scheduling as flavor assignment, preemption and accounting use it.

use crate::requests::{Name, Requests};
use crate::workload::status::TopologyAssignment;
use crate::workload::{Info, TopologyRequest};
use sim_api::spec::kueue::ClusterQueue;
use std::collections::BTreeMap;

/// A pod set to place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementRequest {
    /// Index of the pod set in the Workload.
    pub pod_set: usize,
    pub count: u32,
    /// Whether only the ClusterQueue requires a placement by topology.
    pub implied: bool,
    /// Placement from which only pods on lost nodes are moved.
    pub previous: Option<TopologyAssignment>,
}

/// Pod sets to place by flavor.
pub type PlacementRequests = BTreeMap<Name, Vec<PlacementRequest>>;

/// Placements by name of the pod set.
pub type Placements = BTreeMap<String, TopologyAssignment>;

/// The first pod set that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementFailure {
    pub pod_set: String,
    pub flavor: Name,
    pub reason: String,
}

/// Pods in a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainUsage {
    pub values: Vec<String>,
    pub pod_requests: Requests,
    pub count: u32,
}

/// Usage of topology domains by flavor.
pub type TopologyUsage = BTreeMap<Name, Vec<DomainUsage>>;

/// Topologies of all flavors that have one.
#[derive(Clone, Debug, Default)]
pub struct TopologySnapshot {}

impl TopologySnapshot {
    /// Returns whether the flavor has a topology.
    pub fn has_flavor(&self, _flavor: &str) -> bool {
        false
    }

    /// Returns whether a flavor of the ClusterQueue has a topology.
    pub fn has_any(&self, queue: &ClusterQueue) -> bool {
        queue.resource_groups.iter().flat_map(|group| &group.flavors).any(|flavor| self.has_flavor(&flavor.name))
    }

    /// Returns whether the topology of the flavor has the levels that are requested.
    pub fn has_levels(&self, _flavor: &str, _request: &TopologyRequest) -> bool {
        false
    }

    pub fn add(&mut self, _usage: &TopologyUsage) {}

    pub fn remove(&mut self, _usage: &TopologyUsage) {}

    pub fn fits(&self, _usage: &TopologyUsage) -> bool {
        true
    }

    /// Returns the usage of a Workload with a reservation.
    pub fn usage_of(&self, info: &Info) -> TopologyUsage {
        let mut usage = TopologyUsage::new();
        let admission = info.workload.status.admission.iter();
        for admitted in admission.flat_map(|a| &a.pod_sets) {
            let Some(topology) = &admitted.topology else { continue };
            let pod_set = info.workload.pod_sets.iter().find(|p| p.name == admitted.name);
            let requests = pod_set.map(|p| Requests::from_milli(&p.template.spec.requests())).unwrap_or_default();
            let flavors: std::collections::BTreeSet<&Name> = admitted.flavors.values().collect();
            for flavor in flavors {
                usage.entry(flavor.clone()).or_default().extend(domain_usage(topology, &requests));
            }
        }
        usage
    }

    /// Places the pod sets. With `is_empty`, the domains count as unused.
    pub fn place(
        &self, _requests: &PlacementRequests, _info: &Info, _is_empty: bool,
    ) -> Result<Placements, PlacementFailure> {
        Ok(Placements::new())
    }
}

/// Returns the usage of a placement.
pub fn domain_usage(topology: &TopologyAssignment, pod_requests: &Requests) -> Vec<DomainUsage> {
    let usage = |(values, count): &(Vec<String>, u32)| DomainUsage {
        values: values.clone(),
        pod_requests: pod_requests.clone(),
        count: *count,
    };
    topology.domains.iter().map(usage).collect()
}
