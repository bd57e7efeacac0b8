//! Claims that keep a pod from all nodes.

use std::fmt;

/// A claim that keeps a pod from all nodes. The caller finds ResourceClaims.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimProblem {
    /// A PersistentVolumeClaim that binds before its pod is scheduled has no volume.
    Unbound,
    Missing(String),
    /// The volume of the bound claim was removed (phase Lost).
    Lost {
        claim: String,
        volume: String,
    },
    /// The claim is bound to a volume that does not exist.
    VolumeMissing(String),
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
            ClaimProblem::Lost { claim, volume } => {
                write!(f, "persistentvolumeclaim {claim:?} bound to non-existent persistentvolume {volume:?}")
            }
            ClaimProblem::VolumeMissing(name) => write!(f, "persistentvolume {name:?} not found"),
            ClaimProblem::Deleted(name) => write!(f, "persistentvolumeclaim {name:?} is being deleted"),
            // `dynamic-resource-allocation/resourceclaim`: the name, and the lister's message.
            ClaimProblem::ResourceClaimMissing(name) => {
                write!(f, "resourceclaim.resource.k8s.io {name:?} not found")
            }
            ClaimProblem::ResourceClaimNotCreated(pod) => write!(f, "pod {pod:?}: ResourceClaim not created yet"),
        }
    }
}
