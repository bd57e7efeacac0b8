//! The reasons why no node fits, in kube-scheduler's words.

use std::collections::BTreeMap;

/// The reason why one node rejects a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnschedulableReasons {
    Selector,
    /// The pod names its nodes, and this is not one of them.
    NotNamed,
    /// The pod's terms name no common node; detected before any node is examined.
    AffinityConflict,
    Feature,
    Taint,
    /// The field `spec.unschedulable` is true.
    Cordoned,
    /// `free`: the pod would fit if the node were empty.
    Insufficient {
        resource: String,
        free: bool,
    },
    Affinity,
    AntiAffinity,
    /// The rule belongs to an existing pod, not to this one.
    ExistingAntiAffinity,
    /// Detected before any node is examined.
    UnboundClaims,
    /// The claim does not exist; detected before any node is examined.
    NoClaim(String),
    /// The claim is removed as soon as no pod uses it; detected before any node is examined.
    ClaimGoes(String),
    /// No component creates or allocates the claim; detected before any node is examined.
    NoResourceClaim(String),
    /// The pod with this name waits for a claim that is created from a template; detected before any node is examined.
    ResourceClaimNotCreated(String),
}

impl UnschedulableReasons {
    fn text(&self) -> String {
        let words = match self {
            UnschedulableReasons::Selector => "node(s) didn't match Pod's node affinity/selector",
            // `RunPreFilterPlugins` reduced the set of nodes (`schedule_one.go`).
            UnschedulableReasons::NotNamed => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            UnschedulableReasons::AffinityConflict => "pod affinity terms conflict",
            UnschedulableReasons::Feature => "node(s) didn't match Pod's required features",
            UnschedulableReasons::Taint => "node(s) had untolerated taint(s)",
            UnschedulableReasons::Cordoned => "node(s) were unschedulable",
            UnschedulableReasons::Insufficient { resource, .. } if resource == "pods" => "Too many pods",
            UnschedulableReasons::Insufficient { resource, .. } => {
                return format!("Insufficient {resource}");
            }
            UnschedulableReasons::Affinity => "node(s) didn't match pod affinity rules",
            UnschedulableReasons::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
            UnschedulableReasons::ExistingAntiAffinity => "node(s) didn't satisfy existing pods anti-affinity rules",
            UnschedulableReasons::UnboundClaims => "pod has unbound immediate PersistentVolumeClaims",
            UnschedulableReasons::NoClaim(name) => {
                return format!("persistentvolumeclaim {name:?} not found");
            }
            UnschedulableReasons::ClaimGoes(name) => {
                return format!("persistentvolumeclaim {name:?} is being deleted");
            }
            // `dynamic-resource-allocation/resourceclaim`: the name, and the lister's message.
            UnschedulableReasons::NoResourceClaim(name) => {
                return format!("resourceclaim.resource.k8s.io {name:?} not found");
            }
            UnschedulableReasons::ResourceClaimNotCreated(pod) => {
                return format!("pod {pod:?}: ResourceClaim not created yet");
            }
        };
        words.to_owned()
    }

    fn is_before_nodes(&self) -> bool {
        matches!(
            self,
            UnschedulableReasons::UnboundClaims
                | UnschedulableReasons::AffinityConflict
                | UnschedulableReasons::NoClaim(_)
                | UnschedulableReasons::ClaimGoes(_)
                | UnschedulableReasons::NoResourceClaim(_)
                | UnschedulableReasons::ResourceClaimNotCreated(_)
        )
    }

    /// Whether evicting a pod from this node could make the pod schedulable (`Unschedulable`, not
    /// `UnschedulableAndUnresolvable`).
    fn is_resolvable(&self) -> bool {
        match self {
            UnschedulableReasons::Insufficient { free, .. } => *free,
            UnschedulableReasons::AntiAffinity | UnschedulableReasons::ExistingAntiAffinity => true,
            _ => false,
        }
    }
}

/// `12 Insufficient cpu, 4 node(s) didn't match …`: counts, sorted by text.
fn counts_text(reasons: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut parts: Vec<String> = counts.iter().map(|(r, n)| format!("{n} {r}")).collect();
    parts.sort();
    parts.join(", ")
}

/// `0/16 nodes are available: 12 Insufficient cpu, 4 node(s) didn't match …`.
pub fn explain(reasons: &[UnschedulableReasons]) -> String {
    let nodes = reasons.len();
    match reasons.iter().find(|r| r.is_before_nodes()) {
        Some(before) => format!("0/{nodes} nodes are available: {}.", before.text()),
        None => {
            let parts = counts_text(reasons.iter().map(UnschedulableReasons::text));
            format!("0/{nodes} nodes are available: {parts}.")
        }
    }
}

/// Message of the Event FailedScheduling (1.36): `explain`, followed by the result of preemption. No victims are
/// found, because pods of lower priority are not modelled.
pub fn failed_scheduling(reasons: &[UnschedulableReasons]) -> String {
    let why = explain(reasons);
    let fails = |r: &UnschedulableReasons| {
        let refuses = matches!(r, UnschedulableReasons::ClaimGoes(_) | UnschedulableReasons::AffinityConflict);
        r.is_before_nodes() && !refuses
    };
    if reasons.iter().any(fails) {
        return format!("{why} not found");
    }
    let preemption = counts_text(reasons.iter().map(|r| {
        let words = if r.is_resolvable() {
            "No preemption victims found for incoming pod"
        } else {
            "Preemption is not helpful for scheduling"
        };
        words.to_owned()
    }));
    let nodes = reasons.len();
    format!("{why} no new claims to deallocate, preemption: 0/{nodes} nodes are available: {preemption}.")
}
