//! Tests of `sim_base::time`.

use proptest::prelude::*;
use sim_base::time::*;
#[test]
fn go_durations_are_read_and_printed() {
    for (text, nanos, printed) in [
        ("0", 0, "0s"),
        ("1m30s", 90 * NANOS_PER_SECOND, "1m30s"),
        ("1.5s", 1_500_000_000, "1.5s"),
        ("250ms", 250_000_000, "250ms"),
        ("2d", 172_800 * NANOS_PER_SECOND, "48h"),
        (".5h", 1_800 * NANOS_PER_SECOND, "30m"),
    ] {
        let d: Duration = text.parse().unwrap();
        assert_eq!((d.0, d.to_string().as_str()), (nanos, printed), "{text}");
    }
}

#[test]
fn ticks_come_at_their_phase() {
    let (phase, period) = (Duration::from_secs(3), Duration::from_secs(5));
    for (t, tick) in [(0, 3), (3, 3), (4, 8), (13, 13), (14, 18)] {
        let at = SimTime(t * NANOS_PER_SECOND).next_tick(phase, period);
        assert_eq!(at, SimTime(tick * NANOS_PER_SECOND), "{t}");
    }
}

#[test]
fn what_is_not_a_duration_is_rejected_with_the_legal_form() {
    for text in ["", "5", "-1s", "abc", "1x", "1..5s", ".s", "NaN", "inf", "200000d", "99999999999999999999s"] {
        let error = text.parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains("duration") || error.contains("100 years"), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(nanos in 0..=MAX_INPUT_DURATION.0) {
        let d = Duration(nanos);
        prop_assert_eq!(d.to_string().parse::<Duration>(), Ok(d));
    }
}
