//! Unit tests of `sim_recordings::validate::scenario`.

use super::super::read::{read, tests::*};
use super::*;
use serde_json::json;
use sim_api::spec::SchedulerTies;
use sim_api::spec::timing::SchedulerCost;

pub fn defaults() -> RecordingDefaults {
    let rate = ClientRate::new(5.0, 10);
    RecordingDefaults {
        control_plane: ControlPlane {
            preset: "stock".into(),
            kube_controller_manager: rate,
            concurrent_job_syncs: 5,
            concurrent_gc_syncs: 20,
            kube_scheduler: rate,
            ties: SchedulerTies::Draw,
            jobset_manager: rate,
            api_server_concurrency: 600,
            node_requests_per_s: 5000.0,
            kubernetes: KubeVersion::new(30),
            feature_gates: FeatureGates {
                in_place_restart: true,
                restart_job: true,
                elastic_jobset: true,
                ..FeatureGates::default()
            },
            placement_repair: PlacementRepair::default(),
            node_monitor_grace_period_s: 40,
            heartbeat_s: 10,
        },
        timing: TimingSpec {
            api_read: Distribution::fixed_ms(1),
            api_write: Distribution::fixed_ms(2),
            api_pod_create: Distribution::fixed_ms(3),
            api_measured: Vec::new(),
            watch_lag: Distribution::fixed_ms(4),
            agent_fanout: Distribution::ZERO,
            jobset_list_per_pod: Duration::ZERO,
            job_sync_batch_period: Duration::from_secs(1),
            kubelet: KubeletTiming::Scripted {
                start: Duration::ZERO,
                stop: Duration::ZERO,
                stop_exit_code: 0,
                restart: Duration::ZERO,
                has_agents: false,
            },
            scheduler: SchedulerCost::default(),
        },
        preset_overrides_recording: false,
    }
}

pub fn plain(recording: &RecordedRun, overrides: ScenarioOverrides) -> Result<ScenarioSpec, UnmodelledAction> {
    replay_scenario(recording, &defaults(), &overrides)
}

#[test]
fn rates_gates_and_kubelet_come_from_the_recording() {
    let s = plain(&example(|_| {}), ScenarioOverrides::default()).unwrap();
    let cp = &s.control_plane;
    assert_eq!(cp.kube_controller_manager, ClientRate::new(50.0, 60));
    assert_eq!(cp.kube_scheduler, ClientRate::new(70.0, 80));
    assert_eq!((cp.kubernetes, cp.node_requests_per_s), (KubeVersion::new(36), 240.0));
    assert!(cp.feature_gates.in_place_restart && !cp.feature_gates.restart_job);
    assert_eq!(s.stop.at, Duration::from_secs(8));
    assert_eq!(s.timing.api_write, Distribution::fixed_ms(2));
    let KubeletTiming::Scripted { start, stop, .. } = s.timing.kubelet else {
        panic!("not scripted");
    };
    assert_eq!((start, stop), (Duration::from_millis(500), Duration::from_millis(400)));
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
    let file = example(|j| j["controlPlane"]["apiLatencyMs"] = json!({"p50": 8, "p95": 8}));
    let timing = plain(&file, ScenarioOverrides::default()).unwrap().timing;
    assert_eq!(timing.api_pod_create, Distribution::fixed_ms(8));
    let flags = ScenarioOverrides { api_latency_ms: Some((5.0, 5.0)), node_requests_per_s: Some(7.0) };
    let s = plain(&file, flags).unwrap();
    assert_eq!(s.timing.api_read, Distribution::fixed_ms(5));
    assert_eq!(s.control_plane.node_requests_per_s, 7.0);
}

#[test]
fn the_rate_of_node_requests_is_that_of_the_recording_machine_unless_the_incident_is_imported_or_states_one() {
    let rate = |edit: fn(&mut serde_json::Value), flag| {
        let overrides = ScenarioOverrides { node_requests_per_s: flag, ..ScenarioOverrides::default() };
        plain(&example(edit), overrides).unwrap().control_plane.node_requests_per_s
    };
    assert_eq!(rate(|_| {}, None), 240.0);
    assert_eq!(rate(|j| j["imported"] = json!({"restart": 1}), None), 1e9);
    let stated: fn(&mut serde_json::Value) = |j| j["controlPlane"]["nodeRequestsPerSecond"] = json!(500);
    assert_eq!((rate(stated, None), rate(stated, Some(7.0))), (500.0, 7.0));
    let zero = |j: &mut serde_json::Value| j["controlPlane"]["nodeRequestsPerSecond"] = json!(0);
    assert!(std::panic::catch_unwind(|| example(zero)).is_err());
}

#[test]
fn claims_are_bound_if_storage_is_listed_or_the_incident_is_imported() {
    let controller = |objects: serde_json::Value, is_imported: bool| {
        let recording = example(|j| {
            j["objects"] = objects;
            if is_imported {
                j["imported"] = json!({"restart": 1});
            }
        });
        plain(&recording, ScenarioOverrides::default()).unwrap().claim_controller
    };
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/v"}}});
    for (objects, is_imported, expected) in [
        (json!([]), false, ClaimController::Absent),
        (json!([claim]), false, ClaimController::Simulated),
        (json!([volume]), false, ClaimController::Simulated),
        (json!([]), true, ClaimController::Assumed),
        (json!([claim]), true, ClaimController::Assumed),
        (json!([volume]), true, ClaimController::Simulated),
    ] {
        assert_eq!(controller(objects.clone(), is_imported), expected, "{objects} imported: {is_imported}");
    }
}

#[test]
fn every_shared_recording_has_a_scenario() {
    for folder in ["times", "nodes", "decisions", "corner"] {
        for (file, text) in shared(folder) {
            let s = plain(&read(&file, &text).unwrap(), ScenarioOverrides::default());
            assert!(s.is_ok(), "{file}: {s:?}");
        }
    }
}
