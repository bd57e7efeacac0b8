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
    sum_requests(spec, columns, &[])
}

/// Returns the CPU and memory that scores assume for a pod.
pub fn assumed_requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    sum_requests(spec, columns, &ASSUMED)
}

fn sum_requests(spec: &Value, columns: &mut ResourceColumns, assumed: &[(&str, i64)]) -> Amounts {
    let read = |container: &Value| {
        let assumed = assumed.iter().map(|(name, amount)| ((*name).to_owned(), *amount));
        let mut requests: ResourceAmounts = assumed.collect();
        requests.extend(amounts(&container["resources"]["requests"]));
        requests
    };
    let own = |c: &Value| (text(c, "restartPolicy") == "Always", read(c));
    let init = list(spec, "initContainers").iter().map(own);
    let (pod_level, overhead) = (amounts(&spec["resources"]["requests"]), amounts(&spec["overhead"]));
    let sum = pod_requests(list(spec, "containers").iter().map(read), init, &pod_level, &overhead);
    Amounts::from_milli(&sum, columns)
}

/// Reads a resource list. An unreadable quantity counts as zero.
fn amounts(resources: &Value) -> ResourceAmounts {
    let milli = |value: &Value| {
        let scaled = quantity(value).and_then(|q| q.scaled(3));
        scaled.map_or(0, |amount| i64::try_from(amount).unwrap_or(i64::MAX))
    };
    pairs(resources).map(|(name, value)| (name.clone(), milli(value))).collect()
}
