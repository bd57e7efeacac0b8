//! What the controllers decide: pure functions, a view in and a plan out.
//!
//! Must never see a clock, randomness, a queue or `&mut World`.

pub mod backoff;
pub mod buckets;
pub mod conditions;
pub mod depends_on;
pub mod elastic;
pub mod failure;
pub mod in_place;
pub mod job;
mod job_bucket;
pub mod job_success;
pub mod per_index;
pub mod plan;
pub mod pod_failure;
pub mod re2;
pub mod reconcile;
pub mod restart;
pub mod startup;
pub mod success;
pub mod suspend;
pub mod tally;
pub mod trace;
mod trace_failure;
mod trace_job;
pub mod ttl;
pub mod view;

pub use plan::*;
pub use reconcile::{reconcile, reconcile_counted};
pub use view::*;
