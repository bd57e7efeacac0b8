//! Jobs and JobSets: failures of pods, restarts, and the creation and placement of pods. The decisions are those of
//! `sim_policy`; measured delays determine when they take effect.

use super::outcome::CountedRestart;
use super::places::{PodRole, SearchedPod};
use super::profile::{JobDelays, PlacementDelays};
use super::run::{JobRow, NodesEvent, Replication};
use sim_api::spec::{POD_FAILURE_POLICY, PodReplacementPolicy, RestartPolicy, RestartStrategy};
use sim_base::random::{StreamPurpose, UniformDraw};
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::record::LedgerCategory;
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;
use sim_policy::job::pod_failure::{FailedPodView, RuleVerdict, fail_job_message, matching_rule};
use sim_policy::{
    CrashBackOff, FinishedView, JobSetStatus, JobSetView, JobSyncView, JobView, TerminalState, reconcile,
};

impl Replication<'_, '_> {
    pub fn is_leader(&self, pod: usize) -> bool {
        let job = self.model.job_of_pod[pod] as usize;
        self.model.template_of(job).exclusive.is_some() && pod == self.model.jobs[job].pods.start
    }

    /// Returns whether all pods of a JobSet have nodes and none is lost or ends.
    pub fn is_complete(&self, jobset: usize) -> bool {
        let complete = |job: usize| {
            self.has_all_pods(job)
                && !self.jobs[job].apart.iter().any(|pod| self.pods[*pod].is_deleting || self.pods[*pod].is_restarting)
        };
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
        (row.exists, row.is_lost, row.is_deleting, row.node) = (false, false, false, NodeId::NONE);
        (row.hang, row.evicted_at, row.epoch) = (None, SimTime::NEVER, row.epoch + 1);
        (row.is_restarting, row.restarts, row.crash) = (false, 0, CrashBackOff::NONE);
        self.jobs[job].lost -= u32::from(is_lost);
        if !node.is_some() {
            self.jobs[job].unplaced -= 1;
            return;
        }
        self.accounts.release(self.now, job, node);
        self.on_node[node.ix()].retain(|other| *other != pod);
        self.places.move_pod(job, self.is_leader(pod), node, false);
        self.check_failed(job);
        self.check_gone(job);
    }

    /// The containers of a pod have ended with this code; its phase becomes Failed after `noticed`.
    pub fn fail_pod(&mut self, pod: usize, exit_code: Option<i32>, noticed: Duration) {
        let job = self.model.job_of_pod[pod] as usize;
        let jobset = self.model.jobs[job].jobset;
        self.interrupt(jobset);
        self.end_pod(pod);
        let container = self.container_name(job);
        let codes: Vec<(&str, i32)> = exit_code.iter().map(|code| (container.as_str(), *code)).collect();
        self.count_failed_pod(pod, &FailedPodView { exit_codes: &codes, disruption_target: false }, noticed);
    }

    /// Returns whether the kubelet restarts containers of a Job's pods that exit with an error (kubernetes.md 1.6).
    pub fn restarts_containers(&self, job: usize) -> bool {
        self.spec_of(job).template.template.spec.restart_policy == RestartPolicy::OnFailure
    }

    /// The container of a pod exits, and the kubelet restarts it after its back-off.
    pub fn restart_container(&mut self, pod: usize) {
        let (job, now) = (self.model.job_of_pod[pod] as usize, self.now);
        let of = &self.model.jobs[job];
        self.interrupt(of.jobset);
        let measured = &self.model.jobsets[of.jobset].profile.containers;
        let chosen = self.choose_delays(of.jobset, measured.len());
        let row = &mut self.pods[pod];
        (row.hang, row.is_restarting, row.epoch) = (None, true, row.epoch + 1);
        row.crash.ended_at = now;
        let (mut crash, epoch) = (row.crash, row.epoch);
        let mut name = UniformDraw {
            purpose: StreamPurpose::WorkerJitter,
            entity: of.key.part((pod - of.pods.start) as u64),
            occurrence: epoch,
            substream: 0,
        };
        let back_off = crash.restart(now, |(from, sleep), look| {
            name.substream = look as u32;
            from + sleep + Duration(self.draws.below(name, (sleep.0 / 2 / 1_000) as u32 + 1) as u64 * 1_000)
        });
        self.pods[pod].crash = crash;
        self.schedule_after(measured[chosen] + back_off, NodesEvent::ContainerRestarted { pod, epoch });
    }

