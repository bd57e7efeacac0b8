//! LocalQueue and WorkloadPriorityClass.

use super::cluster_queue::{FairWeight, StopPolicy};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalQueue {
    pub namespace: String,
    pub name: String,
    pub cluster_queue: String,
    pub stop_policy: StopPolicy,
    pub fair_weight: FairWeight,
    /// Past usage in the status (`consumedResources` of admission fair sharing), in 10⁻⁹ of a unit.
    pub consumed: BTreeMap<String, i128>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadPriorityClass {
    pub name: String,
    pub value: i32,
}
