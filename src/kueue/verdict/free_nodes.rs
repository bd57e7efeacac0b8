//! More free nodes for a Workload: in one domain if possible, otherwise in as few as possible.

use super::case::{PendingCase, Remedy};
use super::change::QueueChange;
use crate::tas::{LevelRequest, TasNode};
use crate::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of different domains in which more nodes are tried.
const DOMAINS_MAX: usize = 16;

/// A domain of a level and its nodes.
#[derive(Clone, Debug)]
pub struct NodeDomain {
    /// Node label; empty for all nodes together.
    pub level: String,
    /// Value of the label.
    pub value: String,
    /// A node with the largest resources.
    pub like: TasNode,
    /// Number of free nodes.
    pub free: u32,
    /// Number of nodes that are in use, cordoned or not ready, and thus can become free.
    pub busy: u32,
}

/// Returns the smallest number of free nodes that admits the Workload together with changes that are given.
pub(super) fn more_nodes(case: &PendingCase, given: &[QueueChange], domains: &[NodeDomain]) -> Option<Remedy> {
    let with = |free: &[(&NodeDomain, i64)]| {
        let change = |(domain, count): &(&NodeDomain, i64)| QueueChange::FreeNodes {
            like: Box::new(domain.like.clone()),
            level: domain.level.clone(),
            domain: domain.value.clone(),
            count: u32::try_from(*count).unwrap_or(u32::MAX),
        };
        given.iter().cloned().chain(free.iter().map(change)).collect::<Vec<_>>()
    };
    let mut usable: Vec<&NodeDomain> = domains.iter().filter(|domain| domain.busy > 0).collect();
    usable.sort_by_key(|domain| (domain.busy, u32::MAX - domain.free));
    let mut seen = BTreeSet::new();
    let distinct = usable.iter().filter(|domain| seen.insert((domain.free, domain.busy))).take(DOMAINS_MAX);
    let mut best: Option<(i64, Remedy)> = None;
    for domain in distinct {
        let most = best.as_ref().map_or(i64::from(domain.busy), |(count, _)| (count - 1).min(domain.busy.into()));
        best = case.smallest(most, |count| with(&[(domain, count)])).or(best);
    }
    if let Some((_, remedy)) = best {
        return Some(remedy);
    }
    let all: Vec<(&NodeDomain, i64)> =
        usable.iter().take(DOMAINS_MAX).map(|domain| (*domain, i64::from(domain.busy))).collect();
    let (number, mut remedy) = case.smallest(all.len() as i64, |number| with(&all[..number as usize]))?;
    let mut chosen = all[..number as usize].to_vec();
    for at in (0..chosen.len()).rev() {
        let mut fewer = chosen.clone();
        fewer.remove(at);
        if let Some(smaller) = case.remedy(&with(&fewer)) {
            (chosen, remedy) = (fewer, smaller);
        }
    }
    for at in 0..chosen.len() {
        let counted = |count: i64| {
            let mut counted = chosen.clone();
            counted[at].1 = count;
            with(&counted)
        };
        if let Some((count, smaller)) = case.smallest(chosen[at].1, counted) {
            chosen[at].1 = count;
            remedy = smaller;
        }
    }
    Some(remedy)
}

/// Returns the domains of the level at which the pods of a Workload must be together, as far as nodes are placed by
/// topology. If that is a node, all nodes are one domain.
pub(super) fn requested_domains(case: &PendingCase) -> Vec<NodeDomain> {
    let Some(workload) = case.state.workload(case.key) else { return Vec::new() };
    let level = requested_level(workload);
    let lowest = case.state.objects.topologies.iter().filter_map(|topology| topology.levels.last());
    let lowest: BTreeSet<&String> = lowest.collect();
    let level = level.filter(|level| !lowest.contains(level)).unwrap_or_default();
    let used = used_domains(case);
    let is_used = |node: &TasNode| {
        lowest.iter().filter_map(|key| node.labels.get(*key)).any(|value| used.contains(value.as_str()))
    };
    let mut domains: BTreeMap<&str, (Option<&TasNode>, Vec<&TasNode>)> = BTreeMap::new();
    let amounts = |node: &TasNode| node.allocatable.values().copied().collect::<Vec<i64>>();
    for node in case.state.nodes.iter() {
        let value = if level.is_empty() { Some("") } else { node.labels.get(&level).map(String::as_str) };
        let Some(value) = value else { continue };
        let (like, nodes) = domains.entry(value).or_default();
        nodes.push(node);
        let is_larger = like.is_none_or(|known| amounts(known) < amounts(node));
        if node.is_ready && !node.is_unschedulable && is_larger {
            *like = Some(node);
        }
    }
    let domain = |(value, (like, nodes)): (&str, (Option<&TasNode>, Vec<&TasNode>))| {
        let like = like?;
        let is_free = |node: &&&TasNode| {
            node.is_ready
                && !node.is_unschedulable
                && !is_used(node)
                && node.taints == like.taints
                && amounts(node) == amounts(like)
        };
        let free = nodes.iter().filter(is_free).count() as u32;
        let (level, value) = (level.clone(), value.to_owned());
        Some(NodeDomain { level, value, like: like.clone(), free, busy: nodes.len() as u32 - free })
    };
    domains.into_iter().filter_map(domain).collect()
}

/// Returns the level at which the pods must be together, of the first pod set with a request.
fn requested_level(workload: &Workload) -> Option<String> {
    let mut requests = workload.pod_sets.iter().filter_map(|set| set.topology.as_ref());
    requests.find_map(|request| match &request.level {
        _ if !request.slices.is_empty() => request.slices.first().map(|slice| slice.topology.clone()),
        Some(LevelRequest::Required(level) | LevelRequest::Preferred(level)) => Some(level.clone()),
        _ => None,
    })
}

/// Returns the lowest domains that Workloads use.
fn used_domains<'a>(case: &'a PendingCase) -> BTreeSet<&'a str> {
    let holding = case.state.workloads.iter().flatten().filter(|w| w.has_active_reservation());
    let pod_sets = holding.flat_map(|w| &w.status.admission).flat_map(|admission| &admission.pod_sets);
    let domains = pod_sets.filter_map(|set| set.topology.as_ref()).flat_map(|placement| &placement.domains);
    domains.filter_map(|domain| domain.values.last()).map(String::as_str).collect()
}
