//! Elastic jobs: they continue without some slices at reduced speed, and take the slices back later.

use crate::support;
use crate::training::{Log, assert_close, play, seconds};
use sim_analysis::metrics::Phase;
use sim_api::spec::ScenarioSpec;
use sim_base::SimTime;
use sim_engine::record::*;

/// Returns a scenario of four slices of two hosts. A Job recreates its pods, so that the JobSet does not restart for
/// a single pod.
fn scenario(training: &str, rest: &str) -> ScenarioSpec {
    scenario_of(6, training, rest)
}

fn scenario_of(backoff_limit: u32, training: &str, rest: &str) -> ScenarioSpec {
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: train}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 10}}\n  replicatedJobs:\n  - name: w\n    replicas: 4\n    \
         template: {{spec: {{parallelism: 2, completions: 2, backoffLimit: {backoff_limit}, template: {{spec: \
         {{restartPolicy: Never, containers: [{{name: w, image: x, resources: {{limits: {{a.com/chip: 1}}}}}}]}}}}}}}}\n"
    );
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: elastic}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - name: \
         n-{{node:03}}\n    nodesPerIsland: 8\n    accelerator: a.com/chip\n    \
         allocatable: {{cpu: 8, a.com/chip: 1}}\njobSets: [{{manifest: jobset.yaml}}]\n\
         training: {{step: 1s, {training}}}\n{rest}\nstop: {{at: 2d, when: AllJobSetsFinished}}\n"
    );
    support::parse(&text, &jobset).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the training records with their times.
fn training_records(log: &Log) -> Vec<(SimTime, String)> {
    let tell = |r: &SimulationRecord| {
        let what = match r.body {
            Body::TrainingStarted { from, .. } => format!("from {from}"),
            Body::TrainingSlices { slices, of, .. } => format!("{slices} of {of}"),
            Body::TrainingInterrupted { reached, kept, .. } => format!("{reached} saved {kept}"),
            Body::TrainingDone { .. } => "done".to_owned(),
            _ => return None,
        };
        Some((r.at, what))
    };
    log.0.iter().filter_map(tell).collect()
}

fn record_texts(text: &[(SimTime, String)]) -> Vec<&str> {
    text.iter().map(|(_, what)| what.as_str()).collect()
}

fn booked_seconds(outcome: &RunOutcome, category: LedgerCategory) -> f64 {
    outcome.ledger.accelerator_ns[category as usize] as f64 / 1e9
}

const CRASH: &str = "faults: [{afterReady: 1000s, containerExit: {pod: train-w-2-1, exitCode: 1}}]";
const BASIS: &str = "work: 2h, initialization: 20s, compile: 40s, checkpoint: {every: 10m, restore: 30s}";

#[test]
fn a_lost_slice_costs_its_share_until_the_next_checkpoint() {
    let training = format!("{BASIS}, elastic: {{minSlices: 3, lastCall: 2s, reinitialization: 15s}}");
    let (outcome, log) = play(&scenario(&training, CRASH), 1);
    let records = training_records(&log);
    assert_eq!(
        record_texts(&records),
        [
            "from 0s", "4 of 4", // One minute of startup, then steps: 940 s of work are done.
            "15m40s saved 10m", "from 10m", "3 of 4", "4 of 4", "done"
        ]
    );
    assert_close("last call", records[3].0.since(records[2].0).seconds(), 2.0);
    // 15 s of reinitialization and 30 s of restore, then 600 s of work with three of four slices.
    let degraded = records[5].0.since(records[4].0).seconds();
    assert_close("degraded", degraded, 15.0 + 30.0 + 800.0);
    // 2 h of work minus 1,200 s, after another reinitialization.
    let rest = records[6].0.since(records[5].0).seconds();
    assert_close("rest", rest, 15.0 + 30.0 + 6000.0);
    let phase = |phase| seconds(&outcome, phase);
    assert_close("productive", phase(TrainingPhase::Productive), 7200.0);
    assert_close("degraded", phase(TrainingPhase::Degraded), 200.0);
    assert_close("lost", phase(TrainingPhase::Lost), 340.0);
    assert_close("again", phase(TrainingPhase::Reinitialization), 30.0);
    assert_close("initialization", phase(TrainingPhase::Initialization), 20.0);
    assert_close("restore", phase(TrainingPhase::Restore), 60.0);
    assert_eq!(outcome.training[0].interruptions, 1);
    // The work of the available slices is productive, however few they are.
    let productive = 8.0 * (600.0 + 6000.0) + 6.0 * 800.0;
    assert_close("productive chips", booked_seconds(&outcome, LedgerCategory::Productive), productive);
    assert_eq!(booked_seconds(&outcome, LedgerCategory::Degraded), 0.0);
    // The JobSet does not restart.
    assert_eq!(outcome.jobsets[0].restarts, 0);
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
}

