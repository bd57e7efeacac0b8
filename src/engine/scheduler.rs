//! kube-scheduler: one serial scheduling cycle whose length depends on the pod's constraints, then a binding
//! through a
//! token bucket of its own (kubernetes.md 2). Where a pod goes is `placement`'s business.

use super::api::{Answer, Call};
use super::event::Event;
use super::lane::BusyTimes;
use super::model::Model;
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::placement::{ClusterView, ExclusiveView, Found, domain_is_free, find_node};
use crate::record::Body;
use priority_queue::PriorityQueue;
use std::cmp::Reverse;

/// The hasher of the keyed queue: ids are dense and trusted, and the order never depends on it.
#[derive(Default)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u32(u32::from(*b));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(n)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

type FixedHasher = std::hash::BuildHasherDefault<IdHasher>;

#[derive(Default)]
pub struct Scheduler {
    /// activeQ: priority, then enqueue order (PrioritySort).
    active: PriorityQueue<PodId, (i32, Reverse<u64>), FixedHasher>,
    /// Pods no node fits, until something changes for them.
    unschedulable: Vec<(PodId, u32)>,
    /// Back-off queue: (when it ends, pod), popped early when activeQ is empty (PopFromBackoffQ).
    backoff: PriorityQueue<PodId, (Reverse<Time>, Reverse<u64>), FixedHasher>,
    enqueued: u64,
    in_cycle: bool,
    start: u32,
    /// Per exclusive key: where the next search in each domain starts; pods per (priority class, domain); exclusive
    /// leaders per domain with their Job.
    cursors: Vec<Vec<u32>>,
    pods_in_domain: Vec<Vec<Vec<u32>>>,
    leaders: Vec<Vec<Vec<(JobId, u32)>>>,
    pub cycles: u64,
    pub busy: BusyTimes,
    pub longest_queue: u32,
}

/// podInitialBackoffSeconds, podMaxBackoffSeconds (kubernetes.md 2.1).
const BACKOFF_INITIAL_S: u64 = 1;
const BACKOFF_MAX_S: u64 = 10;

impl Scheduler {
    pub fn reset(&mut self, m: &Model) {
        self.active.clear();
        self.unschedulable.clear();
        self.backoff.clear();
        self.enqueued = 0;
        self.in_cycle = false;
        self.start = 0;
        self.cycles = 0;
        self.longest_queue = 0;
        self.busy.clear();
        self.cursors.resize_with(m.domains.len(), Vec::new);
        self.pods_in_domain.resize_with(m.domains.len(), Vec::new);
        self.leaders.resize_with(m.domains.len(), Vec::new);
        for (d, domains) in m.domains.iter().enumerate() {
            self.leaders[d].iter_mut().for_each(Vec::clear);
            self.leaders[d].resize_with(domains.values.len(), Vec::new);
            self.cursors[d].clear();
            self.cursors[d].resize(domains.values.len(), 0);
            self.pods_in_domain[d].resize_with(m.priorities.len(), Vec::new);
            for class in &mut self.pods_in_domain[d] {
                class.clear();
                class.resize(domains.values.len(), 0);
            }
        }
    }

    pub fn waiting(&self) -> impl Iterator<Item = PodId> + '_ {
        self.unschedulable
            .iter()
            .map(|(p, _)| *p)
            .chain(self.backoff.iter().map(|(p, _)| *p))
    }
}

