//! Status of a Workload.

use super::conditions::Condition;
use crate::amount::Amount;
use crate::requests::Name;
use crate::tas::TopologyAssignment;
use sim_base::SimTime;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadStatus {
    pub conditions: Vec<Condition>,
    pub admission: Option<Admission>,
    pub requeue: Option<RequeueState>,
    /// Pods that no longer need their quota, by pod set.
    pub reclaimable: BTreeMap<String, u32>,
    /// Nodes of the topology assignment that are lost.
    pub unhealthy_nodes: Vec<String>,
    pub checks: Vec<CheckState>,
    pub past_execution_s: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    pub cluster_queue: Name,
    pub pod_sets: Vec<PodSetAdmission>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetAdmission {
    pub name: String,
    pub count: u32,
    pub flavors: BTreeMap<Name, Name>,
    /// Requests of all pods, by resource with a flavor.
    pub usage: BTreeMap<Name, Amount>,
    pub topology: Option<TopologyAssignment>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RequeueState {
    /// Number of evictions for missing readiness.
    pub count: Option<u32>,
    /// Time before which the Workload is not considered.
    pub at: Option<SimTime>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    Pending,
    Ready,
    Retry,
    Rejected,
}

impl CheckStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            CheckStatus::Pending => "Pending",
            CheckStatus::Ready => "Ready",
            CheckStatus::Retry => "Retry",
            CheckStatus::Rejected => "Rejected",
        }
    }
}

/// State of one admission check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState {
    pub name: String,
    pub status: CheckStatus,
    pub message: String,
}

impl CheckState {
    /// Sets the check to Pending after an eviction.
    pub fn reset(&mut self) {
        if self.status != CheckStatus::Pending {
            self.message = format!("Reset to Pending after eviction. Previously: {}", self.status.as_str());
            self.status = CheckStatus::Pending;
        }
    }
}
