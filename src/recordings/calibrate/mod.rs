//! Fits what a preset has, client rates, latencies and start-up times, to recordings and to metrics of a real cluster.
//!
//! Every value comes with an interval and with how many observations it hangs on. What the data cannot tell apart is
//! said, and what they do not show is named: neither is guessed.

pub mod bucket;
pub mod climb;
pub mod fit;
pub mod groups;
pub mod histogram;
pub mod lognormal;
pub mod preset;
pub mod prometheus;
pub mod tokens;

pub use fit::{Found, Parameter, Value, calibrate};
pub use prometheus::Metrics;

/// Of every interval.
pub const LEVEL: f64 = 0.95;
