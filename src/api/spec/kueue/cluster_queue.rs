//! ClusterQueue and AdmissionCheck.

use super::NAMESPACE_NAME;
use crate::spec::{NodeOperator, NodeRequirement};
use sim_base::random::Distribution;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterQueue {
    pub name: String,
    pub resource_groups: Vec<ResourceGroup>,
    pub cohort: Option<String>,
    pub queueing_strategy: QueueingStrategy,
    /// Labels that the namespace of a workload must have. `None` admits no namespace, an empty selector all.
    pub namespace_selector: Option<NamespaceSelector>,
    pub flavor_fungibility: FlavorFungibility,
    pub preemption: ClusterQueuePreemption,
    pub stop_policy: StopPolicy,
    pub fair_weight: FairWeight,
    /// Whether `admissionScope.admissionMode` is UsageBasedAdmissionFairSharing.
    pub usage_based_admission: bool,
    pub admission_checks: Vec<AdmissionCheckRule>,
}

/// A label selector, as requirements that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceSelector {
    pub match_labels: BTreeMap<String, String>,
    pub match_expressions: Vec<NodeRequirement>,
}

impl NamespaceSelector {
    /// Returns the selector of all namespaces except those of these names.
    pub fn all_except(names: &[&str]) -> NamespaceSelector {
        let requirement = NodeRequirement {
            key: NAMESPACE_NAME.to_owned(),
            operator: Some(NodeOperator::NotIn),
            values: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        NamespaceSelector { match_labels: BTreeMap::new(), match_expressions: vec![requirement] }
    }

    /// Returns whether a namespace with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|r| r.matches_label(labels.get(&r.key).map(String::as_str)))
    }
}

/// Flavors that are tried in order for a set of resources. All resources of a group come from one flavor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceGroup {
    pub covered_resources: Vec<String>,
    pub flavors: Vec<FlavorQuotas>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlavorQuotas {
    pub name: String,
    pub resources: Vec<ResourceQuota>,
}

/// Quota of one resource in one flavor, in thousandths of the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceQuota {
    pub name: String,
    pub nominal: i64,
    /// Largest amount beyond the nominal quota. `None` is unlimited.
    pub borrowing_limit: Option<i64>,
    /// Largest part of the unused nominal quota that others may use. `None` is all of it.
    pub lending_limit: Option<i64>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum QueueingStrategy {
    StrictFifo,
    #[default]
    BestEffortFifo,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum StopPolicy {
    #[default]
    None,
    Hold,
    HoldAndDrain,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FlavorFungibility {
    pub when_can_borrow: FungibilityPolicy,
    pub when_can_preempt: FungibilityPolicy,
    pub preference: Option<FungibilityPreference>,
}

impl Default for FlavorFungibility {
    fn default() -> FlavorFungibility {
        FlavorFungibility {
            when_can_borrow: FungibilityPolicy::MayStopSearch,
            when_can_preempt: FungibilityPolicy::TryNextFlavor,
            preference: None,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FungibilityPolicy {
    MayStopSearch,
    TryNextFlavor,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FungibilityPreference {
    BorrowingOverPreemption,
    PreemptionOverBorrowing,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterQueuePreemption {
    pub within_cluster_queue: PreemptionPolicy,
    pub reclaim_within_cohort: PreemptionPolicy,
    pub borrow_within_cohort: BorrowWithinCohort,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PreemptionPolicy {
    #[default]
    Never,
    LowerPriority,
    LowerOrNewerEqualPriority,
    Any,
}

/// Whether a workload that borrows may preempt workloads of other ClusterQueues.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BorrowWithinCohort {
    /// Whether the policy is LowerPriority instead of Never.
    pub lower_priority: bool,
    pub max_priority_threshold: Option<i32>,
}

/// Weight of a ClusterQueue, Cohort or LocalQueue in fair sharing, in 10⁻⁹.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FairWeight(pub u64);

impl Default for FairWeight {
    fn default() -> FairWeight {
        FairWeight(1_000_000_000)
    }
}

impl FairWeight {
    /// Returns the weight as a number.
    pub fn value(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// A rule of `admissionChecksStrategy`: the check applies to these flavors, or to all if the list is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionCheckRule {
    pub name: String,
    pub on_flavors: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionCheck {
    pub name: String,
    pub controller_name: String,
    /// Behavior of its controller; without it, the check of a Workload stays Pending.
    pub outcome: Option<CheckOutcome>,
}

/// What the controller of an AdmissionCheck reports about a Workload with a reservation.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOutcome {
    /// Time from the reservation to the report.
    pub after: Distribution,
    /// Number of reports in the state Retry before the final one.
    pub retries: u32,
    pub is_ready: bool,
    pub message: String,
}
