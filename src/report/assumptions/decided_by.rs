//! Tables that map each control plane default and each delay of the timing profile to the critical path steps that
//! depend on it.

use sim_analysis::metrics::restarts::path::{Part, PathStep};
use sim_analysis::metrics::restarts::waits::What;
use sim_api::spec::{ControlPlane, Kubelet, RealKubelet, Timing};
use sim_engine::record::call::Cost;
use sim_engine::record::{Resource, Waited};

/// A rate, worker count or grace period of the control plane.
pub struct Rate {
    pub name: &'static str,
    /// Path below `controlPlane` in `--set` and in the presets.
    pub field: &'static str,
    /// Path in the values that are common to all presets.
    pub preset_field: &'static str,
    pub unit: &'static str,
    pub resource: Option<Resource>,
    /// Whether the entry is listed whenever its resource is used, even off the critical path. Set for limits with an
    /// unverified value.
    pub always: bool,
    pub value: fn(&ControlPlane) -> f64,
    pub waits: fn(&PathStep) -> bool,
}

/// A delay of the timing profile.
pub struct Delay {
    pub name: &'static str,
    /// Path below `timing` in `--set`.
    pub field: &'static str,
    pub same: fn(&Timing, &Timing) -> bool,
    pub waits: fn(&PathStep) -> bool,
}

fn shared(step: &PathStep, all: &[Resource]) -> bool {
    matches!(What::of(step), What::Shared(resource) if all.contains(&resource))
}

fn mechanism(step: &PathStep, waited: Waited) -> bool {
    What::of(step) == What::Mechanism(waited)
}

fn answer(step: &PathStep, cost: Cost) -> bool {
    match (step.waited, step.part) {
        (Waited::Request(call), Part::Answer) => call.kind().cost == cost,
        _ => false,
    }
}

fn kubelet(a: &Timing, b: &Timing, same: fn(&RealKubelet, &RealKubelet) -> bool) -> bool {
    match (&a.kubelet, &b.kubelet) {
        (Kubelet::Real(a), Kubelet::Real(b)) => same(a, b),
        _ => false,
    }
}

const RATE: Rate = Rate {
    name: "",
    field: "",
    preset_field: "",
    unit: " requests/s",
    resource: None,
    always: false,
    value: |_| 0.0,
    waits: |_| false,
};

use Resource::*;

pub const RATES: &[Rate] = &[
    Rate {
        name: "each controller of kube-controller-manager",
        field: "kubeControllerManager.qps",
        value: |cp| cp.kube_controller_manager.qps,
        waits: |s| {
            shared(
                s,
                &[
                    JobControllerClient,
                    GarbageCollectorClient,
                    TaintEvictionClient,
                ],
            )
        },
        ..RATE
    },
    Rate {
        name: "Job controller",
        field: "kubeControllerManager.concurrentJobSyncs",
        preset_field: "kubeControllerManager.concurrentJobSyncs",
        unit: " workers",
        value: |cp| f64::from(cp.concurrent_job_syncs),
        waits: |s| shared(s, &[JobControllerWorkers]),
        ..RATE
    },
    Rate {
        name: "garbage collector",
        field: "kubeControllerManager.concurrentGcSyncs",
        preset_field: "kubeControllerManager.concurrentGcSyncs",
        unit: " workers",
        value: |cp| f64::from(cp.concurrent_gc_syncs),
        waits: |s| shared(s, &[GarbageCollectorWorkers]),
        ..RATE
    },
    Rate {
        name: "kube-scheduler",
        field: "kubeScheduler.qps",
        value: |cp| cp.kube_scheduler.qps,
        waits: |s| shared(s, &[SchedulerBindClient]),
        ..RATE
    },
    Rate {
        name: "JobSet manager",
        field: "jobsetManager.qps",
        preset_field: "jobsetManager.qps",
        value: |cp| cp.jobset_manager.qps,
        waits: |s| shared(s, &[JobSetClient, JobSetStatusClient, JobSetPodClient]),
        ..RATE
    },
    Rate {
        name: "node requests",
        field: "nodeRequestsPerSecond",
        preset_field: "nodeRequestsPerSecond",
        unit: "/s",
        resource: Some(NodeRequests),
        always: true,
        value: |cp| cp.node_requests_per_s,
        waits: |s| shared(s, &[NodeRequests]),
    },
    Rate {
        name: "node monitor grace period",
        field: "nodeMonitorGracePeriodSeconds",
        preset_field: "nodeMonitorGracePeriodSeconds",
        unit: " s",
        value: |cp| cp.node_monitor_grace_period_s as f64,
        waits: |s| mechanism(s, Waited::NodeMonitor),
        ..RATE
    },
];

