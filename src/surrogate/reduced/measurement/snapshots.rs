//! Snapshots of trials. Trials with a common beginning resume from the last snapshot before they diverge.

use crate::reduced::observation::ObservedState;
use sim_base::Duration;
use sim_engine::SnapshotOutcome;
use sim_reliability::faults::InjectedFault;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of stored snapshots. It affects speed and memory, but no results.
const KEPT: usize = 24;

/// Inputs of a trial that take effect from its beginning: the number that selects the random numbers, whether no
/// restart is left, and the amount of work.
pub type ForkStart = (u64, bool, Option<Duration>);

/// A snapshot of a trial.
#[derive(Clone)]
pub struct RunFork {
    pub begin: ForkStart,
    /// All faults before the time of the snapshot.
    pub faults: Vec<InjectedFault>,
    pub at: Duration,
    pub halted: SnapshotOutcome,
    pub seen: ObservedState,
}

impl RunFork {
    /// Returns true if a trial with this beginning and these faults, in order of time, has the same state at the
    /// time of the snapshot.
    fn is_part_of(&self, begin: ForkStart, faults: &[InjectedFault]) -> bool {
        let before = faults.partition_point(|fault| fault.at < self.at);
        self.begin == begin && self.faults == faults[..before]
    }
}

/// The stored snapshots in the order of their last use, newest last.
#[derive(Default)]
pub struct RunForks(Mutex<VecDeque<Arc<RunFork>>>);

impl RunForks {
    /// Returns the latest snapshot that is valid for a trial, not later than `until`.
    pub fn latest_snapshot(&self, begin: ForkStart, faults: &[InjectedFault], until: Duration) -> Option<Arc<RunFork>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shares = |fork: &Arc<RunFork>| fork.at <= until && fork.is_part_of(begin, faults);
        let all = kept.iter().enumerate().filter(|(_, fork)| shares(fork));
        let (nth, _) = all.max_by_key(|(_, fork)| fork.at)?;
        let fork = kept.remove(nth)?;
        kept.push_back(Arc::clone(&fork));
        Some(fork)
    }

    /// Stores a snapshot for other trials.
    pub fn store_snapshot(&self, fork: RunFork) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|k| k.at == fork.at && k.is_part_of(fork.begin, &fork.faults)) {
            return;
        }
        let out = (kept.len() >= KEPT).then(|| kept.pop_front());
        kept.push_back(Arc::new(fork));
        drop(kept);
        // Dropping a snapshot takes as long as creating it, so it happens after the lock is released.
        drop(out);
    }
}
