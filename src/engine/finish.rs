//! The end of a run: final states, the closed ledger, usage of shared resources, and what is stuck, with the reason.

use super::lane::{BusyTimes, Lane};
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::policy::TerminalState;
use crate::record::*;
use crate::spec::ClientRate;

impl Run<'_> {
    pub fn outcome(&mut self, end_reason: EndReason) -> RunOutcome {
        for job in (0..self.m.jobs.len() as u32).map(JobId) {
            if self.w.jobs[job.ix()].exists {
                self.write_history(job, true);
            }
        }
        let ledger = self.w.ledger.close(self.w.now, &self.m.cluster.currency);
        RunOutcome {
            end: self.w.now,
            end_reason,
            digest: self.w.digest,
            records: self.w.records,
            events: self.w.events,
            jobsets: (0..self.m.jobsets.len())
                .map(|i| self.jobset_outcome(JobSetId(i as u32)))
                .collect(),
            ledger,
            resources: self.resources(),
            requests: self.w.api.requests(),
            stuck: self.stuck(),
            warnings: self.warnings(),
        }
    }

    fn jobset_outcome(&mut self, jobset: JobSetId) -> JobSetOutcome {
        let m = &self.m.jobsets[jobset.ix()];
        let names: Vec<&str> = m
            .spec
            .spec
            .replicated_jobs
            .iter()
            .map(|r| r.name.as_str())
            .collect();
        let js = &mut self.w.jobsets[jobset.ix()];
        JobSetOutcome {
            terminal_state: match js.status.terminal_state {
                Some(TerminalState::Completed) => "Completed",
                Some(TerminalState::Failed) => "Failed",
                None => "",
            },
            deleted: js.deleted,
            restarts: js.status.restarts,
            restarts_count_towards_max: js.status.restarts_count_towards_max,
            current_in_place_restart_attempt: js.status.current_in_place_restart_attempt,
            previous_in_place_restart_attempt: js.status.previous_in_place_restart_attempt,
            conditions: js
                .status
                .conditions
                .iter()
                .map(|c| ConditionOutcome {
                    kind: c.kind.as_str(),
                    status: c.status,
                    reason: c.full_reason(),
                    message: c.message.clone(),
                    last_transition: c.last_transition,
                })
                .collect(),
            replicated_jobs_status: js.shown_status(&names),
            jobs: std::mem::take(&mut js.history),
        }
    }

    fn resources(&self) -> Vec<ResourceUsage> {
        let plane = &self.m.scenario.control_plane;
        let kcm = plane.kube_controller_manager;
        let gc = ClientRate::new(2.0 * kcm.qps, kcm.burst);
        let a = &self.w.api;
        let (jc, js, gcs) = (
            &self.w.job_controller,
            &self.w.jobset_controller,
            &self.w.collector,
        );
        let (s, l) = (&self.w.scheduler, &self.w.lifecycle);
        let nodes = format!("{} requests/s", plane.node_requests_per_s);
        let all = vec![
            lane(Resource::JobControllerClient, kcm, &a.job_controller),
            pool(
                Resource::JobControllerWorkers,
                plane.concurrent_job_syncs,
                jc.syncs,
                &jc.busy,
                jc.longest_queue,
            ),
            lane(Resource::GarbageCollectorClient, gc, &a.collector),
            pool(
                Resource::GarbageCollectorWorkers,
                plane.concurrent_gc_syncs,
                gcs.processed,
                &gcs.busy,
                gcs.longest_queue,
            ),
            usage(
                Resource::SchedulerCycle,
                "1 pod at a time".to_owned(),
                s.cycles,
                &s.busy,
                s.longest_queue,
            ),
            lane(
                Resource::SchedulerBindClient,
                plane.kube_scheduler,
                &a.scheduler_bind,
            ),
            lane(Resource::JobSetClient, plane.jobset_manager, &a.jobset_jobs),
            usage(
                Resource::JobSetReconciler,
                "1 JobSet at a time".to_owned(),
                js.passes,
                &js.busy,
                js.longest_queue,
            ),
            lane(Resource::TaintEvictionClient, kcm, &a.eviction),
            usage(
                Resource::TaintLimiter,
                "1 node per 10 s and zone".to_owned(),
                l.tainted,
                &l.limiter_busy,
                0,
            ),
            usage(
                Resource::NodeRequests,
                nodes,
                a.nodes.requests,
                &a.nodes.busy,
                a.nodes.longest_queue,
            ),
        ];
        all
    }

    /// JobSets that wait for something that will not come.
    fn stuck(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (i, js) in self.w.jobsets.iter().enumerate() {
            let resting = js.deleted
                || js.status.terminal_state.is_some()
                || js.all_ready
                || (js.suspended && !js.deleting);
            if resting
                || !js.submitted
                || !self.m.jobsets[i].managed
                || self.m.jobsets[i].wanted_pods == 0
            {
                continue;
            }
            let name = &self.m.names.jobsets[i].name;
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
        let refused = self.m.jobs_of(jobset).find(|j| {
            let (job, m) = (&self.w.jobs[j.ix()], &self.m.jobs[j.ix()]);
            job.exists
                && m.slots > 1
                && job.live.active < m.slots
                && self.follower_refused(*j, 1).is_some()
        });
        if let Some(job) = refused {
            return format!(
                "followers of Job {} are refused, because its leader pod has ended",
                self.m.names.job(job)
            );
        }
        let missing = self
            .m
            .jobs_of(jobset)
            .filter(|j| !self.w.jobs[j.ix()].exists)
            .count();
        if missing > 0 {
            return format!("{missing} of its Jobs do not exist and are not created");
        }
        if waiting_at_barrier > 0 {
            return format!(
                "{waiting_at_barrier} pods wait at the in-place barrier for the others"
            );
        }
        "the run ended before it was ready".to_owned()
    }

    fn warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.w.warnings);
        if self.w.faults_left > 0 {
            warnings.push(format!(
                "{} scripted faults did not fire before the run ended",
                self.w.faults_left
            ));
        }
        warnings
    }
}

fn lane(resource: Resource, rate: ClientRate, lane: &Lane) -> ResourceUsage {
    let capacity = format!("{} requests/s, burst {}", rate.qps, rate.burst);
    usage(
        resource,
        capacity,
        lane.requests,
        &lane.busy,
        lane.longest_queue,
    )
}

fn pool(
    resource: Resource,
    workers: u32,
    served: u64,
    busy: &BusyTimes,
    longest_queue: u32,
) -> ResourceUsage {
    usage(
        resource,
        format!("{workers} workers"),
        served,
        busy,
        longest_queue,
    )
}

fn usage(
    resource: Resource,
    capacity: String,
    requests: u64,
    busy: &BusyTimes,
    longest_queue: u32,
) -> ResourceUsage {
    ResourceUsage {
        resource,
        capacity,
        requests,
        busy: busy.spans().to_vec(),
        longest_queue,
    }
}
