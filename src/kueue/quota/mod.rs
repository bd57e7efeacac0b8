//! The quota tree: ClusterQueues as leaves, cohorts as inner nodes.

pub mod build;
pub mod share;
pub mod tree;

pub use share::Share;
pub use tree::{NodeId, Quota, QuotaNode, QuotaTree};
