//! Accelerator time and cost by category, at the end of a run.

#![deny(missing_docs)]

/// The accelerator-time ledger of the cluster. Exact: the sum equals installed accelerators × elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLedger {
    /// Accelerator-nanoseconds per category, in the order of `LedgerCategory::ALL`.
    pub accelerator_ns: [u128; LedgerCategory::COUNT],
    /// Number of accelerators at the end.
    pub accelerators: u64,
    /// Installed accelerators times the elapsed time, in accelerator-nanoseconds; nodes may be created during a run.
    pub installed_ns: u128,
    /// Cost per category in millionths of the currency, in the same order.
    pub cost_micros: [u128; LedgerCategory::COUNT],
    /// Accelerator-nanoseconds without cost: machines of pools with on-demand billing that did not exist.
    pub not_billed_ns: u128,
    /// Currency, from the topology.
    pub currency: String,
    /// Accelerator time held by the pods of each JobSet, if a JobSet trains; otherwise empty. Idle accelerators
    /// belong to no JobSet.
    pub by_jobset: Vec<LedgerSums>,
}

/// Accelerator time and cost by category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerSums {
    /// Accelerator-nanoseconds, in the order of `LedgerCategory::ALL`.
    pub accelerator_ns: [u128; LedgerCategory::COUNT],
    /// Cost in millionths of the currency, in the same order.
    pub cost_micros: [u128; LedgerCategory::COUNT],
}

impl TimeLedger {
    /// The categories that occur in this run.
    pub fn categories(&self) -> &'static [LedgerCategory] {
        // The other categories exist for training jobs only.
        if !self.by_jobset.is_empty() {
            &LedgerCategory::ALL
        } else {
            &LedgerCategory::ALL[..LedgerCategory::BASE_COUNT]
        }
    }
}

/// Use of an accelerator at an instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LedgerCategory {
    /// The node is healthy and no pod holds the accelerator.
    Idle,
    /// Bound to a pod whose containers do not run yet.
    Starting,
    /// The pod is ready but another pod of the JobSet is not, or the pod waits at the in-place restart barrier.
    Waiting,
    /// Every pod of the JobSet is ready. For a training job: it makes steps that are not lost later.
    Productive,
    /// Held by a pod that is terminating, has ended, or has lost its Job.
    Terminating,
    /// The node is not ready or was deleted.
    Unhealthy,
    /// Training: every pod is ready, and the job initializes devices and collectives.
    Initialization,
    /// A training job compiles its program.
    Compile,
    /// Training: restoring a checkpoint.
    Restore,
    /// Training: blocked by writing a checkpoint.
    Checkpoint,
    /// Training: steps that an interruption undid.
    Lost,
    /// Training: additional time of steps directly after a start.
    WarmUp,
    /// Training: additional time of steps because a machine is slow.
    Slow,
    /// Training: processes hang and the job makes no steps.
    Hang,
    /// Training: a job whose slices have changed initializes again, in processes that kept running.
    Reinitialization,
    /// Training: slices are missing and the remaining ones make less than the full progress.
    Degraded,
    /// Training: communication of steps that computation does not hide.
    Communication,
}

impl LedgerCategory {
    /// Number of categories.
    pub const COUNT: usize = 17;
    /// Number of categories that occur in every run; the others occur for training jobs only.
    pub const BASE_COUNT: usize = 6;
    /// All categories, in order.
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
        Self::Communication,
    ];

    /// Returns the name used in files.
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
            Self::Communication => "communication",
        }
    }
}
