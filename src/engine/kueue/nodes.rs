//! Kueue's cache of nodes, and its node controller, which notices that a Workload has lost a node.

use super::KueueController;
use super::placed_pods::CachedPod;
use crate::apiserver;
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{NodeChange, PodPhase, flag};
use sim_api::spec::keys::{HOSTNAME, LOST_NODE_TAINTS, UNSCHEDULABLE};
use sim_api::spec::kueue::KueueObjects;
use sim_api::spec::{NodeObject, PodSpec, ResourceAmounts, TaintSpec};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, JobSetId, NodeId, PodId, SimTime};
use sim_kueue::tas::node_failure::{NodeFailureResponse, UnhealthyNodeChange, WorkloadOnNode, respond};
use sim_kueue::tas::{DomainAssignment, NodeConstraints, TasNode};
use sim_kueue::topology::TopologySnapshot;
use sim_kueue::workload::{Workload, reasons};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Pods that a node takes if its object does not say it, in thousandths.
const DEFAULT_PODS: i64 = 110_000;
/// Delay after which the reconciler of flavors notices a changed node (`UpdatesBatchPeriod`, `pkg/constants`).
const NODE_UPDATES: Duration = Duration::from_secs(1);
/// Period in which Workloads are tried again after pods that are not placed by topology have released resources
/// (`defaultRequeueBatchInterval`, `pkg/controller/tas/pod_usage_controller.go`).
const RELEASE_BATCH: Duration = Duration::from_secs(10);
/// First delay of the rate limiter of a controller after an error (client-go, `DefaultTypedControllerRateLimiter`).
const ERROR_BACKOFF: Duration = Duration::from_millis(5);

#[derive(Clone, Default)]
pub(super) struct NodeCache {
    /// Nodes in the cache by id; empty without topologies.
    nodes: Vec<Option<TasNode>>,
    pub held: HeldByOthers,
    /// Whether nodes changed since the topologies were built.
    is_changed: bool,
    /// Whether the reconciler of flavors has a pending pass.
    has_update: bool,
    /// Whether pods that are not placed by topology have released resources since the last pass about them.
    has_released: bool,
    /// Times of the pending passes of the node controller.
    due: BTreeMap<NodeId, SimTime>,
    patches: Vec<Option<NodePatch>>,
    /// Pods whose phase the node controller is about to change.
    failing: BTreeSet<PodId>,
}

/// A change of the Workload of a JobSet because of a node.
#[derive(Clone)]
struct NodePatch {
    jobset: JobSetId,
    node: NodeId,
    change: UnhealthyNodeChange,
    based_on: u32,
}

impl NodeCache {
    pub fn new(ctx: &EngineContext<'_>, objects: &KueueObjects) -> NodeCache {
        let count = if objects.uses_topology() { ctx.store.nodes.len() } else { 0 };
        let held = HeldByOthers::new(objects, &ctx.store.nodes.cluster);
        let nodes = (0..count).map(|index| read(ctx, NodeId(index as u32), &held)).collect();
        NodeCache { nodes, held, ..NodeCache::default() }
    }

    /// Returns the topologies of all flavors without usage.
    pub fn topology(&self, objects: &KueueObjects) -> TopologySnapshot {
        let nodes: Vec<TasNode> = self.nodes.iter().flatten().cloned().collect();
        TopologySnapshot::new(objects, &nodes)
    }
}

/// Returns the nodes of a cluster as they are described, which count only if there is a topology.
pub fn topology_nodes(cluster: &ClusterBuilder, objects: &KueueObjects) -> Vec<TasNode> {
    let count = if objects.uses_topology() { cluster.len() } else { 0 };
    let held = HeldByOthers::new(objects, cluster);
    let node = |id: NodeId| held.without(described(cluster.object(id)), &cluster.occupied(id));
    (0..count).map(|index| node(NodeId(index as u32))).collect()
}

/// Subtracts requests of pods that are not placed by topology, by node, from the resources of nodes.
pub fn reduce<'a>(nodes: &mut [TasNode], requests: impl Iterator<Item = (&'a String, &'a ResourceAmounts)>) {
    let by_name: BTreeMap<String, usize> = nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
    for (name, amounts) in requests {
        let Some(node) = by_name.get(name).map(|at| &mut nodes[*at]) else { continue };
        for (resource, milli) in amounts {
            if let Some(free) = node.allocatable.get_mut(resource) {
                *free = (*free - milli).max(0);
            }
        }
    }
}

