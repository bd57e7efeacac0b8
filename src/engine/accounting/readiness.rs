//! Readiness of JobSets as a whole, which defines the duration of restarts.

use super::Accounting;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::record::{Body, LedgerCategory};
use crate::store::{Phase, flag};
use sim_api::spec::{JobSpec, ReplicatedJob};
use sim_base::*;

impl Accounting {
    /// Computes the number of pods that the JobSet requires: by their own specs for existing Jobs, by the JobSet's
    /// spec for others.
    pub(super) fn jobset_wants(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        let rjs = &ctx.store.jobsets[jobset.ix()].spec.spec.replicated_jobs;
        let of_rj = |rj: &ReplicatedJob| u64::from(rj.replicas) * u64::from(rj.template.pods());
        let mut wanted: u64 = rjs.iter().map(of_rj).sum();
        for job in ctx.store.jobs_of(jobset) {
            let of_spec = Self::of_spec(ctx, job);
            if ctx.store.jobs[job.ix()].exists {
                wanted = wanted + u64::from(self.job(job).wanted) - u64::from(of_spec);
            } else {
                self.job(job).wanted = of_spec;
            }
        }
        if let Some(js) = self.jobset(jobset) {
            js.wanted = wanted;
        }
        self.check_all_ready(ctx, jobset);
    }

    /// Number of pods in `wanted` for a Job that does not exist, according to its JobSet's spec.
    fn of_spec(ctx: &Ctx<'_>, job: JobId) -> u32 {
        let j = &ctx.store.jobs[job.ix()];
        let spec = ctx.store.jobsets.get(j.jobset.ix()).map(|js| &js.spec.spec);
        let rj = spec.and_then(|s| s.replicated_jobs.get(j.rj as usize));
        rj.map_or(0, |rj| rj.template.pods())
    }

    /// A new Job object: its own spec applies instead of the JobSet's.
    pub(super) fn wants_at_first(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        self.job(job).wanted = Self::of_spec(ctx, job);
        self.recount(ctx, job);
    }

    /// The Job object was removed: all of its pods are required again, and remaining pods do not count, as in the
    /// status of the JobSet (REC-6): no later Job can adopt them, because its selector contains its own uid.
    pub(super) fn forget_job(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        self.job(job).successes = 0;
        let left: Vec<PodId> = ctx.store.jobs[job.ix()].pods.iter().collect();
        for pod in left {
            if self.category(pod).is_some()
                && let Some(js) = self.jobset(ctx.store.jobset_of(pod))
            {
                js.bound -= 1;
            }
            if self.pod(pod).ready {
                self.stops_counting(ctx, pod);
                self.set_category(ctx, pod, Some(LedgerCategory::Terminating));
            }
        }
        let wanted = Self::of_spec(ctx, job);
        self.want(ctx, job, wanted);
    }

    /// Recomputes the number of pods that a Job requires.
    pub(super) fn recount(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        if let Some(wanted) = self.wanted_of(ctx, job) {
            self.want(ctx, job, wanted);
        }
    }

    /// A Job requires min(parallelism, completions − succeeded) ready pods: with more completions than parallelism,
    /// the next pod replaces one that succeeded.
    fn wanted_of(&mut self, ctx: &Ctx<'_>, job: JobId) -> Option<u32> {
        if !ctx.store.jobs[job.ix()].exists {
            return None;
        }
        // A successPolicy may be met before all completions.
        let complete = apiserver::is_complete(ctx, job);
        let successes = self.job(job).successes;
        Some(match complete {
            true => 0,
            false => wanted_pods(ctx.store.job_spec(job), successes),
        })
    }

    fn want(&mut self, ctx: &mut Ctx<'_>, job: JobId, wanted: u32) {
        self.want_quietly(ctx, job, wanted);
        let jobset = ctx.store.jobs[job.ix()].jobset;
        self.check_all_ready(ctx, jobset);
    }

    fn want_quietly(&mut self, ctx: &Ctx<'_>, job: JobId, wanted: u32) {
        let before = std::mem::replace(&mut self.job(job).wanted, wanted);
        if let Some(js) = self.jobset(ctx.store.jobs[job.ix()].jobset) {
            js.wanted = js.wanted + u64::from(wanted) - u64::from(before);
        }
    }

