//! Claims that keep a pod from all nodes (PreFilter of VolumeBinding and DynamicResources). The caller finds them.

use crate::plugin::Plugin;
use crate::rejection::{Reason, Rejection};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimProblem {
    /// A PersistentVolumeClaim that binds before its pod is scheduled has no volume.
    Unbound,
    Missing(String),
    /// The claim is removed as soon as no pod uses it.
    Deleted(String),
    /// No component creates or allocates the ResourceClaim.
    ResourceClaimMissing(String),
    /// The pod with this name waits for a ResourceClaim that is created from a template.
    ResourceClaimNotCreated(String),
}

impl fmt::Display for ClaimProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimProblem::Unbound => f.write_str("pod has unbound immediate PersistentVolumeClaims"),
            ClaimProblem::Missing(name) => write!(f, "persistentvolumeclaim {name:?} not found"),
            ClaimProblem::Deleted(name) => write!(f, "persistentvolumeclaim {name:?} is being deleted"),
            // `dynamic-resource-allocation/resourceclaim`: the name, and the lister's message.
            ClaimProblem::ResourceClaimMissing(name) => {
                write!(f, "resourceclaim.resource.k8s.io {name:?} not found")
            }
            ClaimProblem::ResourceClaimNotCreated(pod) => write!(f, "pod {pod:?}: ResourceClaim not created yet"),
        }
    }
}

impl ClaimProblem {
    pub fn rejection(&self) -> Rejection {
        let plugin = match self {
            ClaimProblem::Unbound | ClaimProblem::Missing(_) | ClaimProblem::Deleted(_) => Plugin::VolumeBinding,
            ClaimProblem::ResourceClaimMissing(_) | ClaimProblem::ResourceClaimNotCreated(_) => {
                Plugin::DynamicResources
            }
        };
        Rejection { plugin, is_resolvable: false, reasons: vec![Reason::Claim(self.clone())] }
    }

    /// Returns whether preemption ends with the error `not found`, because it looks the claim up.
    pub fn fails_preemption(&self) -> bool {
        !matches!(self, ClaimProblem::Deleted(_))
    }
}
