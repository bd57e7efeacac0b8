//! All delays of the model in one profile. The values and their sources are in `src/inputs/presets/timing.yaml`.

use sim_base::Duration;
use sim_base::random::Distribution;

/// Delays without queueing time. The simulation computes queueing time separately.
#[derive(Clone, Debug, PartialEq)]
pub struct TimingSpec {
    /// Latency of one read request of a client to an API server without load.
    pub api_read: Distribution,
    pub api_write: Distribution,
    /// Latency of a pod CREATE request, including two webhooks and admission.
    pub api_pod_create: Distribution,
    /// Measured latencies of specific kinds of requests, used instead of the three fields above.
    pub api_measured: Vec<MeasuredLatency>,
    /// Time from the API server's write to the update of a controller's cache.
    pub watch_lag: Distribution,
    /// Time until a JobSet update reaches one of many watching agents.
    pub agent_fanout: Distribution,
    /// Time for the JobSet manager to list one pod from its cache, in every reconciliation with InPlaceRestart.
    pub jobset_list_per_pod: Duration,
    /// Time during which the Job controller collects changes before it syncs a Job (SyncJobBatchPeriod).
    pub job_sync_batch_period: Duration,
    pub kubelet: KubeletTiming,
    pub scheduler: SchedulerCost,
}

/// Latency of one kind of request of one client, identified by the terms of an audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredLatency {
    pub client: String,
    pub verb: String,
    pub resource: String,
    pub latency: Distribution,
    /// Requests in flight at the API server when requests of this kind were sent, ascending: the latency has the same
    /// rank as the load. Empty if the latency does not depend on the load.
    pub loads: Vec<u32>,
}

impl TimingSpec {
    /// Index in `api_measured` of a kind of request: client, verb and resource.
    pub fn measured_kind(&self, kind: (&str, &str, &str)) -> Option<usize> {
        self.api_measured.iter().position(|m| (m.client.as_str(), m.verb.as_str(), m.resource.as_str()) == kind)
    }

    /// Replaces the latency of requests and watch events by its median.
    pub fn with_median_api_latency(mut self) -> TimingSpec {
        for dist in [&mut self.api_read, &mut self.api_write, &mut self.api_pod_create, &mut self.watch_lag] {
            *dist = Distribution::Fixed(dist.median());
        }
        self
    }
}

/// Durations of kubelet operations, sampled per pod and attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum KubeletTiming {
    Real(Box<RealKubelet>),
    /// The scripted kubelet of the recordings: fixed times, no PLEG, no probes.
    Scripted {
        start: Duration,
        stop: Duration,
        stop_exit_code: i32,
        restart: Duration,
        /// Whether every pod has an in-place restart agent, whatever its JobSet contains.
        has_agents: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct RealKubelet {
    /// PLEG relist period. The kubelet observes a container's exit at the next relist.
    pub pleg_period: Duration,
    pub volumes: Distribution,
    pub sandbox: Distribution,
    pub container_start: Distribution,
    /// Time of the registry round trip for imagePullPolicy Always if the image is cached.
    pub image_check: Distribution,
    pub status_write: Distribution,
    /// Polling interval for the unmounting of a terminated pod's volumes.
    pub unmount_poll: Duration,
    /// Time from SIGTERM to exit of a container that handles it.
    pub container_stop: Distribution,
    /// Time from the last exit to the removal of the pod object.
    pub cleanup: Distribution,
    /// Time to remove an exited container before an in-place restart.
    pub container_remove: Distribution,
    /// Time from the start of the agent process to its first API call.
    pub agent_boot: Distribution,
    /// Minimum grace period before SIGKILL (minimumGracePeriodInSeconds).
    pub minimum_grace: Duration,
}

/// Cost of a scheduling cycle: `fixed + per_node · nodes examined + per_feasible_node · feasible nodes found`, plus
/// what the terms of the pod and of the pods on the nodes cost.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct SchedulerCost {
    pub fixed: Duration,
    pub per_node: Duration,
    pub per_feasible_node: Duration,
    /// Per node and per pod on the nodes, if the pod has required terms of affinity or anti-affinity (PreFilter of
    /// InterPodAffinity compares the pod with all others).
    pub affinity_per_node: Duration,
    /// The same for preferred terms (PreScore of InterPodAffinity).
    pub preferred_per_node: Duration,
    /// Per pod with terms on the nodes, and per node with such pods, which are compared with the pod: required
    /// anti-affinity in PreFilter, affinity and preferred terms in PreScore.
    pub existing_term: Duration,
    /// Per cycle of a pod with node affinity.
    pub node_affinity: Duration,
    /// Per node that the pod's selectors allow, for each constraint `DoNotSchedule` of PodTopologySpread.
    pub hard_spread_per_node: Duration,
    /// The same for each constraint `ScheduleAnyway`, also the default ones.
    pub soft_spread_per_node: Duration,
    /// Per PersistentVolumeClaim of the pod.
    pub per_claim: Duration,
}
