//! What one replication of the collapsed level leaves.

use sim_base::*;
use sim_engine::record::{EndReason, Ledger, TrainingOutcome};

/// One restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The process whose fault began it.
    pub process: u32,
    /// When the fault came.
    pub start: Time,
    /// When the job stopped.
    pub stopped: Time,
    /// When every pod was there again; else the end of the JobSet or the run.
    pub end: Time,
    /// Every pod was there again.
    pub is_over: bool,
}

/// Restarts that count towards the limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counting {
    /// When they were counted.
    pub at: Time,
    /// How many.
    pub times: u32,
    /// The process whose fault it was.
    pub process: u32,
}

/// What one replication leaves.
#[derive(Clone, Debug)]
pub struct CollapsedOutcome {
    /// When it ended.
    pub end: Time,
    /// Why.
    pub end_reason: EndReason,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Of its training job.
    pub training: TrainingOutcome,
    /// In the order of their start.
    pub recoveries: Vec<Recovery>,
    /// In the order in which their faults came.
    pub counted: Vec<Counting>,
    /// Where the accelerators' time went.
    pub ledger: Ledger,
    /// Faults that came so near to the edge between two outcomes that the engine may have taken the other one.
    pub close_calls: u32,
    /// By how much goodput may differ from the engine's, if that was asked for.
    pub bound: Option<f64>,
}
