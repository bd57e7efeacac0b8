//! The usage of each LocalQueue: the decayed past usage, and the penalties of Workloads that have a reservation but are
//! not admitted yet.
//!
//! Kueue decays the past usage at each admission and otherwise once per sampling interval, with the admitted usage of
//! that moment. While a penalty is pending, its reconciler samples without a pause. The ledger takes all samples up to
//! the present when it is used, because the admitted usage does not change in between.

use super::past_usage::{ResourceNanos, decay_rate};
use crate::workload::WorkloadKey;
use sim_api::spec::kueue::{AdmissionFairSharing, LocalQueue};
use sim_base::{Duration, SimTime};
use std::collections::BTreeMap;

/// Delay of the reconciliation of a LocalQueue after a change of its Workloads (`constants.UpdatesBatchPeriod`).
const UPDATES_BATCH_PERIOD: Duration = Duration::from_secs(1);
/// Number of samples that are taken one by one. More of them are combined, which changes only the rounding.
const SAMPLES_MAX: u64 = 10_000;

/// Index of a LocalQueue.
pub type LocalQueueIndex = usize;

#[derive(Clone, Debug)]
pub struct UsageLedger {
    config: AdmissionFairSharing,
    entries: Vec<LedgerEntry>,
}

#[derive(Clone, Debug)]
struct LedgerEntry {
    weight: f64,
    consumed: ResourceNanos,
    /// Time of the last sample or admission. `None` before the first.
    updated: Option<SimTime>,
    /// Sum of the penalties.
    pending: ResourceNanos,
    penalties: BTreeMap<WorkloadKey, ResourceNanos>,
    /// Time from which samples follow each other without a pause, if a penalty is pending.
    continuous_from: SimTime,
}

impl UsageLedger {
    pub fn new(config: &AdmissionFairSharing, local_queues: &[LocalQueue]) -> UsageLedger {
        let entry = |queue: &LocalQueue| LedgerEntry {
            weight: queue.fair_weight.value(),
            consumed: ResourceNanos::new(&queue.consumed),
            updated: None,
            pending: ResourceNanos::default(),
            penalties: BTreeMap::new(),
            continuous_from: SimTime::ZERO,
        };
        UsageLedger { config: config.clone(), entries: local_queues.iter().map(entry).collect() }
    }

    /// Returns the usage by which Workloads of the LocalQueue are ordered. It is infinite if the weight is zero.
    pub fn usage(&self, queue: LocalQueueIndex) -> f64 {
        let entry = &self.entries[queue];
        let mut all = entry.consumed.clone();
        all.add(&entry.pending);
        self.weighted(queue, &all)
    }

    /// Returns the usage that the samples approach while the admitted Workloads do not change.
    pub fn final_usage(&self, queue: LocalQueueIndex, admitted: &ResourceNanos) -> f64 {
        let has_past = self.config.usage_half_life > Duration::ZERO;
        if has_past { self.weighted(queue, admitted) } else { self.weighted(queue, &ResourceNanos::default()) }
    }

    fn weighted(&self, queue: LocalQueueIndex, amounts: &ResourceNanos) -> f64 {
        let weight = self.entries[queue].weight;
        if weight <= 0.0 { f64::INFINITY } else { amounts.weighted_sum(&self.config.resource_weights) / weight }
    }

    /// Returns the past usage.
    pub fn consumed(&self, queue: LocalQueueIndex) -> &ResourceNanos {
        &self.entries[queue].consumed
    }

    /// Returns the time of the next sample, if no penalty requires earlier ones.
    pub fn next_sample(&self, queue: LocalQueueIndex) -> Option<SimTime> {
        Some(self.entries[queue].updated? + self.config.usage_sampling_interval)
    }

    /// Takes the samples up to the present, with the usage of the admitted Workloads since the last change. Returns
    /// whether there was any.
    pub fn sample_until(
        &mut self, queue: LocalQueueIndex, now: SimTime, admitted: impl FnOnce() -> ResourceNanos,
    ) -> bool {
        let entry = &mut self.entries[queue];
        let Some(updated) = entry.updated else {
            entry.updated = Some(now);
            return false;
        };
        let interval = self.config.usage_sampling_interval;
        let due = if interval == Duration::ZERO { 0 } else { now.since(updated).0 / interval.0 };
        let is_continuous = !entry.pending.is_zero() && entry.continuous_from <= now && updated < now;
        if due == 0 && !is_continuous {
            return false;
        }
        let (admitted, half_life) = (admitted(), self.config.usage_half_life);
        let (steps, length) = if due > SAMPLES_MAX { (1, interval.saturating_mul(due)) } else { (due, interval) };
        for _ in 0..steps {
            entry.sample(&admitted, length, half_life);
        }
        let sampled = updated + interval.saturating_mul(due);
        if is_continuous && sampled < now {
            entry.sample(&admitted, now.since(sampled), half_life);
        }
        entry.updated = Some(if is_continuous { now } else { sampled });
        true
    }

    /// Adds the penalty of a Workload that receives a reservation: its requests, as if they had been in use for one
    /// sampling interval.
    pub fn push_penalty(&mut self, queue: LocalQueueIndex, key: WorkloadKey, requests: &ResourceNanos, now: SimTime) {
        let rate = decay_rate(self.config.usage_sampling_interval, self.config.usage_half_life);
        let penalty = requests.times(rate);
        self.drop_penalty(queue, key);
        let entry = &mut self.entries[queue];
        entry.updated.get_or_insert(now);
        if entry.pending.is_zero() {
            entry.continuous_from = now + UPDATES_BATCH_PERIOD;
        }
        entry.pending.add(&penalty);
        entry.penalties.insert(key, penalty);
    }

    /// Removes the penalty of a Workload, if there is one.
    pub fn drop_penalty(&mut self, queue: LocalQueueIndex, key: WorkloadKey) -> Option<ResourceNanos> {
        let entry = &mut self.entries[queue];
        let penalty = entry.penalties.remove(&key)?;
        entry.pending.subtract(&penalty);
        Some(penalty)
    }

    /// Counts the admission of a Workload: its penalty becomes past usage. `admitted` is the usage with the Workload.
    pub fn settle(&mut self, queue: LocalQueueIndex, key: WorkloadKey, admitted: &ResourceNanos, now: SimTime) {
        let penalty = self.drop_penalty(queue, key);
        let half_life = self.config.usage_half_life;
        let entry = &mut self.entries[queue];
        let elapsed = entry.updated.map_or(Duration::ZERO, |updated| now.since(updated));
        entry.consumed = entry.consumed.decayed(admitted, elapsed, half_life);
        entry.updated = Some(now);
        penalty.iter().for_each(|penalty| entry.consumed.add(penalty));
    }
}

impl LedgerEntry {
    /// Decays the past usage. Without a half-life, nothing remains of it.
    fn sample(&mut self, admitted: &ResourceNanos, elapsed: Duration, half_life: Duration) {
        if half_life == Duration::ZERO {
            self.consumed = ResourceNanos::default();
        } else {
            self.consumed = self.consumed.decayed(admitted, elapsed, half_life);
        }
    }
}
