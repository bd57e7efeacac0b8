//! Tests of `sim_analysis::planning`.

mod breakeven;
mod budget;
mod closed_form;
mod interval;
mod range;
mod target;