    /// The container runs again, and its restart is counted.
    pub fn container_restarted(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let row = &mut self.pods[pod];
        (row.is_restarting, row.restarts) = (false, row.restarts + 1);
        if row.is_lost || row.is_deleting || self.jobs[job].is_deleting || self.jobs[job].failure.is_some() {
            return;
        }
        self.check_complete(self.model.jobs[job].jobset);
        let epoch = self.jobs[job].epoch;
        self.schedule_after(SYNC_JOB_BATCH_PERIOD, NodesEvent::RestartsCounted { job, epoch });
    }

    /// The Job controller counts the restarts of containers, and the Job fails if there are too many.
    pub fn count_restarts(&mut self, job: usize) {
        let row = &self.jobs[job];
        if !row.exists || row.is_deleting || row.failure.is_some() {
            return;
        }
        let plan = sim_policy::job::sync(&self.sync_view(job, None));
        if let Some(failure) = plan.fail {
            self.interrupt(self.model.jobs[job].jobset);
            self.fail_job(job, failure, Duration::ZERO);
        }
    }

    /// A pod with the condition DisruptionTarget ends; garbage collection sets this condition of orphans.
    pub fn end_disrupted(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let was_counted = self.pods[pod].is_deleting && self.fails_while_terminating(job);
        self.interrupt(self.model.jobs[job].jobset);
        self.end_pod(pod);
        if !was_counted {
            self.count_failed_pod(pod, &FailedPodView { exit_codes: &[], disruption_target: true }, Duration::ZERO);
        }
    }

    /// A pod is deleted because of a disruption. On a running machine it ends soon.
    pub fn disrupt(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        if !self.pods[pod].exists || self.pods[pod].is_deleting {
            return;
        }
        self.interrupt(self.model.jobs[job].jobset);
        self.pods[pod].is_deleting = true;
        if self.fails_while_terminating(job) {
            self.count_failed_pod(pod, &FailedPodView { exit_codes: &[], disruption_target: true }, Duration::ZERO);
        }
        // A failing Job ends all its pods together.
        let ends_alone = self.jobs[job].failure.is_none() && !self.jobs[job].is_deleting;
        if ends_alone && !self.pods[pod].is_lost {
            self.end_disrupted(pod);
        }
    }

    /// Returns whether a pod that terminates counts as failed (`isPodFailed`): not with the policy Failed.
    fn fails_while_terminating(&self, job: usize) -> bool {
        self.spec_of(job).template.pod_replacement_policy() != PodReplacementPolicy::Failed
    }

    fn container_name(&self, job: usize) -> String {
        let containers = &self.spec_of(job).template.template.spec.containers;
        containers.first().map_or(String::new(), |container| container.name.clone())
    }

    fn spec_of(&self, job: usize) -> &sim_api::spec::ReplicatedJob {
        let of = &self.model.jobs[job];
        &self.model.jobsets[of.jobset].spec.spec.replicated_jobs[of.rj as usize]
    }

    /// The Job controller counts a failed pod, and decides whether the Job fails or replaces it.
    fn count_failed_pod(&mut self, pod: usize, failed: &FailedPodView<'_>, noticed: Duration) {
        let job = self.model.job_of_pod[pod] as usize;
        if !self.jobs[job].exists || self.jobs[job].is_deleting || self.jobs[job].failure.is_some() {
            return;
        }
        let of = &self.model.jobs[job];
        let jobset = &self.model.jobsets[of.jobset].spec;
        let spec = &jobset.spec.replicated_jobs[of.rj as usize].template;
        let rules = spec.pod_failure_policy.as_deref().unwrap_or_default();
        let matched = matching_rule(rules, failed);
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
        let record = self.jobs[job].backoff;
        // A pod that terminates has no finish time yet.
        self.jobs[job].backoff =
            if !self.pods[pod].is_deleting { record.after_sync(None, std::iter::once(self.now)) } else { record };
        let plan = sim_policy::job::sync(&self.sync_view(job, message.as_deref()));
        if let Some(failure) = plan.fail {
            return self.fail_job(job, failure, noticed);
        }
        // The pod is replaced after the back-off.
        let after = plan.requeue_after.unwrap_or(SYNC_JOB_BATCH_PERIOD).max(SYNC_JOB_BATCH_PERIOD);
        let epoch = self.jobs[job].epoch;
        self.schedule_after(noticed + after, NodesEvent::PodPlaced { pod, epoch });
    }

