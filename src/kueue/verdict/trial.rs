//! Tries to admit a Workload.

use super::state::QueueState;
use crate::amount::Amount;
use crate::control::{JobView, Manager, Patch, PatchKind, reconcile_job, reconcile_workload};
use crate::cycle::{CycleProgress, Entry, Outcome};
use crate::driver::{self, CycleSummary, Driver, InstantPorts, Pace, Ports, RESTS_MAX, Rest, Sent};
use crate::flavors::AssignmentMode;
use crate::flavors::assignment::PodSetAssignment;
use crate::requests::{FlavorResource, Name};
use crate::workload::{ConditionType, Workload, WorkloadKey, reasons};
use sim_api::spec::kueue::StopPolicy;
use sim_base::{Duration, SimTime};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Reason of a trial that does not end.
const DID_NOT_SETTLE: &str = "DidNotSettle";
/// Maximum number of passes of the reconciler of Workloads; each changes one thing.
const PASSES_MAX: usize = 8;

/// The kind of restriction that keeps a Workload pending.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PendingCause {
    Quota,
    Flavor,
    Topology,
    /// The queue is stopped, missing or blocked by another Workload.
    Queue,
}

impl PendingCause {
    pub fn as_str(self) -> &'static str {
        match self {
            PendingCause::Quota => "quota",
            PendingCause::Flavor => "flavor",
            PendingCause::Topology => "topology",
            PendingCause::Queue => "queue",
        }
    }

    /// Returns the cause for a reason of the condition QuotaReserved.
    pub fn of_reason(reason: &str) -> PendingCause {
        match reason {
            reasons::WAITING_FOR_QUOTA | reasons::EXCEEDS_MAX_QUOTA | reasons::WAITING_FOR_PREEMPTED => {
                PendingCause::Quota
            }
            reasons::NO_MATCHING_FLAVOR => PendingCause::Flavor,
            reasons::TOPOLOGY_PLACEMENT_FAILED => PendingCause::Topology,
            _ => PendingCause::Queue,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    Admitted,
    /// Quota is reserved, but admission checks are not ready.
    ChecksPending,
    Pending(PendingCause),
}

/// A Workload that is preempted for the one that is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptedWorkload {
    pub key: WorkloadKey,
    pub reason: &'static str,
}

/// Quota of the cohort that a Workload uses beyond the nominal quota of its ClusterQueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BorrowedQuota {
    pub flavor: Name,
    pub resource: Name,
    pub amount: Amount,
}

/// What Kueue found in one flavor for one pod set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorAttempt {
    pub pod_set: String,
    pub flavor: Name,
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct AdmissionVerdict {
    pub kind: VerdictKind,
    /// Reason and message of the condition QuotaReserved.
    pub reason: String,
    pub message: String,
    /// The Workload after the trial.
    pub workload: Arc<Workload>,
    pub preempted: Vec<PreemptedWorkload>,
    pub borrowed: Vec<BorrowedQuota>,
    /// Flavors that were tried, if the Workload is pending.
    pub attempts: Vec<FlavorAttempt>,
    /// Other Workloads that the trial admitted first.
    pub admitted_first: Vec<WorkloadKey>,
    /// The head of its StrictFIFO ClusterQueue, if that is another Workload.
    pub behind: Option<WorkloadKey>,
    /// Pending Workloads of the same ClusterQueue that are ahead of this one.
    pub ahead: Vec<WorkloadKey>,
}

impl AdmissionVerdict {
    pub fn is_admitted(&self) -> bool {
        !matches!(self.kind, VerdictKind::Pending(_))
    }
}

/// Runs scheduling cycles until the Workload has quota or nothing changes. Preempted Workloads stop at once and return
/// to their queues. Returns `None` if there is no such Workload.
pub fn try_admission(state: &QueueState, key: WorkloadKey) -> Option<AdmissionVerdict> {
    Some(run_trial(state, key)?.0)
}

