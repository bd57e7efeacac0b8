//! What faults and the timers of the control plane do to nodes and pods.

use super::event::NodesEvent;
use super::run::Replication;
use sim_api::spec::NodeRef;
use sim_base::{Duration, NodeId, SimTime, ZoneId};
use sim_reliability::faults::{FaultOperation, FaultScope, InjectedFault, SCRIPT, SPARE, ScriptTarget};

/// Exit code of containers that a kubelet finds dead after the machine restarted, and of those that it does not find.
pub const LOST_EXIT_CODE: i32 = 255;
pub const MISSING_EXIT_CODE: i32 = 137;

impl Replication<'_, '_> {
    /// Applies a fault, or an action that ends one.
    pub fn apply_fault(&mut self, fault: &InjectedFault) {
        match fault.target {
            FaultScope::Node(node) => self.apply_to_node(node, fault),
            FaultScope::Pod(pod) => self.apply_to_pod(pod as usize, fault.operation),
            FaultScope::Cell(cell) => unreachable!("cells are expanded: {cell:?}"),
        }
    }

    fn apply_to_node(&mut self, node: NodeId, fault: &InjectedFault) {
        match fault.operation {
            FaultOperation::Crash => self.lose(node, true),
            FaultOperation::Partition => self.lose(node, false),
            FaultOperation::Return => self.return_machine(node, LOST_EXIT_CODE),
            FaultOperation::New => self.new_machine(node),
            FaultOperation::Delete => self.delete_node(node),
            FaultOperation::Cordon => self.set_cordoned(node, true, fault.cause),
            FaultOperation::Uncordon => self.set_cordoned(node, false, fault.cause),
            FaultOperation::Drain => {
                self.set_cordoned(node, true, fault.cause);
                for pod in self.pods_on(node) {
                    self.disrupt(pod);
                }
            }
            FaultOperation::Silent(fault) => self.apply_to_machine(node, fault),
            other => unreachable!("refused: {other:?}"),
        }
    }

    pub fn jobset_of(&self, pod: usize) -> usize {
        self.model.jobs[self.model.job_of_pod[pod] as usize].jobset
    }

    fn apply_to_pod(&mut self, pod: usize, operation: FaultOperation) {
        match operation {
            FaultOperation::Exit(exit_code) => self.exit_pod(pod, exit_code),
            FaultOperation::Silent(fault) => self.apply_to_process(pod, fault),
            other => unreachable!("refused: {other:?}"),
        }
    }

    /// The kubelet loses contact; in a crash, the containers stop too. The control plane does not know yet.
    fn lose(&mut self, node: NodeId, is_crash: bool) {
        let row = self.health.rows[node.ix()];
        if !row.is_up || (!row.is_connected && !is_crash) {
            return;
        }
        for pod in self.pods_on(node) {
            let job = self.model.job_of_pod[pod] as usize;
            if is_crash {
                self.interrupt_job(job);
                // Its kubelet stops as well.
                let row = &mut self.pods[pod];
                (row.is_restarting, row.hang, row.epoch) = (false, None, row.epoch + 1);
            }
            let jobset = self.model.jobs[job].jobset;
            if !std::mem::replace(&mut self.pods[pod].is_lost, true) {
                self.jobs[job].lost += 1;
                self.pods[pod].has_new_attempt = self.is_at_barrier(jobset);
            }
            if self.jobsets[jobset].barrier_from.is_some() {
                self.lift_barrier(jobset);
            }
        }
        if is_crash {
            self.lost_hosts.push(node);
        }
        let row = &mut self.health.rows[node.ix()];
        let was_connected = row.is_connected;
        row.is_up = !is_crash;
        let exists = row.exists;
        if was_connected {
            row.epoch += 1;
        }
        let epoch = row.epoch;
        self.health.set_connected(node, false, self.cause);
        self.update_health(node);
        if exists && was_connected {
            let at = self.health.unknown_at(self.now, node, self.draws);
            self.schedule(at, NodesEvent::NodeUnknown { node, epoch });
        }
    }

    /// The machine failed, or its Node object was deleted or created: checkpoints in its memory are gone.
    pub fn lose_host(&mut self, node: NodeId) {
        self.jobsets.iter_mut().for_each(|jobset| jobset.trainer.lose_host(node));
    }

