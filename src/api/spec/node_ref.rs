//! The node that an action of the script names.

/// A node by name, or the node of a pod; `alias` keeps it for later actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRef {
    pub name: Option<String>,
    /// Pod name without its random suffix, e.g. `train-workers-0-3`.
    pub of_pod: Option<String>,
    pub alias: Option<String>,
}
