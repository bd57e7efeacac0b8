//! The driver's ports in the performance tests, and Kueue's reconciler of Workloads.

use super::start::KUEUE_RECONCILES;
use super::world::{LoadClient, LoadEvent, LoadRequest, PendingRequest, WorkloadChange, World};
use sim_base::{Duration, SimTime};
use sim_kueue::control::{Patch, PatchKind};
use sim_kueue::driver::{CycleSummary, Driver, Ports, Sent, TimedPorts, Timer};
use sim_kueue::workload::WorkloadKey;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Workers (`groupKindConcurrency` of the test's manager).
const WORKERS: usize = 5;

#[derive(Default)]
pub struct WorkloadReconciler {
    queue: VecDeque<WorkloadKey>,
    queued: BTreeSet<WorkloadKey>,
    /// Workloads with a request in flight.
    busy: BTreeSet<WorkloadKey>,
}

impl Ports for World<'_> {
    fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    fn now(&self) -> SimTime {
        self.now
    }

    fn send(&mut self, patch: Patch) -> Sent {
        let workload = self.driver.manager.workload(patch.key);
        let client = match patch.kind {
            PatchKind::Admit { .. } => {
                let queue = workload.and_then(|workload| self.driver.manager.queue_of(workload));
                queue.into_iter().for_each(|queue| self.queue_changed(queue));
                LoadClient::Admission
            }
            PatchKind::Preempt { .. } => LoadClient::Scheduler,
            PatchKind::Pending { .. } | PatchKind::Evict { .. } => {
                if workload.is_none_or(|workload| patch.apply(workload, self.now).is_none()) {
                    self.record_events(&patch);
                    return Sent::Unneeded;
                }
                LoadClient::Scheduler
            }
        };
        let sent = self.workload_client.reserve(self.now);
        let (key, change) = (patch.key, WorkloadChange::Patch(patch));
        self.send_request(sent, PendingRequest { client, key, change, decided: self.now });
        Sent::Pending
    }
}

impl TimedPorts for World<'_> {
    fn wake_after(&mut self, delay: Duration, timer: Timer) {
        let at = self.after(delay);
        self.schedule(at, LoadEvent::Due(timer));
    }

    fn delays_cycle(&self) -> bool {
        false
    }

    fn cycle_ended(&mut self, _summary: CycleSummary) {}
}

impl World<'_> {
    /// Records the Events after the response to a change by the scheduler: of an admission (`admit` in
    /// `pkg/scheduler/scheduler.go`), of a preemption (`IssuePreemptions` in `pkg/scheduler/preemption/preemption.go`
    /// and `Evict` in `pkg/workload/evict/evict.go`), and of a Workload that is not admitted (`requeueAndUpdate`).
    pub fn record_events(&mut self, patch: &Patch) {
        let own = patch.key;
        let events = match &patch.kind {
            PatchKind::Admit { .. } => vec![(own, "QuotaReserved"), (own, "Admitted")],
            PatchKind::Preempt { preemptor, .. } => {
                vec![(own, "EvictedDueToPreempted"), (own, "Preempted"), (*preemptor, "PreemptedWorkload")]
            }
            PatchKind::Pending { reason, .. } => vec![(own, *reason)],
            PatchKind::Evict { .. } => Vec::new(),
        };
        for (key, reason) in events {
            let version = self.driver.manager.workload(key);
            let sent = version.and_then(|version| self.event_recorder.record(key, version, reason, self.now));
            if let Some(sent) = sent {
                self.ask(sent, LoadRequest::Event);
            }
        }
    }
}

impl World<'_> {
    pub fn reconcile_workload(&mut self, key: WorkloadKey) {
        if self.workloads.queued.insert(key) && !self.workloads.busy.contains(&key) {
            self.workloads.queue.push_back(key);
        }
        self.run_workers();
    }

    pub fn run_workers(&mut self) {
        if self.now < KUEUE_RECONCILES {
            return;
        }
        while self.workloads.busy.len() < WORKERS {
            let Some(key) = self.workloads.queue.pop_front() else { return };
            self.workloads.queued.remove(&key);
            let Some(current) = self.driver.manager.workload(key).cloned() else { continue };
            if current.is_finished() {
                continue;
            }
            let view = self.driver.manager.view(key, &current);
            let result =
                sim_kueue::control::reconcile_workload(&current, &view, &self.driver.manager.configuration, self.now);
            let Some(new) = result.workload.filter(|new| *new != *current) else { continue };
            self.workloads.busy.insert(key);
            let sent = self.workload_client.reserve(self.now);
            let change = WorkloadChange::Update { new: Arc::new(new), based_on: current };
            let client = LoadClient::WorkloadReconciler;
            self.send_request(sent, PendingRequest { client, key, change, decided: self.now });
        }
    }

    pub fn reconciler_answered(&mut self, key: WorkloadKey, is_stored: bool) {
        self.workloads.busy.remove(&key);
        if self.workloads.queued.contains(&key) {
            self.workloads.queue.push_back(key);
        } else if !is_stored {
            self.reconcile_workload(key);
        }
        self.run_workers();
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/kueue_load/events.rs"]
mod tests;
