//! Jobs and JobSets: failures of pods, and restarts. The decisions are those of `sim_policy`; measured delays determine
//! when they take effect.

use super::event::NodesEvent;
use super::outcome::CountedRestart;
use super::profile::{JobDelays, RestartDelays};
use super::rows::JobRow;
use super::run::Replication;
use sim_api::spec::{POD_FAILURE_POLICY, PodReplacementPolicy, RestartStrategy};
use sim_base::{Duration, SimTime};
use sim_engine::record::LedgerCategory;
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;
use sim_policy::job::pod_failure::{FailedPodView, RuleVerdict, fail_job_message, matching_rule};
use sim_policy::{FinishedView, JobSetStatus, JobSetView, JobSyncView, JobView, TerminalState, reconcile};

/// A pod that the Job controller considers failed.
struct FailedPod<'a> {
    view: FailedPodView<'a>,
    /// Time from which its back-off counts.
    ended_at: SimTime,
    /// Time until the controller observes it.
    noticed: Duration,
}

impl FailedPod<'_> {
    /// A pod with the condition DisruptionTarget.
    fn disrupted(ended_at: SimTime) -> FailedPod<'static> {
        let view = FailedPodView { exit_codes: &[], disruption_target: true };
        FailedPod { view, ended_at, noticed: Duration::ZERO }
    }
}

impl Replication<'_, '_> {
    pub fn is_leader(&self, pod: usize) -> bool {
        let job = self.model.job_of_pod[pod] as usize;
        self.model.template_of(job).exclusive.is_some() && pod == self.model.jobs[job].pods.start
    }

    /// Returns whether all pods of a JobSet have nodes and none is lost or ends.
    pub fn is_complete(&self, jobset: usize) -> bool {
        let runs = |pod: &usize| !self.pods[*pod].is_deleting && !self.pods[*pod].is_restarting;
        let complete = |job: usize| self.has_all_pods(job) && self.jobs[job].apart.iter().all(runs);
        let row = &self.jobsets[jobset];
        row.ended.is_none() && row.absent == 0 && self.jobs_of(jobset).all(complete)
    }

    // --- ends of pods

    /// A pod ends, and its node is free.
    pub fn end_pod(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let row = &mut self.pods[pod];
        if !row.exists {
            return;
        }
        let (node, is_lost) = (row.node, row.is_lost);
        row.end();
        self.jobs[job].lost -= u32::from(is_lost);
        if !node.is_some() {
            self.jobs[job].unplaced -= 1;
            return;
        }
        self.accounts.release(self.now, job, node);
        self.on_node[node.ix()].retain(|other| *other != pod);
        self.places.move_pod(job, self.is_leader(pod), node, false);
        self.update_billing(node, false);
        self.has_free_nodes = true;
        self.check_failed(job);
        self.check_gone(job);
    }

    /// The containers of a pod have ended with this code; its phase becomes Failed after `noticed`.
    pub fn fail_pod(&mut self, pod: usize, exit_code: Option<i32>, noticed: Duration) {
        let job = self.model.job_of_pod[pod] as usize;
        self.lose_pods_of(job);
        self.jobs[job].slice.note_exit(self.pods[pod].node, self.now + noticed);
        self.end_pod(pod);
        // All containers of the pod end.
        let containers = &self.model.spec_of(job).template.template.spec.containers;
        let codes = exit_code.into_iter().flat_map(|code| containers.iter().map(move |c| (c.name.as_str(), code)));
        let codes: Vec<(&str, i32)> = codes.collect();
        let view = FailedPodView { exit_codes: &codes, disruption_target: false };
        self.count_failed_pod(pod, &FailedPod { view, ended_at: self.now, noticed });
    }

