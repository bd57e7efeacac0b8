//! What happens on nodes: starting, exits and their discovery, stopping, container restarts (kubernetes.md 3).
//!
//! Nothing here runs while the node has no contact or is dead; `nodes_trouble` catches up when it returns.

use super::api::{Answer, Call};
use super::event::{Event, StatusWrite};
use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::random::Purpose;
use crate::base::*;
use crate::record::Body;
use crate::spec::{AgentMode, Container, ContainerRule, Kubelet};

impl Run<'_> {
    /// The kubelet learns of a pod bound to it.
    pub fn start_pod(&mut self, pod: PodId) {
        let i = pod.ix();
        let node = self.w.pods.node[i];
        if !self.node_answers(node) {
            return;
        }
        let delay = match self.rule_for(pod).and_then(|r| r.start_after) {
            Some(start) => start,
            None => self.start_delay(pod),
        };
        let epoch = self.w.pods.epoch[i];
        self.after(delay, Event::ContainersUp { pod, epoch });
    }

    /// Binding seen → containers run: volumes, sandbox, every container in turn (kubernetes.md 3.2). With an agent as
    /// sidecar, only up to the agent: the worker waits for the barrier.
    fn start_delay(&self, pod: PodId) -> Duration {
        let k = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted { start, .. } => return *start,
            Kubelet::Real(k) => k,
        };
        let job = self.w.pods.job[pod.ix()];
        let spec = self.m.pod_spec(job);
        let mut stream =
            self.w
                .streams
                .stream(Purpose::PodStart, pod.0, self.w.pods.epoch[pod.ix()]);
        let mut delay = stream.sample(&k.volumes) + stream.sample(&k.sandbox);
        let sidecar = matches!(self.m.jobs[job.ix()].agent, AgentMode::Sidecar { .. });
        let mains: &[Container] = if sidecar { &[] } else { &spec.containers };
        for container in spec.init_containers.iter().chain(mains) {
            if container.pulls_always() {
                delay = delay + stream.sample(&k.image_check);
            }
            delay = delay + stream.sample(&k.container_start);
        }
        if self.m.jobs[job.ix()].agent != AgentMode::Absent {
            delay = delay + stream.sample(&k.agent_boot);
        }
        delay
    }

    pub fn containers_up(&mut self, pod: PodId, epoch: u32) {
        if !self.w.pods.lives(pod, epoch) || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        self.w.pods.set(pod, flag::UP);
        let job = self.w.pods.job[pod.ix()];
        if self.m.jobs[job.ix()].agent == AgentMode::Absent {
            self.write_status(pod, StatusWrite::Ready);
            self.arm_exit(pod);
        } else {
            self.write_status(pod, StatusWrite::Running);
            self.agent_starts(pod);
            self.arm_barrier_crash(pod);
        }
    }

    /// A scripted crash of a pod that waits at its barrier.
    fn arm_barrier_crash(&mut self, pod: PodId) {
        let Some(wait) = self.rule_for(pod).and_then(|r| r.at_barrier_for) else {
            return;
        };
        self.w.pending_exits += 1;
        let epoch = self.w.pods.epoch[pod.ix()];
        self.after(wait, Event::ContainerExit { pod, epoch });
    }

    /// The scripted exit of the container run that begins now, if a rule names one.
    pub fn arm_exit(&mut self, pod: PodId) {
        let Some(run_for) = self.rule_for(pod).and_then(|r| r.run_for) else {
            return;
        };
        self.w.pending_exits += 1;
        let epoch = self.w.pods.epoch[pod.ix()];
        self.after(run_for, Event::ContainerExit { pod, epoch });
    }

    /// The first container rule that matches this pod's present run.
    pub fn rule_for(&self, pod: PodId) -> Option<&ContainerRule> {
        let rules = &self.m.scenario.containers;
        if rules.is_empty() {
            return None;
        }
        let i = pod.ix();
        let p = &self.w.pods;
        let job = &self.m.jobs[p.job[i].ix()];
        let jobset = &self.m.jobsets[job.jobset.ix()].spec;
        let rj = &jobset.spec.replicated_jobs[job.rj as usize].name;
        let index = if self.indexed(p.job[i]) {
            p.index[i]
        } else {
            0
        };
        let is = |want: Option<u32>, have: u32| want.is_none_or(|w| w == have);
        let attempt = if p.agent_attempt[i] == super::pods::NO_ATTEMPT {
            0
        } else {
            p.agent_attempt[i]
        };
        rules.iter().find(|r| {
            r.jobset.as_ref().is_none_or(|n| *n == jobset.name)
                && r.replicated_job.as_ref().is_none_or(|n| n == rj)
                && is(r.job_index, job.index)
                && is(r.pod_index, index)
                && is(
                    r.restart_attempt,
                    self.w.jobs[p.job[i].ix()].restart_attempt,
                )
                && is(
                    r.job_restart,
                    self.w.jobs[p.job[i].ix()].job_restart_attempt,
                )
                && is(r.job_try, u32::from(p.job_try[i]))
                && is(r.in_place_attempt, attempt)
                && is(r.container_run, u32::from(p.restarts[i]))
        })
    }

    /// Sends a status PATCH; it is stored when answered.
    pub fn write_status(&mut self, pod: PodId, what: StatusWrite) {
        let local = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted { .. } => Duration::ZERO,
            Kubelet::Real(k) => self.w.api.status_delay(&k.status_write),
        };
        let answered = self.w.api.send(Call::KubeletStatus, self.w.now) + local;
        // The kubelet's status manager sends one PATCH of a pod after the other.
        let until = self.w.pods.status_until[pod.ix()];
        let answered = if answered > until {
            answered
        } else {
            until + answered.since(self.w.now)
        };
        self.w.pods.status_until[pod.ix()] = answered;
        let epoch = self.w.pods.epoch[pod.ix()];
        self.at(answered, Event::StatusWritten { pod, epoch, what });
    }

    pub fn status_written(&mut self, pod: PodId, epoch: u32, what: StatusWrite) {
        let there = self.w.pods.exists(pod);
        let answer = Answer::found(there);
        self.w.api.answered(Call::KubeletStatus, answer, self.w.now);
        if !self.w.pods.lives(pod, epoch) {
            return;
        }
        if !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        let i = pod.ix();
        match what {
            StatusWrite::Running | StatusWrite::Ready => {
                if self.w.pods.phase[i] == Phase::Pending {
                    self.w.pods.phase[i] = Phase::Running;
                    self.w.pods.resource_version[i] += 1;
                    let incarnation = self.w.pods.incarnation[i];
                    self.emit(Body::PodRunning { pod, incarnation });
                }
                if what == StatusWrite::Ready
                    && self.w.pods.has(pod, flag::UP)
                    && !self.w.pods.has(pod, flag::DELETING)
                {
                    self.set_ready(pod, true);
                } else {
                    self.pod_changed(pod);
                }
            }
            StatusWrite::NotReady => self.set_ready(pod, false),
            StatusWrite::Finished => {
                let succeeded = self.w.pods.exit_code[i] == 0;
                self.finish_pod(pod, succeeded);
            }
        }
    }

    /// The kubelet sees a deletionTimestamp and stops the containers within the grace period.
    pub fn begin_stop(&mut self, pod: PodId) {
        let i = pod.ix();
        let node = self.w.pods.node[i];
        if !self.w.pods.has(pod, flag::BOUND)
            || self.w.pods.has(pod, flag::STOPPING)
            || self.w.pods.phase[i].is_terminal()
        {
            return;
        }
        if !self.node_answers(node) {
            return;
        }
        self.w.pods.set(pod, flag::STOPPING);
        self.w.pods.epoch[i] += 1;
        let grace = Duration::from_secs(u64::from(
            self.m
                .pod_spec(self.w.pods.job[i])
                .termination_grace_period_s,
        ));
        let (delay, exit_code) = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted {
                stop,
                stop_exit_code,
                ..
            } => {
                let stop = self
                    .rule_for(pod)
                    .and_then(|r| r.stop_after)
                    .unwrap_or(*stop);
                (stop.min(grace), *stop_exit_code)
            }
            Kubelet::Real(k) => {
                let stop = self.draw(
                    Purpose::PodStop,
                    pod,
                    self.w.pods.epoch[i] << 3 | 7,
                    &k.container_stop,
                );
                (stop.min(grace.max(k.minimum_grace)), 143)
            }
        };
        let dead = self.w.pods.has(pod, flag::EXITED);
        let delay = if dead { Duration::ZERO } else { delay };
        if !dead {
            self.w.pods.exit_code[i] = exit_code.clamp(0, 255) as u8;
            self.w.pods.exit_container[i] = 0;
        }
        let incarnation = self.w.pods.incarnation[i];
        let lag = self.watch_lag();
        self.after(lag + delay, Event::Stopped { pod, incarnation });
    }

    /// Containers have ended: terminal phase, then the end of the object.
    pub fn stopped(&mut self, pod: PodId, incarnation: u32) {
        if !self.w.pods.is(pod, incarnation) || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        if !self.w.pods.has(pod, flag::EXITED) {
            // Until now the deletion itself was the finish time (kubernetes.md 1.5).
            self.w.pods.ended_at[pod.ix()] = self.w.now;
        }
        self.w.pods.clear(pod, flag::UP);
        self.write_status(pod, StatusWrite::Finished);
        self.confirm_deletion(pod);
    }

    /// Clean-up, then the kubelet's own DELETE with grace 0.
    pub fn confirm_deletion(&mut self, pod: PodId) {
        let incarnation = self.w.pods.incarnation[pod.ix()];
        let cleanup = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted { .. } => Duration::ZERO,
            Kubelet::Real(k) => self.draw(
                Purpose::PodStop,
                pod,
                self.w.pods.epoch[pod.ix()] << 3 | 6,
                &k.cleanup,
            ),
        };
        let deleted = self.w.api.send(Call::KubeletDelete, self.w.now) + cleanup;
        self.at(deleted, Event::KubeletDeleted { pod, incarnation });
    }

    pub fn kubelet_deleted(&mut self, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        let answer = Answer::found(there);
        self.w.api.answered(Call::KubeletDelete, answer, self.w.now);
        if !there || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        if !self.w.pods.phase[pod.ix()].is_terminal() {
            let succeeded = self.w.pods.exit_code[pod.ix()] == 0;
            self.finish_pod(pod, succeeded);
        }
        self.w.pods.set(pod, flag::CONFIRMED);
        self.remove_if_free(pod);
    }
}
