//! Tickets: who waited, for what, from when to when, and which ticket came before. Following the parents leads back
//! in time without a gap.
//!
//! Created only for a sink that requests them (`RecordSink::receives_tickets`); must never influence a run.

#![deny(missing_docs)]

use super::call::Call;
use super::outcome::LedgerResource;
use sim_base::{JobId, JobSetId, NodeId, PodId, SimTime};

/// Absence of a ticket.
pub const NO_TICKET: u32 = u32::MAX;

/// One wait. It starts at the `to` of its `parent`; without a parent (`NO_TICKET`), it starts independently.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WorkTicket {
    /// Number of the ticket in the run.
    pub id: u32,
    /// The preceding ticket.
    pub parent: u32,
    /// Start of the wait.
    pub from: SimTime,
    /// Time at which the token bucket granted the request; equal to `from` if no token is needed.
    pub granted: SimTime,
    /// End of the wait: the response, the expiry, or the removal from the queue.
    pub to: SimTime,
    /// Requests in flight at the API server when the request arrived; 0 for other waits.
    pub in_flight: u32,
    /// Reason for the wait.
    pub wait: TicketWait,
    /// The object of the wait.
    pub subject: TicketSubject,
}

/// The object that a wait was about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TicketSubject {
    /// The ticket concerns no object.
    Nothing,
    /// The object is a JobSet.
    JobSet(JobSetId),
    /// The object is a Job.
    Job(JobId),
    /// The object is a pod.
    Pod(PodId),
    /// The object is a node.
    Node(NodeId),
}

/// What a component waited for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TicketWait {
    /// The time of a submission, a scripted fault or a user's action.
    Script,
    /// A request: until `granted` for a token, then for the response.
    Request(Call),
    /// A work queue, until a worker was available.
    Queue(LedgerResource),
    /// Delivery of a watch event to a cache.
    Watch,
    /// kubernetes.md 1.1: the Job controller batches pod changes before it syncs.
    JobBatch,
    /// The delay of a work queue after failed attempts.
    ErrorBackoff,
    /// kubernetes.md 1.5: the Job controller's delay before it replaces failed pods.
    PodFailureBackoff,
    /// activeDeadlineSeconds of a Job.
    ActiveDeadline,
    /// ttlSecondsAfterFinished of a JobSet or Job.
    Ttl,
    /// kubernetes.md 2.1: the scheduler's back-off for a pod that fitted no node.
    SchedulerBackoff,
    /// The unschedulable queue: no node fits until something changes.
    Unschedulable,
    /// The scheduling cycle of the pod.
    Cycle,
    /// kubernetes.md 2.2: the scheduler checks each second whether the volumes of the pod are bound.
    VolumeBinding,
    /// kubernetes.md 3.2: volumes, sandbox, containers.
    ContainerStart,
    /// kubernetes.md 3.2: an image that cannot be pulled, until the pull is retried.
    ImagePull,
    /// A running container, until it exits.
    Running,
    /// kubernetes.md 3.1: the next PLEG relist.
    Pleg,
    /// kubernetes.md 3.5: the pod worker of a terminating pod, which continues after each relist.
    PodWorker,
    /// Stopping containers, within the grace period.
    Grace,
    /// kubernetes.md 3.4, 3.6: stop, removal and restart in place, including crash back-off.
    ContainerRestart,
    /// Clean-up after the last container has stopped.
    Cleanup,
    /// kubernetes.md 3.1: the kubelet's status manager, which sends one PATCH of a pod after another.
    StatusManager,
    /// AG-5: the startup probe detects that the barrier is lifted.
    Probe,
    /// Delivery of a JobSet update to one of many agents.
    FanOut,
    /// T-8: the manager's list of the JobSet's pods.
    Listing,
    /// kubernetes.md 4.1: node-monitor-grace-period, checked every 5 s.
    NodeMonitor,
    /// kubernetes.md 4.1: one NoExecute taint per 10 s and zone.
    TaintLimiter,
    /// The pod's toleration period for the taint.
    Toleration,
    /// kubernetes.md 4.1: pod garbage collection, every 20 s, 40 s after the Node was deleted.
    PodGc,
    /// A pod on an unresponsive node: it remains until a user or controller removes it.
    SilentNode,
    /// Downtime of a controller (feature gate change, manager restart).
    Restart,
    /// Optical switches connect the cubes of a TPU slice again.
    SliceFormation,
    /// Time until a hang of a training process is detected.
    HangDetection,
    /// Time until it is discovered that a training job computes wrong results.
    CorruptionDetection,
    /// Time that a training process waits for the other ones, `rendezvousTimeout`.
    RendezvousTimeout,
    /// Time that a training job waits for more slices, `lastCall`.
    LastCall,
    /// Time until the controller of an AdmissionCheck reports.
    AdmissionCheck,
    /// Kueue's time limit until the pods of an admitted Workload are ready, `waitForPodsReady`.
    PodsReadyTimeout,
    /// Kueue's back-off before an evicted Workload is queued again.
    RequeueBackoff,
    /// Kueue's time limit of an admitted Workload, `max-exec-time-seconds`.
    MaxExecutionTime,
    /// Next sample of the usage that orders Kueue's queues.
    UsageSample,
    /// Time that a Workload waits in a queue of Kueue until it has quota.
    Quota,
    /// Time from the start of a container until its startup and readiness probes have succeeded.
    Readiness,
}

impl TicketWait {
    /// The shared resource that was waited for, if any.
    pub fn resource(self) -> Option<LedgerResource> {
        match self {
            TicketWait::Request(call) => call.kind().bucket,
            TicketWait::Queue(resource) => Some(resource),
            TicketWait::TaintLimiter => Some(LedgerResource::TaintLimiter),
            TicketWait::Cycle => Some(LedgerResource::SchedulerCycle),
            _ => None,
        }
    }
}
