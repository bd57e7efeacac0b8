//! Tests of `sim_base`.

mod calendar;
mod condition;
mod fnv;
mod plain;
mod quantity;
mod stats;
mod time;
