//! Accounting of the scheduler's cache: free resources per node, pods of JobSets and exclusive leaders per domain.
//! Counts a pod from assume to its end, not from binding.

use super::cost::terms_of;
use super::other_pods::{PlacedTerms, UsedPorts};
use super::place::domain_pod;
use super::room::{NodesWithRoom, TemplateFilter};
use super::spread::DefaultSpread;
use super::usage_classes::UsageClasses;
use crate::{ctx::EngineContext, store::ObjectStore};
use sim_base::{Duration, NodeId, PodId, SimTime, TemplateId};
use sim_policy::placement::{DomainUsage, NodeSet, TermCounts};
use sim_scheduler::{Plugin, Profile};

#[derive(Clone, Default)]
pub struct CapacityLedger {
    /// Free amounts in thousandths, node-major.
    free: Vec<i64>,
    /// Per pod: the node whose resources it holds.
    node: Vec<NodeId>,
    /// Per pod: time of the assume in whole seconds, as the API writes the start time of the pod.
    started_s: Vec<u32>,
    /// Nodes without an object. The terms of pods left on them are void: kube-scheduler's snapshot has no such nodes.
    gone: Vec<bool>,
    pub domains: DomainUsage,
    pub room: NodesWithRoom,
    pub classes: UsageClasses,
    pub spread: DefaultSpread,
    pub terms: TermCounts,
    pub ports: UsedPorts,
    pub placed_terms: PlacedTerms,
    /// Number of changes so far.
    pub changes: u64,
}

impl CapacityLedger {
    pub fn reset(&mut self, ctx: &EngineContext<'_>) {
        self.classes.forget_templates();
        self.classes.reset(ctx);
        self.spread = DefaultSpread::default();
        self.terms = TermCounts::default();
        self.ports = UsedPorts::default();
        self.placed_terms = PlacedTerms::default();
        self.free.clear();
        self.free.extend_from_slice(&ctx.store.nodes.cluster.allocatable);
        self.node.clear();
        self.started_s.clear();
        self.domains.reset(0);
        self.room.discard();
        self.gone.clear();
    }

    /// Reads what the accounting needs to know of the pod's template.
    pub fn learn_template(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        self.classes.learn_template(ctx, pod);
        self.ports.learn_template(ctx, pod);
    }

    /// Returns whether terms of pods on nodes may concern the pod.
    pub fn terms_may_concern(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        let nodes = &self.node;
        let holds = |other: PodId| nodes.get(other.ix()).is_some_and(|node| node.is_some());
        self.placed_terms.may_select(ctx, holds, pod)
    }

    pub fn free(&self) -> &[i64] {
        &self.free
    }

    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.node.get(pod.ix()).copied().unwrap_or(NodeId::NONE)
    }

    /// The nodes that pass the filters about nodes and resources for the template.
    pub fn nodes_with_room(&mut self, store: &ObjectStore, template: TemplateId) -> &mut NodeSet {
        let facts = &store.templates.get(template).facts;
        let filter = TemplateFilter { store, facts, free: &self.free, ports: self.ports.needed_by(template) };
        self.room.update(&filter, template);
        self.room.of_mut(template)
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
    pub fn totals(&mut self, store: &ObjectStore, profile: &Profile, pod: PodId, fitting: &[NodeId]) -> Vec<i64> {
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
        self.room.note_change(node);
        self.classes.move_pod(node, store.pods.template[pod.ix()], take);
        self.ports.move_pod(store.pods.template[pod.ix()], node, take);
        if take {
            self.placed_terms.note_pod(&store.pod_spec(pod).terms, pod);
            self.placed_terms.note_job_key(store, pod);
        }
        if !self.is_gone(node) {
            let terms = terms_of(store, pod);
            if take {
                self.terms.add(&terms)
            } else {
                self.terms.remove(&terms)
            }
            self.count_in_domains(store, pod, node, take);
        }
    }

    fn count_in_domains(&mut self, store: &ObjectStore, pod: PodId, node: NodeId, is_added: bool) {
        if self.domains.key_count() > 0
            && let Some(counted) = domain_pod(store, pod)
        {
            self.domains.update(&store.templates.domains, &counted, node, is_added);
        }
    }

    /// Returns whether the accounting has the nodes of the store: it has been notified of each creation and deletion.
    pub fn has_nodes_of(&self, store: &ObjectStore) -> bool {
        let all = store.nodes.len() * store.nodes.cluster.resources.len();
        self.free.len() == all
            && (0..store.nodes.len() as u32).all(|n| store.nodes.exists(NodeId(n)) != self.is_gone(NodeId(n)))
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
            self.terms.remove(&terms_of(store, PodId(row as u32)));
            self.count_in_domains(store, PodId(row as u32), node, false);
        }
        self.gone.resize(self.gone.len().max(node.ix() + 1), false);
        self.gone[node.ix()] = true;
        self.changes += 1;
    }

    /// Starts to count by a new topology key, including existing pods.
    pub fn add_keys(&mut self, ctx: &EngineContext<'_>) {
        if self.domains.key_count() != ctx.store.templates.domains.len() {
            self.recount(ctx);
        }
    }

    /// A Node object was created. Pods left on the machine of a deleted object count again: the cache keeps the pods of
    /// a removed node and returns it to the snapshot (`backend/cache/cache.go`, RemoveNode and AddNode).
    pub fn add_node(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        let (store, cluster) = (&*ctx.store, &ctx.store.nodes.cluster);
        let is_new = node.ix() * cluster.resources.len() >= self.free.len();
        if self.domains.key_count() != store.templates.domains.len() || !(is_new || self.is_gone(node)) {
            return self.recount(ctx);
        }
        self.free.extend_from_slice(&cluster.allocatable[self.free.len()..]);
        self.gone.resize(store.nodes.len(), false);
        self.gone[node.ix()] = !store.nodes.exists(node);
        let row = node.ix() * cluster.resources.len()..(node.ix() + 1) * cluster.resources.len();
        self.free[row.clone()].copy_from_slice(&cluster.allocatable[row]);
        self.classes.add_node(ctx, node);
        self.ports.forget_node(node);
        self.spread.forget_counts();
        self.domains.add_node(&store.templates.domains, node);
        self.room.note_change(node);
        for row in (0..self.node.len()).filter(|row| self.node[*row] == node).collect::<Vec<_>>() {
            self.update_usage(store, PodId(row as u32), node, true);
        }
        self.changes += 1;
    }

    /// Recounts everything after labels or allocatable of a node changed.
    pub fn recount(&mut self, ctx: &EngineContext<'_>) {
        let store = &*ctx.store;
        self.classes.reset(ctx);
        self.terms = TermCounts::default();
        self.ports.forget_pods();
        self.spread.forget_counts();
        self.gone = (0..store.nodes.len() as u32).map(|node| !store.nodes.exists(NodeId(node))).collect();
        self.free.clear();
        self.free.extend_from_slice(&store.nodes.cluster.allocatable);
        self.domains.reset(store.templates.domains.len());
        self.room.discard();
        for row in 0..self.node.len() {
            let node = self.node[row];
            if node.is_some() {
                self.update_usage(store, PodId(row as u32), node, true);
            }
        }
    }
}
