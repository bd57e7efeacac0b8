//! Unit tests of `sim_recordings::validate::nodes`.

use super::super::read::{read, tests::shared};
use super::*;

fn check(name: &str, edit: impl Fn(&mut Vec<RecordedStep>)) -> Option<Vec<String>> {
    let files = shared("nodes");
    let (file, text) = files.iter().find(|(f, _)| f.ends_with(name))?;
    let recording = read(file, text).ok()?;
    let recorded = steps::recorded_steps(&recording);
    let mut simulated = recorded.clone();
    edit(&mut simulated);
    let (differences, milestones) = differences_and_milestones(&compare_steps(&recording, &recorded, &simulated));
    assert!(milestones.len() > 5, "{name}: {}", milestones.len());
    Some(differences.into_iter().map(|d| d.path).collect())
}

#[test]
fn every_recording_equals_itself() {
    for (file, _) in shared("nodes") {
        let name = file.rsplit('/').next().unwrap_or("");
        assert_eq!(check(name, |_| {}), Some(Vec::new()), "{file}");
    }
}

/// Moves every step that `which` selects by `by_s`.
fn moved(by_s: f64, which: fn(&RecordedStep) -> bool) -> impl Fn(&mut Vec<RecordedStep>) {
    move |steps| {
        for step in steps.iter_mut().filter(|s| which(s)) {
            step.at_s += by_s;
        }
    }
}

#[test]
fn a_later_heartbeat_phase_moves_the_chain_but_not_its_distances() {
    let late = moved(9.0, |s| s.at_s > 40.0 && s.at_s < 90.0);
    assert_eq!(check("n-crash-for-ever.json", late).unwrap_or_default(), [""; 0]);
    let Some(found) = check("n-crash-for-ever.json", moved(16.0, |s| s.at_s > 40.0)) else {
        return;
    };
    assert_eq!(
        found,
        ["times: node a Ready=Unknown", "times: node a tainted node.kubernetes.io/unreachable:NoExecute"]
    );
}

#[test]
fn pod_garbage_collection_may_be_20_s_off_and_a_direct_step_1_5_s() {
    for (from_s, by_s, expected) in [
        // The lost pod ended at 155.0 s. Everything after it depends on that.
        (154.0, -19.0, None),
        (154.0, 21.0, Some("times: pod js-w-0-1 attempt 0 try 0 gone")),
        // Failed follows at 156.0 s, and the remaining steps follow Failed.
        (155.5, 3.0, Some("times: Job js-w-0 Failed=True")),
        (155.5, 1.4, None),
    ] {
        let edit = |steps: &mut Vec<RecordedStep>| {
            for step in steps.iter_mut().filter(|s| s.at_s > from_s) {
                step.at_s += by_s;
            }
        };
        let Some(actual) = check("n-crash-delete-node.json", edit) else {
            return;
        };
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(actual, expected, "{by_s} s from {from_s} s");
    }
}

#[test]
fn a_step_that_never_happens_or_is_new_is_reported() {
    let without = |steps: &mut Vec<RecordedStep>| {
        steps.retain(|s| s.action != StepAction::Condition("Failed=True".into()));
    };
    let Some(found) = check("n-crash-delete-node.json", without) else {
        return;
    };
    assert_eq!(found, ["times: Job js-w-0 Failed=True"]);
    let more = |steps: &mut Vec<RecordedStep>| {
        steps.push(RecordedStep {
            object: StepObject::Job("js-w-1".into()),
            action: StepAction::Condition("Failed=True".into()),
            at_s: 70.0,
        });
    };
    let found = check("n-crash-for-ever.json", more);
    assert_eq!(found.unwrap_or_default(), ["times: Job js-w-1 Failed=True"]);
}
