//! Models without a control plane: Fleets, which have no pods, and the reduced model, which takes the durations of
//! restarts from runs of the engine.
//!
//! Their loops over faults are as hot as the engine, so this crate is optimized like it.

pub mod fleet;
pub mod reduced;
