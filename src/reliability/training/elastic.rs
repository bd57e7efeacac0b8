//! The step time of an elastic job that runs with fewer slices.

use super::pace::UNIT_FACTOR;
use sim_api::spec::ElasticTraining;

/// The slices that take part in the steps of a job, out of all that it may have.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ElasticShare {
    pub slices: u32,
    pub total: u32,
}

impl ElasticShare {
    /// Returns true if a job may start with these slices.
    pub fn is_enough(self, spec: &ElasticTraining) -> bool {
        self.slices > 0 && self.slices >= spec.min_slices.min(self.total)
    }

    /// Step time in billionths of the normal one.
    pub fn factor(self, spec: &ElasticTraining) -> u64 {
        let share = UNIT_FACTOR * u64::from(self.total) / u64::from(self.slices.max(1));
        let given = spec.factor.map(|factor| UNIT_FACTOR * UNIT_FACTOR / factor.max(1));
        if self.slices == self.total { UNIT_FACTOR } else { given.unwrap_or(share) }
    }

    /// The fraction of the additional step time that is caused by underused slices and not by missing ones, for steps
    /// that take `factor` billionths of the normal time.
    pub fn unused_fraction(self, factor: u64) -> (u64, u64) {
        let (own, all) = (u64::from(self.slices), u64::from(self.total));
        let less = (factor * own).saturating_sub(all * UNIT_FACTOR);
        (less, ((factor - UNIT_FACTOR) * own).max(1))
    }
}
