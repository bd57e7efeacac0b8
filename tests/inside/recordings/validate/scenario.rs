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
fn every_shared_recording_has_a_scenario() {
    for folder in ["times", "nodes", "decisions", "corner"] {
        for (file, text) in shared(folder) {
            let s = plain(&read(&file, &text).unwrap(), ScenarioOverrides::default());
            assert!(s.is_ok(), "{file}: {s:?}");
        }
    }
}
