//! Exact statistics of small samples: quantiles and intervals.
//!
//! Numbers only: must never format one, and never know what was measured.

#![deny(missing_docs)]

pub mod estimate;
pub mod quantile;

pub use estimate::Estimate;
pub use quantile::{quantile, sorted};
