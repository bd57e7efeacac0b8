//! Accelerators by category and their time, as exact sums, for the cluster and for each JobSet.

use super::time_ledger::{LedgerCategory, LedgerSums};
use sim_base::SimTime;

const N: usize = LedgerCategory::COUNT;

#[derive(Copy, Clone, Default)]
pub struct CategorySums {
    /// Current number of accelerators per category, and their price per hour in millionths.
    counts: [u64; N],
    rates: [u64; N],
    times: [u128; N],
    costs: [u128; N],
    /// End of the time included in each category's sum.
    until: [SimTime; N],
}

impl CategorySums {
    /// Extends the sum of a category to the current time.
    fn accumulate_to_now(&mut self, now: SimTime, category: usize) {
        let dt = u128::from(now.since(self.until[category]).0);
        self.until[category] = now;
        self.times[category] += u128::from(self.counts[category]) * dt;
        self.costs[category] += u128::from(self.rates[category]) * dt;
    }

    pub fn enter(&mut self, now: SimTime, (n, rate): (u64, u64), to: LedgerCategory) {
        let to = to as usize;
        self.accumulate_to_now(now, to);
        self.counts[to] += n;
        self.rates[to] += rate;
    }

    pub fn leave(&mut self, now: SimTime, (n, rate): (u64, u64), from: LedgerCategory) {
        let from = from as usize;
        self.accumulate_to_now(now, from);
        assert!(self.counts[from] >= n && self.rates[from] >= rate, "ledger: more taken than was there");
        self.counts[from] -= n;
        self.rates[from] -= rate;
    }

    /// Moves accelerator time from Productive to another category.
    pub fn reclassify(&mut self, now: SimTime, (n, rate): (u64, u64), (to, ns): (LedgerCategory, u64)) {
        let productive = LedgerCategory::Productive as usize;
        self.accumulate_to_now(now, productive);
        for (sums, amount) in [(&mut self.times, n), (&mut self.costs, rate)] {
            let amount = u128::from(amount) * u128::from(ns);
            let left = sums[productive].checked_sub(amount);
            sums[productive] = left.expect("what is booked elsewhere was productive before");
            sums[to as usize] += amount;
        }
    }

    pub fn counts(&self) -> [u64; N] {
        self.counts
    }

    /// Accelerator-nanoseconds per category, and their cost in millionths.
    pub fn close(&mut self, now: SimTime) -> LedgerSums {
        (0..N).for_each(|category| self.accumulate_to_now(now, category));
        const HOUR_NS: u128 = 3_600_000_000_000;
        LedgerSums { accelerator_ns: self.times, cost_micros: self.costs.map(|c| c / HOUR_NS) }
    }
}
