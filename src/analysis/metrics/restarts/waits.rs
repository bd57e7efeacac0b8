//! Texts and rules for the waits on a critical path.
//!
//! A table; must never compute a time.

use super::path::{PathPart, PathStep};
use crate::metrics::admission::WaitCause;
use sim_engine::record::{LedgerResource, TicketWait};

/// Subject of a wait. Waits with equal subjects are added up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A shared resource: rate limiter of a client, worker pool, or a component that handles one item at a time.
    Shared(LedgerResource),
    /// Response of the API server to a request that was sent.
    ApiServer,
    Mechanism(TicketWait),
    /// Admission of the suspended JobSet: what its Workload waits for; `None` if it waits for a user or for its pods.
    Admission(Option<WaitCause>),
    /// Further failures of a Job, one of whose indexes has used up `backoffLimitPerIndex`.
    FailedIndexes,
    /// An event that did not occur until the end of the run.
    DeadEnd,
}

/// Description of [`WaitKind::FailedIndexes`].
pub const FAILED_INDEXES: &str =
    "more failed indexes than maxFailedIndexes (an index has used up its backoffLimitPerIndex)";

impl WaitKind {
    pub fn from_step(step: &PathStep) -> WaitKind {
        match (step.part, step.waited) {
            (PathPart::Open, _) => WaitKind::DeadEnd,
            (PathPart::FailedIndexes, _) => WaitKind::FailedIndexes,
            (PathPart::Admission(cause), _) => WaitKind::Admission(cause),
            (PathPart::Token, waited) => waited.resource().map_or(WaitKind::ApiServer, WaitKind::Shared),
            (PathPart::Answer, _) => WaitKind::ApiServer,
            (PathPart::Whole, waited) => match waited.resource() {
                Some(resource) => WaitKind::Shared(resource),
                None => WaitKind::Mechanism(waited),
            },
        }
    }
}

/// Formats a number with thousands separators: `12345` as `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Formats a number with its sign; zero has none: `+0.25`, `-1.00`, `0.00`.
pub fn with_sign(x: f64, digits: usize) -> String {
    let text = format!("{x:+.digits$}");
    if text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { text } else { text.trim_start_matches(['+', '-']).to_owned() }
}

/// Replaces `{pods}` in a text by the number of pods, at least 1.
pub fn with_pods(text: &str, pods: u32) -> String {
    text.replace("{pods}", &thousands(u64::from(pods.max(1))))
}

/// Returns the text for a mechanism with its rule in parentheses. `{pods}` is the number of pods of the restart.
pub fn mechanism_text(waited: TicketWait, pods: u32) -> String {
    let plain = plain(waited, pods);
    match (rule(waited), plain.strip_suffix(')')) {
        ("", _) => plain.to_owned(),
        (rule, Some(open)) => format!("{open}, {rule})"),
        (rule, None) => format!("{plain} ({rule})"),
    }
}

