//! Training jobs in JobSets: when they make progress, what an interruption costs, and complete accounting of their
//! time. `reference` names the section of the calibration reference that contains a closed form.

use crate::support;
use sim_api::spec::ScenarioSpec;
use sim_base::{Duration, SimTime};
use sim_engine::record::*;

const SECOND: u64 = 1_000_000_000;

/// Returns a JobSet of `pods` pods with one accelerator each and practically unlimited restarts.
fn jobset(pods: u32, pod: &str) -> String {
    let limit = if pod.contains("OnFailure") { 6 } else { 0 };
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: train}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 100000}}\n  replicatedJobs:\n  - name: w\n    replicas: 1\n    \
         template: {{spec: {{parallelism: {pods}, completions: {pods}, backoffLimit: {limit}, template: {{spec: \
         {{{pod}, containers: [{{name: w, image: x, resources: {{limits: {{a.com/chip: 1}}}}}}]}}}}}}}}\n"
    )
}

pub fn scenario_with(nodes: u32, pod: &str, rest: &str) -> ScenarioSpec {
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: training}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  currency: EUR\n  pools:\n  - name: \
         n-{{node:03}}\n    nodesPerIsland: {nodes}\n    accelerator: a.com/chip\n    pricePerNodeHour: 3.6\n    \
         allocatable: {{cpu: 8, a.com/chip: 1}}\njobSets: [{{manifest: jobset.yaml}}]\n{rest}"
    );
    let pods = nodes.min(4);
    support::parse(&text, &jobset(pods, pod)).unwrap_or_else(|e| panic!("{e}"))
}

pub fn scenario(rest: &str) -> ScenarioSpec {
    scenario_with(4, "restartPolicy: Never", rest)
}

#[derive(Default)]
pub struct Log(pub Vec<SimulationRecord>);

impl RecordSink for Log {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.0.push(*record);
    }
}

impl Log {
    pub fn first(&self, wanted: impl Fn(&Body) -> bool) -> SimTime {
        let matching = self.0.iter().find(|r| wanted(&r.body));
        matching.map(|r| r.at).expect("the event occurs")
    }

    pub fn count(&self, wanted: impl Fn(&Body) -> bool) -> usize {
        self.0.iter().filter(|r| wanted(&r.body)).count()
    }
}

pub fn play(scenario: &ScenarioSpec, seed: u64) -> (RunOutcome, Log) {
    let mut log = Log::default();
    let drawn = sim_reliability::faults::draw_faults(scenario, seed, 0);
    let outcome = support::simulation(&drawn).run(seed, 0, &mut log);
    (outcome, log)
}

pub fn seconds(outcome: &RunOutcome, phase: TrainingPhase) -> f64 {
    outcome.training[0].ns(phase) as f64 / SECOND as f64
}

pub fn assert_close(what: &str, actual: f64, expected: f64) {
    let far = (actual - expected).abs() > 1e-6 * expected.abs();
    assert!(!far, "{what}: {actual}, expected {expected}");
}

const CHECKPOINTS: &str = "training: {work: 6h, step: 6s, initialization: 20s, compile: 1m, checkpoint: {every: 15m, \
     blocking: 2s, commitDelay: 1m, restore: 30s}}\n";

#[test]
fn without_faults_a_job_takes_its_work_and_its_checkpoints() {
    let (outcome, log) = play(&scenario(CHECKPOINTS), 1);
    let training = &outcome.training[0];
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
    assert!(training.done);
    assert_eq!(training.saved_steps, Some(3600));
    assert_eq!((training.starts, training.interruptions, training.commits), (1, 0, 24));
    let begin = log.first(|b| matches!(b, Body::TrainingStarted { .. }));
    let done = log.first(|b| matches!(b, Body::TrainingDone { .. }));
    // 24 segments with a checkpoint of 2 s each, plus the commit delay of the last checkpoint.
    let expected = 80 + 6 * 3600 + 24 * 2 + 60;
    assert_eq!(done.since(begin), Duration::from_secs(expected));
    assert_close("checkpoints", seconds(&outcome, TrainingPhase::Checkpoint), 24.0 * 2.0 + 60.0);
}

