//! Analysis of simulated runs: metrics, experiments with replications, sweeps, planning, the reduced model and `why`.
//!
//! Must never format a report or read the command line.

pub mod experiment;
pub mod fleet;
pub mod format;
pub mod metrics;
pub mod planning;
pub mod reduced;
pub mod sweep;
pub mod why;
