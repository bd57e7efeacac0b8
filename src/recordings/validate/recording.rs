//! Types of a recording of a real control plane (`jobset-sim/recording/v1`).
//!
//! The interpretation for a run or a comparison is the task of other modules. Unknown keys may affect the
//! simulation, so they are kept in `unknown`.

use super::rows::{LogEntry, RecordedPods};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sim_engine::record::ReplicatedJobStatus;
use std::collections::BTreeMap;

pub const SCHEMA: &str = "jobset-sim/recording/v1";

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingKind {
    Decisions,
    Times,
    Corner,
    Nodes,
    /// Drains with budgets, and preemption between JobSets.
    Cluster,
    /// The kinds `create`, `update` and `children` are admission recordings, which have a separate format.
    Create,
    Update,
    Children,
    /// Decisions of kube-scheduler on single pods. This kind and `Gang` have their own formats.
    Scheduling,
    /// Decisions of kube-scheduler on pod groups.
    Gang,
    /// Decisions of Kueue, in a format of their own.
    Kueue,
    /// Kueue together with all other components.
    #[serde(rename = "kueueLive")]
    KueueLive,
    /// Dynamic resource allocation, which is not simulated.
    Dra,
}

impl RecordingKind {
    /// Returns whether the decisions are compared, rather than only the times.
    pub fn has_decisions(self) -> bool {
        matches!(
            self,
            RecordingKind::Decisions
                | RecordingKind::Corner
                | RecordingKind::Nodes
                | RecordingKind::Cluster
                | RecordingKind::Scheduling
                | RecordingKind::Gang
                | RecordingKind::Kueue
                | RecordingKind::KueueLive
                | RecordingKind::Dra
        )
    }

