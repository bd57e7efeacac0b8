//! Placement of pods: pure functions over the arrays of the cluster.
//!
//! Must never change a table or draw a random number: ties go to the next node in order, where kube-scheduler chooses
//! randomly.

pub mod capacity;
pub mod exclusive;
pub mod fit;
pub mod node_choice;
pub mod template;

pub use exclusive::domain_is_free;
pub use fit::{ClusterView, NodeSearch, PlacementResult};
pub use node_choice::NodeChoice;
pub use template::{ResourceRequirements, TemplateBlocker, TemplateFacts};
