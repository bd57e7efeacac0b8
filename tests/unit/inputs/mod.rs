//! Tests of `sim_inputs`.

mod crate_root;
mod dist;
mod embedded_jobsets;
mod kube;
mod kueue;
mod presets;
mod scenario;
mod schema;
mod server;
mod text;
mod topology;