    /// What the Job controller knows of a Job.
    fn sync_view<'v>(&'v self, job: usize, fail_job_message: Option<&'v str>) -> JobSyncView<'v> {
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
    fn fail_job(&mut self, job: usize, failure: (std::borrow::Cow<'static, str>, String), noticed: Duration) {
        let jobset = self.model.jobs[job].jobset;
        let delays = self.restart_delays(jobset);
        let row = &mut self.jobs[job];
        (row.failure, row.siblings_ended) = (Some(failure), false);
        let epoch = row.epoch;
        self.stop_waiting(job);
        self.accounts.set_category(self.now, job, LedgerCategory::Terminating);
        self.schedule_after(noticed + delays.siblings_end, NodesEvent::SiblingsEnded { job, epoch });
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
                (true, true) => self.pods[pod].is_deleting = true,
                (false, _) => self.pods[pod].epoch += 1,
            }
        }
    }

    /// A failing Job without pods gets the condition Failed (kubernetes.md 1.4).
    fn check_failed(&mut self, job: usize) {
        let row = &self.jobs[job];
        let waits_for_lost = self.model.scenario.control_plane.kubernetes.delays_terminal_condition();
        let may_fail = row.siblings_ended && (row.lost + row.replaced == 0 || !waits_for_lost);
        if row.failure.is_some() && row.finished.is_none() && !row.is_deleting && may_fail {
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
        let used = |status: &JobSetStatus| status.budget_used().max(0) as u32;
        let times = used(&plan.status).saturating_sub(used(before));
        let uncounted = (plan.status.restarts - before.restarts).saturating_sub(times);
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
            self.restart_jobset(jobset);
        }
    }

    /// The fault process that interrupted a JobSet, or that is the cause of what happens now.
    fn cause_of(&self, jobset: usize) -> u32 {
        self.jobsets[jobset].interruption.map_or(self.cause.0, |interruption| interruption.cause)
    }

