//! The cluster as arrays: nodes, islands, zones, and the domains of every topology key in use.
//! Only the store changes it during a run, node by node. Must never read a file.

pub mod build;
pub mod domain;
pub mod quality;

pub use build::{ClusterBuilder, HeldOnNode};
pub use domain::TopologyDomains;
pub use quality::{FreeNodes, GroupSpread, free_nodes, group_spread};
