//! Pod groups: their properties, attempts to schedule them, and preemption for them.

pub mod attempt;
pub mod preemption;

use serde_json::Value;
use sim_api::objects::value_access::{list, text};

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

impl PodGroup {
    /// Reads a PodGroup object, given the value of its PriorityClass.
    pub fn read(object: &Value, class_priority: i64) -> PodGroup {
        let spec = &object["spec"];
        let constraints = list(&spec["schedulingConstraints"], "topology");
        PodGroup {
            name: text(&object["metadata"], "name").to_owned(),
            min_count: spec["schedulingPolicy"]["gang"]["minCount"].as_u64().map(|count| count as usize),
            topology_key: constraints.first().map(|constraint| text(constraint, "key").to_owned()),
            priority: spec["priority"].as_i64().unwrap_or(class_priority),
            is_disrupted_as_a_whole: text(spec, "disruptionMode") == "PodGroup",
        }
    }
}
