//! Diagnosis of permanently blocked JobSets: what each waits for at the end of a run, and why it cannot happen.
//! Reads the final state; must never change anything.

mod jobs;
mod pods;

use super::Components;
use super::circle;
use super::ctx::Ctx;
use super::void;
use sim_base::*;

use crate::record::{EndReason, RUN_ENDED};
use crate::store::{JobSetRow, flag};
use sim_api::spec::*;

/// Returns true if every JobSet is finished.
pub fn all_finished(ctx: &Ctx<'_>) -> bool {
    let mut jobsets = ctx.store.jobsets.iter();
    jobsets.all(|js| js.created && is_done(js))
}

fn is_done(js: &JobSetRow) -> bool {
    // A terminal condition finishes it, whichever client wrote it (REC-7).
    let ended = sim_policy::conditions::terminal(&js.status).is_some();
    js.deleted || ended || js.status.terminal_state.is_some()
}

/// Returns true if the JobSet is finished, or in a state that a user requested.
fn rests(ctx: &Ctx<'_>, parts: &Components, jobset: JobSetId) -> bool {
    let js = &ctx.store.jobsets[jobset.ix()];
    let errors = parts.jobset_manager.errors(jobset);
    is_done(js)
        || !js.created
        || parts.accounting.is_ready(jobset).0
        || (js.suspended() && !js.is_deleting() && errors == 0)
}

/// The end reason of a run without further events.
pub fn rest_reason(ctx: &Ctx<'_>, parts: &Components) -> EndReason {
    if ctx.store.jobsets.iter().all(is_done) {
        return EndReason::AllJobSetsFinished;
    }
    let mut jobsets = (0..ctx.store.jobsets.len() as u32).map(JobSetId);
    if jobsets.all(|jobset| rests(ctx, parts, jobset)) {
        EndReason::Settled
    } else {
        EndReason::Stuck
    }
}

/// Returns true if a Job will fail at its activeDeadlineSeconds before the run ends.
pub fn deadline_ahead(ctx: &Ctx<'_>) -> bool {
    let limit = Time::ZERO + ctx.scenario.stop.at;
    ctx.store.jobs.iter().any(|job| {
        let runs = job.exists && !job.suspended && !job.status.is_finished();
        let seconds = job.spec.active_deadline_seconds.filter(|_| runs);
        let seconds = seconds.and_then(|s| u64::try_from(s).ok());
        let since = job.status.start_time.zip(seconds);
        let over = since.map(|(start, s)| start + Duration::from_secs(s));
        over.is_some_and(|at| ctx.now < at && at <= limit)
    })
}

/// One sentence per JobSet that is permanently blocked, or cut off by the time limit.
pub fn sentences(ctx: &mut Ctx<'_>, parts: &Components, reason: EndReason) -> Vec<String> {
    let repairs = ctx.scenario.repairs_later || parts.ageing.repairs_later;
    let more = repairs || void::is_awaited(ctx, parts) || !parts.user.script_is_over();
    let cut = reason == EndReason::TimeLimit;
    let why = Why {
        ctx,
        parts,
        overtaken: cut && more,
        repairs: cut && repairs,
    };
    if ctx.progress.stands_still {
        return vec![format!(
            "time stands still at {}: something ends and begins again, and it takes no time, or hardly any",
            ctx.now
        )];
    }
    match &ctx.progress.goes_round {
        Some(circle) => {
            let mut sentences = vec![circle::sentence(ctx, circle)];
            sentences.extend(why.beside(ctx.store.jobs[circle.job.ix()].jobset));
            sentences
        }
        None => why.stuck(),
    }
}

/// The reason why a pod finds no node, if the JobSet was never ready and is blocked by it.
pub fn never_placed(ctx: &Ctx<'_>, parts: &Components, jobset: JobSetId) -> Option<String> {
    let (_, ever_ready) = parts.accounting.is_ready(jobset);
    if rests(ctx, parts, jobset) || ever_ready {
        return None;
    }
    let why = Why {
        ctx,
        parts,
        overtaken: false,
        repairs: false,
    };
    let mut jobs = ctx.store.jobs_of(jobset);
    jobs.find_map(|job| {
        let mut pods = ctx.store.jobs[job.ix()].pods.iter();
        pods.find_map(|pod| why.why_parked(job, pod))
    })
}

struct Why<'a, 'b> {
    ctx: &'a Ctx<'b>,
    parts: &'a Components,
    /// The run was cut off while events were pending.
    overtaken: bool,
    /// Repairs would have completed later.
    repairs: bool,
}