    /// A pod with the condition DisruptionTarget ends; garbage collection sets this condition of orphans. Without the
    /// end of a container, it has ended when its condition Ready became false (`backoff_utils.go`, getFinishedTime).
    pub fn end_disrupted(&mut self, pod: usize, ended_at: SimTime) {
        let job = self.model.job_of_pod[pod] as usize;
        let was_counted = self.pods[pod].is_deleting && self.fails_while_terminating(job);
        self.lose_pods_of(job);
        self.end_pod(pod);
        if !was_counted {
            self.count_failed_pod(pod, &FailedPod::disrupted(ended_at));
        }
    }

    /// A pod is deleted because of a disruption. On a running machine it ends soon.
    pub fn disrupt(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        if !self.pods[pod].exists || self.pods[pod].is_deleting {
            return;
        }
        self.lose_pods_of(job);
        let row = &mut self.pods[pod];
        (row.is_deleting, row.not_ready_at) = (true, row.not_ready_at.min(self.now));
        if self.fails_while_terminating(job) {
            self.count_failed_pod(pod, &FailedPod::disrupted(self.pods[pod].not_ready_at));
        }
        // A failing Job ends all its pods together.
        let ends_alone = self.jobs[job].failure.is_none() && !self.jobs[job].is_deleting;
        if self.is_removed_at_once(job) {
            self.end_pod(pod);
        } else if ends_alone && !self.pods[pod].is_lost {
            // Only a Job that waits for the end of the pod is delayed by it.
            if self.fails_while_terminating(job) {
                self.end_disrupted(pod, self.now);
            } else {
                self.terminate(pod);
            }
        }
    }

    /// The kubelet begins to stop a deleted pod.
    pub fn terminate(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let epoch = self.pods[pod].epoch;
        self.schedule_after(self.model.termination_of(job), NodesEvent::PodTerminated { pod, epoch });
    }

    /// Returns whether the API server removes deleted pods of a Job without their kubelet: without a grace period, as
    /// soon as the Job controller has counted them.
    fn is_removed_at_once(&self, job: usize) -> bool {
        let grace = self.spec_of(job).template.template.spec.termination_grace_period_s;
        grace == 0 && self.fails_while_terminating(job)
    }

    /// Returns whether a pod that terminates counts as failed (`isPodFailed`): not with the policy Failed.
    pub fn fails_while_terminating(&self, job: usize) -> bool {
        self.spec_of(job).template.pod_replacement_policy() != PodReplacementPolicy::Failed
    }

    pub fn spec_of(&self, job: usize) -> &sim_api::spec::ReplicatedJob {
        self.model.spec_of(job)
    }

    /// The Job controller counts a failed pod, and decides whether the Job fails or replaces it.
    fn count_failed_pod(&mut self, pod: usize, failed: &FailedPod<'_>) {
        let noticed = failed.noticed;
        let job = self.model.job_of_pod[pod] as usize;
        if !self.jobs[job].exists || self.jobs[job].is_deleting || self.jobs[job].failure.is_some() {
            return;
        }
        let of = &self.model.jobs[job];
        let jobset = &self.model.jobsets[of.jobset].spec;
        let spec = &jobset.spec.replicated_jobs[of.rj as usize].template;
        let rules = spec.pod_failure_policy.as_deref().unwrap_or_default();
        let matched = matching_rule(rules, &failed.view);
        let verdict = matched.as_ref().map_or(RuleVerdict::default(), |(_, action, _)| RuleVerdict {
            counts: *action != sim_api::spec::PodFailurePolicyAction::Ignore,
            action: Some(*action),
        });
        let message = matched.filter(|(_, action, _)| *action == sim_api::spec::PodFailurePolicyAction::FailJob);
        let message = message.map(|(rule, _, matched)| {
            let name = super::model::job_name(jobset, of.rj, of.index);
            fail_job_message(&jobset.namespace, &format!("{name}-{}", pod - of.pods.start), matched, rule)
        });
        self.jobs[job].failed_pods += u32::from(verdict.counts);
        self.jobs[job].backoff = self.jobs[job].backoff.after_sync(None, std::iter::once(failed.ended_at));
        let plan = sim_policy::job::sync(&self.sync_view(job, message.as_deref()));
        if let Some(failure) = plan.fail {
            return self.fail_job(job, failure, noticed);
        }
        // All failed pods are replaced when the back-off of the last one is over.
        let after = plan.requeue_after.unwrap_or(SYNC_JOB_BATCH_PERIOD).max(SYNC_JOB_BATCH_PERIOD);
        let row = &mut self.jobs[job];
        row.replaces_at = self.now + noticed + after;
        let (at, epoch) = (row.replaces_at, row.epoch);
        self.schedule(at, NodesEvent::ReplacementsPlaced { job, epoch });
    }

