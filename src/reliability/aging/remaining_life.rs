//! The remaining lifetime of an entity that ages only at times.

use sim_base::random::Distribution;

/// An infinite lifetime.
pub const NEVER: u64 = u64::MAX;

/// The remaining lifetime of an entity, in nanoseconds of the clock by which it ages.
#[derive(Copy, Clone, Debug)]
pub struct RemainingLife {
    /// Remaining lifetime, valid while the entity is not aging.
    left: u64,
    /// Time of the failure, valid while the entity is aging.
    due: u64,
    ages: bool,
}

impl RemainingLife {
    /// A lifetime of an entity that is not aging.
    pub const fn new(left: u64) -> RemainingLife {
        RemainingLife { left, due: NEVER, ages: false }
    }

    /// Returns true if the entity is aging.
    #[inline]
    pub fn ages(&self) -> bool {
        self.ages
    }

    /// The remaining lifetime.
    pub fn left(&self, clock: u64) -> u64 {
        if self.ages { self.due.saturating_sub(clock) } else { self.left }
    }

    /// Starts the aging. Returns the time of the failure; `None` if the entity is aging already, or never fails.
    pub fn begin(&mut self, clock: u64) -> Option<u64> {
        if self.ages || self.left == NEVER {
            return None;
        }
        (self.ages, self.due) = (true, clock.saturating_add(self.left));
        Some(self.due)
    }

    /// Stops the aging. Returns false if the entity was not aging.
    pub fn end(&mut self, clock: u64) -> bool {
        let left = self.left(clock);
        self.left = left;
        std::mem::take(&mut self.ages)
    }

    /// Replaces the remaining lifetime. Returns the time of the failure if the entity is aging.
    pub fn set_left(&mut self, clock: u64, left: u64) -> Option<u64> {
        (self.left, self.due) = (left, clock.saturating_add(left));
        self.ages.then_some(self.due)
    }
}

/// Returns the remaining lifetime of an entity of age `lived`, at the uniform random number `u`; `left` is the
/// remaining time before the redraw.
pub fn remaining_lifetime(life: &Distribution, (lived, left): (u64, u64), u: f64) -> u64 {
    match life {
        Distribution::Fixed(_) => left,
        // The exponential distribution is memoryless.
        Distribution::Exponential { .. } => life.quantile(u).0,
        _ if lived == 0 => life.quantile(u).0,
        _ => {
            // Finds the probability of a lifetime shorter than `lived` by bisection, as quantiles ascend.
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if life.quantile(middle).0 < lived { low = middle } else { high = middle }
            }
            let total = life.quantile((high + (1.0 - high) * u).min(1.0 - 1e-16));
            total.0.saturating_sub(lived)
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/aging/remaining_life.rs"]
mod tests;
