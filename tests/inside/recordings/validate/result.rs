//! Unit tests of `sim_recordings::validate::result`.

use super::*;

pub fn file(kind: RecordingKind) -> FileResult {
    FileResult::new(&format!("{}.json", kind.as_str()), kind)
}

pub fn restart(recorded_s: f64, simulated_s: Option<f64>) -> RestartResult {
    RestartResult { milestone: "lastPodReady".to_owned(), recorded_s, simulated_s, scored: true }
}

#[test]
fn errors_are_absolute_in_the_totals_and_only_scored_restarts_count() {
    let mut files = Vec::new();
    for (simulated, scored) in [(Some(90.0), true), (Some(104.0), true), (Some(102.0), true), (Some(900.0), false)] {
        let mut f = file(RecordingKind::Times);
        f.restart = Some(RestartResult { scored, ..restart(100.0, simulated) });
        files.push(f);
    }
    let totals = ResultTotals::from_files(&files);
    let error = totals.restart.unwrap();
    assert!((error.p50 - 0.04).abs() < 1e-12 && (error.max - 0.1).abs() < 1e-12, "{error:?}");
    assert_eq!((totals.scored_restarts, totals.decisions), (3, None));
    assert_eq!(restart(100.0, None).error(), -1.0);
}

#[test]
fn each_recording_has_one_of_four_verdicts() {
    let mut equal = file(RecordingKind::Decisions);
    equal.differences = Some(Vec::new());
    equal.exit_races = 2;
    let mut different = file(RecordingKind::Decisions);
    different.differences = Some(vec![RecordedDifference::new("deleted", true, false)]);
    different.exit_races = 1;
    let mut other = different.clone();
    other.equal_replay = Some("creation 0.50 s into a wall-clock second".to_owned());
    let mut skipped = file(RecordingKind::Corner);
    skipped.not_simulated = vec!["action patch".to_owned()];
    let totals = ResultTotals::from_files(&[equal, different, other, skipped]);
    let all = totals.decisions.unwrap();
    let each = (all.equal, all.other_replay, all.different, all.not_simulated);
    assert_eq!((each, all.total()), ((1, 1, 1, 1), 4));
    // Only equal files with such pods are counted, not the pods.
    assert_eq!((all.exit_races, totals.kinds["decisions"].exit_races), (1, 1));
    assert_eq!(totals.kinds["corner"].not_simulated, 1);
    assert_eq!(totals.kinds["decisions"].total(), 3);
    assert_eq!(totals.not_simulated, BTreeMap::from([("action patch".to_owned(), 1)]));
}
