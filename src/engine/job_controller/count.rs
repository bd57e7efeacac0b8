//! Counts that a sync of the Job controller makes at its start (kubernetes.md 1.3 step 3), and the view built from
//! them.
//!
//! A sync acts on the pods as its cache showed them when it began: `ComputedStatus` keeps this state for the
//! duration of the sync.

use super::rows::merge_sorted;
use super::sync_decision::JobSyncInput;
use crate::{record::JobConditionType, store::PodPhase};
use sim_api::spec::KubeVersion;
use sim_base::{PodId, SimTime};
use sim_policy::JobSyncView;
use sim_policy::job::backoff::BackoffRecord;
use sim_policy::job::per_index;

/// Counts at the start of a sync, updated by the sync's own deletions and creations.
#[derive(Clone, Default)]
pub(super) struct ComputedStatus {
    pub at: SimTime,
    pub active: u32,
    pub ready: u32,
    pub terminating: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub misplaced: u32,
    pub backoff: BackoffRecord,
    pub fail_job_message: Option<String>,
    /// The indexes that `succeeded` counts; only with a successPolicy.
    pub succeeded_indexes: Vec<u32>,
    /// Permanently failed indexes, including those of this sync; ascending.
    pub failed_indexes: Vec<u32>,
    /// With backoffLimitPerIndex: the failed pod of an index, whose finalizer stays until the index has a new pod.
    pub delayed: Vec<(u32, PodId)>,
    /// Ended pods with the finalizer, by index.
    pub ended: Vec<EndedPod>,
    /// True if a pod entered the uncounted list in this sync.
    pub counted_any: bool,
    pub finish_now: bool,
}

/// An ended pod, as the sync observed it.
#[derive(Copy, Clone)]
pub(super) struct EndedPod {
    pub pod: PodId,
    pub incarnation: u32,
    pub index: u32,
    pub succeeded: bool,
    /// True if the pod enters the uncounted list: not ignored, and its index exists.
    pub is_countable: bool,
}

impl ComputedStatus {
    /// Removes a pod that was active at the start of the sync, even if it was deleted otherwise since.
    pub fn record_deletion(&mut self, was_ready: bool) {
        self.active = self.active.saturating_sub(1);
        self.terminating += 1;
        if was_ready {
            self.ready = self.ready.saturating_sub(1);
        }
    }

    pub fn record_creation(&mut self) {
        self.active += 1;
    }

    /// The pod that the next pod of this index replaces.
    pub fn replaced_pod(&self, index: u32) -> Option<PodId> {
        let delayed = &self.delayed;
        let at = delayed.binary_search_by_key(&index, |(i, _)| *i).ok()?;
        Some(delayed[at].1)
    }

    /// What the sync observed about a pod of this index.
    pub fn observed_pod(&self, pod: PodId, index: u32) -> Option<&EndedPod> {
        let from = self.ended.partition_point(|e| e.index < index);
        let mut of_index = self.ended[from..].iter().take_while(|e| e.index == index);
        of_index.find(|e| e.pod == pod)
    }
}

impl<'a> JobSyncInput<'a> {
    /// Counts the pods. They are iterated only if some have ended; otherwise the incremental counters suffice.
    /// `ended` is a reusable buffer.
    pub fn count(&self, now: SimTime, mut ended: Vec<EndedPod>) -> ComputedStatus {
        ended.clear();
        let j = &self.store.jobs[self.job.ix()];
        let limit = self.index_limit();
        let below = |list: &[u32]| list.partition_point(|i| *i < limit);
        let (known, failed_known) = (below(&self.row.succeeded), below(&self.row.failed));
        let mut c = ComputedStatus {
            at: now,
            active: j.live.active,
            ready: j.live.ready,
            terminating: j.live.terminating,
            succeeded: known as u32,
            failed: self.row.counted_failed,
            misplaced: self.misplaced_pods(),
            backoff: self.row.backoff,
            failed_indexes: self.row.failed[..failed_known].to_vec(),
            ended,
            ..ComputedStatus::default()
        };
        if self.spec().success_policy.is_some() {
            c.succeeded_indexes = self.row.succeeded[..known].to_vec();
        }
        if j.live.ended_with_finalizer > 0 {
            self.count_ended(limit, &mut c);
        }
        if j.pods.len() > j.live.active as usize {
            c.fail_job_message = self.fail_job_message();
        }
        c
    }

