//! Unit tests of `sim_recordings::validate::decisions::tolerances`.

use super::*;

#[test]
fn steps_are_in_time_within_the_band_or_a_bounded_accumulated_lag() {
    // Recorded time, lag of the step and of the preceding one, in seconds.
    for (recorded_s, lag_s, lag_before_s, expected) in [
        (5.0, 1.5, 0.0, true),
        (5.0, 1.6, 0.0, false),
        // The band is 10 % from 15 s on.
        (30.0, 3.0, 0.0, true),
        (30.0, 3.1, 0.0, false),
        // One band more than the preceding step, up to 4 s or 20 % in total.
        (5.0, 3.0, 1.5, true),
        (5.0, 3.1, 1.5, false),
        (5.0, 4.0, 3.0, true),
        (5.0, 4.1, 3.0, false),
        (40.0, 8.0, 5.0, true),
        (40.0, 8.1, 5.0, false),
        // There is no allowance for an earlier step, not even after another one.
        (5.0, -1.5, 0.0, true),
        (5.0, -1.6, -1.5, false),
    ] {
        let actual = is_in_time(TimeTolerance::PLAIN.band_s(recorded_s), recorded_s, lag_s, lag_before_s);
        assert_eq!(actual, expected, "{recorded_s} {lag_s} after {lag_before_s}");
    }
}

#[test]
fn the_lag_is_that_of_the_preceding_step_and_not_of_the_first() {
    let moment = |r, s| ComparedMoment::new(String::new(), Some(r), Some(s));
    let mut moments = [moment(5.0, 4.0), moment(7.0, 5.0), moment(9.0, 5.5), moment(11.0, 11.0), moment(13.0, 9.5)];
    mark_differences(&mut moments, TimeTolerance::PLAIN);
    assert_eq!(moments.map(|m| m.differs), [false, false, false, false, true]);
}
