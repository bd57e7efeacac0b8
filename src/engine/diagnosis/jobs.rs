//! Reasons why Jobs are not created, are not managed, or get no pods at the end of a run.

use super::Diagnosis;
use crate::{apiserver, webhook::CreationBlocker};
use sim_api::spec::{DependsOn, DependsOnStatus, JobSet, StartupPolicyOrder};
use sim_base::{JobId, JobSetId};
use sim_policy::depends_on;

const WITH_AN_ERROR: &str = "the JobSet controller's passes end with an error";
const MANAGER_STOPPED: &str = "the JobSet manager is stopped";

impl Diagnosis<'_, '_> {
    /// kubernetes.md 1: the Job controller ignores Jobs that another controller manages, and other controllers are
    /// not modelled.
    pub(super) fn unmanaged_reason(&self, jobset: JobSetId) -> Option<String> {
        let store = &self.ctx.store;
        store.jobs_of(jobset).find_map(|job| {
            let j = &store.jobs[job.ix()];
            let manager = j.spec.managed_by.as_deref()?;
            let version = self.ctx.scenario.control_plane.kubernetes;
            let other = sim_policy::job::managed_by_other(&j.spec, version);
            (j.exists && !j.status.is_finished() && other)
                .then(|| format!("Job {} is left to {manager}, which does nothing here", store.names.job(job)))
        })
    }

