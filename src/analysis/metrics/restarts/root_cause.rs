//! First failure of each pod and node, from which the causes of restarts are determined.
//!
//! Stores one small entry per pod, node and JobSet. Must never decide whether a failure is a restart.

use super::capacity::CapacityWait;
use super::restart::{CauseKind, RestartCause, RestartMetrics};
use sim_api::spec::{DeletionPropagation, FaultAction, ObjectKind, RequestVerb, SilentFaults, UserRequest};
use sim_base::{JobId, JobSetId, NodeId, PodId, SimTime, row_or_default};
use sim_engine::record::{DeletionActor, JobConditionType, NO_CAUSE, NodeReady, SimulationRecord};

#[derive(Copy, Clone)]
pub struct PodFailureState {
    pub incarnation: u32,
    pub job: JobId,
    /// JobSet of the pod; `JobSetId::NONE` if it has none.
    pub jobset: JobSetId,
    pub index: u32,
    pub node: NodeId,
    pub created: SimTime,
    pub gone: bool,
    /// Whether the scheduler found no node for the pod, and it is still waiting.
    pub unschedulable: bool,
    /// Whether the pod succeeded, so that nothing that happens to it later is a failure.
    pub succeeded: bool,
    /// First time at which the pod was deleted or reported as failed; `SimTime::NEVER` before.
    pub ended: SimTime,
    /// Time of the deletion of the pod, which its kubelet carries out; `SimTime::NEVER` before.
    pub deleted: SimTime,
    /// Time of the latest exit of a container with code 0; `SimTime::NEVER` before.
    pub exited_well: SimTime,
    /// [`JobSetState::round`] in which the pod was last counted as ready again; 0 if it is not counted.
    pub counted: u32,
    /// Round in which the pod was created during a restart; 0 otherwise.
    pub created_in: u32,
    /// Time and kind of the first failure of this pod object; `None` if there is none or it is over.
    pub trouble: Option<(SimTime, CauseKind)>,
    /// Time and kind of the user's request because of which the Job controller deleted the pod, if any.
    pub requested: Option<(SimTime, CauseKind)>,
}

pub const NO_POD: PodFailureState = PodFailureState {
    incarnation: 0,
    job: JobId::NONE,
    jobset: JobSetId::NONE,
    index: 0,
    node: NodeId::NONE,
    created: SimTime::NEVER,
    gone: false,
    unschedulable: false,
    succeeded: false,
    ended: SimTime::NEVER,
    deleted: SimTime::NEVER,
    exited_well: SimTime::NEVER,
    counted: 0,
    created_in: 0,
    trouble: None,
    requested: None,
};

/// State of a Job, as far as it decides whether the end of a pod is a failure.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum JobState {
    /// Pods that the Job controller deletes are surplus, for example after a reduction of `parallelism`.
    #[default]
    Active,
    /// The Job has failed: its controller deletes pods that are still needed.
    Failing,
    /// The Job has finished, or a controller deletes it: nothing that happens to its pods is a failure.
    Released,
}

impl Default for PodFailureState {
    fn default() -> PodFailureState {
        NO_POD
    }
}

