//! The Workload of a JobSet (`pkg/controller/jobs/jobset`).

use super::conditions::whole_seconds;
use super::object::{PodSet, Workload};
use super::status::WorkloadStatus;
use super::topology::{self, TopologyRequestError};
use crate::requests::Name;
use serde_json::{Value, json};
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::errors::join_errors;
use sim_api::admission::field::FieldPath;
use sim_api::admission::{coerce, go, meta_check};
use sim_api::objects::{existing_priority_classes, priority_of};
use sim_api::spec::keys::{ADMISSION_GATED_BY, KUEUE_MAX_EXECUTION_TIME, KUEUE_PRIORITY_CLASS, KUEUE_QUEUE};
use sim_api::spec::kueue::{POD_SETS_MAX, PriorityClassRef, ResourceFlavor, StoredPodSet, WorkloadPriorityClass};
use sim_api::spec::{JobSet, ReplicatedJob, TolerationSpec};
use sim_base::{SimTime, quantity};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the number of pods of one Job.
fn pods_per_replica(job: &ReplicatedJob) -> u32 {
    let parallelism = job.template.parallelism.unwrap_or(1);
    job.template.completions.map_or(parallelism, |completions| completions.min(parallelism))
}

/// Returns the number of pods of a replicatedJob.
pub fn pods(job: &ReplicatedJob) -> u32 {
    job.replicas.saturating_mul(pods_per_replica(job))
}

/// Reasons for which Kueue creates no Workload for a JobSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkloadError {
    Topology(TopologyRequestError),
    UnknownPriorityClass {
        name: String,
    },
    /// The PriorityClass of the pods does not exist.
    UnknownPodPriorityClass {
        name: String,
    },
    /// The API server refuses the Workload.
    TooManyPodSets {
        count: usize,
    },
    /// The webhook of Workloads refuses the pod templates, with this message.
    RefusedPodSets {
        message: String,
    },
    /// The JobSet names a Workload that another component creates, and it does not exist.
    PrebuiltWorkloadMissing {
        name: String,
    },
    /// Another object controls the prebuilt Workload.
    PrebuiltWorkloadOwned {
        name: String,
        owner: String,
    },
    /// The prebuilt Workload has other pod sets than the JobSet.
    PrebuiltWorkloadOutOfSync {
        name: String,
    },
}

/// The classes that determine the priority of a Workload.
#[derive(Copy, Clone, Debug)]
pub struct PriorityClasses<'c> {
    /// The declared WorkloadPriorityClasses.
    pub of_workloads: &'c [WorkloadPriorityClass],
    /// The declared PriorityClasses, as stored.
    pub of_pods: &'c [Value],
    /// Whether a class that is not declared is missing; otherwise it exists if none is declared.
    pub requires_declared: bool,
}

impl PriorityClasses<'_> {
    /// Returns the class and the priority of a Workload (`ExtractPriority`): that of its WorkloadPriorityClass,
    /// otherwise that of the first PriorityClass that a pod template names, otherwise that of the default class. A
    /// `priority` in a template has no effect.
    pub fn priority(&self, jobset: &JobSet) -> Result<(Option<PriorityClassRef>, i32), WorkloadError> {
        if let Some(name) = priority_class_label(jobset) {
            let class = self.of_workloads.iter().find(|class| class.name == *name);
            let class = class.ok_or(WorkloadError::UnknownPriorityClass { name: name.to_owned() })?;
            return Ok((Some(PriorityClassRef::Workload(class.name.clone())), class.value));
        }
        let mut specs = pod_templates(jobset).map(|template| &template["spec"]);
        let named = specs.find(|spec| spec["priorityClassName"].as_str().is_some_and(|name| !name.is_empty()));
        let spec = named.unwrap_or(&Value::Null);
        let existing = existing_priority_classes(spec, self.of_pods.to_vec(), self.requires_declared);
        let Some((name, value)) = priority_of(spec, &existing) else {
            let name = spec["priorityClassName"].as_str().unwrap_or_default().to_owned();
            return Err(WorkloadError::UnknownPodPriorityClass { name });
        };
        let class = Some(name).filter(|name| !name.is_empty()).map(PriorityClassRef::Pod);
        Ok((class, i32::try_from(value).unwrap_or(i32::MAX)))
    }
}

/// Returns the name of the WorkloadPriorityClass of a JobSet.
pub fn priority_class_label(jobset: &JobSet) -> Option<&str> {
    jobset.labels.get(KUEUE_PRIORITY_CLASS).map(String::as_str).filter(|name| !name.is_empty())
}

