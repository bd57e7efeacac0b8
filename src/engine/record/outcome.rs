//! The outcome of a run besides its records: final states, the ledger, and the usage of each shared resource.

#![deny(missing_docs)]

use sim_base::{Duration, JobId, JobSetId, SimTime};
use sim_policy::kinds::EndReason;
use sim_reliability::ledger::TimeLedger;
use sim_reliability::training::TrainingOutcome;
pub use sim_scheduler::explain::{PlacementExplanation, RejectedNodes};

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Virtual time at which the run ended.
    pub end: SimTime,
    /// The reason why the run ended.
    pub end_reason: EndReason,
    /// Hash over all records; equal inputs give equal digests on every machine.
    pub digest: u64,
    /// Number of records.
    pub records: u32,
    /// Number of processed events.
    pub events: u64,
    /// Final states of the JobSets, in the order of the scenario.
    pub jobsets: Vec<JobSetOutcome>,
    /// Outcomes of the training jobs, in the order of the scenario.
    pub training: Vec<TrainingOutcome>,
    /// The accelerator-time ledger of the cluster.
    pub ledger: TimeLedger,
    /// Usage of the shared resources.
    pub resources: Vec<ResourceUsage>,
    /// Request counts of the API server.
    pub requests: Vec<RequestCount>,
    /// One sentence per object that is permanently blocked, with the reason, and per object that is not ready when
    /// the run ends (`RUN_ENDED`).
    pub blocked: Vec<String>,
    /// Conditions that make the results less reliable.
    pub warnings: Vec<String>,
    /// The pods without a node at the end; empty unless the run explains placement.
    pub pending: Vec<PendingPods>,
}

/// Pods without a node that share an explanation.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PendingPods {
    /// The JobSet of the pods, or none.
    #[serde(skip)]
    pub jobset: JobSetId,
    /// Position of their replicatedJob in the JobSet.
    #[serde(skip)]
    pub replicated_job: u32,
    /// Names without the random suffix.
    pub pods: Vec<String>,
    /// The nodes that each plugin rejects, and the smallest change that admits the pods.
    #[serde(flatten)]
    pub explanation: PlacementExplanation,
}

/// The final state of one JobSet.
#[derive(Clone, Debug, Default)]
pub struct JobSetOutcome {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// True if the object was deleted.
    pub deleted: bool,
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// The field `status.currentInPlaceRestartAttempt`.
    pub current_in_place_restart_attempt: Option<u32>,
    /// The field `status.previousInPlaceRestartAttempt`.
    pub previous_in_place_restart_attempt: Option<u32>,
    /// The field `status.conditions`.
    pub conditions: Vec<ConditionOutcome>,
    /// Sorted by name, descending, as in the API (ST-5).
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    /// All child Job objects that ever existed, in order of creation.
    pub jobs: Vec<JobOutcome>,
    /// The reason why a pod found no node, if for that reason the JobSet was never ready and cannot become ready.
    pub never_placed_reason: Option<String>,
}

impl JobSetOutcome {
    /// Returns the time since which the JobSet is suspended, if it is unfinished and suspended at the end.
    pub fn suspended_since(&self) -> Option<SimTime> {
        let is_open = self.terminal_state.is_empty() && !self.deleted;
        let suspended = self.conditions.iter().find(|c| c.kind == "Suspended" && c.status);
        suspended.filter(|_| is_open).map(|c| c.last_transition)
    }
}

/// One condition of a JobSet or Job.
#[derive(Clone, Debug)]
pub struct ConditionOutcome {
    /// Condition type, such as `Completed`.
    pub kind: &'static str,
    /// True if the condition's status is `True`.
    pub status: bool,
    /// Reason in the wording of Kubernetes.
    pub reason: String,
    /// Message in the wording of Kubernetes.
    pub message: String,
    /// Time of the last change of the status.
    pub last_transition: SimTime,
}

/// One entry of `status.replicatedJobsStatus`, as in the API; also used for recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicatedJobStatus {
    /// Name of the replicatedJob.
    pub name: String,
    /// Number of Jobs with enough ready pods.
    pub ready: u32,
    /// Number of complete Jobs.
    pub succeeded: u32,
    /// Number of failed Jobs.
    pub failed: u32,
    /// Number of Jobs with unfinished pods.
    pub active: u32,
    /// Number of suspended Jobs.
    pub suspended: u32,
    /// Restarts per Job; empty until the first RestartJob* action of this replicatedJob (ST-6, ST-7).
    pub job_restarts: Vec<u32>,
    /// Restarts per Job that count towards the limit.
    pub job_restarts_count_towards_max: Vec<u32>,
}

/// The final state of one Job object.
#[derive(Clone, Debug)]
pub struct JobOutcome {
    /// Id of the Job's name.
    pub job: JobId,
    /// Text of the restart-attempt label; a user may have changed or removed it.
    pub restart_attempt: String,
    /// The field `status.conditions`.
    pub conditions: Vec<ConditionOutcome>,
    /// The field `status.active`.
    pub active: u32,
    /// The field `status.ready`.
    pub ready: u32,
    /// The field `status.terminating`.
    pub terminating: u32,
    /// The field `status.succeeded`.
    pub succeeded: u32,
    /// The field `status.failed`.
    pub failed: u32,
    /// True if the object exists at the end.
    pub exists: bool,
    /// True if the Job is suspended.
    pub suspended: bool,
}

/// Usage of one shared resource: a client's token bucket, a worker pool, or the scheduling cycle.
#[derive(Clone, Debug)]
pub struct ResourceUsage {
    /// The resource of the control plane.
    pub resource: LedgerResource,
    /// Capacity as text, such as `100 requests/s, burst 100`.
    pub capacity: String,
    /// Number of requests.
    pub requests: u64,
    /// Periods during which at least one request waited (or, for a server, was served): disjoint, ascending.
    pub busy: Vec<(SimTime, SimTime)>,
    /// Largest number of requests that waited at the same time.
    pub longest_queue: u32,
}

