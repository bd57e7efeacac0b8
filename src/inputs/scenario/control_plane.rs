//! Reads `controlPlane`: a preset and the values that override it.

use crate::schema::definitions::control_plane::{JOBSET, KUBERNETES, TIES};
use crate::{presets, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::{
    ClientRate, ControlPlane, FeatureGates, JobSet, KubeVersion, PlacementRepair, PodGroupScheduling, SchedulerTies,
    SubmittedJobSet,
};
use std::fmt;

pub fn read(scenario: &YamlNode, jobsets: &[SubmittedJobSet], report: &mut DiagnosticReport) -> ControlPlane {
    let empty = YamlNode::empty_map();
    let node = scenario.get("controlPlane").unwrap_or(&empty);
    let mut plane = preset(node);
    plane.kubernetes = kubernetes(node, report);
    plane.placement_repair = placement_repair(node, jobset_version(node, report), report);
    let managers = [
        ("kubeControllerManager", &mut plane.kube_controller_manager),
        ("kubeScheduler", &mut plane.kube_scheduler),
        ("jobsetManager", &mut plane.jobset_manager),
    ];
    let mut custom = false;
    for (key, rate) in managers {
        if let Some(own) = node.get(key) {
            custom |= own.get("qps").is_some() || own.get("burst").is_some();
            *rate = ClientRate {
                qps: read::number(own, "qps").unwrap_or(rate.qps),
                burst: read::u32_of(own, "burst").unwrap_or(rate.burst),
            };
        }
    }
    if custom {
        plane.preset = "custom".to_owned();
    }
    let ties = node.get("kubeScheduler").and_then(|scheduler| read::string(scheduler, "ties"));
    if ties.as_deref() == Some(TIES[1]) {
        plane.ties = SchedulerTies::InOrder;
    }
    let workers = |key: &str| node.get("kubeControllerManager").and_then(|n| read::u32_of(n, key));
    if let Some(n) = workers("concurrentJobSyncs") {
        plane.concurrent_job_syncs = n;
    }
    if let Some(n) = workers("concurrentGcSyncs") {
        plane.concurrent_gc_syncs = n;
    }
    if let Some(n) = read::u32_of(node, "apiServerConcurrency") {
        plane.api_server_concurrency = n;
    }
    if let Some(rate) = read::number(node, "nodeRequestsPerSecond") {
        plane.node_requests_per_s = rate;
    }
    let seconds = |key: &str| read::u32_of(node, key).map(u64::from);
    plane.node_monitor_grace_period_s = seconds("nodeMonitorGracePeriodSeconds")
        .or_else(|| presets::node_monitor_grace_period_s(plane.kubernetes))
        .unwrap_or(plane.node_monitor_grace_period_s);
    plane.heartbeat_s = seconds("heartbeatSeconds").unwrap_or(plane.heartbeat_s);
    plane.feature_gates = gates(node, jobsets, report);
    plane
}

/// Returns the preset. Unknown names have been reported by the check and are replaced by the default preset.
fn preset(node: &YamlNode) -> ControlPlane {
    let name = node.get("preset").and_then(YamlNode::as_str);
    let plane = name.and_then(presets::control_plane);
    plane.or_else(|| presets::control_plane(presets::DEFAULT_PRESET)).expect("the default preset is embedded")
}

/// Returns the version as written in the text. Without quotes, `1.30` would be parsed as the number 1.3.
fn written(node: &YamlNode, report: &DiagnosticReport) -> String {
    match node.as_str() {
        Some(text) => text.to_owned(),
        None => report.written(node.at).unwrap_or_default(),
    }
}

fn kubernetes(node: &YamlNode, report: &mut DiagnosticReport) -> KubeVersion {
    let Some(node) = node.get("kubernetes") else {
        return presets::DEFAULT_VERSION;
    };
    let text = written(node, report);
    version(&text).unwrap_or_else(|error| {
        let legal = error.legal();
        report.error(node.at, error.message()).legal(legal);
        presets::DEFAULT_VERSION
    })
}

/// Error for a Kubernetes version that is not supported. Contains the version as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmodelledSetting(pub String);

impl UnmodelledSetting {
    fn message(&self) -> String {
        format!("Kubernetes {:?} is not supported", self.0)
    }

    fn legal(&self) -> String {
        format!("1.{} to 1.{}", KUBERNETES.oldest, KUBERNETES.newest)
    }
}

impl fmt::Display for UnmodelledSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  legal: {}", self.message(), self.legal())
    }
}

impl std::error::Error for UnmodelledSetting {}

