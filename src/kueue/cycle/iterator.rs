//! The order in which a cycle processes its entries.

use super::entry::Entry;
use crate::quota::{NodeId, Share};
use crate::snapshot::Snapshot;
use crate::workload::info::QueueIndex;
use sim_api::spec::kueue::RequeuingTimestamp;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Compares two entries without fair sharing: second passes first, then less borrowing, higher priority, and age.
pub fn compare_classical(a: &Entry, b: &Entry, timestamp: RequeuingTimestamp) -> Ordering {
    let has_quota = |entry: &Entry| entry.info.workload.has_reservation();
    let by_quota = has_quota(b).cmp(&has_quota(a));
    by_quota.then(a.borrowing().cmp(&b.borrowing())).then(compare_age(a, b, timestamp))
}

fn compare_age(a: &Entry, b: &Entry, timestamp: RequeuingTimestamp) -> Ordering {
    let by_priority = b.info.priority().cmp(&a.info.priority());
    by_priority.then(a.info.workload.queue_time(timestamp).cmp(&b.info.workload.queue_time(timestamp)))
}

/// Selects entries by tournaments between the children of each cohort.
pub struct FairOrder<'a> {
    pub snapshot: &'a mut Snapshot,
    pub timestamp: RequeuingTimestamp,
}

/// Shares of an entry's subtrees directly below each cohort on its path, with its usage.
type PathShares = BTreeMap<NodeId, Share>;

impl FairOrder<'_> {
    /// Returns the position of the next entry. All entries are of different ClusterQueues.
    pub fn next(&mut self, entries: &[Entry]) -> Option<usize> {
        let first = entries.first()?.info.queue;
        if self.snapshot.parent(first).is_none() {
            return Some(0);
        }
        let root = self.snapshot.tree.root(first);
        let in_tree = self.snapshot.tree.queues_below(root);
        let by_queue: BTreeMap<QueueIndex, usize> =
            entries.iter().enumerate().map(|(k, entry)| (entry.info.queue, k)).collect();
        let mut shares = BTreeMap::new();
        for queue in in_tree {
            if let Some(position) = by_queue.get(&queue) {
                shares.insert(*position, self.path_shares(&entries[*position]));
            }
        }
        self.run_tournament(root, entries, &by_queue, &shares)
    }

    fn path_shares(&mut self, entry: &Entry) -> PathShares {
        let queue = entry.info.queue;
        let usage = entry.usage(self.snapshot);
        self.snapshot.add_usage(queue, &usage);
        let mut below = queue;
        let mut shares = PathShares::new();
        for cohort in self.snapshot.tree.ancestors(queue) {
            shares.insert(cohort, self.snapshot.tree.share(below));
            below = cohort;
        }
        self.snapshot.remove_usage(queue, &usage);
        shares
    }

    fn run_tournament(
        &self, cohort: NodeId, entries: &[Entry], by_queue: &BTreeMap<QueueIndex, usize>,
        shares: &BTreeMap<usize, PathShares>,
    ) -> Option<usize> {
        let node = &self.snapshot.tree.nodes[cohort];
        let of_cohorts = node.cohorts.iter().filter_map(|child| self.run_tournament(*child, entries, by_queue, shares));
        let of_queues = node.queues.iter().filter_map(|queue| by_queue.get(queue).copied());
        let better = |best: usize, next: usize| {
            let is_less = self.compare(next, best, cohort, entries, shares).is_lt();
            if is_less { next } else { best }
        };
        of_cohorts.chain(of_queues).reduce(better)
    }

    /// Compares two entries below a cohort: those that do not borrow what they request first, then smaller shares.
    fn compare(
        &self, a: usize, b: usize, cohort: NodeId, entries: &[Entry], shares: &BTreeMap<usize, PathShares>,
    ) -> Ordering {
        let share = |entry: &usize| shares.get(entry).and_then(|path| path.get(&cohort));
        let borrows = |entry: usize| {
            let requested = entries[entry].usage(self.snapshot).quota;
            share(&entry).is_some_and(|share| share.is_borrowing_any(&requested))
        };
        let by_share = || match (share(&a), share(&b)) {
            (Some(a), Some(b)) => a.compare(b),
            _ => Ordering::Equal,
        };
        let by_borrowing = borrows(a).cmp(&borrows(b));
        by_borrowing.then_with(by_share).then_with(|| compare_age(&entries[a], &entries[b], self.timestamp))
    }
}
