//! Tests of `sim_engine::record`.

mod digest;
mod outcome;
mod records;
