//! Tests of `sim_policy::placement`.

mod exclusive;
