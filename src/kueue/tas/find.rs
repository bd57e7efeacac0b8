//! Topology assignments of the pod sets of one workload.

use super::amounts::PodAmounts;
use super::assignment::{DomainAssignment, TopologyAssignment};
use super::exclusions::ExclusionStats;
use super::flavor::FlavorSnapshot;
use super::request::PodSetRequest;
use super::search::{Parameters, Search, SearchPods};
use super::snapshot::TopologySnapshot;
use std::borrow::Cow;

/// What a search assumes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PlacementMode<'a> {
    Normal,
    /// All workloads with a topology assignment are preempted.
    Empty,
    /// The pods on this node move, the others stay.
    Replace {
        unhealthy_node: &'a str,
    },
}

/// Assignments in the order of the requests. A flavor stops at its first pod set that does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementResult {
    pub assignments: Vec<Option<TopologyAssignment>>,
    /// The first failure.
    pub failure: Option<PlacementFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementFailure {
    pub pod_set: String,
    pub flavor: String,
    pub reason: String,
}

/// Capacities of the leaves by flavor, from which the assignments of earlier pod sets of the workload are subtracted.
pub struct Capacities<'a> {
    tables: Vec<Option<Cow<'a, [i64]>>>,
    /// Number of pod sets without an assignment.
    open: usize,
}

/// The pod sets of a group: the workers, and the leader if there is one.
struct PodSetGroup {
    workers: usize,
    leader: Option<usize>,
}

