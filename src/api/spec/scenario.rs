//! Complete input of one run: cluster, JobSets, container behavior, faults and stop condition.

use super::cluster::TopologySpec;
use super::control_plane::ControlPlane;
use super::control_plane::GateChanges;
use super::fault_process::{NodeRepair, NodeSpares, RandomFaults, SilentFaults, SilentTarget};
use super::fleet::ExposureSpec;
use super::jobset::{JobSet, ReplicatedJob};
use super::kueue::KueueObjects;
use super::node_ref::NodeRef;
use super::objects::ObjectDecoders;
use super::pod::{ContainerSpec, ImagePullPolicy, TaintSpec};
use super::request::{ObjectKind, RequestVerb, UserRequest};
use super::timing::TimingSpec;
use super::training::TrainingJob;
use serde_json::Value;
use sim_base::random::Distribution;
use sim_base::{Duration, JobSetId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct ScenarioSpec {
    pub name: String,
    pub description: String,
    pub topology: TopologySpec,
    pub control_plane: ControlPlane,
    pub timing: TimingSpec,
    pub jobsets: Vec<SubmittedJobSet>,
    /// Objects that exist before the run begins, as stored by the API server, in order.
    pub objects: Vec<Value>,
    /// Rules for container runs. The first matching rule applies; a container without a matching rule runs
    /// indefinitely.
    pub containers: Vec<ContainerRule>,
    /// Training jobs of the JobSets, with one entry per JobSet that trains.
    pub training: Vec<TrainingJob>,
    pub faults: Vec<ScriptedFault>,
    /// Usage clocks for faults whose time depends on usage.
    pub clocks: Vec<UseClock>,
    /// Random fault processes. `sim_reliability` converts them to scripted faults before a run, because the engine
    /// executes scripts only.
    pub fault_processes: Vec<RandomFaults>,
    /// Index of the entry of each fault process in `faultProcesses` of the scenario file. A preset, or a trace with
    /// several kinds of faults, gives several processes.
    pub process_entries: Vec<u32>,
    /// Node repair for fault processes that do not specify when the node returns.
    pub node_repair: Option<NodeRepair>,
    /// Spare nodes that replace lost nodes.
    pub node_spares: Option<NodeSpares>,
    /// Time in which the owner of the slices of the topology forms one again with a free cube. `None`: never.
    pub slice_formation: Option<Distribution>,
    /// Whether the repair of some drawn fault ends after the run.
    pub has_repairs_after_end: bool,
    /// Random faults were drawn up to the end of the run.
    pub has_random_faults: bool,
    /// Contradictions of the fault processes from which the random faults were drawn.
    pub drawn_contradictions: Vec<String>,
    /// Whether the run starts although some pod can never be scheduled.
    pub admit_unplaceable: bool,
    pub claim_controller: ClaimController,
    /// Whether a PriorityClass or RuntimeClass that is not among the objects is treated as missing. Otherwise a class
    /// whose kind is not among the objects is assumed to exist and to match the values in the pod.
    pub requires_listed_classes: bool,
    /// Namespaces and names of the ServiceAccounts of the manifests. If there are none, every account is assumed to
    /// exist.
    pub service_accounts: Vec<(String, String)>,
    /// The KubeSchedulerConfiguration; null is the default configuration.
    pub scheduler: Value,
    /// The objects of Kueue. Without them, no component admits JobSets with a queue.
    pub kueue: Option<KueueObjects>,
    pub ties: TieBreak,
    /// Decoders for `objects` and for objects that a user creates or changes.
    pub decoders: ObjectDecoders,
    pub stop: StopSpec,
    pub seed: u64,
}

/// Who binds PersistentVolumeClaims to volumes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ClaimController {
    /// Claims are bound at once to volumes that all nodes can use, and claims that no object describes exist.
    Assumed,
    /// The persistent volume controller and the provisioners of StorageClasses.
    Simulated,
    /// No component binds claims.
    Absent,
}

impl ScenarioSpec {
    /// Returns the training job of a JobSet.
    pub fn training_for(&self, jobset: JobSetId) -> Option<&TrainingJob> {
        self.training.iter().find(|t| t.jobset == jobset.ix())
    }
}

/// Order of Jobs that failed within the same second (FP-2). Upstream depends on the iteration order of a map.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    #[default]
    FirstName,
    LastName,
}

/// A stop of the JobSet manager's process, which then restarts, possibly with different feature gates.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ManagerStop {
    pub down_for: Duration,
    pub gates: GateChanges,
}