    /// Updates whether the accelerators of a node count as unhealthy, and whether the scheduler may use it.
    fn update_health(&mut self, node: NodeId) {
        let row = self.health.rows[node.ix()];
        if self.accounts.is_unhealthy(node) != row.is_unhealthy() {
            self.pods_on(node);
        }
        // The price of a lost machine changes while all of its accelerators are in one category.
        self.update_billing(node, true);
        let jobs: Vec<usize> = self.jobs_on(node).collect();
        self.accounts.set_unhealthy(self.now, node, row.is_unhealthy(), jobs.into_iter());
        self.update_billing(node, false);
        self.places.set_usable(node, row.is_usable());
        if row.is_usable() {
            self.has_free_nodes = true;
        }
    }

    /// The Jobs of the pods on a node that have a state of their own, or a replacement.
    fn jobs_on(&self, node: NodeId) -> impl Iterator<Item = usize> {
        let pods = self.on_node[node.ix()].iter().map(|pod| self.model.job_of_pod[*pod] as usize);
        pods.chain(self.replaced_on[node.ix()].iter().map(|(job, _)| *job))
    }

    /// Starts the billing of a machine that now costs money, or ends that of one that does not: machines on demand cost
    /// money while their Nodes exist, except idle spares that first have to be started.
    pub fn update_billing(&mut self, node: NodeId, starts: bool) {
        if !self.model.has_on_demand || !self.model.cluster.is_on_demand(node) {
            return;
        }
        let row = self.health.rows[node.ix()];
        let is_free = !self.places.is_crowded(node) && self.jobs_on(node).next().is_none();
        let is_idle_spare = self.model.has_cold_spares && row.is_cordoned && is_free;
        let is_billed = row.exists && !is_idle_spare;
        if is_billed == starts {
            let jobs: Vec<usize> = self.jobs_on(node).collect();
            self.accounts.set_billed(self.now, node, is_billed, jobs.into_iter());
        }
    }

    pub fn node_unknown(&mut self, node: NodeId) {
        // Another fault may have occurred since the machine became silent.
        self.cause = self.health.rows[node.ix()].silent_by;
        self.health.becomes_unknown(node);
        for pod in self.pods_on(node) {
            self.pods[pod].not_ready_at = self.now;
            self.interrupt_job(self.model.job_of_pod[pod] as usize);
        }
        self.update_health(node);
        // At the end of this run of the monitor, after other nodes that it notices.
        self.schedule(self.now, NodesEvent::LimitersAdapted);
    }

    /// The monitor adapts the rates of taints at the end of its next run.
    fn nodes_changed(&mut self) {
        if self.health.limiters.is_idle() {
            return;
        }
        self.schedule(self.health.next_monitor(self.now), NodesEvent::LimitersAdapted);
    }

    pub fn adapt_limiters(&mut self) {
        for node in self.health.adapt_limiters(self.now) {
            self.taints_removed(node);
        }
        self.schedule_taints();
    }

    fn schedule_taints(&mut self) {
        for (zone, at) in self.health.limiters.due(self.now) {
            self.schedule(at, NodesEvent::TaintDue { zone });
        }
    }

    pub fn taint_due(&mut self, zone: ZoneId) {
        let node = self.health.limiters.take(self.now, zone);
        self.schedule_taints();
        let Some(node) = node else { return };
        self.health.rows[node.ix()].evicts = true;
        for pod in self.pods_on(node) {
            let job = self.model.job_of_pod[pod] as usize;
            let Some(after) = self.model.template_of(job).toleration else { continue };
            let at = self.now + after;
            self.pods[pod].evicted_at = at;
            let epoch = self.pods[pod].epoch;
            self.schedule(at, NodesEvent::TolerationExpired { pod, epoch });
        }
    }

    /// The pod has tolerated the taint of its node for long enough.
    pub fn evict(&mut self, pod: usize) {
        if self.pods[pod].evicted_at == self.now {
            self.disrupt(pod);
        }
    }

    /// The monitor observes a node that returned.
    pub fn taints_removed(&mut self, node: NodeId) {
        self.health.rows[node.ix()].evicts = false;
        for pod in self.pods_on(node) {
            self.pods[pod].evicted_at = SimTime::NEVER;
        }
        self.update_health(node);
    }

