//! The resources that a stored pod requests.

use crate::resources::{Amounts, ResourceColumns};
use serde_json::Value;
use sim_api::objects::value_access::{list, pairs, quantity, text};
use sim_api::spec::{ResourceAmounts, pod_requests};

/// Amounts in thousandths that scores assume for a container without a request
/// (`pkg/scheduler/util/pod_resources.go`).
const ASSUMED: [(&str, i64); 2] = [("cpu", 100), ("memory", (200 << 20) * 1000)];

/// Returns the requests of a stored pod.
pub fn requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    Amounts::from_milli(&sum_requests(spec, &[], &pod_level(spec)), columns)
}

/// Returns the CPU and memory that scores assume for a pod on a node. If the pod as a whole has requests, only a
/// resource that no container requests either is assumed (`CalculateResource` in `framework/types.go`).
pub fn assumed_requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    let own = pod_level(spec);
    let known = sum_requests(spec, &[], &own);
    let is_missing = |(name, _): &&(&str, i64)| own.is_empty() || !known.contains_key(*name);
    let assumed: Vec<(&str, i64)> = ASSUMED.iter().filter(is_missing).copied().collect();
    Amounts::from_milli(&sum_requests(spec, &assumed, &own), columns)
}

/// Returns the requests of a pod that NodeResourcesFit scores: with assumed amounts, and without the requests of the
/// pod as a whole, because the plugin's scorer is created without the feature gate PodLevelResources (`getScorer`).
pub fn scored_requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    Amounts::from_milli(&sum_requests(spec, &ASSUMED, &ResourceAmounts::new()), columns)
}

/// Returns the requests of the pod as a whole.
fn pod_level(spec: &Value) -> ResourceAmounts {
    amounts(&spec["resources"]["requests"])
}

fn sum_requests(spec: &Value, assumed: &[(&str, i64)], pod_level: &ResourceAmounts) -> ResourceAmounts {
    let read = |container: &Value| {
        let assumed = assumed.iter().map(|(name, amount)| ((*name).to_owned(), *amount));
        let mut requests: ResourceAmounts = assumed.collect();
        requests.extend(amounts(&container["resources"]["requests"]));
        requests
    };
    let own = |c: &Value| (text(c, "restartPolicy") == "Always", read(c));
    let init = list(spec, "initContainers").iter().map(own);
    pod_requests(list(spec, "containers").iter().map(read), init, pod_level, &amounts(&spec["overhead"]))
}

/// Reads a resource list. An unreadable quantity counts as zero.
fn amounts(resources: &Value) -> ResourceAmounts {
    let milli = |value: &Value| {
        let scaled = quantity(value).and_then(|q| q.scaled(3));
        scaled.map_or(0, |amount| i64::try_from(amount).unwrap_or(i64::MAX))
    };
    pairs(resources).map(|(name, value)| (name.clone(), milli(value))).collect()
}