    fn count_ended(&self, limit: u32, c: &mut ComputedStatus) {
        let mut failed_now = Vec::new();
        // Iterates from the newest and stops after the last uncounted one, because there may be many counted pods.
        let any = self.store.jobs[self.job.ix()].live.ended_with_finalizer as usize;
        let all = self.all_pods().rev();
        let mut ended: Vec<PodId> = all.filter(|p| self.has_ended_with_finalizer(*p)).take(any).collect();
        ended.reverse();
        for pod in ended.into_iter().filter(|p| self.is_newly_ended(*p)) {
            let i = pod.ix();
            let index = self.index(pod);
            let mut ended = EndedPod {
                pod,
                incarnation: self.store.pods.incarnation[i],
                index,
                succeeded: self.store.pods.phase[i] == PodPhase::Succeeded,
                is_countable: false,
            };
            if ended.succeeded {
                ended.is_countable = index < limit && self.is_new_success(index, c);
                c.succeeded += u32::from(ended.is_countable);
            } else if self.is_considered_failed(pod) {
                let verdict = self.verdict(pod);
                ended.is_countable = index < limit && verdict.counts;
                c.failed += u32::from(ended.is_countable);
                let before = u32::from(self.store.pods.index_failures[i]);
                if index < limit && per_index::index_fails(self.spec(), &verdict, before) {
                    failed_now.push(index);
                }
            } else {
                continue;
            }
            c.ended.push(ended);
        }
        merge_sorted(&mut c.failed_indexes, failed_now.into_iter());
        if self.spec().success_policy.is_some() {
            let new = c.ended.iter().filter(|e| e.succeeded && e.is_countable);
            merge_sorted(&mut c.succeeded_indexes, new.map(|e| e.index));
        }
        if per_index::counts_per_index(self.spec()) {
            self.find_delayed(limit, c);
        } else {
            self.count_towards_backoff(limit, c);
        }
    }

    /// Returns true if this is the first success of its index; for a NonIndexed Job, always.
    fn is_new_success(&self, index: u32, c: &ComputedStatus) -> bool {
        // Sorted by index: a second pod of the index is among the last entries.
        let mut same = c.ended.iter().rev().take_while(|e| e.index == index);
        let twin = same.any(|e| e.succeeded && e.is_countable);
        !twin && self.row.succeeded.binary_search(&index).is_err()
    }

    fn count_towards_backoff(&self, limit: u32, c: &mut ComputedStatus) {
        let ended_at = |e: &EndedPod| self.store.pods.ended_at[e.pod.ix()];
        let within = |e: &&EndedPod| e.index < limit;
        let succeeded = c.ended.iter().filter(|e| e.succeeded).filter(within);
        let failed = c.ended.iter().filter(|e| !e.succeeded).filter(within);
        c.backoff = c.backoff.after_sync(succeeded.map(ended_at).max(), failed.map(ended_at));
    }

    /// getPodsWithDelayedDeletionPerIndex: for every index that is neither active nor decided, the failed pod with
    /// the largest failure count.
    fn find_delayed(&self, limit: u32, c: &mut ComputedStatus) {
        let mut busy: Vec<u32> = self.row.succeeded.clone();
        busy.extend(&c.failed_indexes);
        busy.extend(c.ended.iter().filter(|e| e.succeeded).map(|e| e.index));
        busy.extend(self.active_pods().map(|p| self.index(p)));
        busy.sort();
        let key = |pod: PodId| (self.index_failures(pod), self.store.pods.ended_at[pod.ix()]);
        for e in c.ended.iter().filter(|e| !e.succeeded && e.index < limit) {
            if busy.binary_search(&e.index).is_ok() {
                continue;
            }
            match c.delayed.last_mut().filter(|(index, _)| *index == e.index) {
                None => c.delayed.push((e.index, e.pod)),
                Some((_, best)) if key(*best) <= key(e.pod) => *best = e.pod,
                Some(_) => {}
            }
        }
    }

    fn failed_and_succeeded(&self, c: &ComputedStatus) -> u32 {
        let succeeded = |index: &&u32| {
            let ends = c.ended.iter();
            self.row.succeeded.binary_search(*index).is_ok() || ends.filter(|e| e.succeeded).any(|e| e.index == **index)
        };
        c.failed_indexes.iter().filter(succeeded).count() as u32
    }

    pub fn sync_view(&self, now: SimTime, version: KubeVersion, c: &'a ComputedStatus) -> JobSyncView<'a> {
        let j = &self.store.jobs[self.job.ix()];
        let stored = |kind| {
            let condition = j.status.condition(kind)?;
            Some((condition.reason.clone(), condition.message.as_str()))
        };
        JobSyncView {
            spec: self.spec(),
            version,
            now,
            deleting: j.is_deleting(),
            suspended: j.suspended,
            start_time: j.status.start_time,
            failure_target: stored(JobConditionType::FailureTarget),
            success_criteria_met: stored(JobConditionType::SuccessCriteriaMet),
            active: c.active,
            misplaced: c.misplaced,
            terminating: c.terminating,
            succeeded: c.succeeded,
            succeeded_indexes: &c.succeeded_indexes,
            failed: c.failed,
            container_restarts: j.live.container_restarts,
            failed_indexes: c.failed_indexes.len() as u32,
            failed_and_succeeded: self.failed_and_succeeded(c),
            fail_job_message: c.fail_job_message.as_deref(),
            expectations_satisfied: self.row.expected_creations == 0,
            backoff: c.backoff,
        }
    }
}
