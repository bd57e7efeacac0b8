//! Tests of `sim_report::files`.

mod events;
mod json;
mod proto;
mod rundir;
