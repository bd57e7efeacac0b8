//! Plays that begin alike, halted where they part: the next play goes on from the last of them that it shares.

use crate::reduced::observation::Seen;
use sim_base::Duration;
use sim_engine::Halted;
use sim_engine::faults::Fault;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// So many are kept: a few for each kind of play that is under way. Speed and memory alone depend on it.
const KEPT: usize = 24;

/// What is different from the beginning on: numbers, whether no restart is left, and how much work there is.
pub type Begin = (u64, bool, Option<Duration>);

/// A play that has come to an instant.
#[derive(Clone)]
pub struct Fork {
    pub begin: Begin,
    /// All of its faults before that.
    pub faults: Vec<Fault>,
    pub at: Duration,
    pub halted: Halted,
    pub seen: Seen,
}

impl Fork {
    /// Whether a play that begins so, with these faults in the order of time, has come through it.
    fn is_part_of(&self, begin: Begin, faults: &[Fault]) -> bool {
        let before = faults.partition_point(|fault| fault.at < self.at);
        self.begin == begin && self.faults == faults[..before]
    }
}

/// Those that were used last, the newest at the end.
#[derive(Default)]
pub struct Forks(Mutex<VecDeque<Arc<Fork>>>);

impl Forks {
    /// The latest that a play shares.
    pub fn shared(&self, begin: Begin, faults: &[Fault], until: Duration) -> Option<Arc<Fork>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shares = |fork: &Arc<Fork>| fork.at <= until && fork.is_part_of(begin, faults);
        let all = kept.iter().enumerate().filter(|(_, fork)| shares(fork));
        let (nth, _) = all.max_by_key(|(_, fork)| fork.at)?;
        let fork = kept.remove(nth)?;
        kept.push_back(Arc::clone(&fork));
        Some(fork)
    }

    /// For others to go on from.
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
        // Taking it apart takes as long as making it.
        drop(out);
    }
}
