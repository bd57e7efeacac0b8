//! The cluster as arrays: nodes, islands, zones, and the domains of every topology key in use. Frozen once built.
//!
//! Must never change during a run, and never read a file.

pub mod build;
pub mod domain;

pub use build::Cluster;
pub use domain::Domains;