/// A shared resource: a client's token bucket, a pool of workers, or a component that processes one item at a time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LedgerResource {
    /// Token bucket of the Job controller's client.
    JobControllerClient,
    /// Workers of the Job controller.
    JobControllerWorkers,
    /// Token bucket of the garbage collector's client.
    GarbageCollectorClient,
    /// Workers of the garbage collector.
    GarbageCollectorWorkers,
    /// The scheduler, which places one pod at a time.
    SchedulerCycle,
    /// Token bucket of the scheduler's client.
    SchedulerBindClient,
    /// Token bucket of the JobSet manager's client.
    JobSetClient,
    /// Separate token bucket of controller-runtime's status client, with the same rate.
    JobSetStatusClient,
    /// Separate token bucket for the manager's requests about pods, with the same rate.
    JobSetPodClient,
    /// The JobSet manager, which reconciles one JobSet at a time.
    JobSetReconciler,
    /// Token bucket of the taint manager's client.
    TaintEvictionClient,
    /// Rate at which the node lifecycle controller taints the nodes of a zone.
    TaintLimiter,
    /// Rate at which the API server serves all kubelets and agents together.
    NodeRequests,
    /// Token bucket of Kueue's client for JobSets.
    KueueJobSetClient,
    /// Separate token bucket of Kueue's client for Workloads, with the same rate.
    KueueWorkloadClient,
    /// Separate token bucket of Kueue's client for pods, with the same rate.
    KueuePodClient,
}

impl LedgerResource {
    /// Returns true if only Kueue uses the resource.
    pub fn belongs_to_kueue(self) -> bool {
        matches!(self, Self::KueueJobSetClient | Self::KueueWorkloadClient | Self::KueuePodClient)
    }

    /// Returns the name used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobControllerClient => "job-controller client",
            Self::JobControllerWorkers => "job-controller workers",
            Self::GarbageCollectorClient => "garbage-collector client",
            Self::GarbageCollectorWorkers => "garbage-collector workers",
            Self::SchedulerCycle => "scheduling cycle",
            Self::SchedulerBindClient => "scheduler bind client",
            Self::JobSetClient => "jobset client",
            Self::JobSetStatusClient => "jobset status client",
            Self::JobSetPodClient => "jobset pod client",
            Self::JobSetReconciler => "jobset reconciler",
            Self::TaintEvictionClient => "taint-eviction client",
            Self::TaintLimiter => "node taint limiter",
            Self::NodeRequests => "API server, node requests",
            Self::KueueJobSetClient => "kueue JobSet client",
            Self::KueueWorkloadClient => "kueue Workload client",
            Self::KueuePodClient => "kueue pod client",
        }
    }
}

/// Text in `stuck` for a JobSet that was unfinished at the time limit.
pub const RUN_ENDED: &str = "the run ended before it was ready";

impl RunOutcome {
    /// Returns the training job of a JobSet.
    pub fn training_for(&self, jobset: JobSetId) -> Option<&TrainingOutcome> {
        self.training.iter().find(|t| t.jobset == jobset)
    }

    /// Separates the permanently blocked JobSets from those unfinished at the time limit.
    pub fn blocked_and_unfinished(&self) -> (Vec<String>, Vec<String>) {
        let all = self.blocked.iter().cloned();
        all.partition(|sentence| !sentence.ends_with(RUN_ENDED))
    }

    /// Returns why the JobSet with this name is permanently blocked: its sentence in `stuck`, without the beginning.
    pub fn blocked_reason(&self, jobset: &str) -> Option<&str> {
        self.pending_reason(jobset).filter(|why| !why.ends_with(RUN_ENDED))
    }

    /// Returns what the JobSet with this name waits for at the end of the run, if known, whether or not it can still
    /// happen.
    pub fn pending_reason(&self, jobset: &str) -> Option<&str> {
        reason_about(&self.blocked, jobset)
    }

    /// Returns why the API server rejected the JobSet with this name.
    pub fn refusal_reason(&self, jobset: &str) -> Option<&str> {
        reason_about(&self.warnings, jobset)
    }
}

fn reason_about<'a>(sentences: &'a [String], jobset: &str) -> Option<&'a str> {
    sentences.iter().find_map(|sentence| {
        let rest = sentence.strip_prefix("JobSet ")?.strip_prefix(jobset)?;
        let (_, why) = rest.strip_prefix(' ')?.split_once(": ")?;
        (why != RUN_ENDED).then_some(why)
    })
}

/// Number of API requests of one kind, as counted by the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCount {
    /// Client of the request.
    pub client: &'static str,
    /// Verb, such as `POST`.
    pub verb: &'static str,
    /// Resource, such as `pods`.
    pub resource: &'static str,
    /// Empty for success, otherwise the HTTP status code.
    pub code: &'static str,
    /// Number of requests.
    pub count: u64,
    /// Number of requests after the start of the first restart.
    pub since_restart: u64,
    /// Time of the first response.
    pub first: SimTime,
    /// Time of the last response.
    pub last: SimTime,
}

impl ResourceUsage {
    /// Time within [from, to] during which at least one request waited for this resource.
    pub fn busy_within(&self, from: SimTime, to: SimTime) -> Duration {
        let first = self.busy.partition_point(|(_, end)| *end <= from);
        let within = self.busy[first..].iter().take_while(|(begin, _)| *begin < to);
        let overlap = |&(a, b): &(SimTime, SimTime)| b.min(to).since(a.max(from)).0;
        Duration(within.map(overlap).sum())
    }
}
