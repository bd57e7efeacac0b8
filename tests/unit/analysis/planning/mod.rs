//! Tests of `sim_analysis::planning`.

mod breakeven;
mod budget;
mod closed;
mod interval;
mod range;
mod target;
