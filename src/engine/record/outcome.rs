//! What a run leaves besides its records: final states, the ledger, how busy each shared resource was.

#![deny(missing_docs)]

use super::training::TrainingOutcome;
use sim_base::*;
use sim_policy::kinds::*;

/// What one run leaves.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// When it ended.
    pub end: Time,
    /// Why it ended.
    pub end_reason: EndReason,
    /// Hash over all records: equal inputs give equal digests everywhere.
    pub digest: u64,
    /// How many records were written.
    pub records: u32,
    /// How many events were handled.
    pub events: u64,
    /// In the order of the scenario.
    pub jobsets: Vec<JobSetOutcome>,
    /// One for each JobSet that trains, in the order of the scenario.
    pub training: Vec<TrainingOutcome>,
    /// Where the accelerators' time went.
    pub ledger: Ledger,
    /// How busy what is shared was.
    pub resources: Vec<ResourceUsage>,
    /// What the API server was asked.
    pub requests: Vec<RequestCount>,
    /// What can never go on, each with the reason, one sentence; and what is not ready as the run ends (`RUN_ENDED`).
    pub stuck: Vec<String>,
    /// What makes the numbers doubtful.
    pub warnings: Vec<String>,
}

/// The final state of one JobSet.
#[derive(Clone, Debug, Default)]
pub struct JobSetOutcome {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// Whether the object is gone.
    pub deleted: bool,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// `status.currentInPlaceRestartAttempt`.
    pub current_in_place_restart_attempt: Option<u32>,
    /// `status.previousInPlaceRestartAttempt`.
    pub previous_in_place_restart_attempt: Option<u32>,
    /// `status.conditions`.
    pub conditions: Vec<ConditionOutcome>,
    /// In the order of the API: by name, descending (ST-5).
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    /// Every child Job object that ever existed, in order of creation.
    pub jobs: Vec<JobOutcome>,
    /// Why some pod found no node, if for want of one the JobSet was never ready and never will be.
    pub never_placed: Option<String>,
}

/// One condition of a JobSet or a Job.
#[derive(Clone, Debug)]
pub struct ConditionOutcome {
    /// Its type, such as `Completed`.
    pub kind: &'static str,
    /// Whether its status is `True`.
    pub status: bool,
    /// Kubernetes' reason.
    pub reason: String,
    /// Kubernetes' message.
    pub message: String,
    /// When its status last changed.
    pub last_transition: Time,
}

/// One of `status.replicatedJobsStatus`, as the API shows it; recordings are read into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicatedJobStatus {
    /// Of the replicatedJob.
    pub name: String,
    /// Jobs of which enough pods are ready.
    pub ready: u32,
    /// Jobs that are complete.
    pub succeeded: u32,
    /// Jobs that have failed.
    pub failed: u32,
    /// Jobs with pods that have not ended.
    pub active: u32,
    /// Jobs that are suspended.
    pub suspended: u32,
    /// Empty until the first RestartJob* of this replicatedJob (ST-6, ST-7).
    pub job_restarts: Vec<u32>,
    /// The same of the restarts that count.
    pub job_restarts_count_towards_max: Vec<u32>,
}

/// The final state of one Job object.
#[derive(Clone, Debug)]
pub struct JobOutcome {
    /// Its name's id.
    pub job: JobId,
    /// The label's text; a user may have changed or removed it.
    pub restart_attempt: String,
    /// `status.conditions`.
    pub conditions: Vec<ConditionOutcome>,
    /// `status.active`.
    pub active: u32,
    /// `status.ready`.
    pub ready: u32,
    /// `status.terminating`.
    pub terminating: u32,
    /// `status.succeeded`.
    pub succeeded: u32,
    /// `status.failed`.
    pub failed: u32,
    /// Whether the object is there at the end.
    pub exists: bool,
    /// Whether it is suspended.
    pub suspended: bool,
}

