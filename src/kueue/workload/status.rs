//! Status of a Workload.

use super::conditions::{Condition, ConditionType};
use super::jobset::whole_seconds;
use crate::amount::Amount;
use crate::requests::Name;
use crate::tas::TopologyAssignment;
use sim_base::SimTime;
use std::collections::BTreeMap;

/// Longest message of a condition, in characters.
const MESSAGE_MAX: usize = 32 * 1024;

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

impl WorkloadStatus {
    /// Sets a condition, with its time in whole seconds as in the API. Returns whether anything but the time changed.
    /// The time is kept if the status is the same.
    pub fn set(&mut self, kind: ConditionType, status: bool, reason: &str, message: &str, now: SimTime) -> bool {
        let now = whole_seconds(now);
        let message: String = message.chars().take(MESSAGE_MAX).collect();
        match self.conditions.iter_mut().find(|c| c.kind == kind) {
            None => {
                self.conditions.push(Condition { kind, status, reason: reason.to_owned(), message, since: now });
                true
            }
            Some(old) => {
                let changed = old.status != status || old.reason != reason || old.message != message;
                if old.status != status {
                    old.since = now;
                }
                old.status = status;
                reason.clone_into(&mut old.reason);
                old.message = message;
                changed
            }
        }
    }

    pub fn remove(&mut self, kind: ConditionType) {
        self.conditions.retain(|c| c.kind != kind);
    }
}
