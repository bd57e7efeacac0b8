//! Tables that map each control plane default and each delay of the timing profile to the critical path steps that
//! depend on it.

use sim_analysis::metrics::restarts::path::{PathPart, PathStep};
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_api::spec::{ControlPlane, KubeletTiming, RealKubelet, TimingSpec};
use sim_engine::record::call::CallCost;
use sim_engine::record::{LedgerResource, TicketWait};

/// A rate, worker count or grace period of the control plane.
pub struct RateShare {
    pub name: &'static str,
    /// Path below `controlPlane` in `--set` and in the presets.
    pub field: &'static str,
    /// Path in the values that are common to all presets.
    pub preset_field: &'static str,
    pub unit: &'static str,
    pub resource: Option<LedgerResource>,
    /// Whether the entry is listed whenever its resource is used, even off the critical path. Set for limits with an
    /// unverified value.
    pub is_always_listed: bool,
    pub value: fn(&ControlPlane) -> f64,
    pub matches_step: fn(&PathStep) -> bool,
}

/// A delay of the timing profile.
pub struct DelayShare {
    pub name: &'static str,
    /// Path below `timing` in `--set`.
    pub field: &'static str,
    pub has_same_value: fn(&TimingSpec, &TimingSpec) -> bool,
    pub matches_step: fn(&PathStep) -> bool,
}

fn shared(step: &PathStep, all: &[LedgerResource]) -> bool {
    matches!(WaitKind::from_step(step), WaitKind::Shared(resource) if all.contains(&resource))
}

fn waits_for_mechanism(step: &PathStep, waited: TicketWait) -> bool {
    WaitKind::from_step(step) == WaitKind::Mechanism(waited)
}

fn waits_for_answer(step: &PathStep, cost: CallCost) -> bool {
    match (step.waited, step.part) {
        (TicketWait::Request(call), PathPart::Answer) => call.kind().cost == cost,
        _ => false,
    }
}

fn has_same_kubelet_timing(a: &TimingSpec, b: &TimingSpec, same: fn(&RealKubelet, &RealKubelet) -> bool) -> bool {
    match (&a.kubelet, &b.kubelet) {
        (KubeletTiming::Real(a), KubeletTiming::Real(b)) => same(a, b),
        _ => false,
    }
}

const RATE: RateShare = RateShare {
    name: "",
    field: "",
    preset_field: "",
    unit: " requests/s",
    resource: None,
    is_always_listed: false,
    value: |_| 0.0,
    matches_step: |_| false,
};

use LedgerResource::*;

pub const RATES: &[RateShare] = &[
    RateShare {
        name: "kube-controller-manager (per controller)",
        field: "kubeControllerManager.qps",
        value: |cp| cp.kube_controller_manager.qps,
        matches_step: |s| shared(s, &[JobControllerClient, GarbageCollectorClient, TaintEvictionClient]),
        ..RATE
    },
    RateShare {
        name: "Job controller",
        field: "kubeControllerManager.concurrentJobSyncs",
        preset_field: "kubeControllerManager.concurrentJobSyncs",
        unit: " workers",
        value: |cp| f64::from(cp.concurrent_job_syncs),
        matches_step: |s| shared(s, &[JobControllerWorkers]),
        ..RATE
    },
    RateShare {
        name: "garbage collector",
        field: "kubeControllerManager.concurrentGcSyncs",
        preset_field: "kubeControllerManager.concurrentGcSyncs",
        unit: " workers",
        value: |cp| f64::from(cp.concurrent_gc_syncs),
        matches_step: |s| shared(s, &[GarbageCollectorWorkers]),
        ..RATE
    },
    RateShare {
        name: "kube-scheduler",
        field: "kubeScheduler.qps",
        value: |cp| cp.kube_scheduler.qps,
        matches_step: |s| shared(s, &[SchedulerBindClient]),
        ..RATE
    },
    RateShare {
        name: "JobSet manager",
        field: "jobsetManager.qps",
        preset_field: "jobsetManager.qps",
        value: |cp| cp.jobset_manager.qps,
        matches_step: |s| shared(s, &[JobSetClient, JobSetStatusClient, JobSetPodClient]),
        ..RATE
    },
    RateShare {
        name: "node requests",
        field: "nodeRequestsPerSecond",
        preset_field: "nodeRequestsPerSecond",
        unit: "/s",
        resource: Some(NodeRequests),
        is_always_listed: true,
        value: |cp| cp.node_requests_per_s,
        matches_step: |s| shared(s, &[NodeRequests]),
    },
    RateShare {
        name: "node monitor grace period",
        field: "nodeMonitorGracePeriodSeconds",
        preset_field: "nodeMonitorGracePeriodSeconds",
        unit: " s",
        value: |cp| cp.node_monitor_grace_period_s as f64,
        matches_step: |s| waits_for_mechanism(s, TicketWait::NodeMonitor),
        ..RATE
    },
];

/// Arguments per entry: name, field, expression that compares the field in two profiles, predicate for the steps
/// that wait for it.
macro_rules! delays {
    ($($name:literal $field:literal ($a:ident, $b:ident) $same:expr, $s:ident $waits:expr;)*) => {
        pub const DELAYS: &[DelayShare] = &[$(DelayShare {
            name: $name,
            field: $field,
            has_same_value: |$a, $b| $same,
            matches_step: |$s| $waits,
        }),*];
    };
}

