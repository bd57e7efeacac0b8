//! Containers that end by themselves: what is noticed when, and whether the pod ends or its containers run again
//! (kubernetes.md 3.1, 3.4, 3.6).
//!
//! Must never stop a container: deletion is `kubelet`'s business.

use super::event::{Event, StatusWrite};
use super::pods::flag;
use super::run::Run;
use crate::base::random::Purpose;
use crate::base::*;
use crate::record::Body;
use crate::spec::{AgentMode, ContainerRestartAction, Kubelet, RealKubelet, RestartPolicy};

/// What a kubelet does about an exit.
enum AfterExit {
    PodEnds,
    /// This many of the pod's containers run again.
    Restart(u32),
    RestartAll,
}

impl Run<'_> {
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

    /// kubernetes.md 3.4: the entry is made at the second start; a container that ran for more than ten minutes since
    /// it was last started again begins anew. RestartAllContainers leaves nothing in the runtime to look at (3.6).
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
