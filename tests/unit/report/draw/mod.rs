//! Tests of `sim_report::draw`.

mod scene;
mod svg;
