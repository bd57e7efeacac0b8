//! The accelerator-time ledger of the reduced model. Steps, checkpoints and failed nodes are exact; the time of
//! restarts is divided among the categories as in restarts measured with the engine.

use super::slots::SlotTable;
use super::trainer::TrainerTimes;
use sim_base::SimTime;
use sim_engine::record::{LedgerCategory, LedgerSums, TimeLedger};

/// The ledger of one replication.
#[derive(Clone, Debug, Default)]
pub struct ReducedLedger {
    /// Accelerator-nanoseconds of restarts, by category.
    pub restarts: [f64; LedgerCategory::COUNT],
    /// Accelerator-nanoseconds of failed nodes.
    pub failed_accelerators: u128,
    until: SimTime,
}

impl ReducedLedger {
    /// Adds the time of accelerators on failed nodes since the last call.
    pub fn unhealthy_until(&mut self, now: SimTime, accelerators: u64) {
        self.failed_accelerators += u128::from(accelerators) * u128::from(now.since(self.until).0);
        self.until = now;
    }

    /// Adds a restart of `ns` nanoseconds with `pods` accelerators, divided by the measured shares of the categories.
    pub fn restart(&mut self, ns: u64, pods: u64, shares: &[f64; LedgerCategory::COUNT]) {
        for (sum, share) in self.restarts.iter_mut().zip(shares) {
            *sum += ns as f64 * pods as f64 * share;
        }
    }

    /// Closes the ledger at the end of the run; all remaining time is idle.
    pub fn close(&self, end: SimTime, times: &TrainerTimes, (slots, pods): (&SlotTable, u64)) -> TimeLedger {
        let installed: u64 = slots.accelerators.iter().sum();
        let all = u128::from(installed) * u128::from(end.0);
        let mut ns = [0u128; LedgerCategory::COUNT];
        for (category, time) in times.iter().enumerate() {
            ns[category] += u128::from(*time) * u128::from(pods);
        }
        let own = ns;
        let mut left = all - ns.iter().sum::<u128>().min(all);
        let unhealthy = LedgerCategory::Unhealthy as usize;
        ns[unhealthy] = self.failed_accelerators.min(left);
        left -= ns[unhealthy];
        for (category, time) in self.restarts.iter().enumerate() {
            let time = (*time as u128).min(left);
            ns[category] += time;
            left -= time;
        }
        ns[LedgerCategory::Idle as usize] = left;
        let rate = slots.rates.first().copied().unwrap_or(0);
        const HOUR_NS: u128 = 3_600_000_000_000;
        let cost = |ns: [u128; LedgerCategory::COUNT]| ns.map(|ns| ns * u128::from(rate) / HOUR_NS);
        TimeLedger {
            accelerator_ns: ns,
            accelerators: installed,
            installed_ns: ns.iter().sum(),
            cost_micros: cost(ns),
            not_billed_ns: 0,
            currency: slots.currency.clone(),
            by_jobset: vec![LedgerSums { accelerator_ns: own, cost_micros: cost(own) }],
        }
    }
}
