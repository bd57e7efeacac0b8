//! The collapsed model: one synchronous job on a fleet of alike nodes that fail, are repaired and come back.
//!
//! No control plane, no topology: a restart is a recovery time, not a chain of requests. For questions over months and
//! thousands of failures, where the pod-level engine would play every pod of every restart. Time is integer
//! nanoseconds, numbers are drawn by name, and node-time closes exactly, as in the engine.

#![deny(missing_docs)]

mod books;
mod calm;
mod faults;
mod job;
mod job_phases;
mod lives;
mod outcome;
mod pool;
mod repair;
mod repair_stages;
mod run;
mod select;
mod splitting;
#[cfg(test)]
#[path = "../../../tests/inside/analysis/fleet.rs"]
mod tests;
mod world;

pub use books::{Books, Category};
pub use outcome::FleetOutcome;
pub use run::FleetSimulation;
pub use splitting::{Branches, Excess, State};
pub use world::FleetEnd;
