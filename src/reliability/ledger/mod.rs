//! The accelerator-time ledger: each accelerator is in exactly one category at each instant, so the sums are exact.
//!
//! A number of accelerators is given together with their total price per hour, in millionths of the currency.

mod sums;
#[cfg(test)]
#[path = "../../../tests/inside/reliability/ledger.rs"]
mod tests;
mod time_ledger;

use sim_base::{JobSetId, SimTime};
use sim_policy::topology::ClusterBuilder;
use sums::CategorySums;
pub use time_ledger::{LedgerCategory, LedgerSums, TimeLedger};

/// The accelerators of a cluster by category, and their time so far.
#[derive(Clone, Default)]
pub struct Ledger {
    cluster: CategorySums,
    /// Per JobSet: the time held by its pods; kept if a JobSet trains.
    by_jobset: Vec<CategorySums>,
    accelerators: u64,
    /// Installed accelerators × time, independent of categories.
    installed: u128,
    installed_until: SimTime,
    /// Accelerators of machines that are not billed at present, and the sum of their time.
    not_billed: u64,
    not_billed_ns: u128,
}

impl Ledger {
    /// Resets the ledger to the start of a run. `jobsets` is the number of JobSets with a separate ledger.
    pub fn reset(&mut self, cluster: &ClusterBuilder, jobsets: usize) {
        *self = Ledger::default();
        self.by_jobset.resize(jobsets, CategorySums::default());
        let prices = &cluster.price_micros_per_hour;
        for (n, rate) in cluster.accelerators.iter().zip(prices) {
            self.change_installed(SimTime::ZERO, *n, *rate, false, true);
        }
    }

    fn settle_installed(&mut self, now: SimTime) {
        let dt = u128::from(now.since(self.installed_until).0);
        self.installed_until = now;
        self.installed += u128::from(self.accelerators) * dt;
        self.not_billed_ns += u128::from(self.not_billed) * dt;
    }

    /// Changes the price per accelerator of a machine whose `n` accelerators are all in `category`; `held` states how
    /// many of them belong to JobSets.
    pub fn change_rate(
        &mut self, now: SimTime, (n, category): (u64, LedgerCategory), (old, new): (u64, u64), held: &[(JobSetId, u64)],
    ) {
        self.settle_installed(now);
        self.cluster.leave(now, (n, n * old), category);
        self.cluster.enter(now, (n, n * new), category);
        for (jobset, n) in held {
            if let Some(own) = self.by_jobset.get_mut(jobset.ix()) {
                own.leave(now, (*n, n * old), category);
                own.enter(now, (*n, n * new), category);
            }
        }
    }

    /// Moves accelerators of a JobSet, with their cost, between categories.
    pub fn transfer(
        &mut self, now: SimTime, jobset: JobSetId, held: (u64, u64), from: LedgerCategory, to: LedgerCategory,
    ) {
        if held.0 == 0 || from == to {
            return;
        }
        self.cluster.leave(now, held, from);
        self.cluster.enter(now, held, to);
        self.transfer_jobset(now, jobset, held, from, to);
    }

    /// Moves accelerators in the ledger of the JobSet only. Idle accelerators belong to no JobSet.
    pub fn transfer_jobset(
        &mut self, now: SimTime, jobset: JobSetId, held: (u64, u64), from: LedgerCategory, to: LedgerCategory,
    ) {
        let Some(own) = self.by_jobset.get_mut(jobset.ix()) else {
            return;
        };
        if from != LedgerCategory::Idle {
            own.leave(now, held, from);
        }
        if to != LedgerCategory::Idle {
            own.enter(now, held, to);
        }
    }

    /// Adds or removes the accelerators of a node; if `unhealthy`, they are counted as Unhealthy.
    pub fn change_installed(&mut self, now: SimTime, n: u32, rate: u64, unhealthy: bool, add: bool) {
        let category = if unhealthy { LedgerCategory::Unhealthy } else { LedgerCategory::Idle };
        self.settle_installed(now);
        let n = u64::from(n);
        if add {
            self.cluster.enter(now, (n, n * rate), category);
            self.accelerators += n;
        } else {
            self.cluster.leave(now, (n, n * rate), category);
            self.accelerators -= n;
        }
    }

    /// Reclassifies accelerator time of a training segment, which was counted as Productive until its end.
    pub fn reclassify(
        &mut self, now: SimTime, (jobset, held): (JobSetId, (u64, u64)), spent: &[(LedgerCategory, u64)],
    ) {
        for part in spent {
            self.cluster.reclassify(now, held, *part);
            if let Some(own) = self.by_jobset.get_mut(jobset.ix()) {
                own.reclassify(now, held, *part);
            }
        }
    }

    /// Updates the number of accelerators of a machine that are not billed. Called after `change_rate`, which settles
    /// their time.
    pub fn change_not_billed(&mut self, before: u64, after: u64) {
        self.not_billed = self.not_billed + after - before;
    }

    /// Number of accelerators per category.
    pub fn counts(&self) -> [u64; LedgerCategory::COUNT] {
        self.cluster.counts()
    }

    /// Ends the run.
    pub fn close(&mut self, now: SimTime, currency: &str) -> TimeLedger {
        let sums = self.cluster.close(now);
        self.settle_installed(now);
        let total: u128 = sums.accelerator_ns.iter().sum();
        assert_eq!(total, self.installed, "the ledger closes");
        TimeLedger {
            accelerator_ns: sums.accelerator_ns,
            accelerators: self.accelerators,
            installed_ns: self.installed,
            cost_micros: sums.cost_micros,
            not_billed_ns: self.not_billed_ns,
            currency: currency.to_owned(),
            by_jobset: self.by_jobset.iter_mut().map(|own| own.close(now)).collect(),
        }
    }
}
