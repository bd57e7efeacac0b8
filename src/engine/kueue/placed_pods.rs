//! Kueue's cache of pods: those that are placed by topology, and the requests of all others on nodes.

use super::KueueController;
use super::rows::DomainLabels;
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ObjectStore, PodChange, flag};
use sim_api::spec::ResourceAmounts;
use sim_api::spec::keys::HOSTNAME;
use sim_base::{Duration, JobSetId, NodeId, PodId, row_or_default};
use sim_kueue::workload::topology::annotations;
use std::collections::{BTreeMap, BTreeSet};

/// Delay after which the topology ungater looks at a changed pod (`UpdatesBatchPeriod`, `pkg/constants`).
const POD_BATCH: Duration = Duration::from_secs(1);
/// Delay after which the node controller looks at the node of a changed pod (`reconcileBatchPeriod`,
/// `pkg/controller/tas/node_controller.go`).
const NODE_BATCH: Duration = Duration::from_millis(100);

/// Annotations of which one marks a pod that is placed by topology.
const MARKS: [&str; 5] = [
    annotations::REQUIRED,
    annotations::PREFERRED,
    annotations::UNCONSTRAINED,
    annotations::SLICE_REQUIRED,
    annotations::SLICE_CONSTRAINTS,
];

#[derive(Clone, Default)]
pub(super) struct PodCache {
    rows: Vec<CachedPod>,
    /// Requests of pods that are not placed by topology, with the names of their nodes.
    pub others: BTreeMap<PodId, (String, ResourceAmounts)>,
    /// Pods that the topology ungater releases, by pod and incarnation: the JobSet and the labels of the domain.
    pub releases: BTreeMap<(PodId, u32), (JobSetId, DomainLabels)>,
    /// Pods without a node whose node selector names one.
    pub waiting: BTreeMap<NodeId, BTreeSet<PodId>>,
}

/// A pod as the cache shows it.
#[derive(Clone, Copy)]
pub(super) struct CachedPod {
    /// Number of the object; 0 if there is none.
    pub incarnation: u32,
    pub jobset: JobSetId,
    pub is_gated: bool,
    pub is_deleting: bool,
    pub is_terminal: bool,
    /// The node of the pod, or the one that its node selector names.
    pub node: NodeId,
    pub is_bound: bool,
}

impl Default for CachedPod {
    fn default() -> CachedPod {
        let (jobset, node) = (JobSetId::NONE, NodeId::NONE);
        CachedPod {
            incarnation: 0,
            jobset,
            is_gated: false,
            is_deleting: false,
            is_terminal: false,
            node,
            is_bound: false,
        }
    }
}

impl CachedPod {
    fn read(store: &ObjectStore, pod: PodId) -> CachedPod {
        let (pods, is_bound) = (&store.pods, store.pods.has(pod, flag::BOUND));
        let selected = store.pod_spec(pod).node_selector.get(HOSTNAME);
        let node = if is_bound {
            pods.node[pod.ix()]
        } else {
            selected.and_then(|name| store.nodes.find_by_name(name)).unwrap_or(NodeId::NONE)
        };
        CachedPod {
            incarnation: pods.incarnation[pod.ix()],
            jobset: store.jobset_of(pod),
            is_gated: pods.has(pod, flag::GATED),
            is_deleting: pods.has(pod, flag::DELETING),
            is_terminal: pods.is_terminal(pod),
            node,
            is_bound,
        }
    }

    /// Returns whether the pod waits for the node of its node selector.
    fn waits_for_node(&self) -> bool {
        self.incarnation > 0 && !self.is_bound && !self.is_gated && !self.is_terminal && self.node.is_some()
    }
}

impl PodCache {
    pub fn pod(&self, pod: PodId) -> CachedPod {
        self.rows.get(pod.ix()).copied().unwrap_or_default()
    }

