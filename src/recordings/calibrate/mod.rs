//! Fits the values of a preset (client rates, latencies and start-up times) to recordings and metrics of a real
//! cluster.
//!
//! Every value has an interval and a number of observations. Values that the data cannot distinguish, and values
//! that it does not show, are listed instead of being guessed.

pub mod bucket;
pub mod fit;
pub mod groups;
pub mod histogram;
pub mod lognormal;
pub mod maximizer;
pub mod preset;
pub mod prometheus;
pub mod tokens;

pub use fit::{FitResult, FitValue, FittedParameter, calibrate};
pub use prometheus::PrometheusMetrics;

/// Confidence level of every interval.
pub const CONFIDENCE_LEVEL: f64 = 0.95;
