//! The lowest free completion indexes (or positions, for a NonIndexed Job).
//!
//! Must never iterate up to `completions`, which may be two billion, but only over existing pods and pods to be
//! created.

use super::count::ComputedStatus;
use super::sync_decision::JobSyncInput;
use crate::store::{PodPhase, flag};
use sim_api::spec::PodReplacementPolicy;
use sim_base::{Duration, PodId, SimTime};
use sim_policy::job::backoff;
use std::iter::Peekable;

impl JobSyncInput<'_> {
    /// firstPendingIndexes: neither active, succeeded nor failed (nor terminating, with podReplacementPolicy Failed).
    pub fn missing_indexes(&self, failed: &[u32], count: u32, into: &mut Vec<u32>) {
        let only_failed = self.spec().pod_replacement_policy() == PodReplacementPolicy::Failed;
        let p = &self.store.pods;
        let taken = |pod: &PodId| match p.phase[pod.ix()] {
            PodPhase::Absent | PodPhase::Failed => false,
            // A succeeded pod without finalizer was deleted before (suspend): it does not count as a success.
            PodPhase::Succeeded => p.has(*pod, flag::FINALIZER),
            _ => only_failed || !p.has(*pod, flag::DELETING),
        };
        let live = &self.store.jobs[self.job.ix()].live;
        // If only failed pods remain, of which there may be many, no index is in use.
        let somebody = live.active + live.terminating + live.ended_with_finalizer > 0;
        let all = somebody.then(|| self.all_pods()).into_iter().flatten();
        let taken = all.filter(taken).map(|p| self.index(p));
        let decided = [self.row.succeeded.as_slice(), failed];
        lowest_free(taken, decided, self.index_limit(), count, into);
    }

    /// backoffLimitPerIndex: every index has its own back-off. Keeps the indexes that are due now; if there are none,
    /// returns the time until the first one is.
    pub fn keep_due_indexes(&self, c: &ComputedStatus, now: SimTime, create: &mut Vec<u32>) -> Option<Duration> {
        if c.delayed.is_empty() {
            return None;
        }
        let left = |index: u32| {
            let ended_at = |p: PodId| self.store.pods.ended_at[p.ix()];
            let replaced = c.replaced_pod(index);
            backoff::until_index(replaced.map(|p| (self.index_failures(p) + 1, ended_at(p))), now)
        };
        let soonest = create.iter().map(|i| left(*i)).min();
        create.retain(|i| left(*i) == Duration::ZERO);
        soonest.filter(|left| *left > Duration::ZERO)
    }
}

/// Returns the lowest `count` numbers below `limit` that are neither in `taken` nor in `decided`; all lists are
/// ascending.
pub(super) fn lowest_free(
    taken: impl Iterator<Item = u32>, decided: [&[u32]; 2], limit: u32, count: u32, into: &mut Vec<u32>,
) {
    into.clear();
    let mut taken = taken.peekable();
    let mut decided = decided.map(|list| list.iter().copied().peekable());
    for index in 0..limit {
        if into.len() >= count as usize {
            return;
        }
        let mut gone = advance_to(&mut taken, index);
        for list in &mut decided {
            gone |= advance_to(list, index);
        }
        if !gone {
            into.push(index);
        }
    }
}

/// Returns true if an ascending list contains the number; smaller numbers are consumed.
fn advance_to(list: &mut Peekable<impl Iterator<Item = u32>>, index: u32) -> bool {
    while list.next_if(|i| *i < index).is_some() {}
    list.peek() == Some(&index)
}
