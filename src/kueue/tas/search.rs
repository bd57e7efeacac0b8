//! The state of one search for an assignment.

use super::amounts::{PodAmounts, ResourceNames};
use super::exclusions::ExclusionStats;
use super::flavor::FlavorSnapshot;
use super::request::{LevelRequest, PodSetRequest, SliceConstraint, TopologyRequest};

/// What fits into a domain, and in the second phase what it gets.
#[derive(Copy, Clone, Debug, Default)]
pub struct DomainState {
    pub pods: i64,
    pub slices: i64,
    /// Pods and slices that fit beside a leader.
    pub pods_with_leader: i64,
    pub slices_with_leader: i64,
    pub leaders: i64,
}

/// Parameters of the placement of one pod set, or of a leader and its workers.
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    pub count: i64,
    pub leaders: i64,
    pub slice_size: i64,
    pub level: usize,
    pub slice_level: usize,
    /// Size of the inner slices by level, 0 where there are none.
    pub inner_sizes: Vec<i64>,
    /// The constraints if there are several layers, else empty.
    pub layers: &'a [SliceConstraint],
    pub is_required: bool,
    pub is_unconstrained: bool,
}

/// Amounts of one pod of the workers and of the leader, with its place on the node.
#[derive(Clone, Debug)]
pub struct SearchPods {
    pub worker: PodAmounts,
    pub leader: Option<PodAmounts>,
}

pub struct Search<'a> {
    pub flavor: &'a FlavorSnapshot,
    pub parameters: Parameters<'a>,
    /// States of the domains, by number.
    pub states: Vec<DomainState>,
    pub stats: ExclusionStats<'a>,
}

impl SearchPods {
    pub fn new(worker: &PodSetRequest<'_>, leader: Option<&PodSetRequest<'_>>, names: &ResourceNames) -> SearchPods {
        let amounts = |request: &PodSetRequest<'_>| PodAmounts::new(request.requests, names).with_pod(names);
        SearchPods { worker: amounts(worker), leader: leader.map(amounts) }
    }
}

impl<'a> Parameters<'a> {
    /// Resolves the levels of a request; the error is the reason why there is no assignment.
    pub fn new(
        flavor: &FlavorSnapshot, request: &'a PodSetRequest<'_>, has_leader: bool,
    ) -> Result<Parameters<'a>, String> {
        let tree = &flavor.tree;
        let slices = request.slices();
        if slices.first().is_some_and(|outer| outer.size == 0) {
            return Err("slice topology requested, but slice size not provided".to_owned());
        }
        let key = request.level_key(&tree.levels).ok_or("topology level not specified")?;
        let level = tree.level(key).ok_or_else(|| format!("no requested topology level: {key}"))?;
        let slice_key = slices.first().map(|outer| &outer.topology).or(tree.levels.last());
        let slice_key = slice_key.map_or("", String::as_str);
        let slice_level = tree.level(slice_key);
        let slice_level = slice_level.ok_or_else(|| format!("no requested topology level for slices: {slice_key}"))?;
        if level > slice_level {
            return Err(format!("podset slice topology {slice_key} is above the podset topology {key}"));
        }
        Ok(Parameters {
            count: i64::from(request.count),
            leaders: i64::from(has_leader),
            slice_size: slices.first().map_or(1, |outer| i64::from(outer.size)),
            level,
            slice_level,
            inner_sizes: inner_sizes(flavor, slices, slice_level)?,
            layers: if slices.len() > 1 { slices } else { &[] },
            is_required: request.is_required(),
            is_unconstrained: request.is_unconstrained(),
        })
    }

    pub fn slices(&self) -> i64 {
        self.count / self.slice_size
    }

    pub fn inner_size(&self, level: usize) -> Option<i64> {
        self.inner_sizes.get(level).copied().filter(|size| *size > 0)
    }
}

/// Returns the size of inner slices by level: from below the next larger slice down to the level of the constraint.
fn inner_sizes(flavor: &FlavorSnapshot, slices: &[SliceConstraint], slice_level: usize) -> Result<Vec<i64>, String> {
    let levels = &flavor.tree.levels;
    let mut sizes = vec![0; levels.len()];
    let mut outer = (slice_level, slices.first().map_or(1, |outer| outer.size));
    for SliceConstraint { topology, size } in slices.iter().skip(1) {
        let level = flavor.tree.level(topology);
        let level =
            level.ok_or_else(|| format!("no requested topology level for additional slice layer: {topology}"))?;
        if level <= outer.0 {
            let above = &levels[outer.0];
            return Err(format!("additional slice layer topology {topology} must be at a lower level than {above}"));
        }
        if outer.1.checked_rem(*size).is_none_or(|rest| rest != 0) {
            let above = outer.1;
            return Err(format!("additional slice layer size {size} must evenly divide parent layer size {above}"));
        }
        sizes[outer.0 + 1..=level].fill(i64::from(*size));
        outer = (level, *size);
    }
    Ok(sizes)
}

/// Returns a copy of a request whose slices are replaced.
pub fn with_slices(topology: Option<&TopologyRequest>, slices: Vec<SliceConstraint>) -> TopologyRequest {
    let level: Option<LevelRequest> = topology.and_then(|topology| topology.level.clone());
    TopologyRequest { level, slices, group: None }
}
