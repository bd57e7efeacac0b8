//! A head of a queue during a cycle.

use crate::flavors::assignment::NominatedFlavors;
use crate::flavors::{Assignment, AssignmentMode};
use crate::preemption::Target;
use crate::queue::{Head, RequeueReason};
use crate::requests::FlavorAmounts;
use crate::snapshot::{Snapshot, Usage};
use crate::workload::{Admission, Info};

/// What a cycle decides about a head.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Quota is reserved.
    Admit(Admission),
    /// Back to the queue.
    Requeue,
    /// Evicted, because a lost node cannot be replaced.
    Evict { message: String },
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub info: Info,
    pub is_preemptor: bool,
    /// `None` if the Workload was not nominated.
    pub assignment: Option<Assignment>,
    pub targets: Vec<Target>,
    pub outcome: Outcome,
    /// Message and reason of the condition QuotaReserved.
    pub message: String,
    pub reason: &'static str,
    pub requeue: RequeueReason,
    /// Whether the Workload was put aside because of another one in the cycle.
    pub is_skipped: bool,
}

impl Entry {
    pub fn new(head: Head) -> Entry {
        Entry {
            info: head.info,
            is_preemptor: head.is_preemptor,
            assignment: None,
            targets: Vec::new(),
            outcome: Outcome::Requeue,
            message: String::new(),
            reason: "",
            requeue: RequeueReason::Generic,
            is_skipped: false,
        }
    }

    /// Returns why a Workload fits into no flavor if no condition reports it: the API server refuses a condition
    /// without a reason, and Kueue finds none if each flavor that was tried fits, but another resource has no flavor.
    pub fn unreported(&self) -> Option<String> {
        let is_unreported = self.outcome == Outcome::Requeue && self.reason.is_empty() && !self.message.is_empty();
        let message = &self.message;
        is_unreported.then(|| format!("{message} (an Event of Kueue; the status of the Workload does not contain it)"))
    }

    pub fn mode(&self) -> AssignmentMode {
        self.assignment.as_ref().map_or(AssignmentMode::NoFit, Assignment::mode)
    }

    pub fn borrowing(&self) -> usize {
        self.assignment.as_ref().map_or(0, |a| a.borrowing)
    }

    /// Stores an assignment and its targets.
    pub fn record(&mut self, assignment: Assignment, targets: Vec<Target>) {
        self.message = assignment.message();
        self.info.last_assignment = Some(assignment.progress.clone());
        self.assignment = Some(assignment);
        self.targets = targets;
    }

    pub fn nominated_flavors(&self) -> NominatedFlavors {
        self.assignment.as_ref().map(Assignment::flavors_by_pod_set).unwrap_or_default()
    }

    /// Returns the usage that the assignment adds to what the Workload already uses.
    pub fn net_usage(&self, snapshot: &Snapshot, quota: FlavorAmounts) -> Usage {
        let current = self.info.workload.status.admission.as_ref();
        let assignment = self.assignment.as_ref();
        let topology = assignment.map(|a| a.topology_usage(snapshot, &self.info, current)).unwrap_or_default();
        let has_reservation = self.info.workload.has_reservation();
        Usage { quota: if has_reservation { FlavorAmounts::new() } else { quota }, topology }
    }

    /// Returns the net usage of the assignment.
    pub fn usage(&self, snapshot: &Snapshot) -> Usage {
        let quota = self.assignment.as_ref().map(|a| a.usage.quota.clone()).unwrap_or_default();
        self.net_usage(snapshot, quota)
    }
}
