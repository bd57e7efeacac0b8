//! Simulates one pod on one node and checks the order of the kubelet's reports.

use crate::SimulationInput;
use crate::record::{Body, KeepSink};
use sim_api::spec::*;
use sim_base::random::Distribution;
use sim_base::*;
use std::collections::BTreeMap;

/// Returns a kubelet whose delays are zero or distinct numbers of seconds.
fn kubelet() -> KubeletTiming {
    let fixed = |s| Distribution::Fixed(Duration::from_secs(s));
    KubeletTiming::Real(Box::new(RealKubelet {
        pleg_period: Duration::ZERO,
        unmount_poll: Duration::ZERO,
        volumes: Distribution::ZERO,
        sandbox: Distribution::ZERO,
        container_start: fixed(1),
        image_check: Distribution::ZERO,
        status_write: Distribution::ZERO,
        // The container ignores SIGTERM.
        container_stop: fixed(1000),
        cleanup: Distribution::ZERO,
        container_remove: Distribution::ZERO,
        agent_boot: Distribution::ZERO,
        minimum_grace: Duration::from_secs(2),
    }))
}

/// Sets a relist period of 10 s and checks volumes every 3 s.
fn slow_relists(timing: &mut TimingSpec) {
    if let KubeletTiming::Real(k) = &mut timing.kubelet {
        (k.pleg_period, k.unmount_poll) = (Duration::from_secs(10), Duration::from_secs(3));
    }
}

fn timing() -> TimingSpec {
    TimingSpec {
        api_read: Distribution::ZERO,
        api_write: Distribution::ZERO,
        api_pod_create: Distribution::ZERO,
        api_measured: Vec::new(),
        watch_lag: Distribution::ZERO,
        jobset_list_per_pod: Duration::ZERO,
        job_sync_batch_period: Duration::from_secs(1),
        agent_fanout: Distribution::ZERO,
        kubelet: kubelet(),
        scheduler: SchedulerCost::default(),
    }
}

/// Returns a pod with a grace period of 60 s and a sidecar beside the main container.
fn pod() -> PodTemplate {
    let container = |name: &str, restart_policy| ContainerSpec {
        name: name.to_owned(),
        image: "x:1".to_owned(),
        restart_policy,
        ..ContainerSpec::default()
    };
    PodTemplate {
        spec: PodSpec {
            restart_policy: RestartPolicy::Never,
            termination_grace_period_s: 60,
            init_containers: vec![container("side", Some(RestartPolicy::Always))],
            containers: vec![container("main", None)],
            ..PodSpec::default()
        },
        ..PodTemplate::default()
    }
}

fn jobset() -> JobSet {
    JobSet {
        name: "js".to_owned(),
        namespace: "default".to_owned(),
        spec: JobSetSpec {
            replicated_jobs: vec![ReplicatedJob {
                name: "w".to_owned(),
                replicas: 1,
                template: JobSpec { backoff_limit: Some(0), template: pod(), ..JobSpec::default() },
                ..ReplicatedJob::default()
            }],
            ..JobSetSpec::default()
        },
        ..JobSet::default()
    }
}

pub fn scenario(actions: &[(u64, FaultAction)]) -> ScenarioSpec {
    let rate = ClientRate::new(1000.0, 1000);
    let fault = |(at, action): &(u64, FaultAction)| ScriptedFault {
        at: FaultTime::At(Duration::from_secs(*at)),
        action: action.clone(),
        random_cause: None,
        entry: None,
    };
    ScenarioSpec {
        kueue: None,
        name: "one-pod".to_owned(),
        description: String::new(),
        topology: TopologySpec {
            pools: vec![NodePool {
                name: "n".to_owned(),
                count: 1,
                islands: 1,
                nodes_per_island: 1,
                labels: BTreeMap::new(),
                ..NodePool::default()
            }],
            ..TopologySpec::default()
        },
        control_plane: ControlPlane {
            preset: "custom".to_owned(),
            kube_controller_manager: rate,
            concurrent_job_syncs: 5,
            concurrent_gc_syncs: 20,
            kube_scheduler: rate,
            ties: SchedulerTies::Draw,
            jobset_manager: rate,
            api_server_concurrency: 600,
            node_requests_per_s: 1e9,
            kubernetes: KubeVersion::new(36),
            feature_gates: FeatureGates {
                in_place_restart: true,
                restart_job: true,
                elastic_jobset: false,
                ..FeatureGates::default()
            },
            placement_repair: PlacementRepair::default(),
            node_monitor_grace_period_s: 50,
            heartbeat_s: 10,
        },
        timing: timing(),
        jobsets: vec![SubmittedJobSet { jobset: jobset(), submit_at: Duration::ZERO, source: String::new() }],
        objects: Vec::new(),
        containers: Vec::new(),
        training: Vec::new(),
        faults: actions.iter().map(fault).collect(),
        admit_unplaceable: false,
        fault_processes: Vec::new(),
        process_entries: Vec::new(),
        node_repair: None,
        node_spares: None,
        slice_formation: None,
        clocks: Vec::new(),
        has_repairs_after_end: false,
        has_random_faults: false,
        drawn_contradictions: Vec::new(),
        claim_controller: sim_api::spec::ClaimController::Assumed,
        requires_listed_classes: false,
        service_accounts: Vec::new(),
        scheduler: Default::default(),
        ties: TieBreak::default(),
        decoders: ObjectDecoders::NONE,
        stop: StopSpec { at: Duration::from_secs(1000), when: StopWhen::Time },
        seed: 1,
    }
}

