//! What the steps of a path wait for, and its words.
//!
//! A table; must never compute a time.

use super::path::{Part, PathStep};
use crate::record::{Resource, Waited};

/// One thing to wait for. Waits for the same thing add up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The token bucket of a client, a pool of workers, or somebody who does one thing at a time.
    Shared(Resource),
    /// The answer to a request, once it is sent.
    ApiServer,
    Mechanism(Waited),
    /// Something that never came.
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

/// `12345` as `12,345`.
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

/// Fills the number of pods into a text.
pub fn with_pods(text: &str, pods: u32) -> String {
    text.replace("{pods}", &thousands(u64::from(pods.max(1))))
}

/// A mechanism in plain words with its rule; `{pods}` is the number of pods of the restart.
pub fn words(waited: Waited, pods: u32) -> &'static str {
    match waited {
        Waited::Script => "the next action of the script",
        Waited::Request(_) => "API server latency",
        Waited::Queue(_) => "a work queue",
        Waited::Watch => "watch events on their way to a cache",
        Waited::JobBatch => "Job controller batches pod events for 1 s (kubernetes.md 1.1)",
        Waited::ErrorBackoff => "a work queue's delay after failed attempts (kubernetes.md 1.1)",
        Waited::PodFailureBackoff => {
            "Job controller's back-off before it replaces failed pods (kubernetes.md 1.5)"
        }
        Waited::Deadline => "a deadline of the spec",
        Waited::SchedulerBackoff => {
            "scheduler's back-off of pods that fitted nowhere (kubernetes.md 2.1)"
        }
        Waited::Unschedulable => "no node fits (kubernetes.md 2.1)",
        Waited::Cycle => "scheduling cycle",
        Waited::ContainerStart if pods > 1 => {
            "slowest of {pods} container starts (kubernetes.md 3.2)"
        }
        Waited::ContainerStart => "container start (kubernetes.md 3.2)",
        Waited::Running => "a container that runs until it exits",
        Waited::Pleg => "kubelet notices the exit (PLEG, every 1 s, kubernetes.md 3.1)",
        Waited::Grace => "termination grace period of the slowest pod (kubernetes.md 3.5)",
        Waited::ContainerRestart => {
            "containers stop and start again in place (kubernetes.md 3.4, 3.6)"
        }
        Waited::Cleanup => "kubelet cleans up after the last container (kubernetes.md 3.5)",
        Waited::StatusManager => {
            "kubelet's status manager, one PATCH of a pod after the other (kubernetes.md 3.1)"
        }
        Waited::Probe => "startup probe notices that the barrier is open (AG-5)",
        Waited::FanOut => "watch fan-out to {pods} agents",
        Waited::Listing => "JobSet manager lists the pods of the JobSet (T-8)",
        Waited::NodeMonitor => "node monitor grace period, looked at every 5 s (kubernetes.md 4.1)",
        Waited::TaintLimiter => "one NoExecute taint per 10 s and zone (kubernetes.md 4.1)",
        Waited::Toleration => "the pods' toleration of the taint (kubernetes.md 4.1)",
        Waited::PodGc => {
            "pod garbage collection, every 20 s, 40 s after the Node has gone (kubernetes.md 4.1)"
        }
        Waited::SilentNode => "a node that does not answer, until somebody acts",
        Waited::Restart => "a controller that comes back",
    }
}
