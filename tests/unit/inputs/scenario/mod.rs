//! Tests of `sim_inputs::scenario`.

mod node_patch;
mod objects;
mod pod_names;