/// Tries to admit a Workload and stores the state of all queues after the trial.
pub fn submit(state: &mut QueueState, key: WorkloadKey) -> Option<AdmissionVerdict> {
    let (verdict, trial) = run_trial(state, key)?;
    trial.store(state);
    state.workloads[key] = Some(verdict.workload.clone());
    Some(verdict)
}

/// Runs scheduling cycles until nothing changes, and stores the state. Returns whether the queues settled.
pub fn settle(state: &mut QueueState) -> bool {
    let mut trial = AdmissionTrial::new(state, None);
    let settled = driver::settle(&mut trial);
    trial.store(state);
    settled
}

pub(super) fn run_trial(state: &QueueState, key: WorkloadKey) -> Option<(AdmissionVerdict, AdmissionTrial)> {
    let original = state.workload(key)?;
    let mut trial = AdmissionTrial::new(state, Some(key));
    let ahead = ahead(state, key, &trial.driver.manager);
    let settled = driver::settle(&mut trial);
    let workload = trial.final_state(key, original);
    let kind = match (workload.is_admitted(), workload.has_reservation()) {
        (true, _) => VerdictKind::Admitted,
        (false, true) => VerdictKind::ChecksPending,
        (false, false) => VerdictKind::Pending(PendingCause::Queue),
    };
    let alone = if kind == VerdictKind::Pending(PendingCause::Queue) { trial.alone(key) } else { None };
    let mut verdict = AdmissionVerdict {
        kind,
        reason: String::new(),
        message: String::new(),
        preempted: std::mem::take(&mut trial.preempted),
        borrowed: trial.borrowed(key, &workload),
        attempts: alone.as_ref().map(attempts).unwrap_or_default(),
        admitted_first: trial.admitted_first(key, state),
        behind: trial.driver.manager.waits_behind(key),
        ahead,
        workload,
    };
    verdict.explain(alone.as_ref());
    if let Some(head) = verdict.behind.filter(|_| verdict.is_only_behind(alone.as_ref())) {
        verdict.kind = VerdictKind::Pending(PendingCause::Queue);
        reasons::PENDING_EVALUATION.clone_into(&mut verdict.reason);
        verdict.message = behind_message(&state.describe(head));
    }
    if !settled && !verdict.is_admitted() {
        verdict.kind = VerdictKind::Pending(PendingCause::Queue);
        DID_NOT_SETTLE.clone_into(&mut verdict.reason);
        verdict.message =
            format!("the queues did not settle in {RESTS_MAX} rounds of preemptions and returns to the queue");
    }
    Some((verdict, trial))
}

/// Returns the message about a Workload that a StrictFIFO queue does not try because of its head.
pub fn behind_message(head: &str) -> String {
    format!("waits behind {head}, the head of a StrictFIFO ClusterQueue")
}

pub(super) struct AdmissionTrial {
    pub driver: Driver,
    pub now: SimTime,
    /// The trial ends when this Workload has quota.
    key: Option<WorkloadKey>,
    pub preempted: Vec<PreemptedWorkload>,
    /// Number of Workloads in the state.
    count: usize,
    /// Number of cycles without progress after which the queues only repeat themselves.
    patience: usize,
    progress: CycleProgress,
    /// Whether a cycle has changed the usage of quota.
    has_changed: bool,
}

impl Ports for AdmissionTrial {
    fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    fn now(&self) -> SimTime {
        self.now
    }

    fn send(&mut self, patch: Patch) -> Sent {
        if let PatchKind::Preempt { reason, preemptor, .. } = &patch.kind
            && Some(*preemptor) == self.key
            && !self.preempted.iter().any(|target| target.key == patch.key)
        {
            self.preempted.push(PreemptedWorkload { key: patch.key, reason });
        }
        self.driver.store(&patch, self.now)
    }
}

/// Cycles run until the Workload has quota, or until they only repeat themselves. They end in any case, because evicted
/// Workloads keep their quota until the rest: each Workload is admitted and evicted at most once.
impl InstantPorts for AdmissionTrial {
    fn advance(&mut self, delay: Duration) {
        self.now += delay;
    }

