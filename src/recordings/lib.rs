//! Recordings of real clusters: reads them, calibrates presets from them, replays them and compares the results.

pub mod calibrate;
#[cfg(test)]
#[path = "../../tests/inside/cases.rs"]
mod cases;
pub mod observe;
pub mod validate;