#[test]
fn pace_below_the_slice_share_is_booked_as_waste() {
    let training = format!("{BASIS}, elastic: {{minSlices: 3, lastCall: 2s, factor: 0.5}}");
    let (outcome, log) = play(&scenario(&training, CRASH), 1);
    let records = training_records(&log);
    let degraded = records[5].0.since(records[4].0).seconds();
    assert_close("degraded", degraded, 60.0 + 30.0 + 1200.0);
    let phase = |phase| seconds(&outcome, phase);
    assert_close("degraded", phase(TrainingPhase::Degraded), 600.0);
    // Without a reinitialization time, the job starts up like at any start.
    assert_close("initialization", phase(TrainingPhase::Initialization), 60.0);
    // 600 s of work take 800 s with three slices; here they took 1,200 s.
    assert_close("degraded chips", booked_seconds(&outcome, LedgerCategory::Degraded), 6.0 * 400.0);
}

#[test]
fn from_memory_nothing_is_lost_until_the_next_interruption() {
    let elastic = "elastic: {minSlices: 3, lastCall: 2s, regrow: AtOnce, reinitialization: 0s}";
    let training = format!("work: 2h, checkpoint: {{every: 10m}}, {elastic}");
    let (outcome, log) = play(&scenario(&training, CRASH), 1);
    let records = training_records(&log);
    let expected = ["from 0s", "4 of 4", "16m40s saved 10m", "from 10m", "3 of 4", "4 of 4", "done"];
    assert_eq!(record_texts(&records), expected);
    // Some whole steps with three slices, then the rest with four.
    let degraded = records[5].0.since(records[4].0).seconds();
    let steps = degraded * 0.75;
    assert!(degraded < 60.0 && (steps - steps.round()).abs() < 1e-5, "{degraded}");
    assert_close("rest", records[6].0.since(records[5].0).seconds(), 6600.0 - steps);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 400.0);
    // Another slice is lost before a checkpoint is complete: the work since the state in memory is lost as well.
    let faults = "faults:\n- {afterReady: 1000s, containerExit: {pod: train-w-2-1, exitCode: 1}}\n\
        - {afterReady: 1200s, containerExit: {pod: train-w-0-0, exitCode: 1}}\n";
    let (outcome, log) = play(&scenario(&training, faults), 1);
    let records = self::training_records(&log);
    assert_eq!(record_texts(&records)[7..9], ["from 10m", "3 of 4"]);
    // 600 s were saved. Then came a last call, some steps with three slices, and steps with four slices until 200 s
    // later.
    let mut interrupted = log.0.iter().filter_map(|r| match r.body {
        Body::TrainingInterrupted { reached, kept, .. } => Some((reached.seconds(), kept.seconds())),
        _ => None,
    });
    let second = interrupted.next_back().expect("the job is interrupted twice");
    assert_close("reached", second.0, 600.0 + steps + 198.0 - degraded);
    assert_close("kept", second.1, 600.0);
    let lost = seconds(&outcome, TrainingPhase::Lost) + seconds(&outcome, TrainingPhase::Degraded);
    let second = seconds(&outcome, TrainingPhase::Degraded) - 2.0 * degraded * 0.25;
    assert!(second.abs() < 30.0, "{second}");
    assert!(lost > 400.0 + 190.0, "{lost}");
    assert_close("productive", seconds(&outcome, TrainingPhase::Productive), 7200.0);
}

/// Checkpoint intervals are counted in steps, as in MaxText (`step % checkpoint_period`): a returning slice does not
/// postpone the next checkpoint.
#[test]
fn the_interval_of_checkpoints_continues_when_a_slice_is_taken_in_from_memory() {
    let elastic = "elastic: {minSlices: 3, lastCall: 2s, regrow: AtOnce, reinitialization: 0s}";
    let training = format!("work: 2h, checkpoint: {{every: 10m}}, {elastic}");
    // After the interruption at 1,000 s, the job continues from 600 s. For 200 s it has three slices, which do 150 s
    // of work. The checkpoint of 1,200 s is due 450 s after the return of the fourth slice, not 600 s.
    let saved_by = |seconds: u64| {
        let exits = |after: u64, pod: &str| {
            format!("- {{afterReady: {after}s, containerExit: {{pod: train-w-{pod}, exitCode: 1}}}}\n")
        };
        let (first, second) = (exits(1000, "2-1"), exits(seconds, "0-0"));
        let slow = "containers: [{jobIndex: 2, podIndex: 1, jobTry: 1, startAfter: 200s}]\n";
        let faults = format!("faults:\n{first}{second}{slow}");
        let (_, log) = play(&scenario(&training, &faults), 1);
        let kept = |r: &SimulationRecord| match r.body {
            Body::TrainingInterrupted { kept, .. } => Some(kept.seconds()),
            _ => None,
        };
        log.0.iter().filter_map(kept).nth(1)
    };
    assert_eq!(saved_by(1600), Some(600.0));
    assert_eq!(saved_by(1720), Some(1200.0));
}