    fn cycles_begin(&mut self) {
        self.progress = CycleProgress::default();
    }

    fn cycle_ended(&mut self, summary: CycleSummary) -> ControlFlow<()> {
        if self.has_quota() {
            self.has_changed = true;
            return ControlFlow::Break(());
        }
        self.has_changed |= summary.changes_usage;
        self.progress.note(summary.changes_usage, self.driver.manager.active_len());
        if self.progress.idle_cycles() < self.patience { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn rested(&mut self) -> Rest {
        let manager = &self.driver.manager;
        if self.key.is_some_and(|key| manager.workload(key).is_none_or(|w| w.has_reservation())) {
            return Rest::Done;
        }
        if self.stop_evicted() { Rest::Changed } else { Rest::Unchanged }
    }
}

impl AdmissionTrial {
    pub fn new(state: &QueueState, key: Option<WorkloadKey>) -> AdmissionTrial {
        let pod_sets = state.workloads.iter().flatten().map(|w| w.pod_sets.len()).max().unwrap_or(0);
        AdmissionTrial {
            driver: Driver::new(state.manager(), Pace::AtOnce),
            now: state.now,
            key,
            preempted: Vec::new(),
            count: state.workloads.len(),
            patience: driver::attempts_per_workload(&state.objects, pod_sets),
            progress: CycleProgress::default(),
            has_changed: false,
        }
    }

    /// Stores the Workloads of the trial.
    fn store(&self, state: &mut QueueState) {
        for (key, workload) in state.workloads.iter_mut().enumerate() {
            *workload = self.driver.manager.workload(key).cloned();
        }
        state.now = state.now.max(self.now);
    }

    /// Returns whether the Workload has quota.
    pub fn has_quota(&self) -> bool {
        self.key.is_some_and(|key| self.driver.manager.workload(key).is_some_and(|w| w.has_reservation()))
    }

    /// Frees the quota of evicted Workloads.
    pub fn stop_evicted(&mut self) -> bool {
        let mut has_stopped = false;
        for key in 0..self.count {
            let Some(workload) = self.driver.manager.workload(key).filter(|w| w.is_evicted() && w.has_reservation())
            else {
                continue;
            };
            let view =
                JobView { is_suspended: true, reclaimable: workload.status.reclaimable.clone(), ..JobView::default() };
            if let Some(new) = reconcile_job(workload, &view, false, self.now).workload {
                self.driver.manager.workload_changed(key, Arc::new(new), self.now);
                has_stopped = true;
            }
        }
        has_stopped
    }

    /// Returns the Workload with the conditions that its reconciler sets.
    fn final_state(&self, key: WorkloadKey, original: &Arc<Workload>) -> Arc<Workload> {
        let mut workload = self.driver.manager.workload(key).unwrap_or(original).clone();
        for _ in 0..PASSES_MAX {
            let view = self.driver.manager.view(key, &workload);
            match reconcile_workload(&workload, &view, &self.driver.manager.configuration, self.now).workload {
                Some(new) if new != *workload && !new.is_evicted() => workload = Arc::new(new),
                _ => break,
            }
        }
        workload
    }

    /// Returns the attempt of the Workload without the others that wait.
    fn alone(&self, key: WorkloadKey) -> Option<Entry> {
        let queue = self.driver.manager.queue_of(self.driver.manager.workload(key)?)?;
        let is_active = self.driver.manager.cache.state.queues[queue].is_active;
        if is_active { self.driver.manager.nominate_alone(key, self.now) } else { None }
    }

    fn borrowed(&self, key: WorkloadKey, workload: &Workload) -> Vec<BorrowedQuota> {
        let state = &self.driver.manager.cache.state;
        let queue = self.driver.manager.queue_of(workload).filter(|_| workload.has_reservation());
        let Some(index) = queue.filter(|index| state.parent(*index).is_some()) else { return Vec::new() };
        let Some(info) = state.queues[index].workloads.get(&key) else { return Vec::new() };
        let node = state.node(index);
        let beyond = |(fr, amount): (FlavorResource, Amount)| {
            let amount = (node.usage(&fr) - node.quota(&fr).nominal).min(amount);
            (amount > Amount::ZERO).then_some(BorrowedQuota { flavor: fr.flavor, resource: fr.resource, amount })
        };
        info.usage().into_iter().filter_map(beyond).collect()
    }

    fn admitted_first(&self, own: WorkloadKey, state: &QueueState) -> Vec<WorkloadKey> {
        let is_new = |key: &WorkloadKey| {
            let had = state.workload(*key).is_some_and(|w| w.has_reservation());
            *key != own && !had && self.driver.manager.workload(*key).is_some_and(|w| w.has_reservation())
        };
        (0..state.workloads.len()).filter(is_new).collect()
    }
}

/// Tries a Workload in one queue after the other, as long as nothing else can change.
pub(super) struct QueueProbe<'a> {
    state: &'a QueueState,
    key: WorkloadKey,
    workload: Arc<Workload>,
    /// The queues without the Workload after their cycles; `None` if other Workloads are admitted or preempted in them.
    resting: Option<AdmissionTrial>,
}

impl<'a> QueueProbe<'a> {
    /// Returns `None` if there is no such Workload.
    pub fn new(state: &'a QueueState, key: WorkloadKey) -> Option<QueueProbe<'a>> {
        let workload = state.workload(key)?.clone();
        Some(QueueProbe { state, key, workload, resting: resting(state, key) })
    }

    /// Returns whether the Workload is certainly not admitted in a LocalQueue: it is not, and no other Workload changes
    /// while it is tried.
    pub fn rejects(&mut self, local_queue: &str) -> bool {
        let Some(trial) = &mut self.resting else { return false };
        let mut workload = (*self.workload).clone();
        local_queue.clone_into(&mut workload.queue);
        trial.driver.manager.workload_changed(self.key, Arc::new(workload), trial.now);
        driver::run_cycles(trial);
        trial.driver.manager.workload_deleted(self.key, trial.now);
        trial.driver.manager.take_wakes();
        if trial.has_changed || trial.driver.manager.active_len() > 0 {
            self.resting = resting(self.state, self.key);
            return false;
        }
        true
    }
}

/// Returns the queues without a Workload after their cycles, or `None` if these change anything.
fn resting(state: &QueueState, key: WorkloadKey) -> Option<AdmissionTrial> {
    let mut others = state.clone();
    others.workloads[key] = None;
    let is_evicted = |w: &Arc<Workload>| w.is_evicted() && w.has_reservation();
    let mut trial = AdmissionTrial::new(&others, Some(key));
    driver::run_cycles(&mut trial);
    let rests = !trial.has_changed && trial.driver.manager.active_len() == 0;
    (rests && !others.workloads.iter().flatten().any(is_evicted)).then_some(trial)
}

impl AdmissionVerdict {
    /// Sets the cause, with reason and message of Kueue. A Workload that was not tried because an equal one had failed
    /// gets the result of its own attempt.
    fn explain(&mut self, alone: Option<&Entry>) {
        let reserved = self.workload.condition(ConditionType::QuotaReserved);
        let is_evaluated = reserved.is_some_and(|reserved| reserved.reason != reasons::PENDING_EVALUATION);
        if let Some(message) = alone.and_then(Entry::unreported).filter(|_| !self.is_admitted() && !is_evaluated) {
            (self.kind, self.message) = (VerdictKind::Pending(PendingCause::Flavor), message);
            return;
        }
        let Some(reserved) = reserved else { return };
        (self.reason, self.message) = (reserved.reason.clone(), reserved.message.clone());
        if self.is_admitted() {
            return;
        }
        let is_blocked = [reasons::SUSPENDED, reasons::MISCONFIGURED, reasons::ADMISSION_GATED, reasons::DEACTIVATED];
        if let Some(entry) = alone.filter(|e| !e.reason.is_empty() && !is_blocked.contains(&&*self.reason)) {
            let was_tried = self.reason != reasons::PENDING_EVALUATION;
            if was_tried || self.ahead.is_empty() {
                (self.reason, self.message) = (entry.reason.to_owned(), entry.message.clone());
            }
        }
        let cause = match PendingCause::of_reason(&self.reason) {
            PendingCause::Quota if alone.is_some_and(lacks_only_topology) => PendingCause::Topology,
            cause => cause,
        };
        self.kind = VerdictKind::Pending(cause);
    }