/// Returns the reports about the pod from 10 s on, each with its time in whole seconds.
fn play(actions: &[(u64, FaultAction)]) -> Vec<String> {
    play_changed(actions, |_| {})
}

fn play_changed(actions: &[(u64, FaultAction)], change: impl Fn(&mut ScenarioSpec)) -> Vec<String> {
    let mut scenario = scenario(actions);
    change(&mut scenario);
    let mut simulation = SimulationInput::new(&scenario).expect("one pod fits on one node");
    simulation.set_paranoid(true);
    let mut kept = KeepSink::default();
    simulation.run(1, 0, &mut kept);
    let text = |body: Body| match body {
        Body::ContainerExited { exit_code, .. } => Some(format!("exited {exit_code}")),
        Body::PodNotReady { .. } => Some("not ready".to_owned()),
        Body::PodFinished { exit_code, .. } => {
            Some(exit_code.map_or("finished".to_owned(), |code| format!("finished {code}")))
        }
        Body::PodDeleting { .. } => Some("deleting".to_owned()),
        Body::PodGone { .. } => Some("gone".to_owned()),
        _ => None,
    };
    let later = kept.0.iter().filter(|r| r.at.seconds() >= 10.0);
    let lines = later.filter_map(|r| Some((r.at.seconds().floor(), text(r.body)?)));
    lines.map(|(at, what)| format!("{at} {what}")).collect()
}

fn of_pod() -> NodeRef {
    NodeRef { name: None, of_pod: Some("js-w-0-0".to_owned()), alias: Some("a".to_owned()) }
}

fn exit(code: i32) -> FaultAction {
    FaultAction::ContainerExit { pod: "js-w-0-0".to_owned(), exit_code: code }
}

fn delete() -> FaultAction {
    FaultAction::DeletePod { pod: "js-w-0-0".to_owned(), force: false }
}

#[test]
fn a_pod_is_failed_when_its_sidecar_has_ended_and_not_ready_at_once() {
    let text = play(&[(20, exit(1))]);
    assert_eq!(text[..3], ["20 exited 1", "20 not ready", "80 finished 1"]);
}

#[test]
fn a_deleted_pod_pays_for_the_main_container_and_then_for_the_sidecar() {
    let text = play(&[(20, delete())]);
    assert_eq!(text[..3], ["20 deleting", "82 finished 143", "82 gone"]);
}

#[test]
fn a_pod_that_is_deleted_while_its_sidecar_stops_waits_for_that_only() {
    let text = play(&[(20, exit(3)), (50, delete())]);
    let first = ["20 exited 3", "20 not ready", "50 deleting", "80 finished 3"];
    assert_eq!(text[..4], first);
}

#[test]
fn only_a_machine_that_comes_back_shows_how_containers_were_lost() {
    let (lost, back) = (FaultAction::CrashNode(of_pod()), FaultAction::ReturnNode(of_pod()));
    let text = play(&[(20, lost.clone()), (40, back)]);
    assert_eq!(text[0], "40 finished 255");
    let gone = FaultAction::DeleteNode(of_pod());
    let text = play(&[(20, lost), (90, gone)]);
    assert!(text[0].ends_with("not ready"), "{text:?}");
    assert!(text[1].ends_with("finished"), "{text:?}");
}

#[test]
fn a_silent_kubelet_stops_on_its_own_what_it_has_begun_to_stop() {
    let silent = FaultAction::PartitionNode(of_pod());
    let back = FaultAction::ReturnNode(of_pod());
    let script = [(20, delete()), (30, silent), (95, back)];
    let text = play(&script);
    assert_eq!(text[0], "20 deleting");
    assert!(text.contains(&"95 finished 143".to_owned()), "{text:?}");
}

/// Returns the time of the first report that ends with `what`.
fn at(text: &[String], what: &str) -> f64 {
    let line = text.iter().find(|line| line.ends_with(what));
    let line = line.unwrap_or_else(|| panic!("{what}: {text:?}"));
    line.split(' ').next().and_then(|at| at.parse().ok()).expect("a time")
}

/// Checks the rule of kubernetes.md 3.5.
#[test]
fn a_failed_pod_is_failed_a_relist_after_its_exit_was_noticed() {
    let text = play_changed(&[(20, exit(1))], |scenario| {
        slow_relists(&mut scenario.timing);
        let pod = &mut scenario.jobsets[0].jobset.spec.replicated_jobs[0].template.template;
        pod.spec.init_containers.clear();
    });
    let (noticed, failed) = (at(&text, "not ready"), at(&text, "finished 1"));
    assert!((20.0..30.0).contains(&noticed), "{text:?}");
    assert_eq!(failed - noticed, 10.0, "{text:?}");
}

/// Reproduces jobset #928: a worker exits, its sidecar takes a minute, and the phase takes another two or three
/// relists.
#[test]
fn after_its_sidecar_has_ended_a_pod_waits_for_the_turns_of_its_worker() {
    for (minor, relists) in [(33, 2.0), (36, 1.0)] {
        let text = play_changed(&[(20, exit(1))], |scenario| {
            slow_relists(&mut scenario.timing);
            scenario.control_plane.kubernetes = KubeVersion::new(minor);
        });
        let (noticed, failed) = (at(&text, "not ready"), at(&text, "finished 1"));
        let after = failed - noticed - 60.0;
        let all = 10.0 * relists + 3.0;
        assert!((all - 1.0..=all + 11.0).contains(&after), "1.{minor}: {after} s, {text:?}");
    }
}
