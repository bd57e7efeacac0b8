//! Child Jobs as the JobSet manager makes and unmakes them, and its status as stored.

use super::api::{Answer, Call};
use super::event::Event;
use super::jobs::Job;
use super::model::JobModel;
use super::run::Run;
use crate::base::*;
use crate::objects::{self, JobSlot};
use crate::placement::TemplateFacts;
use crate::policy::{FinishedView, JobView, Plan};
use crate::record::{Body, JobConditionType, JobOutcome};
use crate::spec::JobSpec;
use std::sync::Arc;

/// What the manager's cache keeps of a Job.
pub fn view_of(j: &Job, m: &JobModel, spec: &JobSpec) -> JobView {
    let finished = j.status.conditions.iter().find(|c| {
        c.status
            && matches!(
                c.kind,
                JobConditionType::Complete | JobConditionType::Failed
            )
    });
    JobView {
        rj: m.rj,
        index: m.index,
        restart_attempt: attempt_of(j, RESTART_ATTEMPT, j.restart_attempt),
        job_restart_attempt: attempt_of(j, JOB_RESTART_ATTEMPT, j.job_restart_attempt),
        unusable_label: unusable_label(j),
        parallelism: Some(spec.parallelism()),
        completions: spec.completions(),
        deleting: j.deleting,
        suspended: j.suspended,
        active: j.status.active,
        ready: j.status.ready,
        succeeded: j.status.succeeded,
        finished: finished.map(|c| FinishedView {
            failed: c.kind == JobConditionType::Failed,
            reason: c.reason.to_string(),
            message: c.message.clone(),
            at: c.at,
        }),
    }
}

const RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/restart-attempt";
const JOB_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/job-restart-attempt";
const REPLICATED_JOB: &str = "jobset.sigs.k8s.io/replicatedjob-name";
const JOB_INDEX: &str = "jobset.sigs.k8s.io/job-index";

/// The number in a label, as the manager's strconv.Atoi reads it; what is below zero is older than everything.
fn attempt_of(j: &Job, label: &str, posted: u32) -> Option<u32> {
    match j.relabelled.iter().find(|(key, _)| key == label) {
        None => Some(posted),
        Some((_, text)) => {
            let number: i64 = text.as_deref()?.parse().ok()?;
            Some(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
        }
    }
}

/// REC-5.3.
fn unusable_label(j: &Job) -> Option<&'static str> {
    let changed = |label: &str| j.relabelled.iter().find(|(key, _)| key == label);
    let number = |text: &Option<String>| text.as_deref().is_some_and(|t| t.parse::<i64>().is_ok());
    if changed(REPLICATED_JOB).is_some_and(|(_, text)| text.is_none()) {
        return Some(REPLICATED_JOB);
    }
    if changed(JOB_INDEX).is_some_and(|(_, text)| !number(text)) {
        return Some(JOB_INDEX);
    }
    let own = changed(JOB_RESTART_ATTEMPT);
    own.is_some_and(|(_, text)| text.is_some() && !number(text))
        .then_some(JOB_RESTART_ATTEMPT)
}

/// The restart-attempt label as it reads now.
fn attempt_text(j: &Job) -> String {
    let changed = j.relabelled.iter().find(|(key, _)| key == RESTART_ATTEMPT);
    match changed {
        None => j.restart_attempt.to_string(),
        Some((_, text)) => text.clone().unwrap_or_default(),
    }
}

