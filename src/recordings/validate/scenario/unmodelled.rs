//! Parts of a recording that the model does not support.

use std::fmt;

/// Reasons why a recording cannot be simulated: sorted by their text, identical for identical causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmodelledAction(pub Vec<UnmodelledPart>);

impl UnmodelledAction {
    /// Returns the reasons, sorted by their text and without duplicates.
    pub fn sorted(mut parts: Vec<UnmodelledPart>) -> UnmodelledAction {
        parts.sort_by_cached_key(ToString::to_string);
        parts.dedup_by_key(|part| part.to_string());
        UnmodelledAction(parts)
    }
}

impl fmt::Display for UnmodelledAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}

impl std::error::Error for UnmodelledAction {}

/// A part of a recording that the model does not support. The text is a short phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnmodelledPart {
    UnknownKey {
        /// The object that contains the key, followed by a space; empty for the recording itself.
        place: &'static str,
        key: String,
    },
    KubernetesVersion {
        text: String,
    },
    KueueVersion {
        text: String,
    },
    /// An object of Kueue that is not valid or not modelled.
    KueueObjects {
        reason: String,
    },
    FeatureGate {
        name: String,
    },
    /// A role that grants more than writing the status of pods.
    RoleRules {
        kind: String,
    },
    ObjectKind {
        kind: String,
    },
    /// The API server or the model rejects an object.
    RejectedObject {
        kind: String,
        name: String,
        reason: String,
    },
    PodRuleKey {
        key: String,
    },
    Action {
        action: String,
    },
    ActionKey {
        action: String,
        key: String,
    },
    ActionWithoutPod {
        action: String,
    },
    ActionWithoutNode {
        action: String,
    },
    UndefinedNodeAlias {
        action: String,
    },
    /// The body of an action is not the expected JSON.
    ActionBody {
        action: String,
        reason: String,
    },
    TaintEffect {
        effect: String,
    },
    ActionResource {
        action: String,
        resource: String,
    },
    CreatedKind {
        kind: String,
    },
    Propagation {
        policy: String,
    },
    PatchType {
        name: String,
    },
    PatchedSubresource {
        subresource: String,
    },
    NodePatch {
        path: String,
    },
    /// A field of a manifest or object whose effect is not simulated.
    Field {
        kind: String,
        path: String,
    },
}

impl fmt::Display for UnmodelledPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use UnmodelledPart as Part;
        match self {
            Part::UnknownKey { place, key } => write!(f, "{place}key {key}"),
            Part::KubernetesVersion { text } => write!(f, "Kubernetes version {text:?}"),
            Part::KueueVersion { text } => write!(f, "Kueue version {text:?}"),
            Part::KueueObjects { reason } => f.write_str(reason),
            Part::FeatureGate { name } => write!(f, "feature gate {name}"),
            Part::RoleRules { kind } => write!(f, "{kind} with rules beyond pods/status"),
            Part::ObjectKind { kind } => write!(f, "object of kind {kind}"),
            Part::RejectedObject { kind, name, reason } => {
                write!(f, "object {kind} {name}: {reason}")
            }
            Part::PodRuleKey { key } => write!(f, "pod rule {key}"),
            Part::Action { action } => write!(f, "action {action}"),
            Part::ActionKey { action, key } => write!(f, "action {action} with {key}"),
            Part::ActionWithoutPod { action } => write!(f, "action {action} without a pod"),
            Part::ActionWithoutNode { action } => write!(f, "action {action} without a node"),
            Part::UndefinedNodeAlias { action } => {
                write!(f, "action {action} with an undefined node alias")
            }
            Part::ActionBody { action, reason } => write!(f, "action {action}: body: {reason}"),
            Part::TaintEffect { effect } => write!(f, "action taintNode: effect {effect}"),
            Part::ActionResource { action, resource } => {
                write!(f, "action {action} of {resource}")
            }
            Part::CreatedKind { kind } => write!(f, "action create of kind {kind}"),
            Part::Propagation { policy } => write!(f, "propagation {policy}"),
            Part::PatchType { name } => write!(f, "patch type {name}"),
            Part::PatchedSubresource { subresource } => {
                write!(f, "patch of the subresource {subresource}")
            }
            Part::Field { kind, path } => write!(f, "{kind} field {path}"),
            Part::NodePatch { path } => write!(f, "patch of a Node's {path}"),
        }
    }
}

impl std::error::Error for UnmodelledPart {}
