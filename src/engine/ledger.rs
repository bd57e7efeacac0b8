//! The accelerator-second ledger: each accelerator is in one category at each instant, so the sums close exactly.

use super::model::Model;
use crate::base::*;
use crate::record::{Ledger, LedgerCategory};

const N: usize = LedgerCategory::COUNT;

#[derive(Default)]
pub struct LedgerBooks {
    /// Accelerators in each category now, and what they cost per hour (millionths).
    counts: [u64; N],
    rates: [u64; N],
    sums: [u128; N],
    costs: [u128; N],
    since: Time,
    accelerators: u64,
}

impl LedgerBooks {
    pub fn reset(&mut self, m: &Model) {
        *self = LedgerBooks::default();
        for (n, rate) in m
            .cluster
            .accelerators
            .iter()
            .zip(&m.cluster.price_micros_per_hour)
        {
            self.counts[LedgerCategory::Idle as usize] += u64::from(*n);
            self.rates[LedgerCategory::Idle as usize] += u64::from(*n) * rate;
        }
        self.accelerators = self.counts[LedgerCategory::Idle as usize];
    }

    fn settle(&mut self, now: Time) {
        let dt = now.since(self.since).0;
        if dt == 0 {
            return;
        }
        self.since = now;
        for c in 0..N {
            self.sums[c] += u128::from(self.counts[c]) * u128::from(dt);
            self.costs[c] += u128::from(self.rates[c]) * u128::from(dt);
        }
    }

    /// Moves accelerators of one price from category to category.
    pub fn transfer(
        &mut self,
        now: Time,
        n: u64,
        rate: u64,
        from: LedgerCategory,
        to: LedgerCategory,
    ) {
        if n == 0 || from == to {
            return;
        }
        self.settle(now);
        let (from, to) = (from as usize, to as usize);
        assert!(
            self.counts[from] >= n && self.rates[from] >= rate,
            "ledger: more taken than was there"
        );
        self.counts[from] -= n;
        self.counts[to] += n;
        self.rates[from] -= rate;
        self.rates[to] += rate;
    }

    pub fn counts(&self) -> [u64; N] {
        self.counts
    }

    pub fn close(&mut self, now: Time, currency: &str) -> Ledger {
        self.settle(now);
        let total: u128 = self.sums.iter().sum();
        assert_eq!(
            total,
            u128::from(self.accelerators) * u128::from(now.0),
            "the ledger does not close"
        );
        const HOUR_NS: u128 = 3_600_000_000_000;
        Ledger {
            accelerator_ns: self.sums,
            accelerators: self.accelerators,
            cost_micros: self.costs.map(|c| c / HOUR_NS),
            currency: currency.to_owned(),
        }
    }
}
