//! What a run that came to its end still waits for, and why that will not come: dead ends by name.
//!
//! Must never change anything: it reads the state at the end.

use super::Components;
use super::apiserver;
use super::circle;
use super::ctx::Ctx;
use super::jobset_manager::refusal;
use super::webhook::Hindrance;
use crate::base::*;
use crate::policy::{self, depends_on};
use crate::record::{EndReason, RUN_ENDED};
use crate::spec::*;
use crate::store::{JobSetRow, flag};

/// Whether every JobSet has come to its end.
pub fn all_finished(ctx: &Ctx<'_>) -> bool {
    let mut jobsets = ctx.store.jobsets.iter();
    jobsets.all(|js| js.created && is_done(js))
}

fn is_done(js: &JobSetRow) -> bool {
    // A terminal condition ends it, whoever wrote it (REC-7).
    let ended = policy::conditions::terminal(&js.status).is_some();
    js.deleted || ended || js.status.terminal_state.is_some()
}

/// Whether it has come to an end, or is as somebody wants it.
fn rests(ctx: &Ctx<'_>, parts: &Components, jobset: JobSetId) -> bool {
    let js = &ctx.store.jobsets[jobset.ix()];
    let errors = parts.jobset_manager.errors(jobset);
    is_done(js)
        || !js.created
        || parts.accounting.is_ready(jobset).0
        || (js.suspended() && !js.is_deleting() && errors == 0)
}

/// Why nothing happens any more.
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

/// Whether a Job will fail at its activeDeadlineSeconds before the run ends.
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