/// Parses a Kubernetes version such as `1.36`, `v1.36` or `1.36.2`.
pub fn version(text: &str) -> Result<KubeVersion, UnmodelledSetting> {
    let parts: Vec<&str> = text.trim_start_matches('v').split('.').collect();
    let minor = match parts.as_slice() {
        ["1", minor] | ["1", minor, _] => minor.parse::<u16>().ok(),
        _ => None,
    };
    let known = minor.filter(|n| (KUBERNETES.oldest..=KUBERNETES.newest).contains(n));
    known.map(KubeVersion::new).ok_or_else(|| UnmodelledSetting(text.to_owned()))
}

/// Returns the minor version of JobSet.
fn jobset_version(node: &YamlNode, report: &mut DiagnosticReport) -> u16 {
    let Some(node) = node.get("jobset") else {
        return JOBSET.newest;
    };
    let text = written(node, report);
    let minor: Vec<&str> = text.trim_start_matches('v').splitn(3, '.').take(2).collect();
    let versions: Vec<String> = JOBSET.names().collect();
    let at = versions.iter().position(|v| *v == minor.join("."));
    if at.is_none() {
        let error = report.error(node.at, format!("JobSet {text:?} is not supported"));
        error.legal(versions.join(", "));
    }
    at.map_or(JOBSET.newest, |at| JOBSET.oldest + at as u16)
}

/// First JobSet minor version whose pod reconciler sends its first request (jobset PR 1269).
const REPAIRS_SINCE: u16 = 13;

fn placement_repair(node: &YamlNode, jobset: u16, report: &mut DiagnosticReport) -> PlacementRepair {
    let field = node.get("jobsetManager").and_then(|m| m.get("mayWritePodStatus"));
    let wanted = field.filter(|f| f.as_bool() == Some(true));
    match wanted {
        Some(at) if jobset < REPAIRS_SINCE => {
            let message = format!(
                "mayWritePodStatus requires JobSet 0.13: in JobSet 0.{jobset} the pod reconciler fails with an error \
                 before it writes a pod status (EXC-16, jobset PR 1269)"
            );
            report.error(at.at, message);
            PlacementRepair::Fails
        }
        Some(_) => PlacementRepair::Succeeds,
        None if jobset < REPAIRS_SINCE => PlacementRepair::Fails,
        None => PlacementRepair::Forbidden,
    }
}

/// Reads the feature gates. A gate that a JobSet uses is on by default. Switching it off is an error with the
/// webhook's message (VAL-1, VAL-23).
fn gates(node: &YamlNode, jobsets: &[SubmittedJobSet], report: &mut DiagnosticReport) -> FeatureGates {
    let gates = node.get("featureGates");
    let own = |key: &str| gates.and_then(|g| read::boolean(g, key));
    let mut gate = |key: &str, needs: fn(&JobSet) -> bool, what: &str| {
        let user = jobsets.iter().find(|s| needs(&s.jobset));
        if let (Some(false), Some(user)) = (own(key), user) {
            let at = gates.and_then(|g| g.get(key)).map_or(node.at, |g| g.at);
            let name = &user.jobset.name;
            report.error(at, format!("{what}; JobSet {name:?} uses it"));
        }
        own(key).unwrap_or(user.is_some())
    };
    FeatureGates {
        in_place_restart: gate(
            "InPlaceRestart",
            JobSet::restarts_in_place,
            "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled",
        ),
        restart_job: gate(
            "RestartJob",
            JobSet::restarts_jobs,
            "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed \
             when RestartJob feature gate is disabled",
        ),
        elastic_jobset: own("ElasticJobSet").unwrap_or(false),
        pod_groups: pod_groups(gates, report),
    }
}

/// Reads the feature gates of pod groups. Gates that depend on others which are off are errors, as in Kubernetes.
fn pod_groups(gates: Option<&YamlNode>, report: &mut DiagnosticReport) -> PodGroupScheduling {
    const TOPOLOGY: &str = "TopologyAwareWorkloadScheduling";
    const PREEMPTION: &str = "WorkloadAwarePreemption";
    const NEEDS: [(&str, &str, &str); 4] = [
        ("GangScheduling", "GenericWorkload", "requires"),
        ("GangScheduling", PREEMPTION, "with preemption by single pods of a group is not modelled: it needs"),
        (PREEMPTION, "GangScheduling", "requires"),
        (TOPOLOGY, "GangScheduling", "requires"),
    ];
    let is_on = |key: &str| gates.and_then(|g| read::boolean(g, key)).unwrap_or(false);
    for (gate, needed, needs) in NEEDS {
        let at = gates.and_then(|gates| gates.get(gate));
        if let Some(at) = at.filter(|_| is_on(gate) && !is_on(needed)) {
            report.error(at.at, format!("{gate} {needs} {needed}: true"));
        }
    }
    if is_on(TOPOLOGY) {
        PodGroupScheduling::TopologyAware
    } else if is_on("GangScheduling") {
        PodGroupScheduling::Gang
    } else {
        PodGroupScheduling::Off
    }
}