/// Requests of the pods with a topology assignment at the start, by node and Workload. Kueue counts them itself. What
/// the cluster holds beyond them belongs to pods that are not placed by topology.
#[derive(Clone, Default)]
pub(super) struct HeldByOthers {
    placed: BTreeMap<String, BTreeMap<String, ResourceAmounts>>,
}

/// Returns the requests of a pod with the place that it takes on its node.
pub fn with_pod(mut requests: ResourceAmounts) -> ResourceAmounts {
    requests.entry("pods".to_owned()).or_insert(1_000);
    requests
}

/// Returns the requests of the pods of a topology assignment, by node. If its lowest level is not the node, these are
/// the first nodes of each domain of which as much is occupied: Kueue compares the sums of domains.
pub fn placed_requests(workload: &Workload, cluster: &ClusterBuilder) -> BTreeMap<String, ResourceAmounts> {
    let mut placed: BTreeMap<String, ResourceAmounts> = BTreeMap::new();
    for admitted in workload.status.admission.iter().flat_map(|a| &a.pod_sets) {
        let template = workload.pod_sets.iter().find(|set| set.name == admitted.name).map(|set| &set.template);
        let requests = with_pod(template.map(|t| t.spec.requests()).unwrap_or_default());
        let Some(assignment) = &admitted.topology else { continue };
        let is_by_node = assignment.levels.last().is_some_and(|level| level == HOSTNAME);
        for domain in &assignment.domains {
            let nodes = if is_by_node { Vec::new() } else { nodes_of(domain, &assignment.levels, cluster) };
            for _ in 0..domain.count {
                let named = domain.values.last().filter(|_| is_by_node);
                let Some(node) = named.or_else(|| node_with(&requests, &nodes, &placed)) else { break };
                let sums = placed.entry(node.clone()).or_default();
                for (resource, milli) in &requests {
                    let sum = sums.entry(resource.clone()).or_default();
                    *sum = sum.saturating_add(*milli);
                }
            }
        }
    }
    placed
}

/// The first node of which a pod's requests are occupied, beyond those of other pods.
fn node_with<'n>(
    requests: &ResourceAmounts, nodes: &'n [(String, ResourceAmounts)], placed: &BTreeMap<String, ResourceAmounts>,
) -> Option<&'n String> {
    let holds = |(name, occupied): &&(String, ResourceAmounts)| {
        let amount =
            |of: Option<&ResourceAmounts>, resource| of.and_then(|all| all.get(resource)).copied().unwrap_or(0);
        let rest = |resource| amount(Some(occupied), resource) - amount(placed.get(name), resource);
        requests.iter().all(|(resource, milli)| rest(resource) >= *milli)
    };
    nodes.iter().find(holds).map(|(name, _)| name)
}

/// The nodes of a domain, and what is occupied on each.
fn nodes_of(domain: &DomainAssignment, levels: &[String], cluster: &ClusterBuilder) -> Vec<(String, ResourceAmounts)> {
    let all = (0..cluster.len() as u32).map(NodeId);
    let is_within = |node: &NodeId| {
        let labels = cluster.object(*node).labels;
        levels.iter().zip(&domain.values).all(|(level, value)| labels.get(level) == Some(value))
    };
    all.filter(is_within).map(|node| (cluster.names[node.ix()].clone(), cluster.occupied(node))).collect()
}

impl HeldByOthers {
    fn new(objects: &KueueObjects, cluster: &ClusterBuilder) -> HeldByOthers {
        let mut placed: BTreeMap<String, BTreeMap<String, ResourceAmounts>> = BTreeMap::new();
        let workloads = objects.workloads.iter().map(Workload::from);
        for workload in workloads.filter(Workload::has_active_reservation) {
            let name = format!("{}/{}", workload.namespace, workload.name);
            for (node, requests) in placed_requests(&workload, cluster) {
                placed.entry(node).or_default().insert(name.clone(), requests);
            }
        }
        HeldByOthers { placed }
    }

