//! How long steps take: from work, in the time that it should take, to the time that it takes.
//!
//! Pure and monotone: more work never takes less time. The time of n steps that vary by chance is drawn once for a
//! stretch, as a quantile of the law of their sum: a stretch is looked at once, at its end, so whatever is seen of it
//! has that law, without a number for each step. For steps of a normal law that is exact, for others as near as the
//! central limit theorem is: mean and deviation of the sum are exact.

/// A factor of 1: factors are in billionths.
pub const ONE: u64 = 1_000_000_000;

/// Why steps are slower than they should be; the reasons multiply.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    WarmUp,
    /// A machine is slow: all wait for the slowest.
    Slow,
    /// Slices are away.
    Degraded,
}

impl Reason {
    pub const COUNT: usize = 3;
}

/// Time by reason, beyond what the work should take.
pub type Excess = [u64; Reason::COUNT];

/// From some work on, work takes so many times as long.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Leg {
    from: u64,
    factors: [u64; Reason::COUNT],
}

/// One stretch of steps.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// In the order of work; before the first one, and without any, steps take what they should.
    legs: Vec<Leg>,
    /// By how much a nanosecond of work is off by chance; it grows with the root of the work.
    by_chance: f64,
}

impl Pace {
    /// `z` of the normal distribution, for steps of so many seconds and that deviation.
    pub fn by_chance(&mut self, z: f64, step_s: f64, sd_s: f64) {
        self.by_chance = z * sd_s / libm::sqrt(step_s) * libm::sqrt(1e9);
    }

    /// Work after `from` takes `factor` billionths for that reason, until it is said otherwise.
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

    /// What so much work should have taken, with what chance made of it, and what it took beyond that.
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

    /// Work takes what it should.
    fn is_plain(&self) -> bool {
        self.by_chance == 0.0 && self.legs.is_empty()
    }

    /// How long so much work takes.
    pub fn takes(&self, work: u128) -> u128 {
        let (plain, excess) = self.parts(work);
        excess.iter().fold(plain, |all, ns| all.saturating_add(*ns))
    }
}
