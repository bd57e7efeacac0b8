//! Classes of nodes with equal allocatable and occupied resources, soft taints and pods. Nodes of a class have equal
//! scores, so that a cycle computes one score per class instead of one per node.

use crate::pod_views::{PodViews, node_view};
use crate::{ctx::EngineContext, store::NodeStore};
use sim_api::spec::{PodTemplate, TaintEffect, TaintSpec};
use sim_base::{NodeId, PodId, TemplateId};
use sim_policy::placement::TemplateFacts;
use sim_scheduler::plugins::score;
use sim_scheduler::resources::ResourceColumns;
use sim_scheduler::{Cluster, NodeView, PodView, Profile, SchedulingCycle};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct UsageClasses {
    columns: ResourceColumns,
    kinds: Vec<NodeKind>,
    shapes: Vec<PodShape>,
    /// Index of the shape by template.
    shape_of: Vec<Option<u32>>,
    classes: Vec<UsageClass>,
    /// Index of the class by node.
    class_of: Vec<u32>,
    /// Scores of classes that occur together, for a template.
    scores: BTreeMap<(TemplateId, Vec<u32>), Vec<i64>>,
}

#[derive(Clone)]
struct NodeKind {
    /// Amounts in thousandths, by column of the engine.
    allocatable: Vec<i64>,
    /// Resources held by pods outside of the scenario.
    occupied: BTreeMap<String, i64>,
    soft_taints: Vec<TaintSpec>,
    view: NodeView,
}

/// Pods with equal requests.
#[derive(Clone)]
struct PodShape {
    template: Arc<PodTemplate>,
    requests: Vec<(u32, i64)>,
    view: PodView,
}

#[derive(Clone)]
struct UsageClass {
    kind: u32,
    /// Index of the shape and number of pods, in ascending order.
    pods: Vec<(u32, u32)>,
    /// Free amounts in thousandths, by column of the engine.
    free: Vec<i64>,
    /// Number of nodes.
    nodes: u32,
    /// Classes after a pod was added or removed.
    moves: Vec<(PodMove, u32)>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum PodMove {
    Added(u32),
    Removed(u32),
}

impl UsageClasses {
    /// Classifies all nodes as empty.
    pub fn reset(&mut self, ctx: &EngineContext<'_>) {
        self.classes.clear();
        self.class_of.clear();
        self.scores.clear();
        self.classify_new_nodes(ctx);
    }

    fn classify_new_nodes(&mut self, ctx: &EngineContext<'_>) {
        for node in (self.class_of.len() as u32..ctx.store.nodes.len() as u32).map(NodeId) {
            let kind = self.kind(ctx, node);
            let class = self.class(kind, &[]);
            self.class_of.push(class);
            self.classes[class as usize].nodes += 1;
        }
    }

    /// Classifies a node that was added or got a new object as empty.
    pub fn add_node(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        self.classify_new_nodes(ctx);
        let kind = self.kind(ctx, node);
        let class = self.class(kind, &[]);
        self.move_node(node, class);
    }

    /// Forgets the templates of an earlier run.
    pub fn forget_templates(&mut self) {
        self.shape_of.clear();
    }

    /// Reads the requests of the pod's template, unless they are known.
    pub fn learn_template(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        let row = ctx.store.pods.template[pod.ix()].ix();
        if self.shape_of.get(row).copied().flatten().is_some() {
            return;
        }
        if self.shape_of.len() <= row {
            self.shape_of.resize(row + 1, None);
        }
        let template = ctx.store.template(pod);
        let (spec, requests) = (&template.pod.spec, &template.facts.requests);
        let equal = |shape: &PodShape| {
            let known = &shape.template.spec;
            known.containers == spec.containers && known.init_containers == spec.init_containers
        };
        let known = self.shapes.iter().position(|shape| shape.requests == *requests && equal(shape));
        let shape = known.unwrap_or_else(|| {
            let view = PodViews::default().view(ctx, pod, &mut self.columns);
            self.shapes.push(PodShape { template: template.pod.clone(), requests: requests.clone(), view });
            self.shapes.len() - 1
        });
        self.shape_of[row] = Some(shape as u32);
    }

    /// A pod of the template was added to the node or removed from it.
    #[inline]
    pub fn move_pod(&mut self, node: NodeId, template: TemplateId, is_added: bool) {
        let shape = self.shape_of[template.ix()].expect("the template of a placed pod is known");
        let change = if is_added { PodMove::Added(shape) } else { PodMove::Removed(shape) };
        let from = self.class_of[node.ix()];
        let known = self.classes[from as usize].moves.iter().find(|(known, _)| *known == change);
        let to = known.map(|(_, to)| *to).unwrap_or_else(|| self.find_class_after(from, change));
        self.move_node(node, to);
    }

    fn move_node(&mut self, node: NodeId, to: u32) {
        let from = std::mem::replace(&mut self.class_of[node.ix()], to);
        self.classes[from as usize].nodes -= 1;
        self.classes[to as usize].nodes += 1;
    }

    #[cold]
    fn find_class_after(&mut self, from: u32, change: PodMove) -> u32 {
        let (kind, mut pods) = (self.classes[from as usize].kind, self.classes[from as usize].pods.clone());
        let (PodMove::Added(shape) | PodMove::Removed(shape)) = change;
        let at = pods.partition_point(|(other, _)| *other < shape);
        match change {
            PodMove::Added(_) if pods.get(at).is_some_and(|(other, _)| *other == shape) => pods[at].1 += 1,
            PodMove::Added(_) => pods.insert(at, (shape, 1)),
            PodMove::Removed(_) => pods[at].1 -= 1,
        }
        pods.retain(|(_, count)| *count > 0);
        let to = self.class(kind, &pods);
        self.classes[from as usize].moves.push((change, to));
        to
    }

