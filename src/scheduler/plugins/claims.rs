//! The claims of a pod.

use sim_api::spec::NodeTerm;
use std::fmt;

/// The PersistentVolumeClaims of a pod, and what they restrict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodClaims {
    pub names: Vec<String>,
    /// Names of those that only one pod at a time may use (access mode ReadWriteOncePod).
    pub of_one_pod: Vec<String>,
    /// Terms of the required node affinity of each volume that a claim is bound to and that has some.
    pub volume_nodes: Vec<Vec<NodeTerm>>,
}

/// A claim that keeps a pod from all nodes. The caller finds it.
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
    /// Returns whether preemption ends with the error `not found`, because it looks the claim up.
    pub fn fails_preemption(&self) -> bool {
        !matches!(self, ClaimProblem::Deleted(_))
    }
}
