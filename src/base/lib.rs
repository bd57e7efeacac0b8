//! Building blocks independent of Kubernetes: time, ids, random numbers, quantities.
//!
//! Must never know what a pod is, read a file, or read a clock.

pub mod calendar;
pub mod condition;
pub mod escape;
pub mod fnv;
pub mod id;
pub mod quantity;
pub mod random;
pub mod stats;
pub mod suggest;
pub mod table;
pub mod time;

pub use id::*;
pub use table::row_or_default;
pub use time::{Duration, SimTime};