    /// A container exits, and all containers of the JobSet restart in place (IPR-4, IPR-9).
    pub fn restart_in_place(&mut self, jobset: usize) {
        self.interrupt(jobset);
        let profile = &self.model.jobsets[jobset].profile;
        let chosen = self.choose_delays(jobset, profile.in_place.len());
        let delays = profile.in_place[chosen];
        let (cause, at) = (self.cause_of(jobset), self.now + delays.noticed);
        let row = &mut self.jobsets[jobset];
        row.attempts += 1;
        let counted = CountedRestart { at, times: 1, uncounted: 0, cause, is_pod_failure_policy: false };
        let policy = &self.model.jobsets[jobset].spec.spec.failure_policy;
        let limit = policy.as_ref().map_or(0, |policy| i64::from(policy.max_restarts));
        if i64::from(row.attempts) > limit {
            row.attempts -= 1;
            return self.schedule(at, NodesEvent::LimitExceeded { jobset });
        }
        row.counted.push(counted);
        let epoch = row.epoch;
        self.schedule_after(delays.ready, NodesEvent::Ready { jobset, epoch });
        for job in self.jobs_of(jobset) {
            self.jobs[job].apart.iter().for_each(|pod| self.pods[*pod].hang = None);
        }
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
            succeeded: 0,
            finished: row.finished.clone().map(Box::new),
        }
    }

    pub fn fail_jobset(&mut self, jobset: usize) {
        if self.jobsets[jobset].ended.is_some() {
            return;
        }
        self.interrupt(jobset);
        self.end_jobset(jobset, "Failed");
        let delays = self.restart_delays(jobset);
        for (job, delay) in self.jobs_of(jobset).zip(&delays.jobs) {
            if self.jobs[job].exists && !self.jobs[job].is_deleting {
                self.delete_job(job, (delay.released, delay.gone));
            }
            (self.jobs[job].is_awaited, self.jobs[job].is_deferred) = (false, false);
        }
    }

    /// The restart is counted: all Jobs are deleted and created again.
    fn restart_jobset(&mut self, jobset: usize) {
        self.interrupt(jobset);
        let of = self.model.jobsets[jobset].profile.restarts.len();
        self.jobsets[jobset].delays = self.choose_delays(jobset, of);
        self.jobsets[jobset].has_started = true;
        let delays = self.restart_delays(jobset);
        for (job, delay) in self.jobs_of(jobset).zip(&delays.jobs) {
            let row = &mut self.jobs[job];
            (row.is_awaited, row.is_deferred) = (true, false);
            if row.exists && !row.is_deleting {
                self.delete_job(job, (delay.released, delay.gone));
            } else if !row.exists {
                // It was about to be created.
                row.epoch += 1;
                let epoch = row.epoch;
                self.schedule_after(delay.first, NodesEvent::JobPlaced { job, epoch });
            }
        }
    }

    /// The Job is deleted: its nodes are free and it is gone after these times, if no pod on a lost machine remains.
    fn delete_job(&mut self, job: usize, (released, gone): (Duration, Duration)) {
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
    fn check_gone(&mut self, job: usize) {
        let row = &self.jobs[job];
        if !row.exists || !row.is_deleting || !row.gone_due || row.lost + row.replaced > 0 {
            return;
        }
        let epoch = row.epoch + 1;
        let mut fresh = JobRow { epoch, is_awaited: row.is_awaited, ..JobRow::new() };
        std::mem::swap(&mut fresh, &mut self.jobs[job]);
        assert!(fresh.crowd.nodes.is_empty(), "the pods of a Job that is gone have ended");
        fresh.apart.into_iter().for_each(|pod| self.pods[pod].is_apart = false);
        let jobset = self.model.jobs[job].jobset;
        self.jobsets[jobset].deleting -= 1;
        if self.jobsets[jobset].ended.is_some() {
            return;
        }
        let delays = self.restart_delays(jobset);
        match self.model.jobsets[jobset].spec.spec.strategy() {
            // RS-2: no Job is created while one of an earlier attempt exists.
            RestartStrategy::BlockingRecreate => {
                if self.jobsets[jobset].deleting > 0 {
                    return;
                }
                let last = delays.all_gone();
                for (job, delay) in self.jobs_of(jobset).zip(&delays.jobs) {
                    if !self.jobs[job].exists && self.jobs[job].is_awaited {
                        self.jobs[job].epoch += 1;
                        let epoch = self.jobs[job].epoch;
                        let after = Duration(delay.first.0.saturating_sub(last.0));
                        self.schedule_after(after, NodesEvent::JobPlaced { job, epoch });
                    }
                }
            }
            // CRE-1: a Job is created as soon as its name is free.
            RestartStrategy::Recreate | RestartStrategy::InPlaceRestart => {
                let delay = &delays.jobs[job - self.jobs_of(jobset).start];
                let after = Duration(delay.first.0.saturating_sub(delay.gone.0));
                self.schedule_after(after, NodesEvent::JobPlaced { job, epoch });
            }
        }
    }

    // --- creation and placement

    /// A new Job exists, and the scheduler places its pods, unless Jobs before it in the startup order are not ready.
    pub fn create_job(&mut self, job: usize) {
        let of = &self.model.jobs[job];
        self.jobs[job].is_deferred = !self.has_predecessors(job);
        if self.jobs[job].is_deferred {
            return;
        }
        self.jobsets[of.jobset].absent -= 1;
        let status = &self.jobsets[of.jobset].status;
        let restarts = status.replicated_jobs.get(of.rj as usize);
        let restarts = restarts.and_then(|rj| rj.job_restarts.get(of.index as usize)).copied().unwrap_or(0);
        let attempt = status.restarts;
        let row = &mut self.jobs[job];
        (row.exists, row.is_awaited) = (true, false);
        (row.attempt, row.restarts) = (attempt, restarts);
        row.unplaced = of.pods.len() as u32;
        self.accounts.set_category(self.now, job, LedgerCategory::Starting);
        if !self.model.takes_nodes_alone {
            of.pods.clone().for_each(|pod| self.add_apart(pod));
        }
        let rest = self.placement(job).rest;
        self.place_pods(job, rest);
    }

    /// A pod that replaces a failed one exists.
    pub fn create_pod(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let row = &self.jobs[job];
        if !row.exists || row.is_deleting || row.failure.is_some() {
            return;
        }
        if self.pods[pod].exists {
            if !self.pods[pod].is_deleting {
                return;
            }
            self.leave_replaced(pod);
        }
        self.jobs[job].unplaced += 1;
        let row = &mut self.pods[pod];
        (row.exists, row.node, row.epoch) = (true, NodeId::NONE, row.epoch + 1);
        self.place_pods(job, Duration::ZERO);
    }

    /// The pod terminates on a lost machine, and its Job has a replacement for it.
    fn leave_replaced(&mut self, pod: usize) {
        let (job, is_leader) = (self.model.job_of_pod[pod] as usize, self.is_leader(pod));
        let row = &mut self.pods[pod];
        let node = row.node;
        (row.exists, row.is_lost, row.is_deleting, row.node) = (false, false, false, NodeId::NONE);
        (row.hang, row.evicted_at, row.epoch) = (None, SimTime::NEVER, row.epoch + 1);
        self.on_node[node.ix()].retain(|other| *other != pod);
        self.replaced_on[node.ix()].push((job, is_leader));
        self.jobs[job].lost -= 1;
        self.jobs[job].replaced += 1;
    }

    /// Pods that have a replacement end, because their machine returned or garbage collection removes them.
    pub fn end_replaced(&mut self, node: NodeId) {
        for (job, is_leader) in std::mem::take(&mut self.replaced_on[node.ix()]) {
            self.jobs[job].replaced -= 1;
            self.accounts.release(self.now, job, node);
            self.places.move_pod(job, is_leader, node, false);
            self.check_failed(job);
            self.check_gone(job);
        }
    }

    /// Returns whether the pods of all Jobs that come before a Job in the startup order run.
    fn has_predecessors(&self, job: usize) -> bool {
        let of = &self.model.jobs[job];
        self.model.jobsets[of.jobset].predecessors[of.rj as usize].iter().all(|before| self.has_all_pods(*before))
    }

    fn has_all_pods(&self, job: usize) -> bool {
        let row = &self.jobs[job];
        row.exists && !row.is_deleting && row.failure.is_none() && row.unplaced == 0 && row.lost == 0
    }

    /// Schedules the Jobs that waited for the pods of others: they follow as long after these as measured.
    fn place_deferred(&mut self, jobset: usize) {
        for job in self.jobs_of(jobset) {
            if !self.jobs[job].is_deferred || !self.has_predecessors(job) {
                continue;
            }
            let of = &self.model.jobs[job];
            let before = &self.model.jobsets[of.jobset].predecessors[of.rj as usize];
            let measured = |job: usize| {
                let placement = self.placement(job);
                placement.first + placement.rest
            };
            let last = before.iter().map(|job| measured(*job)).max().unwrap_or(Duration::ZERO);
            let bound = before.iter().map(|job| self.jobs[*job].bound_at).max().unwrap_or(self.now);
            let after = Duration(self.placement(job).first.0.saturating_sub(last.0));
            self.jobs[job].is_deferred = false;
            let (epoch, at) = (self.jobs[job].epoch, self.now.max(bound + after));
            self.schedule(at, NodesEvent::JobPlaced { job, epoch });
        }
    }

    /// Measured delays of the placement of a Job in the current start or restart.
    fn placement(&self, job: usize) -> PlacementDelays {
        let jobset = self.model.jobs[job].jobset;
        let nth = job - self.jobs_of(jobset).start;
        let profile = &self.model.jobsets[jobset].profile;
        if self.jobsets[jobset].has_started {
            let JobDelays { first, rest, .. } = self.restart_delays(jobset).jobs[nth];
            PlacementDelays { first, rest }
        } else {
            profile.starts[self.jobsets[jobset].delays % profile.starts.len()].placed[nth]
        }
    }

    /// Places the pods of a Job that have no node. The last of them is bound after `rest`.
    fn place_pods(&mut self, job: usize, rest: Duration) {
        let is_placed = if self.waits_as_one(job) { self.place_crowd(job) } else { self.place_single_pods(job) };
        if self.jobs[job].unplaced > 0 {
            if self.jobs[job].waits_since.is_none() {
                self.waits += 1;
                self.jobs[job].waits_since = Some(self.waits);
                self.waiting.insert((self.waits, job));
            }
            return;
        }
        self.stop_waiting(job);
        if is_placed {
            self.jobs[job].bound_at = self.now + rest;
            let jobset = self.model.jobs[job].jobset;
            self.place_deferred(jobset);
            self.check_complete(jobset);
        }
    }

    fn stop_waiting(&mut self, job: usize) {
        if let Some(since) = self.jobs[job].waits_since.take() {
            self.waiting.remove(&(since, job));
        }
    }

    /// Names the next searches of pods of a Job.
    pub fn next_search(&mut self, job: usize, is_leader: bool, number: u32) -> SearchedPod {
        let row = &mut self.jobs[job];
        let search = row.searches + 1;
        row.searches += number;
        SearchedPod { job, is_leader, attempt: row.attempt, search }
    }

    /// Places the pods that have states of their own. Returns whether a pod is placed.
    fn place_single_pods(&mut self, job: usize) -> bool {
        let exclusive = self.model.template_of(job).exclusive;
        let mut is_placed = false;
        let mut waiting: Vec<usize> = self.jobs[job].apart.clone();
        waiting.retain(|pod| self.pods[*pod].exists && !self.pods[*pod].node.is_some());
        waiting.sort_unstable();
        for pod in waiting {
            let is_leader = self.is_leader(pod);
            let role = match exclusive {
                Some(key) if !is_leader => {
                    let leader = self.leader_node(job);
                    // The webhook refuses followers until the leader has a node (EXC-10).
                    if !leader.is_some() {
                        break;
                    }
                    PodRole::Follower(self.model.domains[key as usize].of[leader.ix()])
                }
                _ => PodRole::First,
            };
            let wanted = self.next_search(job, is_leader, 1);
            let Some(node) = self.places.find(wanted, role, self.draws) else { continue };
            self.bind(pod, job, node);
            is_placed = true;
        }
        is_placed
    }

    /// The node of the first pod of a Job.
    fn leader_node(&self, job: usize) -> NodeId {
        let (first, crowd) = (self.model.jobs[job].pods.start, &self.jobs[job].crowd);
        if self.pods[first].is_apart { self.pods[first].node } else { crowd.leader }
    }

    fn bind(&mut self, pod: usize, job: usize, node: NodeId) {
        let is_leader = self.is_leader(pod);
        self.places.move_pod(job, is_leader, node, true);
        self.accounts.bind(self.now, job, node);
        self.on_node[node.ix()].push(pod);
        let is_up = self.health.rows[node.ix()].is_connected;
        let row = &mut self.pods[pod];
        (row.node, row.bound_at, row.is_lost, row.starts_late) = (node, self.now, !is_up, !is_up);
        let job = &mut self.jobs[job];
        job.unplaced -= 1;
        // The scheduler does not know yet that the machine has failed: the pod does not start.
        job.lost += u32::from(!is_up);
    }

    /// Schedules the readiness of a JobSet whose pods all have nodes.
    pub fn check_complete(&mut self, jobset: usize) {
        if !self.is_complete(jobset) {
            return;
        }
        let bound = self.jobs_of(jobset).map(|job| self.jobs[job].bound_at).max().unwrap_or(self.now);
        let at = self.now.max(bound + self.ready_delay(jobset));
        let row = &mut self.jobsets[jobset];
        row.epoch += 1;
        let epoch = row.epoch;
        self.schedule(at, NodesEvent::Ready { jobset, epoch });
    }

    /// Nodes may have become free: tries the Jobs that wait, in the order of their waits.
    pub fn place_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        for (_, job) in self.waiting.clone() {
            self.place_pods(job, Duration::ZERO);
        }
    }
}