/// State of a JobSet, as far as the detection of restarts needs it.
#[derive(Default)]
pub struct JobSetState {
    pub was_ready: bool,
    pub ready: bool,
    pub open: Option<RestartMetrics>,
    /// Whether the open restart is confirmed: the JobSet was ready and is not, or the controller ordered the restart.
    pub confirmed: bool,
    /// Index of the last finished restart plus one; used for records written after all pods are ready.
    pub last: usize,
    pub attempt: u32,
    /// Ticket and time of the latest record about the JobSet and its objects, while a restart is open.
    pub newest: Option<(u32, SimTime)>,
    /// Faults and repairs since the open restart began.
    pub later_faults: Vec<LaterFault>,
    /// In-place attempt that was ordered and is not current yet. Until it is current some agents may still have to
    /// exit, and without a startup probe pods may be ready in the meantime (AG-5).
    pub awaited: Option<u32>,
    /// Time since which every pod has been ready.
    pub ready_since: SimTime,
    /// Time since which the JobSet has not been ready; `None` while it is, and before its pods were first required.
    pub unready_since: Option<SimTime>,
    pub capacity: CapacityWait,
    /// Time since which the JobSet of an open restart has been suspended.
    pub suspended_since: Option<SimTime>,
    /// Time of the latest request of a user to suspend the JobSet, until the JobSet is suspended.
    pub suspension_requested: Option<SimTime>,
    /// Time and cause of a condition with which a user made one of its Jobs fail, until it restarts.
    pub forced: Option<(SimTime, RestartCause)>,
    /// Number of times at which the count of pods that are ready again began from 0.
    pub round: u32,
    /// Counted pods that have ended. The next pods that become ready replace them.
    pub replaced: u32,
    /// Pods created in this round that have ended and whose replacement is not created yet.
    pub to_create_again: u32,
    /// Whether the JobSet has completed, failed or been deleted, so that it does not restart any more.
    pub over: bool,
}

impl JobSetState {
    /// Begins to count pods from 0.
    pub fn begin_round(&mut self) {
        self.round += 1;
        (self.replaced, self.to_create_again) = (0, 0);
    }
}

/// What an open restart waited for when a later fault or repair occurred.
#[derive(Copy, Clone, Debug)]
pub struct LaterFault {
    pub at: SimTime,
    /// The latest progress before it.
    pub newest: Option<(u32, SimTime)>,
    /// Whether pods were unschedulable.
    pub waits_for_capacity: bool,
    /// The node of the fault, if it was unresponsive and had pods of the JobSet.
    pub silent_node: Option<NodeId>,
}

/// What a fault can do to pods.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultHarm {
    /// Nothing: cordons and most user requests.
    Harmless,
    /// A node returns, is replaced, or is usable again after a drain: its failure is over.
    RepairsNode,
    /// Pods are deleted if their evictions are accepted, or when they do not tolerate a taint any more. Whatever else
    /// happens to them has another cause.
    MayEvictPods,
    /// Pods may fail or be deleted, depending on what follows.
    MayBreakPods,
    /// All processes on the node are lost, even if it returns before the control plane notices.
    LosesProcesses,
    /// The processes make no progress, or compute wrong results. Nothing fails until that is detected, also if restarts
    /// lie between that do not end the process, or do not heal corrupt checkpoints.
    SpoilsProcesses,
}

impl FaultHarm {
    /// Determines what an action can do to pods.
    pub fn from_action(action: &FaultAction) -> FaultHarm {
        use FaultAction::*;
        match action {
            Request(request) if deletes_pods(request) => FaultHarm::MayBreakPods,
            CrashNode(_) => FaultHarm::LosesProcesses,
            ReturnNode(_) | NewNode(_) | UncordonNode(_) => FaultHarm::RepairsNode,
            ContainerExit { exit_code: 0, .. } => FaultHarm::Harmless,
            ContainerExit { .. } | DeletePod { .. } | EvictPod { .. } | PartitionNode(_) | DeleteNode(_) => {
                FaultHarm::MayBreakPods
            }
            DrainNode(_) | TaintNode(..) => FaultHarm::MayEvictPods,
            Silent { fault: SilentFaults::Hang { .. } | SilentFaults::Corrupt { .. }, .. } => {
                FaultHarm::SpoilsProcesses
            }
            _ => FaultHarm::Harmless,
        }
    }
}

/// Whether a user request deletes a pod, a Node, or a Job with its pods, like the corresponding fault actions.
fn deletes_pods(request: &UserRequest) -> bool {
    let RequestVerb::Delete { propagation, .. } = &request.verb else {
        return false;
    };
    match request.object.kind {
        ObjectKind::Pod | ObjectKind::Node => true,
        ObjectKind::Job => *propagation != DeletionPropagation::Orphan,
        _ => false,
    }
}

