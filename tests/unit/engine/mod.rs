//! Tests of `sim_engine`.

mod event;
mod record;
mod store;
