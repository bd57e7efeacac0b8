//! The smallest changes that would admit a pending Workload.

use super::change::QueueChange;
use super::state::QueueState;
use super::trial::{AdmissionVerdict, PreemptedWorkload, try_admission};
use super::{free_nodes, pod_sets, quota, waiting};
use crate::workload::WorkloadKey;

/// Changes that admit the Workload together.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    pub changes: Vec<QueueChange>,
    /// Workloads that it then preempts.
    pub preempted: Vec<PreemptedWorkload>,
}

/// A state in which a Workload is pending.
pub(super) struct PendingCase<'a> {
    pub state: &'a QueueState,
    pub key: WorkloadKey,
}

impl PendingCase<'_> {
    /// Returns the state with changes.
    pub fn with(&self, changes: &[QueueChange]) -> QueueState {
        let mut state = self.state.clone();
        changes.iter().for_each(|change| change.apply(&mut state, self.key));
        state
    }

    /// Tries the changes.
    pub fn verdict(&self, changes: &[QueueChange]) -> Option<AdmissionVerdict> {
        try_admission(&self.with(changes), self.key)
    }

    /// Returns the changes as a remedy if they admit the Workload.
    pub fn remedy(&self, changes: Vec<QueueChange>) -> Option<Remedy> {
        let verdict = self.verdict(&changes).filter(AdmissionVerdict::is_admitted)?;
        Some(Remedy { changes, preempted: verdict.preempted })
    }

    /// Returns whether the changes admit the Workload without a preemption.
    pub fn admits(&self, changes: &[QueueChange]) -> bool {
        self.verdict(changes).is_some_and(|verdict| verdict.is_admitted() && verdict.preempted.is_empty())
    }

    /// Returns the smallest number in `1..=most` for which the changes admit the Workload. Larger numbers must admit it
    /// as well.
    pub fn smallest(&self, most: i64, changes: impl Fn(i64) -> Vec<QueueChange>) -> Option<i64> {
        if most < 1 || !self.admits(&changes(most)) {
            return None;
        }
        let (mut low, mut high) = (0, most);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.admits(&changes(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }
}

/// Returns changes that would admit the Workload, each the smallest of its kind. They were tried one by one.
pub fn smallest_changes(state: &QueueState, key: WorkloadKey) -> Vec<Remedy> {
    let case = PendingCase { state, key };
    let mut remedies = Vec::new();
    remedies.extend(waiting::resumed_queues(&case));
    remedies.extend(pod_sets::smaller(&case));
    remedies.extend(pod_sets::other_constraints(&case));
    remedies.extend(waiting::higher_priority(&case));
    remedies.extend(waiting::other_queue(&case));
    remedies.extend(quota::more_quota(&case));
    remedies.extend(free_nodes::more_nodes(&case, &[]));
    remedies.extend(waiting::ended_workloads(&case));
    remedies
}
