//! The objects that admission looks up for a pod.

use serde_json::Value;

/// What the API server knows besides the pod.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<'a> {
    /// PriorityClass objects; the two of the system are always there.
    pub priority_classes: &'a [Value],
    /// Names of RuntimeClasses.
    pub runtime_classes: &'a [String],
    /// Pods of the namespace, for the look-up of a leader.
    pub pods: &'a [Value],
    pub nodes: &'a [Value],
}
