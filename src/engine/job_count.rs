//! What a sync of the Job controller counts at its start (kubernetes.md 1.3 step 3), and the view made of it.
//!
//! A sync acts on the pods as its cache showed them when it began: `Computed` keeps them, however long the sync takes.

use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::policy::backoff::BackoffRecord;
use crate::policy::pod_failure::{self, FailedPodView, Verdict};
use crate::policy::{JobSyncView, per_index};
use crate::record::JobConditionType;
use crate::spec::{CompletionMode, PodFailurePolicyAction, PodReplacementPolicy};

/// Counted at the start of a sync, carried on by its own deletions and creations.
#[derive(Clone, Default)]
pub struct Computed {
    pub at: Time,
    pub active: u32,
    pub ready: u32,
    pub terminating: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub misplaced: u32,
    pub backoff: BackoffRecord,
    pub fail_job_message: Option<String>,
    /// Only with a successPolicy: the indexes behind `succeeded`.
    pub succeeded_indexes: Vec<u32>,
    /// Indexes that failed for good, with those of this sync; ascending.
    pub failed_indexes: Vec<u32>,
    /// With backoffLimitPerIndex: the failed pod of an index whose finalizer stays until the index has a new pod.
    pub delayed: Vec<(u32, PodId)>,
    /// Pods that ended and still carry the finalizer.
    pub ended: Vec<EndedPod>,
    /// Some pod entered the uncounted list in this sync.
    pub counted_any: bool,
    pub finish_now: bool,
}

/// A pod that ended, as the sync saw it.
#[derive(Copy, Clone)]
pub struct EndedPod {
    pub pod: PodId,
    pub incarnation: u32,
    pub index: u32,
    pub succeeded: bool,
    /// Enters the uncounted list: not ignored, its index exists.
    pub counts: bool,
}

impl Computed {
    /// A pod that was active at the start of the sync; that somebody else was faster does not matter.
    pub fn deleted(&mut self, was_ready: bool) {
        self.active = self.active.saturating_sub(1);
        self.terminating += 1;
        if was_ready {
            self.ready = self.ready.saturating_sub(1);
        }
    }

    pub fn created(&mut self) {
        self.active += 1;
    }

    /// The pod that the next one of this index replaces.
    pub fn replaced(&self, index: u32) -> Option<PodId> {
        let at = self
            .delayed
            .binary_search_by_key(&index, |(i, _)| *i)
            .ok()?;
        Some(self.delayed[at].1)
    }
}

