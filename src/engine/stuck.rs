//! What a run that came to its end still waits for, and why that will not come: dead ends by name.
//!
//! Must never change anything: it reads the state at the end.

use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::policy::depends_on;
use crate::spec::*;

impl Run<'_> {
    /// JobSets that wait for something that will not come.
    pub fn stuck(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (i, js) in self.w.jobsets.iter().enumerate() {
            let resting = js.deleted
                || js.status.terminal_state.is_some()
                || js.all_ready
                || (js.suspended && !js.deleting && js.errors == 0);
            if resting || !js.submitted || !self.m.jobsets[i].managed {
                continue;
            }
            let name = &self.m.names.jobsets[i].name;
            if self.m.jobsets[i].wanted_pods == 0 {
                sentences.extend(self.without_pods(name, &js.spec));
                continue;
            }
            sentences.push(format!(
                "JobSet {name} is not ready: {}",
                self.why_stuck(JobSetId(i as u32))
            ));
        }
        sentences
    }

    fn why_stuck(&self, jobset: JobSetId) -> String {
        let mut waiting_at_barrier = 0;
        for job in self.m.jobs_of(jobset) {
            for k in 0..self.pods_of(job) {
                let pod = self.pod_of(job, k);
                if !self.w.pods.exists(pod) || self.w.pods.job[pod.ix()] != job {
                    continue;
                }
                let name = format!("{}-{}", self.m.names.job(job), self.w.pods.index[pod.ix()]);
                let node = self.w.pods.node[pod.ix()];
                if self.w.pods.has(pod, flag::DELETING)
                    && self.w.pods.has(pod, flag::BOUND)
                    && !self.node_answers(node)
                {
                    return format!(
                        "pod {name} is terminating on node {}, which does not answer; {} cannot end until the Node \
                         object is deleted, tainted out-of-service, or the pod is removed by force",
                        self.m.names.node(node),
                        self.m.names.job(job)
                    );
                }
                if self.w.pods.has(pod, flag::PARKED) {
                    return format!(
                        "pod {name} cannot be scheduled: {}",
                        self.explain_unschedulable(pod)
                    );
                }
                if self.w.pods.has(pod, flag::BOUND)
                    && !self.w.pods.phase[pod.ix()].is_terminal()
                    && !self.node_answers(node)
                {
                    return format!(
                        "pod {name} is on node {}, which does not answer",
                        self.m.names.node(node)
                    );
                }
                waiting_at_barrier +=
                    u32::from(self.w.pods.has(pod, flag::UP) && !self.w.pods.has(pod, flag::READY));
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
            .or_else(|| self.why_suspended(jobset))
            .or_else(|| self.why_one_index_short(jobset))
            .unwrap_or_else(|| "the run ended before it was ready".to_owned())
    }

    /// C-10: nothing can succeed, and without a success the success policy is never asked.
    fn without_pods(&self, name: &str, spec: &JobSet) -> Option<String> {
        let none = spec.spec.replicated_jobs.iter().all(|r| r.replicas == 0);
        none.then(|| format!("JobSet {name} never completes: none of its replicatedJobs has a Job"))
    }

    /// SU-1, SU-3: InOrder resumes no Job of a replicatedJob that has started, and succeeded pods count as ready
    /// (REC-6).
    fn why_suspended(&self, jobset: JobSetId) -> Option<String> {
        if self.w.jobsets[jobset.ix()].suspended {
            return None;
        }
        let mut jobs = self.m.jobs_of(jobset);
        let job = jobs.find(|j| {
            let job = &self.w.jobs[j.ix()];
            job.exists && job.suspended && !job.status.is_finished()
        })?;
        Some(format!(
            "Job {} stays suspended after the resume: its succeeded pods make it count as started, and startupPolicy \
             InOrder resumes only what has not",
            self.m.names.job(job)
        ))
    }

    /// kubernetes.md 1.6: with backoffLimitPerIndex a Job goes on with its other indexes, and ends only with the last.
    fn why_one_index_short(&self, jobset: JobSetId) -> Option<String> {
        self.m.jobs_of(jobset).find_map(|job| {
            let j = &self.w.jobs[job.ix()];
            let index = j.failed_indexes.first()?;
            let goes_on = j.exists && !j.status.is_finished() && j.live.active > 0;
            goes_on.then(|| {
                format!(
                    "index {index} of Job {} has failed for good and is not made again; the Job goes on with its \
                     other indexes until they end",
                    self.m.names.job(job)
                )
            })
        })
    }

    /// EXC-26, EXC-27: webhooks that refuse pods for ever.
    fn why_refused(&self, jobset: JobSetId) -> Option<String> {
        let short = |j: &JobId| {
            let (job, m) = (&self.w.jobs[j.ix()], &self.m.jobs[j.ix()]);
            job.exists && job.live.active < m.slots
        };
        let mut jobs = self.m.jobs_of(jobset).filter(short);
        let of_job = |j: JobId| {
            let name = self.m.names.job(j);
            if self.follower_refused(j, 0).is_some() {
                let why = "because a NonIndexed Job has no leader pod";
                return Some(format!("all pods of Job {name} are refused, {why}"));
            }
            let refused = self.m.jobs[j.ix()].slots > 1 && self.follower_refused(j, 1).is_some();
            let why = "because its leader pod has ended";
            refused.then(|| format!("followers of Job {name} are refused, {why}"))
        };
        jobs.find_map(of_job)
    }

    /// The first replicatedJob without one of its Jobs, and what it waits for.
    fn why_not_created(&self, jobset: JobSetId) -> Option<String> {
        let (js, m) = (&self.w.jobsets[jobset.ix()], &self.m.jobsets[jobset.ix()]);
        let specs = &js.spec.spec.replicated_jobs;
        let statuses = &js.status.replicated_jobs;
        let own = (m.first_job..m.first_job + m.jobs).map(JobId);
        let missing: Vec<JobId> = own.filter(|j| !self.w.jobs[j.ix()].exists).collect();
        let at = self.m.jobs[missing.first()?.ix()].rj as usize;
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
            let on: Vec<String> = rj.depends_on.iter().map(on).collect();
            return Some(format!(
                "the Jobs of replicatedJob {} are not created before {}",
                rj.name,
                on.join(" and ")
            ));
        }
        if js.spec.spec.startup_order == StartupPolicyOrder::InOrder && at > 0 {
            return Some(format!(
                "startupPolicy InOrder holds back the Jobs of replicatedJob {} until those of the replicatedJobs \
                 before it have started",
                rj.name
            ));
        }
        let refused = "the JobSet controller's passes end with an error";
        Some(match js.errors {
            0 => format!(
                "{} of its Jobs do not exist and are not created",
                missing.len()
            ),
            n => format!(
                "{} of its Jobs are not created: {refused}, {n} times in a row",
                missing.len()
            ),
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
        let mut jobs = self.m.jobs_of(jobset);
        if jobs.any(|j| self.w.jobs[j.ix()].successes > 0) {
            return format!("{wait}; a pod that has succeeded keeps its old attempt for ever");
        }
        wait
    }
}
