//! Runs with a common beginning, stopped where they diverge: each run resumes from the last snapshot that it shares.

use crate::reduced::observation::Seen;
use sim_base::Duration;
use sim_engine::Halted;
use sim_engine::faults::Fault;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of snapshots kept: a few per kind of run in progress. Affects speed and memory only.
const KEPT: usize = 24;

/// Inputs that differ from the beginning on: random numbers, whether no restart is left, and the amount of work.
pub type Begin = (u64, bool, Option<Duration>);

/// A snapshot of a run.
#[derive(Clone)]
pub struct Fork {
    pub begin: Begin,
    /// All faults before the snapshot.
    pub faults: Vec<Fault>,
    pub at: Duration,
    pub halted: Halted,
    pub seen: Seen,
}

impl Fork {
    /// Returns true if a run with this beginning and these faults, in order of time, passes through the snapshot.
    fn is_part_of(&self, begin: Begin, faults: &[Fault]) -> bool {
        let before = faults.partition_point(|fault| fault.at < self.at);
        self.begin == begin && self.faults == faults[..before]
    }
}

/// Most recently used snapshots, newest last.
#[derive(Default)]
pub struct Forks(Mutex<VecDeque<Arc<Fork>>>);

impl Forks {
    /// The latest snapshot that a run shares.
    pub fn shared(&self, begin: Begin, faults: &[Fault], until: Duration) -> Option<Arc<Fork>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shares = |fork: &Arc<Fork>| fork.at <= until && fork.is_part_of(begin, faults);
        let all = kept.iter().enumerate().filter(|(_, fork)| shares(fork));
        let (nth, _) = all.max_by_key(|(_, fork)| fork.at)?;
        let fork = kept.remove(nth)?;
        kept.push_back(Arc::clone(&fork));
        Some(fork)
    }

    /// Stores a snapshot for other runs.
    pub fn keep(&self, fork: Fork) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept
            .iter()
            .any(|k| k.at == fork.at && k.is_part_of(fork.begin, &fork.faults))
        {
            return;
        }
        let out = (kept.len() >= KEPT).then(|| kept.pop_front());
        kept.push_back(Arc::new(fork));
        drop(kept);
        // Dropping a snapshot is as expensive as creating it, so it happens outside of the lock.
        drop(out);
    }
}
