//! Readiness of JobSets as a whole, which defines the duration of restarts.

use super::TimeAccounting;
use crate::record::{Body, LedgerCategory};
use crate::store::{JobSetChange, PodPhase, flag};
use crate::{apiserver, ctx::EngineContext};
use sim_api::spec::{JobSpec, ReplicatedJob};
use sim_base::{JobId, JobSetId, PodId};

impl TimeAccounting {
    /// Computes the number of pods that the JobSet requires: by their own specs for existing Jobs, by the JobSet's
    /// spec for others. Jobs that a new JobSet adopts are not counted yet.
    pub(super) fn update_required_pods(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
        let rjs = &ctx.store.jobsets[jobset.ix()].spec.spec.replicated_jobs;
        let of_rj = |rj: &ReplicatedJob| u64::from(rj.replicas) * u64::from(rj.template.pods());
        let mut wanted: u64 = rjs.iter().map(of_rj).sum();
        for job in ctx.store.jobs_of(jobset) {
            let of_spec = Self::required_by_spec(ctx, job);
            if ctx.store.jobs[job.ix()].exists && change != JobSetChange::Created {
                wanted = wanted + u64::from(self.job_mut(job).required) - u64::from(of_spec);
            } else {
                self.job_mut(job).required = of_spec;
            }
        }
        if let Some(js) = self.jobset_mut(jobset) {
            js.required = wanted;
        }
        self.check_all_ready(ctx, jobset);
    }

    /// Number of pods in `wanted` for a Job that does not exist, according to its JobSet's spec.
    fn required_by_spec(ctx: &EngineContext<'_>, job: JobId) -> u32 {
        let j = &ctx.store.jobs[job.ix()];
        let spec = ctx.store.jobsets.get(j.jobset.ix()).map(|js| &js.spec.spec);
        let rj = spec.and_then(|s| s.replicated_jobs.get(j.rj as usize));
        rj.map_or(0, |rj| rj.template.pods())
    }

    /// A new Job object: its own spec applies instead of the JobSet's.
    pub(super) fn require_new_job(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        self.job_mut(job).required = Self::required_by_spec(ctx, job);
        self.recount_required(ctx, job);
    }

    /// The Job object was removed: all of its pods are required again, and remaining pods do not count, as in the
    /// status of the JobSet (REC-6): no later Job can adopt them, because its selector contains its own uid.
    pub(super) fn forget_job(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        self.job_mut(job).successes = 0;
        let left: Vec<PodId> = ctx.store.jobs[job.ix()].pods.iter().collect();
        for pod in left {
            if self.category(pod).is_some()
                && let Some(js) = self.jobset_mut(ctx.store.jobset_of(pod))
            {
                js.bound -= 1;
            }
            if self.pod_mut(pod).ready {
                self.stop_counting(ctx, pod);
                self.set_category(ctx, pod, Some(LedgerCategory::Terminating));
            }
        }
        let wanted = Self::required_by_spec(ctx, job);
        self.set_required(ctx, job, wanted);
    }

    /// Recomputes the number of pods that a Job requires.
    pub(super) fn recount_required(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        if let Some(wanted) = self.required_by_job(ctx, job) {
            self.set_required(ctx, job, wanted);
        }
    }

    /// A Job requires min(parallelism, completions − succeeded) ready pods: with more completions than parallelism,
    /// the next pod replaces one that succeeded.
    fn required_by_job(&mut self, ctx: &EngineContext<'_>, job: JobId) -> Option<u32> {
        if !ctx.store.jobs[job.ix()].exists {
            return None;
        }
        // A successPolicy may be met before all completions.
        let complete = apiserver::is_complete(ctx, job);
        let successes = self.job_mut(job).successes;
        Some(if complete { 0 } else { required_ready_pods(ctx.store.job_spec(job), successes) })
    }

    fn set_required(&mut self, ctx: &mut EngineContext<'_>, job: JobId, wanted: u32) {
        self.replace_required(ctx, job, wanted);
        let jobset = ctx.store.jobs[job.ix()].jobset;
        self.check_all_ready(ctx, jobset);
    }

    fn replace_required(&mut self, ctx: &EngineContext<'_>, job: JobId, wanted: u32) {
        let before = std::mem::replace(&mut self.job_mut(job).required, wanted);
        if let Some(js) = self.jobset_mut(ctx.store.jobs[job.ix()].jobset) {
            js.required = js.required + u64::from(wanted) - u64::from(before);
        }
    }

