//! Tests of `sim_report::console`.

mod waterfall;
