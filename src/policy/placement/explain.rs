//! Why nothing fitted, in kube-scheduler's wording.

use std::collections::BTreeMap;

/// One node's reason for refusing a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reasons {
    Selector,
    /// The pod names its nodes, and this is none of them.
    NotNamed,
    /// The pod names no node that all of its terms allow; found before any node is looked at.
    AffinityConflict,
    Feature,
    Taint,
    /// spec.unschedulable.
    Cordoned,
    /// `free`: the node could hold it if it were empty.
    Insufficient {
        resource: String,
        free: bool,
    },
    Affinity,
    AntiAffinity,
    /// Not the pod's own rule: one of a pod that is there.
    ExistingAntiAffinity,
    /// Found before any node is looked at.
    UnboundClaims,
    /// The claim does not exist; found before any node is looked at.
    NoClaim(String),
    /// The claim goes as soon as no pod uses it; found before any node is looked at.
    ClaimGoes(String),
    /// Nobody makes or allocates it; found before any node is looked at. The claim's name, or the pod that waits for
    /// one made from a template.
    NoResourceClaim(Result<String, String>),
}

impl Reasons {
    fn text(&self) -> String {
        let words = match self {
            Reasons::Selector => "node(s) didn't match Pod's node affinity/selector",
            // `RunPreFilterPlugins` narrowed the nodes down (`schedule_one.go`).
            Reasons::NotNamed => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            Reasons::AffinityConflict => "pod affinity terms conflict",
            Reasons::Feature => "node(s) didn't match Pod's required features",
            Reasons::Taint => "node(s) had untolerated taint(s)",
            Reasons::Cordoned => "node(s) were unschedulable",
            Reasons::Insufficient { resource, .. } if resource == "pods" => "Too many pods",
            Reasons::Insufficient { resource, .. } => return format!("Insufficient {resource}"),
            Reasons::Affinity => "node(s) didn't match pod affinity rules",
            Reasons::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
            Reasons::ExistingAntiAffinity => {
                "node(s) didn't satisfy existing pods anti-affinity rules"
            }
            Reasons::UnboundClaims => "pod has unbound immediate PersistentVolumeClaims",
            Reasons::NoClaim(name) => {
                return format!("persistentvolumeclaim {name:?} not found");
            }
            Reasons::ClaimGoes(name) => {
                return format!("persistentvolumeclaim {name:?} is being deleted");
            }
            // `dynamic-resource-allocation/resourceclaim`: Name, and the lister's words.
            Reasons::NoResourceClaim(Ok(name)) => {
                return format!("resourceclaim.resource.k8s.io {name:?} not found");
            }
            Reasons::NoResourceClaim(Err(pod)) => {
                return format!("pod {pod:?}: ResourceClaim not created yet");
            }
        };
        words.to_owned()
    }

    fn is_before_nodes(&self) -> bool {
        matches!(
            self,
            Reasons::UnboundClaims
                | Reasons::AffinityConflict
                | Reasons::NoClaim(_)
                | Reasons::ClaimGoes(_)
                | Reasons::NoResourceClaim(_)
        )
    }

    /// Whether a pod less on the node could help (`Unschedulable`, not `UnschedulableAndUnresolvable`).
    fn is_resolvable(&self) -> bool {
        match self {
            Reasons::Insufficient { free, .. } => *free,
            Reasons::AntiAffinity | Reasons::ExistingAntiAffinity => true,
            _ => false,
        }
    }
}

/// `12 Insufficient cpu, 4 node(s) didn't match …`: counts, sorted by text.
fn counted(reasons: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut parts: Vec<String> = counts.iter().map(|(r, n)| format!("{n} {r}")).collect();
    parts.sort();
    parts.join(", ")
}

/// `0/16 nodes are available: 12 Insufficient cpu, 4 node(s) didn't match …`.
pub fn explain(reasons: &[Reasons]) -> String {
    let nodes = reasons.len();
    match reasons.iter().find(|r| r.is_before_nodes()) {
        Some(before) => format!("0/{nodes} nodes are available: {}.", before.text()),
        None => {
            let parts = counted(reasons.iter().map(Reasons::text));
            format!("0/{nodes} nodes are available: {parts}.")
        }
    }
}

/// The message of the Event FailedScheduling (1.36): the same, and what came of looking for somebody to preempt. Nobody
/// is found: pods of lower priority are not modelled.
pub fn failed_scheduling(reasons: &[Reasons]) -> String {
    let why = explain(reasons);
    let fails = |r: &Reasons| {
        let refuses = matches!(r, Reasons::ClaimGoes(_) | Reasons::AffinityConflict);
        r.is_before_nodes() && !refuses
    };
    if reasons.iter().any(fails) {
        return format!("{why} not found");
    }
    let preemption = counted(reasons.iter().map(|r| {
        let words = match r.is_resolvable() {
            true => "No preemption victims found for incoming pod",
            false => "Preemption is not helpful for scheduling",
        };
        words.to_owned()
    }));
    let nodes = reasons.len();
    format!(
        "{why} no new claims to deallocate, preemption: 0/{nodes} nodes are available: {preemption}."
    )
}
