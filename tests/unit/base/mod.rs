//! Tests of `sim_base`.

mod calendar;
mod condition;
mod fnv;
mod plain;
mod quantity;
mod random;
mod stats;
mod suggest;
mod time;
