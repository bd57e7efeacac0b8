//! Placement of pods: pure functions over the arrays of the cluster.
//!
//! Must never change a table or draw a random number.

pub mod capacity;
pub mod cycle_cost;
pub mod domain_usage;
pub mod exclusive;
pub mod fit;
pub mod node_choice;
pub mod node_set;
pub mod template;

pub use cycle_cost::{CycleWork, TermCounts};
pub use domain_usage::{DomainPod, DomainUsage};
pub use exclusive::domain_is_free;
pub use fit::{FeasibleCandidates, NodeSearch, PlacementResult, SearchWindow, has_room};
pub use node_choice::NodeChoice;
pub use node_set::{NamedNodes, NodeSet, SearchCandidates};
pub use template::{ResourceRequirements, TemplateBlocker, TemplateFacts};
