//! Tests of `sim_policy`.

mod fabric;
mod failure;
mod job;
mod placement;
