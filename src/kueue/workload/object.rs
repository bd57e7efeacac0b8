//! The Workload and its pod sets.

use super::conditions::{Condition, ConditionType};
use super::reasons;
use super::status::{PodSetAdmission, WorkloadStatus};
use crate::tas::{TopologyAssignment, TopologyRequest};
use sim_api::spec::PodTemplate;
use sim_api::spec::kueue::{PriorityClassRef, RequeuingTimestamp, StoredPodSet};
use sim_base::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index of a Workload. The caller assigns it in the order of creation.
pub type WorkloadKey = usize;

#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// UID of the JobSet.
    pub job_uid: String,
    /// Name of the LocalQueue.
    pub queue: String,
    pub priority: i32,
    pub priority_class: Option<PriorityClassRef>,
    /// Creation time in whole seconds.
    pub created: SimTime,
    pub active: bool,
    /// Whether the annotation `kueue.x-k8s.io/admission-gated-by` names a gate.
    pub admission_gates: String,
    pub max_execution_s: Option<u64>,
    pub pod_sets: Arc<[PodSet]>,
    pub status: WorkloadStatus,
}

/// Pods of one replicatedJob.
#[derive(Clone, Debug, PartialEq)]
pub struct PodSet {
    pub name: String,
    pub count: u32,
    /// Replicas of the replicatedJob.
    pub replicas: u32,
    pub template: PodTemplate,
    pub topology: Option<TopologyRequest>,
    /// The pod set in the inputs; `None` for one that Kueue makes from a replicatedJob.
    pub stored: Option<Arc<StoredPodSet>>,
}

impl Workload {
    pub fn is_true(&self, kind: ConditionType) -> bool {
        self.condition(kind).is_some_and(|c| c.status)
    }

    pub fn condition(&self, kind: ConditionType) -> Option<&Condition> {
        self.status.conditions.iter().find(|c| c.kind == kind)
    }

    pub fn has_reservation(&self) -> bool {
        self.is_true(ConditionType::QuotaReserved)
    }

    pub fn is_admitted(&self) -> bool {
        self.is_true(ConditionType::Admitted)
    }

    pub fn is_evicted(&self) -> bool {
        self.is_true(ConditionType::Evicted)
    }

    pub fn is_finished(&self) -> bool {
        self.is_true(ConditionType::Finished)
    }

    /// Returns whether the Workload may wait in a queue.
    pub fn is_admissible(&self) -> bool {
        self.admission_gates.is_empty() && !self.is_finished() && self.active && !self.has_reservation()
    }

    /// Returns whether the Workload counts in the usage of its ClusterQueue.
    pub fn has_active_reservation(&self) -> bool {
        self.has_reservation() && !self.is_finished() && self.active
    }

    /// Returns whether the pods of one pod set must be placed by topology.
    pub fn requests_topology(&self) -> bool {
        self.pod_sets.iter().any(PodSet::requests_topology)
    }

    /// Returns the time by which queues are ordered: the creation, or the eviction if it was for missing readiness or
    /// by an admission check.
    pub fn queue_time(&self, timestamp: RequeuingTimestamp) -> SimTime {
        let evicted = self.condition(ConditionType::Evicted).filter(|c| c.status);
        let counts = |c: &&Condition| match &*c.reason {
            reasons::PODS_READY_TIMEOUT => timestamp == RequeuingTimestamp::Eviction,
            reason => reason == reasons::ADMISSION_CHECK,
        };
        evicted.filter(counts).map_or(self.created, |c| c.since)
    }

    /// Returns the time of the newest change that the Workload shows.
    pub fn newest_time(&self) -> SimTime {
        let changes = self.status.conditions.iter().map(|c| c.since);
        changes.max().unwrap_or_default().max(self.created)
    }

    /// Takes the place of an older Workload of the same job: its age and UID and, if the pod sets are equal, its status
    /// without the readiness of its pods.
    pub fn continue_from(&mut self, old: &Workload) {
        (self.created, self.active) = (old.created, old.active);
        self.uid.clone_from(&old.uid);
        // Kueue compares the counts by position. A prebuilt Workload may have other names than the replicatedJobs.
        let sizes = |w: &Workload| w.pod_sets.iter().map(|set| set.count).collect::<Vec<_>>();
        if sizes(self) == sizes(old) {
            self.status = old.status.clone();
            let names: BTreeMap<&str, &str> =
                old.pod_sets.iter().zip(self.pod_sets.iter()).map(|(old, new)| (&*old.name, &*new.name)).collect();
            for pod_set in self.status.admission.iter_mut().flat_map(|admission| &mut admission.pod_sets) {
                if let Some(name) = names.get(&*pod_set.name) {
                    pod_set.name = (*name).into();
                }
            }
            self.status.remove(ConditionType::PodsReady);
            self.status.reclaimable.clear();
        }
    }

    /// Returns whether a node of the topology assignment is lost.
    pub fn has_lost_node(&self) -> bool {
        let admission = self.status.admission.iter();
        let mut placements = admission.flat_map(|a| &a.pod_sets).filter_map(|p| p.topology.as_ref());
        placements.any(|placement| self.status.unhealthy_nodes.iter().any(|node| placement.contains_node(node)))
    }

    /// Returns the pod sets of an admitted Workload with a topology assignment.
    pub fn placed_pod_sets(&self) -> impl Iterator<Item = (&PodSetAdmission, &TopologyAssignment)> {
        let admission = self.status.admission.iter().filter(|_| self.is_admitted());
        admission.flat_map(|a| &a.pod_sets).filter_map(|pod_set| Some((pod_set, pod_set.topology.as_ref()?)))
    }

    /// Returns whether the scheduler must look at a Workload with a reservation again.
    pub fn needs_second_pass(&self) -> bool {
        !self.is_finished() && !self.is_evicted() && self.has_reservation() && self.has_lost_node()
    }
}

impl PodSet {
    /// Returns whether an annotation requests a placement by topology.
    pub fn requests_topology(&self) -> bool {
        self.topology.as_ref().is_some_and(TopologyRequest::is_explicit)
    }
}
