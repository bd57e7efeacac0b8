//! Tests of `sim_lint`.

mod table;
