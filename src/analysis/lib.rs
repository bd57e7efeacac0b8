//! Analysis of simulated runs: metrics, the capacity of a cluster, the admission by Kueue, experiments with
//! replications, sweeps, planning and `why`.
//!
//! Must never format a report or read the command line.

pub mod admission;
pub mod capacity;
#[cfg(test)]
#[path = "../../tests/inside/cases.rs"]
mod cases;
pub mod experiment;
pub mod format;
pub mod kueue_load;
pub mod metrics;
pub mod planning;
pub mod sweep;
pub mod why;
