//! Changes of the queue: another priority or queue, stopped queues, and the end of other Workloads.

use super::change::QueueChange;
use super::smallest::{PendingCase, Remedy};
use crate::requests::FlavorAmounts;
use crate::workload::{Info, Workload, WorkloadKey};
use sim_api::spec::kueue::StopPolicy;
use std::sync::Arc;

/// Maximum number of Workloads whose end is tried one by one.
const ENDS_MAX: usize = 100;

/// Returns the changes that start the stopped queues of the Workload.
pub(super) fn resumed_queues(case: &PendingCase) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let objects = &case.state.objects;
    let is_own = |namespace: &str, name: &str| namespace == workload.namespace && name == workload.queue;
    let mut changes = Vec::new();
    let local = objects.local_queues.iter().find(|queue| is_own(&queue.namespace, &queue.name))?;
    if local.stop_policy != StopPolicy::None {
        let (namespace, name) = (local.namespace.clone(), local.name.clone());
        changes.push(QueueChange::ResumeLocalQueue { namespace, name });
    }
    let cluster = objects.cluster_queues.iter().find(|queue| queue.name == local.cluster_queue);
    if let Some(cluster) = cluster.filter(|queue| queue.stop_policy != StopPolicy::None) {
        changes.push(QueueChange::ResumeClusterQueue { name: cluster.name.clone() });
    }
    if changes.is_empty() { None } else { case.remedy(changes) }
}

/// Returns the lowest higher priority class that admits the Workload.
pub(super) fn higher_priority(case: &PendingCase) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let mut classes: Vec<_> =
        case.state.objects.priority_classes.iter().filter(|class| class.value > workload.priority).collect();
    classes.sort_by_key(|class| (class.value, class.name.clone()));
    classes
        .into_iter()
        .find_map(|class| case.remedy(vec![QueueChange::Priority { class: class.name.clone(), value: class.value }]))
}

/// Returns the first other LocalQueue of the namespace that admits the Workload.
pub(super) fn other_queue(case: &PendingCase) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let current = case.state.cluster_queue(workload);
    let queues = case.state.objects.local_queues.iter();
    let mut others =
        queues.filter(|queue| queue.namespace == workload.namespace && Some(queue.cluster_queue.as_str()) != current);
    others.find_map(|queue| {
        let changes = vec![QueueChange::UseQueue { local_queue: queue.name.clone() }];
        case.admits(&changes).then(|| Remedy { changes, preempted: Vec::new() })
    })
}

/// Returns the Workload whose end alone admits this one, of those the one with the least quota, or else the smallest
/// set found by adding Workloads in order of their quota and removing those that are not necessary.
pub(super) fn ended_workloads(case: &PendingCase) -> Option<Remedy> {
    let mut candidates: Vec<(FlavorAmounts, QueueChange)> = all_others(case).collect();
    candidates.sort_by_key(|(usage, _)| usage.values().map(|amount| amount.0).max());
    for (_, change) in candidates.iter().take(ENDS_MAX) {
        if case.admits(std::slice::from_ref(change)) {
            return Some(Remedy { changes: vec![change.clone()], preempted: Vec::new() });
        }
    }
    let mut changes: Vec<QueueChange> = Vec::new();
    for (_, change) in candidates.iter().rev().take(ENDS_MAX) {
        changes.push(change.clone());
        if case.admits(&changes) {
            break;
        }
    }
    for at in (0..changes.len()).rev() {
        let mut fewer = changes.clone();
        fewer.remove(at);
        if case.admits(&fewer) {
            changes = fewer;
        }
    }
    (!changes.is_empty() && case.admits(&changes)).then(|| Remedy { changes, preempted: Vec::new() })
}

/// Returns the other Workloads that hold quota in the same tree, or that wait ahead of this one.
fn all_others<'a>(case: &'a PendingCase<'a>) -> impl Iterator<Item = (FlavorAmounts, QueueChange)> + 'a {
    let manager = case.state.manager();
    let tree = &manager.cache.state.tree;
    let queue = case.state.workload(case.key).and_then(|w| manager.queue_of(w));
    let root = queue.map(|queue| tree.root(queue));
    let resources = &case.state.objects.configuration.resources;
    let of_key = |key: WorkloadKey, workload: &Arc<Workload>| {
        let index = manager.queue_of(workload).filter(|index| Some(tree.root(*index)) == root)?;
        let is_pending = !workload.has_active_reservation();
        if is_pending && (!workload.is_admissible() || Some(index) != queue) {
            return None;
        }
        let info = Info::new(key, workload.clone(), index, resources);
        let change = QueueChange::End { key, name: describe(workload), is_pending };
        Some((info.usage(), change))
    };
    let all = case.state.workloads.iter().enumerate().filter(|(key, _)| *key != case.key);
    all.filter_map(|(key, w)| of_key(key, w.as_ref()?)).collect::<Vec<_>>().into_iter()
}

/// Returns the name of a Workload for messages.
fn describe(workload: &Workload) -> String {
    format!("Workload {}/{}", workload.namespace, workload.name)
}
