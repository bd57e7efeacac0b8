//! The outcome of one replication at level `nodes`.

use sim_base::SimTime;
use sim_engine::record::{EndReason, TimeLedger, TrainingOutcome};

/// A restart, or another time during which a training job did not run, after its first start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Index of the fault process that caused it; `SPARE` for an action of spares, `SCRIPT` for a scripted fault.
    pub cause: u32,
    /// Time of the fault.
    pub fault_at: SimTime,
    /// Time at which the training job stopped.
    pub stopped: SimTime,
    /// Time at which all pods were ready again, otherwise the end of the JobSet or run.
    pub end: SimTime,
    /// How it ended.
    pub ending: RecoveryEnd,
}

/// How a time without training ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RecoveryEnd {
    /// All pods were ready again, after containers restarted or pods were replaced.
    Ready,
    /// All pods were ready again, and neither had happened: a node was unreachable for a time.
    Interruption,
    /// The JobSet ended during a restart.
    JobSetEnded,
    /// The JobSet failed without a restart.
    Fatal,
    /// The run ended before that.
    Unfinished,
}

/// Restarts that were counted at one time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CountedRestart {
    /// Time of the count.
    pub at: SimTime,
    /// Number of restarts that count towards the limit.
    pub times: u32,
    /// Number of restarts that do not count towards the limit.
    pub uncounted: u32,
    /// Index of the fault process that caused them.
    pub cause: u32,
    /// True if a Job failed with the reason PodFailurePolicy.
    pub is_pod_failure_policy: bool,
}

/// The outcome of one JobSet.
#[derive(Clone, Debug)]
pub struct JobSetResult {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// The use of `maxRestarts` as the controller compares it with the limit.
    pub budget_used: u32,
    /// Counted restarts in order of time.
    pub counted: Vec<CountedRestart>,
    /// Restarts of single Jobs.
    pub job_restarts: u32,
    /// Outcome of the training job.
    pub training: TrainingOutcome,
    /// Recoveries in the order of their ends.
    pub recoveries: Vec<Recovery>,
}

/// The outcome of one replication.
#[derive(Clone, Debug)]
pub struct NodesOutcome {
    /// End of the replication.
    pub end: SimTime,
    /// End reason of the replication.
    pub end_reason: EndReason,
    /// Outcomes of the JobSets, in the order of the scenario.
    pub jobsets: Vec<JobSetResult>,
    /// Accelerator-time ledger of the cluster.
    pub ledger: TimeLedger,
    /// Scripted faults without an effect, in sentences.
    pub warnings: Vec<String>,
}
