//! The claims of a pod in a scheduling cycle: the volumes of bound claims restrict the nodes, and other claims need a
//! volume that the node can use or a provisioner (`FindPodVolumes`).

use super::{ClaimBinding, ClaimKey, ClaimView, StorageObjects, VolumeSource, VolumeView};
use crate::{node::NodeView, pod::PodView};
use std::collections::BTreeSet;

const NODE_CONFLICT: &str = "node(s) didn't match PersistentVolume's node affinity";
pub const BIND_CONFLICT: &str = "node(s) didn't find available persistent volumes to bind";
const NO_VOLUME: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

#[derive(Clone, Debug, Default)]
pub struct PodVolumes<'a> {
    /// Volumes of the bound claims; `None` does not exist.
    bound: Vec<Option<&'a VolumeView>>,
    /// Claims that the scheduler binds, by size.
    delayed: Vec<(ClaimKey, &'a ClaimView)>,
}

impl<'a> PodVolumes<'a> {
    /// Returns the claims of a pod without a problem.
    pub fn new(storage: &'a StorageObjects, pod: &PodView) -> PodVolumes<'a> {
        if pod.claims.is_empty() || storage.is_assumed {
            return PodVolumes::default();
        }
        let (bound, mut delayed): (Vec<_>, Vec<_>) =
            storage.claims_of(pod).into_iter().partition(|(_, claim)| claim.is_bound);
        delayed.sort_by_key(|(_, claim)| claim.requested.bytes);
        PodVolumes { bound: bound.iter().map(|(_, claim)| storage.volumes.get(&claim.volume)).collect(), delayed }
    }

    /// Returns the volumes of the bound claims that exist.
    pub fn bound_volumes(&self) -> impl Iterator<Item = &'a VolumeView> + '_ {
        self.bound.iter().copied().flatten()
    }

    /// Returns the bindings of the claims on a node, or the reasons against the node. Upstream stops at the first
    /// volume that is missing or excludes the node.
    pub fn find(&self, storage: &StorageObjects, node: &NodeView) -> Result<Vec<ClaimBinding>, Vec<&'static str>> {
        let mut reasons = Vec::new();
        let mut obstacles = self.bound.iter().filter_map(|volume| match volume {
            None => Some(NO_VOLUME),
            Some(volume) => (!volume.is_usable_on(node)).then_some(NODE_CONFLICT),
        });
        reasons.extend(obstacles.next());
        let bindings = self.bind_delayed(storage, node);
        reasons.extend(bindings.is_none().then_some(BIND_CONFLICT));
        bindings.filter(|_| reasons.is_empty()).ok_or(reasons)
    }

    fn bind_delayed(&self, storage: &StorageObjects, node: &NodeView) -> Option<Vec<ClaimBinding>> {
        let is_elsewhere = |claim: &ClaimView| !claim.selected_node.is_empty() && claim.selected_node != node.name;
        if self.delayed.iter().any(|(_, claim)| is_elsewhere(claim)) {
            return None;
        }
        let mut taken = BTreeSet::new();
        let mut bindings = Vec::new();
        for (key, claim) in &self.delayed {
            let existing = claim.selected_node.is_empty();
            let found = existing.then(|| storage.find_volume((key, claim), Some(node), &taken)).flatten();
            let source = match found {
                Some(name) => {
                    taken.insert(name);
                    VolumeSource::Existing(name.to_owned())
                }
                None => {
                    let class = storage.classes.get(&claim.requested.class).filter(|class| class.provisions())?;
                    VolumeSource::Provisioned(class.nodes_of_volume(node)?)
                }
            };
            bindings.push(ClaimBinding { claim: key.clone(), source });
        }
        Some(bindings)
    }
}
