//! Tests of `sim_policy`.

mod fabric;
mod fabric_graph;
mod fabric_published;
mod failure;
mod job;
mod placement;
mod quality;
mod slices;
