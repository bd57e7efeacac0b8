//! Tests of `sim_inputs::presets`.

mod shipped;

use sim_api::spec::timing::KubeletTiming;
use sim_api::spec::{ClientRate, KubeVersion};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_inputs::presets::preset_data::preset_names;
use sim_inputs::presets::*;
#[test]
fn presets_hold_what_their_sources_say() {
    assert_eq!(preset_names(), ["stock", "scale-test", "kops"]);
    for (name, kcm, scheduler) in [
        ("stock", (20.0, 30), (50.0, 100)),
        ("scale-test", (100.0, 100), (100.0, 100)),
        ("kops", (500.0, 500), (100.0, 100)),
    ] {
        let preset = control_plane(name).unwrap();
        let rate = |r: ClientRate| (r.qps, r.burst);
        assert_eq!(rate(preset.kube_controller_manager), kcm, "{name}");
        assert_eq!(rate(preset.kube_scheduler), scheduler, "{name}");
        assert_eq!(rate(preset.jobset_manager), (500.0, 500), "{name}");
        assert_eq!((preset.concurrent_job_syncs, preset.concurrent_gc_syncs), (5, 20));
        assert_eq!((preset.node_requests_per_s, preset.heartbeat_s), (4000.0, 10));
    }
    assert!(control_plane("gke").is_none());
    assert_eq!(node_monitor_grace_period_s(KubeVersion::new(31)), Some(40));
    assert_eq!(node_monitor_grace_period_s(KubeVersion::new(32)), Some(50));
}

#[test]
fn every_delay_of_the_timing_profile_has_a_value() {
    let timing = timing();
    let KubeletTiming::Real(kubelet) = &timing.kubelet else {
        panic!("the profile must have a real kubelet");
    };
    for dist in [
        &timing.api_read, &timing.api_write, &timing.api_pod_create, &timing.watch_lag, &timing.agent_fanout,
        &kubelet.volumes, &kubelet.sandbox, &kubelet.container_start, &kubelet.image_check, &kubelet.status_write,
        &kubelet.container_stop, &kubelet.cleanup, &kubelet.container_remove, &kubelet.agent_boot,
    ] {
        assert!(!matches!(dist, Distribution::Fixed(_)), "{dist:?}");
    }
    assert_eq!(kubelet.pleg_period, Duration::from_secs(1));
    assert_eq!(kubelet.minimum_grace, Duration::from_secs(2));
    assert_eq!(timing.job_sync_batch_period, Duration::from_secs(1));
    assert_eq!(timing.scheduler.fixed, Duration(910_000));
    assert_eq!(timing.scheduler.per_node, Duration(170));
    assert_eq!(timing.scheduler.per_feasible_node, Duration(260));
    assert_eq!(timing.scheduler.affinity_per_node, Duration(1_750));
    assert_eq!(timing.api_write.median(), Duration::from_millis(7));
}

#[test]
fn every_assumption_has_a_value_a_source_and_a_confidence() {
    let all = assumptions();
    assert_eq!(all.len(), 9 + 3 * 4 + 29);
    for a in all {
        assert!(!a.value.is_empty() && a.source.len() > 10, "{a:?}");
        let levels = ["documented", "measured", "derived", "unverified"];
        assert!(levels.contains(&a.confidence.as_str()), "{a:?}");
    }
}
