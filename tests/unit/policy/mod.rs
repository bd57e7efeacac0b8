//! Tests of `sim_policy`.

mod failure;
mod job;
mod placement;
