//! Presets as data files: `src/inputs/presets/*.yaml` lists each value with its source and confidence.
//!
//! The numbers of a preset must not be written in code.

pub mod faults;
pub mod preset_data;
pub mod ranges;
pub(crate) mod rate;
pub mod shipped;
pub mod uncertain;

use super::dist;
use super::read;
use super::text::node::YamlNode;
pub use preset_data::DEFAULT_PRESET;
use preset_data::{CONTROL_PLANE, document};
use sim_api::spec::timing::{KubeletTiming, RealKubelet, SchedulerCost};
use sim_api::spec::{ClientRate, ControlPlane, FeatureGates, KubeVersion, PlacementRepair, SchedulerTies, TimingSpec};
use sim_base::Duration;
use sim_base::random::Distribution;
use std::sync::LazyLock;

static TIMING: LazyLock<YamlNode> = LazyLock::new(|| document("timing.yaml", include_str!("presets/timing.yaml")));

/// Kubernetes version simulated by default: the version that the reference documents describe.
pub const DEFAULT_VERSION: KubeVersion = KubeVersion::new(36);

/// A default of the model, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetAssumption {
    /// Path of the value: `controlPlane.<preset>.<field>`, `controlPlane.<field>` or `timing.<field>`.
    pub id: String,
    pub value: String,
    pub source: String,
    /// Confidence in the value: `documented`, `measured`, `derived` or `unverified`.
    pub confidence: String,
}

/// Returns the rates and periods of a preset, for the default Kubernetes version and with all feature gates off.
pub fn control_plane(preset: &str) -> Option<ControlPlane> {
    let presets = read::list(&CONTROL_PLANE, "presets");
    let own = presets.iter().find(|p| read::string(p, "name").as_deref() == Some(preset))?;
    let value = |id: &str| {
        let own = entry(read::list(own, "values"), id);
        own.or_else(|| entry(read::list(&CONTROL_PLANE, "common"), id)).and_then(|e| read::number(e, "value"))
    };
    let rate = |who: &str| {
        let qps = value(&format!("{who}.qps"))?;
        Some(ClientRate::new(qps, value(&format!("{who}.burst"))? as u32))
    };
    Some(ControlPlane {
        preset: preset.to_owned(),
        kube_controller_manager: rate("kubeControllerManager")?,
        concurrent_job_syncs: value("kubeControllerManager.concurrentJobSyncs")? as u32,
        concurrent_gc_syncs: value("kubeControllerManager.concurrentGcSyncs")? as u32,
        kube_scheduler: rate("kubeScheduler")?,
        ties: SchedulerTies::default(),
        jobset_manager: rate("jobsetManager")?,
        api_server_concurrency: value("apiServerConcurrency")? as u32,
        node_requests_per_s: value("nodeRequestsPerSecond")?,
        kubernetes: DEFAULT_VERSION,
        feature_gates: FeatureGates::default(),
        placement_repair: PlacementRepair::default(),
        node_monitor_grace_period_s: node_monitor_grace_period_s(DEFAULT_VERSION)?,
        heartbeat_s: value("heartbeatSeconds")? as u64,
    })
}

/// Returns the node monitor grace period of kube-controller-manager in seconds. The default changed in Kubernetes
/// 1.32.
pub fn node_monitor_grace_period_s(version: KubeVersion) -> Option<u64> {
    let id = if version < KubeVersion::new(32) {
        "nodeMonitorGracePeriodSeconds.before1.32"
    } else {
        "nodeMonitorGracePeriodSeconds"
    };
    let entry = entry(read::list(&CONTROL_PLANE, "common"), id)?;
    read::number(entry, "value").map(|s| s as u64)
}

/// Returns the default timing profile.
pub fn timing() -> TimingSpec {
    let values = read::list(&TIMING, "values");
    let dist = |id: &str| {
        let value = entry(values, id).and_then(|e| e.get("value"));
        value.and_then(|v| dist::dist(v).ok()).unwrap_or(Distribution::ZERO)
    };
    let fixed = |id: &str| match dist(id) {
        Distribution::Fixed(d) => d,
        _ => Duration::ZERO,
    };
    TimingSpec {
        api_read: dist("apiRead"),
        api_write: dist("apiWrite"),
        api_pod_create: dist("apiPodCreate"),
        api_measured: Vec::new(),
        watch_lag: dist("watchLag"),
        agent_fanout: dist("agentFanout"),
        jobset_list_per_pod: fixed("jobsetListPerPod"),
        job_sync_batch_period: fixed("jobSyncBatchPeriod"),
        kubelet: KubeletTiming::Real(Box::new(RealKubelet {
            pleg_period: fixed("plegPeriod"),
            unmount_poll: fixed("unmountPoll"),
            volumes: dist("volumes"),
            sandbox: dist("sandbox"),
            container_start: dist("containerStart"),
            image_check: dist("imageCheck"),
            status_write: dist("statusWrite"),
            container_stop: dist("containerStop"),
            cleanup: dist("cleanup"),
            container_remove: dist("containerRemove"),
            agent_boot: dist("agentBoot"),
            minimum_grace: fixed("minimumGrace"),
        })),
        scheduler: SchedulerCost {
            fixed: fixed("schedulerFixed"),
            per_node: fixed("schedulerPerNode"),
            per_feasible_node: fixed("schedulerPerFeasibleNode"),
            affinity_per_node: fixed("schedulerAffinityPerNode"),
            preferred_per_node: fixed("schedulerPreferredPerNode"),
            existing_term: fixed("schedulerExistingTerm"),
            node_affinity: fixed("schedulerNodeAffinity"),
            hard_spread_per_node: fixed("schedulerHardSpreadPerNode"),
            soft_spread_per_node: fixed("schedulerSoftSpreadPerNode"),
            per_claim: fixed("schedulerPerClaim"),
        },
    }
}

/// Returns every default with its source.
pub fn assumptions() -> Vec<PresetAssumption> {
    let mut all = Vec::new();
    collect("controlPlane", read::list(&CONTROL_PLANE, "common"), &mut all);
    for preset in read::list(&CONTROL_PLANE, "presets") {
        let name = read::string(preset, "name").unwrap_or_default();
        let prefix = format!("controlPlane.{name}");
        collect(&prefix, read::list(preset, "values"), &mut all);
    }
    collect("timing", read::list(&TIMING, "values"), &mut all);
    all
}

fn collect(prefix: &str, entries: &[YamlNode], all: &mut Vec<PresetAssumption>) {
    for entry in entries {
        let text = |key: &str| read::string(entry, key).unwrap_or_default();
        all.push(PresetAssumption {
            id: format!("{prefix}.{}", text("id")),
            value: entry.get("value").map(render).unwrap_or_default(),
            source: text("source"),
            confidence: text("confidence"),
        });
    }
}

/// Formats a value in YAML flow style.
pub(super) fn render(node: &YamlNode) -> String {
    if let Some(text) = node.scalar_text() {
        return text;
    }
    let items: Vec<String> = node.items().iter().map(render).collect();
    if !items.is_empty() {
        return format!("[{}]", items.join(", "));
    }
    let entry = |(k, v): &(super::text::node::MappingKey, YamlNode)| format!("{}: {}", k.name, render(v));
    let entries: Vec<String> = node.entries().iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

fn entry<'n>(entries: &'n [YamlNode], id: &str) -> Option<&'n YamlNode> {
    entries.iter().find(|e| e.get("id").and_then(YamlNode::as_str) == Some(id))
}
