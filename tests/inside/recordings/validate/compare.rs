//! Unit tests of `sim_recordings::validate::compare`.

use super::super::read::tests::example;
use super::*;
use crate::validate::result::ValidationVerdict;
use crate::validate::scenario::UnmodelledPart;
use serde_json::{Value, json};
use sim_analysis::metrics::Milestone;
use sim_analysis::metrics::restarts::restart::RestartCause;
use sim_base::*;
use sim_engine::record::EndReason;
use sim_engine::record::TimeLedger;

fn times_recording(edit: impl FnOnce(&mut Value)) -> RecordedRun {
    example(|j| {
        j["kind"] = "times".into();
        j["milestones"] = json!({"strategy": "Recreate",
                "milestones_s": {"lastPodCreated": 2.0, "lastPodReady": 4.0, "firstJobGone": 1.0}});
        edit(j);
    })
}

fn observed(recording: &RecordedRun) -> ObservedRun {
    let scenario = super::super::scenario::tests::plain(recording, Default::default());
    let s = |tenths: u64| SimTime(tenths * 100_000_000);
    let mut restart = metrics::RestartMetrics::new(JobSetId(0), s(10), RestartCause::UNKNOWN);
    restart.set_earliest(Milestone::PodFailed, s(10));
    restart.set_earliest(Milestone::FirstPodCreated, s(32));
    restart.set_latest(Milestone::LastPodCreated, s(32));
    restart.set_latest(Milestone::LastReady, s(50));
    ObservedRun {
        outcome: RunOutcome {
            end: SimTime::ZERO,
            end_reason: EndReason::Settled,
            digest: 0,
            records: 0,
            events: 0,
            jobsets: Vec::new(),
            training: Vec::new(),
            ledger: TimeLedger::default(),
            resources: Vec::new(),
            requests: Vec::new(),
            blocked: Vec::new(),
            pending: Vec::new(),
            warnings: Vec::new(),
        },
        names: RecordNames::default(),
        sink: RunObserver::new(recording, &scenario.unwrap()),
        restart: Some(restart),
    }
}

#[test]
fn the_restart_is_the_last_milestone_that_counts() {
    for (up_to, expected) in [
        (None, ("lastPodReady", 4.0, Some(4.0))),
        (Some("lastPodCreated"), ("lastPodCreated", 2.0, Some(2.2))),
        (Some("firstJobGone"), ("firstJobGone", 1.0, None)),
    ] {
        let r = times_recording(|j| j["scoredUpTo"] = json!(up_to));
        let result = compare("f", &r, Ok(&observed(&r)));
        let restart = result.restart.unwrap();
        let seen = (restart.milestone.as_str(), restart.recorded_s, restart.simulated_s);
        assert_eq!(seen, expected);
        assert!(restart.scored && result.differences.is_none());
    }
}

#[test]
fn milestones_are_listed_in_their_order_with_gaps() {
    let r = times_recording(|j| j["scored"] = false.into());
    let result = compare("f", &r, Ok(&observed(&r)));
    let names: Vec<&str> = result.milestones.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["firstJobGone", "firstPodCreated", "lastPodCreated", "lastPodReady"]);
    assert_eq!(result.milestones[0].simulated_s, None);
    assert!(!result.restart.unwrap().scored);
}

#[test]
fn a_refused_jobset_is_a_difference_and_an_unknown_action_is_not() {
    let r = example(|_| {});
    let refused = compare("f", &r, Err(NoRun::Refused("no".into())));
    assert_eq!(refused.differences.unwrap()[0].path, "jobSet");
    let skipped = || NoRun::NotSimulated(UnmodelledAction(vec![UnmodelledPart::Action { action: "patch".into() }]));
    let result = compare("f", &r, Err(skipped()));
    assert_eq!(result.verdict(), Some(ValidationVerdict::NotSimulated));
    assert_eq!(result.not_simulated, ["action patch"]);
    let r = times_recording(|_| {});
    for no_run in [NoRun::Refused("no".into()), skipped()] {
        let result = compare("f", &r, Err(no_run));
        assert_eq!(result.restart.unwrap().error(), -1.0);
    }
}
