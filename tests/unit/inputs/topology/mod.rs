//! Tests of `sim_inputs::topology`.

mod node_names;
mod slices;
