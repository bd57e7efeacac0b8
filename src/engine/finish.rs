//! The end of a run: final states, the closed ledger, usage of shared resources, and what is stuck, with the reason.

use super::lane::{BusyTimes, Lane};
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
