//! All that one run is given: cluster, JobSets, what containers do, faults, stop condition.

use super::cluster::Topology;
use super::control_plane::ControlPlane;
use super::control_plane::GateChanges;
use super::fault_process::{NodeRepair, NodeSpares, RandomFaults, Silent, SilentOn};
use super::fleet::Exposure;
use super::jobset::{JobSet, ReplicatedJob};
use super::node_ref::NodeRef;
use super::objects::Decoders;
use super::pod::Taint;
use super::request::UserRequest;
use super::timing::Timing;
use super::training::TrainingJob;
use serde_json::Value;
use sim_base::{Duration, JobSetId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub description: String,
    pub topology: Topology,
    pub control_plane: ControlPlane,
    pub timing: Timing,
    pub jobsets: Vec<SubmittedJobSet>,
    /// Objects that exist before the run begins, as the API server stores them, in order.
    pub objects: Vec<Value>,
    /// First rule that matches a container run wins; none: it runs for ever.
    pub containers: Vec<ContainerRule>,
    /// What JobSets train, one entry for each that does.
    pub training: Vec<TrainingJob>,
    pub faults: Vec<ScriptedFault>,
    /// Clocks that advance with use, for those of the faults that come by them.
    pub clocks: Vec<UseClock>,
    /// Drawn before a run (`faults::drawn`): the engine plays scripts.
    pub fault_processes: Vec<RandomFaults>,
    /// For those of them that do not say when what failed is back.
    pub node_repair: Option<NodeRepair>,
    /// Who takes over.
    pub node_spares: Option<NodeSpares>,
    /// Drawn faults whose repair ends after the run.
    pub repairs_later: bool,
    /// Runs although some pod could never be placed.
    pub admit_unplaceable: bool,
    /// Whether a provisioner binds every claim at once; without one, pods that mount a claim stay Pending.
    pub claims_bind: bool,
    /// Whether a PriorityClass or RuntimeClass that is not among the objects is missing; else it is there, and says
    /// what the pod says.
    pub only_described_classes: bool,
    pub ties: TieBreak,
    /// How stored objects are read: those of `objects`, those a user creates or changes.
    pub decode: Decoders,
    pub stop: Stop,
    pub seed: u64,
}

impl Scenario {
    /// What a JobSet of the scenario trains.
    pub fn training_of(&self, jobset: JobSetId) -> Option<&TrainingJob> {
        self.training.iter().find(|t| t.jobset == jobset.ix())
    }
}

/// FP-2: which of the Jobs that failed within the same second counts as the first. Upstream leaves it to the order of a
/// map.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    #[default]
    FirstName,
    LastName,
}

/// The JobSet manager's process ends, and begins anew with other feature gates perhaps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ManagerStop {
    pub down_for: Duration,
    pub gates: GateChanges,
}

#[derive(Clone, Debug)]
pub struct SubmittedJobSet {
    pub jobset: JobSet,
    /// `BY_SCRIPT`: by an action of the script.
    pub submit_at: Duration,
    /// Where it was read from, for messages.
    pub source: String,
}

/// Submitted by an action instead of at a time.
pub const BY_SCRIPT: Duration = Duration(u64::MAX);

