//! The cluster as `sim_scheduler` reads it. The search over columns in `cycle` decides most pods; this snapshot serves
//! the decisions that depend on whole objects: preemption, and pods beside nominated pods.

use super::capacity_ledger::CapacityLedger;
use super::nominated::NominatedPods;
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::pod_views::PodViews;
use crate::script::object_json;
use sim_api::spec::ObjectKind;
use sim_base::{NodeId, PodId};
use sim_scheduler::labels::read_labels;
use sim_scheduler::node::NodeUsage;
use sim_scheduler::{Cluster, NodeView};
use std::collections::BTreeMap;

/// A snapshot with the nodes and pods that its indexes stand for.
#[derive(Clone, Default)]
pub struct SchedulerSnapshot {
    pub cluster: Cluster,
    pub nodes: Vec<NodeId>,
    pub pods: Vec<PodId>,
    pub views: PodViews,
    rows: BTreeMap<NodeId, usize>,
    /// Whether the nodes are those of the store.
    has_nodes: bool,
}

impl SchedulerSnapshot {
    /// A Node was created, changed or removed.
    pub fn forget_nodes(&mut self) {
        self.has_nodes = false;
    }

    /// Reads all nodes, all pods that hold resources, and the disruption budgets.
    pub fn update(&mut self, ctx: &EngineContext<'_>, ledger: &CapacityLedger, nominated: &NominatedPods) {
        if !self.has_nodes {
            self.read_nodes(ctx);
        }
        let cluster = &mut self.cluster;
        cluster.usage.fill(NodeUsage::default());
        cluster.pods.clear();
        self.pods.clear();
        for pod in (0..ctx.store.pods.len() as u32).map(PodId) {
            let Some(row) = self.rows.get(&ledger.held_node(pod)) else { continue };
            let mut view = self.views.view(ctx, pod, &mut cluster.columns);
            view.started = Some(ledger.started_s(pod).into());
            cluster.add_pod(*row, view);
            self.pods.push(pod);
        }
        cluster.nominated.clear();
        for (pod, node) in nominated.iter() {
            if let Some(row) = self.rows.get(&node).filter(|_| !ledger.holds(pod)) {
                let view = self.views.view(ctx, pod, &mut cluster.columns);
                cluster.nominated.push((*row, view));
            }
        }
        cluster.budgets = apiserver::disruption_budgets(ctx, &mut self.views);
        for (_, name, other) in ctx.store.others.objects_of_kind(ObjectKind::Namespace) {
            cluster.namespaces.insert(name.to_owned(), read_labels(&other.object["metadata"]["labels"]));
        }
    }

    fn read_nodes(&mut self, ctx: &EngineContext<'_>) {
        self.has_nodes = true;
        self.nodes.clear();
        self.rows.clear();
        self.cluster = Cluster { columns: std::mem::take(&mut self.cluster.columns), ..Cluster::default() };
        for node in ctx.store.nodes.existing() {
            let view = NodeView::read(&object_json::node_json(ctx, node), &mut self.cluster.columns);
            self.rows.insert(node, self.cluster.add_node(view));
            self.nodes.push(node);
        }
    }
}
