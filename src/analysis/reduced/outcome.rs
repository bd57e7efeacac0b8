//! The outcome of one replication of the reduced model.

use sim_base::*;
use sim_engine::record::{EndReason, Ledger, TrainingOutcome};

/// One restart of the replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Index of the fault process whose fault caused the restart.
    pub process: u32,
    /// Time of the fault.
    pub start: Time,
    /// Time at which the training job stopped.
    pub stopped: Time,
    /// Time at which all pods were ready again, otherwise the end of the JobSet or run.
    pub end: Time,
    /// True if all pods were ready again.
    pub is_over: bool,
}

/// One increase of the counter that is compared with the restart limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counting {
    /// Time at which the restarts were counted.
    pub at: Time,
    /// Number of restarts counted at that time.
    pub times: u32,
    /// Index of the fault process that caused them.
    pub process: u32,
}

/// The outcome of one replication.
#[derive(Clone, Debug)]
pub struct CollapsedOutcome {
    /// End of the replication.
    pub end: Time,
    /// End reason of the replication.
    pub end_reason: EndReason,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Outcome of the training job.
    pub training: TrainingOutcome,
    /// Restarts in the order of their start.
    pub recoveries: Vec<Recovery>,
    /// Counted restarts in the order of their faults.
    pub counted: Vec<Counting>,
    /// Accelerator-time ledger of the replication.
    pub ledger: Ledger,
    /// Number of boundary cases: faults so close to the boundary between two outcomes that the engine may have taken
    /// the other one.
    pub close_calls: u32,
    /// Bound of the difference between this goodput and that of the engine; `None` if it was not requested.
    pub bound: Option<f64>,
}
