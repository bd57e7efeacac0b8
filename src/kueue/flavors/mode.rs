//! How well a flavor fits, and which of two flavors is better.

use sim_api::spec::kueue::{FlavorFungibility, FungibilityPolicy, FungibilityPreference};

/// What has to happen before a flavor can be used, from worst to best.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssignmentMode {
    NoFit,
    Preempt,
    /// Fits after preemptions of this cycle, which have to complete first.
    DeferredFit,
    Fit,
}

/// Result of a simulated preemption for one resource.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreemptionPossibility {
    NoCandidates,
    Preempt,
    /// All victims are in other ClusterQueues.
    Reclaim,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreemptionMode {
    NoFit,
    NoCandidates,
    Preempt,
    Reclaim,
    Fit,
}

impl PreemptionMode {
    pub fn assignment_mode(self) -> AssignmentMode {
        match self {
            PreemptionMode::NoFit => AssignmentMode::NoFit,
            PreemptionMode::NoCandidates | PreemptionMode::Preempt | PreemptionMode::Reclaim => AssignmentMode::Preempt,
            PreemptionMode::Fit => AssignmentMode::Fit,
        }
    }
}

impl From<PreemptionPossibility> for PreemptionMode {
    fn from(possibility: PreemptionPossibility) -> PreemptionMode {
        match possibility {
            PreemptionPossibility::NoCandidates => PreemptionMode::NoCandidates,
            PreemptionPossibility::Preempt => PreemptionMode::Preempt,
            PreemptionPossibility::Reclaim => PreemptionMode::Reclaim,
        }
    }
}

/// Mode of one flavor, with the distance from which quota is borrowed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GranularMode {
    pub preemption: PreemptionMode,
    /// Height of the smallest subtree with enough quota. Zero if nothing is borrowed.
    pub borrowing: usize,
}

impl GranularMode {
    pub const WORST: GranularMode = GranularMode { preemption: PreemptionMode::NoFit, borrowing: usize::MAX };
    pub const BEST: GranularMode = GranularMode { preemption: PreemptionMode::Fit, borrowing: 0 };

    /// Returns whether this mode is better than another one.
    pub fn is_preferred_to(self, other: GranularMode, fungibility: &FlavorFungibility) -> bool {
        if self.preemption == PreemptionMode::NoFit {
            return false;
        }
        if other.preemption == PreemptionMode::NoFit {
            return true;
        }
        let no_candidates = [self, other].map(|mode| mode.preemption == PreemptionMode::NoCandidates);
        if no_candidates[0] != no_candidates[1] {
            return !no_candidates[0];
        }
        if fungibility.preference == Some(FungibilityPreference::PreemptionOverBorrowing) {
            if self.borrowing != other.borrowing {
                return self.borrowing < other.borrowing;
            }
            return self.preemption > other.preemption;
        }
        if self.preemption != other.preemption {
            return self.preemption > other.preemption;
        }
        self.borrowing < other.borrowing
    }

    /// Returns whether the next flavor is tried although this one may be used.
    pub fn tries_next_flavor(self, fungibility: &FlavorFungibility) -> bool {
        match self.preemption {
            PreemptionMode::NoFit | PreemptionMode::NoCandidates => return true,
            PreemptionMode::Preempt | PreemptionMode::Reclaim
                if fungibility.when_can_preempt == FungibilityPolicy::TryNextFlavor =>
            {
                return true;
            }
            _ => {}
        }
        self.borrowing > 0 && fungibility.when_can_borrow == FungibilityPolicy::TryNextFlavor
    }
}