    pub(super) fn ready_changed(&mut self, ctx: &mut Ctx<'_>, pod: PodId, ready: bool) {
        let pods = &ctx.store.pods;
        if !pods.is_active(pod) || pods.is_succeeding(pod) || self.pod(pod).ready == ready {
            return;
        }
        if !ctx.store.is_owned(pod) {
            self.set_category(ctx, pod, Some(LedgerCategory::Terminating));
            return;
        }
        self.pod(pod).ready = ready;
        let jobset = self.count_ready(ctx, pod, ready);
        let category = match ready {
            true => LedgerCategory::Waiting,
            false => LedgerCategory::Starting,
        };
        self.set_category(ctx, pod, Some(category));
        self.check_all_ready(ctx, jobset);
    }

    /// The pod is no longer active and no longer counts as ready.
    pub(super) fn stops_counting(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        if !std::mem::replace(&mut self.pod(pod).ready, false) {
            return;
        }
        let jobset = self.count_ready(ctx, pod, false);
        self.check_all_ready(ctx, jobset);
    }

    /// A pod became ready or not ready.
    fn count_ready(&mut self, ctx: &Ctx<'_>, pod: PodId, ready: bool) -> JobSetId {
        let jobset = ctx.store.jobset_of(pod);
        let change = |n: &mut u32| *n = if ready { *n + 1 } else { *n - 1 };
        change(&mut self.job(ctx.store.pods.job[pod.ix()]).held.ready);
        if let Some(js) = self.jobset(jobset) {
            change(&mut js.ready);
        }
        jobset
    }

    pub(super) fn pod_finished(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let job = ctx.store.pods.job[pod.ix()];
        let succeeded = ctx.store.pods.phase[pod.ix()] == Phase::Succeeded;
        // A pod without finalizer was deleted by a suspension and does not count as a success (D-13).
        let counted = succeeded && ctx.store.pods.has(pod, flag::FINALIZER);
        let counts = counted && ctx.store.is_owned(pod);
        if counts && !std::mem::replace(&mut self.pod(pod).success, true) {
            // Together with its readiness, so that the readiness of the JobSet does not change.
            self.job(job).successes += 1;
            if let Some(wanted) = self.wanted_of(ctx, job) {
                self.want_quietly(ctx, job, wanted);
            }
        }
        let jobset = match std::mem::replace(&mut self.pod(pod).ready, false) {
            true => self.count_ready(ctx, pod, false),
            false => ctx.store.jobset_of(pod),
        };
        self.check_all_ready(ctx, jobset);
    }

    fn check_all_ready(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        let Some(row) = ctx.store.jobsets.get(jobset.ix()) else {
            return;
        };
        let (ended, jobs) = (row.status.terminal_state.is_some(), &row.spec.spec);
        let Some(js) = self.jobset(jobset) else {
            return;
        };
        let enough = u64::from(js.ready) >= js.wanted;
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
            self.set_runs(ctx, jobset, ready);
        }
        ctx.emit(Body::AllReady { jobset, ready });
        if first {
            self.first_ready |= self.jobsets.iter().all(|js| js.ever_ready);
        }
    }

    /// Completed or Failed: pods that still run are no longer productive.
    pub(super) fn jobset_ended(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        let ended = ctx.store.jobsets[jobset.ix()]
            .status
            .terminal_state
            .is_some();
        let Some(js) = self.jobset(jobset).filter(|js| ended && js.all_ready) else {
            return;
        };
        js.all_ready = false;
        if !js.trains {
            self.set_runs(ctx, jobset, false);
        }
    }

    /// Sets whether the ready accelerators of a JobSet are productive.
    pub fn set_runs(&mut self, ctx: &Ctx<'_>, jobset: JobSetId, runs: bool) {
        let Some(js) = self.jobset(jobset).filter(|js| js.runs != runs) else {
            return;
        };
        js.runs = runs;
        let held = (js.ready_accelerators, js.ready_rate);
        let (waiting, productive) = (LedgerCategory::Waiting, LedgerCategory::Productive);
        let (from, to) = if runs {
            (waiting, productive)
        } else {
            (productive, waiting)
        };
        self.ledger.transfer(ctx.now, jobset, held, from, to);
    }
}

/// Number of ready pods that a Job requires after this number of successes.
pub(super) fn wanted_pods(spec: &JobSpec, successes: u32) -> u32 {
    let left = match spec.completions() {
        Some(completions) => completions.saturating_sub(successes),
        None if successes > 0 => 0,
        None => u32::MAX,
    };
    left.min(spec.parallelism())
}
