//! The steps a restart of each shape goes through: words, boundaries, and what each step waits for.
//!
//! A table; must never compute anything.

use super::restart::{Milestone, Shape};
use super::spans::Phase;
use crate::record::Resource;

/// What a span means: where it ends, what happens in it, what can make it long.
#[derive(Debug, PartialEq)]
pub struct Step {
    pub phase: Phase,
    /// Ends at the earliest of these that happened; empty: at the end of the restart.
    pub(super) until: &'static [Milestone],
    pub what: &'static str,
    /// Shared resources that this step waits for.
    pub resources: &'static [Resource],
    /// What takes the time when no resource is short. `{pods}` is the number of pods of the restart.
    pub mechanism: &'static str,
}

macro_rules! step {
    ($phase:ident, [$($until:ident),*], $what:literal, [$($resource:ident),*], $mechanism:literal) => {
        Step {
            phase: Phase::$phase,
            until: &[$(Milestone::$until),*],
            what: $what,
            resources: &[$(Resource::$resource),*],
            mechanism: $mechanism,
        }
    };
}

static RECREATE: [Step; 9] = [
    step!(
        Detect,
        [PodFailed, PodDeleting],
        "failure reaches the API server",
        [NodeRequests, TaintLimiter, TaintEvictionClient],
        "node monitor grace period, then the pods' toleration of the taint"
    ),
    step!(
        Terminate,
        [FailureTarget],
        "Job controller stops the sibling pods",
        [JobControllerClient, JobControllerWorkers],
        "Job controller batches pod events for 1 s"
    ),
    step!(
        Terminate,
        [JobFailed],
        "pods end, finalizers come off, Job is Failed",
        [JobControllerClient, JobControllerWorkers, NodeRequests],
        "termination grace period and 1 s batching"
    ),
    step!(
        Terminate,
        [FirstJobDeleting],
        "JobSet controller decides to restart",
        [JobSetClient, JobSetReconciler],
        "one reconcile of the JobSet"
    ),
    step!(
        Terminate,
        [LastJobGone],
        "old Jobs and pods are deleted",
        [
            GarbageCollectorClient,
            GarbageCollectorWorkers,
            JobSetClient,
            JobControllerClient,
            NodeRequests
        ],
        "termination grace period of the slowest pod"
    ),
    step!(
        Recreate,
        [FirstPodCreated],
        "JobSet controller creates the Jobs",
        [JobSetClient, JobSetReconciler, JobControllerWorkers],
        "reconcile and watch delays"
    ),
    step!(
        Recreate,
        [LastPodCreated],
        "Job controller creates {pods} pods",
        [
            JobControllerClient,
            JobControllerWorkers,
            SchedulerCycle,
            JobSetReconciler
        ],
        "batches of pods of one Job, one after another"
    ),
    step!(
        Schedule,
        [LastPodBound],
        "scheduler binds the last pods",
        [SchedulerCycle, SchedulerBindClient, JobControllerClient],
        "one scheduling cycle per pod"
    ),
    step!(
        Start,
        [],
        "containers start",
        [NodeRequests],
        "slowest of {pods} container starts"
    ),
];

static IN_PLACE: [Step; 9] = [
    step!(
        Detect,
        [AttemptsFirst, PodFailed, PodDeleting],
        "failed container is back, its agent asks for a restart",
        [NodeRequests],
        "kubelet notices the exit (PLEG, every 1 s) and restarts the container"
    ),
    step!(
        Terminate,
        [LastOldPodGone],
        "failed pods are removed",
        [JobControllerClient, GarbageCollectorClient, NodeRequests],
        "termination grace period"
    ),
    step!(
        Recreate,
        [LastPodCreated],
        "Job controller replaces the failed pods",
        [JobControllerClient, JobControllerWorkers],
        "Job controller batches pod events for 1 s"
    ),
    step!(
        Schedule,
        [LastPodBound],
        "scheduler binds the new pods",
        [SchedulerCycle, SchedulerBindClient],
        "one scheduling cycle per pod"
    ),
    step!(
        Detect,
        [PreviousWritten],
        "JobSet controller orders the restart",
        [JobSetClient, JobSetReconciler],
        "one reconcile of the JobSet"
    ),
    step!(
        Terminate,
        [LastContainersRestarting],
        "the order reaches every agent",
        [NodeRequests],
        "watch fan-out to {pods} agents"
    ),
    step!(
        Start,
        [AttemptsLast],
        "containers restart, agents report the new attempt",
        [NodeRequests],
        "container stop, restart and agent boot, slowest of {pods}"
    ),
    step!(
        Barrier,
        [CurrentWritten],
        "JobSet controller sees all agents, opens the barrier",
        [JobSetReconciler, JobSetClient, NodeRequests],
        "agents' reports are read, one reconcile"
    ),
    step!(
        Start,
        [],
        "barrier lifts, pods become ready",
        [NodeRequests],
        "startup probe and status update, slowest of {pods}"
    ),
];

static POD_REPLACEMENT: [Step; 5] = [
    step!(
        Detect,
        [PodFailed, PodDeleting],
        "failure reaches the API server",
        [NodeRequests, TaintLimiter, TaintEvictionClient],
        "node monitor grace period, then the pods' toleration of the taint"
    ),
    step!(
        Terminate,
        [LastOldPodGone],
        "failed pod is removed",
        [JobControllerClient, GarbageCollectorClient],
        "termination grace period"
    ),
    step!(
        Recreate,
        [LastPodCreated],
        "Job controller replaces the pod",
        [JobControllerClient, JobControllerWorkers],
        "Job controller's back-off and 1 s batching"
    ),
    step!(
        Schedule,
        [LastPodBound],
        "scheduler binds it",
        [SchedulerCycle, SchedulerBindClient],
        "one scheduling cycle per pod"
    ),
    step!(
        Start,
        [],
        "containers start",
        [NodeRequests],
        "container start"
    ),
];

static CONTAINER_RESTART: [Step; 2] = [
    step!(
        Detect,
        [FirstContainersRestarting],
        "kubelet notices the exit",
        [NodeRequests],
        "kubelet notices the exit (PLEG, every 1 s)"
    ),
    step!(
        Start,
        [],
        "container starts again",
        [NodeRequests],
        "container start"
    ),
];

/// The steps of a shape, in order.
pub fn steps_of(shape: Shape) -> &'static [Step] {
    match shape {
        Shape::Recreate | Shape::RestartJob => &RECREATE,
        Shape::InPlaceRestart => &IN_PLACE,
        Shape::PodReplacement => &POD_REPLACEMENT,
        Shape::ContainerRestart => &CONTAINER_RESTART,
    }
}
