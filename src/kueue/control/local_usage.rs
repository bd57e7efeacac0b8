//! Admission fair sharing in the manager: when the ledger of past usage changes, and who reads it.
//!
//! Kueue keeps its heap in the order of the usage that it last saw; a settled penalty reorders it only at the next
//! sample. Here every cycle takes the heads by the present usage.

use super::manager::{Manager, find_local_queue};
use crate::requests::Requests;
use crate::usage::ledger::LocalQueueIndex;
use crate::usage::{ResourceNanos, UsageLedger};
use crate::workload::info::QueueIndex;
use crate::workload::{Info, Workload, WorkloadKey};
use sim_api::spec::kueue::{KueueObjects, StopPolicy};
use sim_base::SimTime;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct LocalUsage {
    pub ledger: UsageLedger,
    /// ClusterQueues with LocalQueues whose usage has changed since the last cycle.
    changed: BTreeSet<QueueIndex>,
}

impl LocalUsage {
    /// Returns `None` if the configuration has no admission fair sharing.
    pub fn new(objects: &KueueObjects) -> Option<LocalUsage> {
        let config = objects.configuration.admission_fair_sharing.as_ref()?;
        Some(LocalUsage { ledger: UsageLedger::new(config, &objects.local_queues), changed: BTreeSet::new() })
    }

    /// Returns the usage of a LocalQueue, which is zero if the queue does not exist.
    fn usage(&self, local: Option<LocalQueueIndex>) -> f64 {
        local.map_or(0.0, |local| self.ledger.usage(local))
    }
}

impl Manager {
    /// Returns the usage of the Workload's LocalQueue, if its ClusterQueue orders Workloads by usage.
    pub fn local_queue_usage(&self, queue: QueueIndex, workload: &Workload) -> Option<f64> {
        let is_ordered = self.cache.state.queues[queue].spec.usage_based_admission;
        let local_usage = self.local_usage.as_ref().filter(|_| is_ordered)?;
        Some(local_usage.usage(find_local_queue(&self.local_index, workload)))
    }

    /// Returns the past usage of a LocalQueue without admission penalties.
    pub fn consumed(&self, namespace: &str, name: &str) -> Option<&ResourceNanos> {
        let index = *self.local_index.get(namespace)?.get(name)?;
        Some(self.local_usage.as_ref()?.ledger.consumed(index))
    }

    /// Returns the ClusterQueue of a LocalQueue if it is in the mode UsageBasedAdmissionFairSharing.
    fn usage_based_queue(&self, local: LocalQueueIndex) -> Option<QueueIndex> {
        let queue = self.find_queue(&self.local_queues[local].cluster_queue)?;
        self.cache.state.queues[queue].spec.usage_based_admission.then_some(queue)
    }

    /// Returns the resources that admitted Workloads of the LocalQueue use.
    fn admitted_usage(&self, local: LocalQueueIndex) -> ResourceNanos {
        let mut sum = ResourceNanos::default();
        let own = &self.local_queues[local];
        let Some(queue) = self.find_queue(&own.cluster_queue) else { return sum };
        let is_own = |w: &Workload| w.is_admitted() && w.queue == own.name && w.namespace == own.namespace;
        for info in self.cache.state.queues[queue].workloads.values().filter(|info| is_own(&info.workload)) {
            info.usage().iter().for_each(|(fr, amount)| sum.add_amount(&fr.resource, *amount));
        }
        sum
    }

    /// Takes the samples of the LocalQueues up to the present. The admitted Workloads must not change before.
    pub fn sample_usage(&mut self, now: SimTime) {
        let Some(mut local_usage) = self.local_usage.take() else { return };
        for local in 0..self.local_queues.len() {
            let Some(queue) = self.usage_based_queue(local) else { continue };
            let is_running = self.local_queues[local].stop_policy == StopPolicy::None;
            if !is_running || !self.cache.state.queues[queue].is_active {
                continue;
            }
            if local_usage.ledger.sample_until(local, now, || self.admitted_usage(local)) {
                local_usage.changed.insert(queue);
            }
        }
        self.local_usage = Some(local_usage);
    }

    /// Returns the time of the next sample that may change the order of Workloads which the scheduler tries.
    pub fn next_sample(&self) -> Option<SimTime> {
        let local_usage = self.local_usage.as_ref()?;
        let locals = (0..self.local_queues.len()).filter(|local| {
            let is_running = self.local_queues[*local].stop_policy == StopPolicy::None;
            is_running && self.usage_based_queue(*local).is_some_and(|queue| self.is_tried(queue))
        });
        locals.filter_map(|local| local_usage.ledger.next_sample(local)).min()
    }

    /// Returns whether the scheduler tries Workloads of a ClusterQueue.
    fn is_tried(&self, queue: QueueIndex) -> bool {
        self.with_active.contains(&queue) && self.cache.state.queues[queue].is_active
    }