#[test]
fn an_interruption_takes_back_the_steps_since_the_last_complete_checkpoint_and_no_more() {
    // Time of the failure in seconds after the start, and saved progress at that time in seconds of steps.
    for (at, saved) in [
        (40, 0),
        (80 + 900, 0),
        // A checkpoint that is in progress or not yet complete is lost with the job.
        (80 + 901, 0),
        (80 + 902 + 59, 0),
        (80 + 902 + 60, 900),
        (80 + 902 + 500, 900),
        (6000, 5400),
    ] {
        let faults = format!(
            "{CHECKPOINTS}faults: [{{afterReady: {at}s, containerExit: {{pod: train-w-0-2, exitCode: 1}}}}]\n\
             stop: {{at: 2d, when: AllJobSetsFinished}}\n"
        );
        let (outcome, log) = play(&scenario(&faults), 1);
        let text: Vec<(Duration, Duration)> = (log.0.iter())
            .filter_map(|r| match r.body {
                Body::TrainingInterrupted { reached, kept, .. } => Some((reached, kept)),
                _ => None,
            })
            .collect();
        let [(reached, kept)] = text[..] else {
            panic!("{text:?}");
        };
        assert_eq!(kept, Duration::from_secs(saved), "at {at}");
        let lost = (reached - kept).seconds();
        assert_close("lost", seconds(&outcome, TrainingPhase::Lost), lost);
        assert_close("productive", seconds(&outcome, TrainingPhase::Productive), 21_600.0);
        let restored = if saved > 0 { 30.0 } else { 0.0 };
        assert_close("restore", seconds(&outcome, TrainingPhase::Restore), restored);
        // After the restart, only the unsaved work is repeated.
        let saves = (0..).take_while(|n| n * 902 + 900 < at as i64 - 80).count() as f64;
        let in_save = (at as f64 - 80.0 - 900.0 - (saves - 1.0) * 902.0).clamp(0.0, 2.0);
        let first = if saves > 0.0 { (saves - 1.0) * 2.0 + in_save } else { 0.0 };
        let left = (21_600 - saved) as f64;
        let expected = first + (left / 900.0).ceil() * 2.0 + 60.0;
        assert_close("checkpoints", seconds(&outcome, TrainingPhase::Checkpoint), expected);
    }
}

#[test]
fn the_time_of_a_job_and_that_of_all_accelerators_close() {
    let faults = "faultProcesses:\n- {cause: software, on: Pod, mtbf: 10h, exitCode: 1}\n\
        - {cause: host, mtbf: 50h, backAfter: 1h, asNew: true}\n- {cause: net, does: Partition, mtbf: 60h, backAfter: 5m}\n\
        stop: {at: 3d, when: AllJobSetsFinished}\n";
    let mut interrupted = 0;
    for seed in 0..20 {
        for nodes in [4, 6] {
            let text = format!("{}{faults}", CHECKPOINTS.replace("6h", "20h"));
            let scenario = scenario_with(nodes, "restartPolicy: Never", &text);
            let (outcome, _) = play(&scenario, seed);
            let training = &outcome.training[0];
            let spent: u64 = training.spent_ns.iter().sum();
            assert_eq!(spent, training.end.since(training.submitted).0, "seed {seed}");
            let installed = u128::from(outcome.ledger.accelerators) * u128::from(outcome.end.0);
            assert_eq!(outcome.ledger.accelerator_ns.iter().sum::<u128>(), installed);
            // The accelerators of the four pods are accounted to the phases of the job.
            let booked = |category| outcome.ledger.accelerator_ns[category as usize];
            for (category, phase) in [
                (LedgerCategory::Productive, TrainingPhase::Productive),
                (LedgerCategory::Lost, TrainingPhase::Lost),
                (LedgerCategory::Checkpoint, TrainingPhase::Checkpoint),
                (LedgerCategory::Restore, TrainingPhase::Restore),
                (LedgerCategory::Compile, TrainingPhase::Compile),
                (LedgerCategory::Initialization, TrainingPhase::Initialization),
            ] {
                let job = u128::from(training.ns(phase)) * 4;
                assert_eq!(booked(category), job, "seed {seed}, {}", phase.as_str());
            }
            let own = &outcome.ledger.by_jobset[0].accelerator_ns;
            for category in outcome.ledger.categories() {
                let (of, all) = (own[*category as usize], booked(*category));
                let alone = match category {
                    // Idle time does not belong to a JobSet, and unhealthy nodes may be unused.
                    LedgerCategory::Idle => of == 0,
                    LedgerCategory::Unhealthy => of <= all,
                    _ => of == all,
                };
                assert!(alone, "seed {seed}, {}: {of} of {all}", category.as_str());
            }
            assert!(training.ns(TrainingPhase::Productive) <= training.held_ns);
            assert!(training.held_ns <= spent);
            interrupted += training.interruptions;
            assert!(training.saved_progress <= training.reached);
        }
    }
    assert!(interrupted > 50, "{interrupted}");
}

