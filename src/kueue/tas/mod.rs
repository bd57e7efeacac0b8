//! Topology-aware scheduling (TAS): which topology domains the pods of a workload get.
//!
//! Source: `pkg/cache/scheduler/tas_*.go` and `pkg/util/tas` of Kueue at ff69552, with the default feature gates. Off
//! by default and not modelled: `TASBalancedPlacement`, `TASRespectNodeAffinityPreferred`,
//! `ElasticJobsViaWorkloadSlicesWithTAS` and `SchedulerLibraryIntegration`.
//!
//! # Calls
//!
//! 1. When a node, a ResourceFlavor or a Topology changes: [`TopologySnapshot::new`] builds the trees of all flavors
//!    with a topology. Then add the pods outside TAS with [`TopologySnapshot::add_other_pod`] (pods with a node that
//!    neither succeeded nor failed and that have no TAS annotation), and every workload with a topology assignment with
//!    [`TopologySnapshot::usage`] and [`TopologySnapshot::add`]. The snapshot may live as long as the nodes do not
//!    change: `add` and `remove` are exact inverses. A usage belongs to the snapshot that made it.
//! 2. Flavor assignment of a workload: build one [`PodSetRequest`] per pod set that requests TAS
//!    ([`PodSetRequest::is_tas_requested`]), skip flavors for which [`TopologySnapshot::has_level`] is false, and call
//!    [`TopologySnapshot::find`] with [`PlacementMode::Normal`]. If it fails, the mode becomes Preempt and `find` with
//!    [`PlacementMode::Empty`] decides whether preemption could help.
//! 3. Simulation of a preemption: [`TopologySnapshot::remove_in_flavor`] of each victim, `find` again, and
//!    [`TopologySnapshot::add_in_flavor`] to undo. The cost is proportional to the number of domains of the victim.
//! 4. Admission within a cycle: [`TopologySnapshot::fits`] of the new usage, then `add_in_flavor`; like Kueue, a cycle
//!    sees admissions of the same cycle only in the flavor itself. At the end of the cycle undo these and `add` the
//!    usages of the workloads that were really admitted, which also counts them in flavors that share their nodes.
//! 5. Replacement of a failed node (second pass): `find` with [`PlacementMode::Replace`] for the pod sets whose
//!    assignment contains the node ([`TopologyAssignment::contains_node`]), with [`PodSetRequest::existing`] set. If it
//!    fails, Kueue evicts the workload (`TASFailedNodeReplacementFailFast`).
//! 6. [`node_failure::respond`] decides when a node becomes unhealthy for a workload, and [`ungating::released_pods`]
//!    which pods get which domain once the workload is admitted.
//! 7. [`encoding::compress`] returns the form in which `status.admission` stores an assignment.

mod amounts;
pub mod assignment;
mod counts;
mod distribution;
pub mod encoding;
mod exclusions;
mod find;
mod flavor;
mod labels;
mod messages;
pub mod node_failure;
mod order;
mod replacement;
pub mod request;
mod search;
mod selection;
pub mod snapshot;
mod tree;
pub mod ungating;

pub use assignment::{DomainAssignment, TopologyAssignment};
pub use find::{PlacementFailure, PlacementMode, PlacementResult};
pub use request::{LevelRequest, NodeConstraints, PodSetRequest, SliceConstraint, TopologyRequest};
pub use snapshot::{TopologySnapshot, TopologyUsage};
pub use tree::{TasFlavor, TasNode};

#[cfg(test)]
#[path = "../../../tests/inside/kueue/tas/mod.rs"]
mod tests;
