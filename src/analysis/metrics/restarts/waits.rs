//! Texts and rules for the waits on a critical path.
//!
//! A table; must never compute a time.

use super::path::{Part, PathStep};
use sim_engine::record::{Resource, Waited};

/// Subject of a wait. Waits with equal subjects are added up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A shared resource: rate limiter of a client, worker pool, or a component that handles one item at a time.
    Shared(Resource),
    /// Response of the API server to a request that was sent.
    ApiServer,
    Mechanism(Waited),
    /// An event that did not occur until the end of the run.
    DeadEnd,
}

impl What {
    pub fn of(step: &PathStep) -> What {
        match (step.part, step.waited) {
            (Part::Open, _) => What::DeadEnd,
            (Part::Token, waited) => waited.resource().map_or(What::ApiServer, What::Shared),
            (Part::Answer, _) => What::ApiServer,
            (Part::Whole, waited) => match waited.resource() {
                Some(resource) => What::Shared(resource),
                None => What::Mechanism(waited),
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
    match text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        true => text,
        false => text.trim_start_matches(['+', '-']).to_owned(),
    }
}

/// Replaces `{pods}` in a text by the number of pods, at least 1.
pub fn with_pods(text: &str, pods: u32) -> String {
    text.replace("{pods}", &thousands(u64::from(pods.max(1))))
}

/// Returns the text for a mechanism with its rule in parentheses. `{pods}` is the number of pods of the restart.
pub fn words(waited: Waited, pods: u32) -> String {
    let plain = plain(waited, pods);
    match (rule(waited), plain.strip_suffix(')')) {
        ("", _) => plain.to_owned(),
        (rule, Some(open)) => format!("{open}, {rule})"),
        (rule, None) => format!("{plain} ({rule})"),
    }
}

/// Returns the text for a mechanism without its rule. The texts are also keys of stored benchmark results.
pub fn plain(waited: Waited, pods: u32) -> &'static str {
    match waited {
        Waited::Script => "the next action of the script",
        Waited::Request(_) => "API server latency",
        Waited::Queue(_) => "a work queue",
        Waited::Watch => "watch events on their way to a cache",
        Waited::JobBatch => "Job controller batches pod events",
        Waited::ErrorBackoff => "a work queue's delay after failed attempts",
        Waited::PodFailureBackoff => "Job controller's back-off before it replaces failed pods",
        Waited::Deadline => "a deadline of the spec",
        Waited::SchedulerBackoff => "scheduler's back-off of pods that fitted nowhere",
        Waited::Unschedulable => "no node fits",
        Waited::Cycle => "scheduling cycle",
        Waited::ContainerStart if pods > 1 => "slowest of {pods} container starts",
        Waited::ContainerStart => "container start",
        Waited::Running => "a container that runs until it exits",
        Waited::Pleg => "kubelet notices the exit (PLEG, every 1 s)",
        Waited::PodWorker => "kubelet's worker ends the pod, each turn after a relist (every 1 s)",
        Waited::Grace => "termination grace period of the slowest pod",
        Waited::ContainerRestart => "containers stop and start again in place",
        Waited::Cleanup => "kubelet cleans up after the last container",
        Waited::StatusManager => "kubelet's status manager, one PATCH of a pod after the other",
        Waited::Probe => "startup probe notices that the barrier is open",
        Waited::FanOut => "watch fan-out to {pods} agents",
        Waited::Listing => "JobSet manager lists the pods of the JobSet",
        Waited::NodeMonitor => "node monitor grace period, looked at every 5 s",
        Waited::TaintLimiter => "one NoExecute taint per 10 s and zone",
        Waited::Toleration => "the pods' toleration of the taint",
        Waited::PodGc => "pod garbage collection, every 20 s, 40 s after the Node has gone",
        Waited::SilentNode => "a node that does not answer, until somebody acts",
        Waited::Restart => "a controller that comes back",
    }
}

/// Returns the rule behind a mechanism; empty if there is none.
pub fn rule(waited: Waited) -> &'static str {
    match waited {
        Waited::JobBatch | Waited::ErrorBackoff => "kubernetes.md 1.1",
        Waited::PodFailureBackoff => "kubernetes.md 1.5",
        Waited::SchedulerBackoff | Waited::Unschedulable => "kubernetes.md 2.1",
        Waited::Pleg | Waited::StatusManager => "kubernetes.md 3.1",
        Waited::ContainerStart => "kubernetes.md 3.2",
        Waited::Grace | Waited::Cleanup | Waited::PodWorker => "kubernetes.md 3.5",
        Waited::ContainerRestart => "kubernetes.md 3.4, 3.6",
        Waited::Probe => "AG-5",
        Waited::Listing => "T-8",
        Waited::NodeMonitor | Waited::TaintLimiter | Waited::Toleration | Waited::PodGc => {
            "kubernetes.md 4.1"
        }
        _ => "",
    }
}

