//! Tests of `sim_recordings::calibrate`.

mod bucket;
mod lognormal;
mod maximizer;
mod prometheus;
