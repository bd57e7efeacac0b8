//! Workloads that wait for quota, by ClusterQueue (`pkg/cache/queue`).

pub mod pending;
mod rank;

pub use pending::{Head, PendingQueue, RequeueReason};

#[cfg(test)]
#[path = "../../../tests/inside/kueue/queue.rs"]
mod tests;
