//! Steps that a restart of each shape consists of, with their texts and ends.
//!
//! A table; must never compute anything.

#![deny(missing_docs)]

use super::phases::Phase;
use super::restart::{Milestone, RestartScope};

/// Step of a restart. `{pods}` in its text stands for the number of pods of the restart.
#[derive(Debug, PartialEq)]
pub struct RestartStep {
    /// Phase that the step belongs to.
    pub phase: Phase,
    /// The step ends at the earliest of these milestones that was reached; if empty, at the end of the restart.
    pub(crate) until: &'static [Milestone],
    /// Description of the activity.
    pub what: &'static str,
}

macro_rules! step {
    ($phase:ident, [$($until:ident),*], $what:literal) => {
        RestartStep {
            phase: Phase::$phase,
            until: &[$(Milestone::$until),*],
            what: $what,
        }
    };
}

/// Step of the times in which pods wait for capacity, whatever the shape of the restart.
pub(crate) static CAPACITY: RestartStep = step!(Capacity, [], "pods wait for a node to return or become free");

/// Step of the times in which the JobSet is suspended, whatever the shape of the restart.
pub(crate) static QUEUE: RestartStep = step!(Queue, [], "JobSet waits for admission");

/// Step of the time in which a deleted pod cannot be removed, although other pods run already.
pub(crate) static STUCK: RestartStep = step!(Terminate, [], "a pod cannot be removed from an unresponsive node");

static RECREATE: [RestartStep; 9] = [
    step!(Detect, [PodFailed, PodDeleting], "failure reaches the API server"),
    step!(Terminate, [FailureTarget], "Job controller stops the sibling pods"),
    step!(Terminate, [JobFailed], "pods terminate, finalizers are removed, Job becomes Failed"),
    step!(Terminate, [FirstJobDeleting], "JobSet controller decides to restart"),
    step!(Terminate, [LastJobGone], "old Jobs and pods are deleted"),
    step!(Recreate, [FirstPodCreated], "JobSet controller creates the Jobs"),
    step!(Recreate, [LastPodCreated], "Job controller creates {pods} pods"),
    step!(Schedule, [LastPodBound], "scheduler binds the last pods"),
    step!(Start, [], "containers start"),
];

static IN_PLACE: [RestartStep; 9] = [
    step!(
        Detect,
        [AttemptsFirst, PodFailed, PodDeleting],
        "failed container is running again, its agent requests a restart"
    ),
    step!(Terminate, [LastOldPodGone], "failed pods are removed"),
    step!(Recreate, [LastPodCreated], "Job controller replaces the failed pods"),
    step!(Schedule, [LastPodBound], "scheduler binds the new pods"),
    step!(Detect, [PreviousWritten], "JobSet controller requests the restart"),
    step!(Terminate, [LastContainersRestarting], "the request reaches every agent"),
    step!(Start, [AttemptsLast], "containers restart, agents report the new attempt"),
    step!(Barrier, [CurrentWritten], "JobSet controller observes all agents and opens the barrier"),
    step!(Start, [], "barrier opens, pods become ready"),
];

static POD_REPLACEMENT: [RestartStep; 5] = [
    step!(Detect, [PodFailed, PodDeleting], "failure reaches the API server"),
    step!(Terminate, [LastOldPodGone], "failed pod is removed"),
    step!(Recreate, [LastPodCreated], "Job controller replaces the pod"),
    step!(Schedule, [LastPodBound], "scheduler binds the pod"),
    step!(Start, [], "containers start"),
];

static RESUME: [RestartStep; 5] = [
    step!(Detect, [PodFailed, PodDeleting], "failure, eviction or suspension leads to the deletion of pods"),
    step!(Terminate, [LastOldPodGone], "pods of the suspended Jobs end"),
    step!(Recreate, [LastPodCreated], "Job controller creates {pods} pods"),
    step!(Schedule, [LastPodBound], "scheduler binds the last pods"),
    step!(Start, [], "containers start"),
];

static CONTAINER_RESTART: [RestartStep; 2] =
    [step!(Detect, [FirstContainersRestarting], "kubelet notices the exit"), step!(Start, [], "container restarts")];

/// Returns the steps of a shape, in order.
pub fn steps_of(shape: RestartScope) -> &'static [RestartStep] {
    match shape {
        RestartScope::Recreate | RestartScope::RestartJob => &RECREATE,
        RestartScope::Resume => &RESUME,
        RestartScope::InPlaceRestart => &IN_PLACE,
        RestartScope::PodReplacement => &POD_REPLACEMENT,
        RestartScope::ContainerRestart => &CONTAINER_RESTART,
    }
}
