//! The lowest completion indexes (or places) that nobody has.
//!
//! Must never count up to `completions`, which may be two billion: only past pods and past what is to be created.

use super::judge::Sight;
use crate::store::{Phase, flag};
use sim_api::spec::PodReplacementPolicy;
use sim_base::*;
use std::iter::Peekable;

impl Sight<'_> {
    /// firstPendingIndexes: neither active, succeeded nor failed (nor, with replacement Failed, terminating).
    pub fn missing_indexes(&self, failed: &[u32], count: u32, into: &mut Vec<u32>) {
        let only_failed = self.spec().pod_replacement_policy() == PodReplacementPolicy::Failed;
        let p = &self.store.pods;
        let taken = |pod: &PodId| match p.phase[pod.ix()] {
            Phase::Absent | Phase::Failed => false,
            // One that ended well without finalizer was deleted before (suspend): its end is nobody's success.
            Phase::Succeeded => p.has(*pod, flag::FINALIZER),
            _ => only_failed || !p.has(*pod, flag::DELETING),
        };
        let live = &self.store.jobs[self.job.ix()].live;
        // Where only failed pods are left, of which there may be many, nobody has an index.
        let somebody = live.active + live.terminating + live.ended_with_finalizer > 0;
        let all = somebody.then(|| self.all_pods()).into_iter().flatten();
        let taken = all.filter(taken).map(|p| self.index(p));
        let decided = [self.row.succeeded.as_slice(), failed];
        lowest_free(taken, decided, self.index_limit(), count, into);
    }
}

/// The lowest `count` numbers below `limit` that are neither in `taken` nor in `decided`, all of them ascending.
pub(super) fn lowest_free(
    taken: impl Iterator<Item = u32>,
    decided: [&[u32]; 2],
    limit: u32,
    count: u32,
    into: &mut Vec<u32>,
) {
    into.clear();
    let mut taken = taken.peekable();
    let mut decided = decided.map(|list| list.iter().copied().peekable());
    for index in 0..limit {
        if into.len() >= count as usize {
            return;
        }
        let mut gone = has(&mut taken, index);
        for list in &mut decided {
            gone |= has(list, index);
        }
        if !gone {
            into.push(index);
        }
    }
}

/// Whether an ascending list has the number; what is below it is passed.
fn has(list: &mut Peekable<impl Iterator<Item = u32>>, index: u32) -> bool {
    while list.next_if(|i| *i < index).is_some() {}
    list.peek() == Some(&index)
}
