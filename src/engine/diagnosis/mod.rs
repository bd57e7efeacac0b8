//! Diagnosis of permanently blocked JobSets: what each waits for at the end of a run, and why it cannot happen.
//! Reads the final state; must never change anything.

mod jobs;
mod pods;

use super::ControlPlaneComponents;
use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::progress::EventSubject;
use super::restart_loop;
use super::stale_events;
use sim_base::{Duration, JobSetId, PodId, SimTime};

use crate::record::{EndReason, RUN_ENDED};
use crate::store::{JobSetRow, flag};
use sim_api::spec::{JOBSET_CONTROLLER, JobSet};

/// Returns true if every JobSet is finished.
pub fn all_finished(ctx: &EngineContext<'_>) -> bool {
    let mut jobsets = ctx.store.jobsets.iter();
    jobsets.all(|js| js.created && is_finished(js))
}

fn is_finished(js: &JobSetRow) -> bool {
    // A terminal condition finishes it, whichever client wrote it (REC-7).
    let ended = sim_policy::conditions::terminal(&js.status).is_some();
    js.deleted || ended || js.status.terminal_state.is_some()
}

/// Returns true if the JobSet is finished, runs until something ends it, or is in a state that a user requested. A
/// JobSet whose pods have all ended is ready but does not run: something prevents its end.
fn is_settled(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, jobset: JobSetId) -> bool {
    let js = &ctx.store.jobsets[jobset.ix()];
    let errors = parts.jobset_manager.errors(jobset);
    is_finished(js)
        || !js.created
        || (parts.accounting.readiness(jobset).0
            && is_running(ctx, parts, jobset)
            && permanent_stop(ctx, parts, jobset).is_none())
        || (js.suspended() && !js.is_deleting() && errors == 0 && parts.kueue.blocked_reason(ctx, jobset).is_none())
}

/// Why a training makes no steps although its pods run.
#[derive(Copy, Clone)]
enum TrainingStop {
    /// Processes hang since this time.
    Hangs(SimTime),
    /// This pod has succeeded before the work was done.
    Misses(PodId),
}

/// Why a training makes no progress, if no pending event can change that: no detection, exit, time limit or other
/// change of its objects is pending, and no action of the script.
fn permanent_stop(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, jobset: JobSetId) -> Option<TrainingStop> {
    let hang = parts.training.hang_start(jobset).map(TrainingStop::Hangs);
    let stop = hang.or_else(|| parts.training.missed_pod(ctx.store, jobset).map(TrainingStop::Misses))?;
    let is_own = |event: SimulationEvent| match event.subject() {
        Some(EventSubject::JobSet(of)) => of == jobset,
        Some(EventSubject::Job(job)) => ctx.store.jobs[job.ix()].jobset == jobset,
        Some(EventSubject::Pod(pod)) => ctx.store.jobset_of(pod) == jobset,
        _ => false,
    };
    let pending = ctx.queue.first_at(|at, event| is_own(event) && !stale_events::is_stale(ctx, parts, at, event));
    (pending.is_none() && parts.script.is_finished()).then_some(stop)
}

/// Returns true if pods hold nodes without progress and no pending event can change that: their training hangs, or the
/// kubelet tries indefinitely to pull an image.
pub fn hangs(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents) -> bool {
    if parts.kubelet.waits_for_images(ctx) {
        return true;
    }
    let mut jobsets = (0..ctx.store.jobsets.len() as u32).map(JobSetId);
    jobsets.any(|jobset| !is_finished(&ctx.store.jobsets[jobset.ix()]) && permanent_stop(ctx, parts, jobset).is_some())
}

/// Returns true if containers of the JobSet run.
fn is_running(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, jobset: JobSetId) -> bool {
    let mut jobs = ctx.store.jobs_of(jobset);
    jobs.any(|job| ctx.store.jobs[job.ix()].pods.iter().any(|pod| parts.kubelet.is_up(pod)))
}

/// The end reason of a run without further events.
pub fn end_reason(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents) -> EndReason {
    if ctx.store.jobsets.iter().all(is_finished) {
        return EndReason::AllJobSetsFinished;
    }
    let mut jobsets = (0..ctx.store.jobsets.len() as u32).map(JobSetId);
    if jobsets.all(|jobset| is_settled(ctx, parts, jobset)) { EndReason::Settled } else { EndReason::Stuck }
}

