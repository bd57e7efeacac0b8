//! What the Job controller knows of each Job and of each pod beyond what is stored.

use super::entry::Entry;
use super::events::EventBooks;
use crate::store::Store;
use sim_base::*;
use sim_policy::job::backoff::BackoffRecord;

#[derive(Clone, Default)]
pub(super) struct Row {
    pub entry: Entry,
    // Requests about the name so far: parts of their names, so they count on for a later object of it.
    pub syncs: u32,
    pub creating_syncs: u32,
    pub status_writes: u32,
    pub events: u32,
    // --- of the present object
    /// The status that is stored in this handler is the controller's own.
    pub own_write: bool,
    /// The counters that took the uncounted pods met a conflict.
    pub unflushed: bool,
    /// Creations asked for and not yet answered.
    pub expected: u32,
    /// kubernetes.md 1.5.
    pub backoff: BackoffRecord,
    pub books: EventBooks,
    /// Pods that failed and are counted (uncounted list or counter).
    pub counted_failed: u32,
    /// Completion indexes (or places) whose pod succeeded and is counted; ascending.
    pub succeeded: Vec<u32>,
    /// Indexes that failed for good (backoffLimitPerIndex); ascending.
    pub failed: Vec<u32>,
}

impl Row {
    /// A new object has the name. The work queue knows keys, not objects: a worker still in a sync of the old object
    /// keeps the key busy.
    pub fn begin_object(&mut self) {
        self.entry.forget_errors();
        self.own_write = false;
        self.unflushed = false;
        self.expected = 0;
        self.backoff = BackoffRecord::default();
        self.books = EventBooks::default();
        self.counted_failed = 0;
        self.succeeded.clear();
        self.failed.clear();
    }
}

#[derive(Copy, Clone, Default)]
pub(super) struct PodMark {
    incarnation: u32,
    /// In the uncounted list or a counter.
    pub counted: bool,
    /// Its finalizer is being taken off outside of any sync.
    pub releasing: bool,
    /// PATCHes and DELETEs asked for so far.
    pub patches: u32,
    pub deletes: u32,
}

/// One mark per pod object; a row of another object counts as empty.
#[derive(Clone, Default)]
pub(super) struct PodMarks(Vec<PodMark>);

impl PodMarks {
    pub fn reset(&mut self) {
        self.0.clear();
    }

    pub fn counted(&self, store: &Store, pod: PodId) -> bool {
        let mark = self.0.get(pod.ix());
        mark.is_some_and(|m| m.counted && m.incarnation == store.pods.incarnation[pod.ix()])
    }

    pub fn of(&mut self, store: &Store, pod: PodId) -> &mut PodMark {
        if self.0.len() <= pod.ix() {
            self.0.resize(store.pods.len(), PodMark::default());
        }
        let incarnation = store.pods.incarnation[pod.ix()];
        let mark = &mut self.0[pod.ix()];
        if mark.incarnation != incarnation {
            *mark = PodMark {
                incarnation,
                ..PodMark::default()
            };
        }
        mark
    }
}

/// Puts `more` into an ascending list without repeats.
pub(super) fn merge(list: &mut Vec<u32>, more: impl Iterator<Item = u32>) {
    let known = list.len();
    list.extend(more);
    if list.len() > known {
        // Two runs: the stable sort merges them.
        list.sort();
        list.dedup();
    }
}
