//! Tests of `sim_analysis::sweep`.

mod identity;
mod journal;
mod range;
mod results;
mod shard;
mod work_plan;
