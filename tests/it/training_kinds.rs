//! Training jobs: phases after a restart, steps of different lengths, and several kinds of checkpoints.

use crate::support;
use crate::training::{assert_close, play, scenario, scenario_with, seconds};
use sim_analysis::experiment::{ExperimentSubject, ReplicationLimits};
use sim_analysis::metrics::{MetricFolds, Phase, RestartMetrics, RestartOutcome};
use sim_api::spec::ScenarioSpec;
use sim_base::SimTime;
use sim_engine::record::*;

pub fn restarts(scenario: &ScenarioSpec, seed: u64) -> (RunOutcome, Vec<RestartMetrics>) {
    let drawn = sim_reliability::faults::draw_faults(scenario, seed, 0);
    let mut folds = MetricFolds::new(&drawn, false);
    let simulation = &mut support::simulation(&drawn);
    let outcome = simulation.run(seed, 0, &mut folds);
    let restarts = folds.finish(&drawn, &outcome, simulation.names()).restarts;
    (outcome, restarts)
}

#[test]
fn a_restart_is_followed_by_initialization_restore_and_the_steps_that_were_lost() {
    let text = "training: {work: 20h, step: 6s, initialization: 20s, compile: 1m, checkpoint: {every: 15m, blocking: 2s, \
        commitDelay: 1m, restore: 30s}}\nfaultProcesses:\n- {cause: software, on: Pod, mtbf: 10h, exitCode: 1}\n\
        - {cause: host, mtbf: 50h, backAfter: 1h, asNew: true}\nstop: {at: 5d, when: AllJobSetsFinished}\n";
    for seed in 0..5 {
        let (outcome, restarts) = restarts(&scenario(text), seed);
        let training = &outcome.training[0];
        assert!(training.done && restarts.len() > 3, "seed {seed}");
        let sum = |phase: Phase| -> u64 {
            let of = restarts.iter().map(|r| r.phases()[phase as usize].0);
            of.sum()
        };
        // Every lost step is repeated after a restart, each time it is lost.
        assert_eq!(sum(Phase::Redo), training.ns(TrainingPhase::Lost));
        assert_eq!(sum(Phase::Restore), training.ns(TrainingPhase::Restore));
        // The first start does not follow a restart.
        let first = training.segments[0].rendezvous.0;
        let all = training.ns(TrainingPhase::Initialization) + training.ns(TrainingPhase::Compile);
        assert_eq!(sum(Phase::Rendezvous), all - first);
        for restart in &restarts {
            let phases = restart.phases();
            let pods: u64 = phases[..Phase::Rendezvous as usize].iter().map(|d| d.0).sum();
            assert_eq!(pods, restart.total().0, "the phases of the pods must add up to the total");
            assert_eq!(restart.next.is_some(), restart.ending == RestartOutcome::Ready);
        }
    }
}

#[test]
fn without_a_training_job_nothing_follows_a_restart() {
    let text = "faults: [{afterReady: 1m, containerExit: {pod: train-w-0-1, exitCode: 1}}]\n";
    let (_, restarts) = restarts(&scenario(text), 1);
    let none = |r: &RestartMetrics| r.phases()[Phase::Rendezvous as usize..].iter().all(|d| d.0 == 0);
    assert!(restarts.len() == 1 && restarts.iter().all(none));
}

#[test]
fn steps_after_each_start_are_slower_and_the_rest_of_their_time_is_warm_up() {
    // 10 minutes with a factor of 1.5 contain 400 s of work: 200 s of warm-up at each start.
    let text = "training: {work: 6h, step: 1s, warmUp: {factor: 1.5, for: 10m}, checkpoint: {every: 20m}}\n\
        faults: [{afterReady: 2h, containerExit: {pod: train-w-0-2, exitCode: 1}}]\n\
        stop: {at: 2d, when: AllJobSetsFinished}\n";
    let (outcome, _) = play(&scenario(text), 1);
    assert_close("warm-up", seconds(&outcome, TrainingPhase::WarmUp), 400.0);
    assert_close("work", seconds(&outcome, TrainingPhase::Productive), 21_600.0);
    // 7,000 s of work were done, and 6,000 s were saved by five checkpoints at intervals of 20 minutes.
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 1000.0);
    let booked = outcome.ledger.accelerator_ns[LedgerCategory::WarmUp as usize];
    assert_eq!(booked, 4 * 400 * 1_000_000_000);
}

