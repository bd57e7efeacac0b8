//! Recordings of real clusters: reading them, calibrating presets with them, replaying and comparing them.

pub mod calibrate;
pub mod observe;
pub mod validate;
