//! The resources that a pod requests (`PodRequests` in `component-helpers/resource`).

use crate::resources::{Amounts, CPU, MEMORY, ResourceColumns};
use serde_json::Value;
use sim_api::objects::value_access::{has_value, list, text};

/// Amounts that scores assume for a container without a request: column, field and amount
/// (`pkg/scheduler/util/pod_resources.go`).
const ASSUMED: [(usize, &str, i64); 2] = [(CPU, "cpu", 100), (MEMORY, "memory", 200 << 20)];

/// Returns the requests of a stored pod: the maximum of its containers and its init containers, with sidecars, pod
/// level resources and overhead.
pub fn pod_requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    sum_requests(spec, columns, &[])
}

/// Returns the CPU and memory that scores assume for a pod.
pub fn assumed_requests(spec: &Value, columns: &mut ResourceColumns) -> Amounts {
    sum_requests(spec, columns, &ASSUMED)
}

fn sum_requests(spec: &Value, columns: &mut ResourceColumns, assumed: &[(usize, &str, i64)]) -> Amounts {
    let mut read = |container: &Value| {
        let mut amounts = Amounts::read(&container["resources"]["requests"], columns);
        for (column, name, amount) in assumed {
            if !has_value(&container["resources"]["requests"], name) {
                amounts.set(*column, *amount);
            }
        }
        amounts
    };
    let mut total = Amounts::default();
    for container in list(spec, "containers") {
        total.add(&read(container), 1);
    }
    let (mut sidecars, mut init) = (Amounts::default(), Amounts::default());
    for container in list(spec, "initContainers") {
        let amounts = read(container);
        if text(container, "restartPolicy") == "Always" {
            total.add(&amounts, 1);
            sidecars.add(&amounts, 1);
            init.raise_to(&sidecars);
        } else {
            let mut during = sidecars.clone();
            during.add(&amounts, 1);
            init.raise_to(&during);
        }
    }
    total.raise_to(&init);
    for (column, amount) in Amounts::read(&spec["resources"]["requests"], columns).iter() {
        total.set(column, amount);
    }
    total.add(&Amounts::read(&spec["overhead"], columns), 1);
    total
}
