//! Which volume a claim is bound to: by the persistent volume controller, or by the scheduler on a node.

use super::{ClaimKey, ClaimView, StorageClassView, StorageObjects, VolumeView};
use crate::{labels::Labels, node::NodeView};
use sim_api::spec::{NodeOperator, NodeRequirement, NodeTerm};
use std::collections::BTreeSet;

/// A claim with the volume that it is bound to.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimBinding {
    pub claim: ClaimKey,
    pub source: VolumeSource,
}

#[derive(Clone, Debug, PartialEq)]
pub enum VolumeSource {
    /// The volume with this name.
    Existing(String),
    /// A new volume, which nodes use that match one of these terms; without terms, all nodes.
    Provisioned(Vec<NodeTerm>),
}

impl StorageObjects {
    /// Returns the next binding of the persistent volume controller and the provisioners, if any: claims that are bound
    /// before a pod uses them, and claims that name a volume or that a volume is reserved for.
    pub fn next_binding(&self) -> Option<ClaimBinding> {
        let unbound = self.claims.iter().filter(|(_, claim)| !claim.is_bound && !claim.is_deleted);
        let mut bindings = unbound.filter_map(|(key, claim)| {
            let source = self.immediate_source(key, claim)?;
            Some(ClaimBinding { claim: key.clone(), source })
        });
        bindings.next()
    }

    fn immediate_source(&self, key: &ClaimKey, claim: &ClaimView) -> Option<VolumeSource> {
        if !claim.volume.is_empty() {
            let volume = self.volumes.get(&claim.volume)?;
            let is_free = volume.claim.as_ref().map_or_else(|| satisfies(volume, claim), |owner| owner == key);
            return is_free.then(|| VolumeSource::Existing(claim.volume.clone()));
        }
        let class = self.classes.get(&claim.requested.class);
        let found = self.find_volume((key, claim), None, &BTreeSet::new());
        let provisions = |class: &&StorageClassView| !class.waits_for_consumer && class.provisions();
        found.map(|name| VolumeSource::Existing(name.to_owned())).or_else(|| {
            let first = class.filter(provisions)?.allowed_topologies.first();
            Some(VolumeSource::Provisioned(first.map(|term| first_values(term)).into_iter().collect()))
        })
    }

    /// Returns the volume for a claim: one that is reserved for it, or the smallest one that satisfies it
    /// (`FindMatchingVolume`). The controller, which knows no node, prefers volumes with fewer access modes, and leaves
    /// claims that wait for a consumer to the scheduler. Of equal volumes, the first by name is taken.
    pub(super) fn find_volume<'a>(
        &'a self, (key, claim): (&ClaimKey, &ClaimView), node: Option<&NodeView>, taken: &BTreeSet<&str>,
    ) -> Option<&'a str> {
        let fits = |(name, volume): &(&String, &VolumeView)| {
            !taken.contains(name.as_str())
                && volume.claim.as_ref().is_none_or(|owner| owner == key)
                && volume.offered.bytes >= claim.requested.bytes
                && volume.offered.is_block == claim.requested.is_block
                && !volume.is_deleted
        };
        let on_node = |volume: &VolumeView| node.is_none_or(|node| volume.is_usable_on(node));
        let mut reserved = self.volumes.iter().filter(fits).filter(|(_, volume)| volume.claim.is_some());
        if let Some((name, volume)) = reserved.next() {
            return on_node(volume).then_some(name.as_str());
        }
        if node.is_none() && self.waits_for_consumer(claim) {
            return None;
        }
        let free = self.volumes.iter().filter(fits).filter(|(_, volume)| {
            volume.is_available
                && claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels))
                && volume.offered.class == claim.requested.class
                && on_node(volume)
                && has_modes(volume, claim)
        });
        let modes = |volume: &VolumeView| if node.is_some() { 0 } else { volume.offered.access_modes.len() };
        free.min_by_key(|(_, volume)| (modes(volume), volume.offered.bytes)).map(|(name, _)| name.as_str())
    }

    /// Records a binding, so that no other claim gets the volume.
    pub fn assume(&mut self, binding: &ClaimBinding) {
        let Some(claim) = self.claims.get_mut(&binding.claim) else { return };
        claim.is_bound = true;
        let (name, nodes) = match &binding.source {
            VolumeSource::Existing(name) => (name.clone(), None),
            VolumeSource::Provisioned(nodes) => (format!("pvc-{}-{}", binding.claim.0, binding.claim.1), Some(nodes)),
        };
        claim.volume.clone_from(&name);
        let provisioned = nodes.map(|nodes| VolumeView {
            offered: claim.requested.clone(),
            nodes: nodes.clone(),
            ..VolumeView::default()
        });
        if let Some(volume) = provisioned {
            self.volumes.insert(name.clone(), volume);
        }
        if let Some(volume) = self.volumes.get_mut(&name) {
            volume.claim = Some(binding.claim.clone());
            volume.is_available = false;
        }
    }
}

impl StorageClassView {
    /// Returns the nodes that can use a volume provisioned for a node: those with equal values of the labels in the
    /// allowed topologies. `None` if the topologies exclude the node.
    pub(super) fn nodes_of_volume(&self, node: &NodeView) -> Option<Vec<NodeTerm>> {
        if self.allowed_topologies.is_empty() {
            return Some(Vec::new());
        }
        let matches = |term: &&Vec<NodeRequirement>| {
            let label = |r: &NodeRequirement| r.matches_label(node.labels.get(&r.key).map(String::as_str));
            term.iter().all(label)
        };
        let term = self.allowed_topologies.iter().find(matches)?;
        Some(vec![values_of(term, &node.labels)])
    }
}

impl VolumeView {
    pub fn is_usable_on(&self, node: &NodeView) -> bool {
        let matches = |term: &NodeTerm| term.matches(&node.name, |key| node.labels.get(key));
        self.nodes.is_empty() || self.nodes.iter().any(matches)
    }
}

fn has_modes(volume: &VolumeView, claim: &ClaimView) -> bool {
    claim.requested.access_modes.iter().all(|mode| volume.offered.access_modes.contains(mode))
}

/// Returns whether a volume that the claim names satisfies it (`checkVolumeSatisfyClaim`).
fn satisfies(volume: &VolumeView, claim: &ClaimView) -> bool {
    let (offered, requested) = (&volume.offered, &claim.requested);
    offered.bytes >= requested.bytes
        && offered.class == requested.class
        && offered.is_block == requested.is_block
        && has_modes(volume, claim)
}

fn values_of(term: &[NodeRequirement], labels: &Labels) -> NodeTerm {
    let of_node = |r: &NodeRequirement| Some(label_value(&r.key, labels.get(&r.key)?));
    NodeTerm { expressions: term.iter().filter_map(of_node).collect(), fields: Vec::new() }
}

fn first_values(term: &[NodeRequirement]) -> NodeTerm {
    let first = |r: &NodeRequirement| Some(label_value(&r.key, r.values.first()?));
    NodeTerm { expressions: term.iter().filter_map(first).collect(), fields: Vec::new() }
}

fn label_value(key: &str, value: &str) -> NodeRequirement {
    NodeRequirement { key: key.to_owned(), operator: Some(NodeOperator::In), values: vec![value.to_owned()] }
}
