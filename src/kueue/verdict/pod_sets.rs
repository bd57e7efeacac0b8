//! Changes of the pod sets: fewer Jobs, tolerations, node selectors and other topology levels.

use super::case::{PendingCase, Remedy};
use super::change::{QueueChange, toleration_of};
use crate::flavors::affinity::{matches_labels, untolerated_taint};
use crate::tas::LevelRequest;
use crate::workload::PodSet;
use sim_api::spec::PodSpec;
use sim_api::spec::kueue::ResourceFlavor;

/// Maximum number of flavors for which other constraints are proposed.
const FLAVORS_MAX: usize = 3;

/// Returns for each pod set the largest number of Jobs, and of pods of each Job, that is admitted. Numbers that leave a
/// part of a slice are not tried: Kueue places whole slices only.
pub(super) fn smaller(case: &PendingCase) -> Vec<Remedy> {
    let Some(workload) = case.state.workload(case.key) else { return Vec::new() };
    let of_pod_set = |set: &PodSet, is_of_jobs: bool| {
        let jobs = set.replicas.max(1);
        let (from, times) = if is_of_jobs { (jobs, set.count / jobs) } else { (set.count / jobs, jobs) };
        let slice = set.topology.as_ref().and_then(|topology| topology.slices.first()).map_or(1, |slice| slice.size);
        let is_whole = |to: &u32| {
            let pods = u64::from(*to) * u64::from(times);
            pods.checked_rem(u64::from(slice)).is_none_or(|rest| rest == 0)
        };
        let numbers: Vec<u32> = (1..from).rev().filter(is_whole).collect();
        let fewer = |number: i64| {
            let (pod_set, to) = (set.name.clone(), numbers[number as usize - 1]);
            let change = if is_of_jobs {
                QueueChange::Replicas { pod_set, from, to }
            } else {
                QueueChange::Pods { pod_set, from, to }
            };
            vec![change]
        };
        case.smallest(numbers.len() as i64, fewer).map(|(_, remedy)| remedy)
    };
    let sets = workload.pod_sets.iter().flat_map(|set| [(set, true), (set, false)]);
    sets.filter_map(|(set, is_of_jobs)| of_pod_set(set, is_of_jobs)).collect()
}

/// Returns other tolerations, node selectors or topology levels that admit the Workload.
pub(super) fn other_constraints(case: &PendingCase) -> Vec<Remedy> {
    let Some(workload) = case.state.workload(case.key) else { return Vec::new() };
    let mut remedies: Vec<Remedy> = Vec::new();
    for flavor in case.state.objects.flavors.iter().filter(|flavor| is_in_queue(case, &flavor.name)) {
        let changes: Vec<QueueChange> = workload.pod_sets.iter().flat_map(|set| adapted(set, flavor)).collect();
        let remedy = if changes.is_empty() { None } else { case.remedy(&changes) };
        remedies.extend(remedy);
    }
    let least = remedies.iter().map(|remedy| remedy.changes.len()).min();
    remedies.retain(|remedy| Some(remedy.changes.len()) == least);
    remedies.truncate(FLAVORS_MAX);
    remedies.extend(other_level(case, &workload.pod_sets));
    remedies.extend(slices(case, &workload.pod_sets));
    remedies
}

fn is_in_queue(case: &PendingCase, flavor: &str) -> bool {
    let workload = case.state.workload(case.key);
    let queue = workload.and_then(|w| case.state.cluster_queue(w));
    let mut queues = case.state.objects.cluster_queues.iter().filter(|q| Some(q.name.as_str()) == queue);
    queues.any(|q| q.resource_groups.iter().flat_map(|g| &g.flavors).any(|f| f.name == flavor))
}

/// Returns the changes with which the pods can run on the nodes of a flavor.
fn adapted(set: &PodSet, flavor: &ResourceFlavor) -> Vec<QueueChange> {
    let mut spec: PodSpec = set.template.spec.clone();
    let mut changes = Vec::new();
    while let Some(taint) = untolerated_taint(flavor, &spec).cloned() {
        spec.tolerations.push(toleration_of(&taint));
        changes.push(QueueChange::Toleration { pod_set: set.name.clone(), taint });
    }
    if !matches_labels(flavor, &spec) {
        for (key, value) in &flavor.node_labels {
            if spec.node_selector.get(key).is_some_and(|own| own != value) {
                let (key, value) = (key.clone(), value.clone());
                changes.push(QueueChange::NodeSelector { pod_set: set.name.clone(), key, value });
            }
        }
    }
    changes
}

/// Returns the nearest larger level, or the preference of the same level, instead of a required level.
fn other_level(case: &PendingCase, pod_sets: &[PodSet]) -> Option<Remedy> {
    let level = |set: &PodSet| match set.topology.as_ref()?.level.as_ref()? {
        LevelRequest::Required(level) => Some((set.name.clone(), level.clone())),
        LevelRequest::Preferred(_) | LevelRequest::Unconstrained => None,
    };
    let required: Vec<(String, String)> = pod_sets.iter().filter_map(level).collect();
    let (_, first) = required.first()?;
    let topology = case.state.objects.topologies.iter().find(|topology| topology.levels.contains(first))?;
    let at = topology.levels.iter().position(|level| level == first)?;
    let larger = topology.levels[..at].iter().rev().map(|level| LevelRequest::Required(level.clone()));
    let mut targets = larger.chain([LevelRequest::Preferred(first.clone())]);
    targets.find_map(|to| {
        let change = |(pod_set, from): &(String, String)| QueueChange::TopologyLevel {
            pod_set: pod_set.clone(),
            from: from.clone(),
            to: to.clone(),
        };
        let changes: Vec<QueueChange> = required.iter().map(change).collect();
        case.remedy(&changes)
    })
}

/// Returns slices of the pods of one Job, instead of a level that requires all Jobs in one domain.
fn slices(case: &PendingCase, pod_sets: &[PodSet]) -> Option<Remedy> {
    let change = |set: &PodSet| match set.topology.as_ref()?.level.as_ref()? {
        LevelRequest::Required(level) if set.replicas > 1 => {
            let (pod_set, level) = (set.name.clone(), level.clone());
            let instead_of = Some("podset-required-topology".to_owned());
            Some(QueueChange::Slices { pod_set, instead_of, level, size: set.count / set.replicas })
        }
        _ => None,
    };
    let changes: Vec<QueueChange> = pod_sets.iter().filter_map(change).collect();
    if changes.is_empty() { None } else { case.remedy(&changes) }
}
