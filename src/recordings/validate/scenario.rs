//! Converts a recording to a `spec::ScenarioSpec` with the same JobSet, cluster, rates and script.
//!
//! No part of the script is dropped silently. If the model does not support a part, the recording is
//! `UnmodelledAction`, with the reason, so that it is counted separately instead of being compared.

pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod script;
pub(crate) mod script_requests;
pub(crate) mod topology;
pub mod unmodelled;
pub(crate) mod unsimulated_fields;

use super::read::value_error::NODE_REQUESTS_MAX_PER_S;
use super::recording::{RecordedControlPlane, RecordedRequests, RecordedRun, RecordingKind};
use script::{container_rule, faults};

use serde_json::Value;
use sim_api::spec::timing::KubeletTiming;
use sim_api::spec::{
    ClaimController, ClientRate, ControlPlane, FaultAction, FeatureGates, KubeVersion, MeasuredLatency, ObjectDecoders,
    ObjectKind, PlacementRepair, RequestVerb, ScenarioSpec, ScriptedFault, StopSpec, StopWhen, TieBreak, TimingSpec,
    UserRequest,
};
use sim_base::Duration;
use sim_base::random::Distribution;
use topology::topology;
pub use unmodelled::{UnmodelledAction, UnmodelledPart};

/// Requests of nodes per second that the API server handled while the recordings were made. The simulator of all
/// kubelets and the API server shared two cores; the 600 status and 200 annotation patches of 200 pods took 3.4 s in
/// `t100-i-4x50`. This is a property of that machine, not of Kubernetes, and does not apply to imported incidents.
/// `controlPlane.nodeRequestsPerSecond` of the recording and `--node-requests-per-s` override it.
pub const NODE_REQUESTS_PER_S: f64 = 240.0;

/// Time limit for recordings of kind `times`. The run normally ends earlier, when every pod is ready again.
const TIMES_LIMIT: Duration = Duration::from_secs(2 * 3600);

/// Length of the last part of a recording that is not compared, in milliseconds.
pub const UNCOMPARED_END_MS: u64 = 1000;

/// Seed of the runs of `validate`.
pub const SEED: u64 = 1;

/// Values that are set by flags of the command.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct ScenarioOverrides {
    /// Median and 95th percentile of the latency of an API request in milliseconds.
    pub api_latency_ms: Option<(f64, f64)>,
    pub node_requests_per_s: Option<f64>,
}

/// Default values, which a recording overrides in part.
#[derive(Clone, Debug)]
pub struct RecordingDefaults {
    pub control_plane: ControlPlane,
    pub timing: TimingSpec,
    /// Whether the rates and latencies are from a preset file and replace those of the recording.
    pub preset_overrides_recording: bool,
}

/// Returns the scenario that replays `recording`, without the JobSet itself.
pub fn replay_scenario(
    recording: &RecordedRun, defaults: &RecordingDefaults, overrides: &ScenarioOverrides,
) -> Result<ScenarioSpec, UnmodelledAction> {
    let mut reasons = unknown_keys(recording);
    let (gates, gate_switches) = take_or_default(environment::initial_gates_and_switches(recording), &mut reasons);
    let objects = take_or_default(environment::objects(recording, gates), &mut reasons);
    let mut faults = take_or_default(faults(recording), &mut reasons);
    faults.extend(gate_switches);
    let rules = recording.script.pods.iter().map(container_rule);
    let (rules, unknown): (Vec<_>, Vec<_>) = rules.partition(Result::is_ok);
    reasons.extend(unknown.into_iter().filter_map(Result::err));
    let kubernetes = version(&recording.control_plane.kubernetes);
    reasons.extend(kubernetes.clone().err());
    reasons.extend(unknown_kueue(&recording.control_plane));
    if !reasons.is_empty() {
        return Err(UnmodelledAction::sorted(reasons));
    }
    let mut control_plane =
        control_plane(recording, gates, (&defaults.control_plane, defaults.preset_overrides_recording), overrides);
    control_plane.kubernetes = kubernetes.unwrap_or(control_plane.kubernetes);
    let claim_controller = claim_controller(recording, &objects, &faults);
    Ok(ScenarioSpec {
        name: recording.name.clone(),
        description: recording.about.clone(),
        topology: topology(recording),
        control_plane,
        timing: timing(recording, defaults, overrides),
        jobsets: Vec::new(),
        objects,
        containers: rules.into_iter().filter_map(Result::ok).collect(),
        training: Vec::new(),
        faults,
        admit_unplaceable: true,
        fault_processes: Vec::new(),
        process_entries: Vec::new(),
        node_repair: None,
        node_spares: None,
        slice_formation: None,
        clocks: Vec::new(),
        has_repairs_after_end: false,
        has_random_faults: false,
        drawn_contradictions: Vec::new(),
        claim_controller,
        requires_listed_classes: true,
        service_accounts: Vec::new(),
        scheduler: Default::default(),
        kueue: None,
        ties: TieBreak::default(),
        // `simulate` sets the readers.
        decoders: ObjectDecoders::NONE,
        stop: stop_spec(recording),
        seed: SEED,
    })
}

