//! Topology-aware scheduling in the flavor assignment (`tas_flavorassigner.go`).

use super::assignment::{Assignment, PodSetAssignment};
use crate::requests::{Name, Requests};
use crate::snapshot::{QueueSnapshot, Snapshot};
use crate::topology::{PlacementRequest, PlacementRequests, Placements, TopologyUsage};
use crate::workload::info::QueueIndex;
use crate::workload::{Admission, Info, PodSet};
use sim_api::spec::kueue::{ResourceFlavor, ResourceGroup};
use std::collections::{BTreeMap, BTreeSet};

/// Returns whether a pod set is placed by topology: because it requests it, or because all flavors have a topology.
pub fn is_requested(pod_set: &PodSet, queue: &QueueSnapshot) -> bool {
    pod_set.requests_topology() || queue.topology_only
}

/// Returns why a flavor cannot be used for a pod set because of its topology, or because of having none.
pub fn mismatch(
    snapshot: &Snapshot, queue: &QueueSnapshot, pod_set: &PodSet, flavor: &ResourceFlavor, group: &ResourceGroup,
) -> Option<String> {
    if !is_requested(pod_set, queue) {
        let has_topology = flavor.topology.is_some();
        return has_topology.then(|| format!("Flavor {:?} supports only TopologyAwareScheduling", flavor.name));
    }
    if !pod_set.requests_topology() {
        return None;
    }
    if flavor.topology.is_none() {
        let requests = Requests::from_milli(&pod_set.template.spec.requests());
        let overlaps = requests.iter().any(|(name, _)| group.covered_resources.iter().any(|r| **r == **name));
        return overlaps.then(|| format!("Flavor {:?} does not support TopologyAwareScheduling", flavor.name));
    }
    if !snapshot.topology.has_flavor(&flavor.name) {
        return Some(format!("Flavor {:?} information missing in TAS cache", flavor.name));
    }
    let has_level = pod_set.topology.as_ref().is_none_or(|request| snapshot.topology.has_levels(&flavor.name, request));
    (!has_level).then(|| format!("Flavor {:?} does not contain the requested level", flavor.name))
}

/// Returns the only flavor with a topology among the assigned ones.
pub fn only_topology_flavor<'a>(
    snapshot: &Snapshot, queue: &QueueSnapshot, flavors: impl Iterator<Item = &'a Name>,
) -> Result<Name, String> {
    let in_queue = |name: &str| queue.spec.resource_groups.iter().any(|g| g.flavors.iter().any(|f| f.name == name));
    let with_topology: BTreeSet<&Name> =
        flavors.filter(|name| in_queue(name) && snapshot.topology.has_flavor(name)).collect();
    let mut with_topology = with_topology.into_iter();
    match (with_topology.next(), with_topology.next()) {
        (None, _) => Err("workload requires Topology, but no TAS flavor assigned".to_owned()),
        (Some(flavor), None) => Ok(flavor.clone()),
        (Some(first), Some(second)) => {
            let mut names = vec![&**first, &**second];
            names.extend(with_topology.map(|name| &**name));
            Err(format!("more than one TAS flavor assigned: {}", names.join(", ")))
        }
    }
}

impl Assignment {
    /// Returns the pod sets that are to be placed, by flavor. Errors are noted at the pod sets.
    pub fn placement_requests(&mut self, snapshot: &Snapshot, info: &Info, queue: QueueIndex) -> PlacementRequests {
        let queue = &snapshot.queues[queue];
        let mut requests: PlacementRequests = BTreeMap::new();
        for (index, pod_set) in info.workload.pod_sets.iter().enumerate() {
            let Some(assigned) = self.pod_sets.iter_mut().find(|p| p.name == pod_set.name) else {
                continue;
            };
            let is_placed = assigned.topology.is_some() && !has_lost_node(assigned, info);
            if !is_requested(pod_set, queue) || assigned.error.is_some() || assigned.count == 0 || is_placed {
                continue;
            }
            if !snapshot.topology.has_any(&queue.spec) {
                assigned.error = Some("workload requires Topology, but there is no TAS cache information".to_owned());
                self.fixed_mode = None;
                continue;
            }
            match only_topology_flavor(snapshot, queue, assigned.flavors.values().map(|choice| &choice.flavor)) {
                Ok(flavor) => requests.entry(flavor).or_default().push(PlacementRequest {
                    pod_set: index,
                    count: assigned.count,
                    implied: !pod_set.requests_topology(),
                    previous: assigned.topology.clone(),
                }),
                Err(error) => {
                    assigned.error = Some(error);
                    self.fixed_mode = None;
                }
            }
        }
        requests
    }
}

impl Assignment {
    /// Stores placements and counts their usage.
    pub fn set_placements(&mut self, snapshot: &Snapshot, info: &Info, placements: Placements) {
        for (name, placement) in placements {
            if let Some(pod_set) = self.pod_sets.iter_mut().find(|p| p.name == name) {
                pod_set.topology = Some(placement);
            }
        }
        self.usage.topology = self.topology_usage(snapshot, info, None);
    }

    /// Returns the usage of the placements beyond what the current admission already uses.
    pub fn topology_usage(&self, snapshot: &Snapshot, info: &Info, current: Option<&Admission>) -> TopologyUsage {
        let mut usage = TopologyUsage::new();
        for assigned in &self.pod_sets {
            let Some(topology) = &assigned.topology else { continue };
            let flavors = assigned.flavors.values().map(|choice| &choice.flavor);
            let Ok(flavor) = only_topology_flavor(snapshot, &snapshot.queues[info.queue], flavors) else { continue };
            let admitted = current.iter().flat_map(|a| &a.pod_sets).find(|p| p.name == assigned.name);
            let mut added = topology.clone();
            for domain in &mut added.domains {
                let counted = admitted.and_then(|p| p.topology.as_ref()).into_iter().flat_map(|t| &t.domains);
                let counted: u32 = counted.filter(|own| own.values == domain.values).map(|own| own.count).sum();
                domain.count = domain.count.saturating_sub(counted);
            }
            added.domains.retain(|domain| domain.count > 0);
            usage.extend(snapshot.topology.usage(&flavor, &added, &info.workload, &assigned.name));
        }
        usage
    }
}

fn has_lost_node(assigned: &PodSetAssignment, info: &Info) -> bool {
    let lost = &info.workload.status.unhealthy_nodes;
    assigned.topology.iter().any(|topology| lost.iter().any(|node| topology.contains_node(node)))
}
