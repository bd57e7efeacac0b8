//! A ticket: who waited, for what, from when to when, and which ticket it follows. Walking from a ticket to its parent
//! goes back in time without a gap.
//!
//! Made only for a sink that asks (`Sink::wants_tickets`); must never influence a run.

#![deny(missing_docs)]

use super::call::Call;
use super::outcome::Resource;
use sim_base::*;

/// No ticket.
pub const NO_TICKET: u32 = u32::MAX;

/// One wait. `parent`'s `to` is this one's `from`, unless `parent` is `NO_TICKET`: then the wait began by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its number in the run.
    pub id: u32,
    /// The ticket it follows.
    pub parent: u32,
    /// When it was asked for.
    pub from: Time,
    /// When the token bucket let it go; `from` for what needs no token.
    pub granted: Time,
    /// When it was answered, over, or taken from its queue.
    pub to: Time,
    /// What the wait was for.
    pub waited: Waited,
    /// Whom it was about.
    pub about: About,
}

/// The object that a wait was about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Nobody.
    Nothing,
    /// A JobSet.
    JobSet(JobSetId),
    /// A Job.
    Job(JobId),
    /// A pod.
    Pod(PodId),
    /// A node.
    Node(NodeId),
}

/// What somebody waited for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The instant of a submission, a scripted fault or a user's action.
    Script,
    /// A request: until `granted` for a token, then for the answer.
    Request(Call),
    /// In a work queue, until a worker (or the one who does one thing at a time) was free.
    Queue(Resource),
    /// A watch event on its way to a cache.
    Watch,
    /// kubernetes.md 1.1: the Job controller gathers changes of pods before it syncs.
    JobBatch,
    /// A work queue's delay after failed attempts.
    ErrorBackoff,
    /// kubernetes.md 1.5: the Job controller's delay before it replaces failed pods.
    PodFailureBackoff,
    /// activeDeadlineSeconds, ttlSecondsAfterFinished and other times of a spec.
    Deadline,
    /// kubernetes.md 2.1: the scheduler's back-off of a pod that fitted nowhere.
    SchedulerBackoff,
    /// Parked: no node fits until something changes.
    Unschedulable,
    /// The scheduling cycle of this pod.
    Cycle,
    /// kubernetes.md 3.2: volumes, sandbox, containers.
    ContainerStart,
    /// A container runs until it exits.
    Running,
    /// kubernetes.md 3.1: PLEG looks once a period.
    Pleg,
    /// kubernetes.md 3.5: the worker of a pod that ends takes its turns, each after a relist.
    PodWorker,
    /// Containers are stopped: within the grace period.
    Grace,
    /// kubernetes.md 3.4, 3.6: stop, remove and start again in place, crash back-off included.
    ContainerRestart,
    /// Clean-up after the last container.
    Cleanup,
    /// kubernetes.md 3.1: the kubelet's status manager, which sends one PATCH of a pod after the other.
    StatusManager,
    /// AG-5: the startup probe notices that the barrier is open.
    Probe,
    /// A JobSet update on its way to one of many agents.
    FanOut,
    /// T-8: the manager lists the pods of the JobSet.
    Listing,
    /// kubernetes.md 4.1: node-monitor-grace-period, looked at every 5 s.
    NodeMonitor,
    /// kubernetes.md 4.1: one NoExecute taint per 10 s and zone.
    TaintLimiter,
    /// The pod's toleration of the taint.
    Toleration,
    /// kubernetes.md 4.1: pod garbage collection, every 20 s, 40 s after the Node has gone.
    PodGc,
    /// A pod on a node that does not answer: nothing ends it until somebody acts.
    SilentNode,
    /// The clock of a controller that comes back (gate switch, manager restart).
    Restart,
}

impl Waited {
    /// The shared resource behind the wait, if many wait for the same.
    pub fn resource(self) -> Option<Resource> {
        match self {
            Waited::Request(call) => call.kind().bucket,
            Waited::Queue(resource) => Some(resource),
            Waited::TaintLimiter => Some(Resource::TaintLimiter),
            Waited::Cycle => Some(Resource::SchedulerCycle),
            _ => None,
        }
    }
}
