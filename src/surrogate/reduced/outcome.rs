//! The outcome of one replication of the reduced model.

use sim_base::SimTime;
use sim_engine::record::{EndReason, TimeLedger, TrainingOutcome};

/// One restart of the replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RecoveryKind {
    /// Index of the fault process whose fault caused the restart.
    pub process: u32,
    /// Time of the fault.
    pub start: SimTime,
    /// Time at which the training job stopped.
    pub stopped: SimTime,
    /// Time at which all pods were ready again, otherwise the end of the JobSet or run.
    pub end: SimTime,
    /// True if all pods were ready again.
    pub is_over: bool,
}

/// One increase of the counter that is compared with the restart limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCounter {
    /// Time at which the restarts were counted.
    pub at: SimTime,
    /// Number of restarts counted at that time.
    pub times: u32,
    /// Number of restarts at that time that do not count towards the limit.
    pub uncounted: u32,
    /// Index of the fault process that caused them.
    pub process: u32,
}

/// The outcome of one replication.
#[derive(Clone, Debug)]
pub struct ReducedOutcome {
    /// End of the replication.
    pub end: SimTime,
    /// End reason of the replication.
    pub end_reason: EndReason,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Outcome of the training job.
    pub training: TrainingOutcome,
    /// Restarts in the order of their start.
    pub recoveries: Vec<RecoveryKind>,
    /// Counted restarts in the order of their faults.
    pub counted: Vec<OutcomeCounter>,
    /// Accelerator-time ledger of the replication.
    pub ledger: TimeLedger,
    /// Number of boundary cases: faults so close to the boundary between two outcomes that the engine may have taken
    /// the other one.
    pub boundary_cases: u32,
    /// Bound of the difference between this goodput and that of the engine; `None` if it was not requested.
    pub bound: Option<f64>,
}
