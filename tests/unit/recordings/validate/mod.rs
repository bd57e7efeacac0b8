//! Tests of `sim_recordings::validate`.

mod gate;
mod milestones;
mod requests;
mod rows;
