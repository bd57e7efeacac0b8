//! Tests of `sim_report::planning`.

mod number;