/// Returns the rule behind the wait of a step; empty if there is none.
pub fn rule_of(step: &PathStep) -> &'static str {
    match What::of(step) {
        What::Shared(resource) => rule_of_resource(resource),
        What::ApiServer => "kubernetes.md 6.1",
        What::DeadEnd => "",
        What::Mechanism(Waited::Watch | Waited::FanOut) => "kubernetes.md 6.1",
        What::Mechanism(Waited::SilentNode) => "kubernetes.md 4.1",
        What::Mechanism(Waited::Deadline) => "kubernetes.md 1.6",
        What::Mechanism(waited) => rule(waited),
    }
}

/// Returns the rule that defines the rate or the number of workers of a resource.
fn rule_of_resource(resource: Resource) -> &'static str {
    use Resource::*;
    match resource {
        JobControllerClient | GarbageCollectorClient | TaintEvictionClient => "kubernetes.md 1.2",
        JobControllerWorkers => "kubernetes.md 1.1",
        GarbageCollectorWorkers => "kubernetes.md 5.4",
        SchedulerCycle | SchedulerBindClient => "kubernetes.md 2.2",
        JobSetClient | JobSetStatusClient | JobSetPodClient => "kubernetes.md 6.1",
        JobSetReconciler => "T-8",
        TaintLimiter => "kubernetes.md 4.1",
        NodeRequests => "kubernetes.md 5.3",
    }
}

/// Returns the text for the activity during a wait; `{of}` stands for the object concerned.
pub fn doing(waited: Waited) -> &'static str {
    match waited {
        Waited::Script => "nothing, until the script acts",
        Waited::Request(_) => "a request about {of}",
        Waited::Queue(_) => "{of} is in a work queue",
        Waited::Watch => "a change of {of} reaches who watches it",
        Waited::JobBatch => "the Job controller gathers changes of {of}",
        Waited::ErrorBackoff => "{of} is tried again later",
        Waited::PodFailureBackoff => "failed pods of {of} are not replaced yet",
        Waited::Deadline => "{of} comes to its deadline",
        Waited::SchedulerBackoff => "{of} is tried again later",
        Waited::Unschedulable => "{of} is parked",
        Waited::Cycle => "the scheduler looks for a node for {of}",
        Waited::ContainerStart => "containers of {of} start",
        Waited::Running => "containers of {of} run",
        Waited::Pleg => "the kubelet of {of} does not know yet",
        Waited::PodWorker => "the kubelet ends {of}, turn by turn",
        Waited::Grace => "containers of {of} stop",
        Waited::ContainerRestart => "containers of {of} stop and start again",
        Waited::Cleanup => "what is left of {of} is cleaned up",
        Waited::StatusManager => "the status of {of} is sent",
        Waited::Probe => "{of} is probed",
        Waited::FanOut => "the JobSet's change reaches {of}",
        Waited::Listing => "the pods of {of} are listed",
        Waited::NodeMonitor => "{of} is silent, and counts as alive",
        Waited::TaintLimiter => "{of} waits for its NoExecute taint",
        Waited::Toleration => "{of} stays on its node",
        Waited::PodGc => "{of} waits for pod garbage collection",
        Waited::SilentNode => "{of} cannot end",
        Waited::Restart => "the controller is down",
    }
}
