//! Faults that only training notices: hangs, slow nodes, corrupt checkpoints.

use crate::training::{Log, assert_close, play, scenario, seconds};
use sim_api::spec::{FaultAction, FaultTime, NodeRef, ScriptedFault, SilentFaults, SilentTarget};
use sim_base::Duration;
use sim_engine::record::*;

fn fault(after: u64, action: FaultAction) -> ScriptedFault {
    ScriptedFault { at: FaultTime::AfterReady(Duration::from_secs(after)), action, random_cause: None, entry: None }
}

/// Returns a silent fault on the node of a pod.
fn silent(after: u64, pod: &str, what: SilentFaults) -> ScriptedFault {
    let on = SilentTarget::Node(NodeRef { name: None, of_pod: Some(pod.to_owned()), alias: None });
    fault(after, FaultAction::Silent { on, fault: what })
}

fn exits(after: u64, pod: &str) -> ScriptedFault {
    let pod = pod.to_owned();
    let exit_code = 1;
    fault(after, FaultAction::ContainerExit { pod, exit_code })
}

/// Runs a job of six hours with these checkpoints, and checks that the accounting adds up.
fn run(checkpoint: &str, stop: &str, faults: Vec<ScriptedFault>) -> (RunOutcome, Log) {
    let text = format!("training: {{work: 6h, checkpoint: {checkpoint}}}\nstop: {stop}\n");
    let mut scenario = scenario(&text);
    scenario.faults = faults;
    let (outcome, log) = play(&scenario, 1);
    let training = &outcome.training[0];
    let spent: u64 = training.spent_ns.iter().sum();
    assert_eq!(spent, training.end.since(training.submitted).0);
    for (category, phase) in [
        (LedgerCategory::Productive, TrainingPhase::Productive),
        (LedgerCategory::Lost, TrainingPhase::Lost),
        (LedgerCategory::Slow, TrainingPhase::Slow),
        (LedgerCategory::Hang, TrainingPhase::Hang),
    ] {
        let booked = outcome.ledger.accelerator_ns[category as usize];
        assert_eq!(booked, u128::from(training.ns(phase)) * 4, "{}", phase.as_str());
    }
    (outcome, log)
}

const TO_THE_END: &str = "{at: 2d, when: AllJobSetsFinished}";
const EVERY: &str = "{every: 10m}";

#[test]
fn a_job_that_hangs_does_nothing_until_a_detector_ends_it() {
    let hang = |detected_after| {
        let exit_code = 7;
        let what = SilentFaults::Hang { detected_after, exit_code };
        silent(1000, "train-w-0-1", what)
    };
    let result = Some(Duration::from_secs(1800));
    let (outcome, log) = run(EVERY, TO_THE_END, vec![hang(result)]);
    assert!(outcome.training[0].done);
    assert_close("hang", seconds(&outcome, TrainingPhase::Hang), 1800.0);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 400.0);
    let ended = |b: &Body| matches!(b, Body::ContainerExited { exit_code: 7, .. });
    assert_eq!(log.count(ended), 1);
    // Another failure ends the hang first.
    let (outcome, log) = run(EVERY, TO_THE_END, vec![hang(result), exits(1500, "train-w-0-3")]);
    assert_close("hang", seconds(&outcome, TrainingPhase::Hang), 500.0);
    assert_eq!(log.count(ended), 0);
    assert_eq!(outcome.training[0].interruptions, 1);
    // The hang is never detected.
    let (outcome, _) = run(EVERY, "{at: 5h, when: Time}", vec![hang(None)]);
    let assumptions = seconds(&outcome, TrainingPhase::Hang);
    assert!(!outcome.training[0].done && assumptions > 16_900.0, "{assumptions}");
    assert_close("kept", outcome.training[0].saved_progress.seconds(), 600.0);
}

#[test]
fn a_slow_machine_slows_all_of_the_job_and_the_slowest_counts() {
    let slow = |after, pod, factor| silent(after, pod, SilentFaults::Slow { factor });
    let faults = vec![
        slow(1000, "train-w-0-1", 1.5),
        slow(2000, "train-w-0-2", 1.2),
        slow(4000, "train-w-0-1", 1.0),
        slow(5200, "train-w-0-2", 1.0),
    ];
    let (outcome, log) = run("{every: 10m, blocking: 5s}", TO_THE_END, faults);
    // Checkpoints are not slower. They are made after 1,200, 1,800, 2,400, 3,000 and 3,600 s of work.
    let begin = log.first(|b| matches!(b, Body::TrainingStarted { .. }));
    let done = log.first(|b| matches!(b, Body::TrainingDone { .. }));
    let slow = seconds(&outcome, TrainingPhase::Slow);
    assert_close("work", seconds(&outcome, TrainingPhase::Productive), 21_600.0);
    assert_close("all", done.since(begin).seconds(), 21_600.0 + 36.0 * 5.0 + slow);
    // 3,000 s at a factor of 1.5 and 1,200 s at 1.2, minus the checkpoints in these periods.
    let (first, second) = (3000.0 - 3.0 * 5.0, 1200.0 - 2.0 * 5.0);
    let expected = first - first / 1.5 + second - second / 1.2;
    assert!((slow - expected).abs() < 4.0, "{slow}, expected about {expected}");
    assert_eq!(outcome.training[0].interruptions, 0);
    // A job that starts on a slow node is slow from its first step.
    let faults = vec![silent(0, "train-w-0-0", SilentFaults::Slow { factor: 2.0 }), exits(10_000, "train-w-0-3")];
    let (outcome, _) = run("Continuous", TO_THE_END, faults);
    assert_close("slow", seconds(&outcome, TrainingPhase::Slow), 21_600.0);
}

#[test]
fn work_since_corruption_is_lost_on_detection() {
    let corrupt = |result: u64| {
        let found_after = Duration::from_secs(result);
        silent(2000, "train-w-0-1", SilentFaults::Corrupt { found_after })
    };
    // Eight checkpoints were complete, and the last correct one was that after 1,800 s.
    let (outcome, log) = run(EVERY, TO_THE_END, vec![corrupt(3000)]);
    let text = |log: &Log| -> Vec<(f64, f64)> {
        let one = |r: &SimulationRecord| match r.body {
            Body::TrainingInterrupted { reached, kept, .. } => Some((reached.seconds(), kept.seconds())),
            _ => None,
        };
        log.0.iter().filter_map(one).collect()
    };
    assert_eq!(text(&log), [(5000.0, 1800.0)]);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 3200.0);
    assert_close("work", seconds(&outcome, TrainingPhase::Productive), 21_600.0);
    // A crash before the detection resumes from a corrupt checkpoint.
    let (outcome, log) = run(EVERY, TO_THE_END, vec![corrupt(3000), exits(4000, "train-w-0-1")]);
    let [first, (reached, kept)] = text(&log)[..] else {
        panic!("{:?}", text(&log));
    };
    assert_eq!((first, kept), ((4000.0, 3600.0), 1800.0));
    assert!(reached > 4500.0 && reached < 4600.0, "{reached}");
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 400.0 + reached - 1800.0);
    // A crash that resumes from a checkpoint before the corruption removes the corruption.
    let (outcome, log) = run(EVERY, TO_THE_END, vec![corrupt(3000), exits(2100, "train-w-0-1")]);
    assert_eq!(text(&log), [(2100.0, 1800.0)]);
    assert_close("lost", seconds(&outcome, TrainingPhase::Lost), 300.0);
}
