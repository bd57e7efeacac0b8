//! More free nodes for a Workload that is placed by topology.

use super::change::{ADDED_NODE, QueueChange};
use super::smallest::{PendingCase, Remedy};
use super::trial::AdmissionVerdict;
use crate::tas::{LevelRequest, TasNode};
use crate::workload::Workload;
use std::collections::BTreeMap;

/// Returns the smallest number of free nodes, together with changes that are given, that admits the Workload: first in
/// any domain, then only in those that the trial used.
pub(super) fn more_nodes(case: &PendingCase, given: &[QueueChange]) -> Option<Remedy> {
    let workload = case.state.workload(case.key)?;
    let level = requested_level(case, workload)?;
    let domains = domains(case, &level);
    let most: u32 = workload.pod_sets.iter().map(|set| set.count).sum();
    let everywhere = |count: i64| {
        let free = |(domain, like): (&String, &TasNode)| QueueChange::FreeNodes {
            like: Box::new(like.clone()),
            level: level.clone(),
            domain: domain.clone(),
            count: u32::try_from(count).unwrap_or(u32::MAX),
        };
        [given, &domains.iter().map(free).collect::<Vec<_>>()].concat()
    };
    let smallest = case.smallest(i64::from(most), everywhere)?;
    let verdict = case.verdict(&everywhere(smallest))?;
    let used = used_nodes(&verdict, &domains);
    let only = domains.iter().filter_map(|(domain, like)| {
        let count = *used.get(domain).filter(|count| **count > 0)?;
        let like = Box::new(like.clone());
        Some(QueueChange::FreeNodes { like, level: level.clone(), domain: domain.clone(), count })
    });
    let changes: Vec<QueueChange> = given.iter().cloned().chain(only).collect();
    case.admits(&changes).then(|| Remedy { changes, preempted: Vec::new() })
}

/// Returns the level at which the pods must be together: of the first pod set with a request, else the lowest one.
fn requested_level(case: &PendingCase, workload: &Workload) -> Option<String> {
    let request = workload.pod_sets.iter().filter_map(|set| set.topology.as_ref());
    let level = |request: &crate::tas::TopologyRequest| match &request.level {
        Some(LevelRequest::Required(level) | LevelRequest::Preferred(level)) => Some(level.clone()),
        _ => request.slices.first().map(|slice| slice.topology.clone()),
    };
    let lowest = || case.state.objects.topologies.first()?.levels.last().cloned();
    request.clone().find_map(level).or_else(lowest)
}

/// Returns the domains of a level, each with its node of the largest resources.
fn domains(case: &PendingCase, level: &str) -> BTreeMap<String, TasNode> {
    let mut domains: BTreeMap<String, TasNode> = BTreeMap::new();
    let amounts = |node: &TasNode| node.allocatable.values().copied().collect::<Vec<i64>>();
    for node in case.state.nodes.iter().filter(|node| node.is_ready && !node.is_unschedulable) {
        let Some(value) = node.labels.get(level) else { continue };
        let is_larger = domains.get(value).is_none_or(|known| amounts(known) < amounts(node));
        if is_larger {
            domains.insert(value.clone(), node.clone());
        }
    }
    domains
}

/// Returns the number of added nodes that the placement uses, by domain.
fn used_nodes(verdict: &AdmissionVerdict, domains: &BTreeMap<String, TasNode>) -> BTreeMap<String, u32> {
    let admission = verdict.workload.status.admission.iter();
    let placed = admission.flat_map(|a| &a.pod_sets).filter_map(|set| set.topology.as_ref());
    let hosts = placed.flat_map(|placement| &placement.domains).filter_map(|domain| domain.values.last());
    let mut used = BTreeMap::new();
    for host in hosts.filter_map(|host| host.strip_prefix(ADDED_NODE)) {
        let of = domains.iter().find(|(_, like)| {
            host.strip_prefix(&like.name).is_some_and(|rest| rest.starts_with('-') && !rest[1..].contains('-'))
        });
        if let Some((domain, _)) = of {
            *used.entry(domain.clone()).or_default() += 1;
        }
    }
    used
}