/// Returns the mean and its standard error.
pub fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

#[test]
fn the_time_of_many_steps_has_the_mean_and_the_deviation_of_their_sum() {
    // 900 steps with uniform lengths from 2 s to 6 s take 3,600 s on average, with a standard deviation of 30 × 4 s
    // / √12.
    let text = "training: {work: 1h, step: {uniform: [2s, 6s]}, checkpoint: Continuous}\n\
        stop: {at: 1d, when: AllJobSetsFinished}\n";
    let scenario = scenario_with(1, "restartPolicy: Never", text);
    let all = (0..200).map(|seed| seconds(&play(&scenario, seed).0, TrainingPhase::Productive));
    let all: Vec<f64> = all.collect();
    let (actual, error) = mean(&all);
    assert!((actual - 3600.0).abs() < 3.0 * error, "{actual} ± {error}");
    let sd = error * 200f64.sqrt();
    let expected = 30.0 * 4.0 / 12f64.sqrt();
    // The relative standard error of the standard deviation of a sample of n is 1/√(2n).
    assert!((sd / expected - 1.0).abs() < 3.0 / 400f64.sqrt(), "{sd}");
}

#[test]
fn a_commit_that_takes_longer_by_chance_costs_what_its_mean_does() {
    // A crash occurs 90 s after each checkpoint. With a commit delay of 30 s to 150 s, half of them are complete.
    let lost = |delay: &str| {
        let text = format!(
            "training: {{work: 2h, checkpoint: {{every: 15m, commitDelay: {delay}}}}}\n\
             faults: [{{afterReady: 990s, containerExit: {{pod: train-w-0-0, exitCode: 1}}}}]\n\
             stop: {{at: 1d, when: AllJobSetsFinished}}\n"
        );
        let scenario = scenario_with(1, "restartPolicy: Never", &text);
        let all = (0..100).map(|seed| seconds(&play(&scenario, seed).0, TrainingPhase::Lost));
        mean(&all.collect::<Vec<f64>>())
    };
    assert_eq!(lost("80s"), (90.0, 0.0));
    assert_eq!(lost("100s"), (990.0, 0.0));
    let (result, error) = lost("{uniform: [30s, 150s]}");
    assert!((result - 540.0).abs() < 3.0 * error, "{result} ± {error}");
}

const TIERS: &str = "training: {work: 10h, checkpoint: {every: 1h, restore: 5m, tiers: [{every: 1m, survives: Process, \
    restore: 5s}, {every: 10m, survives: Host, restore: 1m}]}}\n";

/// Returns the lost and the restore time in seconds, and the progress from which the job last started.
fn losses_after_fault(fault: &str, nodes: u32) -> (f64, f64, f64) {
    let text = format!("{TIERS}faults: [{fault}]\nstop: {{at: 2d, when: AllJobSetsFinished}}\n");
    let (outcome, log) = play(&scenario_with(nodes, "restartPolicy: OnFailure", &text), 1);
    let training = &outcome.training[0];
    assert!(training.done && training.interruptions >= 1, "{fault}");
    assert_close("work", seconds(&outcome, TrainingPhase::Productive), 36_000.0);
    let spent: u64 = training.spent_ns.iter().sum();
    assert_eq!(spent, training.end.since(training.submitted).0);
    let from = log.0.iter().rev().find_map(|r| match r.body {
        Body::TrainingStarted { from, .. } => Some(from.seconds()),
        _ => None,
    });
    let [lost, restored] = [TrainingPhase::Lost, TrainingPhase::Restore].map(|phase| seconds(&outcome, phase));
    (lost, restored, from.expect("the job starts"))
}

