//! Tests of `sim_analysis::experiment`.

mod metric;