/// Returns the longest execution time of a JobSet in seconds. Values that are no int32 above 0 count as absent.
pub fn max_execution_s(jobset: &JobSet) -> Option<u64> {
    let seconds = jobset.labels.get(KUEUE_MAX_EXECUTION_TIME)?.parse::<i32>().ok()?;
    u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

/// Returns the pod templates as stored.
fn pod_templates(jobset: &JobSet) -> impl Iterator<Item = &Value> {
    let jobs = jobset.object.iter().filter_map(|object| object["spec"]["replicatedJobs"].as_array());
    jobs.flatten().map(|job| &job["template"]["spec"]["template"])
}

/// Returns the message with which the webhook of Workloads refuses the pod sets (`validatePodSet`).
fn refused_pod_sets(jobset: &JobSet) -> Option<String> {
    let errors = template_errors(pod_templates(jobset));
    if errors.is_empty() { None } else { Some(join_errors(&errors.errors)) }
}

/// Checks the pod templates of a Workload, in the order of its pod sets (`validatePodSet`).
pub fn template_errors<'t>(templates: impl Iterator<Item = &'t Value>) -> ErrorList {
    let mut errors = ErrorList::default();
    for (index, template) in templates.enumerate() {
        let path = FieldPath::new("spec").child("podSets").index(index).child("template");
        let metadata = path.child("metadata");
        meta_check::labels(&template["metadata"]["labels"], &metadata.child("labels"), &mut errors);
        meta_check::annotations(&template["metadata"]["annotations"], &metadata.child("annotations"), &mut errors);
        let spec = path.child("spec");
        for list in ["initContainers", "containers"] {
            for (at, container) in template["spec"][list].as_array().into_iter().flatten().enumerate() {
                check_amounts(&container["resources"], &spec.child(list).index(at).child("resources"), &mut errors);
            }
        }
        check_amounts(&template["spec"]["resources"], &spec.child("resources"), &mut errors);
    }
    errors
}

/// Checks the names and signs of requests and limits (`validateResourceList`).
fn check_amounts(resources: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for list in ["requests", "limits"] {
        for (name, amount) in resources[list].as_object().into_iter().flatten() {
            let at = path.child(list).key(name);
            if name == "pods" {
                errors.invalid_text(&at, name, "the key is reserved for internal kueue use");
            }
            let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
            if quantity::parse(&text).is_ok_and(|quantity| quantity.is_negative()) {
                errors.invalid_text(&at, &text, "must be greater than or equal to 0");
            }
        }
    }
}

/// Returns the Workload of a JobSet. The caller names it and sets the UIDs.
pub fn workload(jobset: &JobSet, classes: &PriorityClasses<'_>, now: SimTime) -> Result<Workload, WorkloadError> {
    let count = jobset.spec.replicated_jobs.len();
    if count > POD_SETS_MAX {
        return Err(WorkloadError::TooManyPodSets { count });
    }
    if let Some(name) = jobset.prebuilt_workload() {
        return Err(WorkloadError::PrebuiltWorkloadMissing { name: name.to_owned() });
    }
    let (priority_class, priority) = classes.priority(jobset)?;
    let workload = Workload {
        namespace: jobset.namespace.clone(),
        name: jobset.name.clone(),
        uid: String::new(),
        job_uid: String::new(),
        queue: jobset.labels.get(KUEUE_QUEUE).cloned().unwrap_or_default(),
        priority,
        priority_class,
        created: whole_seconds(now),
        active: true,
        admission_gates: jobset.annotations.get(ADMISSION_GATED_BY).cloned().unwrap_or_default(),
        max_execution_s: max_execution_s(jobset),
        pod_sets: pod_sets(jobset)?,
        status: WorkloadStatus::default(),
    };
    match refused_pod_sets(jobset) {
        Some(message) => Err(WorkloadError::RefusedPodSets { message }),
        None => Ok(workload),
    }
}

/// Returns the prebuilt Workload with which a JobSet starts, or why the JobSet waits. It keeps its own pod sets, with
/// the names of the replicatedJobs.
pub fn adopted(jobset: &JobSet, prebuilt: &Workload) -> Result<Workload, WorkloadError> {
    let own = pod_sets(jobset)?;
    let is_in_sync = prebuilt.max_execution_s == max_execution_s(jobset)
        && has_equal_counts(jobset, prebuilt)
        && (prebuilt.is_admitted() || has_equal_tolerations(jobset, prebuilt, |_| Vec::new()))
        && has_equal_containers(jobset, prebuilt);
    if !is_in_sync {
        return Err(WorkloadError::PrebuiltWorkloadOutOfSync { name: prebuilt.name.clone() });
    }
    let pod_set = |(own, prebuilt): (&PodSet, &PodSet)| {
        let (name, template, topology) = (own.name.clone(), prebuilt.template.clone(), prebuilt.topology.clone());
        PodSet { name, count: own.count, replicas: own.replicas, template, topology, stored: None }
    };
    let pod_sets = own.iter().zip(prebuilt.pod_sets.iter()).map(pod_set).collect();
    Ok(Workload { pod_sets, ..prebuilt.clone() })
}