/// Returns the component that binds claims. The recorded control planes ran all controllers. Without storage among the
/// objects, all claims of a recording stay unbound, and those of an imported incident, which lists Nodes only, are
/// assumed to be bound.
fn claim_controller(recording: &RecordedRun, objects: &[Value], faults: &[ScriptedFault]) -> ClaimController {
    let created = faults.iter().filter_map(|fault| match &fault.action {
        FaultAction::Request(UserRequest { verb: RequestVerb::Create { object, .. }, .. }) => Some(object),
        _ => None,
    });
    let mut kinds = objects.iter().chain(created).map(kind_of);
    let is_imported = recording.imported.is_some();
    let is_storage = |kind| match kind {
        ObjectKind::PersistentVolume | ObjectKind::StorageClass => true,
        // As in a scenario, a claim of an incident does not mean that its volume would be listed.
        ObjectKind::PersistentVolumeClaim => !is_imported,
        _ => false,
    };
    match (kinds.any(is_storage), is_imported) {
        (true, _) => ClaimController::Simulated,
        (false, true) => ClaimController::Assumed,
        (false, false) => ClaimController::Absent,
    }
}

fn kind_of(object: &Value) -> ObjectKind {
    ObjectKind::from_kind(object["kind"].as_str().unwrap_or(""))
}

/// Returns the value. If there is none, adds the reasons and returns the default.
fn take_or_default<T: Default>(value: Result<T, Vec<UnmodelledPart>>, reasons: &mut Vec<UnmodelledPart>) -> T {
    value.unwrap_or_else(|result| {
        reasons.extend(result);
        T::default()
    })
}

/// Returns the unknown keys. Their effect on the simulation is unknown.
fn unknown_keys(recording: &RecordedRun) -> Vec<UnmodelledPart> {
    let places = [
        ("", &recording.unknown),
        ("controlPlane ", &recording.control_plane.unknown),
        ("script ", &recording.script.unknown),
    ];
    let keys = places
        .into_iter()
        .flat_map(|(place, keys)| keys.keys().cloned().map(move |key| UnmodelledPart::UnknownKey { place, key }));
    keys.collect()
}

/// Commit of Kueue whose decisions are simulated.
const KUEUE_COMMIT: &str = "ff69552";

/// Returns what is unknown about Kueue's manager.
fn unknown_kueue(control_plane: &RecordedControlPlane) -> Vec<UnmodelledPart> {
    let other = control_plane.kueue.iter().filter(|text| !text.contains(KUEUE_COMMIT));
    let mut parts: Vec<UnmodelledPart> =
        other.map(|text| UnmodelledPart::KueueVersion { text: text.clone() }).collect();
    let keys = control_plane.wait_for_pods_ready.iter().flat_map(|readiness| readiness.unknown.keys());
    let place = "waitForPodsReady ";
    parts.extend(keys.map(|key| UnmodelledPart::UnknownKey { place, key: key.clone() }));
    parts
}

fn stop_spec(recording: &RecordedRun) -> StopSpec {
    match (recording.kind, recording.played_for_ms) {
        (RecordingKind::Times, _) | (_, None) => StopSpec { at: TIMES_LIMIT, when: StopWhen::Settled },
        // Changes in the last second are not compared.
        (_, Some(ms)) => {
            StopSpec { at: Duration::from_millis(ms.saturating_sub(UNCOMPARED_END_MS)), when: StopWhen::Time }
        }
    }
}