#[derive(Clone, Debug)]
pub struct SubmittedJobSet {
    pub jobset: JobSet,
    /// Time of submission. `BY_SCRIPT` means that an action of the script submits the JobSet.
    pub submit_at: Duration,
    /// File from which the JobSet was read, for messages.
    pub source: String,
}

/// Value of `submit_at` for a JobSet that an action submits.
pub const BY_SCRIPT: Duration = Duration(u64::MAX);

/// Behavior of a container run. A selector that is `None` matches everything.
#[derive(Clone, Debug, Default)]
pub struct ContainerRule {
    pub jobset: Option<String>,
    pub replicated_job: Option<String>,
    pub job_index: Option<u32>,
    pub pod_index: Option<u32>,
    /// Value of the restart-attempt label of the pod.
    pub restart_attempt: Option<u32>,
    /// Value of the job-restart-attempt label of the pod.
    pub job_restart: Option<u32>,
    /// Number of the pod among the pods of that index within one Job object, from 0.
    pub job_try: Option<u32>,
    pub in_place_attempt: Option<u32>,
    /// Number of the run of the container in that pod, from 0.
    pub container_run: Option<u32>,
    /// Time from start to exit. `None` means that the container never exits.
    pub run_for: Option<Duration>,
    pub exit_code: i32,
    /// Name of the only container that exits with `exit_code`. The other main containers exit with 0. A rule that names
    /// an init container or a sidecar applies to this container only.
    pub container: Option<String>,
    /// For in-place restart: the exit ends the pod instead of restarting its containers.
    pub pod_fails: bool,
    /// For in-place restart: the container exits after waiting this long at the barrier.
    pub at_barrier_for: Option<Duration>,
    /// Time from the start of a container until its startup and readiness probes succeed.
    pub ready_after: Option<Duration>,
    /// Overrides the time from binding to running and ready.
    pub start_after: Option<Duration>,
    /// Overrides the time from the kubelet's observation of the deletion to the exit of the containers. It is
    /// limited by the grace period.
    pub stop_after: Option<Duration>,
    /// Command of the manifest from which this rule was inferred. `None` if a user wrote the rule.
    pub from_command: Option<String>,
}

impl ContainerRule {
    /// Returns whether the rule may apply to a main container of the replicatedJob.
    pub fn may_apply_to(&self, jobset: &JobSet, rj: &ReplicatedJob) -> bool {
        let named = |want: &Option<String>, have: &str| want.as_deref().is_none_or(|w| w == have);
        let mut init = rj.template.template.spec.init_containers.iter();
        let of_init = init.any(|c| self.container.as_ref() == Some(&c.name));
        named(&self.jobset, &jobset.name) && named(&self.replicated_job, &rj.name) && !of_init
    }

    /// Returns whether the rule selects neither pods nor attempts of a replicatedJob.
    pub(super) fn is_for_all_pods(&self) -> bool {
        let ContainerRule { job_index, pod_index, restart_attempt, job_restart, job_try, .. } = self;
        let selectors = [job_index, pod_index, restart_attempt, job_restart, job_try];
        let runs = [self.in_place_attempt, self.container_run];
        selectors.into_iter().all(Option::is_none) && runs.iter().all(Option::is_none) && self.container.is_none()
    }

    /// Returns whether the rule selects restarts, attempts or runs.
    pub fn selects_attempts(&self) -> bool {
        let ContainerRule { restart_attempt, job_restart, job_try, in_place_attempt, container_run, .. } = self;
        [restart_attempt, job_restart, job_try, in_place_attempt, container_run].into_iter().any(Option::is_some)
    }

    /// Returns whether the rule applies wherever `other` does. `is_init` returns true for the name of an init
    /// container, to which only rules that name it apply.
    pub(super) fn covers(&self, other: &ContainerRule, is_init: impl Fn(&str) -> bool) -> bool {
        fn wide<T: PartialEq>(own: &Option<T>, other: &Option<T>) -> bool {
            own.is_none() || own == other
        }
        let is_same_container = match (&self.container, &other.container) {
            (None, Some(name)) => !is_init(name),
            (own, other) => own == other,
        };
        is_same_container
            && wide(&self.jobset, &other.jobset)
            && wide(&self.replicated_job, &other.replicated_job)
            && wide(&self.job_index, &other.job_index)
            && wide(&self.pod_index, &other.pod_index)
            && wide(&self.restart_attempt, &other.restart_attempt)
            && wide(&self.job_restart, &other.job_restart)
            && wide(&self.job_try, &other.job_try)
            && wide(&self.in_place_attempt, &other.in_place_attempt)
            && wide(&self.container_run, &other.container_run)
    }

