//! Free nodes over the time of a run, from the recorded pods and nodes.
//!
//! Must never count a node twice: pods hold it from their binding until they finish or are removed, and a node that is
//! not ready is held as well.

use super::groups::NodeGroups;
use crate::metrics::nodes::NodeMetrics;
use crate::metrics::pods::PodMetrics;
use sim_api::spec::ScenarioSpec;
use sim_base::{NodeId, SimTime};
use sim_engine::record::NodeReady;
use sim_policy::topology::{ClusterBuilder, FreeNodes};
use std::collections::BTreeMap;

/// A kind of group, with the nodes of each group that count.
pub struct CountedGroups {
    /// `island`, the name of a network level, or a label.
    pub name: String,
    /// Nodes with accelerators, or all nodes of a cluster without accelerators; no group is empty.
    pub nodes: Vec<Vec<NodeId>>,
}

impl CountedGroups {
    /// Returns the kinds of groups of a scenario of which at least one group has several nodes: islands, network levels
    /// and domains of exclusive placement.
    pub fn of_scenario(scenario: &ScenarioSpec) -> Vec<CountedGroups> {
        let topology = &scenario.topology;
        let mut columns = vec!["pods".to_owned()];
        columns.extend(topology.pools.iter().map(|pool| pool.accelerator.clone()));
        let cluster = ClusterBuilder::build(topology, &columns);
        let has_accelerators = cluster.accelerators.iter().any(|accelerators| *accelerators > 0);
        let counts = |node: &NodeId| !has_accelerators || cluster.accelerators[node.ix()] > 0;
        let jobsets = scenario.jobsets.iter().map(|submitted| &submitted.jobset);
        let counted = NodeGroups::of_placement(topology, &cluster, jobsets).into_iter().map(|groups| {
            let nodes = groups.nodes.into_iter().map(|nodes| nodes.into_iter().filter(counts).collect::<Vec<NodeId>>());
            CountedGroups { name: groups.name, nodes: nodes.filter(|nodes| !nodes.is_empty()).collect() }
        });
        counted.filter(|groups| groups.nodes.iter().any(|nodes| nodes.len() > 1)).collect()
    }
}

/// The free nodes of one kind of group from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentationRow {
    /// Time of the change.
    pub at: SimTime,
    /// Name of the kind of group.
    pub groups: String,
    /// The free nodes.
    pub free: FreeNodes,
}

/// Returns the free nodes of each kind of group at the start and after each change, in the order of time.
pub fn fragmentation(groups: &[CountedGroups], pods: &[PodMetrics], nodes: &[NodeMetrics]) -> Vec<FragmentationRow> {
    let mut counters: Vec<GroupCounter> = groups.iter().map(|groups| GroupCounter::new(&groups.nodes)).collect();
    let mut shown: Vec<Option<FreeNodes>> = vec![None; groups.len()];
    let mut holds: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut rows = Vec::new();
    let changes = hold_changes(pods, nodes);
    let mut emit = |at: SimTime, counters: &[GroupCounter]| {
        for ((groups, counter), last) in groups.iter().zip(counters).zip(&mut shown) {
            let free = counter.free_nodes();
            if *last != Some(free) {
                *last = Some(free);
                rows.push(FragmentationRow { at, groups: groups.name.clone(), free });
            }
        }
    };
    if changes.first().is_none_or(|change| change.at > SimTime::ZERO) {
        emit(SimTime::ZERO, &counters);
    }
    for instant in changes.chunk_by(|a, b| a.at == b.at) {
        for change in instant {
            let held = holds.entry(change.node).or_default();
            let was_held = *held > 0;
            *held = if change.begins { *held + 1 } else { held.saturating_sub(1) };
            if was_held != (*held > 0) {
                let is_free = was_held;
                counters.iter_mut().for_each(|counter| counter.set(change.node, is_free));
            }
        }
        emit(instant[0].at, &counters);
    }
    rows
}

/// The begin or the end of a reason for which a node is not free.
struct HoldChange {
    at: SimTime,
    node: NodeId,
    begins: bool,
}

fn hold_changes(pods: &[PodMetrics], nodes: &[NodeMetrics]) -> Vec<HoldChange> {
    let mut changes = Vec::new();
    let mut add = |at: SimTime, node: NodeId, begins: bool| {
        if at != SimTime::NEVER {
            changes.push(HoldChange { at, node, begins });
        }
    };
    for pod in pods.iter().filter(|pod| pod.node.is_some()) {
        add(pod.bound, pod.node, true);
        add(pod.finished.min(pod.gone), pod.node, false);
    }
    for (node, row) in nodes.iter().enumerate() {
        let ready = row.transitions.iter().map(|(at, ready)| (*at, *ready == NodeReady::True));
        let mut states: Vec<(SimTime, bool)> = ready.chain([(row.gone, false)]).collect();
        states.sort_by_key(|(at, _)| *at);
        let mut was_ready = true;
        for (at, is_ready) in states {
            if is_ready != was_ready {
                add(at, NodeId(node as u32), !is_ready);
            }
            was_ready = is_ready;
        }
    }
    //  Within an instant, a node is held before it is released, so that it is not counted as free in between.
    changes.sort_by_key(|change| (change.at, !change.begins));
    changes
}

/// The free nodes of each group of one kind.
struct GroupCounter {
    /// By node id: the group, if the node counts.
    of: Vec<Option<usize>>,
    sizes: Vec<usize>,
    free: Vec<usize>,
    /// Number of groups by number of free nodes.
    by_free: BTreeMap<usize, usize>,
    total: FreeNodes,
}

impl GroupCounter {
    fn new(groups: &[Vec<NodeId>]) -> GroupCounter {
        let last = groups.iter().flatten().map(|node| node.ix()).max();
        let mut of = vec![None; last.map_or(0, |last| last + 1)];
        for (group, nodes) in groups.iter().enumerate() {
            nodes.iter().for_each(|node| of[node.ix()] = Some(group));
        }
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let mut by_free = BTreeMap::new();
        for size in &sizes {
            *by_free.entry(*size).or_default() += 1;
        }
        let total =
            FreeNodes { nodes: sizes.iter().sum(), whole_groups: sizes.len(), largest: 0, stranded: 0 };
        GroupCounter { of, free: sizes.clone(), sizes, by_free, total }
    }

    fn set(&mut self, node: NodeId, is_free: bool) {
        let Some(group) = self.of.get(node.ix()).copied().flatten() else { return };
        let (size, before) = (self.sizes[group], self.free[group]);
        let after = if is_free { before + 1 } else { before - 1 };
        self.free[group] = after;
        let stranded = |free: usize| if free == size { 0 } else { free };
        let whole = |free: usize| usize::from(free == size);
        self.total.nodes = self.total.nodes + after - before;
        self.total.stranded = self.total.stranded + stranded(after) - stranded(before);
        self.total.whole_groups = self.total.whole_groups + whole(after) - whole(before);
        *self.by_free.entry(after).or_default() += 1;
        let groups = self.by_free.entry(before).or_default();
        *groups -= 1;
        if *groups == 0 {
            self.by_free.remove(&before);
        }
    }

    fn free_nodes(&self) -> FreeNodes {
        FreeNodes { largest: self.by_free.last_key_value().map_or(0, |(free, _)| *free), ..self.total }
    }
}
