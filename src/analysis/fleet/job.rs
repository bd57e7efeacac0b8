//! The state of the job: its phase, its work, and the time that each phase has taken.

use super::books::Category;

/// What the job does now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    Working,
    Saving,
    Recovery,
    HostSelection,
    WaitingForSpares,
    Stalled,
}

impl Phase {
    pub const COUNT: usize = 6;

    /// What the time of its nodes goes to.
    pub const fn category(self) -> Category {
        match self {
            Phase::Working => Category::Productive,
            Phase::Saving => Category::Checkpoint,
            Phase::Recovery => Category::Recovery,
            Phase::HostSelection => Category::HostSelection,
            Phase::WaitingForSpares => Category::WaitingForSpares,
            Phase::Stalled => Category::Stalled,
        }
    }

    /// Whether the job's nodes age on the clock of running.
    pub const fn runs(self) -> bool {
        matches!(self, Phase::Working | Phase::Saving)
    }
}

#[derive(Clone)]
pub struct Job {
    pub phase: Phase,
    /// Which end of a phase is the valid one.
    pub(super) generation: u32,
    /// When the phase began.
    pub(super) since: u64,
    /// Work that no failure takes back.
    pub(super) kept: u64,
    /// The piece of work that is done and being saved.
    pub(super) piece: u64,
    /// Interruptions by a failure of one of its nodes.
    pub restarts: u64,
    /// Nanoseconds by phase.
    pub spent: [u64; Phase::COUNT],
    /// Work that failures took back, in nanoseconds.
    pub lost: u64,
}

impl Job {
    pub fn new() -> Job {
        Job {
            phase: Phase::Stalled,
            generation: 0,
            since: 0,
            kept: 0,
            piece: 0,
            restarts: 0,
            spent: [0; Phase::COUNT],
            lost: 0,
        }
    }
}