fn control_plane(
    recording: &RecordedRun, gates: FeatureGates, defaults: (&ControlPlane, bool), overrides: &ScenarioOverrides,
) -> ControlPlane {
    let recorded = &recording.control_plane;
    // The API server of an imported incident is unknown.
    let machine = if recording.imported.is_some() { NODE_REQUESTS_MAX_PER_S } else { NODE_REQUESTS_PER_S };
    let node_requests_per_s = overrides.node_requests_per_s.or(recorded.node_requests_per_second);
    let rate = |r: super::recording::RecordedRate| ClientRate::new(r.qps, r.burst);
    let kcm = recorded.kube_controller_manager;
    let own = |recorded: super::recording::RecordedRate, preset: ClientRate| {
        if defaults.1 { preset } else { rate(recorded) }
    };
    let defaults = defaults.0;
    ControlPlane {
        preset: "recording".to_owned(),
        kube_controller_manager: own(kcm, defaults.kube_controller_manager),
        concurrent_job_syncs: kcm.concurrent_job_syncs.unwrap_or(defaults.concurrent_job_syncs),
        kube_scheduler: own(recorded.kube_scheduler, defaults.kube_scheduler),
        jobset_manager: own(recorded.jobset_manager, defaults.jobset_manager),
        node_requests_per_s: node_requests_per_s.unwrap_or(machine),
        feature_gates: gates,
        placement_repair: if recorded.manager_may_write_pod_status {
            PlacementRepair::Succeeds
        } else {
            PlacementRepair::Forbidden
        },
        node_monitor_grace_period_s: recorded
            .node_monitor_grace_period_s
            .unwrap_or(defaults.node_monitor_grace_period_s),
        heartbeat_s: recorded.heartbeat_s.unwrap_or(defaults.heartbeat_s),
        ..defaults.clone()
    }
}

/// Parses `1.36.3` or `v1.36`. Only the minor version is used.
fn version(text: &str) -> Result<KubeVersion, UnmodelledPart> {
    let mut parts = text.trim_start_matches('v').split('.');
    match (parts.next(), parts.next().and_then(|m| m.parse().ok())) {
        (Some("1"), Some(minor)) => Ok(KubeVersion::new(minor)),
        _ => Err(UnmodelledPart::KubernetesVersion { text: text.to_owned() }),
    }
}

fn timing(recording: &RecordedRun, defaults: &RecordingDefaults, overrides: &ScenarioOverrides) -> TimingSpec {
    let script = &recording.script;
    let mut timing = defaults.timing.clone();
    timing.kubelet = KubeletTiming::Scripted {
        start: Duration::from_millis(script.start_ms),
        stop: Duration::from_millis(script.term_ms),
        stop_exit_code: script.term_exit,
        restart: Duration::from_millis(script.restart_ms),
        has_agents: recording.job_set["spec"]["failurePolicy"]["restartStrategy"] == "InPlaceRestart",
    };
    let requests = recording.requests.as_ref().filter(|_| !defaults.preset_overrides_recording);
    timing.api_measured = requests.map_or(Vec::new(), measured_latencies);
    let recorded = recording.control_plane.api_latency_ms.map(|l| l.p50_p95());
    if let Some((p50, p95)) = overrides.api_latency_ms.or(recorded) {
        let latency = Distribution::from_p50_p95(p50 / 1e3, p95 / 1e3);
        timing.api_read = latency.clone();
        timing.api_write = latency.clone();
        timing.api_pod_create = latency;
        if overrides.api_latency_ms.is_some() {
            timing.api_measured.clear();
        }
    }
    timing
}

/// Returns the latencies of successful requests by kind, as measured during the restart, or before it if there are
/// none.
fn measured_latencies(requests: &RecordedRequests) -> Vec<MeasuredLatency> {
    let rows = requests.restart.iter().chain(&requests.start);
    let succeeded = rows.filter(|row| row.3.is_empty());
    let measured = succeeded.map(|row| MeasuredLatency {
        client: row.0.clone(),
        verb: row.1.clone(),
        resource: row.2.clone(),
        loads: Vec::new(),
        latency: Distribution::Measured { p50_s: row.5 / 1e3, p95_s: row.6.max(row.5) / 1e3 },
    });
    measured.collect()
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/scenario.rs"]
pub mod tests;