/// Returns whether the Workload still describes its JobSet (`EquivalentToWorkload`). Kueue compares counts, containers
/// and, before the admission, tolerations; containers of a JobSet never change. With quota, the JobSet may have the
/// tolerations of the assigned flavors, and must have them unless it is suspended.
pub fn is_equivalent(
    jobset: &JobSet, workload: &Workload, flavors: &BTreeMap<Name, ResourceFlavor>,
) -> Result<bool, WorkloadError> {
    if workload.max_execution_s != max_execution_s(jobset) || !has_equal_counts(jobset, workload) {
        return Ok(false);
    }
    if workload.is_admitted() {
        return Ok(true);
    }
    let Some(admission) = workload.status.admission.as_ref().filter(|_| workload.has_reservation()) else {
        pod_sets(jobset)?;
        return Ok(has_equal_tolerations(jobset, workload, |_| Vec::new()));
    };
    let of_flavors = |pod_set: &PodSet| {
        let assigned = admission.pod_sets.iter().find(|assigned| assigned.name == pod_set.name);
        let names: BTreeSet<&Name> = assigned.into_iter().flat_map(|assigned| assigned.flavors.values()).collect();
        names.into_iter().filter_map(|name| flavors.get(name)).flat_map(|flavor| flavor.tolerations.clone()).collect()
    };
    let is_suspended = jobset.spec.suspend;
    Ok(has_equal_tolerations(jobset, workload, of_flavors)
        || is_suspended && has_equal_tolerations(jobset, workload, |_| Vec::new()))
}

/// Compares the numbers of pods (`ComparePodSets`).
fn has_equal_counts(jobset: &JobSet, workload: &Workload) -> bool {
    let (own, stored) = (&jobset.spec.replicated_jobs, &workload.pod_sets);
    let is_equal = |(job, pod_set): (&ReplicatedJob, &PodSet)| {
        let has_min_count = pod_set.stored.as_ref().is_some_and(|stored| stored.min_count.is_some());
        pods(job) == pod_set.count && !has_min_count
    };
    own.len() == stored.len() && own.iter().zip(stored.iter()).all(is_equal)
}

/// Compares the tolerations of the pod templates with those of the pod sets, to which `added` adds some.
fn has_equal_tolerations(jobset: &JobSet, workload: &Workload, added: impl Fn(&PodSet) -> Vec<TolerationSpec>) -> bool {
    let is_equal = |(job, pod_set): (&ReplicatedJob, &PodSet)| {
        let mut expected = pod_set.template.spec.tolerations.clone();
        for toleration in added(pod_set) {
            if !expected.contains(&toleration) {
                expected.push(toleration);
            }
        }
        job.template.template.spec.tolerations == expected
    };
    jobset.spec.replicated_jobs.iter().zip(workload.pod_sets.iter()).all(is_equal)
}

/// Compares containers and init containers of the templates as written (`comparePodTemplate`).
fn has_equal_containers(jobset: &JobSet, workload: &Workload) -> bool {
    let stored = workload.pod_sets.iter().map(|pod_set| pod_set.stored.as_ref());
    let is_equal = |(template, stored): (&Value, Option<&Arc<StoredPodSet>>)| {
        stored.is_none_or(|stored| normal_containers(&template["spec"]) == normal_containers(&stored.containers))
    };
    pod_templates(jobset).zip(stored).all(is_equal)
}

/// Returns the containers of a pod spec in a form that is equal for containers that Go considers equal
/// (`equality.Semantic.DeepEqual`): quantities count by value, and empty lists as absent.
fn normal_containers(spec: &Value) -> Value {
    const POD_SPEC: &str = "v1.PodSpec";
    let mut containers = json!({"initContainers": spec["initContainers"], "containers": spec["containers"]});
    coerce::default_struct(POD_SPEC, &mut containers);
    let read = go::round_trip(POD_SPEC, &containers).unwrap_or(containers);
    go::normalize_struct(POD_SPEC, &read)
}

fn pod_sets(jobset: &JobSet) -> Result<Arc<[PodSet]>, WorkloadError> {
    let pod_set = |job: &ReplicatedJob| {
        let template = job.template.template.clone();
        let topology = topology::read(&template.annotations).map_err(WorkloadError::Topology)?;
        let topology = Some(topology);
        let (name, count) = (job.name.clone(), pods(job));
        Ok(PodSet { name, count, replicas: job.replicas, template, topology, stored: None })
    };
    jobset.spec.replicated_jobs.iter().map(pod_set).collect()
}

/// Returns the pods of succeeded Jobs by replicatedJob. They no longer need their quota.
pub fn reclaimable(jobset: &JobSet, succeeded: impl Fn(&str) -> u32) -> BTreeMap<String, u32> {
    let of_job = |job: &ReplicatedJob| {
        let succeeded = succeeded(&job.name);
        let counts = (1..=job.replicas).contains(&succeeded);
        counts.then(|| (job.name.clone(), succeeded.saturating_mul(pods_per_replica(job)).min(pods(job))))
    };
    jobset.spec.replicated_jobs.iter().filter_map(of_job).collect()
}