/// Returns the text for a mechanism without its rule. The texts are also keys of stored benchmark results.
pub fn plain(waited: TicketWait, pods: u32) -> &'static str {
    match waited {
        TicketWait::Script => "the next scheduled fault or repair",
        TicketWait::Request(_) => "API server latency",
        TicketWait::Queue(_) => "a work queue",
        TicketWait::Watch => "delivery of watch events to a cache",
        TicketWait::JobBatch => "Job controller batches pod events",
        TicketWait::ErrorBackoff => "work queue back-off after failed attempts",
        TicketWait::PodFailureBackoff => "Job controller back-off before it replaces failed pods",
        TicketWait::ActiveDeadline => "activeDeadlineSeconds of a Job",
        TicketWait::Ttl => "ttlSecondsAfterFinished",
        TicketWait::SchedulerBackoff => "scheduler back-off of unschedulable pods",
        TicketWait::Unschedulable => "no node fits",
        TicketWait::Cycle => "scheduling cycle",
        TicketWait::VolumeBinding => "scheduler waits for bound volumes, checked every 1 s",
        TicketWait::ContainerStart if pods > 1 => "slowest of {pods} container starts",
        TicketWait::ContainerStart => "container start",
        TicketWait::ImagePull => "image that cannot be pulled (ErrImagePull, ImagePullBackOff)",
        TicketWait::Running => "a container that runs until it exits",
        TicketWait::Pleg => "kubelet notices the exit (PLEG, every 1 s)",
        TicketWait::PodWorker => "kubelet pod worker terminates the pod, one sync per PLEG relist (every 1 s)",
        TicketWait::Grace => "termination grace period of the slowest pod",
        TicketWait::ContainerRestart => "containers stop and start again in place",
        TicketWait::Cleanup => "kubelet cleans up after the last container",
        TicketWait::StatusManager => "kubelet status manager, one pod PATCH at a time",
        TicketWait::Probe => "startup probe notices that the barrier is open",
        TicketWait::Readiness => "readiness of the containers (startup and readiness probes)",
        TicketWait::FanOut => "watch fan-out to {pods} agents",
        TicketWait::Listing => "JobSet manager lists the pods of the JobSet",
        TicketWait::NodeMonitor => "node monitor grace period, checked every 5 s",
        TicketWait::TaintLimiter => "one NoExecute taint per 10 s and zone",
        TicketWait::Toleration => "the pods' toleration of the taint",
        TicketWait::PodGc => "pod garbage collection, every 20 s, 40 s after the Node was removed",
        TicketWait::SilentNode => "an unresponsive node, until it is repaired or deleted",
        TicketWait::Restart => "restart of a controller",
        TicketWait::SliceFormation => "formation of a TPU slice",
        TicketWait::HangDetection => "detection of the hang",
        TicketWait::CorruptionDetection => "discovery of wrong results",
        TicketWait::RendezvousTimeout => "rendezvousTimeout of the training job",
        TicketWait::LastCall => "lastCall of the training job, a wait for more slices",
        TicketWait::AdmissionCheck => "report of an AdmissionCheck",
        TicketWait::PodsReadyTimeout => "Kueue's time limit for ready pods (waitForPodsReady)",
        TicketWait::RequeueBackoff => "Kueue's back-off before an evicted Workload is queued again",
        TicketWait::MaxExecutionTime => "Kueue's time limit of the Workload (max-exec-time-seconds)",
        TicketWait::UsageSample => "Kueue's next sample of the usage of queues",
        TicketWait::Quota => "quota of a queue of Kueue",
    }
}

/// Returns the rule behind a mechanism; empty if there is none.
pub fn rule(waited: TicketWait) -> &'static str {
    match waited {
        TicketWait::JobBatch | TicketWait::ErrorBackoff => "kubernetes.md 1.1",
        TicketWait::PodFailureBackoff => "kubernetes.md 1.5",
        TicketWait::SchedulerBackoff | TicketWait::Unschedulable => "kubernetes.md 2.1",
        TicketWait::Pleg | TicketWait::StatusManager => "kubernetes.md 3.1",
        TicketWait::ContainerStart | TicketWait::ImagePull | TicketWait::Readiness => "kubernetes.md 3.2",
        TicketWait::Grace | TicketWait::Cleanup | TicketWait::PodWorker => "kubernetes.md 3.5",
        TicketWait::ContainerRestart => "kubernetes.md 3.4, 3.6",
        TicketWait::Probe => "AG-5",
        TicketWait::Listing => "T-8",
        TicketWait::NodeMonitor | TicketWait::TaintLimiter | TicketWait::Toleration | TicketWait::PodGc => {
            "kubernetes.md 4.1"
        }
        _ => "",
    }
}

/// Returns the rule behind the wait of a step; empty if there is none.
pub fn rule_of(step: &PathStep) -> &'static str {
    match WaitKind::from_step(step) {
        WaitKind::Shared(resource) => rule_of_resource(resource),
        WaitKind::ApiServer => "kubernetes.md 6.1",
        WaitKind::DeadEnd | WaitKind::Admission(_) => "",
        WaitKind::FailedIndexes => "kubernetes.md 1.5",
        WaitKind::Mechanism(TicketWait::Watch | TicketWait::FanOut) => "kubernetes.md 6.1",
        WaitKind::Mechanism(TicketWait::SilentNode) => "kubernetes.md 4.1",
        WaitKind::Mechanism(TicketWait::ActiveDeadline | TicketWait::Ttl) => "kubernetes.md 1.6",
        WaitKind::Mechanism(waited) => rule(waited),
    }
}

