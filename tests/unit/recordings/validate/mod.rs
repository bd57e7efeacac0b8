//! Tests of `sim_recordings::validate`.

mod admission;
mod decisions;
mod gate;
mod milestones;
mod requests;
mod rows;