/// The restore and the repeated steps are attributed to a restart, as for a job that waits for all slices.
#[test]
fn a_restart_is_reported_with_what_the_job_did_without_the_slice() {
    for regrow in ["NextCheckpoint", "AtOnce", "Never"] {
        let training = format!("{BASIS}, elastic: {{minSlices: 3, lastCall: 2s, regrow: {regrow}}}");
        let (outcome, restarts) = crate::training_kinds::restarts(&scenario(&training, CRASH), 1);
        let text = |phase: Phase| restarts.iter().map(|r| r.phases()[phase as usize].seconds()).sum::<f64>();
        assert_eq!(restarts.len(), 1);
        assert_close("restore", text(Phase::Restore), seconds(&outcome, TrainingPhase::Restore));
        // Three slices repeat the lost steps at three quarters of the speed.
        let lost = seconds(&outcome, TrainingPhase::Lost);
        match regrow {
            "AtOnce" => assert!((lost..=lost * 4.0 / 3.0).contains(&text(Phase::Redo))),
            _ => assert_close("redo", text(Phase::Redo), lost * 4.0 / 3.0),
        }
    }
}

#[test]
fn with_too_few_slices_it_waits_and_a_last_call_waits_for_all() {
    // All four slices are required: the job is idle until the pod is back.
    let (outcome, log) = play(&scenario(&format!("{BASIS}, elastic: {{minSlices: 4}}"), CRASH), 1);
    let all_or_nothing = ["from 0s", "4 of 4", "15m40s saved 10m", "from 10m", "4 of 4", "done"];
    assert_eq!(record_texts(&training_records(&log)), all_or_nothing);
    let plain = play(&scenario(BASIS, CRASH), 1).0;
    assert_eq!(outcome.training[0].spent_ns, plain.training[0].spent_ns);
    assert_eq!(outcome.ledger, plain.ledger);
    // The pod is back within the 30 s of the last call.
    let (_, log) = play(&scenario(&format!("{BASIS}, elastic: {{minSlices: 3}}"), CRASH), 1);
    assert_eq!(record_texts(&training_records(&log)), all_or_nothing);
}

#[test]
fn a_jobset_that_restarts_takes_all_slices_with_it() {
    let training = format!("{BASIS}, elastic: {{minSlices: 3}}");
    let (outcome, log) = play(&scenario_of(0, &training, CRASH), 1);
    assert_eq!(outcome.jobsets[0].restarts, 1);
    let words = ["from 0s", "4 of 4", "15m40s saved 10m", "from 10m", "4 of 4", "done"];
    assert_eq!(self::record_texts(&training_records(&log)), words);
    assert_eq!(seconds(&outcome, TrainingPhase::Degraded), 0.0);
    // No slice has continued, so this is a normal start.
    assert_close("initialization", seconds(&outcome, TrainingPhase::Initialization), 40.0);
}

#[test]
fn a_slice_that_never_takes_part_again_ends_with_the_others() {
    let elastic = "elastic: {minSlices: 1, lastCall: 2s, regrow: Never}";
    let (outcome, log) = play(&scenario(&format!("{BASIS}, {elastic}"), CRASH), 1);
    assert_eq!(record_texts(&training_records(&log))[4..], ["3 of 4", "done"]);
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
    assert_close("degraded", seconds(&outcome, TrainingPhase::Degraded), 2200.0);
    // The accelerators of the waiting slice do no work.
    assert!(booked_seconds(&outcome, LedgerCategory::Waiting) > 2.0 * 6600.0 / 0.75 - 60.0);
}

#[test]
fn a_slice_without_its_machine_comes_back_when_the_machine_does() {
    let faults = "faults:\n- {at: 1000s, crashNode: {ofPod: train-w-1-0, alias: lost}}\n\
        - {at: 5000s, returnNode: {alias: lost}}\n";
    let training = format!("{BASIS}, elastic: {{minSlices: 3, lastCall: 2s}}");
    let (outcome, log) = play(&scenario(&training, faults), 1);
    let records = training_records(&log);
    assert_eq!(record_texts(&records)[3..], ["from 10m", "3 of 4", "4 of 4", "done"]);
    assert!(records[5].0 > SimTime::ZERO + sim_base::Duration::from_secs(5000));
    assert_eq!(outcome.jobsets[0].restarts, 0);
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
    assert!(booked_seconds(&outcome, LedgerCategory::Unhealthy) > 3990.0);
}
