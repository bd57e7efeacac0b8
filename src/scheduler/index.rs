//! Indexes of nodes and pods.

/// Row of a node in the nodes of a cluster.
pub type NodeIndex = usize;
/// Row of a pod in the pods of a cluster.
pub type PodIndex = usize;