/// Arguments per entry: name, field, expression that compares the field in two profiles, predicate for the steps
/// that wait for it.
macro_rules! delays {
    ($($name:literal $field:literal ($a:ident, $b:ident) $same:expr, $s:ident $waits:expr;)*) => {
        pub const DELAYS: &[Delay] = &[$(Delay {
            name: $name,
            field: $field,
            same: |$a, $b| $same,
            waits: |$s| $waits,
        }),*];
    };
}

delays! {
    "reads of the API server" "apiRead" (a, b) a.api_read == b.api_read, s answer(s, Cost::Read);
    "writes of the API server" "apiWrite" (a, b) a.api_write == b.api_write, s answer(s, Cost::Write);
    "creation of a pod" "apiPodCreate" (a, b) a.api_pod_create == b.api_pod_create, s answer(s, Cost::PodCreate);
    "watches" "watchLag" (a, b) a.watch_lag == b.watch_lag, s mechanism(s, Waited::Watch);
    "fan-out to agents" "agentFanout" (a, b) a.agent_fanout == b.agent_fanout, s mechanism(s, Waited::FanOut);
    "listing a pod" "jobsetListPerPod" (a, b) a.jobset_list_per_pod == b.jobset_list_per_pod,
        s mechanism(s, Waited::Listing);
    "batch period of the Job controller" "jobSyncBatchPeriod" (a, b)
        a.job_sync_batch_period == b.job_sync_batch_period, s mechanism(s, Waited::JobBatch);
    "PLEG relist" "plegPeriod" (a, b) kubelet(a, b, |a, b| a.pleg_period == b.pleg_period),
        s mechanism(s, Waited::Pleg) || mechanism(s, Waited::PodWorker);
    "volumes of a pod" "volumes" (a, b) kubelet(a, b, |a, b| a.volumes == b.volumes),
        s mechanism(s, Waited::ContainerStart);
    "sandbox of a pod" "sandbox" (a, b) kubelet(a, b, |a, b| a.sandbox == b.sandbox),
        s mechanism(s, Waited::ContainerStart);
    "start of a container" "containerStart" (a, b) kubelet(a, b, |a, b| a.container_start == b.container_start),
        s mechanism(s, Waited::ContainerStart) || mechanism(s, Waited::ContainerRestart);
    "time to stop on SIGTERM" "containerStop" (a, b) kubelet(a, b, |a, b| a.container_stop == b.container_stop),
        s mechanism(s, Waited::Grace);
    "removing a container" "containerRemove" (a, b) kubelet(a, b, |a, b| a.container_remove == b.container_remove),
        s mechanism(s, Waited::ContainerRestart);
    "clean-up of a pod" "cleanup" (a, b) kubelet(a, b, |a, b| a.cleanup == b.cleanup),
        s mechanism(s, Waited::Cleanup);
    "status of a pod" "statusWrite" (a, b) kubelet(a, b, |a, b| a.status_write == b.status_write),
        s mechanism(s, Waited::StatusManager);
    "scheduling cycle" "schedulerFixed" (a, b) a.scheduler.fixed == b.scheduler.fixed,
        s shared(s, &[SchedulerCycle]);
    "scheduling cycle, for each node" "schedulerPerNode" (a, b) a.scheduler.per_node == b.scheduler.per_node,
        s shared(s, &[SchedulerCycle]);
}