impl Why<'_, '_> {
    fn stuck(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (i, js) in self.ctx.store.jobsets.iter().enumerate() {
            let jobset = JobSetId(i as u32);
            if rests(self.ctx, self.parts, jobset) || !js.created {
                continue;
            }
            let name = &self.ctx.store.names.jobsets[i].name;
            // MB-1: the JobSet controller ignores it.
            let manager = js.spec.spec.managed_by.as_deref();
            if let Some(other) = manager.filter(|m| *m != JOBSET_CONTROLLER) {
                sentences.push(format!(
                    "JobSet {name} is left alone: its spec.managedBy names {other}, which does nothing here"
                ));
                continue;
            }
            if wants_nothing(&js.spec) {
                sentences.push(self.without_pods(name, &js.spec));
                continue;
            }
            let why = self.why_stuck(jobset);
            sentences.push(format!("JobSet {name} is not ready: {why}"));
        }
        sentences
    }

    /// JobSets that are unfinished when another one ends the run.
    fn beside(&self, other: JobSetId) -> impl Iterator<Item = String> {
        let names = &self.ctx.store.names.jobsets;
        let all = (0..self.ctx.store.jobsets.len() as u32).map(JobSetId);
        let busy = all.filter(move |&i| i != other && !rests(self.ctx, self.parts, i));
        busy.map(move |jobset| {
            let (name, other) = (&names[jobset.ix()].name, &names[other.ix()].name);
            format!("JobSet {name} is still under way: the run ends because JobSet {other} goes round in circles")
        })
    }

    fn why_stuck(&self, jobset: JobSetId) -> String {
        let js = &self.ctx.store.jobsets[jobset.ix()];
        if js.is_deleting() && !js.spec.finalizers.is_empty() {
            let held = js.spec.finalizers.join(", ");
            return format!("it is being deleted, and nobody takes its finalizers off: {held}");
        }
        let others = &self.ctx.store.others;
        if js.is_deleting()
            && js.foreground
            && let Some((kind, name)) = others.owned(jobset).next()
            && !self
                .ctx
                .store
                .jobs_of(jobset)
                .any(|j| self.ctx.store.jobs[j.ix()].exists)
        {
            let kind = kind.as_str();
            return format!("{kind} {name} is being deleted, and nobody takes its finalizers off");
        }
        let mut waiting_at_barrier = 0;
        for job in self.ctx.store.jobs_of(jobset) {
            for pod in self.ctx.store.jobs[job.ix()].pods.iter() {
                if let Some(why) = self.why_pod_waits(job, pod) {
                    return why;
                }
                let up = self.parts.kubelet.is_up(pod);
                let ready = self.ctx.store.pods.has(pod, flag::READY);
                waiting_at_barrier += u32::from(up && !ready);
            }
            let j = &self.ctx.store.jobs[job.ix()];
            if j.exists && j.is_deleting() && j.is_held() {
                let name = self.ctx.store.names.job(job);
                return format!("Job {name} is being deleted, and nobody takes its finalizers off");
            }
        }
        if let Some(why) = self.why_refused(jobset) {
            return why;
        }
        let not_created = self.why_not_created(jobset);
        if waiting_at_barrier > 0 {
            return self.so_far(self.why_barrier_is_up(jobset, waiting_at_barrier, not_created));
        }
        not_created
            .or_else(|| self.why_unmanaged(jobset))
            .or_else(|| self.why_suspended(jobset))
            .or_else(|| self.why_one_index_short(jobset))
            .or_else(|| self.why_nothing_is_decided(jobset))
            .map_or_else(|| RUN_ENDED.to_owned(), |why| self.so_far(why))
    }

    /// Whether a repair, or another JobSet, may give what a pod waits for.
    fn room_may_come(&self, own: JobSetId) -> bool {
        let jobsets = self.ctx.store.jobsets.iter().enumerate();
        let mut others = jobsets.filter(|&(i, _)| i != own.ix());
        self.repairs || others.any(|(_, js)| js.created && !is_done(js))
    }

    /// What is said only because nothing has come: that shows nothing if something was under way.
    fn so_far(&self, why: String) -> String {
        match self.overtaken {
            true => format!("{}; {RUN_ENDED}", why.trim_end_matches('.')),
            false => why,
        }
    }

    /// C-10: nothing can succeed, and without a success the success policy is never asked.
    fn without_pods(&self, name: &str, spec: &JobSet) -> String {
        let none = spec.spec.replicated_jobs.iter().all(|r| r.replicas == 0);
        let why = match none {
            true => "none of its replicatedJobs has a Job",
            false => "its Jobs have parallelism 0, and so no pod",
        };
        format!("JobSet {name} never completes: {why}")
    }
}

fn wants_nothing(jobset: &JobSet) -> bool {
    let rjs = &jobset.spec.replicated_jobs;
    rjs.iter()
        .all(|rj| rj.replicas == 0 || rj.template.pods() == 0)
}
