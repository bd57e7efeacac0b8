//! Counterfactual changes of a recording's control plane: fields of `controlPlane` and `timing` with the names and
//! checks of a scenario, applied to the recorded values.

use crate::cli::args::FieldOverride;
use crate::cli::failure::{CommandFailure, bail};
use serde_json::json;
use sim_api::spec::{ControlPlane, MeasuredLatency, ScenarioSpec, TimingSpec};
use sim_inputs::text::path;

/// Returns whether a path belongs to `controlPlane` or `timing`.
pub fn is_of(path: &str) -> bool {
    ["controlPlane", "timing"].contains(&path.split(['.', '[']).next().unwrap_or(""))
}

/// Applies the overrides to the scenario of a recording.
pub fn change(scenario: &mut ScenarioSpec, sets: &[FieldOverride]) -> Result<(), CommandFailure> {
    if sets.is_empty() {
        return Ok(());
    }
    let (plane, timing) = read(sets)?;
    for (path, value) in sets {
        let parts: Vec<&str> = path.split('.').collect();
        let known = match parts.as_slice() {
            ["controlPlane", "preset"] => {
                apply_preset(scenario, (&plane, &timing), sim_inputs::is_preset_file(value));
                true
            }
            ["controlPlane", field, ..] => of_plane(&mut scenario.control_plane, &plane, field),
            ["timing", field] => of_timing(&mut scenario.timing, &timing, field),
            _ => false,
        };
        if !known {
            bail!(
                "--counterfactual {path}: for a recording, expected a rate, period, gate or version of controlPlane, or a time of the \
                 API server, watches, scheduler or Job controller; the behavior of containers is the incident itself"
            );
        }
    }
    Ok(())
}

/// Parses the overrides as fields of a preset file.
fn read(sets: &[FieldOverride]) -> Result<(ControlPlane, TimingSpec), CommandFailure> {
    let file = sets.iter().find(|(p, v)| p == "controlPlane.preset" && sim_inputs::is_preset_file(v));
    let mut base = match file {
        None => {
            json!({"apiVersion": sim_inputs::API_VERSION, "kind": "Preset", "metadata": {"name": "counterfactual"},
            "controlPlane": {"preset": sim_inputs::presets::DEFAULT_PRESET}, "timing": {}})
        }
        Some((_, name)) => {
            let source = sim_inputs::read_source(std::path::Path::new(name))?;
            sim_inputs::read_preset(&source)?;
            let first = sim_inputs::documents(&source)?;
            first.into_iter().next().unwrap_or_default()
        }
    };
    if !base["timing"].is_object() {
        base["timing"] = json!({});
    }
    let rest: Vec<FieldOverride> = sets.iter().filter(|set| Some(*set) != file).cloned().collect();
    let mut node = sim_inputs::text::node::YamlNode::from_json(&base);
    let source = path::overrides_source("--counterfactual", &rest);
    path::apply_sets(&mut node, &source, &rest)?;
    let text = sim_inputs::print_yaml(&node.to_json());
    let file = "the control plane with --counterfactual".to_owned();
    Ok(sim_inputs::read_preset(&sim_inputs::SourceText { file, text })?)
}

/// Applies the rates and workers of another preset; for a preset file also its times.
fn apply_preset(scenario: &mut ScenarioSpec, (plane, timing): (&ControlPlane, &TimingSpec), file: bool) {
    for field in "kubeControllerManager kubeScheduler jobsetManager apiServerConcurrency nodeRequestsPerSecond \
    nodeMonitorGracePeriodSeconds heartbeatSeconds"
        .split(' ')
    {
        of_plane(&mut scenario.control_plane, plane, field);
    }
    scenario.control_plane.preset.clone_from(&plane.preset);
    if file {
        for field in TIMES.split(' ') {
            of_timing(&mut scenario.timing, timing, field);
        }
    }
}

fn of_plane(own: &mut ControlPlane, new: &ControlPlane, field: &str) -> bool {
    match field {
        "kubeControllerManager" => {
            own.kube_controller_manager = new.kube_controller_manager;
            own.concurrent_job_syncs = new.concurrent_job_syncs;
            own.concurrent_gc_syncs = new.concurrent_gc_syncs;
        }
        "kubeScheduler" => own.kube_scheduler = new.kube_scheduler,
        "jobsetManager" => {
            own.jobset_manager = new.jobset_manager;
            own.placement_repair = new.placement_repair;
        }
        "apiServerConcurrency" => own.api_server_concurrency = new.api_server_concurrency,
        "nodeRequestsPerSecond" => own.node_requests_per_s = new.node_requests_per_s,
        "kubernetes" => own.kubernetes = new.kubernetes,
        "featureGates" => own.feature_gates = new.feature_gates,
        "nodeMonitorGracePeriodSeconds" => {
            own.node_monitor_grace_period_s = new.node_monitor_grace_period_s;
        }
        "heartbeatSeconds" => own.heartbeat_s = new.heartbeat_s,
        _ => return false,
    }
    true
}

/// Fields of `timing` that belong to the control plane.
const TIMES: &str = "apiRead apiWrite apiPodCreate watchLag agentFanout jobsetListPerPod \
    jobSyncBatchPeriod schedulerFixed schedulerPerNode schedulerPerFeasibleNode schedulerAffinityPerNode \
    schedulerPreferredPerNode schedulerExistingTerm schedulerNodeAffinity \
    schedulerHardSpreadPerNode schedulerSoftSpreadPerNode schedulerPerClaim";

fn of_timing(own: &mut TimingSpec, new: &TimingSpec, field: &str) -> bool {
    match field {
        "apiRead" => own.api_read = new.api_read.clone(),
        "apiWrite" => own.api_write = new.api_write.clone(),
        "apiPodCreate" => own.api_pod_create = new.api_pod_create.clone(),
        "watchLag" => own.watch_lag = new.watch_lag.clone(),
        "agentFanout" => own.agent_fanout = new.agent_fanout.clone(),
        "jobsetListPerPod" => own.jobset_list_per_pod = new.jobset_list_per_pod,
        "jobSyncBatchPeriod" => own.job_sync_batch_period = new.job_sync_batch_period,
        "schedulerFixed" => own.scheduler.fixed = new.scheduler.fixed,
        "schedulerPerNode" => own.scheduler.per_node = new.scheduler.per_node,
        "schedulerPerFeasibleNode" => own.scheduler.per_feasible_node = new.scheduler.per_feasible_node,
        "schedulerAffinityPerNode" => own.scheduler.affinity_per_node = new.scheduler.affinity_per_node,
        "schedulerPreferredPerNode" => own.scheduler.preferred_per_node = new.scheduler.preferred_per_node,
        "schedulerExistingTerm" => own.scheduler.existing_term = new.scheduler.existing_term,
        "schedulerNodeAffinity" => own.scheduler.node_affinity = new.scheduler.node_affinity,
        "schedulerHardSpreadPerNode" => own.scheduler.hard_spread_per_node = new.scheduler.hard_spread_per_node,
        "schedulerSoftSpreadPerNode" => own.scheduler.soft_spread_per_node = new.scheduler.soft_spread_per_node,
        "schedulerPerClaim" => own.scheduler.per_claim = new.scheduler.per_claim,
        _ => return false,
    }
    // Latencies recorded per kind of request would take precedence over the changed time.
    own.api_measured.retain(|row| class(row) != field);
    true
}

fn class(row: &MeasuredLatency) -> &'static str {
    match (row.verb.as_str(), row.resource.as_str()) {
        ("get" | "list", _) => "apiRead",
        ("create", "pods") => "apiPodCreate",
        _ => "apiWrite",
    }
}
