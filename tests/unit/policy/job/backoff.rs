//! Tests of `sim_policy::job::backoff`.

use sim_base::{Duration, SimTime};
use sim_policy::job::backoff::*;
fn at(seconds: f64) -> SimTime {
    SimTime((seconds * 1e9) as u64)
}

#[test]
fn the_wait_doubles_to_ten_minutes_from_the_whole_second_of_the_last_failure() {
    let wait = |failures, now| {
        let record = BackoffRecord { failures, last_failure: Some(at(100.9)) };
        record.remaining(at(now)).0 / 1_000_000_000
    };
    let waits: Vec<u64> = (0..9).map(|f| wait(f, 100.0)).collect();
    assert_eq!(waits, [0, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert_eq!(wait(1, 110.0), 0, "the wait is counted from the whole second");
    assert_eq!(wait(1, 500.0), 0, "the wait is over");
}

#[test]
fn a_success_forgets_all_failures_but_later_ones() {
    let old = BackoffRecord { failures: 3, last_failure: Some(at(50.0)) };
    for (succeeded, failed, failures, last, sentence) in [
        (&[][..], &[][..], 3, Some(50.0), "nothing new"),
        (&[][..], &[61.2, 60.1][..], 5, Some(61.0), "failures add up"),
        (&[62.0][..], &[][..], 0, None, "a success"),
        (&[62.0][..], &[61.0, 62.9][..], 0, None, "a failure in the same second is not later than the success"),
        (&[62.0][..], &[61.0, 63.5][..], 1, Some(63.0), "one failure after the success"),
    ] {
        let times = |t: &'static [f64]| t.iter().copied().map(at);
        let got = old.after_sync(times(succeeded).max(), times(failed));
        let want = BackoffRecord { failures, last_failure: last.map(at) };
        assert_eq!(got, want, "{sentence}");
    }
}

#[test]
fn each_index_waits_for_its_own_failures() {
    assert_eq!(until_index(None, at(5.0)), Duration::ZERO);
    assert_eq!(until_index(Some((1, at(5.4))), at(6.0)), Duration::from_secs(9));
    assert_eq!(until_index(Some((2, at(5.4))), at(6.0)), Duration::from_secs(19));
}
