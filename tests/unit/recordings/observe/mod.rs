//! Tests of `sim_recordings::observe`.

mod commands;
mod text;
mod timestamp;
