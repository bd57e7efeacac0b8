//! Step times: the mapping from nominal to actual duration of work.
//!
//! Pure and monotone: more work never takes less time. Random variation of n steps is drawn once per segment, as a
//! quantile of the distribution of their sum: a segment is evaluated once, at its end, so the observed duration has
//! this distribution without one random number per step. Exact for normal step times; for others, mean and deviation
//! of the sum are exact and the shape follows the central limit theorem.

/// A factor of 1; factors are in billionths.
pub const UNIT_FACTOR: u64 = 1_000_000_000;

/// Reasons for slow steps; their factors are multiplied.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PaceReason {
    WarmUp,
    /// A machine is slow: all others wait for the slowest one.
    Slow,
    /// Slices are missing.
    Degraded,
    /// Communication that computation does not hide. The last reason: its factor includes the effect of the others on
    /// the computation.
    Communication,
}

impl PaceReason {
    pub const COUNT: usize = 4;
}

/// Additional time by reason.
pub type PaceExcess = [u64; PaceReason::COUNT];

/// A factor that applies from some amount of work on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct PaceSegment {
    from: u64,
    factors: [u64; PaceReason::COUNT],
}

/// Step time of one segment.
#[derive(Clone, Debug, Default)]
pub struct TrainingPace {
    /// In the order of work; before the first entry, steps take the nominal time.
    segments: Vec<PaceSegment>,
    /// Random deviation, which grows with the square root of the work.
    deviation: f64,
}

impl TrainingPace {
    /// Sets the random deviation from the normal quantile `z`, the step time and its standard deviation in seconds.
    pub fn set_deviation(&mut self, z: f64, step_s: f64, sd_s: f64) {
        self.deviation = z * sd_s / libm::sqrt(step_s) * libm::sqrt(1e9);
    }

    /// From `from` on, work takes `factor` billionths of its time for that reason, until changed again.
    pub fn set_factor(&mut self, from: u64, reason: PaceReason, factor: u64) {
        let at = self.segments.partition_point(|leg| leg.from < from);
        if self.segments.get(at).is_none_or(|leg| leg.from > from) {
            let before = at.checked_sub(1).map(|before| self.segments[before].factors);
            let factors = before.unwrap_or([UNIT_FACTOR; PaceReason::COUNT]);
            self.segments.insert(at, PaceSegment { from, factors });
        }
        for leg in &mut self.segments[at..] {
            leg.factors[reason as usize] = factor.max(UNIT_FACTOR);
        }
    }

    /// Nominal time of an amount of work including its random deviation, and the additional time by reason.
    pub fn nominal_and_excess(&self, work: u128) -> (u128, [u128; PaceReason::COUNT]) {
        let mut excess = [0; PaceReason::COUNT];
        if self.is_plain() {
            return (work, excess);
        }
        for (at, leg) in self.segments.iter().enumerate() {
            let next = self.segments.get(at + 1).map_or(work, |l| work.min(u128::from(l.from)));
            let mut takes = next.saturating_sub(u128::from(leg.from));
            for (reason, factor) in excess.iter_mut().zip(leg.factors) {
                let slower = takes.saturating_mul(u128::from(factor - UNIT_FACTOR)) / u128::from(UNIT_FACTOR);
                *reason = slower.saturating_add(*reason);
                takes = takes.saturating_add(slower);
            }
        }
        let off = libm::round(self.deviation * libm::sqrt(work as f64));
        let plain = if off < 0.0 { work.saturating_sub(-off as u128) } else { work.saturating_add(off as u128) };
        (plain, excess)
    }

    /// Returns true if work takes its nominal time.
    fn is_plain(&self) -> bool {
        self.deviation == 0.0 && self.segments.is_empty()
    }

    pub fn duration(&self, work: u128) -> u128 {
        let (plain, excess) = self.nominal_and_excess(work);
        excess.iter().fold(plain, |all, ns| all.saturating_add(*ns))
    }
}
