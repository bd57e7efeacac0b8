//! Requests about Nodes: create, change, taint, condition, lease, delete.

use super::record_change;
use crate::ctx::EngineContext;
use crate::record::{Body, NodeReady};
use crate::store::{ChangeKind, NodeChange};
use sim_api::spec::keys::{NOT_READY, UNSCHEDULABLE};
use sim_api::spec::{NodeObject, TaintEffect, TaintSpec};
use sim_base::{JobSetId, NodeId, PodId, SimTime};
use std::collections::BTreeMap;

/// POST of a Node. Returns false if the name is taken.
pub fn create_node(ctx: &mut EngineContext<'_>, object: &NodeObject) -> bool {
    if !add_node(ctx, object) {
        return false;
    }
    let node = ctx.store.nodes.find_by_name(&object.name);
    if let Some(node) = node {
        let (key, effect) = (NOT_READY.to_owned(), TaintEffect::NoSchedule);
        let value = String::new();
        add_taint(ctx, node, TaintSpec { key, value, effect });
        // The kubelet is already running.
        set_node_ready(ctx, node, true);
    }
    true
}

/// Adds a Node that has existed for a long time.
pub fn add_node(ctx: &mut EngineContext<'_>, object: &NodeObject) -> bool {
    let known = ctx.store.nodes.find_by_name(&object.name);
    if known.is_some_and(|n| ctx.store.nodes.exists(n)) {
        return false;
    }
    let s = ctx.store.get_mut();
    let node = s.nodes.create(object);
    if node.ix() == s.names.nodes.len() {
        s.names.nodes.push(object.name.clone());
    }
    s.templates.node_changed(&s.nodes.cluster, node);
    ctx.emit(Body::NodeCreated { node });
    record_change(ctx, ChangeKind::Node(node, NodeChange::Created));
    if object.unschedulable {
        set_unschedulable(ctx, node, true);
    }
    true
}

/// Sets labels, taints, features and allocatable to those of `object`.
pub fn change_node(ctx: &mut EngineContext<'_>, node: NodeId, object: &NodeObject) {
    let s = ctx.store.get_mut();
    s.nodes.cluster.change(node, object);
    s.templates.node_changed(&s.nodes.cluster, node);
    record_change(ctx, ChangeKind::Node(node, NodeChange::Spec));
}

/// Pods outside of the scenario are removed from a node, which frees what they held.
pub fn remove_outside_pods(ctx: &mut EngineContext<'_>, node: NodeId, held: &BTreeMap<String, i64>) {
    let s = ctx.store.get_mut();
    s.nodes.cluster.release(node, held);
    s.templates.node_changed(&s.nodes.cluster, node);
    record_change(ctx, ChangeKind::Node(node, NodeChange::Spec));
}

/// DELETE: the object is removed immediately; its pods are left to pod garbage collection.
pub fn delete_node(ctx: &mut EngineContext<'_>, node: NodeId) {
    if !ctx.store.nodes.exists(node) {
        return;
    }
    let nodes = &mut ctx.store.get_mut().nodes;
    nodes.rows[node.ix()].exists = false;
    ctx.emit(Body::NodeGone { node });
    record_change(ctx, ChangeKind::Node(node, NodeChange::Gone));
}

/// Sets spec.unschedulable. The node lifecycle controller, which keeps the corresponding taint, adds it at once and
/// removes it with its delay.
pub fn set_unschedulable(ctx: &mut EngineContext<'_>, node: NodeId, on: bool) {
    ctx.store.get_mut().nodes.rows[node.ix()].cordoned = on;
    if on {
        let taint = TaintSpec { key: UNSCHEDULABLE.to_owned(), value: String::new(), effect: TaintEffect::NoSchedule };
        add_taint(ctx, node, taint);
    } else {
        record_change(ctx, ChangeKind::Node(node, NodeChange::Uncordoned));
    }
}

