//! Trials of changes that may admit a pending Workload.

use super::change::QueueChange;
use super::state::QueueState;
use super::trial::{PreemptedWorkload, try_admission};
use crate::workload::{Workload, WorkloadKey};
use std::ops::RangeInclusive;
use std::sync::Arc;

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

/// The result of a trial of changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeResult {
    /// The JobSet starts with the changes, and with additions if they are needed.
    Starts(Remedy),
    /// The Workload would have quota, but its pods find no topology domain.
    LacksTopology,
    Fails,
}

/// Trials of changes. One definition decides whether a change admits a JobSet: the inputs with the change are read and
/// submitted again from the start. A larger amount that admits it does not imply that a smaller one does not, nor the
/// other way round, because JobSets that are submitted earlier use the change as well.
pub trait ChangeTrials {
    /// Tries changes together.
    fn attempt(&self, changes: &[QueueChange], additions: Additions) -> ChangeResult;

    /// Maximum number of values of one change that are tried one by one.
    fn values_max(&self) -> u32;

    /// Returns the Workloads that are submitted later. They use the queues of the Workload, but are not in its state.
    fn later_workloads(&self) -> Vec<Arc<Workload>> {
        Vec::new()
    }
}

/// A state in which a Workload is pending. It gives the values that are tried.
pub(super) struct PendingCase<'a> {
    pub state: &'a QueueState,
    pub key: WorkloadKey,
    pub trials: &'a dyn ChangeTrials,
    pub additions: Additions,
}

impl PendingCase<'_> {
    /// Returns the state with changes.
    pub fn with(&self, changes: &[QueueChange]) -> QueueState {
        let mut state = self.state.clone();
        changes.iter().for_each(|change| change.apply(&mut state, self.key));
        state
    }

    /// Returns whether the Workload gets quota if the changes are made now. It costs one trial for any number of
    /// JobSets, and selects among changes that have no size before they are tried from the start.
    pub fn is_likely(&self, changes: &[QueueChange]) -> bool {
        try_admission(&self.with(changes), self.key).is_some_and(|verdict| verdict.is_admitted())
    }

    pub fn attempt(&self, changes: &[QueueChange]) -> ChangeResult {
        self.trials.attempt(changes, self.additions)
    }

    /// Returns the changes, with additions, as a remedy if the JobSet starts with them.
    pub fn remedy(&self, changes: &[QueueChange]) -> Option<Remedy> {
        match self.attempt(changes) {
            ChangeResult::Starts(remedy) => Some(remedy),
            ChangeResult::LacksTopology | ChangeResult::Fails => None,
        }
    }

    /// Returns the remedy with the smallest number in `1..=most`, and the number.
    pub fn smallest(&self, most: i64, changes: impl Fn(i64) -> Vec<QueueChange>) -> Option<(i64, Remedy)> {
        self.smallest_of(1..=most, |number| self.remedy(&changes(number)))
    }

    /// Returns the smallest number with a remedy, and the remedy. Of more than [`ChangeTrials::values_max`] numbers,
    /// those above one that has a remedy are supposed to have one as well.
    pub fn smallest_of(
        &self, numbers: RangeInclusive<i64>, remedy: impl Fn(i64) -> Option<Remedy>,
    ) -> Option<(i64, Remedy)> {
        let (first, last) = numbers.clone().into_inner();
        if last.saturating_sub(first) < i64::from(self.trials.values_max()) {
            return numbers.into_iter().find_map(|number| Some((number, remedy(number)?)));
        }
        let (mut low, mut high, mut best) = (first - 1, last, remedy(last)?);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match remedy(middle) {
                Some(smaller) => (high, best) = (middle, smaller),
                None => low = middle,
            }
        }
        Some((high, best))
    }
}
