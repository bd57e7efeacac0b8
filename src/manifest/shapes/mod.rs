//! The tables: every object type the program reads, field by field.

mod job;
pub mod jobset;
pub mod objects;
mod pod;
pub mod scenario;
mod timing;
pub mod topology;

use super::shape::Object;

/// The top-level object of a kind.
pub fn root(kind: &str) -> Option<&'static Object> {
    match kind {
        "Scenario" => Some(&scenario::SCENARIO),
        "Topology" => Some(&topology::TOPOLOGY),
        "JobSet" => Some(&jobset::JOBSET),
        _ => None,
    }
}