    fn set(&mut self, pod: PodId, new: CachedPod) {
        let row = row_or_default(&mut self.rows, pod.ix());
        let old = std::mem::replace(row, new);
        if old.waits_for_node()
            && let Some(pods) = self.waiting.get_mut(&old.node)
        {
            pods.remove(&pod);
        }
        if new.waits_for_node() {
            self.waiting.entry(new.node).or_default().insert(pod);
        }
    }
}

/// Returns whether Kueue counts pods with these annotations as placed by topology. The requests of others reduce the
/// resources of their nodes.
pub fn is_placed_by_topology(annotations: &BTreeMap<String, String>) -> bool {
    MARKS.iter().any(|mark| annotations.contains_key(*mark))
}

fn is_placed(store: &ObjectStore, pod: PodId) -> bool {
    is_placed_by_topology(&store.template(pod).pod.annotations)
}

impl KueueController {
    /// A pod changed: the cache shows it later.
    pub(super) fn watch_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
        let is_relevant = match change {
            PodChange::Bound | PodChange::Finished | PodChange::Gone => true,
            PodChange::Created | PodChange::Metadata | PodChange::Deleting => is_placed(ctx.store, pod),
            _ => false,
        };
        if is_relevant {
            let version = ctx.store.pods.resource_version[pod.ix()];
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            let about = TicketSubject::Pod(pod);
            let lag = ctx.watch_lag(StoreWatcher::KueuePods, about, version);
            let event = SimulationEvent::KueueObservedPod { pod, incarnation };
            ctx.schedule_after(lag, TicketWait::Watch, about, event);
        }
    }

    pub(super) fn pod_observed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let old = self.pods.pod(pod);
        let is_current = ctx.store.pods.is_current(pod, incarnation);
        if is_current && !is_placed(ctx.store, pod) || self.pods.others.contains_key(&pod) {
            return self.other_pod_observed(ctx, pod, is_current);
        }
        let new = if is_current { CachedPod::read(ctx.store, pod) } else { CachedPod::default() };
        let jobset = if is_current { new.jobset } else { old.jobset };
        let is_stale = if is_current { !jobset.is_some() } else { old.incarnation != incarnation };
        if is_stale {
            return;
        }
        self.pods.set(pod, new);
        let row = self.row(jobset);
        if is_current {
            row.pods.insert(pod);
        } else {
            row.pods.remove(&pod);
        }
        if !new.is_gated {
            row.ungating.unobserved.remove(&pod);
        }
        self.schedule_ungating(ctx, jobset, POD_BATCH);
        let seen = if is_current { new } else { old };
        if seen.node.is_some() && (!seen.is_bound || seen.is_deleting || seen.is_terminal || !is_current) {
            self.schedule_node(ctx, seen.node, NODE_BATCH);
        }
    }

    /// Counts the requests of a pod that is not placed by topology on its node.
    fn other_pod_observed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, is_current: bool) {
        let node = ctx.store.pods.node[pod.ix()];
        let counts = is_current && node.is_some() && !ctx.store.pods.is_terminal(pod);
        let topology = &mut self.driver.as_mut().expect("Kueue runs").manager.cache.state.topology;
        let counted = self.pods.others.remove(&pod);
        if let Some((name, requests)) = &counted {
            topology.remove_other_pod(name, requests);
        }
        if counts {
            let (name, requests) = (ctx.store.names.nodes[node.ix()].clone(), ctx.store.pod_spec(pod).requests());
            topology.add_other_pod(&name, &requests);
            self.pods.others.insert(pod, (name, requests));
        } else if let Some((name, _)) = counted
            && let Some(node) = ctx.store.nodes.find_by_name(&name)
        {
            self.capacity_released(ctx, node);
        }
    }

    /// Runs a pass of the topology ungater after a delay, unless an earlier one is pending.
    pub(super) fn schedule_ungating(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, delay: Duration) {
        let (at, due) = (ctx.now + delay, &mut self.row(jobset).ungating.due);
        if due.is_none_or(|due| at < due) {
            *due = Some(at);
            let about = TicketSubject::JobSet(jobset);
            ctx.schedule_after(delay, TicketWait::JobBatch, about, SimulationEvent::KueueUngateDue(jobset));
        }
    }
}
