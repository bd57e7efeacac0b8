//! Client rates, worker counts, versions and feature gates of the control plane.

use super::jobset::JobSet;

/// A client-go token bucket: requests per second and burst.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ClientRate {
    pub qps: f64,
    pub burst: u32,
}

impl ClientRate {
    pub const fn new(qps: f64, burst: u32) -> ClientRate {
        ClientRate { qps, burst }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ControlPlane {
    /// Name of the preset of the rates, or `custom`.
    pub preset: String,
    /// Rate of each controller of kube-controller-manager (kubernetes.md 1.2). The garbage collector gets twice this
    /// rate.
    pub kube_controller_manager: ClientRate,
    pub concurrent_job_syncs: u32,
    pub concurrent_gc_syncs: u32,
    pub kube_scheduler: ClientRate,
    pub ties: SchedulerTies,
    pub jobset_manager: ClientRate,
    /// Number of requests that the API server executes at the same time.
    pub api_server_concurrency: u32,
    /// Requests per second that the API server answers for the kubelets and agents of all nodes together.
    pub node_requests_per_s: f64,
    pub kubernetes: KubeVersion,
    pub feature_gates: FeatureGates,
    pub placement_repair: PlacementRepair,
    /// node-monitor-grace-period in seconds (50 since 1.32, 40 before).
    pub node_monitor_grace_period_s: u64,
    pub heartbeat_s: u64,
}

/// How kube-scheduler selects one of several nodes with the highest score.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum SchedulerTies {
    /// A random one, as kube-scheduler does.
    #[default]
    Draw,
    /// The next one after the node of the pod before. Without a random choice, levels can be compared replication by
    /// replication.
    InOrder,
}

/// Behavior of the JobSet manager's pod reconciler when followers are not in the domain of their leader (EXC-16).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PlacementRepair {
    /// The check fails with an error before any request is sent (JobSet 0.12 and earlier).
    Fails,
    /// The API server rejects the request, because the role in upstream's manifests does not grant `pods/status`.
    #[default]
    Forbidden,
    /// The role grants access, and the followers are deleted (EXC-15).
    Succeeds,
}

/// Kubernetes version, which selects between rules that changed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubeVersion {
    pub major: u16,
    pub minor: u16,
}

impl KubeVersion {
    pub const fn new(minor: u16) -> KubeVersion {
        KubeVersion { major: 1, minor }
    }

    /// Returns whether a Job becomes terminal only after all its pods are terminal: since 1.31 (kubernetes.md 1.4).
    pub fn delays_terminal_condition(self) -> bool {
        self >= KubeVersion::new(31)
    }

    /// Returns whether a kubelet relists a pod right after changing it: since 1.36 (kubernetes.md 3.1).
    pub fn relists_on_demand(self) -> bool {
        self >= KubeVersion::new(36)
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    pub in_place_restart: bool,
    pub restart_job: bool,
    pub elastic_jobset: bool,
    pub pod_groups: PodGroupScheduling,
}

/// How kube-scheduler treats pod groups, which follows from its feature gates (kubernetes.md 2.6).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PodGroupScheduling {
    /// Pods are scheduled one by one; the API server drops `schedulingGroup` of pods.
    #[default]
    Off,
    /// All pods of a group are scheduled together (GangScheduling, WorkloadAwarePreemption).
    Gang,
    /// Likewise, in one domain of the topology key of the group (TopologyAwareWorkloadScheduling).
    TopologyAware,
}

/// Feature gates to change. A gate with `None` keeps its value.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GateChanges {
    pub in_place_restart: Option<bool>,
    pub restart_job: Option<bool>,
    pub elastic_jobset: Option<bool>,
}

impl FeatureGates {
    /// Returns the feature gates without which the webhook rejects some of the JobSets (VAL-1, VAL-23).
    pub fn required_by<'a>(jobsets: impl IntoIterator<Item = &'a JobSet>) -> FeatureGates {
        let mut gates = FeatureGates::default();
        for jobset in jobsets {
            gates.in_place_restart |= jobset.restarts_in_place();
            gates.restart_job |= jobset.restarts_jobs();
        }
        gates
    }

    pub fn with_changes(self, changes: GateChanges) -> FeatureGates {
        let GateChanges { in_place_restart, restart_job, elastic_jobset } = changes;
        FeatureGates {
            in_place_restart: in_place_restart.unwrap_or(self.in_place_restart),
            restart_job: restart_job.unwrap_or(self.restart_job),
            elastic_jobset: elastic_jobset.unwrap_or(self.elastic_jobset),
            pod_groups: self.pod_groups,
        }
    }
}
