//! The Workload of a JobSet (`pkg/controller/jobs/jobset`).

use super::object::{PodSet, Workload};
use super::status::WorkloadStatus;
use super::topology::{self, TopologyRequestError};
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
    /// The API server refuses the Workload.
    TooManyPodSets {
        count: usize,
    },
}

/// Returns the Workload of a JobSet. The caller names it and sets the UIDs.
pub fn workload(jobset: &JobSet, classes: &[WorkloadPriorityClass], now: SimTime) -> Result<Workload, WorkloadError> {
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
    let find = |name: &String| {
        let class = classes.iter().find(|class| class.name == *name);
        class.ok_or_else(|| WorkloadError::UnknownPriorityClass { name: name.clone() })
    };
    let class = jobset.labels.get(PRIORITY_CLASS).map(find).transpose()?;
    // Without a class of Kueue, the priority of the first pod template that has one counts.
    let of_pods = || pod_sets.iter().map(|p| p.template.spec.priority).find(|p| *p != 0).unwrap_or(0);
    Ok(Workload {
        namespace: jobset.namespace.clone(),
        name: jobset.name.clone(),
        uid: String::new(),
        job_uid: String::new(),
        queue: jobset.labels.get(KUEUE_QUEUE).cloned().unwrap_or_default(),
        priority: class.map_or_else(of_pods, |class| class.value),
        created: whole_seconds(now),
        active: true,
        admission_gates: jobset.annotations.get(ADMISSION_GATED_BY).cloned().unwrap_or_default(),
        max_execution_s: jobset.labels.get(MAX_EXECUTION_TIME).and_then(|value| value.parse().ok()),
        pod_sets: pod_sets.into(),
        status: WorkloadStatus::default(),
    })
}

/// Truncates a time to whole seconds, the precision of the API.
pub fn whole_seconds(time: SimTime) -> SimTime {
    SimTime(time.0 / 1_000_000_000 * 1_000_000_000)
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
