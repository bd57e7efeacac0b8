//! The cluster as `sim_scheduler` reads it. The search over columns in `cycle` decides most pods; this snapshot serves
//! the decisions that depend on whole objects: preemption, and pods beside nominated pods.

use super::capacity_ledger::CapacityLedger;
use super::nominated::NominatedPods;
use crate::pod_views::{PodViews, node_view};
use crate::store::{OtherObject, flag};
use crate::{apiserver, ctx::EngineContext, record::DeletionActor};
use sim_api::spec::keys::JOBSET_NAME;
use sim_api::spec::{ObjectKind, PodGroupScheduling};
use sim_base::{NodeId, PodId};
use sim_scheduler::labels::{Labels, read_labels};
use sim_scheduler::{Cluster, NodeIndex, NodeView, PodIndex};
use std::collections::BTreeMap;

/// A snapshot with the nodes and pods that its indexes stand for. Updates read only what has changed.
#[derive(Clone, Default)]
pub struct SchedulerSnapshot {
    pub cluster: Cluster,
    pub nodes: Vec<NodeId>,
    pub pods: Vec<PodId>,
    pub views: PodViews,
    /// Views of changed nodes, before the first change that the scheduler has not been notified of.
    pub replaced: BTreeMap<NodeId, NodeView>,
    rows: BTreeMap<NodeId, NodeIndex>,
    /// The placed pods, by `PodId`.
    placed: Vec<Option<PlacedPod>>,
    /// Pods that may have changed since the last update.
    touched: Vec<PodId>,
    is_touched: Vec<bool>,
    /// Whether the nodes are those of the store, after this number of changes.
    has_nodes: bool,
    changes: u32,
    /// Number of pods that hold a node.
    holding: usize,
    /// Number of changes of other objects at the last update.
    other_changes: Option<u64>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
struct PlacedPod {
    node: NodeIndex,
    incarnation: u32,
    index: PodIndex,
}

impl SchedulerSnapshot {
    /// A pod changed: the next update reads it again.
    pub fn touch(&mut self, pod: PodId) {
        if self.has_nodes {
            self.is_touched.resize(self.is_touched.len().max(pod.ix() + 1), false);
            if !std::mem::replace(&mut self.is_touched[pod.ix()], true) {
                self.touched.push(pod);
            }
        }
    }

    /// Returns the index of a node in the cluster.
    pub fn row_of(&self, node: NodeId) -> Option<NodeIndex> {
        self.rows.get(&node).copied()
    }

    /// Reads the changed nodes. All nodes are read again if one was created or removed.
    pub fn update_nodes(&mut self, ctx: &EngineContext<'_>) {
        let nodes = &ctx.store.nodes;
        if nodes.changes() == self.changes {
            return;
        }
        for node in nodes.changed_since(self.changes) {
            match self.rows.get(&node).filter(|_| nodes.exists(node)) {
                Some(row) => {
                    let view = node_view(ctx, node, &mut self.cluster.columns);
                    let before = self.cluster.set_node(*row, view);
                    self.replaced.entry(node).or_insert(before);
                }
                None => self.has_nodes = false,
            }
        }
        self.changes = nodes.changes();
    }

    /// Reads what has changed: nodes, pods that hold resources, and other objects.
    pub fn update(&mut self, ctx: &EngineContext<'_>, ledger: &CapacityLedger, nominated: &NominatedPods) {
        self.update_nodes(ctx);
        // Rows of removed pods remain in the cluster.
        if !self.has_nodes || self.pods.len() > 2 * self.holding + ctx.store.pods.len() {
            self.read_nodes(ctx);
            (0..ctx.store.pods.len() as u32).for_each(|pod| self.touch(PodId(pod)));
        }
        self.placed.resize(ctx.store.pods.len(), None);
        for pod in std::mem::take(&mut self.touched) {
            self.is_touched[pod.ix()] = false;
            self.update_pod(ctx, ledger, pod);
        }
        let cluster = &mut self.cluster;
        cluster.nominated.clear();
        for (pod, node) in nominated.iter() {
            if let Some(row) = self.rows.get(&node).filter(|_| !ledger.holds(pod)) {
                let view = self.views.view(ctx, pod, &mut cluster.columns);
                cluster.nominated.push((*row, view));
            }
        }
        cluster.budgets = apiserver::disruption_budgets(ctx, &mut self.views);
        if self.other_changes != Some(ctx.store.others.changes) {
            self.other_changes = Some(ctx.store.others.changes);
            self.read_others(ctx);
        }
    }

    fn read_others(&mut self, ctx: &EngineContext<'_>) {
        let (store, cluster) = (&**ctx.store, &mut self.cluster);
        for (_, name, other) in store.others.objects_of_kind(ObjectKind::Namespace) {
            cluster.namespaces.insert(name.to_owned(), read_labels(&other.object["metadata"]["labels"]));
        }
        cluster.storage = apiserver::storage_objects(ctx);
        if ctx.scenario.control_plane.feature_gates.pod_groups != PodGroupScheduling::Off {
            self.views.read_groups(store, &mut cluster.groups);
        }
        let selector = |service: &OtherObject| match store.names.jobsets.get(service.jobset.ix()) {
            Some(owner) => Labels::from([(JOBSET_NAME.to_owned(), owner.name.clone())]),
            None => read_labels(&service.object["spec"]["selector"]),
        };
        let services = store.others.services().map(|(namespace, service)| (namespace.to_owned(), selector(service)));
        cluster.services = services.filter(|(_, selector)| !selector.is_empty()).collect();
    }

    fn update_pod(&mut self, ctx: &EngineContext<'_>, ledger: &CapacityLedger, pod: PodId) {
        let (cluster, incarnation) = (&mut self.cluster, ctx.store.pods.incarnation[pod.ix()]);
        let node = self.rows.get(&ledger.held_node(pod)).copied();
        let known = self.placed[pod.ix()];
        if let Some(placed) = known.filter(|p| Some(p.node) == node && p.incarnation == incarnation) {
            let view = &mut cluster.pods[placed.index];
            view.is_terminating = ctx.store.pods.has(pod, flag::DELETING);
            view.is_preempted = ctx.store.pods.disrupted_by.get(&pod) == Some(&DeletionActor::Preemption);
            return;
        }
        if let Some(placed) = known {
            cluster.remove_pod(placed.node, placed.index);
            self.holding -= 1;
        }
        self.placed[pod.ix()] = node.map(|node| {
            let mut view = self.views.view(ctx, pod, &mut cluster.columns);
            view.started = Some(ledger.started_s(pod).into());
            self.pods.push(pod);
            self.holding += 1;
            PlacedPod { node, incarnation, index: cluster.add_pod(node, view) }
        });
    }

    fn read_nodes(&mut self, ctx: &EngineContext<'_>) {
        self.has_nodes = true;
        self.other_changes = None;
        self.holding = 0;
        self.pods.clear();
        self.placed.clear();
        self.nodes.clear();
        self.rows.clear();
        let (columns, groups) = (&mut self.cluster.columns, &mut self.cluster.groups);
        let (columns, groups) = (std::mem::take(columns), std::mem::take(groups));
        self.cluster = Cluster { columns, groups, ..Cluster::default() };
        for node in ctx.store.nodes.existing() {
            let view = node_view(ctx, node, &mut self.cluster.columns);
            self.rows.insert(node, self.cluster.add_node(view));
            self.nodes.push(node);
        }
    }
}
