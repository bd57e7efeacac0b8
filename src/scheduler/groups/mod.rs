//! Pod groups: their properties, attempts to schedule them, and preemption for them.

pub mod attempt;
pub mod preemption;

/// A PodGroup of `scheduling.k8s.io`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodGroup {
    pub name: String,
    /// Smallest number of pods of a gang; `None` is the basic policy.
    pub min_count: Option<usize>,
    /// Label that is equal on all nodes of the group. It only has an effect with topology-aware scheduling.
    pub topology_key: Option<String>,
    pub priority: i64,
    /// Whether preemption removes all pods of the group or none (`disruptionMode: PodGroup`).
    pub is_disrupted_as_a_whole: bool,
}