#[test]
fn restorable_checkpoint_depends_on_lost_hosts() {
    // 2 h 25 min 30 s after the start.
    let at = "afterReady: 8730s";
    let process = format!("{{{at}, containerExit: {{pod: train-w-0-1, exitCode: 1}}}}");
    assert_eq!(losses_after_fault(&process, 4), (30.0, 5.0, 8700.0));
    // The host fails and is replaced, so the checkpoint in its memory is lost.
    let host = format!(
        "{{{at}, crashNode: {{ofPod: train-w-0-1, alias: a}}}}, {{afterReady: 8731s, deleteNode: {{alias: a}}}}, \
         {{afterReady: 8740s, newNode: {{alias: a}}}}"
    );
    assert_eq!(losses_after_fault(&host, 4), (330.0, 60.0, 8400.0));
    // Two hosts of a slice fail, so only the durable checkpoint remains.
    let hosts = format!(
        "{host}, {{{at}, crashNode: {{ofPod: train-w-0-2, alias: b}}}}, {{afterReady: 8731s, deleteNode: {{alias: b}}}}, \
         {{afterReady: 8740s, newNode: {{alias: b}}}}"
    );
    let (lost, restored, from) = losses_after_fault(&hosts, 4);
    assert_eq!((restored, from), (300.0, 7200.0));
    assert_close("lost", lost, 1530.0);
}

#[test]
fn durable_checkpoints_continue_across_restarts_from_another_tier() {
    let rack = "{afterReady: 4h30m, crashNode: {ofPod: train-w-0-1, alias: a}}, {afterReady: 4h30m, crashNode: {ofPod: \
        train-w-0-2, alias: b}}, {afterReady: 16201s, deleteNode: {alias: a}}, {afterReady: 16201s, deleteNode: {alias: \
        b}}, {afterReady: 16210s, newNode: {alias: a}}, {afterReady: 16210s, newNode: {alias: b}}";
    let exit = |at: &str| format!("{{afterReady: {at}, containerExit: {{pod: train-w-0-1, exitCode: 1}}}}");
    for exits in [&[][..], &["2h"], &["1h", "2h", "2h59m", "4h"]] {
        let exits: Vec<String> = exits.iter().map(|at| exit(at)).collect();
        let faults = exits.iter().map(String::as_str).chain([rack]).collect::<Vec<_>>();
        let text = format!(
            "training: {{work: 10h, checkpoint: {{every: 3h, tiers: [{{every: 5m, survives: Host}}]}}}}\n\
             faults: [{}]\nstop: {{at: 2d, when: AllJobSetsFinished}}\n",
            faults.join(", ")
        );
        let (outcome, log) = play(&scenario_with(4, "restartPolicy: OnFailure", &text), 1);
        let last_start = log.0.iter().rev().find_map(|r| match r.body {
            Body::TrainingStarted { from, .. } => Some(from.seconds()),
            _ => None,
        });
        assert_eq!(last_start, Some(10_800.0), "{exits:?}");
        // 1.5 h before the loss of the rack, minus the time of restarts and less than 5 min per exit.
        let lost = seconds(&outcome, TrainingPhase::Lost);
        let exits = exits.len() as f64;
        assert!((lost - 5400.0).abs() < 30.0 + 300.0 * exits, "{lost}");
    }
}

#[test]
fn only_what_is_durable_counts_as_saved_at_the_end() {
    let text = format!("{TIERS}stop: {{at: 8730s, when: Time}}\n");
    let (outcome, _) = play(&scenario(&text), 1);
    let training = &outcome.training[0];
    assert_eq!(training.saved_progress.seconds(), 7200.0);
    assert!(training.reached.seconds() > 8700.0);
    assert_eq!(outcome.end, SimTime(8730 * 1_000_000_000));
}

