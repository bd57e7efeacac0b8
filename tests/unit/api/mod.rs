//! Tests of `sim_api`.

mod admission;
mod objects;
mod spec;
