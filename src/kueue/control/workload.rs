//! The reconciler of Workloads (`pkg/controller/core/workload_controller.go`).

use super::checks;
use crate::workload::conditions::whole_seconds;
use crate::workload::{CheckStatus, ConditionType, Workload, reasons};
use sim_api::spec::kueue::{ClusterQueue, KueueConfiguration, StopPolicy, WaitForPodsReady};
use sim_base::{Duration, SimTime};

/// Reasons that the scheduler sets. They remain until its next attempt.
const SCHEDULER_REASONS: [&str; 7] = [
    reasons::WAITING_FOR_QUOTA,
    reasons::NO_MATCHING_FLAVOR,
    reasons::EXCEEDS_MAX_QUOTA,
    reasons::TOPOLOGY_PLACEMENT_FAILED,
    reasons::WAITING_FOR_PREEMPTED,
    reasons::WAITING_FOR_PODS_READY,
    reasons::PENDING_EVALUATION,
];

/// The queues of a Workload.
pub struct QueueView<'a> {
    /// Stop policy of the LocalQueue; `None` if there is no such LocalQueue.
    pub local: Option<StopPolicy>,
    /// Name of the ClusterQueue of the LocalQueue.
    pub cluster_queue: &'a str,
    /// The ClusterQueue and whether it is active; `None` if it does not exist.
    pub queue: Option<(&'a ClusterQueue, bool)>,
    /// Why the Workload may not use the ClusterQueue at all.
    pub inadmissible: Option<String>,
    /// Reason for which the Workload was put aside without an attempt.
    pub bypass_reason: Option<&'static str>,
}

/// Result of one pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciled {
    /// New state of the Workload. The caller then repeats the pass.
    pub workload: Option<Workload>,
    /// Time after which the Workload must be looked at again, and the reason.
    pub after: Option<(Duration, WorkloadTimer)>,
}

/// What a Workload waits for until it is looked at again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WorkloadTimer {
    /// The end of the back-off after an eviction.
    Requeue,
    /// The time limit until its pods are ready.
    PodsReady,
    /// Its maximum execution time.
    Execution,
}

/// Runs one pass.
pub fn reconcile_workload(
    workload: &Workload, view: &QueueView, configuration: &KueueConfiguration, now: SimTime,
) -> Reconciled {
    if workload.is_finished() {
        return Reconciled::default();
    }
    let pass = Pass { workload, view, now };
    let first = if workload.active { pass.active() } else { pass.inactive() };
    if let Some(result) = first.or_else(|| pass.restarted_queues()).or_else(|| pass.unadmitted()) {
        return result;
    }
    if !workload.has_reservation() {
        return Reconciled::default();
    }
    let stopped = pass.failed_checks().or_else(|| pass.stopped_queues());
    stopped.unwrap_or_else(|| pass.deadlines(configuration.wait_for_pods_ready.as_ref()))
}

struct Pass<'a> {
    workload: &'a Workload,
    view: &'a QueueView<'a>,
    now: SimTime,
}

