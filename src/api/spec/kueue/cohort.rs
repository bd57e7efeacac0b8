//! Cohort: an inner node of the quota tree.

use super::cluster_queue::{FairWeight, ResourceGroup};

/// A cohort that is only named by a ClusterQueue or by another cohort has no quota and no limits of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cohort {
    pub name: String,
    pub parent: Option<String>,
    pub resource_groups: Vec<ResourceGroup>,
    pub fair_weight: FairWeight,
}
