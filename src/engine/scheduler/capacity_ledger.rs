//! Accounting of the scheduler's cache: free resources per node, pods of JobSets and exclusive leaders per domain.
//! Counts a pod from assume to its end, not from binding.

use super::spread::DefaultSpread;
use super::usage_classes::UsageClasses;
use crate::{ctx::EngineContext, store::ObjectStore};
use sim_base::{DomainId, Duration, JobId, NodeId, PodId, SimTime};
use sim_scheduler::{Plugin, Profile};

#[derive(Clone, Default)]
pub struct CapacityLedger {
    /// Free amounts in thousandths, node-major.
    free: Vec<i64>,
    /// Per pod: the node whose resources it holds.
    node: Vec<NodeId>,
    /// Per pod: time of the assume in whole seconds, as the API writes the start time of the pod.
    started_s: Vec<u32>,
    /// Per exclusive key and domain.
    domains: Vec<Vec<DomainCapacity>>,
    /// Per name of a Job with exclusive placement (the job-key): its pods per domain, including those left by an
    /// earlier Job with the name; usually one entry or none.
    pods_by_domain: Vec<Vec<(DomainId, u32)>>,
    /// Number of topology keys that are counted.
    keys: usize,
    /// Nodes without an object. The terms of pods left on them are void: kube-scheduler's snapshot has no such nodes.
    gone: Vec<bool>,
    pub classes: UsageClasses,
    pub spread: DefaultSpread,
    /// Number of changes so far.
    pub changes: u64,
}

#[derive(Clone, Default)]
struct DomainCapacity {
    /// Start of the next search in the domain.
    cursor: u32,
    /// Number of pods per priority class.
    pods: Vec<u32>,
    /// Names of the Jobs of exclusive leaders, with their priority classes.
    leaders: Vec<(u32, u32)>,
}

impl CapacityLedger {
    pub fn reset(&mut self, ctx: &EngineContext<'_>) {
        self.classes.forget_templates();
        self.classes.reset(ctx);
        self.spread = DefaultSpread::default();
        self.free.clear();
        self.free.extend_from_slice(&ctx.store.nodes.cluster.allocatable);
        self.node.clear();
        self.started_s.clear();
        self.domains.clear();
        self.pods_by_domain.clear();
        self.keys = 0;
        self.gone.clear();
    }

