//! Merge patches of a Node: labels, taints, unschedulable, allocatable.

use super::finalizers::check_labels;
use super::request_error::ScriptRequestError;
use crate::{apiserver, ctx::EngineContext};
use serde_json::Value;
use sim_api::spec::{NodeObject, TaintSpec};
use sim_base::NodeId;

pub(super) fn patch_node(ctx: &mut EngineContext<'_>, node: NodeId, body: &Value) -> Result<(), ScriptRequestError> {
    let old = ctx.store.nodes.cluster.object(node);
    check_labels("Node", &old.name, body)?;
    let mut new = old.clone();
    merge_labels(&mut new, &body["metadata"]["labels"]);
    let mut taints = None;
    if body["spec"].get("taints").is_some() || body["status"].get("allocatable").is_some() {
        // The decoder of Nodes knows both; fields that are not in the patch are kept.
        let read = (ctx.scenario.decoders.node)(&serde_json::json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": old.name},
            "spec": {"taints": body["spec"]["taints"]},
            "status": {"allocatable": body["status"]["allocatable"]}}));
        let read = read.map_err(ScriptRequestError::cannot_decode)?;
        if body["spec"].get("taints").is_some() {
            taints = Some(read.taints);
        }
        let patched = &body["status"]["allocatable"];
        let named = |(resource, _): &(String, i64)| patched.get(resource).is_some();
        new.allocatable.extend(read.allocatable.into_iter().filter(named));
    }
    if let Some(taints) = &taints {
        new.taints.retain(|t| taints.contains(t));
    }
    if new != old {
        apiserver::change_node(ctx, node, &new);
    }
    if let Some(taints) = taints {
        set_taints(ctx, node, &taints);
    }
    if let Some(on) = body["spec"]["unschedulable"].as_bool() {
        apiserver::set_unschedulable(ctx, node, on);
    }
    Ok(())
}

fn merge_labels(node: &mut NodeObject, labels: &Value) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(text) => drop(node.labels.insert(key.clone(), text.to_owned())),
            None => drop(node.labels.remove(key)),
        }
    }
}

/// spec.taints is a list: a patch replaces all of it.
fn set_taints(ctx: &mut EngineContext<'_>, node: NodeId, wanted: &[TaintSpec]) {
    for taint in ctx.store.nodes.taints[node.ix()].clone() {
        if !wanted.contains(&taint) {
            apiserver::remove_taint(ctx, node, &taint.key, Some(taint.effect));
        }
    }
    for taint in wanted {
        apiserver::add_taint(ctx, node, taint.clone());
    }
}
