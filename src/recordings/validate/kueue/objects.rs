//! Reads the objects of a story.

use super::super::scheduling::unknown_fields;
use serde_json::Value;
use sim_api::objects::value_access::{int, list, pairs, quantity, text};
use sim_api::spec::kueue::{
    BorrowWithinCohort, ClusterQueue, ClusterQueuePreemption, Cohort, FairWeight, FlavorFungibility, FlavorQuotas,
    FungibilityPolicy, FungibilityPreference, KueueObjects, LocalQueue, NamespaceSelector, PreemptionPolicy,
    QueueingStrategy, ResourceFlavor, ResourceGroup, ResourceQuota, StopPolicy, Topology, WorkloadPriorityClass,
};
use sim_api::spec::{ResourceAmounts, TaintEffect, TaintSpec, TolerationSpec};
use sim_kueue::tas::TasNode;
use std::collections::{BTreeMap, BTreeSet};

/// WorkloadPriorityClasses of the recordings.
const CLASSES: [(&str, i32); 3] = [("low", -10), ("mid", 100), ("high", 1000)];
/// Namespace of all JobSets and LocalQueues.
pub const NAMESPACE: &str = "default";

const KEYS: [&str; 12] = [
    "schema", "kind", "name", "about", "kubernetes", "kueue", "flavors", "topology", "nodes", "cohorts",
    "clusterQueues", "steps",
];
const STEPS: [&str; 5] = ["create", "finish", "delete", "stopPolicy", "deactivate"];
const NODE_FIELDS: [&str; 5] = [
    "apiVersion|kind", "metadata.name|labels|annotations", "spec.unschedulable", "spec.taints.key|value|effect",
    "status.allocatable|capacity|conditions",
];
const FLAVOR_FIELDS: [&str; 5] = [
    "apiVersion|kind", "metadata.name", "spec.nodeLabels|topologyName", "spec.nodeTaints.key|value|effect",
    "spec.tolerations.key|operator|value|effect",
];
const QUOTA_FIELDS: &str = "spec.resourceGroups.coveredResources";
const FLAVOR_QUOTA_FIELDS: &str = "spec.resourceGroups.flavors.name";
const RESOURCE_QUOTA_FIELDS: &str =
    "spec.resourceGroups.flavors.resources.name|nominalQuota|borrowingLimit|lendingLimit";
const COHORT_FIELDS: [&str; 6] = [
    "apiVersion|kind", "metadata.name", "spec.parentName|fairSharing", QUOTA_FIELDS, FLAVOR_QUOTA_FIELDS,
    RESOURCE_QUOTA_FIELDS,
];
const QUEUE_FIELDS: [&str; 9] = [
    "apiVersion|kind",
    "metadata.name",
    "spec.cohortName|queueingStrategy|namespaceSelector|stopPolicy|fairSharing",
    "spec.flavorFungibility.whenCanBorrow|whenCanPreempt|preference",
    "spec.preemption.withinClusterQueue|reclaimWithinCohort",
    "spec.preemption.borrowWithinCohort.policy|maxPriorityThreshold",
    QUOTA_FIELDS,
    FLAVOR_QUOTA_FIELDS,
    RESOURCE_QUOTA_FIELDS,
];

/// Returns what the model does not know of a story, as short phrases.
pub fn unmodelled(recording: &Value) -> Vec<String> {
    let known = |key: &str| KEYS.contains(&key) || key == "results";
    let mut found: BTreeSet<String> =
        pairs(recording).filter(|(key, _)| !known(key)).map(|(key, _)| format!("unknown key {key}")).collect();
    let steps = list(recording, "steps").iter().flat_map(pairs).map(|(key, _)| key);
    found.extend(steps.filter(|key| !STEPS.contains(&key.as_str())).map(|key| format!("step {key}")));
    let of_kind: [(&str, &str, &[&str]); 4] = [
        ("nodes", "Node", &NODE_FIELDS),
        ("flavors", "ResourceFlavor", &FLAVOR_FIELDS),
        ("cohorts", "Cohort", &COHORT_FIELDS),
        ("clusterQueues", "ClusterQueue", &QUEUE_FIELDS),
    ];
    for (key, kind, known) in of_kind {
        for object in list(recording, key) {
            found.extend(unknown_fields(object, known).into_iter().map(|path| format!("{kind} field {path}")));
        }
    }
    found.into_iter().collect()
}