/// Returns the rule that defines the rate or the number of workers of a resource.
fn rule_of_resource(resource: LedgerResource) -> &'static str {
    use LedgerResource::*;
    match resource {
        JobControllerClient | GarbageCollectorClient | TaintEvictionClient => "kubernetes.md 1.2",
        JobControllerWorkers => "kubernetes.md 1.1",
        GarbageCollectorWorkers => "kubernetes.md 5.4",
        SchedulerCycle | SchedulerBindClient => "kubernetes.md 2.2",
        JobSetClient | JobSetStatusClient | JobSetPodClient => "kubernetes.md 6.1",
        KueueJobSetClient | KueueWorkloadClient | KueuePodClient => "kubernetes.md 6.1",
        JobSetReconciler => "T-8",
        TaintLimiter => "kubernetes.md 4.1",
        NodeRequests => "kubernetes.md 5.3",
    }
}

/// Returns the text for the activity during a wait; `{of}` stands for the object concerned.
pub fn doing(waited: TicketWait) -> &'static str {
    match waited {
        TicketWait::Script => "waiting for the next scheduled fault or repair",
        TicketWait::Request(_) => "a request about {of}",
        TicketWait::Queue(_) => "{of} is in a work queue",
        TicketWait::Watch => "a change of {of} is delivered to its watchers",
        TicketWait::JobBatch => "the Job controller batches changes of {of}",
        TicketWait::ErrorBackoff => "{of} waits for its next attempt",
        TicketWait::PodFailureBackoff => "failed pods of {of} wait for replacement",
        TicketWait::ActiveDeadline => "{of} reaches its activeDeadlineSeconds",
        TicketWait::Ttl => "{of} is kept until ttlSecondsAfterFinished",
        TicketWait::SchedulerBackoff => "{of} waits for its next attempt",
        TicketWait::Unschedulable => "{of} is unschedulable",
        TicketWait::Cycle => "the scheduler searches for a node for {of}",
        TicketWait::VolumeBinding => "the volumes of {of} are bound",
        TicketWait::ContainerStart => "containers of {of} start",
        TicketWait::ImagePull => "an image of {of} cannot be pulled",
        TicketWait::Running => "containers of {of} run",
        TicketWait::Pleg => "the kubelet has not detected the exit of {of} yet",
        TicketWait::PodWorker => "the kubelet terminates {of}, one sync at a time",
        TicketWait::Grace => "containers of {of} stop",
        TicketWait::ContainerRestart => "containers of {of} stop and start again",
        TicketWait::Cleanup => "the kubelet cleans up {of}",
        TicketWait::StatusManager => "the kubelet sends the status of {of}",
        TicketWait::Probe => "the startup probe of {of} runs",
        TicketWait::Readiness => "the probes of {of} run until it is ready",
        TicketWait::FanOut => "the change of the JobSet is delivered to {of}",
        TicketWait::Listing => "the JobSet manager lists the pods of {of}",
        TicketWait::NodeMonitor => "{of} is unresponsive but still Ready",
        TicketWait::TaintLimiter => "{of} waits for its NoExecute taint",
        TicketWait::Toleration => "{of} stays on its node",
        TicketWait::PodGc => "{of} waits for pod garbage collection",
        TicketWait::SilentNode => "{of} cannot terminate",
        TicketWait::Restart => "the controller is down",
        TicketWait::SliceFormation => "a TPU slice is formed again",
        TicketWait::HangDetection => "the hang of {of} is not detected yet",
        TicketWait::CorruptionDetection => "{of} computes wrong results that are not discovered yet",
        TicketWait::RendezvousTimeout => "a process of {of} waits for the other processes",
        TicketWait::LastCall => "{of} waits for more slices",
        TicketWait::AdmissionCheck => "an AdmissionCheck of {of} is pending",
        TicketWait::PodsReadyTimeout => "Kueue waits until all pods of {of} are ready",
        TicketWait::RequeueBackoff => "the evicted Workload of {of} waits to be queued again",
        TicketWait::MaxExecutionTime => "the Workload of {of} reaches its maximum execution time",
        TicketWait::UsageSample => "Kueue samples the usage of its queues",
        TicketWait::Quota => "the Workload of {of} waits in its queue",
    }
}