/// Returns true if a Job will fail at its activeDeadlineSeconds before the run ends.
pub fn has_pending_deadline(ctx: &EngineContext<'_>) -> bool {
    let limit = SimTime::ZERO + ctx.scenario.stop.at;
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
pub fn describe_blocked(ctx: &mut EngineContext<'_>, parts: &ControlPlaneComponents, reason: EndReason) -> Vec<String> {
    let repairs = ctx.scenario.has_repairs_after_end || parts.usage_aging.repairs_later;
    let more = repairs || stale_events::has_awaited_event(ctx, parts) || !parts.script.is_finished();
    let cut = reason == EndReason::TimeLimit;
    let why = Diagnosis { ctx, components: parts, unfinished: cut && more, repairs_pending: cut && repairs };
    if ctx.progress.livelock {
        return vec![format!(
            "virtual time does not advance past {}: objects end and start again in a loop that takes little or no time",
            ctx.now
        )];
    }
    match &ctx.progress.restart_loop {
        Some(restarting) => {
            let mut sentences = vec![restart_loop::describe(ctx, restarting)];
            sentences.extend(why.other_jobsets(ctx.store.jobs[restarting.job.ix()].jobset));
            sentences
        }
        None => why.blocked_jobsets(),
    }
}

/// The reason why a pod finds no node, if the JobSet was never ready and is blocked by it.
pub fn never_placed_reason(
    ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, jobset: JobSetId,
) -> Option<String> {
    let (_, ever_ready) = parts.accounting.readiness(jobset);
    if is_settled(ctx, parts, jobset) || ever_ready {
        return None;
    }
    let why = Diagnosis { ctx, components: parts, unfinished: false, repairs_pending: false };
    let mut jobs = ctx.store.jobs_of(jobset);
    jobs.find_map(|job| {
        let mut pods = ctx.store.jobs[job.ix()].pods.iter();
        pods.find_map(|pod| why.unschedulable_reason(job, pod))
    })
}

struct Diagnosis<'a, 'b> {
    ctx: &'a EngineContext<'b>,
    components: &'a ControlPlaneComponents,
    /// The run was cut off while events were pending.
    unfinished: bool,
    /// Repairs would have completed later.
    repairs_pending: bool,
}

impl Diagnosis<'_, '_> {
    fn blocked_jobsets(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (i, js) in self.ctx.store.jobsets.iter().enumerate() {
            let jobset = JobSetId(i as u32);
            if is_settled(self.ctx, self.components, jobset) || !js.created {
                continue;
            }
            let name = &self.ctx.store.names.jobsets[i].name;
            // MB-1: the JobSet controller ignores it.
            let manager = js.spec.spec.managed_by.as_deref();
            if let Some(other) = manager.filter(|m| *m != JOBSET_CONTROLLER) {
                sentences.push(format!(
                    "JobSet {name} is not reconciled: its spec.managedBy names {other}, a controller that is not modelled"
                ));
                continue;
            }
            if requires_no_pods(&js.spec) {
                sentences.push(self.no_pods_sentence(name, &js.spec));
                continue;
            }
            let why = self.blocked_reason(jobset);
            let state = if self.components.accounting.readiness(jobset).0 { "finished" } else { "ready" };
            sentences.push(format!("JobSet {name} is not {state}: {why}"));
        }
        sentences
    }

    /// JobSets that are unfinished when another one ends the run.
    fn other_jobsets(&self, other: JobSetId) -> impl Iterator<Item = String> {
        let names = &self.ctx.store.names.jobsets;
        let all = (0..self.ctx.store.jobsets.len() as u32).map(JobSetId);
        let busy = all.filter(move |&i| i != other && !is_settled(self.ctx, self.components, i));
        busy.map(move |jobset| {
            let (name, other) = (&names[jobset.ix()].name, &names[other.ix()].name);
            format!("JobSet {name} is unfinished: the run ends because JobSet {other} is in a restart loop")
        })
    }

    fn blocked_reason(&self, jobset: JobSetId) -> String {
        let js = &self.ctx.store.jobsets[jobset.ix()];
        if let Some(stop) = permanent_stop(self.ctx, self.components, jobset) {
            let name = &self.ctx.store.names.jobsets[jobset.ix()].name;
            return match stop {
                TrainingStop::Hangs(since) => format!(
                    "training of JobSet {name} hangs since {since}, and no pending event ends its processes: \
                     detectedAfter of the hang is not set"
                ),
                TrainingStop::Misses(pod) => format!(
                    "training of JobSet {name} cannot continue without pod {}, which succeeded before the work was done",
                    self.pod_name(pod)
                ),
            };
        }
        if js.is_deleting() && !js.spec.finalizers.is_empty() {
            let held = js.spec.finalizers.join(", ");
            return format!("it is being deleted, but no modelled controller removes its finalizers: {held}");
        }
        let others = &self.ctx.store.others;
        if js.is_deleting()
            && js.foreground
            && let Some((kind, name)) = others.owned(jobset).next()
            && !self.ctx.store.jobs_of(jobset).any(|j| self.ctx.store.jobs[j.ix()].exists)
        {
            let kind = kind.as_str();
            return format!("{kind} {name} is being deleted, but no modelled controller removes its finalizers");
        }
        if let Some(why) = self.components.kueue.blocked_reason(self.ctx, jobset) {
            let unreported = self.components.kueue.unreported_reason(self.ctx, jobset);
            return self
                .with_run_end(unreported.map_or_else(|| why.clone(), |unreported| format!("{why}: {unreported}")));
        }
        let mut waiting_at_barrier = 0;
        for job in self.ctx.store.jobs_of(jobset) {
            for pod in self.ctx.store.jobs[job.ix()].pods.iter() {
                if let Some(why) = self.pod_wait_reason(job, pod) {
                    return why;
                }
                let up = self.components.kubelet.is_up(pod);
                let ready = self.ctx.store.pods.has(pod, flag::READY);
                waiting_at_barrier += u32::from(up && !ready);
            }
            let j = &self.ctx.store.jobs[job.ix()];
            if j.exists && j.is_deleting() && j.is_held() {
                let name = self.ctx.store.names.job(job);
                return format!("Job {name} is being deleted, but no modelled controller removes its finalizers");
            }
        }
        if let Some(why) = self.rejection_reason(jobset) {
            return why;
        }
        let not_created = self.not_created_reason(jobset);
        if waiting_at_barrier > 0 {
            return self.with_run_end(self.barrier_reason(jobset, waiting_at_barrier, not_created));
        }
        not_created
            .or_else(|| self.unmanaged_reason(jobset))
            .or_else(|| self.suspended_reason(jobset))
            .or_else(|| self.failed_index_reason(jobset))
            .or_else(|| self.without_pods_reason(jobset))
            .or_else(|| self.failing_passes_reason(jobset))
            .map_or_else(|| RUN_ENDED.to_owned(), |why| self.with_run_end(why))
    }

    /// Whether a repair, or another JobSet, may give what a pod waits for.
    fn may_gain_capacity(&self, own: JobSetId) -> bool {
        let jobsets = self.ctx.store.jobsets.iter().enumerate();
        let mut others = jobsets.filter(|&(i, _)| i != own.ix());
        self.repairs_pending || others.any(|(_, js)| js.created && !is_finished(js))
    }

    /// Returns the reason of a wait that is observed only because nothing happened before the end of the run. It is not
    /// conclusive if events were still pending.
    fn with_run_end(&self, why: String) -> String {
        if self.unfinished { format!("{}; {RUN_ENDED}", why.trim_end_matches('.')) } else { why }
    }

    /// C-10: nothing can succeed, and without a success the success policy is never asked.
    fn no_pods_sentence(&self, name: &str, spec: &JobSet) -> String {
        let none = spec.spec.replicated_jobs.iter().all(|r| r.replicas == 0);
        let why =
            if none { "none of its replicatedJobs has a Job" } else { "its Jobs have parallelism 0, and so no pod" };
        format!("JobSet {name} never completes: {why}")
    }
}

fn requires_no_pods(jobset: &JobSet) -> bool {
    let rjs = &jobset.spec.replicated_jobs;
    rjs.iter().all(|rj| rj.replicas == 0 || rj.template.pods() == 0)
}
