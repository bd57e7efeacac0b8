//! Quotas and the Workloads that have a reservation (`pkg/cache/scheduler`).

use crate::amount::Amount;
use crate::quota::build::build;
use crate::requests::{FlavorAmounts, FlavorResource, Name};
use crate::snapshot::{QueueSnapshot, Snapshot};
use crate::topology::TopologySnapshot;
use crate::workload::info::QueueIndex;
use crate::workload::{Info, WorkloadKey};
use sim_api::spec::kueue::{ClusterQueue, Cohort, KueueObjects, ResourceFlavor, StopPolicy};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The live state, on which each cycle works.
#[derive(Clone, Debug)]
pub struct Cache {
    pub state: Snapshot,
    cohorts: Vec<Cohort>,
    topologies: Vec<String>,
    checks: Vec<String>,
    is_in_cycle: Vec<bool>,
    /// ClusterQueue of each Workload with a reservation.
    reserved: BTreeMap<WorkloadKey, QueueIndex>,
}

/// Usage of a ClusterQueue as in its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUsage {
    pub reserving: usize,
    pub admitted: usize,
    /// Usage of admitted Workloads by flavor and resource: total, and what exceeds the nominal quota.
    pub flavors: Vec<(Name, Vec<ResourceUse>)>,
}

/// A resource, its usage, and the part of it that exceeds the nominal quota.
pub type ResourceUse = (Name, Amount, Amount);

impl Cache {
    pub fn new(objects: &KueueObjects, topology: TopologySnapshot) -> Cache {
        let flavor = |flavor: &ResourceFlavor| (Name::from(flavor.name.as_str()), flavor.clone());
        let queue = |spec: &ClusterQueue| QueueSnapshot {
            spec: Arc::new(spec.clone()),
            is_active: true,
            workloads: BTreeMap::new(),
            generation: 0,
            topology_only: false,
        };
        let state = Snapshot {
            tree: crate::quota::QuotaTree::default(),
            queues: objects.cluster_queues.iter().map(queue).collect(),
            flavors: Arc::new(objects.flavors.iter().map(flavor).collect()),
            topology,
        };
        let mut cache = Cache {
            state,
            cohorts: objects.cohorts.clone(),
            topologies: objects.topologies.iter().map(|topology| topology.name.clone()).collect(),
            checks: objects.admission_checks.iter().map(|check| check.name.clone()).collect(),
            is_in_cycle: Vec::new(),
            reserved: BTreeMap::new(),
        };
        cache.rebuild();
        cache
    }

    /// Computes the tree of quotas and its usage again.
    fn rebuild(&mut self) {
        let specs: Vec<ClusterQueue> = self.state.queues.iter().map(|queue| (*queue.spec).clone()).collect();
        let built = build(&specs, &self.cohorts);
        self.state.tree = built.tree;
        self.is_in_cycle = built.is_in_cycle;
        for index in 0..self.state.queues.len() {
            self.state.queues[index].generation += 1;
            self.update_status(index);
            let infos: Vec<Arc<Info>> = self.state.queues[index].workloads.values().cloned().collect();
            for (fr, amount) in infos.iter().flat_map(|info| info.usage()) {
                self.state.tree.add_usage(index, &fr, amount);
            }
        }
    }

    /// Determines whether a ClusterQueue admits Workloads.
    fn update_status(&mut self, index: QueueIndex) {
        let spec = self.state.queues[index].spec.clone();
        let mut flavors = spec.resource_groups.iter().flat_map(|group| &group.flavors);
        let topology_of = |name: &str| self.state.flavors.get(name).and_then(|flavor| flavor.topology.as_ref());
        let is_known = |name: &str| {
            let topology = topology_of(name);
            self.state.flavors.contains_key(name) && topology.is_none_or(|t| self.topologies.contains(t))
        };
        let topology_only = flavors.clone().all(|flavor| topology_of(&flavor.name).is_some());
        let is_active = spec.stop_policy == StopPolicy::None
            && !self.is_in_cycle[index]
            && flavors.all(|flavor| is_known(&flavor.name))
            && spec.admission_checks.iter().all(|rule| self.checks.contains(&rule.name));
        let queue = &mut self.state.queues[index];
        queue.is_active = is_active;
        queue.topology_only = topology_only;
        self.state.tree.nodes[index].is_inactive = !is_active;
    }

