//! Tests of `sim_recordings::observe`.

mod commands;
mod stamp;
mod text;
