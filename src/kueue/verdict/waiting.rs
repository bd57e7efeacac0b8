//! Changes of the queue: another priority or queue, stopped queues, and the end of other Workloads.

use super::case::{PendingCase, Remedy};
use super::change::QueueChange;
use super::trial::QueueProbe;
use crate::requests::FlavorAmounts;
use crate::workload::{Info, Workload, WorkloadKey};
use sim_api::spec::kueue::{LocalQueue, QueueingStrategy, StopPolicy};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of Workloads whose end is tried one by one.
const ENDS_MAX: usize = 100;
/// Maximum number of other queues in which the Workload is tried alone, and with all others.
const PROBES_MAX: usize = 4_096;
const QUEUES_MAX: usize = 100;
/// Maximum number of priorities that are tried.
const PRIORITIES_MAX: usize = 16;

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
    if changes.is_empty() { None } else { case.remedy(&changes) }
}

/// Returns the lowest higher priority class that admits the Workload.
pub(super) fn higher_priority(case: &PendingCase) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let mut classes: Vec<_> =
        case.state.objects.priority_classes.iter().filter(|class| class.value > workload.priority).collect();
    classes.sort_by_key(|class| (class.value, class.name.clone()));
    let existing = classes
        .into_iter()
        .find_map(|class| case.remedy(&[QueueChange::Priority { class: class.name.clone(), value: class.value }]));
    existing.or_else(|| new_priority(case, workload.priority))
}

/// Returns the lowest priority of a class to be created that admits the Workload: just above that of another Workload.
fn new_priority(case: &PendingCase, current: i32) -> Option<Remedy> {
    let others = case.state.workloads.iter().enumerate().filter(|(key, _)| *key != case.key);
    let others = others.filter_map(|(_, w)| w.as_ref()).filter(|w| w.priority >= current && !w.is_finished());
    let values: BTreeSet<i32> = others.filter_map(|w| w.priority.checked_add(1)).collect();
    let mut values = values.into_iter().take(PRIORITIES_MAX);
    values.find_map(|value| case.remedy(&[QueueChange::NewPriority { value }]))
}

/// Returns the other queueing strategy of the ClusterQueue if it admits the Workload.
pub(super) fn other_strategy(case: &PendingCase) -> Option<Remedy> {
    let name = case.state.cluster_queue(case.state.workload(case.key)?)?;
    let queue = case.state.objects.cluster_queues.iter().find(|queue| queue.name == name)?;
    let strategy = match queue.queueing_strategy {
        QueueingStrategy::StrictFifo => QueueingStrategy::BestEffortFifo,
        QueueingStrategy::BestEffortFifo => QueueingStrategy::StrictFifo,
    };
    case.remedy(&[QueueChange::Strategy { cluster_queue: name.to_owned(), strategy }])
}

/// Returns the first other LocalQueue of the namespace that admits the Workload. Where the other Workloads rest, an
/// attempt costs the same for any number of queues.
pub(super) fn other_queue(case: &PendingCase) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let current = case.state.cluster_queue(workload);
    let queues = case.state.objects.local_queues.iter();
    let others =
        queues.filter(|queue| queue.namespace == workload.namespace && Some(queue.cluster_queue.as_str()) != current);
    let mut probe = QueueProbe::new(case.state, case.key)?;
    let is_likely = |queue: &&LocalQueue| !probe.rejects(&queue.name);
    let mut likely = others.take(PROBES_MAX).filter(is_likely).take(QUEUES_MAX);
    likely.find_map(|queue| case.remedy(&[QueueChange::UseQueue { local_queue: queue.name.clone() }]))
}

/// Returns the Workload whose end alone admits this one, of those the one with the least quota, or else the smallest
/// set found by adding Workloads in order of their quota and removing those that are not necessary.
pub(super) fn ended_workloads(case: &PendingCase) -> Option<Remedy> {
    let mut candidates: Vec<(FlavorAmounts, QueueChange)> = all_others(case).collect();
    candidates.sort_by_key(|(usage, _)| usage.values().map(|amount| amount.0).max());
    let single = |(_, change): &(FlavorAmounts, QueueChange)| {
        let change = std::slice::from_ref(change);
        if !has_queue(case) || case.is_likely(change) { case.remedy(change) } else { None }
    };
    if let Some(remedy) = candidates.iter().take(ENDS_MAX).find_map(single) {
        return Some(remedy);
    }
    let largest: Vec<QueueChange> = candidates.into_iter().rev().take(ENDS_MAX).map(|(_, change)| change).collect();
    let (number, mut remedy) = case.smallest(largest.len() as i64, |number| largest[..number as usize].to_vec())?;
    let mut changes = largest[..number as usize].to_vec();
    for at in (0..changes.len()).rev() {
        let mut fewer = changes.clone();
        fewer.remove(at);
        if let Some(smaller) = case.remedy(&fewer) {
            (changes, remedy) = (fewer, smaller);
        }
    }
    Some(remedy)
}

/// Returns true if the Workload has a queue. A JobSet that Kueue does not manage has a Workload without one.
fn has_queue(case: &PendingCase) -> bool {
    case.state.workload(case.key).is_some_and(|w| !w.queue.is_empty())
}

/// Returns the other Workloads that hold quota in the same tree, or that wait ahead of this one. For a Workload without
/// a queue, those that hold quota at all.
fn all_others<'a>(case: &'a PendingCase<'a>) -> impl Iterator<Item = (FlavorAmounts, QueueChange)> + 'a {
    let manager = case.state.manager();
    let tree = &manager.cache.state.tree;
    let queue = case.state.workload(case.key).and_then(|w| manager.queue_of(w));
    let root = queue.map(|queue| tree.root(queue));
    let resources = &case.state.objects.configuration.resources;
    let of_key = |key: WorkloadKey, workload: &Arc<Workload>| {
        let competes = |index: &usize| !has_queue(case) || Some(tree.root(*index)) == root;
        let index = manager.queue_of(workload).filter(competes)?;
        let is_pending = !workload.has_active_reservation();
        if is_pending && (!workload.is_admissible() || Some(index) != queue) {
            return None;
        }
        let info = Info::new(key, workload.clone(), index, resources);
        let name = format!("Workload {}/{}", workload.namespace, workload.name);
        let change = QueueChange::End { key, name, is_pending };
        Some((info.usage(), change))
    };
    let all = case.state.workloads.iter().enumerate().filter(|(key, _)| *key != case.key);
    all.filter_map(|(key, w)| of_key(key, w.as_ref()?)).collect::<Vec<_>>().into_iter()
}
