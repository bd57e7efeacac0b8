//! Tests of `sim_policy`.

mod fabric;
mod fabric_graph;
mod failure;
mod job;
mod placement;
mod quality;
mod slices;