/// Where the accelerator-seconds of the cluster went. Exact: the sum is installed × wall time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Nanosecond-accelerators per category, in the order of `LedgerCategory::ALL`.
    pub accelerator_ns: [u128; LedgerCategory::COUNT],
    /// How many there are.
    pub accelerators: u64,
    /// Cost per category in millionths of the currency, same order.
    pub cost_micros: [u128; LedgerCategory::COUNT],
    /// Of the topology.
    pub currency: String,
    /// What the pods of each JobSet held, where one of them trains; else nothing. An idle accelerator is nobody's.
    pub of_jobsets: Vec<LedgerSums>,
}

/// Time and cost by category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerSums {
    /// Nanosecond-accelerators, in the order of `LedgerCategory::ALL`.
    pub accelerator_ns: [u128; LedgerCategory::COUNT],
    /// Cost in millionths of the currency, same order.
    pub cost_micros: [u128; LedgerCategory::COUNT],
}

impl Ledger {
    /// The categories that this run has.
    pub fn categories(&self) -> &'static [LedgerCategory] {
        // Only training jobs have the others.
        match self.of_jobsets.is_empty() {
            false => &LedgerCategory::ALL,
            true => &LedgerCategory::ALL[..LedgerCategory::PLAIN],
        }
    }
}

/// What an accelerator is doing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LedgerCategory {
    /// Node healthy, no pod holds the accelerator.
    Idle,
    /// Bound to a pod whose containers do not run yet.
    Starting,
    /// The pod is ready but some other pod of the JobSet is not, or it waits at the barrier.
    Waiting,
    /// Every pod of the JobSet is ready; of a training job: it steps, and nothing took that back.
    Productive,
    /// Held by a pod that ends, has ended, or has lost its Job.
    Terminating,
    /// The node is not ready, or gone.
    Unhealthy,
    /// Training: every pod is ready, and the job sets up devices and collectives.
    Initialization,
    /// Training: it compiles.
    Compile,
    /// Training: it restores a checkpoint.
    Restore,
    /// Training: it stands still for a checkpoint.
    Checkpoint,
    /// Training: steps that an interruption took back.
    Lost,
    /// Training: what steps take longer right after a start.
    WarmUp,
    /// Training: what steps take longer because a machine is slow.
    Slow,
    /// Training: processes hang, and the job makes no steps.
    Hang,
    /// Training: a job with other slices than before sets itself up anew, with processes that have run on.
    Reinitialization,
    /// Training: slices are away, and those that are there do less than their share.
    Degraded,
}

impl LedgerCategory {
    /// How many categories there are.
    pub const COUNT: usize = 16;
    /// Those of every run; the others are of training jobs.
    pub const PLAIN: usize = 6;
    /// All of them, in order.
    pub const ALL: [LedgerCategory; LedgerCategory::COUNT] = [
        Self::Idle,
        Self::Starting,
        Self::Waiting,
        Self::Productive,
        Self::Terminating,
        Self::Unhealthy,
        Self::Initialization,
        Self::Compile,
        Self::Restore,
        Self::Checkpoint,
        Self::Lost,
        Self::WarmUp,
        Self::Slow,
        Self::Hang,
        Self::Reinitialization,
        Self::Degraded,
    ];

    /// The name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::Productive => "productive",
            Self::Terminating => "terminating",
            Self::Unhealthy => "unhealthy",
            Self::Initialization => "initialization",
            Self::Compile => "compile",
            Self::Restore => "restore",
            Self::Checkpoint => "checkpoint",
            Self::Lost => "lost",
            Self::WarmUp => "warmUp",
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Reinitialization => "reinitialization",
            Self::Degraded => "degraded",
        }
    }
}

