//! Every delay of the model in one profile. The values and their sources are data: `src/inputs/presets/timing.yaml`.

use sim_base::Duration;
use sim_base::random::Dist;

/// Delays that are not queueing. Queueing is computed; these are what remains when nothing queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// One request, client to answer, on an API server with time to spare.
    pub api_read: Dist,
    pub api_write: Dist,
    /// Pod CREATE: two webhooks and admission on top.
    pub api_pod_create: Dist,
    /// Single kinds of requests of which the latency is known; instead of the three above.
    pub api_measured: Vec<MeasuredLatency>,
    /// From the API server's write to a controller's cache.
    pub watch_lag: Dist,
    /// A JobSet update reaching one of many watching agents.
    pub agent_fanout: Dist,
    /// The JobSet manager's listing of one pod from its cache, in every pass with InPlaceRestart.
    pub jobset_list_per_pod: Duration,
    /// For so long the Job controller gathers changes before it syncs a Job (SyncJobBatchPeriod).
    pub job_sync_batch_period: Duration,
    pub kubelet: Kubelet,
    pub scheduler: SchedulerCost,
}

/// One client's requests of one kind, in the words of an audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredLatency {
    pub client: String,
    pub verb: String,
    pub resource: String,
    pub latency: Dist,
}

impl Timing {
    /// Every request and every watch event takes its median.
    pub fn without_chance_of_the_server(mut self) -> Timing {
        for dist in [
            &mut self.api_read,
            &mut self.api_write,
            &mut self.api_pod_create,
            &mut self.watch_lag,
        ] {
            *dist = Dist::Fixed(dist.median());
        }
        self
    }
}

/// What kubelets do, sampled per pod and attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Kubelet {
    Real(Box<RealKubelet>),
    /// The scripted player of the recordings: fixed times, no PLEG, no probes.
    Scripted {
        start: Duration,
        stop: Duration,
        stop_exit_code: i32,
        restart: Duration,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct RealKubelet {
    /// PLEG relist period; a container's own exit is seen at the next relist.
    pub pleg_period: Duration,
    pub volumes: Dist,
    pub sandbox: Dist,
    /// Create and start of one container.
    pub container_start: Dist,
    /// Registry round trip of imagePullPolicy Always, image cached.
    pub image_check: Dist,
    pub status_write: Dist,
    /// How often a terminated pod's volumes are looked at until they are unmounted.
    pub unmount_poll: Duration,
    /// Time from SIGTERM to exit of a container that handles it.
    pub container_stop: Dist,
    /// Clean-up between the last exit and the object's removal.
    pub cleanup: Dist,
    /// Removing an exited container before an in-place restart.
    pub container_remove: Dist,
    /// Agent process start to first API call.
    pub agent_boot: Dist,
    /// SIGKILL floor (minimumGracePeriodInSeconds).
    pub minimum_grace: Duration,
}

/// Scheduling cycle: `fixed + per_node · nodes examined`, plus `affinity_per_node · nodes` for pods with
/// required (anti-)affinity.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SchedulerCost {
    pub fixed: Duration,
    pub per_node: Duration,
    pub affinity_per_node: Duration,
}
