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

/// Entries that wait to be processed, by the root of their tree. Those without a parent form trees of their own.
pub struct EntryTrees {
    /// Positions of the entries in order, by root.
    members: BTreeMap<NodeId, Vec<usize>>,
    roots: Vec<NodeId>,
    /// All positions before it are processed.
    first: usize,
    is_processed: Vec<bool>,
}

impl EntryTrees {
    pub fn new(entries: &[Entry], snapshot: &Snapshot) -> EntryTrees {
        let roots: Vec<NodeId> = entries.iter().map(|entry| snapshot.tree.root(entry.info.queue)).collect();
        let mut members: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (position, root) in roots.iter().enumerate() {
            members.entry(*root).or_default().push(position);
        }
        EntryTrees { members, is_processed: vec![false; roots.len()], roots, first: 0 }
    }

    /// Returns the entries in the tree of the first entry.
    pub fn first(&mut self) -> Option<&[usize]> {
        while *self.is_processed.get(self.first)? {
            self.first += 1;
        }
        self.members.get(&self.roots[self.first]).map(Vec::as_slice)
    }

    pub fn remove(&mut self, position: usize) {
        self.is_processed[position] = true;
        if let Some(members) = self.members.get_mut(&self.roots[position]) {
            members.retain(|member| *member != position);
        }
    }
}

/// Selects entries by tournaments between the children of each cohort.
pub struct FairOrder<'a> {
    pub snapshot: &'a mut Snapshot,
    pub timestamp: RequeuingTimestamp,
}

/// Shares of an entry's subtrees directly below each cohort on its path, with its usage.
type PathShares = BTreeMap<NodeId, Share>;

impl FairOrder<'_> {
    /// Returns the position of the next entry among those of a tree, which are of different ClusterQueues.
    pub fn next(&mut self, entries: &[Entry], tree: &[usize]) -> usize {
        let first = tree[0];
        let queue = entries[first].info.queue;
        if self.snapshot.parent(queue).is_none() {
            return first;
        }
        let root = self.snapshot.tree.root(queue);
        let by_queue: BTreeMap<QueueIndex, usize> =
            tree.iter().map(|position| (entries[*position].info.queue, *position)).collect();
        let mut shares = BTreeMap::new();
        for position in by_queue.values() {
            shares.insert(*position, self.path_shares(&entries[*position]));
        }
        self.run_tournament(root, entries, &by_queue, &shares).unwrap_or(first)
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