    /// The taints of a node changed.
    pub fn update_kind(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        let from = self.class_of[node.ix()] as usize;
        let kind = self.kind(ctx, node);
        if kind != self.classes[from].kind {
            let pods = self.classes[from].pods.clone();
            let to = self.class(kind, &pods);
            self.move_node(node, to);
        }
    }

    fn kind(&mut self, ctx: &EngineContext<'_>, node: NodeId) -> u32 {
        let nodes = &ctx.store.nodes;
        let columns = nodes.cluster.resources.len();
        let allocatable = &nodes.cluster.allocatable[node.ix() * columns..][..columns];
        let occupied = nodes.cluster.occupied(node);
        let known = self.kinds.iter().position(|kind| {
            kind.allocatable == allocatable
                && kind.occupied == occupied
                && kind.soft_taints.iter().eq(soft_taints(nodes, node))
        });
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(NodeKind {
                allocatable: allocatable.to_vec(),
                occupied,
                soft_taints: soft_taints(nodes, node).cloned().collect(),
                view: node_view(ctx, node, &mut self.columns),
            });
            self.kinds.len() - 1
        });
        kind as u32
    }

    /// Returns the class of a kind of node with these pods, which is added if it is new.
    fn class(&mut self, kind: u32, pods: &[(u32, u32)]) -> u32 {
        if let Some(known) = self.classes.iter().position(|class| class.kind == kind && class.pods == pods) {
            return known as u32;
        }
        let mut free = self.kinds[kind as usize].allocatable.clone();
        for (shape, count) in pods {
            for (column, amount) in &self.shapes[*shape as usize].requests {
                free[*column as usize] -= amount * i64::from(*count);
            }
        }
        self.classes.push(UsageClass { kind, pods: pods.to_vec(), free, nodes: 0, moves: Vec::new() });
        self.classes.len() as u32 - 1
    }

    /// Returns whether nodes with room for a pod of the template may have different scores: they belong to several
    /// classes, or to one and differ in the JobSets of their pods, if that matters.
    pub fn may_differ(&self, template: TemplateId, is_spread: impl Fn() -> bool) -> bool {
        let Some(shape) = self.shape_of.get(template.ix()).copied().flatten() else { return false };
        let requests = &self.shapes[shape as usize].requests;
        let has_room = |class: &&UsageClass| {
            class.nodes > 0 && requests.iter().all(|(column, amount)| class.free[*column as usize] >= *amount)
        };
        let mut with_room = self.classes.iter().filter(has_room);
        let first = with_room.next();
        with_room.next().is_some() || first.is_some_and(|class| !class.pods.is_empty() && is_spread())
    }

    /// Adds the scores that the nodes of a class have in common to those of the nodes.
    pub fn add_scores(
        &mut self, (facts, profile): (&TemplateFacts, &Profile), template: TemplateId, nodes: &[NodeId],
        totals: &mut [i64],
    ) {
        let mut present: Vec<u32> = nodes.iter().map(|node| self.class_of[node.ix()]).collect();
        present.sort_unstable();
        present.dedup();
        if present.len() < 2 {
            return;
        }
        let key = (template, present);
        if !self.scores.contains_key(&key) {
            let scores = self.compute_scores((facts, profile), template, &key.1);
            self.scores.insert(key.clone(), scores);
        }
        let (scores, present) = (&self.scores[&key], &key.1);
        for (node, total) in nodes.iter().zip(totals) {
            let at = present.binary_search(&self.class_of[node.ix()]).expect("the class of a node is present");
            *total += scores[at];
        }
    }

    /// Computes the scores of one node of each class.
    fn compute_scores(
        &self, (facts, profile): (&TemplateFacts, &Profile), template: TemplateId, classes: &[u32],
    ) -> Vec<i64> {
        let mut cluster = Cluster { columns: self.columns.clone(), ..Cluster::default() };
        for class in classes.iter().map(|class| &self.classes[*class as usize]) {
            let node = cluster.add_node(self.kinds[class.kind as usize].view.clone());
            for (shape, count) in &class.pods {
                for _ in 0..*count {
                    cluster.add_pod(node, self.shapes[*shape as usize].view.clone());
                }
            }
        }
        let shape = self.shape_of[template.ix()].expect("the template of a pod in a cycle is known");
        let PodView { requests, assumed, scored, images, volume_images, .. } = self.shapes[shape as usize].view.clone();
        let pod = PodView {
            requests,
            assumed,
            scored,
            images,
            volume_images,
            tolerations: facts.tolerations.clone(),
            ..PodView::default()
        };
        let rows: Vec<usize> = (0..classes.len()).collect();
        let cycle = SchedulingCycle::new(&cluster, &pod, profile).expect("a pod without terms is examined");
        let by_plugin = score(&cycle, &rows);
        rows.iter().map(|row| by_plugin.iter().map(|(_, scores)| scores[*row]).sum()).collect()
    }
}

fn soft_taints(nodes: &NodeStore, node: NodeId) -> impl Iterator<Item = &TaintSpec> {
    nodes.taints_of(node).filter(|taint| taint.effect == TaintEffect::PreferNoSchedule)
}
