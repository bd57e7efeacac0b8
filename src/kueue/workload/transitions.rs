//! Changes of the status that several components make.

use super::conditions::ConditionType;
use super::object::Workload;
use super::reasons;
use super::status::{Admission, CheckStatus};
use sim_base::SimTime;

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
        } else if !self.status.checks.iter().all(|check| check.status == CheckStatus::Ready) {
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

    /// Ends a Workload whose JobSet cannot be started (`FailedToStartFinishedReason`).
    pub fn finish_failed_to_start(&mut self, message: &str, now: SimTime) {
        self.status.set(ConditionType::Finished, true, reasons::FAILED_TO_START, message, now);
    }

    /// Ends a prebuilt Workload that differs from its JobSet (`ensurePrebuiltWorkloadInSync`).
    pub fn finish_out_of_sync(&mut self, now: SimTime) {
        let message = "The prebuilt workload is out of sync with its user job";
        self.status.set(ConditionType::Finished, true, reasons::OUT_OF_SYNC, message, now);
    }

    /// Evicts the Workload to make room for another one.
    pub fn preempt(&mut self, reason: &str, message: &str, now: SimTime) {
        self.status.set(ConditionType::Preempted, true, reason, message, now);
        self.evict(reasons::PREEMPTED, message, now);
    }
}