#[test]
fn a_process_that_ends_stops_all_accelerators_at_once() {
    // A dead host is not detected for 40 s, but the job makes no progress in the meantime.
    for fault in ["crashNode: {ofPod: train-w-0-1}", "containerExit: {pod: train-w-0-1, exitCode: 1}"] {
        let text = format!(
            "training: {{step: 1s, checkpoint: Continuous}}\nfaults: [{{afterReady: 100s, {fault}}}]\n\
             stop: {{at: 10m, when: Time}}\n"
        );
        let (outcome, log) = play(&scenario_with(6, "restartPolicy: Never", &text), 1);
        let begin = log.first(|b| matches!(b, Body::TrainingStarted { .. }));
        let end = log.first(|b| matches!(b, Body::TrainingInterrupted { .. }));
        assert_eq!(end.since(begin), Duration::from_secs(100), "{fault}");
        let waits = outcome.ledger.accelerator_ns[LedgerCategory::Waiting as usize];
        let dead = outcome.ledger.accelerator_ns[LedgerCategory::Unhealthy as usize];
        assert!(waits > 0 && (dead > 0) == fault.starts_with("crash"), "{fault}");
    }
}

#[test]
fn containers_that_start_again_in_their_pod_interrupt_the_job_as_well() {
    let text = "training: {work: 1h, checkpoint: {every: 10m}}\nfaults: [{afterReady: 15m, containerExit: \
        {pod: train-w-0-1, exitCode: 1}}]\nstop: {at: 1d, when: AllJobSetsFinished}\n";
    let (outcome, log) = play(&scenario_with(4, "restartPolicy: OnFailure", text), 1);
    assert_eq!(outcome.jobsets[0].restarts, 0, "the JobSet must not restart");
    assert_eq!(outcome.training[0].interruptions, 1);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 300.0);
    assert_eq!(log.count(|b| matches!(b, Body::TrainingStarted { .. })), 2);
}

#[test]
fn unsaved_work_at_the_end_is_neither_saved_nor_lost() {
    let text = "training: {step: 7s, checkpoint: {every: 10m}}\nstop: {at: 1h, when: Time}\n";
    let (outcome, _) = play(&scenario(text), 1);
    let training = &outcome.training[0];
    // 86 steps of 7 s are the first number that takes at least 10 minutes.
    assert_eq!(training.saved_steps, Some(5 * 86));
    assert!(training.reached_steps > training.saved_steps && !training.done);
    assert_eq!(training.ns(TrainingPhase::Lost), 0);
    assert_eq!(training.ns(TrainingPhase::Productive), training.reached.0);
}

#[test]
fn a_run_does_not_wait_for_the_work_of_a_jobset_that_has_failed() {
    let text = "training: {work: 20d, checkpoint: Never}\nfaults: [{afterReady: 1h, containerExit: {pod: train-w-0-1, \
        exitCode: 1}}]\nstop: {at: 30d}\n";
    let mut scenario = scenario(text);
    scenario.jobsets[0].jobset.spec.failure_policy = None;
    let (outcome, _) = play(&scenario, 1);
    assert_eq!(outcome.jobsets[0].terminal_state, "Failed");
    assert!(outcome.end < SimTime(2 * 3600 * SECOND), "{}", outcome.end);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 3600.0);
}

#[test]
fn a_suspended_jobset_is_distinguished_from_one_that_recovers() {
    let text = "training: {work: 2h, checkpoint: {every: 10m}}\nfaults: [{afterReady: 15m, suspendJobSet: {name: train}}, \
        {afterReady: 45m, resumeJobSet: {name: train}}]\nstop: {at: 1d, when: AllJobSetsFinished}\n";
    let (outcome, _) = play(&scenario(text), 1);
    assert!(outcome.training[0].done);
    assert_close("lost", (seconds(&outcome, TrainingPhase::Lost) / 10.0).round(), 30.0);
    let suspended = seconds(&outcome, TrainingPhase::Suspended);
    assert!((1790.0..=1800.0).contains(&suspended), "{suspended}");
    assert!(seconds(&outcome, TrainingPhase::Recovery) < 60.0);
}

#[test]
fn a_process_gives_up_that_waits_too_long_for_the_others() {
    // Four pods need one node each. There are three nodes until the fourth is uncordoned after ten minutes.
    let faults = "faults: [{at: 0s, cordonNode: {node: n-003}}, {at: 10m, uncordonNode: {node: n-003}}]\n\
        stop: {at: 2h, when: AllJobSetsFinished}\n";
    let given_up = |timeout: &str| {
        let text = format!("training: {{work: 30m, checkpoint: Never{timeout}}}\n{faults}");
        let (outcome, log) = play(&scenario(&text), 1);
        assert!(outcome.training[0].done);
        let fails = |b: &Body| matches!(b, Body::ContainerExited { exit_code: 1, .. });
        (log.count(fails), outcome)
    };
    let (none, patient) = given_up("");
    assert_eq!((none, patient.jobsets[0].restarts), (0, 0));
    let (some, hasty) = given_up(", rendezvousTimeout: 5m");
    assert!(some >= 3 && hasty.jobsets[0].restarts >= 1, "{some}");
    // A timeout that is longer than the wait has no effect.
    assert_eq!(given_up(", rendezvousTimeout: 11m").0, 0);
}

