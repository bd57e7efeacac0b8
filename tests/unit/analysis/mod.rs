//! Tests of `sim_analysis`.

mod capacity;
mod experiment;
mod format;
mod metrics;
mod planning;
mod sweep;