    /// The kubelet reaches the control plane again. After a crash it finds that the containers have ended.
    fn return_machine(&mut self, node: NodeId, exit_code: i32) {
        let row = &mut self.health.rows[node.ix()];
        // A machine that has not left does not create its Node again.
        if row.is_connected {
            return;
        }
        let ran_on = std::mem::replace(&mut row.is_up, true);
        row.epoch += 1;
        let (epoch, evicts) = (row.epoch, row.evicts);
        self.health.set_connected(node, true, self.cause);
        self.health.is_known(node);
        self.nodes_changed();
        for pod in self.pods_on(node) {
            let row = self.pods[pod];
            if row.is_deleting && ran_on && !row.starts_late {
                self.terminate(pod);
            } else if row.is_deleting {
                self.end_disrupted(pod, self.now);
            } else if ran_on || row.starts_late {
                self.continue_pod(pod);
            } else if self.restarts_containers(self.model.job_of_pod[pod] as usize) {
                self.regain(pod);
                match self.jobset_of(pod) {
                    jobset if self.is_in_place(jobset) => self.restart_in_place(jobset),
                    _ => self.restart_container(pod),
                }
            } else {
                self.fail_pod(pod, Some(exit_code), Duration::ZERO);
            }
        }
        self.end_replaced(node);
        self.update_health(node);
        if evicts {
            let at = self.health.next_monitor(self.now);
            self.schedule(at, NodesEvent::TaintsRemoved { node, epoch });
        }
    }

    /// The kubelet of a running pod is back; a pod that was bound meanwhile starts now.
    fn continue_pod(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        if !self.regain(pod) {
            return;
        }
        let starts_late = std::mem::take(&mut self.pods[pod].starts_late);
        if starts_late {
            self.pods[pod].bound_at = self.now;
            self.jobs[job].bound_at = self.now;
            self.await_late_pod(job);
        }
        let jobset = self.model.jobs[job].jobset;
        // A pod that missed the next attempt restarts now.
        if self.is_in_place(jobset) && (starts_late || self.jobsets[jobset].barrier_from.is_some()) {
            return self.join_in_place(jobset);
        }
        if !self.jobsets[jobset].trainer.is_running() || self.is_elastic(jobset) {
            self.check_complete(jobset);
        }
    }

    /// A pod is not on a lost machine any more. Returns whether it was.
    fn regain(&mut self, pod: usize) -> bool {
        let row = &mut self.pods[pod];
        row.not_ready_at = SimTime::NEVER;
        let was_lost = std::mem::take(&mut row.is_lost);
        self.jobs[self.model.job_of_pod[pod] as usize].lost -= u32::from(was_lost);
        was_lost
    }

    /// A new machine with a new Node object of the same name.
    fn new_machine(&mut self, node: NodeId) {
        self.lose_host(node);
        let existed = self.health.rows[node.ix()].exists;
        self.health.set_exists(node, true);
        self.places.set_object(node, true, &self.pods_for_places(node));
        let row = &mut self.health.rows[node.ix()];
        (row.evicts, row.is_cordoned) = (false, false);
        // It knows no containers of an earlier machine.
        row.is_up = false;
        if !existed {
            row.epoch += 1;
        }
        self.health.set_connected(node, false, self.cause);
        self.return_machine(node, MISSING_EXIT_CODE);
    }

    /// The Node object is deleted. Its pods remain until garbage collection removes them.
    fn delete_node(&mut self, node: NodeId) {
        if !self.health.rows[node.ix()].exists {
            return;
        }
        for pod in self.pods_on(node) {
            self.interrupt_job(self.model.job_of_pod[pod] as usize);
        }
        self.lose_host(node);
        self.health.is_known(node);
        self.health.set_exists(node, false);
        let row = &mut self.health.rows[node.ix()];
        (row.evicts, row.epoch) = (false, row.epoch + 1);
        let epoch = row.object_epoch;
        let pods = self.pods_for_places(node);
        self.places.set_object(node, false, &pods);
        self.update_health(node);
        self.nodes_changed();
        self.schedule(self.health.swept_at(self.now), NodesEvent::OrphansRemoved { node, epoch });
    }

    /// The Jobs of the pods on a node, and whether each pod is a leader.
    fn pods_for_places(&self, node: NodeId) -> Vec<(usize, bool)> {
        let of = |pod: &usize| {
            let job = self.model.job_of_pod[*pod] as usize;
            (job, self.is_leader(*pod))
        };
        let replaced = self.replaced_on[node.ix()].iter().copied();
        self.on_node[node.ix()].iter().map(of).chain(replaced).collect()
    }

