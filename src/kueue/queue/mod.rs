//! Workloads that wait for quota, by ClusterQueue (`pkg/cache/queue`).

pub mod pending;
mod rank;

pub use pending::{Head, PendingQueue, RequeueReason};
