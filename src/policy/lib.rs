//! Decisions of the controllers as pure functions from a view to a plan.
//!
//! Must never access a clock, random numbers, a queue or mutable state.

pub mod conditions;
pub mod crash_back_off;
pub mod decision;
pub mod depends_on;
pub mod elastic;
pub mod fabric;
pub mod failure;
pub mod in_place;
pub mod job;
pub mod job_buckets;
pub mod kinds;
pub mod placement;
pub mod plan;
pub mod reconcile;
pub mod reconcile_error;
pub mod restart;
pub mod slices;
pub mod startup;
pub mod success;
pub mod suspend;
pub mod topology;
pub mod trace;
pub mod ttl;
pub mod view;

pub use crash_back_off::CrashBackOff;
pub use plan::*;
pub use reconcile::{reconcile, reconcile_counted};
pub use reconcile_error::ReconcileError;
pub use view::*;
