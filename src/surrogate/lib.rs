//! Models without requests and kubelets: level `nodes`, which takes the delays of restarts from runs of the engine,
//! and Fleets, which have no pods.
//!
//! Their loops over faults are as hot as the engine, so this crate is optimized like it.

pub mod fleet;
pub mod nodes;
