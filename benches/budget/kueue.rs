//! One admission pass of Kueue in a cluster of 1,000 ClusterQueues, 50,000 Workloads and 5,000 nodes.

use sim_api::spec::kueue::{
    ClusterQueue, ClusterQueuePreemption, FlavorQuotas, KueueObjects, KueueTopology, LocalQueue, NamespaceSelector,
    PreemptionPolicy, ResourceFlavor, ResourceGroup, ResourceQuota,
};
use sim_api::spec::{PodSpec, PodTemplate};
use sim_base::{Duration, SimTime};
use sim_kueue::control::Manager;
use sim_kueue::driver::take_patches;
use sim_kueue::tas::{LevelRequest, TasNode, TopologyRequest};
use sim_kueue::topology::TopologySnapshot;
use sim_kueue::workload::{ConditionType, PodSet, Workload, WorkloadKey, WorkloadStatus};
use std::collections::BTreeMap;
use std::sync::Arc;

const ACCELERATOR: &str = "example.com/accelerator";
const LEVELS: [&str; 3] = ["block", "rack", "kubernetes.io/hostname"];
const FLAVOR: &str = "pool";

/// Size of the cluster.
#[derive(Copy, Clone)]
pub struct KueueSize {
    pub cohorts: usize,
    pub queues_per_cohort: usize,
    pub workloads_per_queue: usize,
    pub nodes: usize,
}

pub const FULL: KueueSize = KueueSize { cohorts: 100, queues_per_cohort: 10, workloads_per_queue: 50, nodes: 5_000 };
pub const SMALL: KueueSize = KueueSize { cohorts: 2, queues_per_cohort: 5, workloads_per_queue: 10, nodes: 20 };

/// A cluster at rest: the quota is used, all other Workloads wait.
pub struct KueueCluster {
    pub manager: Manager,
    pub now: SimTime,
    size: KueueSize,
}

impl KueueCluster {
    pub fn new(size: KueueSize) -> KueueCluster {
        let objects = objects(size);
        let nodes: Vec<TasNode> = (0..size.nodes).map(node).collect();
        let topology = TopologySnapshot::new(&objects, &nodes);
        let manager = Manager::new(&objects, topology, [(String::new(), BTreeMap::new())].into());
        KueueCluster { manager, now: SimTime::ZERO, size }
    }

    /// Creates all Workloads.
    pub fn submit(&mut self) {
        let queues = self.size.cohorts * self.size.queues_per_cohort;
        for key in 0..queues * self.size.workloads_per_queue {
            let workload = workload(key, key % queues, key / queues);
            self.manager.workload_changed(key, Arc::new(workload), self.now);
        }
    }

    /// Runs one pass and stores what it decides. Returns the number of decisions.
    pub fn pass(&mut self, run: impl FnOnce(&mut Manager, SimTime) -> Vec<sim_kueue::control::Patch>) -> usize {
        let patches = run(&mut self.manager, self.now);
        let count = patches.len();
        for patch in patches {
            let old = self.manager.workload(patch.key).cloned();
            if let Some(new) = old.and_then(|old| patch.apply(&old, self.now)) {
                let is_evicted = new.is_evicted() && new.has_reservation();
                self.manager.workload_changed(patch.key, Arc::new(new.clone()), self.now);
                if is_evicted {
                    let mut stopped = new;
                    stopped.unset_reservation("Pending", "", self.now);
                    self.manager.workload_changed(patch.key, Arc::new(stopped), self.now);
                }
            }
        }
        count
    }

    /// Runs passes until all queues rest.
    pub fn settle(&mut self) {
        loop {
            while self.manager.has_heads() {
                self.pass(take_patches);
            }
            let wakes = self.manager.take_wakes();
            if wakes.is_empty() {
                return;
            }
            wakes.into_iter().for_each(|root| self.manager.wake(root, self.now));
        }
    }

    /// Ends the first admitted Workload after `key`, or from the start if there is none. Returns its key.
    pub fn finish_next(&mut self, key: WorkloadKey) -> Option<WorkloadKey> {
        let count = self.size.cohorts * self.size.queues_per_cohort * self.size.workloads_per_queue;
        (key + 1..count).chain(0..=key).find(|key| self.finish(*key))
    }