/// Whether the end of the pod would be a failure.
fn is_needed(jobs: &[JobState], p: &PodFailureState) -> bool {
    !p.succeeded && jobs.get(p.job.ix()) != Some(&JobState::Released)
}

pub struct PodFailures {
    harms: Vec<FaultHarm>,
    /// Record number, time and index of the latest fault.
    newest: (u32, SimTime, u32),
    pods: Vec<PodFailureState>,
    jobs: Vec<JobState>,
    /// Pods with a failure noted since their JobSet was last ready, possibly with duplicates.
    noted: Vec<PodId>,
    nodes: Vec<Option<(SimTime, CauseKind)>>,
    /// Record number, time and index of each fault that spoils processes.
    spoilers: Vec<(u32, SimTime, u32)>,
    /// Requests of users that may let the Job controller delete pods, and the conditions of Jobs that they set: record
    /// number, time and index of the fault, by record number.
    requests: Vec<(u32, SimTime, u32)>,
    /// Record number of the latest interruption of a training by the detection of such a fault, with the time and the
    /// index of the fault.
    detected: Option<(u32, SimTime, u32)>,
}

impl PodFailures {
    pub fn new(harms: Vec<FaultHarm>) -> PodFailures {
        PodFailures {
            harms,
            newest: (NO_CAUSE, SimTime::ZERO, 0),
            pods: Vec::new(),
            jobs: Vec::new(),
            noted: Vec::new(),
            nodes: Vec::new(),
            spoilers: Vec::new(),
            requests: Vec::new(),
            detected: None,
        }
    }

    pub fn pod_jobset(&self, pod: PodId) -> Option<JobSetId> {
        let jobset = self.pods.get(pod.ix())?.jobset;
        jobset.is_some().then_some(jobset)
    }

    pub fn pod(&self, pod: PodId) -> Option<&PodFailureState> {
        self.pods.get(pod.ix())
    }

    pub fn pod_mut(&mut self, pod: PodId) -> Option<&mut PodFailureState> {
        self.pods.get_mut(pod.ix())
    }

    pub fn create(&mut self, pod: PodId, state: PodFailureState) {
        *row_or_default(&mut self.pods, pod.ix()) = state;
    }

    pub fn pods(&self) -> usize {
        self.pods.len()
    }

    /// Returns the pods of a JobSet that are deleted but cannot be removed, because their nodes are unresponsive, and
    /// the times of their deletion. Pods that have a replacement do not count.
    pub fn stuck_pods(&self, jobset: JobSetId) -> impl Iterator<Item = (PodId, SimTime)> {
        let is_live = |p: &PodFailureState| !p.gone && p.deleted == SimTime::NEVER;
        let is_replaced = move |stuck: &PodFailureState| {
            self.pods.iter().any(|p| p.job == stuck.job && p.index == stuck.index && is_live(p))
        };
        let pods = self.pods.iter().enumerate().filter(move |(_, p)| {
            let is_deleted = p.jobset == jobset && !p.gone && p.deleted != SimTime::NEVER;
            is_deleted && self.nodes.get(p.node.ix()).is_some_and(Option::is_some) && !is_replaced(p)
        });
        pods.map(|(row, p)| (PodId(row as u32), p.deleted))
    }

    /// Returns the time of the oldest failure that may still cause a restart of a JobSet for which `counts` holds.
    pub fn oldest(&self, counts: impl Fn(JobSetId) -> bool) -> Option<SimTime> {
        let may = |p: &&PodFailureState| !p.gone && p.jobset.is_some() && counts(p.jobset);
        let roots = self.pods.iter().filter(may).filter_map(|p| self.root_of(p));
        roots.map(|(at, _)| at).min()
    }

