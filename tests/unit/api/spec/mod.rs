//! Tests of `sim_api::spec`.

mod node_affinity;
mod request;
