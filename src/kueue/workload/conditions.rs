//! Conditions of a Workload, and the changes that several components make to them.

use super::Workload;
use super::reasons;
use super::status::{Admission, WorkloadStatus};
use sim_base::SimTime;

/// Longest message of a condition, in characters.
const MESSAGE_MAX: usize = 32 * 1024;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionType {
    QuotaReserved,
    Admitted,
    Evicted,
    Preempted,
    Requeued,
    PodsReady,
    DeactivationTarget,
    Finished,
}

impl ConditionType {
    pub fn as_str(self) -> &'static str {
        match self {
            ConditionType::QuotaReserved => "QuotaReserved",
            ConditionType::Admitted => "Admitted",
            ConditionType::Evicted => "Evicted",
            ConditionType::Preempted => "Preempted",
            ConditionType::Requeued => "Requeued",
            ConditionType::PodsReady => "PodsReady",
            ConditionType::DeactivationTarget => "DeactivationTarget",
            ConditionType::Finished => "Finished",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub kind: ConditionType,
    pub status: bool,
    pub reason: String,
    pub message: String,
    /// Time of the last change of the status.
    pub since: SimTime,
}

impl WorkloadStatus {
    /// Sets a condition. Returns whether anything but the time changed. The time is kept if the status is the same.
    pub fn set(&mut self, kind: ConditionType, status: bool, reason: &str, message: &str, now: SimTime) -> bool {
        let message: String = message.chars().take(MESSAGE_MAX).collect();
        match self.conditions.iter_mut().find(|c| c.kind == kind) {
            None => {
                self.conditions.push(Condition { kind, status, reason: reason.to_owned(), message, since: now });
                true
            }
            Some(old) => {
                let changed = old.status != status || old.reason != reason || old.message != message;
                if old.status != status {
                    old.since = now;
                }
                old.status = status;
                reason.clone_into(&mut old.reason);
                old.message = message;
                changed
            }
        }
    }

    pub fn remove(&mut self, kind: ConditionType) {
        self.conditions.retain(|c| c.kind != kind);
    }
}

impl Workload {
    /// Reserves quota. The conditions Evicted and Preempted become false and keep their messages as previous ones.
    pub fn reserve_quota(&mut self, admission: Admission, now: SimTime) {
        let message = format!("Quota reserved in ClusterQueue {}", admission.cluster_queue);
        self.status.admission = Some(admission);
        self.status.set(ConditionType::QuotaReserved, true, reasons::QUOTA_RESERVED, &message, now);
        for kind in [ConditionType::Evicted, ConditionType::Preempted] {
            if let Some(old) = self.condition(kind).filter(|c| c.status) {
                let message = format!("Previously: {}", old.message);
                self.status.set(kind, false, reasons::QUOTA_RESERVED, &message, now);
            }
        }
    }

    /// Sets QuotaReserved to false, removes the admission and updates Admitted. Returns whether anything changed.
    pub fn unset_reservation(&mut self, reason: &str, message: &str, now: SimTime) -> bool {
        let mut changed = self.status.set(ConditionType::QuotaReserved, false, reason, message, now);
        changed |= self.status.admission.take().is_some();
        changed | self.sync_admitted(now)
    }

    /// Updates the condition Admitted from the reservation and the admission checks. Returns whether it changed.
    pub fn sync_admitted(&mut self, now: SimTime) -> bool {
        let admitted = self.condition(ConditionType::Admitted);
        if admitted.is_none() && self.condition(ConditionType::QuotaReserved).is_none() {
            return false;
        }
        let (status, reason, message) = if !self.has_reservation() {
            (false, "NoReservation", "The workload has no reservation")
        } else if !self.status.checks.iter().all(|check| check.status == super::CheckStatus::Ready) {
            (false, "UnsatisfiedAdmissionChecks", "The workload has not all checks ready")
        } else {
            (true, "Admitted", "The workload is admitted")
        };
        if let Some(since) = admitted.filter(|c| c.status && !status).map(|c| c.since) {
            *self.status.past_execution_s.get_or_insert(0) += now.since(since).0 / 1_000_000_000;
        }
        self.status.set(ConditionType::Admitted, status, reason, message, now)
    }

    /// Evicts the Workload: sets Evicted, resets the admission checks and forgets lost nodes.
    pub fn evict(&mut self, reason: &str, message: &str, now: SimTime) {
        self.status.set(ConditionType::Evicted, true, reason, message, now);
        for check in &mut self.status.checks {
            check.reset();
        }
        self.status.unhealthy_nodes.clear();
    }

    /// Evicts the Workload to make room for another one.
    pub fn preempt(&mut self, reason: &str, message: &str, now: SimTime) {
        self.status.set(ConditionType::Preempted, true, reason, message, now);
        self.evict(reasons::PREEMPTED, message, now);
    }
}
