//! Restarts: their detection in the records, milestones, critical paths, and division into phases.

pub mod critical;
pub mod fold;
pub mod gate;
pub(crate) mod milestones;
pub mod path;
pub mod phases;
pub mod restart;
pub mod spans;
pub mod steps;
pub(crate) mod tickets;
pub mod trouble;
pub mod waits;
pub(crate) mod walk;
pub mod witness;
