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
use crate::spec::{
    AgentMode, Container, ContainerRestartAction, ContainerRule, Kubelet, RealKubelet,
    RestartPolicy,
};

/// What a kubelet does about an exit.
enum AfterExit {
    PodEnds,
    /// This many of the pod's containers run again.
    Restart(u32),
    RestartAll,
}

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
                && is(r.pod_index, p.index[i])
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

    /// A container's process ends with the code its rule (or the script) says.
    pub fn container_exit(&mut self, pod: PodId, epoch: u32) {
        self.w.pending_exits -= 1;
        if !self.w.pods.lives(pod, epoch) || !self.w.pods.has(pod, flag::UP) {
            return;
        }
        let rule = self.rule_for(pod);
        if rule.is_some_and(|r| r.at_barrier_for.is_some()) {
            if !self.w.pods.has(pod, flag::LIFTED) {
                self.restart_containers(pod, None);
            }
            return;
        }
        let code = rule.map_or(1, |r| r.exit_code);
        let containers = &self.m.pod_spec(self.w.pods.job[pod.ix()]).containers;
        let named = rule.and_then(|r| r.container.as_ref());
        let only = named.and_then(|n| containers.iter().position(|c| c.name == *n));
        self.process_ends(pod, code);
        self.w.pods.exit_container[pod.ix()] = only.map_or(0, |at| at.min(254) as u8 + 1);
    }

    /// Exit codes of a pod's containers as its status shows them: nothing before the pod has ended.
    pub fn exit_codes(&self, pod: PodId) -> Vec<(&str, i32)> {
        if !self.w.pods.phase[pod.ix()].is_terminal() {
            return Vec::new();
        }
        let containers = &self.m.pod_spec(self.w.pods.job[pod.ix()]).containers;
        let codes = containers.iter().enumerate();
        codes
            .map(|(at, c)| (c.name.as_str(), self.exit_code_of(pod, at)))
            .collect()
    }

    fn exit_code_of(&self, pod: PodId, container: usize) -> i32 {
        let only = usize::from(self.w.pods.exit_container[pod.ix()]);
        if only == 0 || only == container + 1 {
            i32::from(self.w.pods.exit_code[pod.ix()])
        } else {
            0
        }
    }

    pub fn process_ends(&mut self, pod: PodId, exit_code: i32) {
        let i = pod.ix();
        self.w.pods.clear(pod, flag::UP);
        self.w.pods.set(pod, flag::EXITED);
        self.w.pods.ended_at[i] = self.w.now;
        self.w.pods.exit_code[i] = exit_code.clamp(0, 255) as u8;
        self.w.pods.exit_container[i] = 0;
        self.w.pods.epoch[i] += 1;
        let incarnation = self.w.pods.incarnation[i];
        self.emit(Body::ContainerExited {
            pod,
            incarnation,
            exit_code,
        });
        if self.w.jobsets[self.jobset_of(pod).ix()].ever_ready {
            self.w.api.mark_restart();
        }
        let epoch = self.w.pods.epoch[i];
        let wait = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted { .. } => Duration::ZERO,
            Kubelet::Real(k) => self.until_relist(pod, k),
        };
        self.after(wait, Event::ExitNoticed { pod, epoch });
    }

    /// PLEG relists every period from a phase of its own: a spontaneous exit waits U(0, period) (kubernetes.md 3.1).
    fn until_relist(&self, pod: PodId, k: &RealKubelet) -> Duration {
        let mut stream =
            self.w
                .streams
                .stream(Purpose::PlegPhase, pod.0, self.w.pods.epoch[pod.ix()]);
        Duration((stream.uniform() * k.pleg_period.0 as f64) as u64)
    }

    pub fn exit_noticed(&mut self, pod: PodId, epoch: u32) {
        if !self.w.pods.lives(pod, epoch) || !self.node_answers(self.w.pods.node[pod.ix()]) {
            return;
        }
        if self.w.pods.has(pod, flag::DELETING) {
            return;
        }
        let code = i32::from(self.w.pods.exit_code[pod.ix()]);
        let ends = self.rule_for(pod).is_some_and(|r| r.pod_fails);
        let after = match ends {
            true => AfterExit::PodEnds,
            false => self.after_exit(pod, code),
        };
        match after {
            AfterExit::PodEnds => self.write_status(pod, StatusWrite::Finished),
            AfterExit::Restart(containers) => match self.m.scenario.timing.kubelet {
                // The recordings' player reports a container only once it runs again: the pod stays ready meanwhile.
                Kubelet::Scripted { restart, .. } => {
                    self.after(restart, Event::ContainersBack { pod, epoch })
                }
                Kubelet::Real(_) => self.restart_containers(pod, Some(containers)),
            },
            AfterExit::RestartAll => self.restart_containers(pod, None),
        }
    }

    /// The player's report of containers that run again.
    fn scripted_restart(&mut self, pod: PodId) {
        let code = i32::from(self.w.pods.exit_code[pod.ix()]);
        if let AfterExit::Restart(containers) = self.after_exit(pod, code) {
            self.count_restart(pod, containers);
        }
        self.w.pods.set(pod, flag::UP);
        self.w.pods.resource_version[pod.ix()] += 1;
        self.pod_changed(pod);
        self.arm_exit(pod);
    }

    /// Each container's own rules first, whatever its exit code, then its policy, then the pod's (KEP-5307, KEP-5532).
    fn after_exit(&self, pod: PodId, exit_code: i32) -> AfterExit {
        let spec = self.m.pod_spec(self.w.pods.job[pod.ix()]);
        if self.w.pods.has(pod, flag::AGENT_EXIT) {
            return self.after_agent_exit(pod, exit_code);
        }
        let mut again = 0;
        for (at, container) in spec.containers.iter().enumerate() {
            let code = self.exit_code_of(pod, at);
            match container.matching_rule(code) {
                Some(ContainerRestartAction::RestartAllContainers) => return AfterExit::RestartAll,
                Some(ContainerRestartAction::Restart) => again += 1,
                None => match container.restart_policy.unwrap_or(spec.restart_policy) {
                    RestartPolicy::Always => again += 1,
                    RestartPolicy::OnFailure if code != 0 => again += 1,
                    _ => {}
                },
            }
        }
        match again {
            0 => AfterExit::PodEnds,
            n => AfterExit::Restart(n),
        }
    }

    /// The agent's own exit (AG-3): a sidecar's rules restart the pod's containers, without one only the agent is
    /// started again; as main container its rules or policy decide.
    fn after_agent_exit(&self, pod: PodId, exit_code: i32) -> AfterExit {
        let job = self.w.pods.job[pod.ix()];
        let spec = self.m.pod_spec(job);
        let agent = match self.m.jobs[job.ix()].agent {
            AgentMode::Sidecar { .. } => spec.init_containers.iter().find(|c| c.is_sidecar()),
            _ => spec.containers.first(),
        };
        match agent.and_then(|c| c.matching_rule(exit_code)) {
            Some(ContainerRestartAction::RestartAllContainers) => AfterExit::RestartAll,
            _ => AfterExit::Restart(1),
        }
    }

    /// Containers of a pod start again in place, all of them or so many: their restartCount grows, readiness is lost.
    pub fn restart_containers(&mut self, pod: PodId, containers: Option<u32>) {
        let i = pod.ix();
        let job = self.w.pods.job[i];
        let spec = self.m.pod_spec(job);
        let every = (spec.containers.len() + spec.init_containers.len()).max(1) as u32;
        self.count_restart(pod, containers.unwrap_or(every));
        self.write_status(pod, StatusWrite::NotReady);
        let back_off = self.crash_back_off(pod, containers.is_none());
        let delay = self.restart_delay(pod, containers.is_none(), back_off);
        let epoch = self.w.pods.epoch[i];
        self.after(delay, Event::ContainersBack { pod, epoch });
    }

    /// restartCount of so many containers grows; a new life of the pod's processes begins.
    fn count_restart(&mut self, pod: PodId, more: u32) {
        let i = pod.ix();
        let job = self.w.pods.job[i];
        let was = u32::from(self.w.pods.restarts[i]);
        let restarts = was + 1;
        self.w.pods.restarts[i] = restarts.min(u32::from(u16::MAX)) as u16;
        self.w.pods.restart_sum[i] += more;
        self.w.pods.epoch[i] += 1;
        self.w.pods.clear(
            pod,
            flag::UP | flag::EXITED | flag::LIFTED | flag::AGENT_EXIT,
        );
        let jobset = self.m.jobs[job.ix()].jobset;
        self.w.jobsets[jobset.ix()].restarts_changed(Some(was), Some(restarts));
        if self.w.pods.is_active(pod) {
            self.w.jobs[job.ix()].live.container_restarts += more;
        }
        let incarnation = self.w.pods.incarnation[i];
        self.emit(Body::ContainersRestarting {
            pod,
            incarnation,
            restarts,
        });
    }

    /// kubernetes.md 3.4: the entry is made at the second start; a container that ran for more than ten minutes since it
    /// was last started again begins anew. RestartAllContainers leaves nothing in the runtime to look at (3.6).
    fn crash_back_off(&mut self, pod: PodId, all: bool) -> Duration {
        let p = &mut self.w.pods;
        let i = pod.ix();
        if all {
            return Duration::ZERO;
        }
        let ran = p.ended_at[i].since(p.restarted_at[i]);
        if p.crash_level[i] > 0 && ran > CRASH_BACK_OFF_RESET {
            p.crash_level[i] = 0;
        }
        let delay = crash_back_off(p.crash_level[i]);
        p.crash_level[i] = p.crash_level[i].saturating_add(1);
        p.restarted_at[i] = self.w.now + delay;
        delay
    }

    /// RestartAllContainers stops the containers one after another, removes and starts them (kubernetes.md 3.6); a
    /// plain restart waits out the crash back-off (3.4).
    fn restart_delay(&self, pod: PodId, all: bool, back_off: Duration) -> Duration {
        let k = match &self.m.scenario.timing.kubelet {
            Kubelet::Scripted { restart, .. } => return *restart,
            Kubelet::Real(k) => k,
        };
        let job = self.w.pods.job[pod.ix()];
        let spec = self.m.pod_spec(job);
        let agent = self.m.jobs[job.ix()].agent;
        let mut stream = self.w.streams.stream(
            Purpose::ContainerRestart,
            pod.0,
            self.w.pods.epoch[pod.ix()],
        );
        let mut delay = stream.sample(&k.status_write);
        if all {
            let stop = |s: &mut crate::base::random::Stream| {
                s.sample(&k.container_stop).min(k.minimum_grace)
            };
            for _ in spec.containers.iter().chain(&spec.init_containers) {
                delay = delay + stop(&mut stream);
            }
            delay = delay + stream.sample(&k.container_remove);
            let mains = if matches!(agent, AgentMode::Sidecar { .. }) {
                0
            } else {
                spec.containers.len()
            };
            for container in spec
                .init_containers
                .iter()
                .chain(spec.containers.iter().take(mains))
            {
                if container.pulls_always() {
                    delay = delay + stream.sample(&k.image_check);
                }
                delay = delay + stream.sample(&k.container_start);
            }
        } else {
            delay = delay + back_off + stream.sample(&k.container_start);
        }
        if agent != AgentMode::Absent {
            delay = delay + stream.sample(&k.agent_boot);
        }
        delay
    }

    pub fn containers_back(&mut self, pod: PodId, epoch: u32) {
        if !self.w.pods.lives(pod, epoch) || self.w.pods.has(pod, flag::DELETING) {
            return;
        }
        if self.w.pods.has(pod, flag::EXITED) {
            self.scripted_restart(pod);
        } else {
            self.containers_up(pod, epoch);
        }
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

/// A container that ran longer than this is not crash looping.
const CRASH_BACK_OFF_RESET: Duration = Duration::from_secs(600);

/// Delay before a restart after so many others: 0, 10, 20, 40 … 300 s (kubernetes.md 3.4).
fn crash_back_off(level: u8) -> Duration {
    if level == 0 {
        return Duration::ZERO;
    }
    Duration::from_secs((10u64 << (level - 1).min(5)).min(300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_crash_restart_is_free_and_the_rest_doubles_to_five_minutes() {
        let seconds: Vec<u64> = (0..8)
            .map(|n| crash_back_off(n).0 / 1_000_000_000)
            .collect();
        assert_eq!(seconds, [0, 10, 20, 40, 80, 160, 300, 300]);
    }
}
