//! Tests of `sim_analysis::metrics::restarts`.

mod path;
mod spans;
mod waits;