/// Reads Kueue's objects. The LocalQueue `lqN` points to the Nth ClusterQueue.
pub fn read_objects(recording: &Value) -> KueueObjects {
    let mut objects = KueueObjects::default();
    let topology = &recording["topology"];
    if topology.is_object() {
        let levels = list(&topology["spec"], "levels").iter().map(|level| text(level, "nodeLabel").to_owned());
        objects.topologies.push(Topology { name: name(topology), levels: levels.collect() });
    }
    objects.flavors = list(recording, "flavors").iter().map(read_flavor).collect();
    objects.cohorts = list(recording, "cohorts").iter().map(read_cohort).collect();
    objects.cluster_queues = list(recording, "clusterQueues").iter().map(read_queue).collect();
    let local = |(index, queue): (usize, &ClusterQueue)| LocalQueue {
        namespace: NAMESPACE.to_owned(),
        name: format!("lq{index}"),
        cluster_queue: queue.name.clone(),
        ..LocalQueue::default()
    };
    objects.local_queues = objects.cluster_queues.iter().enumerate().map(local).collect();
    let class = |(name, value): (&str, i32)| WorkloadPriorityClass { name: name.to_owned(), value };
    objects.priority_classes = CLASSES.into_iter().map(class).collect();
    objects
}

fn name(object: &Value) -> String {
    text(&object["metadata"], "name").to_owned()
}