    /// Stores the failure of a pod if it is its first; does not open a restart.
    pub fn store_failure(&mut self, now: SimTime, pod: PodId, kind: CauseKind) {
        if let Some(p) = self.pods.get_mut(pod.ix())
            && p.trouble.is_none()
            && is_needed(&self.jobs, p)
        {
            p.trouble = Some((now, kind));
            self.noted.push(pod);
        }
        // Pods whose failure is over stay in the list, so duplicates are removed from time to time.
        if self.noted.len() > 64 + 2 * self.pods.len() {
            self.noted.sort();
            self.noted.dedup();
        }
    }

    /// Clears the failures of all pods of a JobSet, as every pod is ready.
    pub fn clear_failures(&mut self, jobset: JobSetId) {
        let pods = &mut self.pods;
        self.noted.retain(|pod| match pods.get_mut(pod.ix()) {
            Some(p) if p.jobset == jobset => {
                p.trouble = None;
                false
            }
            other => other.is_some_and(|p| p.trouble.is_some()),
        });
    }

    /// Returns the earliest loss of all processes on the node of a needed pod of a JobSet, which the control plane may
    /// not have noticed yet. Pods that ended before every pod was ready at `ready_since` have been replaced.
    pub fn first_loss(&self, jobset: JobSetId, ready_since: SimTime) -> Option<(SimTime, RestartCause)> {
        let is_loss = |kind| match kind {
            CauseKind::Fault { index } => self.harm(index) == FaultHarm::LosesProcesses,
            _ => false,
        };
        let of_pod = |pod: &PodId| self.pods.get(pod.ix()).and_then(|p| p.trouble);
        let mut known = self.nodes.iter().flatten().copied().chain(self.noted.iter().filter_map(of_pod));
        if !known.any(|(_, kind)| is_loss(kind)) {
            return None;
        }
        let lost = self.pods.iter().enumerate().filter_map(|(row, p)| {
            let counts = p.jobset == jobset && !p.gone && p.ended > ready_since;
            let (at, kind) = self.root_of(p).filter(|_| counts)?;
            is_loss(kind).then_some((at, PodId(row as u32)))
        });
        self.cause(lost.min()?.1)
    }

    /// Handles an interruption of a training: remembers the fault that it detects.
    pub fn training_interrupted(&mut self, record: &SimulationRecord) {
        let fault = self.spoilers.iter().find(|(seq, ..)| *seq == record.cause);
        if let Some(&(_, at, index)) = fault {
            self.detected = Some((record.seq, at, index));
        }
    }

    /// Returns the time and the index of the user's request that directly caused a record.
    pub fn request_behind(&self, record: &SimulationRecord) -> Option<(SimTime, u32)> {
        let at = self.requests.binary_search_by_key(&record.cause, |(seq, ..)| *seq).ok()?;
        let (_, at, index) = self.requests[at];
        Some((at, index))
    }

    /// Returns true if a node is unresponsive or gone and has pods of a JobSet.
    pub fn is_silent_below(&self, jobset: JobSetId, node: NodeId) -> bool {
        let is_silent = self.nodes.get(node.ix()).is_some_and(Option::is_some);
        is_silent && self.pods.iter().any(|p| p.node == node && p.jobset == jobset && !p.gone)
    }

    /// Returns the failure behind the exit of a container with which a detected fault ends, even if restarts lie
    /// between: the detector of a hang ends the process, and the discovery of wrong results first the training.
    pub fn detected(&self, exit: &SimulationRecord) -> Option<(SimTime, CauseKind)> {
        let hang = || self.spoilers.iter().find(|(seq, ..)| *seq == exit.cause).copied();
        let (_, at, index) = self.detected.filter(|(seq, ..)| *seq == exit.cause).or_else(hang)?;
        Some((at, CauseKind::Fault { index }))
    }

