//! Trials of changes that may admit a pending Workload.

use super::change::QueueChange;
use super::state::QueueState;
use super::trial::{AdmissionVerdict, PreemptedWorkload, try_admission};
use crate::workload::WorkloadKey;

/// Largest number of values that are tried one by one.
const TRIED_ONE_BY_ONE: i64 = 16;

/// Changes that admit the Workload together.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    pub changes: Vec<QueueChange>,
    /// Workloads that it then preempts.
    pub preempted: Vec<PreemptedWorkload>,
}

/// Changes that may be added so that the pods of an admitted JobSet fit on the nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Additions {
    None,
    Cordon,
}

/// Tries changes, with which the Workload has quota, end to end. Returns them, with additions, or `None` if the JobSet
/// does not start with them.
pub type Completion<'a> = dyn Fn(&[QueueChange], Additions) -> Option<Vec<QueueChange>> + 'a;

/// A state in which a Workload is pending.
pub(super) struct PendingCase<'a> {
    pub state: &'a QueueState,
    pub key: WorkloadKey,
    pub complete: &'a Completion<'a>,
    pub additions: Additions,
}

impl PendingCase<'_> {
    /// Returns the state with changes.
    pub fn with(&self, changes: &[QueueChange]) -> QueueState {
        let mut state = self.state.clone();
        changes.iter().for_each(|change| change.apply(&mut state, self.key));
        state
    }

    /// Tries the changes in the queues.
    pub fn verdict(&self, changes: &[QueueChange]) -> Option<AdmissionVerdict> {
        try_admission(&self.with(changes), self.key)
    }

    /// Returns the changes, with additions, as a remedy if the JobSet starts with them.
    pub fn remedy(&self, changes: &[QueueChange]) -> Option<Remedy> {
        let verdict = self.verdict(changes).filter(AdmissionVerdict::is_admitted)?;
        let changes = (self.complete)(changes, self.additions)?;
        Some(Remedy { changes, preempted: verdict.preempted })
    }

    /// Returns the remedy with the smallest number in `1..=most`, and the number. Beyond a few numbers, larger ones are
    /// supposed to admit the Workload as well.
    pub fn smallest(&self, most: i64, changes: impl Fn(i64) -> Vec<QueueChange>) -> Option<(i64, Remedy)> {
        if most <= TRIED_ONE_BY_ONE {
            return (1..=most).find_map(|number| Some((number, self.remedy(&changes(number))?)));
        }
        let (mut low, mut high, mut best) = (0, most, self.remedy(&changes(most))?);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.remedy(&changes(middle)) {
                Some(remedy) => (high, best) = (middle, remedy),
                None => low = middle,
            }
        }
        Some((high, best))
    }
}