    pub fn free(&self) -> &[i64] {
        &self.free
    }

    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.node.get(pod.ix()).copied().unwrap_or(NodeId::NONE)
    }

    pub fn holds(&self, pod: PodId) -> bool {
        self.held_node(pod).is_some()
    }

    /// Start time of a pod that holds a node, in whole seconds.
    pub fn started_s(&self, pod: PodId) -> u32 {
        self.started_s.get(pod.ix()).copied().unwrap_or(0)
    }

    /// Resets the row for another object.
    pub fn forget(&mut self, pod: PodId) {
        if self.node.len() <= pod.ix() {
            self.node.resize(pod.ix() + 1, NodeId::NONE);
        }
        assert!(!self.holds(pod), "a pod that is gone holds nothing");
    }

    /// The pod holds resources of the node from now on (assume).
    pub fn assume(&mut self, store: &ObjectStore, pod: PodId, node: NodeId, now: SimTime) {
        assert!(!self.holds(pod), "a pod holds one node at a time");
        self.node[pod.ix()] = node;
        // Only preemption compares start times.
        if store.templates.priorities.len() > 1 {
            self.started_s.resize(self.node.len(), 0);
            self.started_s[pod.ix()] = u32::try_from(now.0 / Duration::from_secs(1).0).unwrap_or(u32::MAX);
        }
        self.update_usage(store, pod, node, true);
        self.spread.add(store, pod, node);
    }

    /// Releases the resources of a pod. Returns false if it held none.
    pub fn release(&mut self, store: &ObjectStore, pod: PodId) -> bool {
        let node = self.held_node(pod);
        if !node.is_some() {
            return false;
        }
        self.node[pod.ix()] = NodeId::NONE;
        self.update_usage(store, pod, node, false);
        self.spread.remove(store, pod, node);
        true
    }

    /// The pod is being deleted: spread constraints no longer count it.
    pub fn set_terminating(&mut self, store: &ObjectStore, pod: PodId) {
        self.spread.remove(store, pod, self.held_node(pod));
    }

    /// Returns the scores of nodes that fit the pod, up to a constant.
    pub fn totals(
        &mut self, store: &ObjectStore, profile: &Profile, pod: PodId, fitting: &[(u32, NodeId)],
    ) -> Vec<i64> {
        let mut totals = vec![0; fitting.len()];
        let spread = Plugin::PodTopologySpread;
        if store.owns_service(store.labelled_jobset(pod)) && !profile.disabled_scores.contains(&spread) {
            let scores = self.spread.scores(store, &self.node, pod, fitting);
            totals = scores.into_iter().map(|score| score * profile.weight(spread)).collect();
        }
        self.classes.add_scores((store.facts(pod), profile), store.pods.template[pod.ix()], fitting, &mut totals);
        totals
    }

    fn update_usage(&mut self, store: &ObjectStore, pod: PodId, node: NodeId, take: bool) {
        let template = store.template(pod);
        let columns = store.nodes.cluster.resources.len();
        for (column, milli) in &template.facts.requests {
            let free = &mut self.free[node.ix() * columns + *column as usize];
            *free += if take { -*milli } else { *milli };
        }
        self.changes += 1;
        self.classes.move_pod(node, store.pods.template[pod.ix()], take);
        if !self.is_gone(node) {
            self.update_domains(store, pod, node, take);
        }
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.gone.get(node.ix()) == Some(&true)
    }

    /// The Node object was deleted. Its pods repel no leader from now on (EXC-7): InterPodAffinity visits the nodes of
    /// the snapshot, which are those with an object (`backend/cache/cache.go`, UpdateSnapshot).
    pub fn remove_node(&mut self, store: &ObjectStore, node: NodeId) {
        self.spread.forget_counts();
        if self.is_gone(node) {
            return;
        }
        for row in (0..self.node.len()).filter(|row| self.node[*row] == node).collect::<Vec<_>>() {
            self.update_domains(store, PodId(row as u32), node, false);
        }
        self.gone.resize(self.gone.len().max(node.ix() + 1), false);
        self.gone[node.ix()] = true;
        self.changes += 1;
    }

    fn update_domains(&mut self, store: &ObjectStore, pod: PodId, node: NodeId, take: bool) {
        let (template, job) = (store.template(pod), store.pods.job[pod.ix()]);
        let class = template.facts.priority_class;
        if !store.jobs[job.ix()].jobset.is_some() {
            // EXC-7: the affinity terms select pods with a job-key.
            return;
        }
        let place = store.jobs[job.ix()].name_number;
        // A key that came into use later counts all pods at once, in `see_keys`.
        for (key, domains) in store.templates.domains.iter().enumerate().take(self.keys) {
            let domain = domains.of[node.ix()];
            if domain.is_some() {
                let exclusive = template.exclusive == Some(key as u32);
                let leader = exclusive && store.is_leader(pod);
                self.count(key, domain, (place, class), (exclusive, leader), take);
            }
        }
    }

    fn count(
        &mut self, key: usize, domain: DomainId, (place, class): (u32, u32), (exclusive, leader): (bool, bool),
        take: bool,
    ) {
        let add = |n: &mut u32| *n = if take { *n + 1 } else { *n - 1 };
        let d = self.domain_mut(key, domain);
        if d.pods.len() <= class as usize {
            d.pods.resize(class as usize + 1, 0);
        }
        add(&mut d.pods[class as usize]);
        if leader {
            match d.leaders.iter().position(|(p, _)| *p == place) {
                Some(at) if !take => drop(d.leaders.swap_remove(at)),
                _ if take => d.leaders.push((place, class)),
                _ => {}
            }
        }
        if exclusive {
            let place = place as usize;
            if self.pods_by_domain.len() <= place {
                self.pods_by_domain.resize_with(place + 1, Vec::new);
            }
            let own = &mut self.pods_by_domain[place];
            match own.iter_mut().find(|(d, _)| *d == domain) {
                Some((_, n)) => add(n),
                None => own.push((domain, 1)),
            }
            own.retain(|(_, n)| *n > 0);
        }
    }

    fn domain_mut(&mut self, key: usize, domain: DomainId) -> &mut DomainCapacity {
        if self.domains.len() <= key {
            self.domains.resize_with(key + 1, Vec::new);
        }
        let of_key = &mut self.domains[key];
        if of_key.len() <= domain.ix() {
            of_key.resize(domain.ix() + 1, DomainCapacity::default());
        }
        &mut of_key[domain.ix()]
    }

    fn domain(&self, key: usize, domain: DomainId) -> Option<&DomainCapacity> {
        self.domains.get(key)?.get(domain.ix())
    }

    pub fn cursor(&self, key: usize, domain: DomainId) -> u32 {
        self.domain(key, domain).map_or(0, |d| d.cursor)
    }

    pub fn set_cursor(&mut self, key: usize, domain: DomainId, cursor: u32) {
        self.domain_mut(key, domain).cursor = cursor;
    }

    /// Number of pods of JobSets with this priority in a domain.
    pub fn pods_in(&self, key: usize, domain: DomainId, class: u32) -> u32 {
        let pods = self.domain(key, domain).map(|d| d.pods.get(class as usize));
        pods.flatten().copied().unwrap_or(0)
    }

    /// Number of pods with the Job's job-key per domain of its key.
    pub fn job_domains(&self, store: &ObjectStore, job: JobId) -> &[(DomainId, u32)] {
        let place = store.jobs[job.ix()].name_number as usize;
        self.pods_by_domain.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns true if an exclusive leader of another Job with the same priority is in the node's domain: required
    /// anti-affinity is symmetric (EXC-17).
    pub fn is_repelled(&self, store: &ObjectStore, job: JobId, class: u32, node: NodeId) -> bool {
        let place = store.jobs[job.ix()].name_number;
        store.templates.domains.iter().enumerate().any(|(key, domains)| {
            let domain = domains.of[node.ix()];
            let there = self.domain(key, domain).filter(|_| domain.is_some());
            there.is_some_and(|d| d.leaders.iter().any(|&(p, c)| p != place && c == class))
        })
    }

    /// Starts to count by a new topology key, including existing pods.
    pub fn add_keys(&mut self, ctx: &EngineContext<'_>) {
        if self.keys != ctx.store.templates.domains.len() {
            self.recount(ctx);
        }
    }

    /// A Node object was created. Pods left on the machine of a deleted object count again: the cache keeps the pods of
    /// a removed node and returns it to the snapshot (`backend/cache/cache.go`, RemoveNode and AddNode).
    pub fn add_node(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        let (store, cluster) = (&*ctx.store, &ctx.store.nodes.cluster);
        let is_new = node.ix() * cluster.resources.len() >= self.free.len();
        if self.keys != store.templates.domains.len() || !(is_new || self.is_gone(node)) {
            return self.recount(ctx);
        }
        self.free.extend_from_slice(&cluster.allocatable[self.free.len()..]);
        self.gone.resize(store.nodes.len(), false);
        self.gone[node.ix()] = !store.nodes.exists(node);
        let row = node.ix() * cluster.resources.len()..(node.ix() + 1) * cluster.resources.len();
        self.free[row.clone()].copy_from_slice(&cluster.allocatable[row]);
        self.classes.add_node(ctx, node);
        self.spread.forget_counts();
        // As after a recount, searches start at the first node of a domain.
        self.domains.iter_mut().flatten().for_each(|domain| domain.cursor = 0);
        for row in (0..self.node.len()).filter(|row| self.node[*row] == node).collect::<Vec<_>>() {
            self.update_usage(store, PodId(row as u32), node, true);
        }
        self.changes += 1;
    }

    /// Recounts everything after labels or allocatable of a node changed.
    pub fn recount(&mut self, ctx: &EngineContext<'_>) {
        let store = &*ctx.store;
        self.classes.reset(ctx);
        self.spread.forget_counts();
        self.keys = store.templates.domains.len();
        self.gone = (0..store.nodes.len() as u32).map(|node| !store.nodes.exists(NodeId(node))).collect();
        self.free.clear();
        self.free.extend_from_slice(&store.nodes.cluster.allocatable);
        self.domains.clear();
        self.pods_by_domain.clear();
        for row in 0..self.node.len() {
            let node = self.node[row];
            if node.is_some() {
                self.update_usage(store, PodId(row as u32), node, true);
            }
        }
    }
}
