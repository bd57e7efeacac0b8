//! Tests of `sim_recordings::validate`.

mod admission;
mod decisions;
mod milestones;
mod regression_limits;
mod requests;
mod rows;
