//! The fleet model: one synchronous job on a fleet of equal nodes that fail, are repaired and return.
//!
//! There is no control plane and no topology: a restart is one recovery time instead of a chain of requests. The
//! model is for simulations of months with thousands of failures, for which the pod-level engine would simulate
//! every pod of every restart. As in the engine, time is in integer nanoseconds, random numbers are drawn by name,
//! and node time is accounted for exactly.

#![deny(missing_docs)]

mod fast_forward;
mod faults;
mod fleet_ledger;
mod host_selection;
mod job;
mod job_phases;
mod outcome;
mod repair;
mod run;
mod splitting;
#[cfg(test)]
#[path = "../../../tests/inside/surrogate/fleet.rs"]
mod tests;
mod world;

pub use fleet_ledger::{FleetLedger, TimeCategory};
pub use outcome::{FleetOutcome, FleetOutputs};
pub use run::FleetSimulation;
pub use splitting::{SplitBranches, SplitExcess, SplitState};
pub use world::FleetEnd;
