//! LocalQueue and WorkloadPriorityClass.

use super::cluster_queue::{FairWeight, StopPolicy};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalQueue {
    pub namespace: String,
    pub name: String,
    pub cluster_queue: String,
    pub stop_policy: StopPolicy,
    pub fair_weight: FairWeight,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadPriorityClass {
    pub name: String,
    pub value: i32,
}