delays! {
    "API server reads" "apiRead" (a, b) a.api_read == b.api_read, s waits_for_answer(s, CallCost::Read);
    "API server writes" "apiWrite" (a, b) a.api_write == b.api_write, s waits_for_answer(s, CallCost::Write);
    "pod creation request" "apiPodCreate" (a, b) a.api_pod_create == b.api_pod_create, s waits_for_answer(s, CallCost::TwoWebhooks);
    "watch delay" "watchLag" (a, b) a.watch_lag == b.watch_lag, s waits_for_mechanism(s, TicketWait::Watch);
    "agent fan-out" "agentFanout" (a, b) a.agent_fanout == b.agent_fanout, s waits_for_mechanism(s, TicketWait::FanOut);
    "pod list, per pod" "jobsetListPerPod" (a, b) a.jobset_list_per_pod == b.jobset_list_per_pod,
        s waits_for_mechanism(s, TicketWait::Listing);
    "Job controller batch period" "jobSyncBatchPeriod" (a, b)
        a.job_sync_batch_period == b.job_sync_batch_period, s waits_for_mechanism(s, TicketWait::JobBatch);
    "PLEG relist" "plegPeriod" (a, b) has_same_kubelet_timing(a, b, |a, b| a.pleg_period == b.pleg_period),
        s waits_for_mechanism(s, TicketWait::Pleg) || waits_for_mechanism(s, TicketWait::PodWorker);
    "pod volume setup" "volumes" (a, b) has_same_kubelet_timing(a, b, |a, b| a.volumes == b.volumes),
        s waits_for_mechanism(s, TicketWait::ContainerStart);
    "pod sandbox creation" "sandbox" (a, b) has_same_kubelet_timing(a, b, |a, b| a.sandbox == b.sandbox),
        s waits_for_mechanism(s, TicketWait::ContainerStart);
    "container start" "containerStart" (a, b) has_same_kubelet_timing(a, b, |a, b| a.container_start == b.container_start),
        s waits_for_mechanism(s, TicketWait::ContainerStart) || waits_for_mechanism(s, TicketWait::ContainerRestart);
    "container stop after SIGTERM" "containerStop" (a, b) has_same_kubelet_timing(a, b, |a, b| a.container_stop == b.container_stop),
        s waits_for_mechanism(s, TicketWait::Grace);
    "container removal" "containerRemove" (a, b) has_same_kubelet_timing(a, b, |a, b| a.container_remove == b.container_remove),
        s waits_for_mechanism(s, TicketWait::ContainerRestart);
    "pod cleanup" "cleanup" (a, b) has_same_kubelet_timing(a, b, |a, b| a.cleanup == b.cleanup),
        s waits_for_mechanism(s, TicketWait::Cleanup);
    "pod status update" "statusWrite" (a, b) has_same_kubelet_timing(a, b, |a, b| a.status_write == b.status_write),
        s waits_for_mechanism(s, TicketWait::StatusManager);
    "scheduling cycle" "schedulerFixed" (a, b) a.scheduler.fixed == b.scheduler.fixed,
        s shared(s, &[SchedulerCycle]);
    "scheduling cycle, per node" "schedulerPerNode" (a, b) a.scheduler.per_node == b.scheduler.per_node,
        s shared(s, &[SchedulerCycle]);
    "scheduling cycle, per feasible node" "schedulerPerFeasibleNode" (a, b) a.scheduler.per_feasible_node == b.scheduler.per_feasible_node,
        s shared(s, &[SchedulerCycle]);
}

/// Returns the share of a step that belongs to a delay: delays in the same wait share it in proportion to their
/// typical values.
pub fn share(delay: &DelayShare, step: &PathStep, (timing, nodes): (&TimingSpec, u64)) -> f64 {
    let all = DELAYS.iter().filter(|other| (other.matches_step)(step));
    let total: f64 = all.map(|other| typical(other.field, timing, nodes)).sum();
    if total > 0.0 { typical(delay.field, timing, nodes) / total } else { 0.0 }
}

/// Returns the typical value of a delay in seconds, for delays that share waits with others; otherwise 1.
fn typical(field: &str, timing: &TimingSpec, nodes: u64) -> f64 {
    // kube-scheduler examines all of 100 nodes, and a falling share of more (percentageOfNodesToScore).
    let share = (50.0 - nodes as f64 / 125.0).max(5.0) / 100.0;
    let examined = (nodes as f64 * share).max(nodes.min(100) as f64);
    match field {
        "schedulerFixed" => return timing.scheduler.fixed.seconds(),
        "schedulerPerFeasibleNode" => return timing.scheduler.per_feasible_node.seconds() * examined,
        "schedulerPerNode" => return timing.scheduler.per_node.seconds() * examined,
        _ => {}
    }
    let KubeletTiming::Real(kubelet) = &timing.kubelet else {
        return 1.0;
    };
    match field {
        "volumes" => kubelet.volumes.median().seconds(),
        "sandbox" => kubelet.sandbox.median().seconds(),
        "containerStart" => kubelet.container_start.median().seconds(),
        "containerRemove" => kubelet.container_remove.median().seconds(),
        _ => 1.0,
    }
}
