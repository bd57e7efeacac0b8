//! The restart profile of a JobSet: the delays of whole restarts, measured by simulations at level `pods` of the JobSet
//! alone, without random faults.
//!
//! Only delays are measured. What a fault does, how long nodes are away and how long pods wait for them is simulated.

use sim_base::Duration;

/// Delays of a JobSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobSetProfile {
    /// Delays of starts from the submission on.
    pub starts: Vec<StartDelays>,
    /// Delays of restarts.
    pub restarts: Vec<RestartDelays>,
    /// Delays of restarts of single Jobs; empty if the failure policy has none.
    pub single_jobs: Vec<RestartDelays>,
    /// Delays of in-place restarts; empty with other strategies.
    pub in_place: Vec<InPlaceDelays>,
    /// From the first exit of a container that the kubelet restarts until all pods are ready again; empty if it
    /// restarts none.
    pub containers: Vec<Duration>,
    /// Times from the completion of the work to the condition Completed.
    pub endings: Vec<Duration>,
    /// Per Job, from the deletion of a running pod until it has ended.
    pub terminations: Vec<Duration>,
}

/// Delays from the binding of the last pod.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDelays {
    /// Until the containers of all pods run.
    pub running: Duration,
    /// Until all pods are ready.
    pub ready: Duration,
}

/// Delays of one start of a JobSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartDelays {
    /// Per Job, from the submission until its first pod is bound, and from then until its last pod is bound.
    pub placed: Vec<PlacementDelays>,
    pub pods: RunDelays,
}

/// When the pods of a Job are bound.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementDelays {
    /// From the beginning until the first pod is bound: the leader with exclusive placement.
    pub first: Duration,
    /// From the first pod to the last one.
    pub rest: Duration,
    /// From then until all pods of the Job are ready.
    pub ready: Duration,
}

/// Delays of one restart of a JobSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartDelays {
    /// Position of the replicatedJob whose Job failed.
    pub failed_rj: u32,
    /// Position of this Job among all Jobs of the JobSet.
    pub failed_job: usize,
    /// From the exit of a container until the phase of its pod is Failed.
    pub noticed: Duration,
    /// From then until all other pods of its Job are deleted.
    pub siblings_deleted: Duration,
    /// From the end of the last pod of a failing Job to its condition Failed.
    pub failed: Duration,
    /// From the condition Failed until the restart is counted, or the JobSet fails.
    pub counted: Duration,
    /// Per Job, from the count.
    pub jobs: Vec<JobDelays>,
    pub pods: RunDelays,
}

/// Delays of a Job that is deleted and created again, from the count of the restart.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct JobDelays {
    /// Until its nodes are free.
    pub released: Duration,
    /// Until the Job is gone.
    pub gone: Duration,
    /// Until the first pod of the new Job is bound.
    pub first: Duration,
    /// From the first pod to the last one.
    pub rest: Duration,
    /// From then until all pods of the Job are ready.
    pub ready: Duration,
}

/// Delays of an in-place restart, from the exit of a container.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct InPlaceDelays {
    /// Until the manager notices the new attempt.
    pub noticed: Duration,
    /// Until all pods are ready again.
    pub ready: Duration,
    /// From the binding of a replaced pod until all pods are ready again; zero if no fault takes nodes.
    pub replaced: Duration,
}

impl RestartDelays {
    /// Until the last Job is gone.
    pub fn all_gone(&self) -> Duration {
        self.jobs.iter().map(|job| job.gone).max().unwrap_or(Duration::ZERO)
    }
}
