//! Predicates for exclusive placement: whether it applies to a pod, and whether the pod is the leader of its Job.

use super::value_access::{has_value, pairs};
use crate::spec::keys::{EXCLUSIVE_TOPOLOGY, JOB_COMPLETION_INDEX, JOBSET_NAME, NODE_SELECTOR_STRATEGY};
use serde_json::Value;

/// Returns whether the pod is the leader of its Job (EXC-7).
pub fn is_leader(pod: &Value) -> bool {
    pod["metadata"]["annotations"][JOB_COMPLETION_INDEX] == "0"
}

/// Returns whether strategy A (pod webhook) of exclusive placement applies to the pod.
pub fn is_exclusive(pod: &Value) -> bool {
    let annotations = &pod["metadata"]["annotations"];
    pairs(annotations).any(|(key, _)| key == EXCLUSIVE_TOPOLOGY)
        && !has_value(annotations, NODE_SELECTOR_STRATEGY)
        && has_value(annotations, JOBSET_NAME)
}
