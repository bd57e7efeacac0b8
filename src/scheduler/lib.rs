//! The decisions of kube-scheduler 1.36, plugin by plugin, as pure functions: a view of the cluster and a pod in, a
//! decision out.
//!
//! The crate has no clock, no queue and no randomness: the caller passes the index at which the search starts and
//! selects among nodes with equal scores, and finds the claim that keeps a pod from all nodes.

#[cfg(test)]
#[path = "../../tests/inside/cases.rs"]
mod cases;
pub mod cluster;
pub mod cycle;
pub mod decision;
pub mod explain;
pub mod groups;
pub mod host_port;
pub mod index;
pub mod labels;
pub mod node;
pub mod node_affinity;
pub mod plugin;
pub mod plugins;
pub mod pod;
pub mod pod_terms;
pub mod preemption;
pub mod profile;
pub mod queueing;
pub mod rejection;
pub mod requests;
pub mod resources;
pub mod storage;
mod taints;
pub mod topology;
mod validation;

pub use cluster::{Cluster, DisruptionBudget};
pub use cycle::SchedulingCycle;
pub use decision::{Decision, schedule};
pub use groups::PodGroup;
pub use groups::attempt::GroupAttempt;
pub use index::{NodeIndex, PodIndex};
pub use node::{NodeUsage, NodeView};
pub use plugin::{Plugin, PluginSet};
pub use pod::PodView;
pub use profile::{Profile, SchedulerConfiguration};
pub use queueing::ClusterEvent;

#[cfg(test)]
#[path = "../../tests/inside/scheduler/brute_force.rs"]
mod brute_force;
#[cfg(test)]
#[path = "../../tests/inside/scheduler/explain.rs"]
mod explain_tests;
#[cfg(test)]
#[path = "../../tests/inside/scheduler/groups.rs"]
mod group_tests;
#[cfg(test)]
#[path = "../../tests/inside/scheduler/profiles.rs"]
mod profile_tests;
#[cfg(test)]
#[path = "../../tests/inside/scheduler/random_clusters.rs"]
mod tests;