    /// Ends an admitted Workload, and makes the Workloads of its cohort active.
    fn finish(&mut self, key: WorkloadKey) -> bool {
        let Some(old) = self.manager.workload(key).filter(|w| w.is_admitted() && !w.is_finished()) else {
            return false;
        };
        self.now += Duration::from_secs(1);
        let mut new = (**old).clone();
        new.status.set(ConditionType::Finished, true, "Succeeded", "", self.now);
        self.manager.workload_changed(key, Arc::new(new), self.now);
        self.manager.take_wakes().into_iter().for_each(|root| self.manager.wake(root, self.now));
        true
    }
}

fn objects(size: KueueSize) -> KueueObjects {
    let quota = ResourceQuota {
        name: ACCELERATOR.to_owned(),
        nominal: 20_000,
        borrowing_limit: Some(100_000),
        lending_limit: None,
    };
    let group = ResourceGroup {
        covered_resources: vec![ACCELERATOR.to_owned()],
        flavors: vec![FlavorQuotas { name: FLAVOR.to_owned(), resources: vec![quota] }],
    };
    let preemption = ClusterQueuePreemption {
        within_cluster_queue: PreemptionPolicy::LowerPriority,
        reclaim_within_cohort: PreemptionPolicy::Any,
        ..ClusterQueuePreemption::default()
    };
    let queue = |index: usize| ClusterQueue {
        name: format!("queue-{index}"),
        resource_groups: vec![group.clone()],
        cohort: Some(format!("cohort-{}", index % size.cohorts)),
        namespace_selector: Some(NamespaceSelector::default()),
        preemption,
        ..ClusterQueue::default()
    };
    let cluster_queues: Vec<ClusterQueue> = (0..size.cohorts * size.queues_per_cohort).map(queue).collect();
    let local = |queue: &ClusterQueue| LocalQueue {
        name: queue.name.clone(),
        cluster_queue: queue.name.clone(),
        ..LocalQueue::default()
    };
    let flavor =
        ResourceFlavor { name: FLAVOR.to_owned(), topology: Some("cluster".to_owned()), ..ResourceFlavor::default() };
    let topology = KueueTopology { name: "cluster".to_owned(), levels: LEVELS.map(str::to_owned).to_vec() };
    KueueObjects {
        local_queues: cluster_queues.iter().map(local).collect(),
        cluster_queues,
        flavors: vec![flavor],
        topologies: vec![topology],
        ..KueueObjects::default()
    }
}

/// A node with four accelerators, in racks of 50 nodes and blocks of ten racks.
fn node(index: usize) -> TasNode {
    let values = [format!("b{}", index / 500), format!("r{}", index / 50), format!("n{index}")];
    TasNode {
        name: values[2].clone(),
        labels: LEVELS.map(str::to_owned).into_iter().zip(values).collect(),
        is_ready: true,
        allocatable: [(ACCELERATOR.to_owned(), 4_000), ("pods".to_owned(), 110_000)].into(),
        ..TasNode::default()
    }
}

/// Of ten Workloads of a queue, seven have one pod, two have five pods, and one has five pods with four accelerators.
fn workload(key: WorkloadKey, queue: usize, nth: usize) -> Workload {
    let (pods, each, priority) = match nth % 10 {
        0 => (5, 4_000, 200),
        1 | 2 => (5, 1_000, 100),
        _ => (1, 1_000, 50),
    };
    let resources = [(ACCELERATOR.to_owned(), each)].into();
    let template = PodTemplate { spec: PodSpec { resources, ..PodSpec::default() }, ..PodTemplate::default() };
    let level = LevelRequest::Preferred("rack".to_owned());
    let topology = Some(TopologyRequest { level: Some(level), ..TopologyRequest::default() });
    Workload {
        namespace: String::new(),
        name: format!("workload-{key}"),
        uid: format!("{key:08}"),
        job_uid: String::new(),
        queue: format!("queue-{queue}"),
        priority,
        priority_class: None,
        created: SimTime::ZERO + Duration::from_secs(nth as u64),
        active: true,
        admission_gates: String::new(),
        max_execution_s: None,
        pod_sets: [PodSet { name: "main".to_owned(), count: pods, replicas: 1, template, topology, stored: None }]
            .into(),
        status: WorkloadStatus::default(),
    }
}
