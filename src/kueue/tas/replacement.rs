//! Replacement of one failed node in an assignment.

use super::assignment::{DomainAssignment, TopologyAssignment};
use super::find::place;
use super::flavor::FlavorSnapshot;
use super::request::{PodSetRequest, SliceConstraint};
use super::search::{SearchPods, with_slices};
use std::collections::BTreeMap;

impl FlavorSnapshot {
    /// Finds domains for the pods on a failed node. Returns the complete assignment and the new part of it.
    pub fn replace_node(
        &self, request: &PodSetRequest<'_>, pods: &SearchPods, existing: &TopologyAssignment, node: &str,
        capacity: &[i64],
    ) -> Result<(TopologyAssignment, TopologyAssignment), String> {
        let (lost, kept): (Vec<_>, Vec<_>) = existing.domains.iter().cloned().partition(|d| d.is_on_node(node));
        let count = lost.last().map_or(0, |domain| domain.count);
        let kept = TopologyAssignment { levels: existing.levels.clone(), domains: kept };
        if let Some(stale) = self.stale_domain(&kept) {
            return Err(format!(
                "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains \
                 the stale domain {stale}"
            ));
        }
        let slices = request.slices();
        let within = self.replacement_domain(request, &kept, count);
        let breaks_slices = slices.first().is_some_and(|outer| is_broken(outer, count));
        let topology = (within.is_some() && breaks_slices).then(|| {
            let whole = slices.iter().rev().find(|layer| !is_broken(layer, count));
            with_slices(request.topology, whole.cloned().into_iter().collect())
        });
        let part = PodSetRequest { count, topology: topology.as_ref().or(request.topology), ..request.clone() };
        let (replacement, _) = place(self, &part, pods, capacity, within)?;
        if replacement.domains.is_empty() {
            return Err(format!("cannot find replacement assignment for unhealthy node: {node}"));
        }
        Ok((self.merge(&replacement, &kept), replacement))
    }

    /// Returns the level and the domain in which the replacement has to be: the one with the broken slice, or the one
    /// of the other pods if the level is required.
    fn replacement_domain(
        &self, request: &PodSetRequest<'_>, kept: &TopologyAssignment, count: u32,
    ) -> Option<(usize, usize)> {
        let level = self.tree.level(request.level_key(&self.tree.levels)?)?;
        let first = kept.domains.first()?;
        let slices = request.slices();
        if let Some(outer) = slices.first().filter(|outer| is_broken(outer, count)) {
            let innermost = slices.iter().rev().find(|layer| is_broken(layer, count)).unwrap_or(outer);
            return self.incomplete_slice_domain(kept, count, innermost);
        }
        let leaf = self.tree.leaf_of_id(&first.id()).filter(|_| request.is_required())?;
        Some((level, self.tree.ancestor(leaf, level)))
    }

    /// Returns the first domain whose slices are complete again with the lost pods.
    fn incomplete_slice_domain(
        &self, kept: &TopologyAssignment, count: u32, slice: &SliceConstraint,
    ) -> Option<(usize, usize)> {
        let level = self.tree.level(&slice.topology)?;
        let mut pods: BTreeMap<usize, u32> = BTreeMap::new();
        for (leaf, count) in self.leaves_of(kept) {
            *pods.entry(self.tree.ancestor(leaf, level)).or_default() += count;
        }
        let incomplete = pods.into_iter().find(|(_, pods)| (pods + count).is_multiple_of(slice.size));
        incomplete.map(|(domain, _)| (level, domain))
    }

    /// Merges two assignments in the order of the domains.
    pub fn merge(&self, a: &TopologyAssignment, b: &TopologyAssignment) -> TopologyAssignment {
        let mut domains: BTreeMap<Option<usize>, DomainAssignment> = BTreeMap::new();
        for domain in a.domains.iter().chain(&b.domains) {
            let merged = domains.entry(self.tree.leaf_of_id(&domain.id()));
            merged.and_modify(|merged| merged.count += domain.count).or_insert_with(|| domain.clone());
        }
        TopologyAssignment { levels: a.levels.clone(), domains: domains.into_values().collect() }
    }
}

fn is_broken(slice: &SliceConstraint, lost: u32) -> bool {
    slice.size > 0 && !lost.is_multiple_of(slice.size)
}