/// JobSets that wait for something that will not come.
pub fn sentences(ctx: &Ctx<'_>, parts: &Components) -> Vec<String> {
    let why = Why { ctx, parts };
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

/// Why some pod finds no node, if the JobSet has never been ready and rests on that.
pub fn never_placed(ctx: &Ctx<'_>, parts: &Components, jobset: JobSetId) -> Option<String> {
    let (_, ever_ready) = parts.accounting.is_ready(jobset);
    if rests(ctx, parts, jobset) || ever_ready {
        return None;
    }
    let why = Why { ctx, parts };
    let mut jobs = ctx.store.jobs_of(jobset);
    jobs.find_map(|job| {
        let mut pods = ctx.store.jobs[job.ix()].pods.iter();
        pods.find_map(|pod| why.why_parked(job, pod))
    })
}

const WITH_AN_ERROR: &str = "the JobSet controller's passes end with an error";

struct Why<'a, 'b> {
    ctx: &'a Ctx<'b>,
    parts: &'a Components,
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
            // MB-1: the JobSet controller does not even look at it.
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

    /// Those that are still under way when another one ends the run.
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
            return self.why_barrier_is_up(jobset, waiting_at_barrier, not_created);
        }
        not_created
            .or_else(|| self.why_unmanaged(jobset))
            .or_else(|| self.why_suspended(jobset))
            .or_else(|| self.why_one_index_short(jobset))
            .or_else(|| self.why_nothing_is_decided(jobset))
            .unwrap_or_else(|| RUN_ENDED.to_owned())
    }

    fn why_pod_waits(&self, job: JobId, pod: PodId) -> Option<String> {
        let (store, names) = (&self.ctx.store, &self.ctx.store.names);
        let name = format!("{}-{}", names.job(job), store.pods.index[pod.ix()]);
        let node = store.pods.node[pod.ix()];
        let bound = store.pods.has(pod, flag::BOUND);
        let silent = bound && !self.parts.kubelet.answers(self.ctx, node);
        if silent && store.pods.has(pod, flag::DELETING) {
            return Some(self.why_it_terminates(job, pod, &name));
        }
        let held = store.pods.has(pod, flag::DELETING) && store.pods.has(pod, flag::HELD);
        if held && store.pods.has(pod, flag::CONFIRMED) {
            return Some(format!(
                "pod {name} is being deleted, and nobody takes its finalizers off"
            ));
        }
        let tracked = store.pods.is_terminal(pod) && store.pods.has(pod, flag::FINALIZER);
        let finished = store.jobs[job.ix()].status.is_finished();
        if tracked && finished && store.pods.has(pod, flag::DELETING) {
            return Some(format!(
                "pod {name} keeps the finalizer by which its Job counts it, and the Job, which another hand has \
                 finished, counts no more"
            ));
        }
        if store.pods.has(pod, flag::GATED) && !store.pods.has(pod, flag::DELETING) {
            return Some(format!(
                "pod {name} has scheduling gates, which nobody takes off; a scenario does: faults: [{{at: 10m, patch: \
                 {{kind: Pod, name: {name}, merge: {{spec: {{schedulingGates: null}}}}}}}}]"
            ));
        }
        if let Some(why) = self.why_parked(job, pod) {
            return Some(why);
        }
        let open = bound && !store.pods.is_terminal(pod);
        if open && silent {
            let node = names.node(node);
            return Some(format!(
                "pod {name} is on node {node}, which does not answer"
            ));
        }
        // The recordings' player says nothing of what a new machine does not find.
        (open && self.parts.kubelet.has_ended(pod)).then(|| {
            let node = names.node(node);
            format!(
                "pod {name} ended with an earlier machine of node {node}, and a kubelet that is scripted as in the \
                 recordings (timing.kubelet.scripted) does not say so"
            )
        })
    }

    fn why_parked(&self, job: JobId, pod: PodId) -> Option<String> {
        let (store, scheduler) = (&self.ctx.store, &self.parts.scheduler);
        scheduler.is_parked(pod).then(|| {
            let (name, index) = (store.names.job(job), store.pods.index[pod.ix()]);
            let why = scheduler.explain_unschedulable(self.ctx, pod);
            format!("pod {name}-{index} cannot be scheduled: {why}")
        })
    }

    /// On a node that does not answer. kubernetes.md 1.4: a Job that replaces only failed pods (podFailurePolicy,
    /// podReplacementPolicy Failed) keeps its finalizer on a pod until somebody says that it has ended.
    fn why_it_terminates(&self, job: JobId, pod: PodId, name: &str) -> String {
        let (store, names) = (&self.ctx.store, &self.ctx.store.names);
        let (node, job_name) = (names.node(store.pods.node[pod.ix()]), names.job(job));
        let policy = store.job_spec(job).pod_replacement_policy();
        let must_end =
            policy == PodReplacementPolicy::Failed && store.pods.has(pod, flag::FINALIZER);
        let until = "until the Node object is deleted, tainted out-of-service";
        if must_end && store.pods.has(pod, flag::CONFIRMED) {
            return format!(
                "pod {name} was removed by force from node {node}, which does not answer, but the Job controller's \
                 finalizer keeps it: {job_name} replaces only pods that have failed (podFailurePolicy or \
                 podReplacementPolicy), and nobody says so {until}, or the node answers"
            );
        }
        let by_force = match must_end {
            true => {
                "or answers: it replaces only pods that have failed, so removal by force does not help"
            }
            false => "or the pod is removed by force",
        };
        format!(
            "pod {name} is terminating on node {node}, which does not answer; {job_name} cannot end {until}, {by_force}"
        )
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

    /// kubernetes.md 1: the Job controller leaves alone what another controller manages, and none of those is played.
    fn why_unmanaged(&self, jobset: JobSetId) -> Option<String> {
        let store = &self.ctx.store;
        store.jobs_of(jobset).find_map(|job| {
            let j = &store.jobs[job.ix()];
            let manager = j.spec.managed_by.as_deref()?;
            let version = self.ctx.scenario.control_plane.kubernetes;
            let other = policy::job::managed_by_other(&j.spec, version);
            (j.exists && !j.status.is_finished() && other).then(|| {
                format!(
                    "Job {} is left to {manager}, which does nothing here",
                    store.names.job(job)
                )
            })
        })
    }

    /// SU-1, SU-3: InOrder resumes no Job of a replicatedJob that has started, and succeeded pods count as ready
    /// (REC-6).
    fn why_suspended(&self, jobset: JobSetId) -> Option<String> {
        if self.ctx.store.jobsets[jobset.ix()].suspended() {
            return None;
        }
        let mut jobs = self.ctx.store.jobs_of(jobset);
        let job = jobs.find(|j| {
            let job = &self.ctx.store.jobs[j.ix()];
            job.exists && job.suspended && !job.status.is_finished()
        })?;
        Some(format!(
            "Job {} stays suspended after the resume: its succeeded pods make it count as started, and startupPolicy \
             InOrder resumes only what has not",
            self.ctx.store.names.job(job)
        ))
    }

    /// kubernetes.md 1.6: with backoffLimitPerIndex a Job goes on with its other indexes, and ends only with the last.
    fn why_one_index_short(&self, jobset: JobSetId) -> Option<String> {
        self.ctx.store.jobs_of(jobset).find_map(|job| {
            let j = &self.ctx.store.jobs[job.ix()];
            let index = *self.parts.job_controller.failed_indexes(job).first()?;
            let goes_on = j.exists && !j.status.is_finished() && j.live.active > 0;
            goes_on.then(|| {
                format!(
                    "index {index} of Job {} has failed for good and is not made again; the Job goes on with its \
                     other indexes until they end",
                    self.ctx.store.names.job(job)
                )
            })
        })
    }

    /// EXC-26, EXC-27: webhooks that refuse pods for ever.
    fn why_refused(&self, jobset: JobSetId) -> Option<String> {
        let store = &self.ctx.store;
        let short = |j: &JobId| {
            let job = &store.jobs[j.ix()];
            job.exists && job.live.active < job.spec.pods()
        };
        let mut jobs = store.jobs_of(jobset).filter(short);
        let refused = |j: JobId, index| self.parts.webhook.hindrance(self.ctx, j, index);
        let of_job = |j: JobId| {
            let name = store.names.job(j);
            if let Some((_, why)) = apiserver::pod_refusal(self.ctx, j, 0) {
                return Some(format!("all pods of Job {name} are refused: {why}"));
            }
            if let Some((words, why)) = refused(j, 0) {
                return Some(format!(
                    "all pods of Job {name} are refused{}",
                    because(&words, &why)
                ));
            }
            let spec = &store.jobs[j.ix()].spec;
            let pods = spec.completions().unwrap_or_else(|| spec.pods());
            let (words, why) = refused(j, 1).filter(|_| pods > 1)?;
            Some(format!(
                "followers of Job {name} are refused{}",
                because(&words, &why)
            ))
        };
        jobs.find_map(of_job)
    }

    fn why_nothing_is_decided(&self, jobset: JobSetId) -> Option<String> {
        let times = self.parts.jobset_manager.errors(jobset);
        (times > 0).then(|| format!("{WITH_AN_ERROR}, {times} times in a row"))
    }

    /// The first replicatedJob without one of its Jobs, and what it waits for.
    fn why_not_created(&self, jobset: JobSetId) -> Option<String> {
        let js = &self.ctx.store.jobsets[jobset.ix()];
        let specs = &js.spec.spec.replicated_jobs;
        let statuses = &js.status.replicated_jobs;
        let mut there = vec![0u32; specs.len()];
        for job in self.ctx.store.jobs_of(jobset) {
            let j = &self.ctx.store.jobs[job.ix()];
            there[j.rj as usize] += u32::from(j.exists);
        }
        let missing = |at: &usize| specs[*at].replicas.saturating_sub(there[*at]);
        let all_missing: u32 = (0..specs.len()).map(|at| missing(&at)).sum();
        let at = (0..specs.len()).find(|at| missing(at) > 0)?;
        let rj = specs.get(at)?;
        if rj.depends_on.iter().any(|d| d.name == rj.name) {
            let name = &rj.name;
            return Some(format!(
                "replicatedJob {name} depends on itself, so its Jobs are never created"
            ));
        }
        if !depends_on::reached(specs, statuses, at) {
            let on = |d: &DependsOn| match d.status {
                DependsOnStatus::Ready => format!("{} is ready", d.name),
                DependsOnStatus::Complete => format!("{} is complete", d.name),
            };
            let names: Vec<String> = rj.depends_on.iter().map(on).collect();
            let mut why = format!(
                "the Jobs of replicatedJob {} are not created before {}",
                rj.name,
                names.join(" and ")
            );
            let complete = |d: &&DependsOn| d.status == DependsOnStatus::Complete;
            let mut waits_for = rj.depends_on.iter().filter(complete);
            if let Some(d) = waits_for.find(|d| self.runs_for_ever(&js.spec, &d.name)) {
                why += &format!(
                    "; the containers of {} run for ever here, as no runFor says when they end",
                    d.name
                );
            }
            return Some(why);
        }
        if js.spec.spec.startup_order == StartupPolicyOrder::InOrder && at > 0 {
            return Some(format!(
                "startupPolicy InOrder holds back the Jobs of replicatedJob {} until those of the replicatedJobs \
                 before it have started",
                rj.name
            ));
        }
        if let Some(why) = refusal(&js.spec) {
            return Some(format!("{all_missing} of its Jobs are not created: {why}"));
        }
        Some(match self.parts.jobset_manager.errors(jobset) {
            0 => format!(
                "{} of its Jobs do not exist and are not created",
                all_missing
            ),
            n => format!(
                "{} of its Jobs are not created: {WITH_AN_ERROR}, {n} times in a row",
                all_missing
            ),
        })
    }

    /// Whether no rule of the scenario lets a container of this replicatedJob end.
    fn runs_for_ever(&self, jobset: &JobSet, rj: &str) -> bool {
        let mut rjs = jobset.spec.replicated_jobs.iter();
        rjs.find(|r| r.name == rj).is_some_and(|rj| {
            let mut rules = self.ctx.scenario.containers.iter();
            !rules.any(|rule| rule.ends() && rule.may_be_for(jobset, rj))
        })
    }

    /// IPR-5, C-47: why the attempts of the pods never become equal.
    fn why_barrier_is_up(
        &self,
        jobset: JobSetId,
        waiting: u32,
        not_created: Option<String>,
    ) -> String {
        let wait = format!("{waiting} pods wait at the in-place barrier for the others");
        if let Some(why) = not_created {
            return format!("{wait}; {why}");
        }
        let mut jobs = self.ctx.store.jobs_of(jobset);
        if jobs.any(|j| self.parts.accounting.has_successes(j)) {
            return format!("{wait}; a pod that has succeeded keeps its old attempt for ever");
        }
        wait
    }
}

/// Why the pod webhooks refuse, and what would help where something would.
fn because(words: &str, why: &Hindrance) -> String {
    match why {
        Hindrance::NoIndexes => ", because a NonIndexed Job has no leader pod".to_owned(),
        Hindrance::LeaderEnded => ", because its leader pod has ended".to_owned(),
        Hindrance::Orphan(pod) => format!(
            ", because they have two leader pods: {pod} was left behind by an earlier Job of that name, which was \
             deleted with propagationPolicy Orphan ({words}); it helps to delete that pod"
        ),
        Hindrance::NodeGone(node) => format!(
            ", because the Node {node} of their leader pod does not exist ({words}); it helps to delete the leader"
        ),
        Hindrance::NoLabel { node, key } => format!(
            ", because the Node {node} of their leader pod has no label {key} ({words}); it helps to give it one"
        ),
        Hindrance::Other => format!(": {words}"),
    }
}

fn wants_nothing(jobset: &JobSet) -> bool {
    let rjs = &jobset.spec.replicated_jobs;
    rjs.iter()
        .all(|rj| rj.replicas == 0 || rj.template.pods() == 0)
}
