//! Tests of `sim_inputs`.

mod crate_root;
mod scenario;
mod schema;
mod server;
mod text;