/// Sets the Ready condition; `false` means Unknown, the only other modelled status.
pub fn set_node_ready(ctx: &mut EngineContext<'_>, node: NodeId, ready: bool) {
    ctx.store.get_mut().nodes.rows[node.ix()].unknown = !ready;
    let ready = if ready { NodeReady::True } else { NodeReady::Unknown };
    ctx.emit(Body::NodeState { node, ready });
    record_change(ctx, ChangeKind::Node(node, NodeChange::Condition));
}

/// Records that the kubelet last renewed its Lease at `at`; `NEVER`: it renews it continuously.
pub fn set_lease(ctx: &mut EngineContext<'_>, node: NodeId, at: SimTime) {
    ctx.store.get_mut().nodes.rows[node.ix()].lease = at;
    record_change(ctx, ChangeKind::Node(node, NodeChange::Lease));
}

/// Adds a taint that is not part of the node's description.
pub fn add_taint(ctx: &mut EngineContext<'_>, node: NodeId, taint: TaintSpec) {
    if ctx.store.nodes.has_taint(node, &taint.key, taint.effect) {
        return;
    }
    let (key, effect) = (ctx.intern(&taint.key), taint.effect as u8);
    let nodes = &mut ctx.store.get_mut().nodes;
    nodes.taints[node.ix()].push(taint);
    ctx.emit(Body::NodeTaint { node, key, effect, added: true });
    record_change(ctx, ChangeKind::Node(node, NodeChange::Taints));
}

pub fn remove_taint(ctx: &mut EngineContext<'_>, node: NodeId, key: &str, effect: Option<TaintEffect>) {
    let matches_taint = |t: &TaintSpec| t.key == key && effect.is_none_or(|e| e == t.effect);
    loop {
        let nodes = &mut ctx.store.get_mut().nodes;
        let Some(at) = nodes.taints[node.ix()].iter().position(matches_taint) else {
            return;
        };
        let gone = nodes.taints[node.ix()].remove(at);
        let key = ctx.intern(&gone.key);
        ctx.emit(Body::NodeTaint { node, key, effect: gone.effect as u8, added: false });
        record_change(ctx, ChangeKind::Node(node, NodeChange::Taints));
    }
}

/// Not a request: the containers of a pod started or stopped. Only training jobs and usage-based aging observe this
/// immediately.
pub fn note_process_change(ctx: &mut EngineContext<'_>, pod: PodId, up: bool) {
    if !ctx.scenario.training.is_empty() || !ctx.scenario.clocks.is_empty() {
        record_change(ctx, ChangeKind::Process { pod, up });
    }
}

/// Not a request: the containers of a deleted pod have stopped. Only usage-based aging observes this immediately.
pub fn note_containers_stopped(ctx: &mut EngineContext<'_>, pod: PodId) {
    if !ctx.scenario.clocks.is_empty() {
        record_change(ctx, ChangeKind::ContainersStopped(pod));
    }
}

/// Not a request: a process of the pod exits because it could not reach another one in time, hangs, or computed wrong
/// results.
pub fn note_process_exit(ctx: &mut EngineContext<'_>, pod: PodId, exit_code: i32) {
    record_change(ctx, ChangeKind::ProcessExit(pod, exit_code));
}

/// Not a request: a silent fault occurs in a pod or on a node; only training jobs there are affected.
pub fn note_silent_fault(ctx: &mut EngineContext<'_>, fault: u32, node: NodeId, pod: PodId) {
    if !ctx.scenario.training.is_empty() {
        record_change(ctx, ChangeKind::SilentFault { fault, node, pod });
    }
}

/// Not a request: the training job of a JobSet has completed its work, and its processes exit.
pub fn note_work_done(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    record_change(ctx, ChangeKind::WorkDone(jobset));
}

/// Not a request: the machine failed or recovered. Only the ledger observes this immediately.
pub fn note_machine_change(ctx: &mut EngineContext<'_>, node: NodeId, dead: bool) {
    record_change(ctx, ChangeKind::Node(node, NodeChange::Machine { dead }));
}
