//! Kueue's controllers around the scheduler: the cache of reservations, the queues, and what they do when an object
//! changes.

pub mod cache;
pub mod checks;
pub mod job;
mod local_usage;
pub mod manager;
pub mod patch;
mod second_pass;
pub mod workload;

pub use cache::{Cache, QueueUsage};
pub use job::{JobPlan, JobView, reconcile_job};
pub use manager::{Manager, REQUEUE_DELAY};
pub use patch::{Patch, PatchKind};
pub use workload::{QueueView, Reconciled, WorkloadTimer, reconcile_workload};
