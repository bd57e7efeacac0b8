//! The state of the job: its phase, its completed work, and the time spent in each phase.

use super::fleet_ledger::TimeCategory;

/// Current phase of the job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FleetJobPhase {
    Working,
    Saving,
    Recovery,
    HostSelection,
    WaitingForSpares,
    Stalled,
}

impl FleetJobPhase {
    pub const COUNT: usize = 6;

    /// Returns the ledger category of the job's active nodes in this phase.
    pub const fn category(self) -> TimeCategory {
        match self {
            FleetJobPhase::Working => TimeCategory::Productive,
            FleetJobPhase::Saving => TimeCategory::Checkpoint,
            FleetJobPhase::Recovery => TimeCategory::Recovery,
            FleetJobPhase::HostSelection => TimeCategory::HostSelection,
            FleetJobPhase::WaitingForSpares => TimeCategory::WaitingForSpares,
            FleetJobPhase::Stalled => TimeCategory::Stalled,
        }
    }

    /// Returns true if nodes with exposure `Running` age in this phase.
    pub const fn runs(self) -> bool {
        matches!(self, FleetJobPhase::Working | FleetJobPhase::Saving)
    }
}

#[derive(Clone)]
pub struct FleetJobState {
    pub phase: FleetJobPhase,
    /// Generation of the current phase; end-of-phase events of other generations are stale.
    pub(super) generation: u32,
    /// Start of the current phase, in nanoseconds.
    pub(super) since: u64,
    /// Saved work in nanoseconds, which no failure discards.
    pub(super) saved: u64,
    /// Work since the last checkpoint that is being saved, in nanoseconds.
    pub(super) piece: u64,
    /// Number of interruptions by a failure of an active node.
    pub restarts: u64,
    /// Nanoseconds spent in each phase.
    pub spent: [u64; FleetJobPhase::COUNT],
    /// Work that failures discarded, in nanoseconds.
    pub lost: u64,
}

impl FleetJobState {
    pub fn new() -> FleetJobState {
        FleetJobState {
            phase: FleetJobPhase::Stalled,
            generation: 0,
            since: 0,
            saved: 0,
            piece: 0,
            restarts: 0,
            spent: [0; FleetJobPhase::COUNT],
            lost: 0,
        }
    }
}
