//! When a JobSet as a whole is ready, ended or gone; and the pod webhook that holds followers back (jobset.md 16.3).

use super::api::{Answer, Call};
use super::event::Event;
use super::run::Run;
use crate::base::*;
use crate::placement::explain::{Reasons, explain};
use crate::record::{Body, JobConditionType, LedgerCategory};
use crate::spec::CompletionMode;

impl Run<'_> {
    /// All pods the JobSet wants are ready or have succeeded: the clock of a restart stops.
    pub fn check_all_ready(&mut self, jobset: JobSetId) {
        let expected = i64::from(self.m.jobsets[jobset.ix()].wanted_pods);
        let js = &mut self.w.jobsets[jobset.ix()];
        let ready = expected > 0 && i64::from(js.ready_pods) + js.pods_done >= expected;
        if ready == js.all_ready || (ready && js.status.terminal_state.is_some()) {
            return;
        }
        js.all_ready = ready;
        let first = ready && !js.ever_ready;
        js.ever_ready |= ready;
        let (n, rate) = (js.ready_accelerators, js.ready_rate);
        let (waiting, productive) = (LedgerCategory::Waiting, LedgerCategory::Productive);
        let (from, to) = if ready {
            (waiting, productive)
        } else {
            (productive, waiting)
        };
        self.w.ledger.transfer(self.w.now, n, rate, from, to);
        self.emit(Body::AllReady { jobset, ready });
        if first {
            self.arm_ready_faults();
        }
    }

    /// One more pod of the Job has succeeded.
    pub fn pod_succeeded(&mut self, job: JobId) {
        self.w.jobs[job.ix()].successes += 1;
        self.count_wanted(job);
    }

    /// What a Job wants ready is min(parallelism, completions − succeeded): with more completions than parallelism the
    /// next pod takes the place of one that succeeded. Called when either has changed.
    pub fn count_wanted(&mut self, job: JobId) {
        let template = i64::from(self.m.job_spec(job).pods());
        let successes = self.w.jobs[job.ix()].successes;
        let spec = self.job_spec(job);
        let complete = self.w.jobs[job.ix()]
            .status
            .condition(JobConditionType::Complete);
        let left = match spec.completions() {
            // A successPolicy may be met before all completions are.
            _ if complete.is_some() => 0,
            Some(completions) => completions.saturating_sub(successes),
            None if successes > 0 => 0,
            None => u32::MAX,
        };
        let done = template - i64::from(left.min(spec.parallelism()));
        let j = &mut self.w.jobs[job.ix()];
        let newly = done - j.done;
        j.done = done;
        let jobset = self.m.jobs[job.ix()].jobset;
        self.w.jobsets[jobset.ix()].pods_done += newly;
    }

    /// What the Job wants has changed, and with it perhaps whether the JobSet is ready.
    pub fn recount(&mut self, job: JobId) {
        self.count_wanted(job);
        self.check_all_ready(self.m.jobs[job.ix()].jobset);
    }

    /// The Job object is gone: all of its pods are wanted again.
    pub fn forget_successes(&mut self, job: JobId) {
        let j = &mut self.w.jobs[job.ix()];
        let done = std::mem::take(&mut j.done);
        j.successes = 0;
        let jobset = self.m.jobs[job.ix()].jobset;
        self.w.jobsets[jobset.ix()].pods_done -= done;
    }

    /// Completed or Failed: what still runs is no longer productive.
    pub fn jobset_ended(&mut self, jobset: JobSetId) {
        let js = &mut self.w.jobsets[jobset.ix()];
        if js.all_ready {
            js.all_ready = false;
            let (n, rate) = (js.ready_accelerators, js.ready_rate);
            self.w.ledger.transfer(
                self.w.now,
                n,
                rate,
                LedgerCategory::Productive,
                LedgerCategory::Waiting,
            );
        }
    }

    /// The webhook's cache will show the leader as scheduled: followers may come (EXC-8, EXC-10).
    pub fn leader_bound(&mut self, pod: PodId, node: NodeId) {
        let job = self.w.pods.job[pod.ix()];
        let Some(key) = self.m.jobs[job.ix()].exclusive else {
            return;
        };
        let lag = self.watch_lag();
        let j = &mut self.w.jobs[job.ix()];
        j.leader_visible_at = self.w.now + lag;
        j.domain = self.m.domains[key as usize].of[node.ix()];
    }

    /// A leader that terminates or has ended admits no followers (EXC-10), unless its successor is bound already.
    pub fn leader_left(&mut self, pod: PodId) {
        let job = self.w.pods.job[pod.ix()];
        let primary = self.m.jobs[job.ix()].first_pod;
        if self.w.pods.index[pod.ix()] == 0 && self.w.pods.latest[primary as usize] == pod {
            self.w.jobs[job.ix()].leader_visible_at = Time::NEVER;
        }
    }

    /// EXC-9, EXC-11: why the webhooks refuse a follower's creation, if they do. Without a completion index every pod
    /// is a follower, and there is no leader (EXC-27).
    pub fn follower_refused(&self, job: JobId, index: u32) -> Option<String> {
        let m = &self.m.jobs[job.ix()];
        let leaderless = self.job_spec(job).completion_mode == CompletionMode::NonIndexed;
        let key = m.exclusive.filter(|_| index > 0 || leaderless)?;
        let j = &self.w.jobs[job.ix()];
        if j.leader_visible_at <= self.w.now && j.domain.is_some() {
            return None;
        }
        let why = if self.m.pod_spec(job).node_selector.is_empty() {
            "follower pod node selector not set".to_owned()
        } else {
            let key = &self.m.domains[key as usize].key;
            format!(
                "follower pod node selector for topology domain not found. missing selector: {key}"
            )
        };
        Some(format!(
            "Error creating: admission webhook \"vpod.kb.io\" denied the request: {why}"
        ))
    }

    /// Why the scheduler found no node, in its words.
    pub fn explain_unschedulable(&self, pod: PodId) -> String {
        let job = self.w.pods.job[pod.ix()];
        let m = &self.m.jobs[job.ix()];
        let facts = self.facts(job);
        let columns = self.m.cluster.resources.len();
        let leader = self.w.pods.index[pod.ix()] == 0;
        let reasons = (0..self.m.cluster.len() as u32)
            .map(NodeId)
            .filter(|n| self.w.nodes.state[n.ix()].exists)
            .map(|node| {
                if let Some(reason) = facts.reason_against(&self.m.cluster, node) {
                    return reason;
                }
                if let Some(t) = self.w.nodes.taints[node.ix()]
                    .iter()
                    .find(|t| !facts.tolerates(t))
                {
                    return Reasons::Taint(t.key.clone(), t.value.clone());
                }
                if let Some(key) = m.exclusive
                    && !leader
                    && self.m.domains[key as usize].of[node.ix()] != self.w.jobs[job.ix()].domain
                {
                    return Reasons::Selector;
                }
                let free = &self.w.nodes.free[node.ix() * columns..];
                match facts
                    .requests
                    .iter()
                    .find(|(c, milli)| free[*c as usize] < *milli)
                {
                    Some((c, _)) => Reasons::insufficient(&self.m.cluster.resources[*c as usize]),
                    None => Reasons::AntiAffinity,
                }
            });
        explain(self.m.cluster.len(), reasons)
    }

    /// DELETE of the JobSet with foreground propagation: the collector deletes its Jobs, then the object goes.
    pub fn delete_jobset(&mut self, jobset: JobSetId) {
        let js = &mut self.w.jobsets[jobset.ix()];
        if js.deleting || js.deleted {
            return;
        }
        js.deleting = true;
        js.resource_version += 1;
        self.jobset_changed(jobset);
        for job in self.m.jobs_of(jobset) {
            if !self.w.jobs[job.ix()].exists || self.w.jobs[job.ix()].deleting {
                continue;
            }
            self.collect_job_of_jobset(job);
        }
        self.jobset_may_be_gone(jobset);
    }

    /// The collector deletes a Job whose JobSet is being deleted or gone.
    pub fn collect_job_of_jobset(&mut self, job: JobId) {
        for _ in 0..2 {
            let at = self.w.api.send(Call::CollectorJobGet, self.w.now);
            self.w
                .api
                .answered(Call::CollectorJobGet, Answer::Success, at);
        }
        let answered = self.w.api.send(Call::CollectorJobDelete, self.w.now);
        self.at(answered, Event::CollectorDeletesJob(job));
    }

    pub fn collector_deletes_job(&mut self, job: JobId) {
        let there = self.w.jobs[job.ix()].exists;
        self.w
            .api
            .answered(Call::CollectorJobDelete, Answer::found(there), self.w.now);
        let owner = self.m.jobs[job.ix()].jobset;
        if there && self.w.jobsets[owner.ix()].deleted {
            // An absent owner: the collector deletes in the background (corner/README.md, D-2).
            self.remove_job(job, false);
        } else if there {
            self.job_deleting(job);
        }
    }

    pub fn jobset_may_be_gone(&mut self, jobset: JobSetId) {
        let js = &self.w.jobsets[jobset.ix()];
        let held = js.deleted || !js.spec.finalizers.is_empty();
        if held || self.m.jobs_of(jobset).any(|j| self.w.jobs[j.ix()].exists) {
            return;
        }
        self.w.jobsets[jobset.ix()].deleted = true;
        self.emit(Body::JobSetDeleted { jobset });
        self.jobset_changed(jobset);
    }
}