    /// Pod garbage collection removes the pods of a Node that is still missing.
    pub fn remove_orphans(&mut self, node: NodeId) {
        for pod in self.pods_on(node) {
            self.end_disrupted(pod, self.pods[pod].not_ready_at.min(self.now));
        }
        self.end_replaced(node);
    }

    fn set_cordoned(&mut self, node: NodeId, is_cordoned: bool, cause: u32) {
        self.health.rows[node.ix()].is_cordoned = is_cordoned;
        self.update_health(node);
        if is_cordoned && cause != SPARE {
            for pod in self.pods_on(node) {
                let jobset = self.jobset_of(pod);
                if self.takes_part(self.model.job_of_pod[pod] as usize) {
                    self.jobsets[jobset].trainer.notice(self.now);
                    self.schedule_end_of_work(jobset);
                }
            }
        }
    }

    /// The running containers of a pod exit.
    pub fn exit_pod(&mut self, pod: usize, exit_code: i32) {
        if !self.runs(pod) {
            return;
        }
        let jobset = self.model.jobs[self.model.job_of_pod[pod] as usize].jobset;
        if !self.is_in_place(jobset) {
            self.set_apart(pod);
            if exit_code != 0 && self.restarts_containers(self.model.job_of_pod[pod] as usize) {
                return self.restart_container(pod);
            }
            let noticed = self.restart_delays(jobset).noticed;
            self.fail_pod(pod, Some(exit_code), noticed);
        } else {
            self.restart_in_place(jobset)
        }
    }
}

// --- scripted faults

impl<'m> Replication<'m, '_> {
    /// Schedules the scripted faults with a time since the start of the run.
    pub fn schedule_script(&mut self) {
        for (nth, at) in self.model.script.times(false) {
            self.schedule(SimTime::ZERO + at, NodesEvent::Scripted { nth });
        }
    }

    /// Schedules, when all Jobs are ready for the first time, the scripted faults that are timed relative to that.
    pub fn schedule_after_ready(&mut self) {
        if self.was_ready || self.jobsets.iter().any(|jobset| jobset.ready_since == SimTime::ZERO) {
            return;
        }
        self.was_ready = true;
        for (nth, after) in self.model.script.times(true) {
            self.schedule_after(after, NodesEvent::Scripted { nth });
        }
    }

    pub fn apply_scripted(&mut self, nth: usize) {
        let fault = &self.model.script.faults[nth];
        let number = fault.number;
        let target = match &fault.target {
            ScriptTarget::Node(node) => self.resolve_node(node).map(FaultScope::Node),
            ScriptTarget::Pod(pod) => self.pod_named(pod).map(|pod| FaultScope::Pod(pod as u32)),
        };
        let Some(target) = target else {
            let what = match &fault.target {
                ScriptTarget::Node(_) => "no such node".to_owned(),
                ScriptTarget::Pod(pod) => format!("no container of {pod} was running"),
            };
            return self.warnings.push(format!("fault {number}: {what} at {}", self.now));
        };
        self.cause = (SCRIPT, self.now);
        let at = Duration(self.now.0);
        self.apply_fault(&InjectedFault { at, target, operation: fault.operation, cause: SCRIPT });
    }

    /// The running pod with this name, without suffix.
    fn pod_named(&self, name: &str) -> Option<usize> {
        self.model.script.pods.iter().position(|known| known == name).filter(|pod| self.runs(*pod))
    }

    fn resolve_node(&mut self, wanted: &'m NodeRef) -> Option<NodeId> {
        let known = wanted.alias.as_ref().and_then(|alias| self.aliases.get(alias.as_str()).copied());
        let node = match (&wanted.name, &wanted.of_pod) {
            (Some(name), _) => {
                let at = self.model.cluster.names.iter().position(|known| known == name)?;
                NodeId(at as u32)
            }
            (None, Some(pod)) => {
                let pod = self.model.script.pods.iter().position(|known| known == pod)?;
                self.node_of(pod)?
            }
            (None, None) => known?,
        };
        if let Some(alias) = &wanted.alias {
            self.aliases.entry(alias.as_str()).or_insert(node);
        }
        Some(node)
    }
}
