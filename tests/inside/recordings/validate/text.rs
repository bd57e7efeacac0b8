//! Unit tests of `sim_recordings::validate::text`.

use super::super::result::tests::*;
use super::*;

#[test]
fn a_timed_recording_shows_its_milestones_side_by_side() {
    let mut timed = file(RecordingKind::Times);
    timed.about = "Recreate".into();
    timed.restart = Some(restart(20.0, None));
    timed.milestones = vec![
        MilestoneResult { name: "jobFailed".into(), recorded_s: Some(2.0), simulated_s: Some(1.9) },
        MilestoneResult { name: "lastPodReady".into(), recorded_s: Some(20.0), simulated_s: None },
    ];
    let files = [timed];
    assert_eq!(
        text(&files, &ResultTotals::from_files(&files)),
        "times.json (times): Recreate\n\
         \x20 milestone             recorded   simulated  difference\n\
         \x20 jobFailed              2.000 s     1.900 s      -5.0 %\n\
         \x20 lastPodReady          20.000 s       never           -\n\
         \x20 restart, up to lastPodReady: recorded 20.000 s, simulated never, -100.0 %\n\
         \nrestart time: 1 scored, absolute error p50 100.0 %, max 100.0 %\n"
    );
}

#[test]
fn omitted_differences_are_counted() {
    let mut decided = file(RecordingKind::Decisions);
    decided.differences = Some((0..10).map(|i| RecordedDifference::new("events", i, "")).collect());
    let mut skipped = file(RecordingKind::Corner);
    skipped.not_simulated = vec!["action patch".into()];
    let files = [decided, skipped];
    let text = text(&files, &ResultTotals::from_files(&files));
    for part in [
        "  10 differences\n",
        "      recorded   7\n      simulated  (empty)\n    and 2 more;",
        "corner.json (corner)\n  not simulated: action patch\n",
        "decisions: 0 of 2 equal (0 with pods that may have ended either way), 0 equal only in another replay, 1 different, 1 not simulated\n  corner: 0 of 1 equal (0",
        "not simulated, by reason:\n  1 action patch\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}