#[test]
fn maintenance_that_is_announced_costs_a_step_where_the_job_saves_at_the_notice() {
    let lost = |checkpoint: &str, notice: u64| {
        let text = format!(
            "training: {{work: 5h, step: 6s, checkpoint: {{every: 1h, blocking: 10s, commitDelay: 1m{checkpoint}}}}}\n\
             faults: [{{afterReady: 6601s, cordonNode: {{ofPod: train-w-0-1, alias: a}}}}, {{afterReady: {}s, drainNode: \
             {{alias: a}}}}]\nstop: {{at: 2d, when: AllJobSetsFinished}}\n",
            6601 + notice
        );
        let (outcome, _) = play(&scenario_with(6, "restartPolicy: Never", &text), 1);
        assert!(outcome.training[0].done);
        assert_close("work", seconds(&outcome, TrainingPhase::Productive), 18_000.0);
        (seconds(&outcome, TrainingPhase::Lost), outcome.training[0].commits)
    };
    let near = |actual: f64, expected: f64| {
        assert!((actual - expected).abs() < 1.0, "{actual}, expected {expected}");
    };
    // A checkpoint is made after 3,600 s of work. 7,191 s are done when the node is drained.
    let (lost_late, commits) = lost("", 600);
    near(lost_late, 3591.0);
    assert_eq!(commits, 5);
    // 6,591 s are done at the notice, 6,594 s after the current step, and 7,181 s when the node is drained.
    let (saved, commits) = lost(", atNotice: true", 600);
    near(saved, 587.0);
    assert_eq!(commits, 6);
    // The notice is too short, so the checkpoint is incomplete.
    near(lost(", atNotice: true", 60).0, 6641.0 - 3600.0);
}

#[test]
fn a_spot_machine_leaves_its_job_as_long_to_save_as_its_processes_continue() {
    let saved = |more: &str, grace: u64| {
        let text = format!(
            "training: {{work: 6h, step: 10s, checkpoint: {{every: 1h, blocking: 3s, commitDelay: 4s{more}}}}}\n\
             faultProcesses: [{{cause: spot, mtbf: 100m, distribution: {{empirical: [1]}}, does: Reclaim, notice: 30s, \
             grace: {grace}s, backAfter: 10m}}]\nstop: {{at: 150m, when: Time}}\n"
        );
        let (_, log) = play(&scenario(&text), 1);
        let first = log.0.iter().find_map(|r| match r.body {
            Body::TrainingInterrupted { kept, .. } => Some(kept.seconds()),
            _ => None,
        });
        first.expect("the job is interrupted")
    };
    // Without atNotice, or without a grace period, the checkpoint of the first hour is the last one.
    assert_eq!(saved("", 20), 3600.0);
    assert_eq!(saved(", atNotice: true", 0), 3600.0);
    // The loss is at most one step plus 3 s and 4 s.
    let time_enough = saved(", atNotice: true", 20);
    assert!(time_enough > 5980.0, "{time_enough}");
}

#[test]
fn what_a_cause_took_of_a_job_is_without_the_time_in_which_it_was_suspended() {
    let text = "training: {work: 2h, step: 10s, checkpoint: {every: 10m}}\n\
        faults:\n- {at: 1000s, containerExit: {pod: train-w-0-2, exitCode: 1}}\n\
        - {at: 2000s, suspendJobSet: {name: train}}\n- {at: 3000s, resumeJobSet: {name: train}}\n\
        stop: {at: 1d, when: AllJobSetsFinished}\n";
    let limits = ReplicationLimits::unlimited();
    let rows = ExperimentSubject::from(scenario(text)).replicate((1, 0..1), (1, &limits), &|_| {});
    let rows = rows.unwrap_or_else(|e| panic!("{e}"));
    let training = rows[0].jobsets[0].training.as_ref().expect("the JobSet trains");
    let taken: f64 = rows[0].jobsets[0].taken.values().map(|t| t.recovery_s).sum();
    assert_close("recovery", taken, training.time_s["recovery"]);
    assert!(training.time_s["suspended"] > 990.0 && taken > 1.0, "{taken}");
}
