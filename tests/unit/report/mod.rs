//! Tests of `sim_report`.

mod assumptions;
mod atomic_write;
mod console;
mod crate_root;
mod draw;
mod estimates;
mod files;
mod planning;
