//! Tests of `sim_report::assumptions`.

mod sensitivity;