    /// SU-1, SU-3: with InOrder, no Job of a started replicatedJob is resumed, and succeeded pods count as ready
    /// (REC-6).
    pub(super) fn suspended_reason(&self, jobset: JobSetId) -> Option<String> {
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

    /// kubernetes.md 1.6: with backoffLimitPerIndex a Job continues with its other indexes and ends with the last one.
    pub(super) fn failed_index_reason(&self, jobset: JobSetId) -> Option<String> {
        self.ctx.store.jobs_of(jobset).find_map(|job| {
            let j = &self.ctx.store.jobs[job.ix()];
            let index = *self.components.job_controller.failed_indexes(job).first()?;
            let continues = j.exists && !j.status.is_finished() && j.live.active > 0;
            continues.then(|| {
                format!(
                    "index {index} of Job {} has failed permanently and is not recreated; the Job continues with its \
                     other indexes until they end",
                    self.ctx.store.names.job(job)
                )
            })
        })
    }

    /// C-10: a Job that needs completions but has no pods never completes.
    pub(super) fn without_pods_reason(&self, jobset: JobSetId) -> Option<String> {
        let store = &self.ctx.store;
        let specs = &store.jobsets[jobset.ix()].spec.spec.replicated_jobs;
        let job = store.jobs_of(jobset).find(|job| {
            let j = &store.jobs[job.ix()];
            j.exists && !j.status.is_finished() && specs[j.rj as usize].template.pods() == 0
        })?;
        Some(format!("Job {} never completes: it has parallelism 0, and so no pod", store.names.job(job)))
    }

    pub(super) fn failing_passes_reason(&self, jobset: JobSetId) -> Option<String> {
        let manager = &self.components.jobset_manager;
        let times = manager.errors(jobset);
        (times > 0).then(|| match manager.failure(jobset) {
            "" => format!("{WITH_AN_ERROR}, {times} times in a row"),
            failure => failure.to_owned(),
        })
    }

    /// The first replicatedJob with a missing Job, and what it waits for.
    pub(super) fn not_created_reason(&self, jobset: JobSetId) -> Option<String> {
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
            return Some(format!("replicatedJob {name} depends on itself, so its Jobs are never created"));
        }
        if !depends_on::reached(specs, statuses, at) {
            let on = |d: &DependsOn| match d.status {
                DependsOnStatus::Ready => format!("{} is ready", d.name),
                DependsOnStatus::Complete => format!("{} is complete", d.name),
            };
            let names: Vec<String> = rj.depends_on.iter().map(on).collect();
            let mut why =
                format!("the Jobs of replicatedJob {} are not created before {}", rj.name, names.join(" and "));
            let complete = |d: &&DependsOn| d.status == DependsOnStatus::Complete;
            let mut waits_for = rj.depends_on.iter().filter(complete);
            if let Some(d) = waits_for.find(|d| self.runs_indefinitely(&js.spec, &d.name)) {
                why += &format!("; the containers of {} run indefinitely, because no runFor is set", d.name);
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
        Some(match self.failing_passes_reason(jobset) {
            _ if !self.ctx.is_manager_up(self.ctx.now) => {
                format!("{all_missing} of its Jobs are not created: {MANAGER_STOPPED}")
            }
            None if self.unfinished => format!("{all_missing} of its Jobs do not exist yet"),
            None => format!("{all_missing} of its Jobs do not exist and are not created"),
            Some(why) => format!("{all_missing} of its Jobs are not created: {why}"),
        })
    }

    /// Returns true if no rule of the scenario ends the containers of this replicatedJob.
    fn runs_indefinitely(&self, jobset: &JobSet, rj: &str) -> bool {
        let mut rjs = jobset.spec.replicated_jobs.iter();
        rjs.find(|r| r.name == rj).is_some_and(|rj| {
            let mut rules = self.ctx.scenario.containers.iter();
            !rules.any(|rule| rule.exits() && rule.may_apply_to(jobset, rj))
        })
    }

    /// IPR-5, C-47: the reason why the attempts of the pods never become equal.
    pub(super) fn barrier_reason(&self, jobset: JobSetId, waiting: u32, not_created: Option<String>) -> String {
        let wait = format!("{waiting} pods wait at the in-place barrier for the others");
        if let Some(why) = not_created {
            return format!("{wait}; {why}");
        }
        let mut jobs = self.ctx.store.jobs_of(jobset);
        if jobs.any(|j| self.components.accounting.has_successes(j)) {
            return format!("{wait}; a pod that has succeeded keeps its old attempt indefinitely");
        }
        wait
    }

    /// EXC-26, EXC-27: pods that the webhooks reject permanently.
    pub(super) fn rejection_reason(&self, jobset: JobSetId) -> Option<String> {
        let store = &self.ctx.store;
        let short = |j: &JobId| {
            let job = &store.jobs[j.ix()];
            job.exists && job.live.active < job.spec.pods()
        };
        let mut jobs = store.jobs_of(jobset).filter(short);
        let refused = |j: JobId, index| self.components.webhook.creation_blocker(self.ctx, j, index);
        let of_job = |j: JobId| {
            let name = store.names.job(j);
            if let Some((_, why)) = apiserver::pod_rejection(self.ctx, j, 0) {
                return Some(format!("all pods of Job {name} are refused: {why}"));
            }
            if let Some((words, why)) = refused(j, 0) {
                return Some(format!("all pods of Job {name} are refused{}", rejection_cause(&words, &why)));
            }
            let spec = &store.jobs[j.ix()].spec;
            let pods = spec.completions().unwrap_or_else(|| spec.pods());
            let (words, why) = refused(j, 1).filter(|_| pods > 1)?;
            Some(format!("followers of Job {name} are refused{}", rejection_cause(&words, &why)))
        };
        let why = jobs.find_map(of_job)?;
        // The webhooks respond again when the manager runs.
        let up = self.ctx.is_manager_up(self.ctx.now);
        Some(if up { why } else { self.with_run_end(format!("{why}; {MANAGER_STOPPED}")) })
    }
}

/// The reason why the pod webhooks reject a pod, and a remedy if there is one.
fn rejection_cause(words: &str, why: &CreationBlocker) -> String {
    match why {
        CreationBlocker::NoIndexes => ", because a NonIndexed Job has no leader pod".to_owned(),
        CreationBlocker::LeaderEnded => ", because its leader pod has ended".to_owned(),
        CreationBlocker::Orphan(pod) => format!(
            ", because they have two leader pods: {pod} was left behind by an earlier Job of that name, which was \
             deleted with propagationPolicy Orphan ({words}); it helps to delete that pod"
        ),
        CreationBlocker::NodeGone(node) => format!(
            ", because the Node {node} of their leader pod does not exist ({words}); it helps to delete the leader"
        ),
        CreationBlocker::NoLabel { node, key } => format!(
            ", because the Node {node} of their leader pod has no label {key} ({words}); it helps to give it one"
        ),
        CreationBlocker::Other => format!(": {words}"),
    }
}
