//! Reference to a node in an action of the script.

/// A node, identified by its name or by a pod that runs on it. `alias` names it for later actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRef {
    pub name: Option<String>,
    /// Name of a pod without its random suffix, e.g. `train-workers-0-3`.
    pub of_pod: Option<String>,
    pub alias: Option<String>,
}
