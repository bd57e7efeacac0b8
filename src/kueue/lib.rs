//! The decisions of Kueue (main at ff69552, 2026-08-22) as pure functions: quota, borrowing, preemption, fair sharing
//! and topology-aware scheduling. Views of queues, workloads and nodes in, a plan out.
//!
//! The crate has no clock and no randomness; the caller passes the time. Only the caller changes state. [`driver`] runs
//! the scheduling cycles for all callers.

pub mod amount;
#[cfg(test)]
#[path = "../../tests/inside/cases.rs"]
mod cases;
pub mod control;
pub mod cycle;
pub mod driver;
pub mod flavors;
pub mod preemption;
pub mod queue;
pub mod quota;
pub mod requests;
pub mod snapshot;
pub mod tas;
pub mod topology;
pub mod usage;
pub mod verdict;
pub mod workload;

#[cfg(test)]
#[path = "../../tests/inside/kueue/stories.rs"]
mod tests;
