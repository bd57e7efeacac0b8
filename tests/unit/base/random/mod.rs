//! Tests of `sim_base::random`.

mod gamma;
mod key;
