//! What a run leaves besides its records: final states, the ledger, how busy each shared resource was.

use super::kinds::*;
use crate::base::*;

#[derive(Clone, Debug)]
pub struct RunOutcome {
    pub end: Time,
    pub end_reason: EndReason,
    /// Hash over all records: equal inputs give equal digests everywhere.
    pub digest: u64,
    pub records: u32,
    pub events: u64,
    pub jobsets: Vec<JobSetOutcome>,
    pub ledger: Ledger,
    pub resources: Vec<ResourceUsage>,
    pub requests: Vec<RequestCount>,
    /// Restarts that can never finish, each with the reason, one sentence.
    pub stuck: Vec<String>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct JobSetOutcome {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    pub deleted: bool,
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub current_in_place_restart_attempt: Option<u32>,
    pub previous_in_place_restart_attempt: Option<u32>,
    pub conditions: Vec<ConditionOutcome>,
    /// In the order of the API: by name, descending (ST-5).
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    /// Every child Job object that ever existed, in order of creation.
    pub jobs: Vec<JobOutcome>,
}

#[derive(Clone, Debug)]
pub struct ConditionOutcome {
    pub kind: &'static str,
    pub status: bool,
    pub reason: String,
    pub message: String,
    pub last_transition: Time,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicatedJobStatus {
    pub name: String,
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub active: u32,
    pub suspended: u32,
    /// Empty until the first RestartJob* of this replicatedJob (ST-6, ST-7).
    pub job_restarts: Vec<u32>,
    pub job_restarts_count_towards_max: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct JobOutcome {
    pub job: JobId,
    /// The label's text; a user may have changed or removed it.
    pub restart_attempt: String,
    pub conditions: Vec<ConditionOutcome>,
    pub active: u32,
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub exists: bool,
    pub suspended: bool,
}

/// Where the accelerator-seconds of the cluster went. Exact: the sum is installed × wall time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Nanosecond-accelerators per category, in the order of `LedgerCategory::ALL`.
    pub accelerator_ns: [u128; LedgerCategory::COUNT],
    pub accelerators: u64,
    /// Cost per category in millionths of the currency, same order.
    pub cost_micros: [u128; LedgerCategory::COUNT],
    pub currency: String,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LedgerCategory {
    /// Node healthy, no pod holds the accelerator.
    Idle,
    /// Bound to a pod whose containers do not run yet.
    Starting,
    /// The pod is ready but some other pod of the JobSet is not, or it waits at the barrier.
    Waiting,
    /// Every pod of the JobSet is ready.
    Productive,
    /// Held by a pod that ends or has ended.
    Terminating,
    /// The node is not ready, or gone.
    Unhealthy,
}

impl LedgerCategory {
    pub const COUNT: usize = 6;
    pub const ALL: [LedgerCategory; 6] = [
        Self::Idle,
        Self::Starting,
        Self::Waiting,
        Self::Productive,
        Self::Terminating,
        Self::Unhealthy,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::Productive => "productive",
            Self::Terminating => "terminating",
            Self::Unhealthy => "unhealthy",
        }
    }
}

/// One thing that many wait for: a client's token bucket, a worker pool, the scheduler's cycle.
#[derive(Clone, Debug)]
pub struct ResourceUsage {
    pub resource: Resource,
    /// E.g. `100 requests/s, burst 100`.
    pub capacity: String,
    pub requests: u64,
    /// Times during which at least one request had to wait (or, for a server, was served); disjoint, ascending.
    pub busy: Vec<(Time, Time)>,
    pub longest_queue: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Resource {
    JobControllerClient,
    JobControllerWorkers,
    GarbageCollectorClient,
    GarbageCollectorWorkers,
    SchedulerCycle,
    SchedulerBindClient,
    JobSetClient,
    /// The same rate, a bucket of its own: controller-runtime's status client.
    JobSetStatusClient,
    JobSetReconciler,
    TaintEvictionClient,
    TaintLimiter,
    /// What the API server gives to kubelets and agents together.
    NodeRequests,
}

impl Resource {
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
    /// Why the JobSet of this name can never go on, if it cannot: its sentence in `stuck` without the beginning.
    pub fn dead_end(&self, jobset: &str) -> Option<&str> {
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
    pub client: &'static str,
    pub verb: &'static str,
    pub resource: &'static str,
    /// Empty for success, else the HTTP code.
    pub code: &'static str,
    pub count: u64,
    /// Of these, the ones after the first restart began.
    pub since_restart: u64,
    pub first: Time,
    pub last: Time,
}

impl ResourceUsage {
    /// Seconds of [from, to] during which this resource made somebody wait.
    pub fn busy_within(&self, from: Time, to: Time) -> Duration {
        let overlap = |&(a, b): &(Time, Time)| b.min(to).since(a.max(from)).0;
        Duration(self.busy.iter().map(overlap).sum())
    }
}