    /// Returns whether the rule makes a container exit.
    pub fn exits(&self) -> bool {
        self.run_for.is_some() || self.at_barrier_for.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct ScriptedFault {
    pub at: FaultTime,
    pub action: FaultAction,
    /// Cause of the fault process from which the fault was drawn. `None` if a user wrote it.
    pub random_cause: Option<Arc<str>>,
    /// Index of its entry in `faults` of the scenario file. An entry with a label gives one fault for each node.
    /// `None` if it has no entry.
    pub entry: Option<u32>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultTime {
    At(Duration),
    /// This long after all Jobs of all JobSets were ready for the first time.
    AfterReady(Duration),
    /// When the usage clock (index into `ScenarioSpec::clocks`) reaches this age. The clock is paused until the faults
    /// that follow it are over.
    AtUsageAge {
        clock: u32,
        age: Duration,
    },
    /// This long after another fault, which comes earlier in the script.
    AfterFault {
        fault: u32,
        after: Duration,
    },
}

/// A clock that advances while an entity is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseClock {
    pub entity: UsedFields,
    /// Condition for use: processes run, or pods are bound.
    pub exposure: ExposureSpec,
}

/// Entity whose use a clock measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedFields {
    /// Any of these nodes, used by any pod.
    Nodes(Vec<String>),
    /// A pod, identified by its name without suffix.
    Pod(String),
}

/// A registry that does not serve images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePullFailure {
    /// Affected image. `None` affects every image.
    pub image: Option<String>,
    /// Duration of the failure. `None` lasts until the end of the run.
    pub lasts: Option<Duration>,
    /// Whether the nodes have the image, so that only containers with the pull policy Always are affected.
    pub cached: bool,
}

impl ImagePullFailure {
    /// Returns whether the container pulls an image that the failure affects.
    pub fn affects(&self, container: &ContainerSpec) -> bool {
        let never = container.image_pull_policy == Some(ImagePullPolicy::Never);
        let pulls = container.pulls_always() || (!self.cached && !never);
        pulls && self.image.as_ref().is_none_or(|image| *image == container.image)
    }
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
    TaintNode(NodeRef, TaintSpec),
    /// Creates a Node object with the previous name, labels and allocatable resources. It is ready and has a running
    /// kubelet and no containers.
    NewNode(NodeRef),
    /// A fault that affects training but is not visible to the control plane.
    Silent {
        on: SilentTarget,
        fault: SilentFaults,
    },
    SuspendJobSet(String),
    ResumeJobSet(String),
    DeleteJobSet(String),
    StopManager(ManagerStop),
    FailImagePulls(ImagePullFailure),
    Request(UserRequest),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StopSpec {
    /// Virtual time limit of the run.
    pub at: Duration,
    pub when: StopWhen,
}

/// Condition that ends a run before its time limit.
#[deny(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StopWhen {
    /// Every JobSet is Completed or Failed.
    AllJobSetsFinished,
    /// As `AllJobSetsFinished`, or all faults have occurred and no further change is possible without another fault:
    /// all Jobs are ready again, or blocked.
    Settled,
    /// Only the time limit ends the run.
    Time,
}

impl StopWhen {
    /// All conditions, in the order of declaration.
    pub const ALL: [StopWhen; 3] = [Self::AllJobSetsFinished, Self::Settled, Self::Time];

    /// Returns the name of the condition in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllJobSetsFinished => "AllJobSetsFinished",
            Self::Settled => "Settled",
            Self::Time => "Time",
        }
    }
}

impl ScenarioSpec {
    /// Returns the number of entries of `faults` in the scenario file.
    pub fn fault_entries(&self) -> usize {
        self.faults.iter().filter_map(|fault| fault.entry).max().map_or(0, |last| last as usize + 1)
    }

    /// Returns the requests of the script.
    pub fn scripted_requests(&self) -> impl Iterator<Item = &UserRequest> {
        self.faults.iter().filter_map(|fault| match &fault.action {
            FaultAction::Request(request) => Some(request),
            _ => None,
        })
    }

    /// Returns true if an action of the script creates or changes a Node, so that pods may fit that do not fit at the
    /// start.
    pub fn changes_nodes(&self) -> bool {
        let is_change = |verb: &RequestVerb| matches!(verb, RequestVerb::Create { .. } | RequestVerb::Patch { .. });
        self.scripted_requests().any(|request| request.object.kind == ObjectKind::Node && is_change(&request.verb))
    }

    /// Returns the number of a fault in messages: the index of its entry in the file. Faults without an entry follow
    /// the entries.
    pub fn fault_number(&self, index: u32) -> u32 {
        let entry = |at: u32| Some(self.faults.get(at as usize)?.entry? + (index - at));
        (0..=index).rev().find_map(entry).unwrap_or(index)
    }
}