    /// The pods of the Workload are gone.
    pub fn remove(&mut self, workload: &str) {
        self.placed.values_mut().for_each(|placed| drop(placed.remove(workload)));
    }

    /// Returns the node with the resources that it has for pods placed by topology.
    fn without(&self, mut node: TasNode, occupied: &ResourceAmounts) -> TasNode {
        let placed = self.placed.get(&node.name);
        for (resource, held) in occupied {
            let amounts = placed.into_iter().flatten().filter_map(|(_, amounts)| amounts.get(resource));
            let counted = amounts.sum::<i64>();
            if let Some(free) = node.allocatable.get_mut(resource) {
                *free = (*free - (held - counted).max(0)).max(0);
            }
        }
        node
    }
}

fn described(mut object: NodeObject) -> TasNode {
    object.allocatable.entry("pods".to_owned()).or_insert(DEFAULT_PODS);
    TasNode {
        name: object.name,
        labels: object.labels,
        is_unschedulable: object.unschedulable || is_marked(&object.taints, &[UNSCHEDULABLE]),
        is_ready: !is_marked(&object.taints, &LOST_NODE_TAINTS),
        taints: object.taints,
        allocatable: object.allocatable,
    }
}

/// Whether a node has one of the taints that the node lifecycle controller keeps for its state.
fn is_marked(taints: &[TaintSpec], keys: &[&str]) -> bool {
    taints.iter().any(|taint| keys.contains(&&*taint.key))
}

/// Returns a node as its object describes it now, or `None` if it does not exist.
fn read(ctx: &EngineContext<'_>, node: NodeId, held: &HeldByOthers) -> Option<TasNode> {
    let nodes = &ctx.store.nodes;
    if !nodes.exists(node) {
        return None;
    }
    let row = nodes.rows[node.ix()];
    let node_now = held.without(described(nodes.cluster.object(node)), &nodes.cluster.occupied(node));
    let taints: Vec<TaintSpec> = nodes.taints_of(node).cloned().collect();
    Some(TasNode {
        is_unschedulable: node_now.is_unschedulable || row.cordoned,
        is_ready: !row.unknown && !is_marked(&taints, &LOST_NODE_TAINTS),
        taints,
        ..node_now
    })
}

