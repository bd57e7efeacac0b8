//! One experiment's inputs tied together: cluster, JobSets, what containers do, faults, stop condition.

use super::cluster::Topology;
use super::control_plane::ControlPlane;
use super::jobset::JobSet;
use super::pod::Taint;
use super::timing::Timing;
use crate::base::Duration;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub description: String,
    pub topology: Topology,
    pub control_plane: ControlPlane,
    pub timing: Timing,
    pub jobsets: Vec<SubmittedJobSet>,
    /// First rule that matches a container run wins; none: it runs for ever.
    pub containers: Vec<ContainerRule>,
    pub faults: Vec<ScriptedFault>,
    pub stop: Stop,
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct SubmittedJobSet {
    pub jobset: JobSet,
    pub submit_at: Duration,
    /// Where it was read from, for messages.
    pub source: String,
}

/// What a container run does. Absent selectors match everything.
#[derive(Clone, Debug, Default)]
pub struct ContainerRule {
    pub jobset: Option<String>,
    pub replicated_job: Option<String>,
    pub job_index: Option<u32>,
    pub pod_index: Option<u32>,
    /// restart-attempt label of the pod.
    pub restart_attempt: Option<u32>,
    /// nth pod of that index within one Job object, from 0.
    pub job_try: Option<u32>,
    pub in_place_attempt: Option<u32>,
    /// nth run of the container in that pod, from 0.
    pub container_run: Option<u32>,
    /// Exits this long after it started; None: never.
    pub run_for: Option<Duration>,
    pub exit_code: i32,
    /// Overrides the time from binding to running and ready.
    pub start_after: Option<Duration>,
    /// Overrides the time from the deletion being seen to the containers having stopped (never above the grace
    /// period).
    pub stop_after: Option<Duration>,
}

#[derive(Clone, Debug)]
pub struct ScriptedFault {
    pub at: FaultTime,
    pub action: FaultAction,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultTime {
    At(Duration),
    /// This long after every Job of every JobSet was ready for the first time.
    AfterReady(Duration),
}

#[derive(Clone, Debug)]
pub enum FaultAction {
    ContainerExit { pod: String, exit_code: i32 },
    DeletePod { pod: String, force: bool },
    EvictPod { pod: String },
    CrashNode(NodeRef),
    PartitionNode(NodeRef),
    ReturnNode(NodeRef),
    DeleteNode(NodeRef),
    CordonNode(NodeRef),
    UncordonNode(NodeRef),
    DrainNode(NodeRef),
    TaintNode(NodeRef, Taint),
    SuspendJobSet(String),
    ResumeJobSet(String),
    DeleteJobSet(String),
}

/// A node by name, or the node of a pod; `alias` keeps it for later actions.
#[derive(Clone, Debug)]
pub struct NodeRef {
    pub name: Option<String>,
    /// Pod name without its random suffix, e.g. `train-workers-0-3`.
    pub of_pod: Option<String>,
    pub alias: Option<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Virtual time at which the run ends in any case.
    pub at: Duration,
    pub when: StopWhen,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StopWhen {
    /// Every JobSet is Completed or Failed.
    AllJobSetsFinished,
    /// As above, or every fault has fired and nothing can change any more without a further one: all Jobs ready
    /// again, or stuck.
    Settled,
    /// Only at `at`.
    Time,
}