    /// Returns the earliest known failure of a pod or its node.
    pub fn root(&self, pod: PodId) -> Option<(SimTime, CauseKind)> {
        self.root_of(self.pods.get(pod.ix())?)
    }

    fn root_of(&self, p: &PodFailureState) -> Option<(SimTime, CauseKind)> {
        if !is_needed(&self.jobs, p) {
            return None;
        }
        let of_node = self.nodes.get(p.node.ix()).copied().flatten();
        // The pod failed before an eviction deleted it.
        let of_node = of_node.filter(|(_, kind)| p.trouble.is_none() || !self.may_evict(*kind));
        let known = [p.trouble, of_node].into_iter().flatten();
        known.min_by_key(|&(t, _)| t)
    }

    /// Returns the earliest known failure of a pod or its node, with the identity of the pod.
    pub fn cause(&self, pod: PodId) -> Option<(SimTime, RestartCause)> {
        let (start, kind) = self.root(pod)?;
        let p = self.pods.get(pod.ix())?;
        let cause = RestartCause { kind, pod, incarnation: p.incarnation, job: p.job, index: p.index, node: p.node };
        Some((start, cause))
    }

    pub fn node_state(&mut self, now: SimTime, node: NodeId, ready: NodeReady) {
        match ready {
            NodeReady::True => self.node_recovers(node),
            _ => {
                self.node_fails(now, node, CauseKind::NodeNotReady);
            }
        }
    }

    /// Stores the failure of a node if it is its first, apart from the begin of evictions.
    fn node_fails(&mut self, now: SimTime, node: NodeId, kind: CauseKind) {
        let known = *row_or_default(&mut self.nodes, node.ix());
        if known.is_none_or(|(_, known)| self.may_evict(known)) {
            self.nodes[node.ix()] = Some((now, kind));
        }
    }

    /// Returns whether a failure is the begin of evictions from a node.
    fn may_evict(&self, kind: CauseKind) -> bool {
        matches!(kind, CauseKind::Fault { index } if self.harm(index) == FaultHarm::MayEvictPods)
    }

    /// Handles the refusal of a request: it has harmed no pod.
    pub fn refused(&mut self, index: u32) {
        let kind = CauseKind::Fault { index };
        let is_refused = |p: &PodFailureState| p.trouble.is_some_and(|(_, known)| known == kind);
        for pod in &self.noted {
            if let Some(p) = self.pods.get_mut(pod.ix()).filter(|p| is_refused(p)) {
                p.trouble = None;
            }
        }
    }

    /// Handles the deletion of a Job: if a fault deletes it, that fault is the cause of what happens to its pods.
    /// Otherwise a controller carries out a decision, for example after a reduction of `replicas`.
    pub fn job_deleted(&mut self, record: &SimulationRecord, job: JobId) {
        let (seq, at, index) = self.newest;
        if record.cause != seq || record.at != at || !self.is_harmful(index) {
            let is_by_fault = |pod: &PodId| {
                let p = &self.pods[pod.ix()];
                p.job == job && !p.gone && matches!(p.trouble, Some((_, CauseKind::Fault { .. })))
            };
            if !self.noted.iter().any(is_by_fault) {
                *row_or_default(&mut self.jobs, job.ix()) = JobState::Released;
            }
            return;
        }
        for pod in 0..self.pods.len() {
            let p = &self.pods[pod];
            if p.job == job && !p.gone {
                let kind = CauseKind::Fault { index };
                self.store_failure(at, PodId(pod as u32), kind);
            }
        }
    }

    /// Handles a new Job object.
    pub fn job_created(&mut self, job: JobId) {
        *row_or_default(&mut self.jobs, job.ix()) = JobState::Active;
    }

