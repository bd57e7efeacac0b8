//! Workloads that exist in a cluster, as `kubectl get workloads -o yaml` prints them.

use crate::spec::{JobSet, PodTemplate, SubmittedJobSet};
use serde_json::Value;
use sim_base::SimTime;
use sim_base::random::Distribution;
use std::sync::Arc;

/// A Workload with its status. Its admission holds quota, and its place in the queue counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredWorkload {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Kind, name and UID of the owner.
    pub owner: Option<WorkloadOwner>,
    /// Name of the LocalQueue.
    pub queue: String,
    pub priority: i32,
    pub priority_class: Option<PriorityClassRef>,
    /// Creation time; time zero is the beginning of 1970.
    pub created: SimTime,
    pub active: bool,
    /// Value of the annotation `kueue.x-k8s.io/admission-gated-by`.
    pub admission_gates: String,
    pub max_execution_s: Option<u64>,
    pub pod_sets: Vec<StoredPodSet>,
    /// The status as JSON, in v1beta1 or v1beta2.
    pub status: Arc<Value>,
    /// Run time of its job from its admission. `None` runs until the end of the simulation.
    pub run_time: Option<Distribution>,
}

/// The class that determined the priority of a Workload (`spec.priorityClassRef`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityClassRef {
    /// Name of a WorkloadPriorityClass.
    Workload(String),
    /// Name of a PriorityClass, that of the pods or the default.
    Pod(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadOwner {
    pub kind: String,
    pub name: String,
    pub uid: String,
}

/// Pods with one template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredPodSet {
    pub name: String,
    pub count: u32,
    pub template: PodTemplate,
    /// `topologyRequest` as JSON, or null.
    pub topology_request: Value,
    /// `containers` and `initContainers` of the template as JSON, which Kueue compares with those of a JobSet.
    pub containers: Value,
    /// Smallest number of pods with which the Workload may start. Pod sets of JobSets have none.
    pub min_count: Option<u32>,
}

impl StoredWorkload {
    /// Returns whether its job is one of the JobSets, so that the run simulates the job itself.
    pub fn is_of_any(&self, jobsets: &[SubmittedJobSet]) -> bool {
        jobsets.iter().any(|s| self.is_of(&s.jobset))
    }

    /// Returns whether the JobSet owns the Workload, or names it as its prebuilt one and no other object owns it.
    pub fn is_of(&self, jobset: &JobSet) -> bool {
        let is_prebuilt = self.owner.is_none()
            && self.namespace == jobset.namespace
            && jobset.prebuilt_workload() == Some(&*self.name);
        is_prebuilt || self.belongs_to(&jobset.namespace, &jobset.name)
    }

    /// Returns whether the JobSet owns the Workload.
    pub fn belongs_to(&self, namespace: &str, jobset: &str) -> bool {
        let is_owner = |owner: &WorkloadOwner| owner.kind == "JobSet" && owner.name == jobset;
        self.namespace == namespace && self.owner.as_ref().is_some_and(is_owner)
    }
}
