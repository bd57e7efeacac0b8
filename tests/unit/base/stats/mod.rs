//! Tests of `sim_base::stats`.

mod counts;
mod estimate;
mod lambert;
mod proportion;
mod quantile;