impl Run<'_> {
    /// Pods are walked only if some have ended; otherwise the incremental counters say it all. `ended` is a buffer.
    pub fn count_for_sync(&self, job: JobId, mut ended: Vec<EndedPod>) -> Computed {
        ended.clear();
        let j = &self.w.jobs[job.ix()];
        let spec = self.job_spec(job);
        let limit = self.index_limit(job);
        let known = j.succeeded_indexes.partition_point(|i| *i < limit);
        let failed_known = j.failed_indexes.partition_point(|i| *i < limit);
        let mut c = Computed {
            at: self.w.now,
            active: j.live.active,
            ready: j.live.ready,
            terminating: j.live.terminating,
            succeeded: known as u32,
            failed: j.counted_failed,
            misplaced: self.misplaced_pods(job),
            backoff: j.sync.backoff,
            failed_indexes: j.failed_indexes[..failed_known].to_vec(),
            ended,
            ..Computed::default()
        };
        if spec.success_policy.is_some() {
            c.succeeded_indexes = j.succeeded_indexes[..known].to_vec();
        }
        let fails_job = spec.pod_failure_policy.iter().flatten();
        let fails_job = fails_job
            .clone()
            .any(|r| r.action == PodFailurePolicyAction::FailJob);
        if j.live.ended_with_finalizer > 0 {
            self.count_ended(job, limit, &mut c);
        }
        if fails_job && j.live.objects > j.live.active {
            c.fail_job_message = self.fail_job_message(job);
        }
        c
    }

    /// Whether the Job's pods have completion indexes.
    pub fn indexed(&self, job: JobId) -> bool {
        self.job_spec(job).completion_mode == CompletionMode::Indexed
    }

    /// Completion indexes below this exist; a Job without indexes has places only.
    fn index_limit(&self, job: JobId) -> u32 {
        let completions = self.job_spec(job).completions();
        completions
            .filter(|_| self.indexed(job))
            .unwrap_or(u32::MAX)
    }

    fn count_ended(&self, job: JobId, limit: u32, c: &mut Computed) {
        let mut last_success = None;
        let per_index = per_index::counts_per_index(self.job_spec(job));
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            let i = pod.ix();
            if !self.newly_ended(job, pod) {
                continue;
            }
            let index = self.w.pods.index[i];
            let mut ended = EndedPod {
                pod,
                incarnation: self.w.pods.incarnation[i],
                index,
                succeeded: self.w.pods.phase[i] == Phase::Succeeded,
                counts: false,
            };
            if ended.succeeded {
                ended.counts = index < limit && self.is_new_success(job, index, c);
                c.succeeded += u32::from(ended.counts);
                last_success = last_success.max((index < limit).then_some(self.w.pods.ended_at[i]));
            } else if self.considered_failed(job, pod) {
                let verdict = self.verdict(job, pod);
                ended.counts = index < limit && verdict.counts;
                c.failed += u32::from(ended.counts);
                let before = u32::from(self.w.pods.index_failures[i]);
                if index < limit && per_index::index_fails(self.job_spec(job), &verdict, before) {
                    insert(&mut c.failed_indexes, index);
                }
            } else {
                continue;
            }
            c.ended.push(ended);
        }
        if per_index {
            self.find_delayed(job, limit, c);
        } else {
            let failed = c.ended.iter().filter(|e| !e.succeeded && e.index < limit);
            let ends = failed.map(|e| self.w.pods.ended_at[e.pod.ix()]);
            c.backoff = c.backoff.after(last_success, ends);
        }
    }

    /// Whether this is the first success of an index; for a Job without indexes every success is.
    fn is_new_success(&self, job: JobId, index: u32, c: &mut Computed) -> bool {
        let known = &self.w.jobs[job.ix()].succeeded_indexes;
        let twin = c
            .ended
            .iter()
            .any(|e| e.succeeded && e.counts && e.index == index);
        let new = known.binary_search(&index).is_err() && !twin;
        if new && self.job_spec(job).success_policy.is_some() {
            insert(&mut c.succeeded_indexes, index);
        }
        new
    }

    /// getPodsWithDelayedDeletionPerIndex: of every index that is neither active nor decided, the failed pod with the
    /// most failures behind it.
    fn find_delayed(&self, job: JobId, limit: u32, c: &mut Computed) {
        let p = &self.w.pods;
        let mut busy: Vec<u32> = self.w.jobs[job.ix()].succeeded_indexes.clone();
        busy.extend(&c.failed_indexes);
        busy.extend(c.ended.iter().filter(|e| e.succeeded).map(|e| e.index));
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            if p.exists(pod) && p.job[pod.ix()] == job && p.is_active(pod) {
                busy.push(p.index[pod.ix()]);
            }
        }
        busy.sort_unstable();
        for e in c.ended.iter().filter(|e| !e.succeeded && e.index < limit) {
            if busy.binary_search(&e.index).is_ok() {
                continue;
            }
            match c.delayed.binary_search_by_key(&e.index, |(i, _)| *i) {
                Err(at) => c.delayed.insert(at, (e.index, e.pod)),
                Ok(at) => {
                    let old = c.delayed[at].1;
                    let key = |q: PodId| (self.failures_of(q), p.ended_at[q.ix()]);
                    if key(old) <= key(e.pod) {
                        c.delayed[at].1 = e.pod;
                    }
                }
            }
        }
    }

    /// Failures of its index before this pod, with ignored ones.
    pub fn failures_of(&self, pod: PodId) -> u32 {
        let p = &self.w.pods;
        u32::from(p.index_failures[pod.ix()]) + u32::from(p.ignored_failures[pod.ix()])
    }

    pub fn sync_view<'a>(&'a self, job: JobId, c: &'a Computed) -> JobSyncView<'a> {
        let j = &self.w.jobs[job.ix()];
        let stored = |kind| {
            let condition = j.status.condition(kind)?;
            Some((condition.kubernetes_reason(), condition.message.as_str()))
        };
        JobSyncView {
            spec: self.job_spec(job),
            version: self.m.scenario.control_plane.kubernetes,
            now: self.w.now,
            deleting: j.deleting,
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
            fail_job_message: c.fail_job_message.as_deref(),
            expectations_satisfied: j.sync.expected == 0,
            backoff: c.backoff,
        }
    }

    /// Ended, with the tracking finalizer, and not in the uncounted list yet.
    fn newly_ended(&self, job: JobId, pod: PodId) -> bool {
        let p = &self.w.pods;
        p.exists(pod)
            && p.job[pod.ix()] == job
            && p.has(pod, flag::FINALIZER)
            && !p.has(pod, flag::COUNTED)
            && (p.phase[pod.ix()].is_terminal() || p.has(pod, flag::DELETING))
    }

    /// isPodFailed: phase Failed, or deleted before it could fail, unless only failed pods are replaced.
    fn considered_failed(&self, job: JobId, pod: PodId) -> bool {
        let phase = self.w.pods.phase[pod.ix()];
        let by_deletion = self.job_spec(job).pod_replacement_policy()
            == PodReplacementPolicy::TerminatingOrFailed;
        phase == Phase::Failed
            || (by_deletion && phase != Phase::Succeeded && self.w.pods.has(pod, flag::DELETING))
    }

    /// podFailurePolicy about one failed pod.
    pub fn verdict(&self, job: JobId, pod: PodId) -> Verdict {
        let Some(rules) = &self.job_spec(job).pod_failure_policy else {
            return Verdict::default();
        };
        let codes = self.exit_codes(pod);
        pod_failure::verdict(rules, &self.failed_pod(pod, &codes))
    }

    pub(super) fn failed_pod<'a>(
        &self,
        pod: PodId,
        exit_codes: &'a [(&'a str, i32)],
    ) -> FailedPodView<'a> {
        FailedPodView {
            exit_codes,
            disruption_target: self.w.pods.has(pod, flag::DISRUPTION_TARGET),
        }
    }

    /// FailJob's message, of the first failed pod that matches; pods that are counted already still speak.
    fn fail_job_message(&self, job: JobId) -> Option<String> {
        let rules = self.job_spec(job).pod_failure_policy.as_ref()?;
        let p = &self.w.pods;
        (0..self.pods_of(job)).find_map(|k| {
            let pod = self.pod_of(job, k);
            let own = p.exists(pod) && p.job[pod.ix()] == job;
            if !own || !self.considered_failed(job, pod) {
                return None;
            }
            let codes = self.exit_codes(pod);
            let view = self.failed_pod(pod, &codes);
            let (rule, action, by) = pod_failure::matching_rule(rules, &view)?;
            if action != PodFailurePolicyAction::FailJob {
                return None;
            }
            let (index, incarnation) = (p.index[pod.ix()], p.incarnation[pod.ix()]);
            let name = match self.indexed(job) {
                true => self.m.names.pod(job, index, pod, incarnation),
                false => self.m.names.pod_without_index(job, pod, incarnation),
            };
            let jobset = self.m.jobs[job.ix()].jobset;
            let namespace = &self.m.names.jobsets[jobset.ix()].namespace;
            Some(pod_failure::fail_job_message(namespace, &name, by, rule))
        })
    }
}

/// Into an ascending list without repeats.
pub fn insert(list: &mut Vec<u32>, index: u32) {
    if let Err(at) = list.binary_search(&index) {
        list.insert(at, index);
    }
}
