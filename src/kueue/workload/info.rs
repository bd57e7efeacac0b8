//! A Workload with its requests, as queues and the scheduler hold it.

use super::object::{PodSet, Workload, WorkloadKey};
use super::status::PodSetAdmission;
use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name, Requests};
use sim_api::admission::errors::join_errors;
use sim_api::admission::field::{FieldError, FieldPath, go_quote};
use sim_api::spec::PodTemplate;
use sim_api::spec::ResourceAmounts;
use sim_api::spec::kueue::{KueueResources, ResourceTransformation};
use sim_base::fnv::fnv1a;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index of a ClusterQueue.
pub type QueueIndex = usize;

#[derive(Clone, Debug)]
pub struct Info {
    pub key: WorkloadKey,
    pub workload: Arc<Workload>,
    pub queue: QueueIndex,
    pub requests: Vec<PodSetRequests>,
    /// Hash of all that decides where the Workload fits. Workloads with the same hash get the same result.
    pub shape: u64,
    pub last_assignment: Option<LastAssignment>,
    /// Usage of the LocalQueue under admission fair sharing.
    pub local_queue_usage: Option<f64>,
}

/// Requests of all pods of a pod set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetRequests {
    pub name: String,
    pub count: u32,
    pub requests: Requests,
    /// Assigned flavor by resource, if the Workload has a reservation.
    pub flavors: BTreeMap<Name, Name>,
}

/// Progress of the search for flavors in the last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAssignment {
    /// Index of the last flavor tried, by pod set and resource. `None` if all were tried.
    pub tried: Vec<BTreeMap<Name, Option<usize>>>,
    pub generation: u64,
    pub cycle: u64,
    pub shape: u64,
}

impl LastAssignment {
    /// Returns whether there are flavors that were not tried yet.
    pub fn has_pending_flavors(&self) -> bool {
        self.tried.iter().flat_map(BTreeMap::values).any(Option::is_some)
    }

    /// Returns the index of the first flavor to try.
    pub fn next_flavor(&self, pod_set: usize, resource: &str) -> usize {
        let tried = self.tried.get(pod_set).and_then(|pod_set| pod_set.get(resource)).copied().flatten();
        tried.map_or(0, |index| index + 1)
    }
}

impl Info {
    pub fn new(key: WorkloadKey, workload: Arc<Workload>, queue: QueueIndex, resources: &KueueResources) -> Info {
        let requests = match &workload.status.admission {
            Some(_) => admitted_requests(&workload),
            None => pending_requests(&workload, resources),
        };
        let shape = shape(&workload, &requests);
        Info { key, workload, queue, requests, shape, last_assignment: None, local_queue_usage: None }
    }

    pub fn priority(&self) -> i32 {
        self.workload.priority
    }

    /// Returns the usage of quota by resource with a flavor.
    pub fn usage(&self) -> FlavorAmounts {
        usage(&self.requests)
    }

    /// Returns whether the Workload uses one of the resources.
    pub fn uses_any(&self, resources: &std::collections::BTreeSet<FlavorResource>) -> bool {
        let flavors = self.requests.iter().flat_map(|pod_set| &pod_set.flavors);
        flavors
            .into_iter()
            .any(|(resource, flavor)| resources.iter().any(|fr| fr.flavor == *flavor && fr.resource == *resource))
    }
}

fn usage(requests: &[PodSetRequests]) -> FlavorAmounts {
    let mut usage = FlavorAmounts::new();
    for pod_set in requests {
        for (resource, amount) in pod_set.requests.iter() {
            if let Some(flavor) = pod_set.flavors.get(resource) {
                let fr = FlavorResource { flavor: flavor.clone(), resource: resource.clone() };
                *usage.entry(fr).or_default() += amount;
            }
        }
    }
    usage
}

/// Returns the quota that a Workload holds in its ClusterQueue.
pub fn held_quota(workload: &Workload) -> FlavorAmounts {
    if workload.has_active_reservation() { usage(&admitted_requests(workload)) } else { FlavorAmounts::new() }
}

/// Returns why the resource requests of a Workload are not valid (`ValidateResources`).
pub fn resources_error(workload: &Workload) -> Option<String> {
    let mut errors = Vec::new();
    let mut check = |path: FieldPath, requests: &ResourceAmounts, limits: &ResourceAmounts| {
        let exceeds = |(name, limit): (&String, &i64)| {
            let limit = Amount::from_milli(name, *limit);
            requests.get(name).is_some_and(|milli| Amount::from_milli(name, *milli) > limit)
        };
        let names: Vec<String> = limits.iter().filter(|each| exceeds(*each)).map(|(name, _)| go_quote(name)).collect();
        if !names.is_empty() {
            let value = format!("[{}]", names.join(","));
            errors.push(FieldError::invalid(path.as_str(), value, "requests must not exceed its limits"));
        }
    };
    for (index, pod_set) in workload.pod_sets.iter().enumerate() {
        let spec = &pod_set.template.spec;
        let path = FieldPath::new("spec").child("podSets").index(index).child("template").child("spec");
        for (list, containers) in [("initContainers", &spec.init_containers), ("containers", &spec.containers)] {
            for (at, container) in containers.iter().enumerate() {
                check(path.child(list).index(at), &container.requests, &container.limits);
            }
        }
        check(path.child("resources"), &spec.resources, &spec.limits);
    }
    (!errors.is_empty()).then(|| format!("resources validation failed: {}", join_errors(&errors)))
}