impl KueueController {
    pub(super) fn watch_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        if matches!(change, NodeChange::Lease | NodeChange::Machine { .. }) {
            return;
        }
        let about = TicketSubject::Node(node);
        let lag = ctx.watch_lag(StoreWatcher::KueueNodes, about, ctx.store.nodes.changes());
        ctx.schedule_after(lag, TicketWait::Watch, about, SimulationEvent::KueueObservedNode(node));
    }

    pub(super) fn node_observed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let new = read(ctx, node, &self.nodes.held);
        let nodes = &mut self.nodes.nodes;
        if nodes.len() <= node.ix() {
            nodes.resize(node.ix() + 1, None);
        }
        let old = std::mem::replace(&mut nodes[node.ix()], new);
        let new = &nodes[node.ix()];
        if old == *new {
            return;
        }
        let is_examined = match (&old, new) {
            (Some(old), Some(new)) => old.is_ready != new.is_ready || old.taints != new.taints,
            (None, _) | (_, None) => true,
        };
        self.nodes.is_changed = true;
        if !std::mem::replace(&mut self.nodes.has_update, true) {
            let event = SimulationEvent::KueueNodesChanged;
            ctx.schedule_after(NODE_UPDATES, TicketWait::JobBatch, TicketSubject::Nothing, event);
        }
        if is_examined {
            self.examine_node(ctx, node);
        }
    }

    /// Builds the topologies again if nodes have changed.
    pub(super) fn update_topology(&mut self, objects: &KueueObjects) {
        if !std::mem::take(&mut self.nodes.is_changed) {
            return;
        }
        let mut topology = self.nodes.topology(objects);
        for (node, requests) in self.pods.others.values() {
            topology.add_other_pod(node, requests);
        }
        self.manager().cache.set_topology(topology);
    }

    /// Returns the nodes in the cache, without the resources of pods that are not placed by topology.
    pub fn nodes_now(&self) -> Vec<TasNode> {
        let mut nodes: Vec<TasNode> = self.nodes.nodes.iter().flatten().cloned().collect();
        let others: Vec<(&String, ResourceAmounts)> =
            self.pods.others.values().map(|(node, requests)| (node, with_pod(requests.clone()))).collect();
        reduce(&mut nodes, others.iter().map(|(node, requests)| (*node, requests)));
        nodes
    }

    /// Pending Workloads are tried again.
    pub(super) fn nodes_changed(&mut self, ctx: &mut EngineContext<'_>) {
        self.nodes.has_update = false;
        self.manager().request_wake_of_all();
        self.queues_changed(ctx);
    }

    /// A pod that is not placed by topology has released the resources of a Node: pending Workloads are tried again at
    /// the next tick of a timer.
    pub(super) fn capacity_released(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        if !ctx.store.nodes.exists(node) || std::mem::replace(&mut self.nodes.has_released, true) {
            return;
        }
        let phase = ctx.draw_phase(StreamPurpose::PodUsagePhase, TicketSubject::Nothing, 0, RELEASE_BATCH);
        let at = (ctx.now + Duration(1)).next_tick(phase, RELEASE_BATCH);
        let (delay, event) = (at.since(ctx.now), SimulationEvent::KueueCapacityReleased);
        ctx.schedule_after(delay, TicketWait::JobBatch, TicketSubject::Nothing, event);
    }

    pub(super) fn retry_after_release(&mut self, ctx: &mut EngineContext<'_>) {
        self.nodes.has_released = false;
        self.manager().request_wake_of_all();
        self.queues_changed(ctx);
    }

    /// Examines a node after a delay, unless an earlier pass is pending.
    pub(super) fn schedule_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, delay: Duration) {
        let at = ctx.now + delay;
        if self.nodes.due.get(&node).is_none_or(|due| at < *due) {
            self.nodes.due.insert(node, at);
            let about = TicketSubject::Node(node);
            ctx.schedule_after(delay, TicketWait::JobBatch, about, SimulationEvent::KueueNodeDue(node));
        }
    }

    pub(super) fn node_due(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        if self.nodes.due.get(&node) == Some(&ctx.now) {
            self.nodes.due.remove(&node);
            self.examine_node(ctx, node);
        }
    }

    /// Runs one pass of the node controller over all Workloads with pods on the node or an assignment to it.
    fn examine_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let name = ctx.store.names.nodes[node.ix()].clone();
        let state = self.nodes.nodes.get(node.ix()).cloned().flatten();
        let waiting: Vec<PodId> = self.pods.waiting.get(&node).into_iter().flatten().copied().collect();
        for index in 0..self.rows.len() {
            let jobset = JobSetId(index as u32);
            let Some(workload) = self.rows[index].workload.clone() else { continue };
            if workload.is_finished() || workload.is_evicted() {
                continue;
            }
            let own: Vec<PodId> = waiting.iter().copied().filter(|pod| self.rows[index].pods.contains(pod)).collect();
            let response = self.respond(ctx, (jobset, &workload), (node, &name, state.as_ref()), !own.is_empty());
            if response.change != UnhealthyNodeChange::None {
                let based_on = self.rows[index].workload_version;
                self.send_node_patch(ctx, NodePatch { jobset, node, change: response.change, based_on });
            }
            if response.fails_pending_pods {
                own.into_iter().for_each(|pod| self.fail_pod(ctx, pod));
            }
        }
    }

    fn respond(
        &self, ctx: &EngineContext<'_>, (jobset, workload): (JobSetId, &Arc<Workload>),
        (node, name, state): (NodeId, &str, Option<&TasNode>), has_waiting_pods: bool,
    ) -> NodeFailureResponse {
        let on_node = || workload.placed_pod_sets().filter(|(_, assignment)| assignment.contains_node(name));
        let is_assigned = on_node().next().is_some();
        if !is_assigned && !has_waiting_pods {
            return NodeFailureResponse::default();
        }
        let flavors = &ctx.scenario.kueue.as_ref().expect("Kueue runs").flavors;
        let with_flavors = |name: &str| -> Option<PodSpec> {
            let mut spec = workload.pod_sets.iter().find(|pod_set| pod_set.name == name)?.template.spec.clone();
            let admitted = workload.placed_pod_sets().find(|(pod_set, _)| pod_set.name == name)?.0;
            let used: BTreeSet<&str> = admitted.flavors.values().map(|flavor| &**flavor).collect();
            let used = flavors.iter().filter(|flavor| used.contains(&*flavor.name));
            spec.tolerations.extend(used.flat_map(|flavor| flavor.tolerations.iter().cloned()));
            Some(spec)
        };
        let specs: Vec<PodSpec> = on_node().filter_map(|(pod_set, _)| with_flavors(&pod_set.name)).collect();
        let pod_sets: Vec<NodeConstraints<'_>> = specs.iter().map(NodeConstraints::of_pod).collect();
        let runs = |pod: CachedPod| pod.is_bound && pod.node == node && !pod.is_deleting && !pod.is_terminal;
        let has_running_pod = self.rows[jobset.ix()].pods.iter().any(|pod| runs(self.pods.pod(*pod)));
        let unhealthy_nodes = &workload.status.unhealthy_nodes;
        respond(name, state, &WorkloadOnNode { is_assigned, pod_sets: &pod_sets, has_running_pod, unhealthy_nodes })
    }

    fn send_node_patch(&mut self, ctx: &mut EngineContext<'_>, patch: NodePatch) {
        let mut pending = self.nodes.patches.iter().flatten();
        if pending.any(|p| (p.jobset, p.node) == (patch.jobset, patch.node)) {
            return;
        }
        let (jobset, nth) = (patch.jobset, self.nodes.patches.len() as u32);
        self.nodes.patches.push(Some(patch));
        let row = self.row(jobset);
        row.requests += 1;
        let request = RequestEntry::new(Call::KueueWorkloadPatch, TicketSubject::JobSet(jobset), row.requests);
        ctx.request(request, SimulationEvent::KueueNodePatched { nth });
    }

    pub(super) fn node_patch_answered(&mut self, ctx: &mut EngineContext<'_>, nth: u32) {
        let Some(patch) = self.nodes.patches[nth as usize].take() else { return };
        let stored = &ctx.store.jobsets[patch.jobset.ix()];
        let (workload, is_current) = (stored.workload.clone(), stored.workload_version == patch.based_on);
        let answer = match &workload {
            None => RequestAnswer::NotFound,
            Some(_) if is_current => RequestAnswer::Success,
            Some(_) => RequestAnswer::Conflict,
        };
        ctx.record_response(Call::KueueWorkloadPatch, answer);
        match workload.filter(|_| is_current) {
            Some(workload) => {
                let name = ctx.store.names.nodes[patch.node.ix()].clone();
                let changed = changed(&workload, &name, &patch.change, self.time(ctx));
                apiserver::set_workload(ctx, patch.jobset, changed);
            }
            None => self.schedule_node(ctx, patch.node, ERROR_BACKOFF),
        }
    }

    /// Sets the phase of a pod that waits for a lost node to Failed.
    fn fail_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let incarnation = self.pods.pod(pod).incarnation;
        if self.nodes.failing.insert(pod) {
            let request = RequestEntry::new(Call::KueuePodStatus, TicketSubject::Pod(pod), incarnation);
            ctx.request(request, SimulationEvent::KueuePodFailed { pod, incarnation });
        }
    }

    pub(super) fn pod_failed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        self.nodes.failing.remove(&pod);
        let pods = &ctx.store.pods;
        let there = pods.is_current(pod, incarnation);
        let waits = there && pods.phase[pod.ix()] == PodPhase::Pending && !pods.has(pod, flag::BOUND);
        ctx.record_response(Call::KueuePodStatus, RequestAnswer::from_existence(there));
        if waits {
            apiserver::finish_pod(ctx, pod, None);
        }
    }
}

fn changed(workload: &Workload, node: &str, change: &UnhealthyNodeChange, now: SimTime) -> Workload {
    let mut new = workload.clone();
    match change {
        UnhealthyNodeChange::None => {}
        UnhealthyNodeChange::Add => new.status.unhealthy_nodes.push(node.to_owned()),
        UnhealthyNodeChange::Remove => new.status.unhealthy_nodes.retain(|known| known != node),
        UnhealthyNodeChange::Evict { message } => new.evict(reasons::NODE_FAILURES, message, now),
    }
    new
}
