//! Tests of `sim_analysis::metrics`.

mod counted;
mod node_states;
mod nodes;
mod occupancy;
mod queued;
mod restarts;
mod timeline;