    /// Handles a condition of a Job that became `True`. Returns the time and the index of the user's request that set
    /// it, if the Job fails because of it.
    pub fn job_condition(
        &mut self, record: &SimulationRecord, job: JobId, kind: JobConditionType,
    ) -> Option<(SimTime, u32)> {
        let state = match kind {
            JobConditionType::FailureTarget | JobConditionType::Failed => JobState::Failing,
            JobConditionType::SuccessCriteriaMet | JobConditionType::Complete => JobState::Released,
            JobConditionType::Suspended => return None,
        };
        *row_or_default(&mut self.jobs, job.ix()) = state;
        let (at, index) = self.request_behind(record).filter(|_| state == JobState::Failing)?;
        self.requests.push((record.seq, at, index));
        Some((at, index))
    }

    /// Whether the Job of the pod has failed.
    pub fn has_failing_job(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|p| self.jobs.get(p.job.ix()) == Some(&JobState::Failing))
    }

    /// Whether a controller deleted the pod of an active Job, so that the pod was surplus.
    pub fn is_surplus(&self, pod: PodId) -> bool {
        let surplus = |p: &PodFailureState| {
            use DeletionActor::{GarbageCollector, JobController};
            let by_controller =
                matches!(p.trouble, Some((_, CauseKind::PodDeleted { by: JobController | GarbageCollector })));
            by_controller && self.jobs.get(p.job.ix()) != Some(&JobState::Failing)
        };
        self.pods.get(pod.ix()).is_some_and(surplus)
    }

    fn is_harmful(&self, index: u32) -> bool {
        !matches!(self.harm(index), FaultHarm::Harmless | FaultHarm::RepairsNode | FaultHarm::SpoilsProcesses)
    }

    fn harm(&self, index: u32) -> FaultHarm {
        let known = self.harms.get(index as usize).copied();
        known.unwrap_or(FaultHarm::MayBreakPods)
    }

    /// Clears the failure of a node. If its processes were lost, the failure remains that of its pods, which report it
    /// only now.
    fn node_recovers(&mut self, node: NodeId) {
        let slot = row_or_default(&mut self.nodes, node.ix());
        let Some((at, kind @ CauseKind::Fault { index })) = slot.take() else {
            return;
        };
        if self.harm(index) != FaultHarm::LosesProcesses {
            return;
        }
        self.store_failure_of_pods_on(node, at, kind);
    }

    /// Stores a failure of all pods that were on a node at that time.
    fn store_failure_of_pods_on(&mut self, node: NodeId, at: SimTime, kind: CauseKind) {
        for pod in 0..self.pods.len() {
            let p = &self.pods[pod];
            if p.node == node && !p.gone && p.created <= at {
                self.store_failure(at, PodId(pod as u32), kind);
            }
        }
    }

    /// Handles a fault: a harmful one is noted as failure of its pod, of its node, or of the pods on the node; a repair
    /// clears the failure of its node.
    pub fn fault(&mut self, record: &SimulationRecord, index: u32, node: NodeId, pod: PodId) {
        let now = record.at;
        self.newest = (record.seq, now, index);
        let harmful = self.is_harmful(index);
        let kind = CauseKind::Fault { index };
        if harmful {
            self.store_failure(now, pod, kind);
        }
        if self.harm(index) == FaultHarm::Harmless && !pod.is_some() && !node.is_some() {
            self.requests.push((record.seq, now, index));
        }
        if self.harm(index) == FaultHarm::SpoilsProcesses {
            self.spoilers.push((record.seq, now, index));
        }
        // Faults on pods also name the node for information; the node itself has not failed.
        if pod.is_some() || !node.is_some() {
            return;
        }
        match self.harm(index) {
            FaultHarm::Harmless | FaultHarm::SpoilsProcesses => {}
            FaultHarm::RepairsNode => self.node_recovers(node),
            FaultHarm::MayEvictPods => {
                row_or_default(&mut self.nodes, node.ix()).get_or_insert((now, kind));
            }
            FaultHarm::MayBreakPods | FaultHarm::LosesProcesses => self.node_fails(now, node, kind),
        }
    }
}
