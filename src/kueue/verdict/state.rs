//! The state of the queues in which a Workload is tried.

use crate::control::Manager;
use crate::tas::TasNode;
use crate::topology::TopologySnapshot;
use crate::workload::{Workload, WorkloadKey};
use sim_api::spec::kueue::KueueObjects;
use sim_base::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct QueueState {
    pub objects: Arc<KueueObjects>,
    pub nodes: Arc<Vec<TasNode>>,
    /// Labels of namespaces.
    pub namespaces: Arc<BTreeMap<String, BTreeMap<String, String>>>,
    /// Workloads in order of creation. The index is the key; `None` is no longer there.
    pub workloads: Vec<Option<Arc<Workload>>>,
    pub now: SimTime,
    /// Names of the JobSets of Workloads, as far as they are known.
    pub job_sets: BTreeMap<WorkloadKey, String>,
}

impl QueueState {
    /// Returns the queues and the cache with all Workloads.
    pub fn manager(&self) -> Manager {
        let topology = TopologySnapshot::new(&self.objects, &self.nodes);
        let mut manager = Manager::new(&self.objects, topology, (*self.namespaces).clone());
        for (key, workload) in self.workloads.iter().enumerate() {
            if let Some(workload) = workload {
                manager.workload_changed(key, workload.clone(), self.now);
            }
        }
        manager.take_wakes();
        manager
    }

    pub fn workload(&self, key: WorkloadKey) -> Option<&Arc<Workload>> {
        self.workloads.get(key)?.as_ref()
    }

    /// Returns the name of a Workload for messages, with that of its JobSet.
    pub fn describe(&self, key: WorkloadKey) -> String {
        let workload = self.workload(key).map_or(String::new(), |w| format!("{}/{}", w.namespace, w.name));
        let owner = self.job_sets.get(&key).map_or(String::new(), |name| format!(" of JobSet {name}"));
        format!("Workload {workload}{owner}")
    }

    /// Returns the key of the Workload of a name.
    pub fn key_of(&self, namespace: &str, name: &str) -> Option<WorkloadKey> {
        let is_named =
            |w: &Option<Arc<Workload>>| w.as_ref().is_some_and(|w| w.namespace == namespace && w.name == name);
        self.workloads.iter().position(is_named)
    }

    /// Adds a Workload and returns its key.
    pub fn add(&mut self, workload: Workload) -> WorkloadKey {
        self.workloads.push(Some(Arc::new(workload)));
        self.workloads.len() - 1
    }

    /// Replaces a Workload by a changed copy.
    pub fn edit(&mut self, key: WorkloadKey, change: impl FnOnce(&mut Workload)) {
        if let Some(workload) = self.workloads.get_mut(key).and_then(Option::as_mut) {
            change(Arc::make_mut(workload));
        }
    }

    /// Returns the name of the ClusterQueue of the Workload's LocalQueue.
    pub fn cluster_queue(&self, workload: &Workload) -> Option<&str> {
        let mut queues = self.objects.local_queues.iter();
        let local = queues.find(|queue| queue.namespace == workload.namespace && queue.name == workload.queue)?;
        Some(&local.cluster_queue)
    }
}