    /// Returns whether samples will change the order of two LocalQueues with Workloads in a ClusterQueue that the
    /// scheduler tries, if the admitted Workloads do not change.
    ///
    /// The past usage of both approaches the admitted one with the same half-life, so the difference between them
    /// changes its sign at most once: if it is now the opposite of the final one.
    pub fn samples_reorder(&self) -> bool {
        let Some(local_usage) = &self.local_usage else { return false };
        let tried = (0..self.pending.len()).filter(|queue| self.is_tried(*queue));
        tried.filter(|queue| self.cache.state.queues[*queue].spec.usage_based_admission).any(|queue| {
            let reserving = self.cache.state.queues[queue].workloads.values().map(|info| &info.workload);
            let workloads = reserving.chain(self.pending[queue].iter().map(|info| &info.workload));
            let locals: BTreeSet<LocalQueueIndex> =
                workloads.filter_map(|workload| find_local_queue(&self.local_index, workload)).collect();
            let now_and_finally = |local: &LocalQueueIndex| {
                let ledger = &local_usage.ledger;
                (ledger.usage(*local), ledger.final_usage(*local, &self.admitted_usage(*local)))
            };
            let usages: Vec<(f64, f64)> = locals.iter().map(now_and_finally).collect();
            let is_reordered = |(k, a): (usize, &(f64, f64))| {
                let mut others = usages[..k].iter();
                others.any(|b| a.1.total_cmp(&b.1).is_ne() && a.0.total_cmp(&b.0) != a.1.total_cmp(&b.1))
            };
            usages.iter().enumerate().any(is_reordered)
        })
    }

    /// Charges the LocalQueue for a reservation of the scheduler. A second pass charges nothing.
    pub(super) fn push_penalty(&mut self, info: &Info, now: SimTime) {
        let Some(local) = find_local_queue(&self.local_index, &info.workload) else { return };
        let queue = &self.cache.state.queues[info.queue];
        if info.workload.has_reservation() || !queue.spec.usage_based_admission {
            return;
        }
        let mut requests = Requests::default();
        info.requests.iter().for_each(|pod_set| requests.add(&pod_set.requests));
        if self.configuration.resources.ignore_undeclared {
            requests = requests.filtered(|resource| queue.group_of(resource).is_some());
        }
        if let Some(local_usage) = &mut self.local_usage {
            local_usage.ledger.push_penalty(local, info.key, &ResourceNanos::from(&requests), now);
            local_usage.changed.insert(info.queue);
        }
    }

    /// Removes the penalty of a Workload that will not be admitted.
    pub(super) fn drop_penalty(&mut self, key: WorkloadKey, workload: &Workload) {
        let Some(local) = find_local_queue(&self.local_index, workload) else { return };
        let queue = self.usage_based_queue(local);
        if let Some(local_usage) = &mut self.local_usage {
            local_usage.ledger.drop_penalty(local, key);
            local_usage.changed.extend(queue);
        }
    }

    /// Follows a change of a Workload after the cache: an admission settles the penalty; the end, or a deactivation
    /// without a reservation, removes it.
    pub(super) fn settle_penalty(&mut self, key: WorkloadKey, old: Option<&Workload>, new: &Workload, now: SimTime) {
        let Some(old) = old.filter(|_| self.local_usage.is_some()) else { return };
        let is_admitted = |w: &Workload| w.is_admitted() && !w.is_finished();
        let local = find_local_queue(&self.local_index, new);
        let queue = local.and_then(|local| self.usage_based_queue(local));
        if let (Some(local), Some(queue), true) = (local, queue, new.active && is_admitted(new) && !is_admitted(old)) {
            let admitted = self.admitted_usage(local);
            if let Some(local_usage) = &mut self.local_usage {
                local_usage.ledger.settle(local, key, &admitted, now);
                local_usage.changed.insert(queue);
            }
        }
        if old.queue != new.queue {
            self.drop_penalty(key, old);
        }
        let is_gone = |w: &Workload| !w.active && !w.has_reservation();
        if (is_gone(new) && !is_gone(old)) || (new.is_finished() && !old.is_finished()) {
            self.drop_penalty(key, new);
        }
    }

    /// Gives pending and reserving Workloads the present usage of their LocalQueues.
    pub(super) fn refresh_usages(&mut self) {
        let Some(local_usage) = &mut self.local_usage else { return };
        for queue in std::mem::take(&mut local_usage.changed) {
            let usage = |workload: &Workload| local_usage.usage(find_local_queue(&self.local_index, workload));
            self.pending[queue].update_usages(usage);
            for info in self.cache.state.queues[queue].workloads.values_mut() {
                let usage = Some(usage(&info.workload));
                if info.local_queue_usage != usage {
                    Arc::make_mut(info).local_queue_usage = usage;
                }
            }
        }
    }
}