impl Pass<'_> {
    /// Returns the result if `change` changes the Workload.
    fn change(&self, change: impl FnOnce(&mut Workload) -> bool) -> Option<Reconciled> {
        let mut new = self.workload.clone();
        change(&mut new).then_some(Reconciled { workload: Some(new), after: None })
    }

    fn requeued(&self, reason: &str, message: &str) -> Option<Reconciled> {
        self.change(|w| w.status.set(ConditionType::Requeued, true, reason, message, self.now))
    }

    /// Returns the reason for which the Workload is not requeued.
    fn held_reason(&self) -> Option<&str> {
        let requeued = self.workload.condition(ConditionType::Requeued);
        requeued.filter(|c| !c.status).map(|c| &*c.reason)
    }

    fn active(&self) -> Option<Reconciled> {
        if self.workload.is_true(ConditionType::DeactivationTarget) {
            return self.change(|w| {
                w.active = false;
                true
            });
        }
        let requeue_at = self.workload.status.requeue.and_then(|requeue| requeue.at);
        if let Some(at) = requeue_at {
            if at > self.now {
                return Some(Reconciled { workload: None, after: Some((at.since(self.now), WorkloadTimer::Requeue)) });
            }
            if !self.workload.has_reservation() {
                return self.change(|w| {
                    w.status.requeue.iter_mut().for_each(|requeue| requeue.at = None);
                    true
                });
            }
        }
        match self.held_reason()? {
            reasons::DEACTIVATED => self.requeued(reasons::REACTIVATED, "The workload was reactivated"),
            reasons::PODS_READY_TIMEOUT | reasons::ADMISSION_CHECK => {
                self.requeued(reasons::BACKOFF_FINISHED, "The workload backoff was finished")
            }
            _ => None,
        }
    }

    fn inactive(&self) -> Option<Reconciled> {
        let target = self.workload.condition(ConditionType::DeactivationTarget).cloned();
        if self.workload.is_evicted() {
            let has_state = self.workload.status.requeue.is_some();
            return self.change(|w| {
                w.status.remove(ConditionType::DeactivationTarget);
                w.status.requeue = None;
                has_state
            });
        }
        let (mut reason, mut message) = (reasons::DEACTIVATED.to_owned(), reasons::DEACTIVATED_MESSAGE.to_owned());
        if let Some(target) = &target {
            reason = format!("{reason}DueTo{}", target.reason);
            message = format!("{message} due to {}", target.message);
        }
        self.change(|w| {
            w.status.remove(ConditionType::DeactivationTarget);
            w.status.requeue = None;
            w.evict(&reason, &message, self.now);
            true
        })
    }

    /// Handles queues that were started again, admission gates and missing admission checks.
    fn restarted_queues(&self) -> Option<Reconciled> {
        if self.view.local == Some(StopPolicy::None) && self.held_reason() == Some(reasons::LOCAL_QUEUE_STOPPED) {
            let message = "The LocalQueue was restarted after being stopped";
            return self.requeued(reasons::LOCAL_QUEUE_RESTARTED, message);
        }
        let reserved = self.workload.condition(ConditionType::QuotaReserved);
        let is_marked = reserved.is_some_and(|c| c.reason == reasons::ADMISSION_GATED);
        let gates = &self.workload.admission_gates;
        if !gates.is_empty() && !is_marked {
            let message = format!("Admission is gated by: {gates}");
            return self.change(|w| w.unset_reservation(reasons::ADMISSION_GATED, &message, self.now));
        }
        if gates.is_empty() && is_marked {
            let message = "AdmissionGatedBy cleared, waiting for quota reservation";
            return self.change(|w| w.unset_reservation(reasons::PENDING_EVALUATION, message, self.now));
        }
        let (queue, _) = self.view.queue?;
        if queue.stop_policy == StopPolicy::None && self.held_reason() == Some(reasons::CLUSTER_QUEUE_STOPPED) {
            let message = "The ClusterQueue was restarted after being stopped";
            return self.requeued(reasons::CLUSTER_QUEUE_RESTARTED, message);
        }
        self.change(|w| checks::sync(w, queue))
    }

    /// Updates QuotaReserved and Admitted of a Workload that is not admitted.
    fn unadmitted(&self) -> Option<Reconciled> {
        if self.workload.is_admitted() {
            return None;
        }
        self.change(|w| {
            let mut changed = false;
            if !w.has_reservation()
                && let Some((reason, message)) = self.quota_reserved_reason()
            {
                changed = w.status.set(ConditionType::QuotaReserved, false, &reason, &message, self.now);
            }
            w.sync_admitted(self.now) | changed
        })
    }

    /// Returns reason and message of the condition QuotaReserved, or `None` if the condition is not set.
    fn quota_reserved_reason(&self) -> Option<(String, String)> {
        let pair = |reason: &str, message: &str| Some((reason.to_owned(), message.to_owned()));
        let present = self.workload.condition(ConditionType::QuotaReserved);
        if !self.workload.active {
            return pair(reasons::DEACTIVATED, reasons::DEACTIVATED_MESSAGE);
        }
        if let Some((reason, message)) = self.blocked_queue() {
            return pair(reason, &message);
        }
        if let Some(message) = &self.view.inadmissible {
            return pair(reasons::MISCONFIGURED, message);
        }
        if !self.workload.admission_gates.is_empty() {
            let message = format!("Admission is gated by: {}", self.workload.admission_gates);
            return pair(reasons::ADMISSION_GATED, &message);
        }
        let present = present?;
        let is_stale = [reasons::DEACTIVATED, reasons::PENDING_EVALUATION, reasons::SUSPENDED];
        if let Some(reason) = self.view.bypass_reason.filter(|_| is_stale.contains(&&*present.reason)) {
            return pair(reason, "Bypassed scheduling evaluation because an equivalent workload recently failed");
        }
        if SCHEDULER_REASONS.contains(&&*present.reason) {
            return pair(&present.reason, &present.message);
        }
        pair(reasons::PENDING_EVALUATION, "Workload is pending evaluation in the scheduling queue")
    }

    fn blocked_queue(&self) -> Option<(&'static str, String)> {
        let local = &self.workload.queue;
        match (self.view.local, self.view.queue) {
            (None, _) => Some((reasons::MISCONFIGURED, format!("LocalQueue {local} doesn't exist"))),
            (Some(StopPolicy::Hold | StopPolicy::HoldAndDrain), _) => {
                Some((reasons::SUSPENDED, format!("LocalQueue {local} is inactive")))
            }
            (_, None) => {
                let message = format!("ClusterQueue {} doesn't exist", self.view.cluster_queue);
                Some((reasons::MISCONFIGURED, message))
            }
            (_, Some((queue, false))) => Some((reasons::SUSPENDED, format!("ClusterQueue {} is inactive", queue.name))),
            (_, Some((_, true))) => None,
        }
    }

    fn failed_checks(&self) -> Option<Reconciled> {
        let checks = &self.workload.status.checks;
        let has = |status: CheckStatus| checks.iter().any(|check| check.status == status);
        if self.workload.is_evicted() {
            return None;
        }
        if has(CheckStatus::Rejected) {
            let message = checks::message(checks, CheckStatus::Rejected);
            let reason = reasons::ADMISSION_CHECK;
            return self.change(|w| w.status.set(ConditionType::DeactivationTarget, true, reason, &message, self.now));
        }
        let message = format!("Evicted due to {}", checks::message(checks, CheckStatus::Retry));
        has(CheckStatus::Retry).then(|| self.evict(reasons::ADMISSION_CHECK, &message))
    }

    fn evict(&self, reason: &str, message: &str) -> Reconciled {
        let mut new = self.workload.clone();
        new.evict(reason, message, self.now);
        Reconciled { workload: Some(new), after: None }
    }

    /// Evicts the Workload if a queue is drained, and removes a reservation that is not admitted if a queue is stopped.
    fn stopped_queues(&self) -> Option<Reconciled> {
        let local = ("LocalQueue", &*self.workload.queue, self.view.local, reasons::LOCAL_QUEUE_STOPPED);
        let policy = self.view.queue.map(|(queue, _)| queue.stop_policy);
        let cluster = ("ClusterQueue", self.view.cluster_queue, policy, reasons::CLUSTER_QUEUE_STOPPED);
        for (kind, name, policy, reason) in [local, cluster] {
            if self.workload.is_admitted() {
                if policy == Some(StopPolicy::HoldAndDrain) && !self.workload.is_evicted() {
                    return Some(self.evict(reason, &format!("The {kind} is stopped")));
                }
                continue;
            }
            let (reason, message) = match policy {
                None => (reasons::MISCONFIGURED, format!("{kind} {name} is terminating or missing")),
                Some(StopPolicy::Hold | StopPolicy::HoldAndDrain) => {
                    (reasons::SUSPENDED, format!("{kind} {name} is stopped"))
                }
                Some(StopPolicy::None) => continue,
            };
            return self.change(|w| w.unset_reservation(reason, &message, self.now));
        }
        None
    }

    /// Evicts a Workload that is not ready in time, and deactivates one that has run for too long.
    fn deadlines(&self, readiness: Option<&WaitForPodsReady>) -> Reconciled {
        let ready = readiness.and_then(|config| Some((config, self.time_to_ready(config)?)));
        if let Some((config, left)) = ready
            && left == Duration::ZERO
        {
            return self.missed_readiness(config);
        }
        let execution = self.time_to_run();
        if execution == Some(Duration::ZERO) {
            let (reason, message) = (reasons::MAX_EXECUTION_TIME_EXCEEDED, "exceeding the maximum execution time");
            let deactivated = self.change(|w| {
                w.status.past_execution_s = None;
                w.status.set(ConditionType::DeactivationTarget, true, reason, message, self.now)
            });
            return deactivated.unwrap_or_default();
        }
        let ready = ready.map(|(_, left)| (left, WorkloadTimer::PodsReady));
        let execution = execution.map(|left| (left, WorkloadTimer::Execution));
        let after = [ready, execution].into_iter().flatten().min_by_key(|(left, _)| *left);
        Reconciled { workload: None, after }
    }

    /// Returns the time left until the Workload must be ready, or `None` if there is no limit.
    fn time_to_ready(&self, config: &WaitForPodsReady) -> Option<Duration> {
        if !self.workload.active || self.workload.is_evicted() || !self.workload.is_admitted() {
            return None;
        }
        let ready = self.workload.condition(ConditionType::PodsReady);
        if ready.is_some_and(|c| c.status) {
            return None;
        }
        let (since, limit) = match ready {
            Some(c) if c.reason == reasons::WAIT_FOR_RECOVERY => (c.since, config.recovery_timeout?),
            _ => (self.workload.condition(ConditionType::Admitted)?.since, config.timeout),
        };
        Some(Duration(limit.0.saturating_sub(self.now.since(since).0)))
    }

    fn missed_readiness(&self, config: &WaitForPodsReady) -> Reconciled {
        let count = self.workload.status.requeue.and_then(|requeue| requeue.count).unwrap_or(0);
        if config.requeuing.backoff_limit_count.is_some_and(|limit| count + 1 > limit) {
            let (reason, message) =
                (reasons::REQUEUING_LIMIT_EXCEEDED, "exceeding the maximum number of re-queuing retries");
            let kind = ConditionType::DeactivationTarget;
            return self.change(|w| w.status.set(kind, true, reason, message, self.now)).unwrap_or_default();
        }
        let doubled = config.requeuing.backoff_base.saturating_mul(1u64.checked_shl(count).unwrap_or(u64::MAX));
        let backoff = doubled.min(config.requeuing.backoff_max);
        let mut new = self.workload.clone();
        let requeue = new.status.requeue.get_or_insert_default();
        requeue.count = Some(count + 1);
        let at = whole_seconds(self.now + backoff);
        requeue.at = Some(requeue.at.map_or(at, |old| old.max(at)));
        let message = format!("Exceeded the PodsReady timeout {}/{}", self.workload.namespace, self.workload.name);
        new.evict(reasons::PODS_READY_TIMEOUT, &message, self.now);
        Reconciled { workload: Some(new), after: None }
    }

    /// Returns the time for which the Workload may still run, or `None` if there is no limit.
    fn time_to_run(&self) -> Option<Duration> {
        let admitted = self.workload.condition(ConditionType::Admitted).filter(|c| c.status)?;
        let limit = Duration::from_secs(self.workload.max_execution_s?);
        let past = Duration::from_secs(self.workload.status.past_execution_s.unwrap_or(0));
        let used = past + self.now.since(admitted.since);
        Some(Duration(limit.0.saturating_sub(used.0)))
    }
}
