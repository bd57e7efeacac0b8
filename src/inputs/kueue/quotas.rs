//! Converts ClusterQueues and Cohorts.

use crate::kube::pod::requirement;
use crate::{read, text::node::YamlNode};
use sim_api::spec::kueue::{
    AdmissionCheckRule, BorrowWithinCohort, ClusterQueue, ClusterQueuePreemption, Cohort, FairWeight,
    FlavorFungibility, FlavorQuotas, FungibilityPolicy, FungibilityPreference, NamespaceSelector, PreemptionPolicy,
    QueueingStrategy, ResourceGroup, ResourceQuota, StopPolicy,
};
use sim_base::quantity;
use std::collections::BTreeMap;

pub fn cluster_queue(name: String, spec: &YamlNode) -> ClusterQueue {
    let word = |path: &[&str]| spec.at_path(path).and_then(YamlNode::as_str);
    ClusterQueue {
        name,
        resource_groups: resource_groups(spec),
        cohort: word(&["cohortName"]).or(word(&["cohort"])).filter(|name| !name.is_empty()).map(str::to_owned),
        queueing_strategy: match word(&["queueingStrategy"]) {
            Some("StrictFIFO") => QueueingStrategy::StrictFifo,
            _ => QueueingStrategy::BestEffortFifo,
        },
        namespace_selector: spec.get("namespaceSelector").map(selector),
        flavor_fungibility: spec.get("flavorFungibility").map(fungibility).unwrap_or_default(),
        preemption: spec.get("preemption").map(preemption).unwrap_or_default(),
        stop_policy: stop_policy(spec),
        fair_weight: fair_weight(spec),
        usage_based_admission: word(&["admissionScope", "admissionMode"]) == Some("UsageBasedAdmissionFairSharing"),
        admission_checks: admission_checks(spec),
    }
}

pub fn cohort(name: String, spec: &YamlNode) -> Cohort {
    Cohort {
        name,
        parent: read::string(spec, "parentName").filter(|name| !name.is_empty()),
        resource_groups: resource_groups(spec),
        fair_weight: fair_weight(spec),
    }
}

pub fn stop_policy(spec: &YamlNode) -> StopPolicy {
    match spec.get("stopPolicy").and_then(YamlNode::as_str) {
        Some("Hold") => StopPolicy::Hold,
        Some("HoldAndDrain") => StopPolicy::HoldAndDrain,
        _ => StopPolicy::None,
    }
}

pub fn fair_weight(spec: &YamlNode) -> FairWeight {
    let weight = spec.at_path(&["fairSharing", "weight"]).and_then(YamlNode::scalar_text);
    let nano = weight.and_then(|weight| quantity::parse(&weight).ok()?.scaled(9));
    nano.and_then(|nano| u64::try_from(nano).ok()).map_or(FairWeight::default(), FairWeight)
}

/// Returns the past usage in the status of a LocalQueue, in 10⁻⁹ of a unit.
pub fn consumed(local_queue: &YamlNode) -> BTreeMap<String, i128> {
    let path = ["status", "fairSharing", "admissionFairSharingStatus", "consumedResources"];
    let amounts = local_queue.at_path(&path).map_or(&[][..], YamlNode::entries);
    let nanos = |value: &YamlNode| quantity::parse(&value.scalar_text()?).ok()?.scaled(9);
    amounts.iter().filter_map(|(key, value)| Some((key.name.clone(), nanos(value)?))).collect()
}

fn resource_groups(spec: &YamlNode) -> Vec<ResourceGroup> {
    let quota = |node: &YamlNode| {
        let amount = |key: &str| quantity::parse_milli(&node.get(key)?.scalar_text()?).ok();
        ResourceQuota {
            name: read::string(node, "name").unwrap_or_default(),
            nominal: amount("nominalQuota").unwrap_or(0),
            borrowing_limit: amount("borrowingLimit"),
            lending_limit: amount("lendingLimit"),
        }
    };
    let flavor = |node: &YamlNode| FlavorQuotas {
        name: read::string(node, "name").unwrap_or_default(),
        resources: read::list(node, "resources").iter().map(quota).collect(),
    };
    let group = |node: &YamlNode| ResourceGroup {
        covered_resources: read::strings(node, "coveredResources"),
        flavors: read::list(node, "flavors").iter().map(flavor).collect(),
    };
    read::list(spec, "resourceGroups").iter().map(group).collect()
}

pub fn selector(node: &YamlNode) -> NamespaceSelector {
    NamespaceSelector {
        match_labels: read::string_map(node, "matchLabels"),
        match_expressions: read::list(node, "matchExpressions").iter().map(requirement).collect(),
    }
}

/// Converts the policies. `Borrow` and `Preempt` are the names of MayStopSearch in v1beta1.
fn fungibility(node: &YamlNode) -> FlavorFungibility {
    let default = FlavorFungibility::default();
    let policy = |key: &str, default: FungibilityPolicy| match node.get(key).and_then(YamlNode::as_str) {
        Some("MayStopSearch" | "Borrow" | "Preempt") => FungibilityPolicy::MayStopSearch,
        Some("TryNextFlavor") => FungibilityPolicy::TryNextFlavor,
        _ => default,
    };
    FlavorFungibility {
        when_can_borrow: policy("whenCanBorrow", default.when_can_borrow),
        when_can_preempt: policy("whenCanPreempt", default.when_can_preempt),
        preference: match node.get("preference").and_then(YamlNode::as_str) {
            Some("BorrowingOverPreemption") => Some(FungibilityPreference::BorrowingOverPreemption),
            Some("PreemptionOverBorrowing") => Some(FungibilityPreference::PreemptionOverBorrowing),
            _ => None,
        },
    }
}

fn preemption(node: &YamlNode) -> ClusterQueuePreemption {
    let policy = |key: &str| match node.get(key).and_then(YamlNode::as_str) {
        Some("LowerPriority") => PreemptionPolicy::LowerPriority,
        Some("LowerOrNewerEqualPriority") => PreemptionPolicy::LowerOrNewerEqualPriority,
        Some("Any") => PreemptionPolicy::Any,
        _ => PreemptionPolicy::Never,
    };
    let borrowing = node.get("borrowWithinCohort");
    ClusterQueuePreemption {
        within_cluster_queue: policy("withinClusterQueue"),
        reclaim_within_cohort: policy("reclaimWithinCohort"),
        borrow_within_cohort: BorrowWithinCohort {
            lower_priority: borrowing.and_then(|b| b.get("policy")?.as_str()) == Some("LowerPriority"),
            max_priority_threshold: borrowing.and_then(|b| read::i32_of(b, "maxPriorityThreshold")),
        },
    }
}

/// Returns the rules of `admissionChecksStrategy`, or one for all flavors per name in `admissionChecks` (v1beta1).
fn admission_checks(spec: &YamlNode) -> Vec<AdmissionCheckRule> {
    let named = read::strings(spec, "admissionChecks");
    if !named.is_empty() {
        return named.into_iter().map(|name| AdmissionCheckRule { name, on_flavors: Vec::new() }).collect();
    }
    let rule = |node: &YamlNode| AdmissionCheckRule {
        name: read::string(node, "name").unwrap_or_default(),
        on_flavors: read::strings(node, "onFlavors"),
    };
    let rules = spec.at_path(&["admissionChecksStrategy", "admissionChecks"]).map_or(&[][..], YamlNode::items);
    rules.iter().map(rule).collect()
}