fn count_after_reclaim(workload: &Workload, name: &str, count: u32) -> u32 {
    count.saturating_sub(workload.status.reclaimable.get(name).copied().unwrap_or(0))
}

fn pending_requests(workload: &Workload, resources: &KueueResources) -> Vec<PodSetRequests> {
    let of_pod_set = |pod_set: &PodSet| {
        let count = count_after_reclaim(workload, &pod_set.name, pod_set.count);
        let mut amounts = pod_set.template.spec.requests();
        amounts.retain(|name, _| !resources.exclude_prefixes.iter().any(|prefix| name.starts_with(prefix)));
        let amounts = transformed(amounts, &resources.transformations);
        let requests = Requests::from_milli(&amounts).times(count);
        PodSetRequests { name: pod_set.name.clone(), count, requests, flavors: BTreeMap::new() }
    };
    workload.pod_sets.iter().map(of_pod_set).collect()
}

/// Replaces resources by the outputs of the configured transformations (`applyResourceTransformations`). Outputs of
/// several inputs cancel each other if some are negative, but do not reduce a request.
fn transformed(amounts: ResourceAmounts, transformations: &[ResourceTransformation]) -> ResourceAmounts {
    const MILLI_PER_PRODUCT: i128 = 1_000_000_000_000;
    if transformations.is_empty() {
        return amounts;
    }
    let mut result = ResourceAmounts::new();
    // Products of an amount and a multiplier in thousandths and a factor in billionths.
    let mut generated: BTreeMap<&String, i128> = BTreeMap::new();
    for (name, milli) in &amounts {
        let found = transformations.iter().find(|t| t.input == *name);
        let multiplier = found.and_then(|t| amounts.get(t.multiply_by.as_ref()?)).copied().unwrap_or(1000);
        let input = i128::from(*milli).saturating_mul(i128::from(multiplier));
        for (output, factor) in found.iter().flat_map(|t| &t.outputs) {
            let sum = generated.entry(output).or_default();
            *sum = sum.saturating_add(input.saturating_mul(*factor));
        }
        if found.is_none_or(|t| !t.replace) {
            result.insert(name.clone(), *milli);
        }
    }
    for (name, product) in generated {
        let whole = product.max(0) / MILLI_PER_PRODUCT + i128::from(product.max(0) % MILLI_PER_PRODUCT > 0);
        let sum = result.entry(name.clone()).or_default();
        *sum = i64::saturating_add(*sum, i64::try_from(whole).unwrap_or(i64::MAX));
    }
    result
}

fn admitted_requests(workload: &Workload) -> Vec<PodSetRequests> {
    let admission = workload.status.admission.iter();
    let of_pod_set = |admitted: &PodSetAdmission| {
        let total = workload.pod_sets.iter().find(|p| p.name == admitted.name).map_or(0, |p| p.count);
        let left = count_after_reclaim(workload, &admitted.name, total).min(admitted.count);
        let scale = |amount: Amount| match admitted.count {
            0 => amount,
            count if left < count => Amount(amount.0 / i64::from(count)).times(left),
            _ => amount,
        };
        let mut requests = Requests::default();
        for (resource, amount) in &admitted.usage {
            requests.set(resource.clone(), scale(*amount));
        }
        PodSetRequests { name: admitted.name.clone(), count: left, requests, flavors: admitted.flavors.clone() }
    };
    admission.flat_map(|a| &a.pod_sets).map(of_pod_set).collect()
}

/// Returns the hash of the priority and of each pod set: pod spec, count, requests and topology request.
fn shape(workload: &Workload, requests: &[PodSetRequests]) -> u64 {
    let mut text = format!("{}", workload.priority);
    for (k, pod_set) in workload.pod_sets.iter().enumerate() {
        let (count, requests) = requests.get(k).map_or((pod_set.count, None), |r| (r.count, Some(&r.requests)));
        text += &format!("|{}|{count}|{requests:?}|{}|{:?}|", pod_set.name, pod_set.replicas, pod_set.topology);
        text += &template_shape(&pod_set.template);
    }
    fnv1a(text.bytes())
}

fn template_shape(template: &PodTemplate) -> String {
    let spec = &template.spec;
    let containers =
        |list: &[sim_api::spec::ContainerSpec]| format!("{:?}", list.iter().map(|c| &c.requests).collect::<Vec<_>>());
    format!(
        "{}{}{:?}{:?}{:?}{}{:?}{:?}",
        containers(&spec.init_containers),
        containers(&spec.containers),
        spec.node_selector,
        spec.node_affinity,
        spec.tolerations,
        spec.priority,
        spec.overhead,
        spec.resources,
    )
}
