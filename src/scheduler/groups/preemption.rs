//! Preemption for a pod group as a whole (workload-aware preemption of 1.36).

use crate::index::{NodeIndex, PodIndex};
use crate::preemption::{POLICY_NEVER, count_removal};
use crate::{cluster::Cluster, groups::attempt::GroupAttempt};
use std::collections::BTreeMap;

const CONSTRAINED: &str = "workload aware preemption is not supported for pod groups with scheduling constraints";
const NO_VICTIMS: &str = "No preemption victims found for incoming preemptor";

/// Pods that are preempted together.
#[derive(Clone, Debug, PartialEq)]
pub struct VictimUnit {
    pub pods: Vec<(NodeIndex, PodIndex)>,
    priority: i64,
    /// Whether the pods belong to a group, even if it is not disrupted as a whole.
    is_of_group: bool,
    started: i64,
}

/// Returns the units whose removal makes room for the group, or the message. `rank` orders pods of equal importance,
/// which kube-scheduler takes in the order of a Go map; a unit has the lowest rank of its pods.
pub fn preempt_for_group(
    attempt: &GroupAttempt<'_>, cluster: &Cluster, mut rank: impl FnMut(NodeIndex, PodIndex) -> u64,
) -> Result<Vec<VictimUnit>, String> {
    if attempt.group.topology_key.is_some() {
        return Err(CONSTRAINED.to_owned());
    }
    if attempt.pods.iter().any(|pod| !pod.may_preempt) {
        return Err(POLICY_NEVER.to_owned());
    }
    let mut units = victim_units(cluster);
    units.retain(|unit| unit.priority < attempt.group.priority);
    if units.is_empty() {
        return Err(NO_VICTIMS.to_owned());
    }
    let mut cluster = cluster.clone();
    units.iter().for_each(|unit| remove(&mut cluster, unit));
    let result = attempt.run(&cluster);
    if result.best().is_empty() {
        return Err(result.message());
    }
    let mut rank = |unit: &VictimUnit| unit.pods.iter().map(|(node, pod)| rank(*node, *pod)).min();
    units.sort_by_cached_key(|unit| (unit.importance(), rank(unit)));
    let mut left: Vec<i64> = cluster.budgets.iter().map(|b| b.disruptions_allowed).collect();
    // Unlike in preemption for a single pod, counting ends at the first violation.
    let (violating, others): (Vec<VictimUnit>, Vec<VictimUnit>) = units.into_iter().partition(|unit| {
        unit.pods.iter().any(|(_, pod)| count_removal(&cluster, *pod, &mut left).any(|violated| violated))
    });
    let mut victims = Vec::new();
    for unit in violating.into_iter().chain(others) {
        for (node, pod) in &unit.pods {
            cluster.place_pod(*node, *pod);
        }
        if attempt.run(&cluster).best().is_empty() {
            remove(&mut cluster, &unit);
            victims.push(unit);
        }
    }
    Ok(victims)
}

fn remove(cluster: &mut Cluster, unit: &VictimUnit) {
    unit.pods.iter().for_each(|(node, pod)| cluster.remove_pod(*node, *pod));
}

/// Returns all pods as units: single pods, and the pods of groups that are disrupted as a whole.
fn victim_units(cluster: &Cluster) -> Vec<VictimUnit> {
    let (mut units, mut of_group): (Vec<VictimUnit>, BTreeMap<usize, usize>) = (Vec::new(), BTreeMap::new());
    let rows = cluster.usage.iter().enumerate();
    for (node, pod) in rows.flat_map(|(node, usage)| usage.pods.iter().map(move |pod| (node, *pod))) {
        let view = &cluster.pods[pod];
        let group = view.group.filter(|row| cluster.groups[*row].is_disrupted_as_a_whole);
        let started = view.started.unwrap_or(i64::MAX);
        if let Some(unit) = group.and_then(|row| of_group.get(&row)) {
            let unit = &mut units[*unit];
            unit.pods.push((node, pod));
            unit.started = unit.started.min(started);
            continue;
        }
        let priority = group.map_or(view.priority, |row| cluster.groups[row].priority);
        of_group.extend(group.map(|row| (row, units.len())));
        units.push(VictimUnit { pods: vec![(node, pod)], priority, is_of_group: view.group.is_some(), started });
    }
    units
}

impl VictimUnit {
    /// Sorting key: priority, pods of groups before others, larger units, older units.
    fn importance(&self) -> (i64, bool, std::cmp::Reverse<usize>, i64) {
        (-self.priority, !self.is_of_group, std::cmp::Reverse(self.pods.len()), self.started)
    }
}
