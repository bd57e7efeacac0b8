//! Field tables of all object types that the program reads.

pub mod common;
pub mod control_plane;
pub mod distribution;
pub mod fault_processes;
pub mod faults;
pub mod fleet;
pub mod job;
pub mod jobset;
pub mod kueue;
mod metadata;
pub mod objects;
pub mod pod;
pub mod preset;
pub mod rate;
pub mod scenario;
pub mod timing;
pub mod together;
pub mod topology;
pub mod trainer;
pub mod training;

pub use control_plane::{JOBSET, KUBERNETES};
pub use fault_processes::DOES;
pub use faults::ACTIONS;
pub use timing::OF_REAL_KUBELETS;

use super::field_type::ObjectSchema;

/// Returns the top-level object of a kind.
pub fn root(kind: &str) -> Option<&'static ObjectSchema> {
    match kind {
        "Scenario" => Some(&scenario::SCENARIO),
        "Fleet" => Some(&fleet::FLEET),
        "Topology" => Some(&topology::TOPOLOGY),
        "Timing" => Some(&timing::TIMING),
        "Preset" => Some(&preset::PRESET),
        "JobSet" => Some(&jobset::JOBSET),
        _ => None,
    }
}

/// Returns the fields of `controlPlane`.
#[cfg(test)]
pub fn control_plane_fields() -> &'static [super::field_type::FieldSchema] {
    control_plane::CONTROL_PLANE.fields
}
