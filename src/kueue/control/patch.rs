//! The changes of Workloads that a scheduling cycle requests.

use crate::cycle::Preemption;
use crate::workload::{Admission, Workload, WorkloadKey, reasons};
use sim_base::SimTime;

/// A change of a Workload's status that a cycle requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    pub key: WorkloadKey,
    pub kind: PatchKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PatchKind {
    Preempt {
        reason: &'static str,
        message: String,
        preemptor: WorkloadKey,
    },
    Admit {
        admission: Admission,
        is_admitted: bool,
    },
    /// QuotaReserved becomes false.
    Pending {
        reason: &'static str,
        message: String,
    },
    Evict {
        message: String,
    },
}

impl From<Preemption> for Patch {
    fn from(p: Preemption) -> Patch {
        Patch {
            key: p.target,
            kind: PatchKind::Preempt { reason: p.reason, message: p.message, preemptor: p.preemptor },
        }
    }
}

impl Patch {
    /// Returns the changed Workload, or `None` if nothing changes.
    pub fn apply(&self, workload: &Workload, now: SimTime) -> Option<Workload> {
        let mut new = workload.clone();
        match &self.kind {
            PatchKind::Preempt { reason, message, .. } => new.preempt(reason, message, now),
            PatchKind::Admit { admission, is_admitted } => {
                new.reserve_quota(admission.clone(), now);
                new.status.unhealthy_nodes.clear();
                if *is_admitted {
                    new.sync_admitted(now);
                }
            }
            PatchKind::Pending { reason, message } => drop(new.unset_reservation(reason, message, now)),
            PatchKind::Evict { message } => new.evict(reasons::NODE_FAILURES, message, now),
        }
        (new != *workload).then_some(new)
    }

    /// Returns whether the patch changes more than the condition of a pending Workload.
    pub fn changes_usage(&self, old: &Workload) -> bool {
        match &self.kind {
            PatchKind::Preempt { .. } | PatchKind::Evict { .. } => !old.is_evicted(),
            PatchKind::Admit { .. } => true,
            PatchKind::Pending { .. } => old.has_reservation(),
        }
    }
}
