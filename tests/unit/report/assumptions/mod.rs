//! Tests of `sim_report::assumptions`.

mod hanging;
