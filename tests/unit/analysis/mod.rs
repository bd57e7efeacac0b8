//! Tests of `sim_analysis`.

mod experiment;
mod format;
mod metrics;
mod planning;
mod sweep;
