//! The script: what the world and the user do to the cluster at given times, and nodes losing and regaining contact.

use super::event::{Event, StatusWrite};
use super::lifecycle::UNSCHEDULABLE;
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::record::{Body, Deleter, LedgerCategory, NodeReady};
use crate::spec::{
    AgentMode, FaultAction, FaultTime, Kubelet, NodeRef, RestartPolicy, TaintEffect,
};
use std::sync::Arc;

/// Exit code of containers found dead after a crash (recordings/nodes).
const LOST_EXIT_CODE: u8 = 255;

impl Run<'_> {
    pub fn fault(&mut self, index: u32) {
        self.w.faults_left -= 1;
        let m = self.m;
        let action = &m.scenario.faults[index as usize].action;
        use FaultAction::*;
        match action {
            ContainerExit { pod, .. } | DeletePod { pod, .. } | EvictPod { pod } => {
                self.pod_fault(index, action, pod)
            }
            CrashNode(n)
            | PartitionNode(n)
            | ReturnNode(n)
            | DeleteNode(n)
            | CordonNode(n)
            | UncordonNode(n)
            | DrainNode(n)
            | TaintNode(n, _) => {
                let Some(node) = self.resolve(n) else {
                    let text = format!("fault {index}: no such node at {}", self.w.now);
                    return self.w.warnings.push(text);
                };
                self.emit(Body::Fault {
                    index,
                    node,
                    pod: PodId::NONE,
                });
                self.node_fault(action, node);
            }
            Request(request) => self.user_request(index, request),
            SuspendJobSet(name) => self.user_suspends(index, name, true),
            ResumeJobSet(name) => self.user_suspends(index, name, false),
            DeleteJobSet(name) => {
                let Some(jobset) = self.stored_jobset(name) else {
                    return self.no_such_jobset(index, name);
                };
                self.emit(Body::Fault {
                    index,
                    node: NodeId::NONE,
                    pod: PodId::NONE,
                });
                self.delete_jobset(jobset);
            }
        }
    }

    fn pod_fault(&mut self, index: u32, action: &FaultAction, name: &str) {
        let Some(pod) = self.pod_by_name(name) else {
            return self.w.warnings.push(format!(
                "fault {index}: pod {name} did not exist at {}",
                self.w.now
            ));
        };
        self.emit(Body::Fault {
            index,
            node: self.w.pods.node[pod.ix()],
            pod,
        });
        match action {
            FaultAction::ContainerExit { exit_code, .. } => {
                if self.w.pods.has(pod, flag::UP) {
                    self.process_ends(pod, *exit_code);
                } else {
                    let text = format!(
                        "fault {index}: no container of {name} was running at {}",
                        self.w.now
                    );
                    self.w.warnings.push(text);
                }
            }
            FaultAction::DeletePod { force, .. } => {
                let job = self.w.pods.job[pod.ix()];
                let grace_zero = *force || self.m.pod_spec(job).termination_grace_period_s == 0;
                self.mark_deleting(pod, Deleter::User, grace_zero);
            }
            _ => self.disrupt(pod, Deleter::Eviction),
        }
    }

    fn node_fault(&mut self, action: &FaultAction, node: NodeId) {
        use FaultAction::*;
        match action {
            CrashNode(_) => self.lose_node(node, true),
            PartitionNode(_) => self.lose_node(node, false),
            ReturnNode(_) => self.return_node(node),
            DeleteNode(_) => self.delete_node(node),
            CordonNode(_) => self.cordon(node),
            UncordonNode(_) => {
                self.w.nodes.state[node.ix()].cordoned = false;
                self.remove_taint(node, UNSCHEDULABLE, None);
            }
            DrainNode(_) => {
                self.cordon(node);
                for pod in self.w.nodes.pods[node.ix()].clone() {
                    let ended = self.w.pods.phase[pod.ix()].is_terminal();
                    if !ended && !self.w.pods.has(pod, flag::DELETING) {
                        self.disrupt(pod, Deleter::Eviction);
                    }
                }
            }
            TaintNode(_, taint) => {
                self.add_full_taint(node, taint.clone());
                self.arm_pod_gc();
            }
            _ => unreachable!("not an action on a node"),
        }
    }

    pub fn cordon(&mut self, node: NodeId) {
        self.w.nodes.state[node.ix()].cordoned = true;
        self.add_taint(node, UNSCHEDULABLE, TaintEffect::NoSchedule);
    }

    /// Heartbeats stop; in a crash the containers die with it.
    fn lose_node(&mut self, node: NodeId, crash: bool) {
        if !self.node_answers(node) {
            return;
        }
        self.ledger_node(node, |r| {
            let s = &mut r.w.nodes.state[node.ix()];
            s.contact = false;
            s.crashed = crash;
            s.silent_since = r.w.now;
        });
        if crash {
            for pod in self.w.nodes.pods[node.ix()].clone() {
                if self.w.pods.has(pod, flag::UP) {
                    self.w.pods.clear(pod, flag::UP);
                    self.w.pods.set(pod, flag::EXITED);
                    self.w.pods.epoch[pod.ix()] += 1;
                    self.w.pods.exit_code[pod.ix()] = LOST_EXIT_CODE;
                }
            }
        }
        self.watch_node(node);
    }

    /// The kubelet is back: Ready=True, and everything it could not do meanwhile is done now.
    fn return_node(&mut self, node: NodeId) {
        let s = self.w.nodes.state[node.ix()];
        if !s.exists || (s.contact && !s.crashed) {
            return;
        }
        let was_unknown = s.unknown;
        self.ledger_node(node, |r| {
            let s = &mut r.w.nodes.state[node.ix()];
            s.contact = true;
            s.crashed = false;
            s.unknown = false;
            s.silent_since = Time::NEVER;
        });
        if was_unknown {
            self.forget_unknown(node);
        }
        self.emit(Body::NodeState {
            node,
            ready: NodeReady::True,
        });
        // The taint controller drops NoSchedule at once, the monitor NoExecute at its next pass.
        self.remove_taint(
            node,
            super::lifecycle::UNREACHABLE,
            Some(TaintEffect::NoSchedule),
        );
        self.watch_node(node);
        for pod in self.w.nodes.pods[node.ix()].clone() {
            self.catch_up(pod);
        }
        self.wake_unschedulable();
    }

    fn catch_up(&mut self, pod: PodId) {
        if !self.w.pods.exists(pod) {
            return;
        }
        if self.w.pods.phase[pod.ix()].is_terminal() {
            if self.w.pods.has(pod, flag::DELETING) && !self.w.pods.has(pod, flag::CONFIRMED) {
                self.confirm_deletion(pod);
            }
            return;
        }
        let scripted = matches!(self.m.scenario.timing.kubelet, Kubelet::Scripted { .. });
        if self.w.pods.has(pod, flag::DELETING) {
            self.w.pods.clear(pod, flag::STOPPING);
            self.begin_stop(pod);
        } else if self.w.pods.has(pod, flag::EXITED) {
            let spec = self.m.pod_spec(self.w.pods.job[pod.ix()]);
            let ends = spec.restart_policy == RestartPolicy::Never;
            if ends {
                self.write_status(pod, StatusWrite::Finished);
            } else {
                let epoch = self.w.pods.epoch[pod.ix()];
                self.after(Duration::ZERO, Event::ExitNoticed { pod, epoch });
            }
        } else if !self.w.pods.has(pod, flag::UP) {
            self.start_pod(pod);
        } else if !scripted {
            self.catch_up_running(pod);
        }
    }

    /// A real kubelet repairs the Ready condition that the node controller took, and an agent lists the JobSet again;
    /// the recordings' player does neither.
    fn catch_up_running(&mut self, pod: PodId) {
        let i = pod.ix();
        let agent = self.m.jobs[self.w.pods.job[i].ix()].agent != AgentMode::Absent;
        if agent && self.w.pods.attempt[i] != self.w.pods.agent_attempt[i] {
            self.agent_starts(pod);
        } else if agent {
            self.agent_sees(pod, self.w.pods.epoch[i]);
        }
        if !self.w.pods.has(pod, flag::UP) || self.w.pods.has(pod, flag::READY) {
            return;
        }
        let behind_barrier = agent && !self.w.pods.has(pod, flag::LIFTED);
        self.write_status(
            pod,
            if behind_barrier {
                StatusWrite::Running
            } else {
                StatusWrite::Ready
            },
        );
    }

    pub fn delete_node(&mut self, node: NodeId) {
        let s = self.w.nodes.state[node.ix()];
        if !s.exists {
            return;
        }
        if s.unknown {
            self.forget_unknown(node);
        }
        self.ledger_node(node, |r| r.w.nodes.state[node.ix()].exists = false);
        self.w.nodes.troubled += 1;
        self.emit(Body::NodeGone { node });
        self.node_object_deleted(node);
    }

    /// Changes a node's health with the ledger kept right: its accelerators are unhealthy, or in their pods'
    /// categories.
    pub fn ledger_node(&mut self, node: NodeId, change: impl FnOnce(&mut Self)) {
        let before = self.node_is_unhealthy(node);
        change(self);
        let after = self.node_is_unhealthy(node);
        if before == after {
            return;
        }
        let rate = self.m.cluster.price_micros_per_hour[node.ix()];
        let mut held = 0;
        for pod in self.w.nodes.pods[node.ix()].clone() {
            if !self.w.pods.has(pod, flag::HOLDS) {
                continue;
            }
            let category = self.w.pods.category[pod.ix()];
            let jobset = self.jobset_of(pod);
            let n = u64::from(self.m.jobs[self.w.pods.job[pod.ix()].ix()].accelerators);
            held += n;
            let js = &mut self.w.jobsets[jobset.ix()];
            let mut shown = category;
            if category == LedgerCategory::Waiting {
                let add = |x: u64, d: u64| if after { x - d } else { x + d };
                js.ready_accelerators = add(js.ready_accelerators, n);
                js.ready_rate = add(js.ready_rate, n * rate);
                if js.all_ready {
                    shown = LedgerCategory::Productive;
                }
            }
            self.move_health(n, rate, shown, after);
        }
        let all = u64::from(self.m.cluster.accelerators[node.ix()]);
        self.move_health(all.saturating_sub(held), rate, LedgerCategory::Idle, after);
    }

    fn move_health(&mut self, n: u64, rate: u64, category: LedgerCategory, sick: bool) {
        let (from, to) = if sick {
            (category, LedgerCategory::Unhealthy)
        } else {
            (LedgerCategory::Unhealthy, category)
        };
        self.w.ledger.transfer(self.w.now, n, n * rate, from, to);
    }

    fn user_suspends(&mut self, index: u32, name: &str, suspend: bool) {
        let Some(jobset) = self.stored_jobset(name) else {
            return self.no_such_jobset(index, name);
        };
        self.emit(Body::Fault {
            index,
            node: NodeId::NONE,
            pod: PodId::NONE,
        });
        let js = &mut self.w.jobsets[jobset.ix()];
        if js.suspended == suspend {
            return;
        }
        js.suspended = suspend;
        let mut spec = (*js.spec).clone();
        spec.spec.suspend = suspend;
        if let Some(object) = &mut spec.object {
            Arc::make_mut(object)["spec"]["suspend"] = suspend.into();
        }
        js.spec = Arc::new(spec);
        js.resource_version += 1;
        self.jobset_changed(jobset);
    }

    /// The newest live pod whose name without suffix is `name`.
    pub fn pod_by_name(&self, name: &str) -> Option<PodId> {
        let (job, index) = name.rsplit_once('-')?;
        let index: u32 = index.parse().ok()?;
        let places = self.m.names.jobs.iter().enumerate();
        let pods = places.filter(|(_, j)| j.name == job).filter_map(|(at, _)| {
            let m = &self.m.jobs[at];
            let inside = index < m.slots;
            inside.then(|| self.w.pods.latest[(m.first_pod + index) as usize])
        });
        // Of two Jobs of one name the later one has the newer pods.
        pods.filter(|p| self.w.pods.exists(*p))
            .max_by_key(|p| self.w.jobs[self.w.pods.job[p.ix()].ix()].exists)
    }

    fn resolve(&mut self, r: &NodeRef) -> Option<NodeId> {
        let known = |w: &super::world::World, alias: &str| {
            w.aliases.iter().find(|(a, _)| a == alias).map(|(_, n)| *n)
        };
        let node = if let Some(name) = &r.name {
            self.m
                .names
                .nodes
                .iter()
                .position(|n| n == name)
                .map(|i| NodeId(i as u32))
        } else if let Some(pod) = &r.of_pod {
            let pod = self.pod_by_name(pod)?;
            Some(self.w.pods.node[pod.ix()]).filter(|n| n.is_some())
        } else {
            r.alias.as_deref().and_then(|a| known(self.w, a))
        }?;
        if let Some(alias) = &r.alias
            && known(self.w, alias).is_none()
        {
            self.w.aliases.push((alias.clone(), node));
        }
        Some(node)
    }

    /// Arms the faults that wait for readiness, once.
    pub fn arm_ready_faults(&mut self) {
        if self.w.ready_faults_armed || !self.w.jobsets.iter().all(|js| js.ever_ready) {
            return;
        }
        self.w.ready_faults_armed = true;
        for (i, fault) in self.m.scenario.faults.iter().enumerate() {
            if let FaultTime::AfterReady(delay) = fault.at {
                self.after(delay, Event::Fault(i as u32));
            }
        }
    }
}
