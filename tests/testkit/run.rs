//! A complete run for a hand-written record stream: scenario, outcome and view. For tests only.

use super::lines::{LineFilter, names, play, s};
use sim_analysis::metrics::{MetricFolds, RunView};
use sim_api::spec::timing::{KubeletTiming, SchedulerCost};
use sim_api::spec::{
    ClientRate, ControlPlane, FaultAction, FaultTime, FeatureGates, JobSet, KubeVersion, PlacementRepair, ScenarioSpec,
    SchedulerTies, ScriptedFault, StopSpec, StopWhen, SubmittedJobSet, TimingSpec, TopologySpec,
};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_engine::record::{
    EndReason, JobSetOutcome, LedgerCategory, LedgerResource, ResourceUsage, RunOutcome, TimeLedger,
};

/// Returns a scenario for the streams of `records`, with names and a single fault.
fn scenario() -> ScenarioSpec {
    let rate = ClientRate::new(100.0, 100);
    let exit = FaultAction::ContainerExit { pod: "train-workers-0-1".into(), exit_code: 1 };
    ScenarioSpec {
        name: "two-pods".into(),
        description: String::new(),
        topology: TopologySpec { name: "small".into(), ..TopologySpec::default() },
        control_plane: ControlPlane {
            preset: "custom".into(),
            kube_controller_manager: rate,
            concurrent_job_syncs: 5,
            concurrent_gc_syncs: 20,
            kube_scheduler: rate,
            ties: SchedulerTies::Draw,
            jobset_manager: rate,
            api_server_concurrency: 600,
            node_requests_per_s: 1000.0,
            kubernetes: KubeVersion::new(36),
            feature_gates: FeatureGates { in_place_restart: true, ..FeatureGates::default() },
            placement_repair: PlacementRepair::default(),
            node_monitor_grace_period_s: 50,
            heartbeat_s: 10,
        },
        timing: timing(),
        jobsets: vec![SubmittedJobSet {
            jobset: JobSet { name: "train".into(), namespace: "default".into(), ..JobSet::default() },
            submit_at: Duration::ZERO,
            source: String::new(),
        }],
        objects: Vec::new(),
        containers: Vec::new(),
        training: Vec::new(),
        faults: vec![ScriptedFault {
            at: FaultTime::At(Duration::from_secs(100)),
            action: exit,
            random_cause: None,
            entry: None,
        }],
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
        kueue: None,
        ties: sim_api::spec::TieBreak::default(),
        decoders: sim_api::spec::ObjectDecoders::NONE,
        stop: StopSpec { at: Duration::from_secs(1000), when: StopWhen::Settled },
        seed: 1,
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
        kubelet: KubeletTiming::Scripted {
            start: Duration::ZERO,
            stop: Duration::ZERO,
            stop_exit_code: 143,
            restart: Duration::ZERO,
            has_agents: false,
        },
        scheduler: SchedulerCost::default(),
    }
}

pub fn outcome() -> RunOutcome {
    let mut ledger = TimeLedger { accelerators: 8, currency: "USD".into(), ..TimeLedger::default() };
    ledger.accelerator_ns[LedgerCategory::Productive as usize] = 8 * 131_000_000_000;
    RunOutcome {
        end: s(131),
        end_reason: EndReason::Settled,
        digest: 0xabc,
        records: 40,
        events: 100,
        jobsets: vec![JobSetOutcome { restarts: 1, ..JobSetOutcome::default() }],
        training: Vec::new(),
        ledger,
        resources: vec![ResourceUsage {
            resource: LedgerResource::JobControllerClient,
            capacity: "100 requests/s, burst 100".into(),
            requests: 10,
            busy: vec![(s(115), s(120))],
            longest_queue: 3,
        }],
        requests: Vec::new(),
        blocked: Vec::new(),
        warnings: vec!["a warning".into()],
        pending: Vec::new(),
    }
}

/// Calls `use_view` with the view of a run of these lines, for reports.
pub fn with_view<T>(lines: &[LineFilter], use_view: impl FnOnce(&RunView<'_>) -> T) -> T {
    with_outcome(lines, outcome(), use_view)
}

/// Calls `use_view` with the view of a run that ended with `outcome`.
pub fn with_outcome<T>(lines: &[LineFilter], outcome: RunOutcome, use_view: impl FnOnce(&RunView<'_>) -> T) -> T {
    let (scenario, mut names) = (scenario(), names());
    names.intern("DefaultFailurePolicy");
    let mut folds = MetricFolds::new(&scenario, true);
    play(lines, &names, &mut folds);
    let folded = folds.finish(&scenario, &outcome, &names);
    use_view(&RunView {
        scenario: &scenario,
        names: &names,
        outcome: &outcome,
        folded: &folded,
        seed: 1,
        not_modelled: &["spec.network".to_owned()],
    })
}