    pub(super) fn ready_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, ready: bool) {
        let pods = &ctx.store.pods;
        if !pods.is_active(pod) || pods.is_succeeding(pod) || self.pod_mut(pod).ready == ready {
            return;
        }
        if !ctx.store.is_owned(pod) {
            self.set_category(ctx, pod, Some(LedgerCategory::Terminating));
            return;
        }
        self.pod_mut(pod).ready = ready;
        let jobset = self.count_ready(ctx, pod, ready);
        let category = if ready { LedgerCategory::Waiting } else { LedgerCategory::Starting };
        self.set_category(ctx, pod, Some(category));
        self.check_all_ready(ctx, jobset);
    }

    /// The pod is no longer active and no longer counts as ready.
    pub(super) fn stop_counting(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if !std::mem::replace(&mut self.pod_mut(pod).ready, false) {
            return;
        }
        let jobset = self.count_ready(ctx, pod, false);
        self.check_all_ready(ctx, jobset);
    }

    /// A pod became ready or not ready.
    fn count_ready(&mut self, ctx: &EngineContext<'_>, pod: PodId, ready: bool) -> JobSetId {
        let jobset = ctx.store.jobset_of(pod);
        let change = |n: &mut u32| *n = if ready { *n + 1 } else { *n - 1 };
        change(&mut self.job_mut(ctx.store.pods.job[pod.ix()]).ready_pods.ready);
        if let Some(js) = self.jobset_mut(jobset) {
            change(&mut js.ready);
        }
        jobset
    }

    pub(super) fn pod_finished(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let job = ctx.store.pods.job[pod.ix()];
        let succeeded = ctx.store.pods.phase[pod.ix()] == PodPhase::Succeeded;
        // A pod without finalizer was deleted by a suspension and does not count as a success (D-13).
        let counted = succeeded && ctx.store.pods.has(pod, flag::FINALIZER);
        let counts = counted && ctx.store.is_owned(pod);
        if counts && !std::mem::replace(&mut self.pod_mut(pod).success, true) {
            // Together with its readiness, so that the readiness of the JobSet does not change.
            self.job_mut(job).successes += 1;
            if let Some(wanted) = self.required_by_job(ctx, job) {
                self.replace_required(ctx, job, wanted);
            }
        }
        let jobset = if std::mem::replace(&mut self.pod_mut(pod).ready, false) {
            self.count_ready(ctx, pod, false)
        } else {
            ctx.store.jobset_of(pod)
        };
        self.check_all_ready(ctx, jobset);
    }

    fn check_all_ready(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(row) = ctx.store.jobsets.get(jobset.ix()) else {
            return;
        };
        let (ended, jobs) = (row.status.terminal_state.is_some(), &row.spec.spec);
        let Some(js) = self.jobset_mut(jobset) else {
            return;
        };
        let enough = u64::from(js.ready) >= js.required;
        if !enough && !js.all_ready {
            return;
        }
        let mut jobs = jobs.replicated_jobs.iter();
        let ready = enough && jobs.any(|rj| rj.replicas > 0 && rj.template.pods() > 0);
        if ready == js.all_ready || (ready && ended) {
            return;
        }
        js.all_ready = ready;
        let first = ready && !js.ever_ready;
        js.ever_ready |= ready;
        if !js.trains {
            self.set_productive(ctx, jobset, ready);
        }
        ctx.emit(Body::AllReady { jobset, ready });
        if first {
            self.first_ready |= self.jobsets.iter().all(|js| js.ever_ready);
        }
    }

    /// Completed or Failed: pods that still run are no longer productive.
    pub(super) fn jobset_ended(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let ended = ctx.store.jobsets[jobset.ix()].status.terminal_state.is_some();
        let Some(js) = self.jobset_mut(jobset).filter(|js| ended && js.all_ready) else {
            return;
        };
        js.all_ready = false;
        if !js.trains {
            self.set_productive(ctx, jobset, false);
        }
    }

    /// Sets whether the ready accelerators of a JobSet are productive.
    pub fn set_productive(&mut self, ctx: &EngineContext<'_>, jobset: JobSetId, runs: bool) {
        let Some(js) = self.jobset_mut(jobset).filter(|js| js.is_productive != runs) else {
            return;
        };
        js.is_productive = runs;
        let held = (js.ready_accelerators, js.ready_rate);
        let (waiting, productive) = (LedgerCategory::Waiting, LedgerCategory::Productive);
        let (from, to) = if runs { (waiting, productive) } else { (productive, waiting) };
        self.ledger.transfer(ctx.now, jobset, held, from, to);
    }
}

/// Number of ready pods that a Job requires after this number of successes.
pub(super) fn required_ready_pods(spec: &JobSpec, successes: u32) -> u32 {
    let left = match spec.completions() {
        Some(completions) => completions.saturating_sub(successes),
        None if successes > 0 => 0,
        None => u32::MAX,
    };
    left.min(spec.parallelism())
}
