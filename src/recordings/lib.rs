//! Recordings of real clusters: reads them, calibrates presets from them, replays them and compares the results.

pub mod calibrate;
pub mod observe;
pub mod validate;
