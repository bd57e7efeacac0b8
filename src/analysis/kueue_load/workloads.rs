//! Kueue's reconciler of Workloads with its five workers.

use super::world::{LoadClient, PendingRequest, WorkloadChange, World};
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

impl World<'_> {
    pub fn reconcile_workload(&mut self, key: WorkloadKey) {
        if self.workloads.queued.insert(key) && !self.workloads.busy.contains(&key) {
            self.workloads.queue.push_back(key);
        }
        self.run_workers();
    }

    fn run_workers(&mut self) {
        while self.workloads.busy.len() < WORKERS {
            let Some(key) = self.workloads.queue.pop_front() else { return };
            self.workloads.queued.remove(&key);
            let Some(current) = self.manager.workload(key).cloned() else { continue };
            if current.is_finished() {
                continue;
            }
            let view = self.manager.view(key, &current);
            let result = sim_kueue::control::reconcile_workload(&current, &view, &self.manager.configuration, self.now);
            let Some(new) = result.workload.filter(|new| *new != *current) else { continue };
            self.workloads.busy.insert(key);
            let sent = self.workload_client.take(self.now);
            let change = WorkloadChange::Update { new: Arc::new(new), based_on: current };
            let client = LoadClient::WorkloadReconciler;
            self.send(sent, PendingRequest { client, key, change, decided: self.now });
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
