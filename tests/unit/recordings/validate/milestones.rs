//! Tests of `sim_recordings::validate::milestones`.

use sim_analysis::metrics::restarts::restart::RestartCause;
use sim_analysis::metrics::{Milestone, RestartMetrics};
use sim_base::{JobSetId, SimTime};
use sim_recordings::validate::milestones::*;
#[test]
fn milestones_count_from_the_status_of_the_failing_pod() {
    let s = |s: u64| SimTime(s * 1_000_000_000);
    let mut restart = RestartMetrics::new(JobSetId(0), s(1), RestartCause::UNKNOWN);
    restart.set_earliest(Milestone::PodNotReady, s(2));
    restart.set_latest(Milestone::LastReady, s(9));
    assert!(seconds(&restart, false, None).is_empty());
    assert_eq!(seconds(&restart, true, None), [("lastReady", 7.0)].into());
    restart.set_earliest(Milestone::PodFailed, s(3));
    restart.set_earliest(Milestone::JobFailed, s(4));
    let seen = seconds(&restart, false, None);
    assert_eq!(seen, [("jobFailed", 1.0), ("lastPodReady", 6.0)].into());
}

#[test]
fn every_milestone_that_is_recorded_is_one_that_run_reports() {
    let known = Milestone::ALL.map(Milestone::as_str);
    for name in RECREATE.iter().chain(&IN_PLACE) {
        assert!(known.contains(name) || *name == "lastPodReady", "{name}");
    }
}