/// One thing that many wait for: a client's token bucket, a worker pool, the scheduler's cycle.
#[derive(Clone, Debug)]
pub struct ResourceUsage {
    /// What it is.
    pub resource: Resource,
    /// E.g. `100 requests/s, burst 100`.
    pub capacity: String,
    /// How many came.
    pub requests: u64,
    /// Times during which at least one request had to wait (or, for a server, was served); disjoint, ascending.
    pub busy: Vec<(Time, Time)>,
    /// The most that waited at once.
    pub longest_queue: u32,
}

/// What is shared: a client's token bucket, a pool of workers, somebody who does one thing at a time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Resource {
    /// The token bucket of the Job controller's client.
    JobControllerClient,
    /// The workers of the Job controller.
    JobControllerWorkers,
    /// The token bucket of the garbage collector's client.
    GarbageCollectorClient,
    /// The workers of the garbage collector.
    GarbageCollectorWorkers,
    /// The scheduler, which places one pod at a time.
    SchedulerCycle,
    /// The token bucket of the scheduler's client.
    SchedulerBindClient,
    /// The token bucket of the JobSet manager's client.
    JobSetClient,
    /// The same rate, a bucket of its own: controller-runtime's status client.
    JobSetStatusClient,
    /// Again the same rate, a bucket of its own: the manager's requests about pods.
    JobSetPodClient,
    /// The JobSet manager, which reconciles one JobSet at a time.
    JobSetReconciler,
    /// The token bucket of the taint manager's client.
    TaintEvictionClient,
    /// How fast the node lifecycle controller taints the nodes of a zone.
    TaintLimiter,
    /// What the API server gives to kubelets and agents together.
    NodeRequests,
}

impl Resource {
    /// The name in files.
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
        }
    }
}

/// What `stuck` says of a JobSet that was only overtaken by the end of the run.
pub const RUN_ENDED: &str = "the run ended before it was ready";

impl RunOutcome {
    /// The training job of a JobSet.
    pub fn training_of(&self, jobset: JobSetId) -> Option<&TrainingOutcome> {
        self.training.iter().find(|t| t.jobset == jobset)
    }

    /// What can never go on, and what the end of the run only overtook.
    pub fn stuck_and_overtaken(&self) -> (Vec<String>, Vec<String>) {
        let all = self.stuck.iter().cloned();
        all.partition(|sentence| !sentence.ends_with(RUN_ENDED))
    }

    /// Why the JobSet of this name can never go on, if it cannot: its sentence in `stuck` without the beginning.
    pub fn dead_end(&self, jobset: &str) -> Option<&str> {
        self.open_end(jobset)
            .filter(|why| !why.ends_with(RUN_ENDED))
    }

    /// What the JobSet of this name waits for at the end, if there is a word for it, whether it can still come or not.
    pub fn open_end(&self, jobset: &str) -> Option<&str> {
        self.stuck.iter().find_map(|sentence| {
            let rest = sentence.strip_prefix("JobSet ")?.strip_prefix(jobset)?;
            let (_, why) = rest.strip_prefix(' ')?.split_once(": ")?;
            (why != RUN_ENDED).then_some(why)
        })
    }
}

/// API requests as the audit log counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCount {
    /// Who asked.
    pub client: &'static str,
    /// What for, such as `POST`.
    pub verb: &'static str,
    /// Of which kind of object.
    pub resource: &'static str,
    /// Empty for success, else the HTTP code.
    pub code: &'static str,
    /// How many.
    pub count: u64,
    /// Of these, the ones after the first restart began.
    pub since_restart: u64,
    /// When the first was answered.
    pub first: Time,
    /// When the last was answered.
    pub last: Time,
}

impl ResourceUsage {
    /// Seconds of [from, to] during which this resource made somebody wait.
    pub fn busy_within(&self, from: Time, to: Time) -> Duration {
        let first = self.busy.partition_point(|(_, end)| *end <= from);
        let within = self.busy[first..]
            .iter()
            .take_while(|(begin, _)| *begin < to);
        let overlap = |&(a, b): &(Time, Time)| b.min(to).since(a.max(from)).0;
        Duration(within.map(overlap).sum())
    }
}