impl Run<'_> {
    /// DELETE with foreground propagation: the object stays until its pods are gone (DEL-2).
    pub fn job_delete_answered(&mut self, job: JobId) {
        let there = self.w.jobs[job.ix()].exists;
        self.w
            .api
            .answered(Call::JobSetJobDelete, Answer::found(there), self.w.now);
        if there {
            self.job_deleting(job);
        }
    }

    /// deletionTimestamp and the foregroundDeletion finalizer are stored.
    pub fn job_deleting(&mut self, job: JobId) {
        if self.w.jobs[job.ix()].deleting {
            return;
        }
        self.w.jobs[job.ix()].deleting = true;
        let incarnation = self.w.jobs[job.ix()].incarnation;
        self.emit(Body::JobDeleting { job });
        let lag = self.watch_lag();
        self.after(
            lag,
            Event::CollectorSees {
                job,
                incarnation,
                deleted: true,
            },
        );
        // A deletion raises metadata.generation: no batching.
        self.enqueue_job(job, Duration::ZERO);
        self.job_written(job);
    }

    /// Where the Job of a slot goes: a place whose Job exists (the POST will fail), or one without old pods.
    pub fn free_place(&self, jobset: JobSetId, rj: u32, index: u32) -> JobId {
        let jobs = &self.w.jobs;
        let mut places = self.m.places(jobset, rj, index);
        let first = places.next().unwrap_or(JobId::NONE);
        if jobs[first.ix()].exists {
            return first;
        }
        let second = places.next();
        match second {
            Some(p) if jobs[p.ix()].exists || jobs[first.ix()].live.objects > 0 => p,
            _ => first,
        }
    }

    /// POST of a Job; the server's words if the name is taken or the Job is invalid (CRE-4).
    pub fn job_create_answered(&mut self, job: JobId) -> Result<(), String> {
        if self.name_is_taken(job) {
            self.w
                .api
                .answered(Call::JobSetJobCreate, Answer::Conflict, self.w.now);
            let name = self.m.names.job(job);
            return Err(format!("jobs.batch {name:?} already exists"));
        }
        if let Some(refusal) = self.job_refused(job) {
            self.w
                .api
                .answered(Call::JobSetJobCreate, Answer::Invalid, self.w.now);
            return Err(refusal);
        }
        self.w
            .api
            .answered(Call::JobSetJobCreate, Answer::Success, self.w.now);
        let m = &self.m.jobs[job.ix()];
        let js = &self.w.jobsets[m.jobset.ix()];
        let attempt = js.cached.status.restarts;
        let rj_status = js.cached.status.replicated_jobs.get(m.rj as usize);
        let job_attempt = rj_status
            .and_then(|s| s.job_restarts.get(m.index as usize))
            .copied()
            .unwrap_or(0);
        let suspended = js.cached.suspended;
        let (spec, facts) = self.spec_of_new(job);
        let j = &mut self.w.jobs[job.ix()];
        j.reset();
        j.exists = true;
        j.spec = spec;
        j.facts = facts;
        j.incarnation += 1;
        j.suspended = suspended;
        j.restart_attempt = attempt;
        j.job_restart_attempt = job_attempt;
        if self.m.shows_objects {
            self.w.jobs[job.ix()].object = Some(Arc::new(self.posted_job(job)));
        }
        let first = m.first_pod as usize;
        self.w.pods.next_try[first..first + m.slots as usize].fill(0);
        self.emit(Body::JobCreated { job, attempt });
        let outcome = JobOutcome {
            job,
            restart_attempt: attempt.to_string(),
            conditions: Vec::new(),
            active: 0,
            ready: 0,
            succeeded: 0,
            failed: 0,
            exists: true,
            suspended,
        };
        self.w.jobsets[m.jobset.ix()].history.push(outcome);
        self.enqueue_job(job, Duration::ZERO);
        self.job_written(job);
        let js = &self.w.jobsets[m.jobset.ix()];
        if js.deleting || js.deleted {
            // The request was on its way when the JobSet was deleted.
            self.collect_job_of_jobset(job);
        }
        Ok(())
    }

    /// NAM-2, C-18: whether any Job of that name is stored, whoever owns it.
    fn name_is_taken(&self, job: JobId) -> bool {
        if self.w.jobs[job.ix()].exists {
            return true;
        }
        let same = self.m.same_name.get(&job);
        same.is_some_and(|jobs| jobs.iter().any(|j| self.w.jobs[j.ix()].exists))
    }

    /// C-16: why the API server refuses the Job that the stored JobSet's template makes.
    fn job_refused(&mut self, job: JobId) -> Option<String> {
        let m = &self.m.jobs[job.ix()];
        let js = &self.w.jobsets[m.jobset.ix()];
        let spec = js.cached.spec.clone();
        let object = spec.object.as_ref()?;
        let slot = |index| JobSlot {
            jobset: object,
            replicated_job: m.rj as usize,
            index,
            restarts: js.cached.status.restarts,
            job_restarts: self.w.gates.restart_job.then_some(0),
        };
        // Every Job of a replicatedJob is refused or none, but for the length of its name: the last one's is longest.
        let last = spec
            .spec
            .replicated_jobs
            .get(m.rj as usize)?
            .replicas
            .saturating_sub(1);
        let version = (js.spec_version, m.rj);
        if js.good_templates.contains(&version) {
            return None;
        }
        if objects::admit_job(&objects::job(&slot(last))).is_ok() {
            self.w.jobsets[m.jobset.ix()].good_templates.push(version);
            return None;
        }
        let posted = objects::job(&slot(m.index));
        objects::admit_job(&posted).err().map(|r| r.message)
    }

    /// What a new Job has that the submitted manifest has not: its JobSet was updated since.
    fn spec_of_new(&self, job: JobId) -> (Option<Arc<JobSpec>>, Option<Arc<TemplateFacts>>) {
        let m = &self.m.jobs[job.ix()];
        let js = &self.w.jobsets[m.jobset.ix()].cached.spec;
        if Arc::ptr_eq(js, &self.m.jobsets[m.jobset.ix()].spec) {
            return (None, None);
        }
        let Some(rj) = js.spec.replicated_jobs.get(m.rj as usize) else {
            return (None, None);
        };
        let facts = self.m.facts_of(job, js, rj);
        (Some(Arc::new(rj.template.clone())), Some(Arc::new(facts)))
    }

    /// ELA-2: PATCH of parallelism and completions.
    pub fn job_patch_answered(&mut self, job: JobId) {
        self.w
            .api
            .answered(Call::JobSetJobPatch, Answer::Success, self.w.now);
        let m = &self.m.jobs[job.ix()];
        let js = self.w.jobsets[m.jobset.ix()].cached.spec.clone();
        let Some(rj) = js.spec.replicated_jobs.get(m.rj as usize) else {
            return;
        };
        let (parallelism, completions) = (rj.template.parallelism, rj.template.completions);
        let mut spec = self.job_spec(job).clone();
        let unchanged = spec.parallelism == parallelism && spec.completions == completions;
        if !self.w.jobs[job.ix()].exists || parallelism.is_none() || unchanged {
            return;
        }
        (spec.parallelism, spec.completions) = (parallelism, completions);
        self.w.jobs[job.ix()].spec = Some(Arc::new(spec));
        self.recount(job);
        self.enqueue_job(job, Duration::ZERO);
        self.job_changed(job);
    }

    /// SUS-5: the pod template of a resumed Job takes over what the replicatedJob's has; nothing is ever taken away.
    fn merge_template(&mut self, job: JobId) {
        let m = &self.m.jobs[job.ix()];
        let js = self.w.jobsets[m.jobset.ix()].cached.spec.clone();
        let Some(rj) = js.spec.replicated_jobs.get(m.rj as usize) else {
            return;
        };
        let new = &rj.template.template;
        let mut spec = self.job_spec(job).clone();
        let own = &mut spec.template;
        let own_labels = new.labels.iter().map(|(k, v)| (k.clone(), v.clone()));
        own.labels.extend(own_labels);
        let annotations = new.annotations.iter();
        own.annotations
            .extend(annotations.map(|(k, v)| (k.clone(), v.clone())));
        let selector = new.spec.node_selector.iter();
        own.spec
            .node_selector
            .extend(selector.map(|(k, v)| (k.clone(), v.clone())));
        for toleration in &new.spec.tolerations {
            if !own.spec.tolerations.contains(toleration) {
                own.spec.tolerations.push(toleration.clone());
            }
        }
        own.spec.scheduling_gates = own.spec.scheduling_gates.max(new.spec.scheduling_gates);
        let mut merged = rj.clone();
        merged.template = spec;
        let facts = self.m.facts_of(job, &js, &merged);
        let j = &mut self.w.jobs[job.ix()];
        j.spec = Some(Arc::new(merged.template));
        j.facts = Some(Arc::new(facts));
    }

    /// PUT of a Job with `spec.suspend` changed (SUS-1, SUS-5).
    pub fn job_suspend_answered(&mut self, job: JobId, suspend: bool) {
        self.w
            .api
            .answered(Call::JobSetJobUpdate, Answer::Success, self.w.now);
        let jobset = self.m.jobs[job.ix()].jobset;
        let updated = !Arc::ptr_eq(
            &self.w.jobsets[jobset.ix()].cached.spec,
            &self.m.jobsets[jobset.ix()].spec,
        );
        if !suspend && updated && self.w.jobs[job.ix()].exists {
            self.merge_template(job);
        }
        if self.w.jobs[job.ix()].exists && self.w.jobs[job.ix()].suspended != suspend {
            self.w.jobs[job.ix()].suspended = suspend;
            if !suspend {
                // SUS-5: whoever resumes a Job clears its startTime first.
                self.w.jobs[job.ix()].status.start_time = None;
            }
            self.enqueue_job(job, Duration::ZERO);
            self.job_changed(job);
        }
    }

    /// The collector took the last finalizer off: the name is free.
    pub fn job_gone(&mut self, job: JobId) {
        if !self.w.jobs[job.ix()].exists {
            return;
        }
        if self.w.jobs[job.ix()].held {
            self.w.jobs[job.ix()].collected = true;
            return;
        }
        self.write_history(job, false);
        self.emit(Body::JobGone { job });
        let jobset = self.m.jobs[job.ix()].jobset;
        self.forget_successes(job);
        self.w.jobs[job.ix()].reset();
        self.job_changed(job);
        if self.w.jobsets[jobset.ix()].deleting {
            self.jobset_may_be_gone(jobset);
        }
    }

    /// Brings the newest entry of the Job's history up to date.
    pub fn write_history(&mut self, job: JobId, exists: bool) {
        let jobset = self.m.jobs[job.ix()].jobset;
        let j = &self.w.jobs[job.ix()];
        let history = &mut self.w.jobsets[jobset.ix()].history;
        if let Some(entry) = history.iter_mut().rev().find(|h| h.job == job) {
            entry.restart_attempt = attempt_text(j);
            entry.conditions = j.status.conditions.iter().map(|c| c.outcome()).collect();
            entry.active = j.status.active;
            entry.ready = j.status.ready;
            entry.succeeded = j.status.succeeded;
            entry.failed = j.status.failed;
            entry.suspended = j.suspended;
            entry.exists = exists;
        }
    }

    /// Stores a pass's status and writes down what it says.
    pub fn store_jobset_status(&mut self, jobset: JobSetId, plan: &mut Plan) {
        let js = &mut self.w.jobsets[jobset.ix()];
        // The plan keeps the old status and its buffers.
        std::mem::swap(&mut js.status, &mut plan.status);
        js.resource_version += 1;
        let old = &plan.status;
        let new = std::mem::take(&mut js.status);
        if new.restarts != old.restarts {
            let failed_job = self.first_failed_job(jobset);
            let (restarts, counted) = (new.restarts, new.restarts_count_towards_max);
            self.emit(Body::RestartCounted {
                jobset,
                restarts,
                counted,
                failed_job,
            });
        }
        for (rj, s) in new.replicated_jobs.iter().enumerate() {
            let before = old.replicated_jobs.get(rj);
            for (index, n) in s.job_restarts.iter().enumerate() {
                if before
                    .and_then(|b| b.job_restarts.get(index))
                    .copied()
                    .unwrap_or(0)
                    < *n
                {
                    let job = JobId(self.m.jobsets[jobset.ix()].rj_first[rj] + index as u32);
                    self.emit(Body::JobRestartCounted {
                        jobset,
                        job,
                        restarts: *n,
                    });
                }
            }
        }
        if new.replicated_jobs != old.replicated_jobs {
            let sum =
                |f: fn(&crate::policy::RjStatus) -> u32| new.replicated_jobs.iter().map(f).sum();
            self.emit(Body::ReplicatedJobsStatus {
                jobset,
                ready: sum(|s| s.ready),
                succeeded: sum(|s| s.succeeded),
                failed: sum(|s| s.failed),
                active: sum(|s| s.active),
                suspended: sum(|s| s.suspended),
            });
        }
        for condition in &new.conditions {
            if old.conditions.contains(condition) {
                continue;
            }
            let reason = self.w.texts.intern(&condition.full_reason());
            let message = self.w.texts.intern(&condition.message);
            self.emit(Body::JobSetCondition {
                jobset,
                kind: condition.kind,
                status: condition.status,
                reason,
                message,
            });
        }
        let ended = new.terminal_state.is_some();
        self.w.jobsets[jobset.ix()].status = new;
        self.attempts_stored(
            jobset,
            old.previous_in_place_restart_attempt,
            old.current_in_place_restart_attempt,
        );
        if ended {
            self.jobset_ended(jobset);
        }
    }

    /// IPR-7, IPR-9: the agents are told.
    fn attempts_stored(
        &mut self,
        jobset: JobSetId,
        old_previous: Option<u32>,
        old_current: Option<u32>,
    ) {
        let status = &self.w.jobsets[jobset.ix()].status;
        let (previous, current) = (
            status.previous_in_place_restart_attempt,
            status.current_in_place_restart_attempt,
        );
        let mut told = false;
        if let Some(attempt) = previous.filter(|_| previous != old_previous) {
            self.emit(Body::PreviousAttempt { jobset, attempt });
            self.w.api.mark_restart();
            told = true;
        }
        if let Some(attempt) = current.filter(|_| current != old_current) {
            self.emit(Body::CurrentAttempt { jobset, attempt });
            told = true;
        }
        if told {
            self.fan_out(jobset);
        }
    }

    fn first_failed_job(&self, jobset: JobSetId) -> JobId {
        let failed_at = |j: &JobId| {
            self.w.jobs[j.ix()]
                .status
                .condition(JobConditionType::Failed)
                .map(|c| c.at)
        };
        self.m
            .jobs_of(jobset)
            .filter(|j| failed_at(j).is_some())
            .min_by_key(|j| failed_at(j))
            .unwrap_or(JobId::NONE)
    }
}