impl Run<'_> {
    /// A new pod without a node reaches the scheduler's queue.
    pub fn schedule_pod(&mut self, pod: PodId) {
        let job = self.w.pods.job[pod.ix()];
        let facts = self.facts(job);
        if facts.gated {
            return;
        }
        let priority = facts.priority;
        self.activate(pod, priority);
    }

    fn activate(&mut self, pod: PodId, priority: i32) {
        let s = &mut self.w.scheduler;
        s.enqueued += 1;
        s.active.push(pod, (priority, Reverse(s.enqueued)));
        s.longest_queue = s.longest_queue.max(s.active.len() as u32);
        self.next_cycle();
    }

    fn next_cycle(&mut self) {
        if self.w.scheduler.in_cycle {
            return;
        }
        let s = &mut self.w.scheduler;
        let popped = s
            .active
            .pop()
            .map(|(p, _)| p)
            .or_else(|| s.backoff.pop().map(|(p, _)| p));
        let Some(pod) = popped else { return };
        self.w.pods.clear(pod, flag::PARKED);
        if !self.w.pods.exists(pod) || self.w.pods.has(pod, flag::DELETING) {
            return self.next_cycle();
        }
        let found = self.place(pod);
        let cost = self.cycle_cost(pod, found.examined);
        let s = &mut self.w.scheduler;
        s.in_cycle = true;
        s.cycles += 1;
        s.busy.add(self.w.now, self.w.now + cost);
        if let Some(node) = found.node {
            self.assume(pod, node);
        }
        let incarnation = self.w.pods.incarnation[pod.ix()];
        self.after(cost, Event::CycleDone { pod, incarnation });
    }

    /// Filter over nodes until enough feasible ones are found, affinity terms over all (kubernetes.md 2.2, 2.3).
    fn cycle_cost(&self, pod: PodId, examined: u32) -> Duration {
        let c = &self.m.scenario.timing.scheduler;
        let nodes = self.m.cluster.len() as u64;
        let wanted = feasible_nodes_to_find(nodes);
        // `examined` nodes were passed for one fit; the real search goes on to `wanted` fits at the same density.
        let walked = (u64::from(examined) * wanted).min(nodes);
        let job = self.w.pods.job[pod.ix()];
        let leader = self.m.jobs[job.ix()].exclusive.is_some() && self.w.pods.index[pod.ix()] == 0;
        let affinity = if leader {
            c.affinity_per_node.saturating_mul(nodes)
        } else {
            Duration::ZERO
        };
        c.fixed + c.per_node.saturating_mul(walked) + affinity
    }

    fn place(&mut self, pod: PodId) -> Found {
        let job = self.w.pods.job[pod.ix()];
        let m = &self.m.jobs[job.ix()];
        let facts = self.facts(job);
        let nodes = &self.w.nodes;
        let schedulable = |node: NodeId| {
            nodes.troubled == 0
                || (nodes.state[node.ix()].exists
                    && nodes.taints[node.ix()].iter().all(|t| facts.tolerates(t)))
        };
        let view = ClusterView {
            columns: self.m.cluster.resources.len(),
            free: &nodes.free,
            schedulable: &schedulable,
        };
        let s = &self.w.scheduler;
        let follower = self.w.pods.index[pod.ix()] != 0;
        match m.exclusive {
            Some(key) if follower => {
                let domain = self.w.jobs[job.ix()].domain;
                if !domain.is_some() {
                    return Found {
                        node: None,
                        examined: 0,
                        next: 0,
                    };
                }
                let members = &self.m.domains[key as usize].nodes[domain.ix()];
                let start = s.cursors[key as usize][domain.ix()];
                let found = find_node(
                    &view,
                    facts,
                    members.len() as u32,
                    start,
                    |i| members[i as usize],
                    // EXC-17: a leader that came meanwhile repels followers of another Job, too.
                    |node| self.no_leader_repels(job, facts.priority_class, node),
                );
                self.w.scheduler.cursors[key as usize][domain.ix()] = found.next;
                // Without a node the whole cluster was walked for the selector.
                let examined = if found.node.is_some() {
                    found.examined
                } else {
                    self.m.cluster.len() as u32
                };
                Found { examined, ..found }
            }
            Some(key) => {
                let domains = &self.m.domains[key as usize];
                let pods = &s.pods_in_domain[key as usize][facts.priority_class as usize];
                let exclusive = ExclusiveView {
                    jobset_pods: pods,
                    own: &self.w.jobs[job.ix()].pods_in_domain,
                };
                let free = |node: NodeId| domain_is_free(&exclusive, domains.of[node.ix()]);
                let found = find_node(
                    &view,
                    facts,
                    self.m.cluster.len() as u32,
                    s.start,
                    NodeId,
                    free,
                );
                self.w.scheduler.start = found.next;
                found
            }
            None => {
                // EXC-17: an exclusive leader in place also repels other Jobs' pods; without exclusive keys no domain
                // is looked at.
                let found = find_node(
                    &view,
                    facts,
                    self.m.cluster.len() as u32,
                    s.start,
                    NodeId,
                    |node| self.no_leader_repels(job, facts.priority_class, node),
                );
                self.w.scheduler.start = found.next;
                found
            }
        }
    }

    /// Required anti-affinity is symmetric: whether no exclusive leader of another Job, same priority, holds the
    /// node's domain.
    fn no_leader_repels(&self, job: JobId, class: u32, node: NodeId) -> bool {
        self.m.domains.iter().enumerate().all(|(key, domains)| {
            let domain = domains.of[node.ix()];
            !domain.is_some()
                || !self.w.scheduler.leaders[key][domain.ix()]
                    .iter()
                    .any(|&(j, c)| j != job && c == class)
        })
    }

    /// The pod holds the node's resources from now on (assume).
    fn assume(&mut self, pod: PodId, node: NodeId) {
        self.w.pods.node[pod.ix()] = node;
        self.w.pods.set(pod, flag::HOLDS);
        self.hold(pod, node, true);
    }

    /// Takes or gives back the resources, domains and accelerators of a pod.
    fn hold(&mut self, pod: PodId, node: NodeId, take: bool) {
        let job = self.w.pods.job[pod.ix()];
        let m = &self.m.jobs[job.ix()];
        let facts = &self.m.templates[m.template.ix()];
        let columns = self.m.cluster.resources.len();
        for (column, milli) in &facts.requests {
            let free = &mut self.w.nodes.free[node.ix() * columns + *column as usize];
            *free += if take { -*milli } else { *milli };
        }
        for (key, domains) in self.m.domains.iter().enumerate() {
            let domain = domains.of[node.ix()];
            if !domain.is_some() {
                continue;
            }
            let count = &mut self.w.scheduler.pods_in_domain[key][facts.priority_class as usize]
                [domain.ix()];
            *count = if take { *count + 1 } else { *count - 1 };
            if m.exclusive == Some(key as u32) {
                let own = &mut self.w.jobs[job.ix()].pods_in_domain;
                match own.iter_mut().find(|(d, _)| *d == domain) {
                    Some((_, n)) => *n = if take { *n + 1 } else { *n - 1 },
                    None => own.push((domain, 1)),
                }
                if self.w.pods.index[pod.ix()] == 0 {
                    let leaders = &mut self.w.scheduler.leaders[key][domain.ix()];
                    match leaders.iter().position(|(j, _)| *j == job) {
                        Some(at) if !take => drop(leaders.swap_remove(at)),
                        _ if take => leaders.push((job, facts.priority_class)),
                        _ => {}
                    }
                }
            }
        }
    }

    pub fn cycle_done(&mut self, pod: PodId, incarnation: u32) {
        self.w.scheduler.in_cycle = false;
        if self.w.pods.is(pod, incarnation) {
            if self.w.pods.has(pod, flag::HOLDS) {
                let answered = self.w.api.send(Call::Bind, self.w.now);
                self.at(answered, Event::BindAnswered { pod, incarnation });
            } else if !self.w.pods.has(pod, flag::DELETING) {
                self.park(pod, incarnation);
            }
        }
        self.next_cycle();
    }

    fn park(&mut self, pod: PodId, incarnation: u32) {
        let tries = &mut self.w.pods.unschedulable[pod.ix()];
        *tries = tries.saturating_add(1);
        let first = *tries == 1;
        self.w.pods.set(pod, flag::PARKED);
        self.w.scheduler.unschedulable.push((pod, incarnation));
        if first {
            let reason = self.explain_unschedulable(pod);
            let reason = self.w.texts.intern(&reason);
            self.emit(Body::PodUnschedulable { pod, reason });
        }
    }

    /// Something freed capacity: parked pods may try again, after their back-off or at once if nothing else is
    /// queued.
    pub fn wake_unschedulable(&mut self) {
        if self.w.scheduler.unschedulable.is_empty() {
            return;
        }
        let mut parked = std::mem::take(&mut self.w.scheduler.unschedulable);
        for &(pod, incarnation) in &parked {
            if !self.w.pods.is(pod, incarnation) {
                continue;
            }
            let tries = u32::from(self.w.pods.unschedulable[pod.ix()]).clamp(1, 8);
            let wait = Duration::from_secs((BACKOFF_INITIAL_S << (tries - 1)).min(BACKOFF_MAX_S));
            let at = self.w.now + wait;
            let s = &mut self.w.scheduler;
            s.enqueued += 1;
            s.backoff.push(pod, (Reverse(at), Reverse(s.enqueued)));
            self.at(at, Event::BackoffOver { pod, incarnation });
        }
        parked.clear();
        self.w.scheduler.unschedulable = parked;
        self.next_cycle();
    }

    pub fn backoff_over(&mut self, pod: PodId, incarnation: u32) {
        if self.w.scheduler.backoff.remove(&pod).is_some() && self.w.pods.is(pod, incarnation) {
            self.schedule_pod(pod);
        }
    }

    pub fn bind_answered(&mut self, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        let deleting = there && self.w.pods.has(pod, flag::DELETING);
        let node = self.w.pods.node[pod.ix()];
        // Nobody asks whether the node still exists; pod garbage collection finds such a pod.
        let ok = there && !deleting;
        self.w
            .api
            .answered(Call::Bind, Answer::found(ok), self.w.now);
        if !ok {
            return;
        }
        self.w
            .api
            .answered(Call::SchedulerEvent, Answer::Success, self.w.now);
        self.bind_pod(pod, node);
        self.judge_pod_on(pod, node);
        self.arm_pod_gc();
        self.start_pod(pod);
    }

    /// The pod no longer counts in the scheduler's books: terminal phase, or the object is gone.
    pub fn release_node(&mut self, pod: PodId) {
        let node = self.w.pods.node[pod.ix()];
        if !self.w.pods.has(pod, flag::HOLDS) {
            return;
        }
        self.set_category(pod, crate::record::LedgerCategory::Idle);
        self.w.pods.clear(pod, flag::HOLDS);
        self.hold(pod, node, false);
        self.wake_unschedulable();
    }

    pub fn scheduler_deleted(&mut self, pod: PodId) {
        if self.w.pods.has(pod, flag::PARKED) {
            self.w.scheduler.unschedulable.retain(|(p, _)| *p != pod);
            self.w.scheduler.backoff.remove(&pod);
        }
        self.w.scheduler.active.remove(&pod);
    }
}

/// numFeasibleNodesToFind with the adaptive default (kubernetes.md 2.2).
pub fn feasible_nodes_to_find(nodes: u64) -> u64 {
    if nodes < 100 {
        return nodes;
    }
    let percent = 50u64.saturating_sub(nodes / 125).max(5);
    (nodes * percent / 100).max(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_looks_for_as_many_feasible_nodes_as_kubernetes_does() {
        for (nodes, wanted) in [
            (50, 50),
            (100, 100),
            (1_000, 420),
            (5_000, 500),
            (15_000, 750),
        ] {
            assert_eq!(feasible_nodes_to_find(nodes), wanted, "{nodes} nodes");
        }
    }
}