fn strings(values: &Value) -> BTreeMap<String, String> {
    pairs(values).filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn read_flavor(flavor: &Value) -> ResourceFlavor {
    let spec = &flavor["spec"];
    ResourceFlavor {
        name: name(flavor),
        node_labels: strings(&spec["nodeLabels"]),
        node_taints: read_taints(spec, "nodeTaints"),
        tolerations: list(spec, "tolerations").iter().map(read_toleration).collect(),
        topology: spec["topologyName"].as_str().map(str::to_owned),
    }
}

fn effect(value: &Value) -> Option<TaintEffect> {
    let effects = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    effects.into_iter().find(|effect| text(value, "effect") == effect.as_str())
}

fn read_taints(spec: &Value, key: &str) -> Vec<TaintSpec> {
    let read = |taint: &Value| {
        let (key, value) = (text(taint, "key").to_owned(), text(taint, "value").to_owned());
        Some(TaintSpec { key, value, effect: effect(taint)? })
    };
    list(spec, key).iter().filter_map(read).collect()
}

fn read_toleration(toleration: &Value) -> TolerationSpec {
    TolerationSpec {
        key: toleration["key"].as_str().map(str::to_owned),
        exists: text(toleration, "operator") == "Exists",
        value: text(toleration, "value").to_owned(),
        effect: effect(toleration),
        toleration_seconds: int(toleration, "tolerationSeconds"),
    }
}

fn milli(value: &Value) -> Option<i64> {
    i64::try_from(quantity(value)?.scaled(3)?).ok()
}

fn read_groups(spec: &Value) -> Vec<ResourceGroup> {
    let resource = |quota: &Value| ResourceQuota {
        name: text(quota, "name").to_owned(),
        nominal: milli(&quota["nominalQuota"]).unwrap_or(0),
        borrowing_limit: milli(&quota["borrowingLimit"]),
        lending_limit: milli(&quota["lendingLimit"]),
    };
    let flavor = |flavor: &Value| FlavorQuotas {
        name: text(flavor, "name").to_owned(),
        resources: list(flavor, "resources").iter().map(resource).collect(),
    };
    let group = |group: &Value| ResourceGroup {
        covered_resources: list(group, "coveredResources")
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        flavors: list(group, "flavors").iter().map(flavor).collect(),
    };
    list(spec, "resourceGroups").iter().map(group).collect()
}

fn weight(spec: &Value) -> FairWeight {
    let nano = quantity(&spec["fairSharing"]["weight"]).and_then(|q| q.scaled(9));
    nano.and_then(|nano| u64::try_from(nano).ok()).map_or(FairWeight::default(), FairWeight)
}

fn read_cohort(cohort: &Value) -> Cohort {
    let spec = &cohort["spec"];
    Cohort {
        name: name(cohort),
        parent: spec["parentName"].as_str().map(str::to_owned),
        resource_groups: read_groups(spec),
        fair_weight: weight(spec),
    }
}

fn read_queue(queue: &Value) -> ClusterQueue {
    let spec = &queue["spec"];
    let preemption = &spec["preemption"];
    let borrowing = &preemption["borrowWithinCohort"];
    ClusterQueue {
        name: name(queue),
        resource_groups: read_groups(spec),
        cohort: spec["cohortName"].as_str().map(str::to_owned),
        queueing_strategy: match text(spec, "queueingStrategy") {
            "StrictFIFO" => QueueingStrategy::StrictFifo,
            _ => QueueingStrategy::BestEffortFifo,
        },
        namespace_selector: spec["namespaceSelector"].is_object().then(NamespaceSelector::default),
        flavor_fungibility: read_fungibility(&spec["flavorFungibility"]),
        preemption: ClusterQueuePreemption {
            within_cluster_queue: read_policy(text(preemption, "withinClusterQueue")),
            reclaim_within_cohort: read_policy(text(preemption, "reclaimWithinCohort")),
            borrow_within_cohort: BorrowWithinCohort {
                lower_priority: text(borrowing, "policy") == "LowerPriority",
                max_priority_threshold: int(borrowing, "maxPriorityThreshold").and_then(|p| i32::try_from(p).ok()),
            },
        },
        stop_policy: read_stop_policy(text(spec, "stopPolicy")),
        fair_weight: weight(spec),
        usage_based_admission: false,
        admission_checks: Vec::new(),
    }
}

fn read_fungibility(spec: &Value) -> FlavorFungibility {
    let policy = |key: &str, default| match text(spec, key) {
        "MayStopSearch" => FungibilityPolicy::MayStopSearch,
        "TryNextFlavor" => FungibilityPolicy::TryNextFlavor,
        _ => default,
    };
    let default = FlavorFungibility::default();
    FlavorFungibility {
        when_can_borrow: policy("whenCanBorrow", default.when_can_borrow),
        when_can_preempt: policy("whenCanPreempt", default.when_can_preempt),
        preference: match text(spec, "preference") {
            "BorrowingOverPreemption" => Some(FungibilityPreference::BorrowingOverPreemption),
            "PreemptionOverBorrowing" => Some(FungibilityPreference::PreemptionOverBorrowing),
            _ => None,
        },
    }
}

fn read_policy(word: &str) -> PreemptionPolicy {
    match word {
        "LowerPriority" => PreemptionPolicy::LowerPriority,
        "LowerOrNewerEqualPriority" => PreemptionPolicy::LowerOrNewerEqualPriority,
        "Any" => PreemptionPolicy::Any,
        _ => PreemptionPolicy::Never,
    }
}

pub fn read_stop_policy(word: &str) -> StopPolicy {
    match word {
        "Hold" => StopPolicy::Hold,
        "HoldAndDrain" => StopPolicy::HoldAndDrain,
        _ => StopPolicy::None,
    }
}

/// Reads the nodes.
pub fn read_nodes(recording: &Value) -> Vec<TasNode> {
    let read = |node: &Value| {
        let (spec, status) = (&node["spec"], &node["status"]);
        let is_ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
        let amounts = pairs(&status["allocatable"]).filter_map(|(name, value)| Some((name.clone(), milli(value)?)));
        TasNode {
            name: name(node),
            labels: strings(&node["metadata"]["labels"]),
            taints: read_taints(spec, "taints"),
            is_unschedulable: spec["unschedulable"] == true,
            is_ready: list(status, "conditions").iter().any(is_ready),
            allocatable: amounts.collect::<ResourceAmounts>(),
        }
    };
    list(recording, "nodes").iter().map(read).collect()
}
