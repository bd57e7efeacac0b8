//! Tests of `sim_recordings::calibrate`.

mod bucket;
mod climb;
mod lognormal;
mod prometheus;
