//! Step times: the mapping from nominal to actual duration of work.
//!
//! Pure and monotone: more work never takes less time. Random variation of n steps is drawn once per segment, as a
//! quantile of the distribution of their sum: a segment is evaluated once, at its end, so the observed duration has
//! this distribution without one random number per step. Exact for normal step times; for others, mean and deviation
//! of the sum are exact and the shape follows the central limit theorem.

/// A factor of 1; factors are in billionths.
pub const ONE: u64 = 1_000_000_000;

/// Reasons for slow steps; their factors are multiplied.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    WarmUp,
    /// A machine is slow: all others wait for the slowest one.
    Slow,
    /// Slices are missing.
    Degraded,
}

impl Reason {
    pub const COUNT: usize = 3;
}

/// Additional time by reason.
pub type Excess = [u64; Reason::COUNT];

/// A factor that applies from some amount of work on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Leg {
    from: u64,
    factors: [u64; Reason::COUNT],
}

/// Step time of one segment.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// In the order of work; before the first entry, steps take the nominal time.
    legs: Vec<Leg>,
    /// Random deviation, which grows with the square root of the work.
    by_chance: f64,
}

impl Pace {
    /// Sets the random deviation from the normal quantile `z`, the step time and its standard deviation in seconds.
    pub fn by_chance(&mut self, z: f64, step_s: f64, sd_s: f64) {
        self.by_chance = z * sd_s / libm::sqrt(step_s) * libm::sqrt(1e9);
    }

    /// From `from` on, work takes `factor` billionths of its time for that reason, until changed again.
    pub fn changes(&mut self, from: u64, reason: Reason, factor: u64) {
        let at = self.legs.partition_point(|leg| leg.from < from);
        if self.legs.get(at).is_none_or(|leg| leg.from > from) {
            let before = at.checked_sub(1).map(|before| self.legs[before].factors);
            let factors = before.unwrap_or([ONE; Reason::COUNT]);
            self.legs.insert(at, Leg { from, factors });
        }
        for leg in &mut self.legs[at..] {
            leg.factors[reason as usize] = factor.max(ONE);
        }
    }

    /// Nominal time of an amount of work including its random deviation, and the additional time by reason.
    pub fn parts(&self, work: u128) -> (u128, [u128; Reason::COUNT]) {
        let mut excess = [0; Reason::COUNT];
        if self.is_plain() {
            return (work, excess);
        }
        for (at, leg) in self.legs.iter().enumerate() {
            let next = self
                .legs
                .get(at + 1)
                .map_or(work, |l| work.min(u128::from(l.from)));
            let mut takes = next.saturating_sub(u128::from(leg.from));
            for (reason, factor) in excess.iter_mut().zip(leg.factors) {
                let slower = takes.saturating_mul(u128::from(factor - ONE)) / u128::from(ONE);
                *reason = slower.saturating_add(*reason);
                takes = takes.saturating_add(slower);
            }
        }
        let off = libm::round(self.by_chance * libm::sqrt(work as f64));
        let plain = match off < 0.0 {
            true => work.saturating_sub(-off as u128),
            false => work.saturating_add(off as u128),
        };
        (plain, excess)
    }

    /// Returns true if work takes its nominal time.
    fn is_plain(&self) -> bool {
        self.by_chance == 0.0 && self.legs.is_empty()
    }

    /// Duration of an amount of work.
    pub fn takes(&self, work: u128) -> u128 {
        let (plain, excess) = self.parts(work);
        excess.iter().fold(plain, |all, ns| all.saturating_add(*ns))
    }
}