impl TopologySnapshot {
    /// Finds assignments for the pod sets of one workload, flavor by flavor in the order of their names.
    pub fn find(&self, requests: &[PodSetRequest<'_>], mode: PlacementMode<'_>) -> PlacementResult {
        let mut result = PlacementResult { assignments: vec![None; requests.len()], failure: None };
        let mut capacities = Capacities::new(self, requests, mode);
        for (at, flavor) in self.flavors.iter().enumerate() {
            for group in groups_in(requests, &flavor.name) {
                let found = match mode {
                    PlacementMode::Replace { unhealthy_node } => {
                        self.replace_in_group(at, &group, requests, unhealthy_node, &mut capacities)
                    }
                    _ => self.place_group(at, &group, requests, &mut capacities),
                };
                match found {
                    Ok(found) => found.into_iter().for_each(|(at, found)| result.assignments[at] = Some(found)),
                    Err((pod_set, reason)) => {
                        let pod_set = requests[pod_set].name.to_owned();
                        let failure = PlacementFailure { pod_set, flavor: flavor.name.clone(), reason };
                        result.failure.get_or_insert(failure);
                        break;
                    }
                }
            }
        }
        result
    }

    fn place_group(
        &self, flavor: usize, group: &PodSetGroup, requests: &[PodSetRequest<'_>], capacities: &mut Capacities<'_>,
    ) -> Result<Vec<(usize, TopologyAssignment)>, (usize, String)> {
        let workers = &requests[group.workers];
        let leader = group.leader.map(|leader| &requests[leader]);
        let first = group.leader.map_or(group.workers, |leader| leader.min(group.workers));
        let pods = SearchPods::new(workers, leader, &self.names);
        let snapshot = &self.flavors[flavor];
        let (placed, placed_leader) =
            place(snapshot, workers, &pods, capacities.table(flavor), None).map_err(|reason| (first, reason))?;
        let mut found = vec![(group.workers, placed)];
        found.extend(group.leader.map(|leader| (leader, placed_leader)));
        for (at, assignment) in &found {
            capacities.assume(self, flavor, &requests[*at], assignment);
        }
        Ok(found)
    }

    fn replace_in_group(
        &self, flavor: usize, group: &PodSetGroup, requests: &[PodSetRequest<'_>], unhealthy_node: &str,
        capacities: &mut Capacities<'_>,
    ) -> Result<Vec<(usize, TopologyAssignment)>, (usize, String)> {
        let mut members = vec![group.workers];
        members.extend(group.leader);
        members.sort_unstable();
        let mut found = Vec::new();
        for at in members {
            let Some(existing) = requests[at].existing else { continue };
            let table = capacities.table(flavor);
            let pods = SearchPods::new(&requests[at], None, &self.names);
            let replaced = self.flavors[flavor].replace_node(&requests[at], &pods, existing, unhealthy_node, table);
            let (merged, replacement) = replaced.map_err(|reason| (at, reason))?;
            capacities.assume(self, flavor, &requests[at], &replacement);
            found.push((at, merged));
        }
        Ok(found)
    }
}

impl<'a> Capacities<'a> {
    fn new(snapshot: &'a TopologySnapshot, requests: &[PodSetRequest<'_>], mode: PlacementMode<'_>) -> Capacities<'a> {
        let table = |flavor: &'a FlavorSnapshot| {
            let is_used = requests.iter().any(|request| request.flavor == flavor.name);
            let table = if mode == PlacementMode::Empty { &flavor.free } else { &flavor.remaining };
            is_used.then(|| Cow::from(table.as_slice()))
        };
        Capacities { tables: snapshot.flavors.iter().map(table).collect(), open: requests.len() }
    }

    fn table(&self, flavor: usize) -> &[i64] {
        self.tables[flavor].as_deref().unwrap_or_default()
    }

    /// Subtracts the usage of an assignment if there are other pod sets to place.
    fn assume(
        &mut self, snapshot: &TopologySnapshot, flavor: usize, request: &PodSetRequest<'_>,
        assignment: &TopologyAssignment,
    ) {
        self.open = self.open.saturating_sub(1);
        if self.open > 0 {
            let pod = PodAmounts::new(request.requests, &snapshot.names);
            snapshot.usage_of_amounts(flavor, assignment, pod).subtract_from(snapshot, &mut self.tables);
        }
    }
}

/// Returns the groups of the pod sets in a flavor, in the order of their first pod sets. In a group of two, the one
/// with fewer pods is the leader.
fn groups_in(requests: &[PodSetRequest<'_>], flavor: &str) -> Vec<PodSetGroup> {
    let group = |at: usize| requests[at].topology.and_then(|topology| topology.group.as_deref());
    let mut groups: Vec<PodSetGroup> = Vec::new();
    for at in (0..requests.len()).filter(|at| requests[*at].flavor == flavor) {
        let known = groups.iter_mut().find(|known| group(at).is_some() && group(known.workers) == group(at));
        match known {
            Some(known) if requests[at].count > requests[known.workers].count => {
                *known = PodSetGroup { workers: at, leader: Some(known.workers) };
            }
            Some(known) => known.leader = Some(at),
            None => groups.push(PodSetGroup { workers: at, leader: None }),
        }
    }
    groups
}

/// Places one pod set, or workers with their leader. Returns the assignments of the workers and of the leader.
pub(super) fn place(
    flavor: &FlavorSnapshot, workers: &PodSetRequest<'_>, pods: &SearchPods, capacity: &[i64],
    within: Option<(usize, usize)>,
) -> Result<(TopologyAssignment, TopologyAssignment), String> {
    let parameters = Parameters::new(flavor, workers, pods.leader.is_some())?;
    let mut search = Search { flavor, parameters, states: Vec::new(), stats: ExclusionStats::default() };
    search.fill_counts(pods, &workers.constraints, capacity, within);
    let (level, domains) = search.find_fitting_domains()?;
    let mut leaves = search.distribute(level, domains);
    leaves.sort_unstable();
    let of_workers = search.assignment(&leaves, |search, leaf| search.states[leaf].pods);
    let of_leader = search.assignment(&leaves, |search, leaf| search.states[leaf].leaders);
    Ok((of_workers, of_leader))
}

impl Search<'_> {
    fn assignment(&self, leaves: &[usize], count: impl Fn(&Self, usize) -> i64) -> TopologyAssignment {
        let domain = |leaf: &usize| {
            let count = u32::try_from(count(self, *leaf)).ok().filter(|count| *count > 0)?;
            Some(DomainAssignment { values: self.flavor.tree.assignment_values(*leaf), count })
        };
        TopologyAssignment {
            levels: self.flavor.tree.assignment_levels().to_vec(),
            domains: leaves.iter().filter_map(domain).collect(),
        }
    }
}
