//! Tests of `sim_recordings`.

mod calibrate;
mod observe;
mod validate;