    /// Returns whether only the head of the queue is in the way: the Workload was never tried, or it would be admitted
    /// alone.
    fn is_only_behind(&self, alone: Option<&Entry>) -> bool {
        let was_tried = self.workload.condition(ConditionType::QuotaReserved).is_some();
        let fits = alone.is_some_and(|entry| matches!(entry.outcome, Outcome::Admit(_)));
        !self.is_admitted() && (!was_tried || fits)
    }
}

/// Returns whether the quota suffices for all pod sets. If a preemption could free a topology domain, Kueue reports
/// the reason WaitingForQuota.
fn lacks_only_topology(entry: &Entry) -> bool {
    let pod_sets = entry.assignment.as_ref().map_or(&[][..], |assignment| &assignment.pod_sets);
    let has_quota = |set: &PodSetAssignment| {
        !set.flavors.is_empty() && set.attempts.values().any(|attempt| attempt.mode == AssignmentMode::Fit)
    };
    !pod_sets.is_empty() && pod_sets.iter().all(has_quota)
}

fn attempts(entry: &Entry) -> Vec<FlavorAttempt> {
    let pod_sets = entry.assignment.iter().flat_map(|assignment| &assignment.pod_sets);
    let of_pod_set = pod_sets.flat_map(|pod_set| {
        pod_set.attempts.iter().map(|(flavor, attempt)| FlavorAttempt {
            pod_set: pod_set.name.clone(),
            flavor: flavor.clone(),
            reasons: attempt.reasons.clone(),
        })
    });
    of_pod_set.filter(|attempt| !attempt.reasons.is_empty()).collect()
}

/// Returns the pending Workloads of the same ClusterQueue with less usage of their LocalQueues, or else a higher
/// priority, or else an earlier time.
fn ahead(state: &QueueState, key: WorkloadKey, manager: &Manager) -> Vec<WorkloadKey> {
    let Some(own) = state.workload(key) else { return Vec::new() };
    let queue = manager.queue_of(own);
    let is_stopped = |w: &Workload| manager.view(0, w).local != Some(StopPolicy::None);
    let timestamp = state.objects.configuration.wait_for_pods_ready.as_ref();
    let timestamp = timestamp.map(|config| config.requeuing.timestamp).unwrap_or_default();
    let usage = |w: &Workload| manager.local_queue_usage(manager.queue_of(w)?, w);
    let place = |key: WorkloadKey, w: &Workload| (-i64::from(w.priority), w.queue_time(timestamp), key);
    let precedes = |other: WorkloadKey, w: &Workload| {
        let by_usage = usage(w).unwrap_or(0.0).total_cmp(&usage(own).unwrap_or(0.0));
        by_usage.then_with(|| place(other, w).cmp(&place(key, own))).is_lt()
    };
    let is_ahead = |(other, workload): &(WorkloadKey, &Arc<Workload>)| {
        workload.is_admissible()
            && manager.queue_of(workload) == queue
            && !is_stopped(workload)
            && precedes(*other, workload)
    };
    let all = state.workloads.iter().enumerate().filter_map(|(key, w)| Some((key, w.as_ref()?)));
    all.filter(is_ahead).map(|(key, _)| key).collect()
}