#[test]
fn money_is_what_the_scenario_pays_for_each_category() {
    let text = |prices: &str| format!("{CHECKPOINTS}{prices}stop: {{at: 10h, when: Time}}\n");
    let cost = |prices: &str| {
        let (outcome, _) = play(&scenario(&text(prices)), 1);
        let all: u128 = outcome.ledger.cost_micros.iter().sum();
        let productive = outcome.ledger.cost_micros[LedgerCategory::Productive as usize];
        (outcome.ledger.currency, all, productive)
    };
    // 4 accelerators for 10 hours, and 6 hours of work. Fractions of a millionth per category are truncated.
    let near = |(currency, all, productive): (String, u128, u128), price: u128| {
        assert!(40 * price - all <= LedgerCategory::COUNT as u128, "{all}");
        assert_eq!(productive, 24 * price);
        currency
    };
    assert_eq!(near(cost(""), 3_600_000), "EUR");
    let prices = "prices: {currency: CHF, perAcceleratorHour: 4.2}\n";
    assert_eq!(near(cost(prices), 4_200_000), "CHF");
    let pools = "prices: {perAcceleratorHour: 4.2, pools: {\"n-{node:03}\": 0.000001}}\n";
    assert_eq!(near(cost(pools), 1), "EUR");
}

#[test]
fn two_strategies_meet_the_same_faults() {
    let faults = |strategy: &str| {
        let sets: Vec<(&str, &str)> = match strategy {
            "Recreate" => Vec::new(),
            other => vec![("jobSets[0].restartStrategy", other)],
        };
        let scenario = support::scenario("training", &sets);
        let drawn = sim_reliability::faults::draw_faults(&scenario, 1, 0);
        let faults: Vec<String> = drawn.faults.iter().map(|f| format!("{f:?}")).collect();
        let outcome = support::simulation(&drawn).run(1, 0, &mut DiscardSink);
        (faults, outcome)
    };
    let (one, recreate) = faults("Recreate");
    let (other, blocking) = faults("BlockingRecreate");
    assert_eq!(one, other);
    assert!(recreate.training[0].done && blocking.training[0].done);
    assert_ne!(recreate.digest, blocking.digest);
}

#[test]
fn segments_take_the_time_that_daly_says() {
    // reference 6.1, mixed: failures hit initialization (R) and work, but not the restart of the pod (D). E[T] = (M
    // + D) exp(R/M) (exp((tau + C)/M) - 1), preceded by the first initialization.
    let (mean, every, blocking, restart, segments) = (3600.0, 600.0, 60.0, 300.0, 300.0_f64);
    let text = format!(
        "training: {{work: {}s, initialization: {restart}s, checkpoint: {{every: {every}s, blocking: {blocking}s}}}}\n\
         faultProcesses: [{{cause: crash, on: Pod, mtbf: {mean}s, exitCode: 1}}]\n\
         stop: {{at: 300d, when: AllJobSetsFinished}}\n",
        every * segments
    );
    let scenario = scenario_with(1, "restartPolicy: Never", &text);
    let mut outage = Vec::new();
    for seed in 0..16 {
        let (outcome, _) = play(&scenario, seed);
        let training = &outcome.training[0];
        assert!(training.done);
        let down = seconds(&outcome, TrainingPhase::Recovery);
        let d = down / f64::from(training.interruptions);
        let wall: f64 = training.spent_ns.iter().sum::<u64>() as f64 / SECOND as f64;
        let duration = wall - seconds(&outcome, TrainingPhase::Startup) - seconds(&outcome, TrainingPhase::Ending);
        let first = (mean + d) * (libm::exp(restart / mean) - 1.0);
        let segment = (mean + d) * libm::exp(restart / mean) * (libm::exp((every + blocking) / mean) - 1.0);
        outage.push(duration / (first + segments * segment) - 1.0);
    }
    let n = outage.len() as f64;
    let bias = outage.iter().sum::<f64>() / n;
    let variance = outage.iter().map(|a| (a - bias).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(bias.abs() < 3.0 * error, "{bias} ± {error}");
    assert!(error < 0.01, "{error} is too large an error");
}
