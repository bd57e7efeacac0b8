//! Kueue's reconciler of Workloads, and its scheduler: cycles over the heads of the queues, with the requests for which
//! they wait.
//!
//! The entries are processed one after the other: admissions are sent without waiting; preemptions are sent eight at a
//! time, and the cycle waits for them. Then the other entries return to their queues, each followed by a request with
//! its reason, for which the cycle waits as well.

use super::start::KUEUE_RECONCILES;
use super::world::{LoadClient, LoadEvent, LoadRequest, PendingRequest, WorkloadChange, World};
use sim_base::Duration;
use sim_kueue::control::{Patch, PatchKind};
use sim_kueue::cycle::{CycleResult, Entry, Outcome, next_pause};
use sim_kueue::workload::WorkloadKey;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Preemptions that an entry sends at the same time (`pkg/scheduler/preemption/preemption.go`).
const PARALLEL_PREEMPTIONS: usize = 8;

/// Workers (`groupKindConcurrency` of the test's manager).
const WORKERS: usize = 5;

#[derive(Default)]
pub struct WorkloadReconciler {
    queue: VecDeque<WorkloadKey>,
    queued: BTreeSet<WorkloadKey>,
    /// Workloads with a request in flight.
    busy: BTreeSet<WorkloadKey>,
}

enum CycleStep {
    Preempt(VecDeque<Patch>),
    Conclude(Box<Entry>),
}

#[derive(Default)]
pub struct SchedulerLoop {
    is_busy: bool,
    pause: Duration,
    has_admitted: bool,
    steps: VecDeque<CycleStep>,
    /// Requests for which the cycle waits.
    unanswered: usize,
    pub cycles: u64,
}

impl World<'_> {
    /// Schedules a cycle if the scheduler is idle and a queue has a head.
    pub fn schedule_cycle(&mut self) {
        if !self.scheduler.is_busy && self.manager.has_heads() {
            self.scheduler.is_busy = true;
            let at = self.after(Duration::ZERO);
            self.schedule(at, LoadEvent::CycleBegins);
        }
    }

    pub fn begin_cycle(&mut self) {
        if !self.manager.has_heads() {
            self.scheduler.is_busy = false;
            return;
        }
        let result = self.manager.decide(self.now);
        let heads = result.entries.len() as u64;
        self.scheduler.cycles += 1;
        self.scheduler.has_admitted = false;
        self.scheduler.steps = steps(result);
        let busy = self.test.manager.cycle_per_head.saturating_mul(heads);
        let at = self.after(busy);
        self.schedule(at, LoadEvent::CycleContinues);
    }

    /// Performs the steps of a cycle up to the next request for which it waits.
    pub fn continue_cycle(&mut self) {
        while self.scheduler.unanswered == 0 {
            match self.scheduler.steps.pop_front() {
                Some(CycleStep::Preempt(patches)) => self.send_preemptions(patches),
                Some(CycleStep::Conclude(entry)) => self.conclude(*entry),
                None => return self.end_cycle(),
            }
        }
    }

    fn end_cycle(&mut self) {
        let pause = next_pause(self.scheduler.pause, self.scheduler.has_admitted);
        self.scheduler.pause = pause;
        let at = self.after(pause);
        self.schedule(at, LoadEvent::CycleBegins);
    }

    fn send_preemptions(&mut self, mut patches: VecDeque<Patch>) {
        while self.scheduler.unanswered < PARALLEL_PREEMPTIONS {
            let Some(patch) = patches.pop_front() else { return };
            if self.preempted.insert(patch.key) || !self.test.manager.behavior.expects_preemptions {
                self.send_patch(LoadClient::Scheduler, patch);
            }
        }
        self.scheduler.steps.push_front(CycleStep::Preempt(patches));
    }

    fn conclude(&mut self, entry: Entry) {
        let queue = entry.info.queue;
        let Some(patch) = self.manager.conclude(entry, self.now) else { return };
        if let PatchKind::Admit { .. } = patch.kind {
            self.assumed.insert(patch.key);
            self.scheduler.has_admitted = true;
            self.queue_changed(queue);
            return self.send_patch(LoadClient::Admission, patch);
        }
        let newest = self.manager.workload(patch.key);
        if newest.is_some_and(|newest| patch.apply(newest, self.now).is_some()) {
            self.send_patch(LoadClient::Scheduler, patch);
        } else {
            self.record_events(&patch);
        }
    }

    fn send_patch(&mut self, client: LoadClient, patch: Patch) {
        self.scheduler.unanswered += usize::from(client == LoadClient::Scheduler);
        let sent = self.workload_client.take(self.now);
        let (key, change) = (patch.key, WorkloadChange::Patch(patch));
        self.send(sent, PendingRequest { client, key, change, decided: self.now });
    }

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
            let version = self.manager.workload(key);
            let sent = version.and_then(|version| self.event_recorder.record(key, version, reason, self.now));
            if let Some(sent) = sent {
                self.ask(sent, LoadRequest::Event);
            }
        }
    }

    pub fn scheduler_answered(&mut self) {
        self.scheduler.unanswered -= 1;
        // Parallel requests are replaced one by one.
        if let Some(CycleStep::Preempt(_)) = self.scheduler.steps.front()
            && let Some(CycleStep::Preempt(patches)) = self.scheduler.steps.pop_front()
        {
            self.send_preemptions(patches);
        }
        self.continue_cycle();
    }
}

/// Returns the steps in order: preemptions and admissions as the entries are processed, then the others.
fn steps(result: CycleResult) -> VecDeque<CycleStep> {
    let (mut first, mut last) = (VecDeque::new(), VecDeque::new());
    let mut preemptions = result.preemptions.into_iter().peekable();
    for entry in result.entries {
        let mut own = VecDeque::new();
        while let Some(preemption) = preemptions.next_if(|p| p.preemptor == entry.info.key) {
            own.push_back(Patch::from(preemption));
        }
        if !own.is_empty() {
            first.push_back(CycleStep::Preempt(own));
        }
        let list = if matches!(entry.outcome, Outcome::Admit(_)) { &mut first } else { &mut last };
        list.push_back(CycleStep::Conclude(Box::new(entry)));
    }
    first.extend(last);
    first
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

#[cfg(test)]
#[path = "../../../tests/inside/analysis/kueue_load/events.rs"]
mod tests;
