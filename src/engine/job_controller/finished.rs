//! Finalizer removal at the end of a sync, and the pods that are counted with it (kubernetes.md 1.3 step 7).

use super::JobController;
use super::count::{ComputedStatus, EndedPod};
use super::rows::{JobSyncRow, merge_sorted};
use crate::store::{ObjectStore, flag};
use sim_base::{JobId, PodId};
use sim_policy::JobPlan;

/// kubernetes.md 1.1: MaxUncountedPods.
const MAX_UNCOUNTED_PODS: usize = 500;

/// Changes to the uncounted list by a sync; reverted if the status is not stored.
#[derive(Clone, Default)]
pub(super) struct FinishedEntry {
    pods: Vec<PodId>,
    /// Succeeded indexes, ascending.
    succeeded: Vec<u32>,
    failed: u32,
    /// Permanently failed indexes before the sync, if the list changed.
    failed_before: Option<Vec<u32>>,
}

pub(super) struct CollectedPods {
    pub entered: FinishedEntry,
    /// True if the status has to be written for these pods.
    pub counted: bool,
    /// True if pods are left for the next sync.
    pub reached_max: bool,
}

impl JobSyncRow {
    /// Updates the permanently failed indexes from a sync. Returns the previous list if it changed.
    fn update_failed_indexes(&mut self, c: &ComputedStatus) -> Option<Vec<u32>> {
        self.backoff = c.backoff;
        let anew = self.failed != c.failed_indexes;
        anew.then(|| std::mem::replace(&mut self.failed, c.failed_indexes.clone()))
    }
}

impl JobController {
    /// Chooses the pods that lose their finalizer in this sync: ended pods, or all pods of a finishing or deleted
    /// Job; at most 500 enter the uncounted list.
    pub(super) fn collect_finished(
        &mut self, store: &ObjectStore, job: JobId, plan: &JobPlan, c: &mut ComputedStatus, into: &mut Vec<PodId>,
    ) -> CollectedPods {
        into.clear();
        let failed_before = self.rows[job.ix()].update_failed_indexes(c);
        let j = &store.jobs[job.ix()];
        let everything = plan.ends_job() || j.is_deleting();
        let walk = |wanted: bool| if wanted { usize::MAX } else { 0 };
        let index_of = |pod: PodId| store.pods.index[pod.ix()];
        let own = j.pods.iter().take(walk(everything && j.live.with_finalizer > 0));
        let own = own.map(|pod| (pod, c.observed_pod(pod, index_of(pod))));
        let ended = c.ended.iter().take(walk(!everything));
        let ended = ended.map(|e| (e.pod, Some(e)));
        let mut entered = FinishedEntry { failed_before, ..FinishedEntry::default() };
        for (pod, seen) in own.chain(ended) {
            let same = |e: &EndedPod| store.pods.is_current(pod, e.incarnation);
            let tracked = store.pods.exists(pod) && store.pods.has(pod, flag::FINALIZER);
            if !tracked || !seen.is_none_or(same) {
                continue;
            }
            let failed = seen.is_some_and(|e| !e.succeeded);
            if failed && !everything && c.replaced_pod(index_of(pod)) == Some(pod) {
                // backoffLimitPerIndex: the next pod of the index inherits the failure count first.
                continue;
            }
            into.push(pod);
            if self.is_countable(store, (job, pod), seen, plan) {
                self.pods.mark_mut(store, pod).counted = true;
                entered.pods.push(pod);
                if seen.is_some_and(|e| e.succeeded) {
                    entered.succeeded.push(index_of(pod));
                } else {
                    entered.failed += 1;
                }
            }
            if entered.pods.len() >= MAX_UNCOUNTED_PODS {
                break;
            }
        }
        let row = &mut self.rows[job.ix()];
        row.counted_failed += entered.failed;
        merge_sorted(&mut row.succeeded, entered.succeeded.iter().copied());
        let counted = entered.pods.len();
        c.counted_any |= counted > 0;
        CollectedPods {
            counted: counted > 0 || entered.failed_before.is_some(),
            reached_max: counted >= MAX_UNCOUNTED_PODS,
            entered,
        }
    }

    /// Reverts the changes because the status was not stored: the next sync counts these pods again.
    pub(super) fn revert_uncounted(&mut self, store: &ObjectStore, job: JobId, entered: FinishedEntry) {
        for pod in entered.pods {
            self.pods.mark_mut(store, pod).counted = false;
        }
        let row = &mut self.rows[job.ix()];
        row.counted_failed -= entered.failed;
        let mut out = entered.succeeded;
        out.sort();
        row.succeeded.retain(|i| out.binary_search(i).is_err());
        if let Some(failed) = entered.failed_before {
            row.failed = failed;
        }
    }

    /// Returns true if a pod enters the uncounted list when its finalizer is removed.
    fn is_countable(
        &self, store: &ObjectStore, (job, pod): (JobId, PodId), seen: Option<&EndedPod>, plan: &JobPlan,
    ) -> bool {
        if self.pods.is_counted(store, pod) {
            return false;
        }
        match seen {
            Some(e) => e.is_countable,
            // Pods deleted by a failing Job count as failed, for any exit code of their containers.
            None => plan.fail.is_some() && self.sync_input_for(store, job).verdict(pod).counts,
        }
    }
}
