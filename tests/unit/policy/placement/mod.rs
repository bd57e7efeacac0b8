//! Tests of `sim_policy::placement`.

mod cycle_cost;
mod exclusive;
