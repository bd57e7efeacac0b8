//! The in-place restart agents and their barrier (jobset.md 5.4).

use super::api::{Answer, Call};
use super::event::{Event, StatusWrite};
use super::pods::{NO_ATTEMPT, Phase, flag};
use super::run::Run;
use crate::base::random::Purpose;
use crate::base::*;
use crate::record::Body;
use crate::spec::{AgentMode, Kubelet};

/// IN_PLACE_RESTART_EXIT_CODE default.
const RESTART_EXIT_CODE: i32 = 1;

impl Run<'_> {
    /// AG-2: the process starts, lists and watches the JobSet, and writes its attempt once.
    pub fn agent_starts(&mut self, pod: PodId) {
        let jobset = self.jobset_of(pod);
        let value = self.w.jobsets[jobset.ix()]
            .status
            .current_in_place_restart_attempt
            .map_or(0, |c| c + 1);
        self.w.pods.agent_attempt[pod.ix()] = value;
        let mut at = self.w.now;
        if matches!(self.m.scenario.timing.kubelet, Kubelet::Real(_)) {
            // LIST and WATCH go ahead of the PATCH through the same share of the API server.
            for _ in 0..2 {
                at = at.max(self.w.api.send(Call::AgentList, self.w.now));
                self.w.api.answered(Call::AgentList, Answer::Success, at);
            }
        }
        let answered = self.w.api.send(Call::AgentPatch, self.w.now).max(at);
        let epoch = self.w.pods.epoch[pod.ix()];
        self.at(answered, Event::AttemptWritten { pod, epoch });
    }

    pub fn attempt_written(&mut self, pod: PodId, epoch: u32) {
        let lives = self.w.pods.lives(pod, epoch);
        let there = self.w.pods.exists(pod);
        let answer = Answer::found(there);
        self.w.api.answered(Call::AgentPatch, answer, self.w.now);
        if !lives || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        let i = pod.ix();
        let (old, new) = (self.w.pods.attempt[i], self.w.pods.agent_attempt[i]);
        let jobset = self.jobset_of(pod);
        if self.w.pods.phase[i] != Phase::Failed {
            let old = (old != NO_ATTEMPT).then_some(old);
            self.w.jobsets[jobset.ix()].attempt_changed(old, Some(new));
        }
        self.w.pods.attempt[i] = new;
        self.w.pods.resource_version[i] += 1;
        let incarnation = self.w.pods.incarnation[i];
        self.emit(Body::AttemptWritten {
            pod,
            incarnation,
            attempt: new,
        });
        self.pod_changed(pod);
        self.agent_sees(pod, epoch);
    }

    /// AG-3, AG-4: the agent compares its attempt with the JobSet's status.
    pub fn agent_sees(&mut self, pod: PodId, epoch: u32) {
        let i = pod.ix();
        if !self.w.pods.lives(pod, epoch)
            || !self.w.pods.has(pod, flag::UP)
            || self.w.pods.has(pod, flag::DELETING)
        {
            return;
        }
        if !self.node_answers(self.w.pods.node[i])
            || self.w.pods.attempt[i] != self.w.pods.agent_attempt[i]
        {
            return;
        }
        let status = &self.w.jobsets[self.jobset_of(pod).ix()].status;
        let mine = self.w.pods.agent_attempt[i];
        if status
            .previous_in_place_restart_attempt
            .is_some_and(|p| mine <= p)
        {
            self.agent_exits(pod);
        } else if !self.w.pods.has(pod, flag::LIFTED)
            && status.current_in_place_restart_attempt == Some(mine)
        {
            self.lift_barrier(pod, mine);
        }
    }

    fn agent_exits(&mut self, pod: PodId) {
        if matches!(self.m.scenario.timing.kubelet, Kubelet::Scripted { .. }) {
            self.restart_containers(pod, None);
        } else {
            self.w.pods.set(pod, flag::AGENT_EXIT);
            self.process_ends(pod, RESTART_EXIT_CODE);
        }
    }

    /// AG-5: a sidecar's startup probe must notice before the kubelet starts the worker; a main-container agent
    /// starts it itself.
    fn lift_barrier(&mut self, pod: PodId, attempt: u32) {
        self.w.pods.set(pod, flag::LIFTED);
        let incarnation = self.w.pods.incarnation[pod.ix()];
        self.emit(Body::BarrierLifted {
            pod,
            incarnation,
            attempt,
        });
        let epoch = self.w.pods.epoch[pod.ix()];
        let job = self.w.pods.job[pod.ix()];
        let delay = match (&self.m.scenario.timing.kubelet, self.m.jobs[job.ix()].agent) {
            (Kubelet::Real(k), AgentMode::Sidecar { probe_period_s }) => {
                let mut stream = self.w.streams.stream(Purpose::ProbePhase, pod.0, epoch);
                let probe = Duration((stream.uniform() * f64::from(probe_period_s) * 1e9) as u64);
                let containers = &self.m.pod_spec(job).containers;
                containers
                    .iter()
                    .fold(probe, |d, _| d + stream.sample(&k.container_start))
            }
            _ => Duration::ZERO,
        };
        self.after(delay, Event::WorkerUp { pod, epoch });
    }

    pub fn worker_up(&mut self, pod: PodId, epoch: u32) {
        if !self.w.pods.lives(pod, epoch) || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        self.write_status(pod, StatusWrite::Ready);
        self.arm_exit(pod);
    }

    /// A JobSet update goes out to every agent that watches it.
    pub fn fan_out(&mut self, jobset: JobSetId) {
        let scripted = matches!(self.m.scenario.timing.kubelet, Kubelet::Scripted { .. });
        let version = self.w.jobsets[jobset.ix()].resource_version;
        for job in self.m.jobs_of(jobset) {
            if self.m.jobs[job.ix()].agent == AgentMode::Absent {
                continue;
            }
            for k in 0..self.pods_of(job) {
                let pod = self.pod_of(job, k);
                if !self.w.pods.exists(pod) || !self.w.pods.has(pod, flag::UP) {
                    continue;
                }
                let lag = if scripted {
                    self.watch_lag()
                } else {
                    self.draw(
                        Purpose::AgentFanout,
                        pod,
                        version,
                        &self.m.scenario.timing.agent_fanout,
                    )
                };
                let epoch = self.w.pods.epoch[pod.ix()];
                self.after(lag, Event::AgentSees { pod, epoch });
            }
        }
    }

    pub fn jobset_of(&self, pod: PodId) -> JobSetId {
        self.m.jobs[self.w.pods.job[pod.ix()].ix()].jobset
    }

    /// Places of a Job's pods: the primary ones, then the extra ones.
    pub fn pods_of(&self, job: JobId) -> u32 {
        self.m.jobs[job.ix()].slots + self.w.jobs[job.ix()].extra_pods.len() as u32
    }

    pub fn pod_of(&self, job: JobId, k: u32) -> PodId {
        let m = &self.m.jobs[job.ix()];
        if k < m.slots {
            PodId(m.first_pod + k)
        } else {
            self.w.jobs[job.ix()].extra_pods[(k - m.slots) as usize]
        }
    }
}
