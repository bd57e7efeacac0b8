//! Restarts: their detection in the records, milestones, critical paths, and division into phases.

pub mod blockers;
pub mod bottleneck;
mod capacity;
pub mod critical_spans;
pub mod fold;
pub(crate) mod milestones;
pub mod path;
pub(crate) mod path_walk;
pub mod phases;
pub mod restart;
pub mod root_cause;
pub mod spans;
pub mod steps;
pub(crate) mod tickets;
pub mod waits;
