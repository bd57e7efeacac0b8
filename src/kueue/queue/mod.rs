//! Workloads that wait for quota, by ClusterQueue (`pkg/cache/queue`).

pub mod pending;

pub use pending::{PendingQueue, RequeueReason};
