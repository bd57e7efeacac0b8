//! The Workload of a JobSet (`pkg/controller/jobs/jobset`).

use super::conditions::whole_seconds;
use super::object::{PodSet, Workload};
use super::status::WorkloadStatus;
use super::topology::{self, TopologyRequestError};
use serde_json::Value;
use sim_api::objects::{existing_priority_classes, priority_of};
use sim_api::spec::keys::{ADMISSION_GATED_BY, KUEUE_QUEUE};
use sim_api::spec::kueue::{POD_SETS_MAX, WorkloadPriorityClass};
use sim_api::spec::{JobSet, ReplicatedJob};
use sim_base::SimTime;

/// Label with the name of a WorkloadPriorityClass.
pub const PRIORITY_CLASS: &str = "kueue.x-k8s.io/priority-class";
/// Label with the longest execution time in seconds.
pub const MAX_EXECUTION_TIME: &str = "kueue.x-k8s.io/max-exec-time-seconds";

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
    /// Returns the priority of a Workload (`ExtractPriority`): that of its WorkloadPriorityClass, otherwise that of the
    /// first PriorityClass that a pod template names, otherwise that of the default class. A `priority` in a template
    /// has no effect.
    fn priority(&self, jobset: &JobSet) -> Result<i32, WorkloadError> {
        if let Some(name) = jobset.labels.get(PRIORITY_CLASS) {
            let class = self.of_workloads.iter().find(|class| class.name == *name);
            return class.map(|class| class.value).ok_or(WorkloadError::UnknownPriorityClass { name: name.clone() });
        }
        let jobs = jobset.object.iter().flat_map(|object| object["spec"]["replicatedJobs"].as_array());
        let mut templates = jobs.flatten().map(|job| &job["template"]["spec"]["template"]["spec"]);
        let named = templates.find(|spec| spec["priorityClassName"].as_str().is_some_and(|name| !name.is_empty()));
        let spec = named.unwrap_or(&Value::Null);
        let existing = existing_priority_classes(spec, self.of_pods.to_vec(), self.requires_declared);
        let priority = priority_of(spec, &existing).map(|(_, value)| i32::try_from(value).unwrap_or(i32::MAX));
        let name = || spec["priorityClassName"].as_str().unwrap_or_default().to_owned();
        priority.ok_or_else(|| WorkloadError::UnknownPodPriorityClass { name: name() })
    }
}

/// Returns the Workload of a JobSet. The caller names it and sets the UIDs.
pub fn workload(jobset: &JobSet, classes: &PriorityClasses<'_>, now: SimTime) -> Result<Workload, WorkloadError> {
    let count = jobset.spec.replicated_jobs.len();
    if count > POD_SETS_MAX {
        return Err(WorkloadError::TooManyPodSets { count });
    }
    let pod_set = |job: &ReplicatedJob| {
        let template = job.template.template.clone();
        let topology = topology::read(&template.annotations).map_err(WorkloadError::Topology)?;
        let topology = Some(topology);
        Ok(PodSet { name: job.name.clone(), count: pods(job), replicas: job.replicas, template, topology })
    };
    let pod_sets: Vec<PodSet> = jobset.spec.replicated_jobs.iter().map(pod_set).collect::<Result<_, _>>()?;
    Ok(Workload {
        namespace: jobset.namespace.clone(),
        name: jobset.name.clone(),
        uid: String::new(),
        job_uid: String::new(),
        queue: jobset.labels.get(KUEUE_QUEUE).cloned().unwrap_or_default(),
        priority: classes.priority(jobset)?,
        created: whole_seconds(now),
        active: true,
        admission_gates: jobset.annotations.get(ADMISSION_GATED_BY).cloned().unwrap_or_default(),
        max_execution_s: jobset.labels.get(MAX_EXECUTION_TIME).and_then(|value| value.parse().ok()),
        pod_sets: pod_sets.into(),
        status: WorkloadStatus::default(),
    })
}

/// Returns the pods of succeeded Jobs by replicatedJob. They no longer need their quota.
pub fn reclaimable(jobset: &JobSet, succeeded: impl Fn(&str) -> u32) -> std::collections::BTreeMap<String, u32> {
    let of_job = |job: &ReplicatedJob| {
        let succeeded = succeeded(&job.name);
        let counts = (1..=job.replicas).contains(&succeeded);
        counts.then(|| (job.name.clone(), succeeded.saturating_mul(pods_per_replica(job)).min(pods(job))))
    };
    jobset.spec.replicated_jobs.iter().filter_map(of_job).collect()
}
