//! The result of `admit` as data.

use super::wait::WaitEstimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdicts on all JobSets, in the order in which they are submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionReport {
    /// Whether all JobSets are admitted and fit on the nodes.
    pub admitted: bool,
    /// One verdict per JobSet.
    pub job_sets: Vec<JobSetVerdict>,
    /// Restrictions of the answer, as sentences.
    pub notes: Vec<String>,
    /// Fields of the inputs that are valid and ignored.
    pub not_modelled: Vec<String>,
}

/// The verdict on one JobSet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetVerdict {
    /// Name of the JobSet.
    pub name: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of its LocalQueue; empty if Kueue does not manage it.
    pub local_queue: String,
    /// Name of the ClusterQueue; empty if there is none.
    pub cluster_queue: String,
    /// `Admitted`, `AlreadyAdmitted`, `ChecksPending`, `Pending`, `Preempted`, `Finished` or `Unmanaged`, after all
    /// JobSets were submitted.
    pub verdict: &'static str,
    /// `quota`, `flavor`, `topology`, `queue`, `checks`, `node` or `suspended` if the JobSet does not start.
    pub cause: Option<&'static str>,
    /// Reason of the condition QuotaReserved.
    pub reason: String,
    /// Message of the condition QuotaReserved, in Kueue's words.
    pub message: String,
    /// Flavors and domains of the pod sets of an admitted JobSet.
    pub pod_sets: Vec<PodSetPlacement>,
    /// Quota beyond the nominal quota of the ClusterQueue.
    pub borrowed: Vec<BorrowedRow>,
    /// Workloads that are preempted for the JobSet.
    pub preempted: Vec<WorkloadRow>,
    /// Pending Workloads that are admitted before the JobSet.
    pub admitted_first: Vec<WorkloadRow>,
    /// Pending Workloads of the ClusterQueue that are ahead of the JobSet.
    pub ahead: Vec<WorkloadRow>,
    /// Flavors that do not admit the JobSet.
    pub attempts: Vec<AttemptRow>,
    /// Changes that would admit the JobSet, each the smallest of its kind, found by trials.
    pub smallest_changes: Vec<RemedyRow>,
    /// Distribution of the wait for quota; null if it was not requested.
    pub wait: Option<WaitEstimate>,
    /// Whether the pods fit on the nodes; null if this was not examined.
    pub nodes: Option<NodeFit>,
}

impl JobSetVerdict {
    /// Returns whether the JobSet starts.
    pub fn starts(&self) -> bool {
        self.cause.is_none()
    }
}

/// Flavors and domains of one pod set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSetPlacement {
    /// Name of the replicatedJob.
    pub name: String,
    /// Number of its pods.
    pub count: u32,
    /// Flavor of each resource.
    pub flavors: BTreeMap<String, String>,
    /// Node labels that identify the domains; empty without a topology assignment.
    pub levels: Vec<String>,
    /// Domains with their numbers of pods.
    pub domains: Vec<PlacedDomain>,
}

/// Pods in one topology domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedDomain {
    /// Values of the labels.
    pub values: Vec<String>,
    /// Number of pods.
    pub count: u32,
}

/// Borrowed quota of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BorrowedRow {
    /// Name of the flavor.
    pub flavor: String,
    /// Name of the resource.
    pub resource: String,
    /// Borrowed amount as a Kubernetes quantity.
    pub amount: String,
}

/// A Workload other than that of the JobSet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRow {
    /// Name of the Workload, or of the JobSet in the inputs.
    pub name: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the LocalQueue.
    pub local_queue: String,
    /// Priority of the Workload.
    pub priority: i32,
    /// Reason of the preemption; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A flavor that does not admit a pod set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRow {
    /// Name of the pod set.
    pub pod_set: String,
    /// Name of the flavor.
    pub flavor: String,
    /// Reasons in Kueue's words.
    pub reasons: Vec<String>,
}

/// Changes that admit a JobSet together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemedyRow {
    /// The changes as imperative sentences without a period.
    pub changes: Vec<String>,
    /// Kind and size of each change.
    pub sizes: Vec<ChangeSize>,
    /// Wait for quota from the submission on, in seconds, if the change does not admit the JobSet at once.
    #[serde(rename = "wait_s", skip_serializing_if = "Option::is_none")]
    pub wait: Option<f64>,
    /// Workloads that are then preempted.
    pub preempted: Vec<WorkloadRow>,
    /// JobSets that then wait until the end of the run, and do not otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// JobSets that Kueue then evicts for another reason than preemption, and does not otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evicted: Vec<String>,
}

/// The kind and size of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeSize {
    /// `nominalQuota`, `borrowingLimit`, `replicas`, `pods`, `toleration`, `nodeSelector`, `priority`, `workloads`,
    /// `localQueue`, `stopPolicy`, `queueingStrategy`, `cordonedNodes`, `freeNodes`, `topologyLevel` or `sliceSize`.
    pub kind: &'static str,
    /// Amount in the unit of the resource, number of Jobs, pods, nodes or Workloads, or the new value of a priority or
    /// of a slice size; 1 for other kinds.
    pub size: f64,
}

impl RemedyRow {
    /// Returns the changes and the preemptions as one sentence without a period.
    pub fn sentence(&self) -> String {
        let names: Vec<String> = self.preempted.iter().map(|w| format!("{}/{}", w.namespace, w.name)).collect();
        let preempts =
            if names.is_empty() { String::new() } else { format!("; preempts Workload {}", names.join(", ")) };
        let wait = self.wait.map_or(String::new(), |wait| {
            format!("; it then waits for {}", crate::format::seconds(sim_base::Duration::from_seconds_f64(wait)))
        });
        let others = match self.waiting.as_slice() {
            [] => String::new(),
            [one] => format!("; JobSet {one} then waits until the end of the run"),
            several => format!("; JobSets {} then wait until the end of the run", several.join(", ")),
        };
        let evicts = match self.evicted.as_slice() {
            [] => String::new(),
            [one] => format!("; Kueue then evicts JobSet {one} at some time"),
            several => format!("; Kueue then evicts JobSets {} at some time", several.join(", ")),
        };
        format!("{}{preempts}{wait}{others}{evicts}", self.changes.join(", and "))
    }
}

/// Whether the pods of an admitted JobSet fit on the nodes. For a pending JobSet, in how many placements of other pods
/// Kueue admits it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFit {
    /// Whether all pods become ready, in all draws.
    pub fits: bool,
    /// Number of draws in which all pods become ready, or in which Kueue admits the JobSet.
    pub fitting_draws: u64,
    /// Number of draws of the placement: 1 if it does not depend on random numbers.
    pub draws: u64,
    /// Why they do not, as sentences.
    pub blocked: Vec<String>,
}