/// What a container run does. Absent selectors match everything.
#[derive(Clone, Debug, Default)]
pub struct ContainerRule {
    pub jobset: Option<String>,
    pub replicated_job: Option<String>,
    pub job_index: Option<u32>,
    pub pod_index: Option<u32>,
    /// restart-attempt label of the pod.
    pub restart_attempt: Option<u32>,
    /// job-restart-attempt label of the pod.
    pub job_restart: Option<u32>,
    /// nth pod of that index within one Job object, from 0.
    pub job_try: Option<u32>,
    pub in_place_attempt: Option<u32>,
    /// nth run of the container in that pod, from 0.
    pub container_run: Option<u32>,
    /// Exits this long after it started; None: never.
    pub run_for: Option<Duration>,
    pub exit_code: i32,
    /// Only this container ends with `exit_code`, the others with 0.
    pub container: Option<String>,
    /// In place: this exit ends the pod instead of restarting its containers.
    pub pod_fails: bool,
    /// In place: exits after waiting this long at the barrier.
    pub at_barrier_for: Option<Duration>,
    /// Overrides the time from binding to running and ready.
    pub start_after: Option<Duration>,
    /// Overrides the time from the deletion being seen to the containers having stopped (never above the grace
    /// period).
    pub stop_after: Option<Duration>,
    /// Nobody wrote this rule: it was read from this command of a manifest.
    pub from_command: Option<String>,
}

impl ContainerRule {
    /// Whether it is for some container of the replicatedJob.
    pub fn may_be_for(&self, jobset: &JobSet, rj: &ReplicatedJob) -> bool {
        let named = |want: &Option<String>, have: &str| want.as_deref().is_none_or(|w| w == have);
        named(&self.jobset, &jobset.name) && named(&self.replicated_job, &rj.name)
    }

    /// Whether it lets a container come to its end.
    pub fn ends(&self) -> bool {
        self.run_for.is_some() || self.at_barrier_for.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct ScriptedFault {
    pub at: FaultTime,
    pub action: FaultAction,
    /// The cause of the process that it was drawn from; a user wrote the others.
    pub drawn_as: Option<Arc<str>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultTime {
    At(Duration),
    /// This long after every Job of every JobSet was ready for the first time.
    AfterReady(Duration),
    /// When this clock of use (`Scenario::clocks`) shows so much. The clock stands until what follows is over.
    Worn {
        clock: u32,
        age: Duration,
    },
    /// This long after that one, which stands before it in the script.
    Follows {
        fault: u32,
        after: Duration,
    },
}

/// A clock that advances while something is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseClock {
    pub of: Used,
    /// While processes run, or already while pods are bound.
    pub exposure: Exposure,
}

/// What is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
    /// Any of these nodes, by any pod.
    Nodes(Vec<String>),
    /// A pod, by its name without suffix.
    Pod(String),
}

#[derive(Clone, Debug)]
pub enum FaultAction {
    ContainerExit {
        pod: String,
        exit_code: i32,
    },
    DeletePod {
        pod: String,
        force: bool,
    },
    EvictPod {
        pod: String,
    },
    CrashNode(NodeRef),
    PartitionNode(NodeRef),
    ReturnNode(NodeRef),
    DeleteNode(NodeRef),
    CordonNode(NodeRef),
    UncordonNode(NodeRef),
    DrainNode(NodeRef),
    TaintNode(NodeRef, Taint),
    /// A Node object of the same name, labels and allocatable as before, ready, with a live kubelet and no containers.
    NewNode(NodeRef),
    /// What training feels, and nobody is told.
    Silent {
        on: SilentOn,
        what: Silent,
    },
    SuspendJobSet(String),
    ResumeJobSet(String),
    DeleteJobSet(String),
    StopManager(ManagerStop),
    Request(UserRequest),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Virtual time at which the run ends in any case.
    pub at: Duration,
    pub when: StopWhen,
}

/// What ends a run before its time is over.
#[deny(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StopWhen {
    /// Every JobSet is Completed or Failed.
    AllJobSetsFinished,
    /// As above, or every fault has fired and nothing can change any more without a further one: all Jobs ready
    /// again, or stuck.
    Settled,
    /// Only its time.
    Time,
}

impl StopWhen {
    /// All of them, in the order in which a file may name them.
    pub const ALL: [StopWhen; 3] = [Self::AllJobSetsFinished, Self::Settled, Self::Time];

    /// The word in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllJobSetsFinished => "AllJobSetsFinished",
            Self::Settled => "Settled",
            Self::Time => "Time",
        }
    }
}