    pub fn as_str(self) -> &'static str {
        match self {
            RecordingKind::Decisions => "decisions",
            RecordingKind::Times => "times",
            RecordingKind::Corner => "corner",
            RecordingKind::Nodes => "nodes",
            RecordingKind::Cluster => "cluster",
            RecordingKind::Create => "create",
            RecordingKind::Update => "update",
            RecordingKind::Children => "children",
            RecordingKind::Scheduling => "scheduling",
            RecordingKind::Gang => "gang",
            RecordingKind::Kueue => "kueue",
            RecordingKind::KueueLive => "kueueLive",
            RecordingKind::Dra => "dra",
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRun {
    pub kind: RecordingKind,
    pub name: String,
    #[serde(default)]
    pub about: String,
    pub control_plane: RecordedControlPlane,
    /// The manifest as submitted.
    pub job_set: Value,
    pub script: RecordedScript,
    /// The spec as first stored; absent if the JobSet was refused.
    #[serde(default)]
    pub stored_spec: Option<Value>,
    pub milestones: Option<RecordedMilestones>,
    pub requests: Option<RecordedRequests>,
    pub played_for_ms: Option<u64>,
    /// Manifests of the objects that were created before the JobSet.
    #[serde(default)]
    pub objects: Vec<Value>,
    pub status: Option<RecordedStatus>,
    #[serde(default)]
    pub deleted: bool,
    #[serde(default)]
    pub jobs: Vec<JobRow>,
    #[serde(default)]
    pub events: Vec<EventRow>,
    #[serde(default)]
    pub log: Vec<LogEntry>,
    #[serde(flatten)]
    pub pods: RecordedPods,
    pub scored: Option<bool>,
    pub scored_up_to: Option<String>,
    /// Notes of `recording import`: unknown milestones and assumed values. They do not affect the replay.
    pub imported: Option<Value>,
    /// The schema, which is checked before the rest is read.
    #[serde(default, rename = "schema")]
    _schema: IgnoredAny,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedControlPlane {
    pub kubernetes: String,
    #[serde(default)]
    pub feature_gates: Vec<String>,
    pub kube_controller_manager: RecordedRate,
    pub kube_scheduler: RecordedRate,
    pub jobset_manager: RecordedRate,
    pub nodes: u32,
    pub nodes_per_pool: u32,
    #[serde(default = "pods_per_node")]
    pub pods_per_node: u32,
    pub nodes_per_zone: Option<u32>,
    pub node_monitor_grace_period_s: Option<u64>,
    pub heartbeat_s: Option<u64>,
    pub api_latency_ms: Option<RecordedLatency>,
    /// Requests per second of all kubelets and agents that the API server handles.
    pub node_requests_per_second: Option<f64>,
    #[serde(default)]
    pub gate_switches: Vec<RecordedGateSwitch>,
    #[serde(default)]
    pub manager_may_write_pod_status: bool,
    /// Commit of Kueue, if its manager ran.
    pub kueue: Option<String>,
    /// Configuration of Kueue's manager.
    pub wait_for_pods_ready: Option<RecordedReadiness>,
    /// Commit of JobSet. It is the same for all recordings.
    #[serde(default, rename = "jobset")]
    _jobset: IgnoredAny,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

/// Limits of Kueue for the readiness of a Workload. `requeuing` is a `requeuingStrategy` of the Configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedReadiness {
    pub timeout_s: u64,
    pub recovery_timeout_s: Option<u64>,
    pub block_admission: Option<bool>,
    #[serde(default)]
    pub requeuing: Value,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

/// A switch of feature gates. The manager stops at `at_ms` and returns about 2 s later without the gates in `off`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedGateSwitch {
    pub at_ms: u64,
    #[serde(default)]
    pub off: Vec<String>,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

fn pods_per_node() -> u32 {
    110
}

#[derive(Copy, Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRate {
    pub qps: f64,
    pub burst: u32,
    pub concurrent_job_syncs: Option<u32>,
}

/// Median and 95th percentile of the latency of a request in milliseconds: `[8, 40]` or `{"p50": 8, "p95": 40}`.
#[derive(Copy, Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum RecordedLatency {
    Pair([f64; 2]),
    Named { p50: f64, p95: f64 },
}

impl RecordedLatency {
    pub fn p50_p95(self) -> (f64, f64) {
        match self {
            RecordedLatency::Pair([p50, p95]) | RecordedLatency::Named { p50, p95 } => (p50, p95),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedScript {
    pub start_ms: u64,
    pub term_ms: u64,
    pub term_exit: i32,
    pub restart_ms: u64,
    #[serde(default)]
    pub pods: Vec<PodRule>,
    #[serde(default)]
    pub actions: Vec<ScriptAction>,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodRule {
    pub job_set: Option<String>,
    pub replicated_job: Option<String>,
    pub job_index: Option<u32>,
    pub pod_index: Option<u32>,
    pub restart_attempt: Option<u32>,
    pub job_restart: Option<u32>,
    pub job_try: Option<u32>,
    pub in_place_attempt: Option<u32>,
    pub container_run: Option<u32>,
    /// Run time in milliseconds; −1 means that the container never ends.
    pub run_ms: i64,
    #[serde(default)]
    pub exit: i32,
    pub start_ms: Option<u64>,
    pub term_ms: Option<u64>,
    /// Name of the only container that exits with `exit`; the others exit with 0.
    pub container: Option<String>,
    pub pod_fails: Option<bool>,
    pub barrier_ms: Option<u64>,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptAction {
    pub at_ms: u64,
    #[serde(rename = "do")]
    pub what: String,
    pub pod: Option<String>,
    pub name: Option<String>,
    pub body: Option<String>,
    pub grace_seconds: Option<u32>,
    /// Resource as `group/version/plural`, e.g. `batch/v1/jobs`.
    pub resource: Option<String>,
    pub subresource: Option<String>,
    pub patch_type: Option<String>,
    pub propagation: Option<String>,
    #[serde(default)]
    pub fields: Vec<String>,
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct RecordedMilestones {
    pub strategy: String,
    pub milestones_s: BTreeMap<String, f64>,
    /// Milestone from which times are counted, if it is not the status of the failing pod.
    pub origin: Option<String>,
}

/// Requests of the two windows. Columns: client, verb, resource, error, requests, p50 and p95 in ms, first and last
/// in seconds.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedRequests {
    #[serde(default)]
    pub start: Vec<RequestRow>,
    #[serde(default)]
    pub restart: Vec<RequestRow>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct RequestRow(pub String, pub String, pub String, pub String, pub u64, pub f64, pub f64, pub f64, pub f64);

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedStatus {
    pub conditions: Vec<RecordedCondition>,
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub current_in_place_restart_attempt: Option<u32>,
    pub previous_in_place_restart_attempt: Option<u32>,
    pub terminal_state: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RecordedCondition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub message: String,
    /// Wall time in whole seconds. Only the final status contains it.
    #[serde(default, rename = "lastTransitionTime")]
    pub last_transition_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRow {
    pub name: String,
    /// Text of the label. It may not be a number if a user changed it.
    #[serde(default)]
    pub restart_attempt: String,
    /// Conditions as `Type=RecordedStatus Reason: message`.
    #[serde(default)]
    pub conditions: Vec<String>,
    #[serde(default)]
    pub suspended: bool,
    #[serde(default)]
    pub exists: bool,
    #[serde(default)]
    pub active: u32,
    #[serde(default)]
    pub ready: u32,
    #[serde(default)]
    pub succeeded: u32,
    #[serde(default)]
    pub failed: u32,
    /// Number of terminating pods, if the recording contains it. The log contains it more often.
    pub terminating: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct EventRow {
    /// Involved object as `RecordingKind/name`.
    pub object: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub reason: String,
    #[serde(default)]
    pub message: String,
}

impl RecordedRun {
    /// Returns the name of the recorded JobSet, `js` by default.
    pub fn jobset_name(&self) -> &str {
        self.job_set.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("js")
    }

    /// Returns the index, starting at 0, of the restart that `milestones` describes: the first unless another one
    /// was imported.
    pub fn nth_restart(&self) -> usize {
        let imported = self.imported.as_ref().and_then(|i| i["restart"].as_u64());
        imported.map_or(0, |n| n.saturating_sub(1) as usize)
    }

    /// Returns the error message of the API server if it rejected the JobSet.
    pub fn rejection_message(&self) -> Option<&str> {
        let entry = self.log.iter().find(|e| e.what == "rejected")?;
        Some(entry.detail.as_str().unwrap_or(""))
    }

    /// Returns the response to each action of the script, in the order of the script. `None` means that the action
    /// was not executed.
    pub fn responses(&self) -> Vec<Option<&str>> {
        let mut used = vec![false; self.log.len()];
        let mut answer = |action: &ScriptAction| {
            let target = action.pod.as_deref().or(action.name.as_deref());
            let matching = self.log.iter().enumerate().position(|(i, e)| {
                !used[i] && e.kind == "User" && e.what == action.what && e.name == target.unwrap_or("")
            })?;
            used[matching] = true;
            Some(self.log[matching].detail.as_str().unwrap_or(""))
        };
        self.script.actions.iter().map(&mut answer).collect()
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/recording.rs"]
mod tests;