    /// What the Job controller knows of a Job.
    pub fn sync_view<'v>(&'v self, job: usize, fail_job_message: Option<&'v str>) -> JobSyncView<'v> {
        let apart = self.jobs[job].apart.iter().map(|pod| &self.pods[*pod]).filter(|pod| pod.exists);
        JobSyncView {
            spec: &self.spec_of(job).template,
            version: self.model.scenario.control_plane.kubernetes,
            now: self.now,
            deleting: false,
            suspended: false,
            start_time: None,
            failure_target: None,
            success_criteria_met: None,
            active: self.count_pods(job, false),
            misplaced: 0,
            terminating: self.count_pods(job, true),
            succeeded: 0,
            succeeded_indexes: &[],
            failed: self.jobs[job].failed_pods,
            container_restarts: apart.map(|pod| pod.restarts).sum(),
            failed_indexes: 0,
            failed_and_succeeded: 0,
            fail_job_message,
            expectations_satisfied: true,
            backoff: self.jobs[job].backoff,
        }
    }

    // --- failing Jobs

    /// The Job fails: its other pods are deleted, and it gets the condition when all of them have ended.
    pub fn fail_job(&mut self, job: usize, failure: (std::borrow::Cow<'static, str>, String), noticed: Duration) {
        let jobset = self.model.jobs[job].jobset;
        let delays = self.restart_delays(jobset);
        let row = &mut self.jobs[job];
        (row.failure, row.siblings_ended) = (Some(failure), false);
        let epoch = row.epoch;
        self.stop_waiting(job);
        self.accounts.set_category(self.now, job, LedgerCategory::Terminating);
        let after = if self.has_live_pods(job) {
            delays.siblings_deleted + self.model.termination_of(job)
        } else {
            Duration::ZERO
        };
        self.schedule_after(noticed + after, NodesEvent::SiblingsEnded { job, epoch });
    }

    /// Returns whether a pod of a Job is on a running machine.
    fn has_live_pods(&self, job: usize) -> bool {
        let row = &self.jobs[job];
        let lives = |pod: &usize| self.pods[*pod].exists && !self.pods[*pod].is_lost && self.pods[*pod].node.is_some();
        !row.crowd.nodes.is_empty() || row.apart.iter().any(lives)
    }

    pub fn siblings_ended(&mut self, job: usize) {
        self.jobs[job].siblings_ended = true;
        self.end_live_pods(job);
        self.check_failed(job);
        self.has_free_nodes = true;
    }

    /// Ends the pods of a Job that are not on lost machines; those on lost machines are deleted.
    fn end_live_pods(&mut self, job: usize) {
        if self.waits_as_one(job) {
            self.jobs[job].unplaced = 0;
        }
        self.end_crowd(job);
        for nth in 0..self.jobs[job].apart.len() {
            let pod = self.jobs[job].apart[nth];
            match (self.pods[pod].exists, self.pods[pod].is_lost) {
                (true, false) => self.end_pod(pod),
                (true, true) if self.is_removed_at_once(job) => self.end_pod(pod),
                (true, true) => self.pods[pod].is_deleting = true,
                (false, _) => self.pods[pod].epoch += 1,
            }
        }
    }

    /// A failing Job without pods gets the condition Failed (kubernetes.md 1.4).
    pub fn check_failed(&mut self, job: usize) {
        let row = &self.jobs[job];
        let waits_for_lost = self.model.scenario.control_plane.kubernetes.delays_terminal_condition();
        let is_failing = row.failure.is_some() && row.finished.is_none() && !row.is_deleting;
        let has_no_lost = row.lost + row.replaced == 0 || !waits_for_lost;
        if is_failing && has_no_lost && (row.siblings_ended || !self.has_live_pods(job)) {
            let (epoch, jobset) = (row.epoch, self.model.jobs[job].jobset);
            let after = self.restart_delays(jobset).failed;
            self.schedule_after(after, NodesEvent::JobFailed { job, epoch });
        }
    }

    pub fn job_failed(&mut self, job: usize) {
        let row = &mut self.jobs[job];
        if row.finished.is_some() {
            return;
        }
        let Some((reason, message)) = row.failure.clone() else { return };
        row.finished = Some(FinishedView { failed: true, reason: reason.into_owned(), message, at: self.now });
        let jobset = self.model.jobs[job].jobset;
        let after = self.restart_delays(jobset).counted;
        self.schedule_after(after, NodesEvent::Reconciled { jobset });
    }

    // --- JobSets

    /// The JobSet manager handles failed Jobs.
    pub fn reconcile(&mut self, jobset: usize) {
        if self.jobsets[jobset].ended.is_some() {
            return;
        }
        let model = self.model;
        let of = &model.jobsets[jobset];
        let views: Vec<JobView> =
            of.jobs.clone().filter(|job| self.jobs[*job].exists).map(|job| self.job_view(job)).collect();
        let plane = &model.scenario.control_plane;
        let name = |rj, index| super::model::job_name(&of.spec, rj, index);
        let view = JobSetView {
            jobset: &of.spec,
            suspended: false,
            deleting: false,
            status: &self.jobsets[jobset].status,
            jobs: &views,
            gates: plane.feature_gates,
            now: self.now,
            service_exists: true,
            in_place: None,
            ties: model.scenario.ties,
            job_name: &name,
        };
        let mut plan = std::mem::take(&mut self.plan);
        reconcile(&view, &mut plan);
        let before = &self.jobsets[jobset].status;
        let is_restart = plan.status.restarts > before.restarts;
        let single = self.single_restarts(jobset, &plan.status);
        let used = |status: &JobSetStatus| status.budget_used().max(0) as u32;
        let times = used(&plan.status).saturating_sub(used(before));
        let all = plan.status.restarts - before.restarts + single.len() as u32;
        let uncounted = all.saturating_sub(times);
        let reason = views.iter().filter_map(|view| view.finished.as_ref()).map(|failed| failed.reason.as_str());
        let is_pod_failure_policy = reason.into_iter().any(|reason| reason == POD_FAILURE_POLICY);
        if plan.status_dirty {
            self.jobsets[jobset].status = plan.status.clone();
        }
        self.plan = plan;
        if times + uncounted > 0 {
            let (cause, at) = (self.cause_of(jobset), self.now);
            let counted = CountedRestart { at, times, uncounted, cause, is_pod_failure_policy };
            self.jobsets[jobset].counted.push(counted);
        }
        if self.jobsets[jobset].status.terminal_state == Some(TerminalState::Failed) {
            return self.fail_jobset(jobset);
        }
        if is_restart {
            let failed = self.jobs_of(jobset).find(|job| self.jobs[*job].finished.as_ref().is_some_and(|f| f.failed));
            self.restart_jobset(jobset, failed);
        }
        single.into_iter().for_each(|job| self.restart_job(job));
    }

    /// The Jobs that are restarted alone according to a new status of their JobSet (FP-11, FP-12).
    fn single_restarts(&self, jobset: usize, status: &JobSetStatus) -> Vec<usize> {
        let of = |status: &JobSetStatus, job: usize| {
            let job = &self.model.jobs[job];
            let rj = status.replicated_jobs.get(job.rj as usize);
            rj.and_then(|rj| rj.job_restarts.get(job.index as usize)).copied().unwrap_or(0)
        };
        let before = &self.jobsets[jobset].status;
        self.jobs_of(jobset).filter(|job| of(status, *job) > of(before, *job)).collect()
    }

    /// The restart of a single Job is counted: it is deleted and created again.
    fn restart_job(&mut self, job: usize) {
        let (jobset, rj) = (self.model.jobs[job].jobset, self.model.jobs[job].rj);
        self.order_restart(jobset, Some(job));
        let chosen = self.choose_restart(jobset, &self.model.jobsets[jobset].profile.single_jobs, Some(rj));
        (self.jobsets[jobset].single, self.jobs[job].single) = (Some(chosen), Some(chosen));
        (self.jobs[job].is_awaited, self.jobs[job].is_deferred) = (true, false);
        if self.jobs[job].exists && !self.jobs[job].is_deleting {
            self.delete_job(job);
        }
    }

    /// The fault process that interrupted a JobSet, or that is the cause of what happens now.
    pub fn cause_of(&self, jobset: usize) -> u32 {
        self.jobsets[jobset].interruption.map_or(self.cause.0, |interruption| interruption.cause)
    }

    fn job_view(&self, job: usize) -> JobView {
        let (of, row) = (&self.model.jobs[job], &self.jobs[job]);
        let spec = &self.spec_of(job).template;
        let active = self.count_pods(job, false);
        JobView {
            rj: of.rj,
            index: of.index,
            restart_attempt: Some(row.attempt),
            job_restart_attempt: Some(row.restarts),
            unusable_label: None,
            parallelism: Some(spec.parallelism()),
            completions: spec.completions(),
            deleting: row.is_deleting,
            suspended: false,
            active,
            ready: active.saturating_sub(row.unplaced + row.lost),
            succeeded: if row.slice.is_done { of.pods.len() as u32 } else { 0 },
            finished: row.finished.clone().or_else(|| row.slice.completion()).map(Box::new),
        }
    }

    pub fn fail_jobset(&mut self, jobset: usize) {
        if self.jobsets[jobset].ended.is_some() {
            return;
        }
        self.interrupt(jobset);
        self.end_jobset(jobset, "Failed");
        for job in self.jobs_of(jobset) {
            if self.jobs[job].exists && !self.jobs[job].is_deleting {
                self.delete_job(job);
            }
            (self.jobs[job].is_awaited, self.jobs[job].is_deferred) = (false, false);
        }
    }

    /// Chooses one of the measured restarts that began with the failure of a Job of this replicatedJob, if there are
    /// any, else one of all.
    fn choose_restart(&mut self, jobset: usize, measured: &[RestartDelays], failed_rj: Option<u32>) -> usize {
        let is_alike = |restart: &RestartDelays| Some(restart.failed_rj) == failed_rj;
        let alike = measured.iter().filter(|restart| is_alike(restart)).count();
        if alike == 0 {
            return self.choose_delays(jobset, measured.len());
        }
        let chosen = self.choose_delays(jobset, alike);
        let mut own = measured.iter().enumerate().filter(|(_, restart)| is_alike(restart));
        own.nth(chosen).map_or(0, |(nth, _)| nth)
    }

    /// The restart is counted: all Jobs are deleted and created again.
    fn restart_jobset(&mut self, jobset: usize, failed: Option<usize>) {
        self.order_restart(jobset, None);
        let failed_rj = failed.map(|job| self.model.jobs[job].rj);
        let chosen = self.choose_restart(jobset, &self.model.jobsets[jobset].profile.restarts, failed_rj);
        self.jobsets[jobset].delays = chosen;
        (self.jobsets[jobset].has_started, self.jobsets[jobset].single) = (true, None);
        self.draw_order(jobset, failed);
        for job in self.jobs_of(jobset) {
            self.jobs[job].single = None;
            let delay = self.job_delays(job);
            let row = &mut self.jobs[job];
            (row.is_awaited, row.is_deferred) = (true, false);
            if row.exists && !row.is_deleting {
                self.delete_job(job);
            } else if !row.exists {
                // It was about to be created.
                row.epoch += 1;
                let epoch = row.epoch;
                self.schedule_after(delay.first, NodesEvent::JobPlaced { job, epoch });
            }
        }
    }

    /// The Job is deleted: its nodes are free and it is gone after the measured times, if no pod on a lost machine
    /// remains.
    fn delete_job(&mut self, job: usize) {
        let JobDelays { released, gone, .. } = self.job_delays(job);
        self.stop_waiting(job);
        let of = &mut self.jobsets[self.model.jobs[job].jobset];
        (of.absent, of.deleting) = (of.absent + 1, of.deleting + 1);
        let row = &mut self.jobs[job];
        (row.is_deleting, row.gone_due) = (true, false);
        row.epoch += 1;
        let epoch = row.epoch;
        self.accounts.set_category(self.now, job, LedgerCategory::Terminating);
        self.schedule_after(released, NodesEvent::JobReleased { job, epoch });
        self.schedule_after(gone, NodesEvent::JobGone { job, epoch });
    }

    /// The pods of a Job on running machines have ended.
    pub fn release_job(&mut self, job: usize) {
        self.end_live_pods(job);
        self.has_free_nodes = true;
    }

    pub fn job_gone_due(&mut self, job: usize) {
        self.jobs[job].gone_due = true;
        self.end_live_pods(job);
        self.check_gone(job);
        self.has_free_nodes = true;
    }

    /// A deleted Job without pods is gone; its successor can be created.
    pub fn check_gone(&mut self, job: usize) {
        let row = &self.jobs[job];
        if !row.exists || !row.is_deleting || !row.gone_due || row.lost + row.replaced > 0 {
            return;
        }
        let epoch = row.epoch + 1;
        let mut fresh = JobRow { epoch, is_awaited: row.is_awaited, single: row.single, ..JobRow::new() };
        std::mem::swap(&mut fresh, &mut self.jobs[job]);
        assert!(fresh.crowd.nodes.is_empty(), "the pods of a Job that is gone have ended");
        fresh.apart.into_iter().for_each(|pod| self.pods[pod].is_apart = false);
        let jobset = self.model.jobs[job].jobset;
        self.jobsets[jobset].deleting -= 1;
        if self.jobsets[jobset].ended.is_some() {
            return;
        }
        let delays = self.job_delays(job);
        match self.model.jobsets[jobset].spec.spec.strategy() {
            // RS-2: no Job is created while one of an earlier attempt exists.
            RestartStrategy::BlockingRecreate => {
                if self.jobsets[jobset].deleting > 0 {
                    return;
                }
                let last =
                    if self.jobs[job].single.is_some() { delays.gone } else { self.restart_delays(jobset).all_gone() };
                for job in self.jobs_of(jobset) {
                    if !self.jobs[job].exists && self.jobs[job].is_awaited {
                        self.jobs[job].epoch += 1;
                        let epoch = self.jobs[job].epoch;
                        let after = Duration(self.job_delays(job).first.0.saturating_sub(last.0));
                        self.schedule_after(after, NodesEvent::JobPlaced { job, epoch });
                    }
                }
            }
            // CRE-1: a Job is created as soon as its name is free.
            RestartStrategy::Recreate | RestartStrategy::InPlaceRestart => {
                let after = Duration(delays.first.0.saturating_sub(delays.gone.0));
                self.schedule_after(after, NodesEvent::JobPlaced { job, epoch });
            }
        }
    }
}
