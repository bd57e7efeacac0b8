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
    /// Preset the rates came from, or `custom`.
    pub preset: String,
    /// Per controller of kube-controller-manager (kubernetes.md 1.2); the garbage collector gets twice the rate.
    pub kube_controller_manager: ClientRate,
    pub concurrent_job_syncs: u32,
    pub concurrent_gc_syncs: u32,
    pub kube_scheduler: ClientRate,
    pub jobset_manager: ClientRate,
    /// Requests per second that the kubelets and agents of all nodes together get answered; the API server's share.
    pub node_requests_per_s: f64,
    pub kubernetes: Version,
    pub feature_gates: FeatureGates,
    pub placement_repair: PlacementRepair,
    /// node-monitor-grace-period, s (50 since 1.32, 40 before).
    pub node_monitor_grace_period_s: u64,
    pub heartbeat_s: u64,
}

/// What the JobSet manager's pod reconciler comes to when followers are not where their leader is (EXC-16).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PlacementRepair {
    /// Up to JobSet 0.12 its check ends with an error, before it asks for anything.
    Errs,
    /// The role of upstream's manifests allows no `pods/status`: its request is refused.
    #[default]
    Forbidden,
    /// The role allows it: the followers are deleted (EXC-15).
    Works,
}

/// Kubernetes minor version: decides the rules that changed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

impl Version {
    pub const fn new(minor: u16) -> Version {
        Version { major: 1, minor }
    }

    /// kubernetes.md 1.4: since 1.31 a Job is terminal only when all its pods are.
    pub fn delays_terminal_condition(self) -> bool {
        self >= Version::new(31)
    }

    /// kubernetes.md 3.1: since 1.36 a kubelet looks at a pod right after it has changed something.
    pub fn relists_on_demand(self) -> bool {
        self >= Version::new(36)
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    pub in_place_restart: bool,
    pub restart_job: bool,
    pub elastic_jobset: bool,
}

/// Gates that are set anew; the others stay as they are.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GateChanges {
    pub in_place_restart: Option<bool>,
    pub restart_job: Option<bool>,
    pub elastic_jobset: Option<bool>,
}

impl FeatureGates {
    /// Those without which the webhook refuses some of the JobSets (VAL-1, VAL-23).
    pub fn needed_by<'a>(jobsets: impl IntoIterator<Item = &'a JobSet>) -> FeatureGates {
        let mut gates = FeatureGates::default();
        for jobset in jobsets {
            gates.in_place_restart |= jobset.restarts_in_place();
            gates.restart_job |= jobset.restarts_jobs();
        }
        gates
    }

    pub fn with(self, changes: GateChanges) -> FeatureGates {
        let GateChanges {
            in_place_restart,
            restart_job,
            elastic_jobset,
        } = changes;
        FeatureGates {
            in_place_restart: in_place_restart.unwrap_or(self.in_place_restart),
            restart_job: restart_job.unwrap_or(self.restart_job),
            elastic_jobset: elastic_jobset.unwrap_or(self.elastic_jobset),
        }
    }
}
