//! Complete input of one run: cluster, JobSets, container behavior, faults and stop condition.

use super::cluster::TopologySpec;
use super::control_plane::ControlPlane;
use super::control_plane::GateChanges;
use super::fault_process::{
    ArrivalProcess, NodeRepair, NodeSpares, RandomAction, RandomFaults, SilentFaults, SilentTarget,
};
use super::fleet::ExposureSpec;
use super::job::PodFailurePolicyAction;
use super::jobset::{ConditionOperator, FailurePolicyAction, JobSet, ReplicatedJob};
use super::keys::KUEUE_MAX_EXECUTION_TIME;
use super::kueue::KueueObjects;
use super::node_ref::NodeRef;
use super::objects::ObjectDecoders;
use super::pod::{ContainerSpec, ImagePullPolicy, RestartPolicy, TaintSpec};
use super::request::UserRequest;
use super::timing::TimingSpec;
use super::training::{
    CheckpointSchedule, TrainingJob, checkpoint_contradictions, step_contradictions, trace_contradiction,
    work_contradiction,
};
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
    fn is_for_all_pods(&self) -> bool {
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
    fn covers(&self, other: &ContainerRule, is_init: impl Fn(&str) -> bool) -> bool {
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

    /// Returns the number of a fault in messages: the index of its entry in the file. Faults without an entry follow
    /// the entries.
    pub fn fault_number(&self, index: u32) -> u32 {
        let entry = |at: u32| Some(self.faults.get(at as usize)?.entry? + (index - at));
        (0..=index).rev().find_map(entry).unwrap_or(index)
    }

    /// Returns inputs that contradict each other and are simulated nevertheless, in sentences for warnings.
    pub fn contradictions(&self) -> Vec<String> {
        let work = self.training.iter().filter_map(|job| {
            let checkpoints = match &job.checkpoint_schedule {
                CheckpointSchedule::Checkpoints(kinds) => {
                    kinds.iter().map(|kind| (kind.every, kind.blocking)).collect()
                }
                CheckpointSchedule::Always | CheckpointSchedule::Never => Vec::new(),
            };
            work_contradiction(self.stop.at, job.work, &checkpoints, false)
        });
        let mut all: Vec<String> = work.chain(self.checkpoint_contradictions()).collect();
        all.extend(self.training.iter().flat_map(|job| step_contradictions(job, self.stop.at)));
        all.extend(self.process_contradictions());
        all.extend(self.training.iter().filter_map(|job| self.early_end(job)));
        all.extend(self.training.iter().filter_map(|job| self.useless_elasticity(job)));
        all.extend((0..self.jobsets.len()).flat_map(|jobset| self.short_limits(jobset)));
        all.extend(self.shadowed_container_rules());
        all.extend(self.jobsets.iter().flat_map(|js| shadowed_failure_rules(&js.jobset)));
        let runs = self.containers.iter().filter(|rule| rule.exit_code == 0 && rule.container.is_none());
        let longest = runs.filter_map(|rule| rule.run_for).max();
        if let Some(run_for) =
            longest.filter(|run| self.stop.when == StopWhen::AllJobSetsFinished && self.stop.at <= *run)
        {
            all.push(format!("stop.at {} comes before the containers can complete: runFor is {run_for}", self.stop.at));
        }
        all
    }

    /// Returns the contradictions of fault processes with the time limit, also of those whose faults are drawn.
    pub fn process_contradictions(&self) -> Vec<String> {
        let own = self.fault_processes.iter().filter_map(|process| match &process.arrivals {
            _ if process.from > self.stop.at => Some(format!(
                "stop.at {} comes before the fault process with cause {:?} begins: from is {}",
                self.stop.at, process.cause, process.from
            )),
            ArrivalProcess::Trace(faults) => {
                trace_contradiction(self.stop.at, &process.cause, faults.iter().map(|fault| fault.at))
            }
            ArrivalProcess::Renewal(_) => None,
        });
        self.drawn_contradictions.iter().cloned().chain(own).collect()
    }

    /// Returns the contradiction of a training job with containers that exit with 0, and so complete the JobSet, before
    /// the work can be done. The containers start before the job does.
    fn early_end(&self, job: &TrainingJob) -> Option<String> {
        let (work, jobset) = (job.work?, &self.jobsets.get(job.jobset)?.jobset);
        let end = completion_of(jobset, |rj| self.completion_time(jobset, rj))?;
        (end <= work).then(|| {
            format!(
                "the containers of JobSet {} exit with code 0 after {end} (runFor), before the work can be done: \
                 training.work is {work}",
                jobset.name
            )
        })
    }

    /// Returns the contradictions of time limits of a JobSet that end every attempt before its work can be done.
    fn short_limits(&self, at: usize) -> Vec<String> {
        let jobset = &self.jobsets[at].jobset;
        let training = self.training.iter().find(|job| job.jobset == at);
        let seconds = |value: i64| Duration::from_secs(u64::try_from(value).unwrap_or(0));
        let mut all = Vec::new();
        for rj in &jobset.spec.replicated_jobs {
            let Some(limit) = rj.template.active_deadline_seconds else { continue };
            let name = format!("activeDeadlineSeconds {limit} of replicatedJob {} of JobSet {}", rj.name, jobset.name);
            if let Some(run) = self.shortest_completion(jobset, rj).filter(|run| seconds(limit) <= *run) {
                all.push(format!("{name} comes before its containers can complete: runFor is {run}"));
            }
            // Without a checkpoint, each attempt begins again.
            let begins_again = training.filter(|job| job.checkpoint_schedule == CheckpointSchedule::Never);
            if let Some(work) = begins_again.and_then(|job| job.work).filter(|work| seconds(limit) <= *work) {
                all.push(format!(
                    "{name} comes before the work can be done: training.work is {work}, without checkpoints"
                ));
            }
        }
        let limit = jobset.labels.get(KUEUE_MAX_EXECUTION_TIME).and_then(|limit| limit.parse::<i64>().ok());
        if let Some(limit) = limit.filter(|_| self.kueue.as_ref().is_some_and(|kueue| kueue.manages(jobset))) {
            let name = format!("the label {KUEUE_MAX_EXECUTION_TIME}: {limit} of JobSet {}", jobset.name);
            let run = completion_of(jobset, |rj| self.shortest_completion(jobset, rj));
            if let Some(run) = run.filter(|run| seconds(limit) <= *run) {
                all.push(format!("{name} comes before its containers can complete: runFor is {run}"));
            }
            if let Some(work) = training.and_then(|job| job.work).filter(|work| seconds(limit) <= *work) {
                all.push(format!("{name} comes before the work can be done: training.work is {work}"));
            }
        }
        all
    }

    /// Returns the shortest time from the start of its containers to the completion of a replicatedJob in any attempt.
    /// `None` if some pods run indefinitely or until the end of a training job.
    fn shortest_completion(&self, jobset: &JobSet, rj: &ReplicatedJob) -> Option<Duration> {
        let mut shortest = Duration(u64::MAX);
        for rule in self.containers.iter().filter(|rule| rule.may_apply_to(jobset, rj)) {
            if rule.exit_code == 0 {
                shortest = shortest.min(rule.run_for?);
            }
            if rule.is_for_all_pods() {
                return (shortest < Duration(u64::MAX)).then_some(shortest);
            }
        }
        None
    }

    /// Returns the contradiction of an elastic job whose JobSet restarts all slices whenever one fails.
    fn useless_elasticity(&self, job: &TrainingJob) -> Option<String> {
        let (elastic, jobset) = (job.elastic.as_ref()?, &self.jobsets.get(job.jobset)?.jobset);
        let slices = jobset.spec.replicated_jobs.get(elastic.slice_job as usize)?;
        let mut rules = jobset.spec.failure_policy.iter().flat_map(|policy| &policy.rules);
        let restarts_job = rules.any(|rule| {
            use FailurePolicyAction::{RestartJob, RestartJobAndIgnoreMaxRestarts};
            matches!(rule.action, RestartJob | RestartJobAndIgnoreMaxRestarts)
        });
        let mut pod_rules = slices.template.pod_failure_policy.iter().flatten();
        let ignores = pod_rules.any(|rule| rule.action == PodFailurePolicyAction::Ignore);
        let pod = &slices.template.template.spec;
        let restarts_containers = pod.restart_policy != RestartPolicy::Never
            || pod.containers.iter().any(|c| c.restart_policy.is_some() || !c.restart_policy_rules.is_empty());
        let continues = restarts_job || ignores || restarts_containers || slices.template.backoff_limit() > 0;
        if elastic.min_slices >= slices.replicas {
            return Some(format!(
                "training.elastic.minSlices {} is the number of slices of JobSet {}, so that the training never continues \
                 with fewer",
                elastic.min_slices, jobset.name
            ));
        }
        // A Job whose node is lost fails only when the node returns or is deleted.
        (!continues && !self.loses_nodes()).then(|| {
            format!(
                "training.elastic.minSlices {} has no effect: the failure of a slice restarts all Jobs of JobSet {} (no \
                 rule with action RestartJob, no pod replacement within a Job, no fault that makes nodes unreachable)",
                elastic.min_slices, jobset.name
            )
        })
    }

    /// Returns whether faults make nodes unreachable for a time.
    fn loses_nodes(&self) -> bool {
        use FaultAction::{CrashNode, DeleteNode, PartitionNode};
        let is_loss = |action: &RandomAction| {
            matches!(action, RandomAction::Crash | RandomAction::Partition | RandomAction::Reclaim)
        };
        let scripted = self.faults.iter().any(|f| matches!(f.action, CrashNode(_) | PartitionNode(_) | DeleteNode(_)));
        scripted || self.fault_processes.iter().any(|process| is_loss(&process.action))
    }

    /// Returns the time from the start of its containers to the completion of a replicatedJob. `None` if container
    /// rules do not make all of its pods succeed.
    fn completion_time(&self, jobset: &JobSet, rj: &ReplicatedJob) -> Option<Duration> {
        let mut longest = Duration::ZERO;
        for rule in self.containers.iter().filter(|rule| rule.may_apply_to(jobset, rj)) {
            if rule.is_for_all_pods() && rule.exit_code != 0 {
                return None;
            }
            // Pods that fail or run in some attempts only run again.
            if rule.exit_code == 0 {
                longest = longest.max(rule.run_for?);
            }
            if rule.is_for_all_pods() {
                return Some(longest);
            }
        }
        None
    }

    /// Returns the contradictions of container rules that never apply, because an earlier one always does.
    fn shadowed_container_rules(&self) -> Vec<String> {
        let is_init = |name: &str| {
            let mut specs = self.jobsets.iter().flat_map(|js| &js.jobset.spec.replicated_jobs);
            specs.any(|rj| rj.template.template.spec.init_containers.iter().any(|c| c.name == name))
        };
        let written = self.containers.iter().enumerate().filter(|(_, rule)| rule.from_command.is_none());
        let shadowed = written.filter_map(|(i, rule)| {
            let earlier = self.containers[..i].iter().position(|earlier| earlier.covers(rule, is_init))?;
            Some(format!(
                "containers[{i}] never applies: containers[{earlier}] applies to all of its pods and is first"
            ))
        });
        shadowed.collect()
    }

    /// Returns the contradictions of checkpoint intervals.
    pub fn checkpoint_contradictions(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for job in &self.training {
            let CheckpointSchedule::Checkpoints(checkpoints) = &job.checkpoint_schedule else {
                continue;
            };
            // The durable checkpoint is the last one.
            let durable = checkpoints.len().saturating_sub(1);
            for (i, checkpoint) in checkpoints.iter().enumerate() {
                let path = match i {
                    i if i == durable => "training.checkpoint".to_owned(),
                    i => format!("training.checkpoint.tiers[{i}]"),
                };
                let times = (checkpoint.every, checkpoint.blocking);
                all.extend(checkpoint_contradictions(&path, times, job.work, self.stop.at));
                let commit = Duration::from_seconds_f64(checkpoint.commit_delay.mean_s());
                if commit > checkpoint.every {
                    let effect = match durable {
                        0 => "the job is blocked until the previous checkpoint is complete",
                        _ => "checkpoints of this kind are written less often",
                    };
                    let every = checkpoint.every;
                    all.push(format!("{path}.commitDelay {commit} is longer than {path}.every {every}: {effect}"));
                }
            }
        }
        all
    }
}

/// Returns the time to the completion of a JobSet by its success policy from those of its replicatedJobs; `None` if it
/// does not complete.
fn completion_of(jobset: &JobSet, of_job: impl Fn(&ReplicatedJob) -> Option<Duration>) -> Option<Duration> {
    let policy = jobset.spec.success_policy.as_ref();
    let targets = policy.map_or(&[][..], |policy| &policy.target_replicated_jobs);
    let targeted = jobset.spec.replicated_jobs.iter();
    let targeted = targeted.filter(|rj| targets.is_empty() || targets.contains(&rj.name));
    let targeted: Vec<Option<Duration>> = targeted.map(of_job).collect();
    match policy.map_or(ConditionOperator::All, |policy| policy.operator) {
        ConditionOperator::All => targeted.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max(),
        ConditionOperator::Any => targeted.into_iter().flatten().min(),
    }
}

/// Returns the contradictions of rules of the failure policy that never apply, because an earlier one always does.
fn shadowed_failure_rules(jobset: &JobSet) -> Vec<String> {
    let rules = jobset.spec.failure_policy.as_ref().map_or(&[][..], |policy| &policy.rules);
    let shadowed = rules.iter().enumerate().filter_map(|(i, rule)| {
        let earlier = rules[..i].iter().find(|earlier| earlier.covers(rule))?;
        Some(format!(
            "rule {:?} of the failurePolicy of JobSet {} never applies: rule {:?} matches all of its failures and is \
             first",
            rule.name, jobset.name, earlier.name
        ))
    });
    shadowed.collect()
}
