//! Unit tests of `sim_engine::progress`.

use super::*;

/// Records the creations of a Job with these attempts, 0.1 s apart, and returns the detected restart loop.
fn circle(attempts: impl Iterator<Item = u32>) -> Option<RestartLoop> {
    let mut progress = RestartProgress::default();
    for (i, n) in attempts.enumerate() {
        let made = CreatedJobs { attempt: (n, 0), counted: i64::from(n) };
        let now = SimTime::ZERO + Duration::from_millis(100 * i as u64);
        progress.record_creation(JobId(0), made, now);
    }
    progress.restart_loop
}

#[test]
fn restarts_are_counted_again_when_the_jobset_is_recreated() {
    let result = circle(0..1_001).map(|c| (c.times, c.restarts, c.counted));
    assert_eq!(result, Some((1_001, 1_000, 1_000)));
    assert!(circle((0..600).chain(0..600)).is_none());
    assert!(circle((0..600).chain(0..1_001)).is_some());
}

/// Returns the number of simultaneous events of these subjects after which a livelock is detected.
fn named_after(subjects: impl Iterator<Item = u32>) -> Option<usize> {
    let mut progress = RestartProgress::default();
    let mut still =
        subjects.map(|s| progress.detect_livelock(SimTime::ZERO, || Some(EventSubject::Pod(sim_base::PodId(s)))));
    still.position(|still| still)
}

#[test]
fn a_moment_of_many_objects_passes_and_one_of_a_single_object_soon_does_not() {
    let chains = (0..50).flat_map(|_| 0..65_535);
    assert_eq!(named_after(chains), None, "50 events of each pod");
    assert_eq!(named_after((0..1_000_000).map(|_| 7)), Some(20_400));
}

#[test]
fn a_circle_lasts_unless_the_limit_of_restarts_ends_it_in_time() {
    let circle = circle(0..1_001).unwrap();
    let hour = Duration::from_secs(3_600);
    for (left, expected) in [(100, false), (35_999, false), (36_001, true)] {
        assert_eq!(circle.runs_past(left, hour), expected, "{left} restarts left at ten per second");
    }
    assert!(RestartLoop { counted: 0, ..circle }.runs_past(1, hour), "restarts are not counted");
}
