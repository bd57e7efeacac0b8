//! Assignment of flavors to the pod sets of a Workload (`pkg/scheduler/flavorassigner`).

pub mod affinity;
pub mod assigner;
pub mod assignment;
pub mod attempts;
pub mod mode;
pub mod topology;

pub use assigner::FlavorAssigner;
pub use assignment::{Assignment, FlavorChoice, PodSetAssignment};
pub use mode::{AssignmentMode, PreemptionPossibility};