    /// Replaces the topologies after a change of nodes. The new ones have no usage of Workloads yet.
    pub fn set_topology(&mut self, mut topology: TopologySnapshot) {
        for info in self.state.queues.iter().flat_map(|queue| queue.workloads.values()) {
            let usage = topology.usage_of(info);
            topology.add(&usage);
        }
        self.state.topology = topology;
    }

    /// Replaces the specification of a ClusterQueue.
    pub fn update_queue(&mut self, index: QueueIndex, spec: ClusterQueue) {
        let old = std::mem::replace(&mut self.state.queues[index].spec, Arc::new(spec));
        let new = &self.state.queues[index].spec;
        if old.resource_groups != new.resource_groups || old.cohort != new.cohort || old.fair_weight != new.fair_weight
        {
            self.rebuild();
        } else {
            self.update_status(index);
        }
    }

    pub fn contains(&self, key: WorkloadKey) -> bool {
        self.queue_of(key).is_some()
    }

    /// Returns the ClusterQueue in which the Workload has a reservation.
    pub fn queue_of(&self, key: WorkloadKey) -> Option<QueueIndex> {
        self.reserved.get(&key).copied()
    }

    /// Adds a Workload with a reservation, or replaces it by its new state.
    pub fn add_or_update(&mut self, info: Info) {
        self.remove(info.key);
        if info.workload.has_active_reservation() {
            self.reserved.insert(info.key, info.queue);
            self.state.add_workload(&Arc::new(info));
        }
    }

    /// Removes a Workload. Returns whether it was there.
    pub fn remove(&mut self, key: WorkloadKey) -> bool {
        let Some(queue) = self.reserved.remove(&key) else {
            return false;
        };
        if let Some(info) = self.state.queues[queue].workloads.get(&key).cloned() {
            self.state.remove_workload(&info);
            self.state.queues[queue].generation += 1;
        }
        true
    }

    /// Returns the usage of a ClusterQueue as in its status.
    pub fn usage(&self, index: QueueIndex) -> QueueUsage {
        let queue = &self.state.queues[index];
        let admitted: Vec<&Arc<Info>> = queue.workloads.values().filter(|i| i.workload.is_admitted()).collect();
        let mut used = FlavorAmounts::new();
        for (fr, amount) in admitted.iter().flat_map(|info| info.usage()) {
            *used.entry(fr).or_default() += amount;
        }
        let node = self.state.node(index);
        let of_resource = |flavor: &Name, resource: &String| {
            let fr = FlavorResource { flavor: flavor.clone(), resource: Name::from(resource.as_str()) };
            let total = used.get(&fr).copied().unwrap_or_default();
            let beyond = (total - node.quota(&fr).nominal).max(Amount::ZERO);
            (fr.resource, total, if node.parent.is_some() { beyond } else { Amount::ZERO })
        };
        let mut flavors = Vec::new();
        for group in &queue.spec.resource_groups {
            let mut covered = group.covered_resources.clone();
            covered.sort();
            for quotas in &group.flavors {
                let flavor = Name::from(quotas.name.as_str());
                let resources = covered.iter().map(|resource| of_resource(&flavor, resource)).collect();
                flavors.push((flavor, resources));
            }
        }
        QueueUsage { reserving: queue.workloads.len(), admitted: admitted.len(), flavors }
    }

    /// Returns whether all admitted Workloads are ready.
    pub fn all_ready(&self) -> bool {
        let mut infos = self.state.queues.iter().flat_map(|queue| queue.workloads.values());
        infos.all(|info| info.workload.is_true(crate::workload::ConditionType::PodsReady))
    }
}
