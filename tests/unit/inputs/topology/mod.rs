//! Tests of `sim_inputs::topology`.

mod import_files;
mod node_names;
mod slices;
