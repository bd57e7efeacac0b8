//! The Job controller's data about each Job and pod, in addition to the stored objects.

use super::events::EventBooks;
use super::queue_entry::JobQueueEntry;
use crate::store::ObjectStore;
use sim_base::PodId;
use sim_policy::job::backoff::BackoffRecord;

#[derive(Clone, Default)]
pub(super) struct JobSyncRow {
    pub entry: JobQueueEntry,
    // Numbers of requests about the name so far: parts of random-number names, so they continue for a later object.
    pub creating_syncs: u32,
    pub status_writes: u32,
    pub events: u32,
    // --- of the current object
    /// The status write that moves the uncounted pods to the counters had a conflict.
    pub unflushed: bool,
    /// Number of failed pods in the last status that the API server rejected.
    pub rejected_failed: Option<u32>,
    /// Number of creations without a response yet.
    pub expected_creations: u32,
    /// Pod-failure back-off (kubernetes.md 1.5).
    pub backoff: BackoffRecord,
    pub event_correlator: EventBooks,
    /// Number of failed pods that are counted (uncounted list or counter).
    pub counted_failed: u32,
    /// Completion indexes (or positions) whose pod succeeded and is counted; ascending.
    pub succeeded: Vec<u32>,
    /// Permanently failed indexes (backoffLimitPerIndex); ascending.
    pub failed: Vec<u32>,
}

impl JobSyncRow {
    /// Starts a new object with the name. The work queue contains keys, not objects: a worker still in a sync of the
    /// old object keeps the key busy.
    pub fn begin_object(&mut self) {
        self.entry.forget_errors();
        self.unflushed = false;
        self.rejected_failed = None;
        self.expected_creations = 0;
        self.backoff = BackoffRecord::default();
        self.event_correlator = EventBooks::default();
        self.counted_failed = 0;
        self.succeeded.clear();
        self.failed.clear();
    }
}

#[derive(Copy, Clone, Default)]
pub(super) struct PodMark {
    incarnation: u32,
    /// True if the pod is in the uncounted list or a counter.
    pub counted: bool,
    /// True while its finalizer is being removed outside of a sync.
    pub releasing: bool,
    /// Number of PATCHes and DELETEs sent so far.
    pub patches: u32,
    pub deletes: u32,
}

/// One mark per pod object; the mark of an earlier object in the row counts as empty.
#[derive(Clone, Default)]
pub(super) struct PodMarks(Vec<PodMark>);

impl PodMarks {
    pub fn reset(&mut self) {
        self.0.clear();
    }

    pub fn is_counted(&self, store: &ObjectStore, pod: PodId) -> bool {
        let mark = self.0.get(pod.ix());
        mark.is_some_and(|m| m.counted && m.incarnation == store.pods.incarnation[pod.ix()])
    }

    pub fn mark_mut(&mut self, store: &ObjectStore, pod: PodId) -> &mut PodMark {
        if self.0.len() <= pod.ix() {
            self.0.resize(store.pods.len(), PodMark::default());
        }
        let incarnation = store.pods.incarnation[pod.ix()];
        let mark = &mut self.0[pod.ix()];
        if mark.incarnation != incarnation {
            *mark = PodMark { incarnation, ..PodMark::default() };
        }
        mark
    }
}

/// Merges `more` into an ascending list without duplicates.
pub(super) fn merge_sorted(list: &mut Vec<u32>, more: impl Iterator<Item = u32>) {
    let known = list.len();
    list.extend(more);
    if list.len() > known {
        // Two ascending runs, which the stable sort merges.
        list.sort();
        list.dedup();
    }
}
