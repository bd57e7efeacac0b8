//! Tests of `sim_analysis::metrics::restarts::spans`.

use sim_analysis::metrics::restarts::phases::Phase;
use sim_analysis::metrics::restarts::restart::Milestone::*;
use sim_analysis::metrics::restarts::restart::{Milestone, RestartCause, RestartMetrics, RestartOutcome, RestartScope};
use sim_analysis::metrics::restarts::spans::*;
use sim_base::*;
fn restart(shape: RestartScope, ending: RestartOutcome, end_s: u64, at: &[(Milestone, u64)]) -> RestartMetrics {
    let mut r = RestartMetrics::new(JobSetId(0), SimTime::ZERO, RestartCause::UNKNOWN);
    r.shape = shape;
    r.ending = ending;
    r.end = SimTime::ZERO + Duration::from_secs(end_s);
    for &(m, s) in at {
        r.set_latest(m, SimTime::ZERO + Duration::from_secs(s));
    }
    r
}

fn seconds(r: &RestartMetrics) -> Vec<(&'static str, u64)> {
    let of = |s: RestartSpan| (s.phase().as_str(), s.duration().0 / NANOS);
    r.spans().into_iter().map(of).collect()
}

const NANOS: u64 = sim_base::time::NANOS_PER_SECOND;

#[test]
fn overlapping_milestones_are_cut_at_the_later_one_and_phases_add_up() {
    let at = [
        (PodFailed, 1),
        (FailureTarget, 6),
        (JobFailed, 12),
        (FirstJobDeleting, 12),
        (LastJobGone, 20),
        (FirstPodCreated, 15),
        (LastPodCreated, 30),
        (LastPodBound, 29),
        (LastReady, 33),
    ];
    let r = restart(RestartScope::Recreate, RestartOutcome::Ready, 34, &at);
    let expected = [
        ("detect", 1),
        ("terminate", 5),
        ("terminate", 6),
        ("terminate", 0),
        ("terminate", 8),
        ("recreate", 0),
        ("recreate", 10),
        ("schedule", 0),
        ("start", 4),
    ];
    assert_eq!(seconds(&r), expected);
    let sum: u64 = r.phases().iter().map(|d| d.0).sum();
    assert_eq!(sum, r.total().0);
}

#[test]
fn a_restart_that_is_stuck_ends_in_the_step_it_waits_in() {
    let r = restart(RestartScope::Recreate, RestartOutcome::Unfinished, 100, &[(PodFailed, 1), (FailureTarget, 6)]);
    assert_eq!(seconds(&r), [("detect", 1), ("terminate", 5), ("terminate", 94)]);
    assert_eq!(r.spans()[2].step.what, "pods terminate, finalizers are removed, Job becomes Failed");
    assert_eq!(r.latency(), None);
}

#[test]
fn an_in_place_restart_has_a_barrier_and_no_recreate_phase() {
    let at = [
        (AttemptsFirst, 2),
        (PreviousWritten, 3),
        (LastContainersRestarting, 4),
        (AttemptsLast, 9),
        (CurrentWritten, 10),
    ];
    let r = restart(RestartScope::InPlaceRestart, RestartOutcome::Ready, 11, &at);
    let p = r.phases();
    let of = |phase: Phase| p[phase as usize].0 / NANOS;
    assert_eq!((of(Phase::Detect), of(Phase::Terminate), of(Phase::Start)), (3, 1, 6));
    assert_eq!((of(Phase::Barrier), of(Phase::Recreate)), (1, 0));
}
