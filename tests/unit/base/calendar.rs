//! Tests of `sim_base::calendar`.

use sim_base::SimTime;
use sim_base::calendar::*;
use sim_base::time::NANOS_PER_SECOND;
#[test]
fn virtual_seconds_read_as_a_calendar() {
    for (seconds, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (86_399, "1970-01-01T23:59:59Z"),
        (58 * 86_400, "1970-02-28T00:00:00Z"),
        (59 * 86_400, "1970-03-01T00:00:00Z"),
        (789 * 86_400, "1972-02-29T00:00:00Z"),
        (11_016 * 86_400 + 3_661, "2000-02-29T01:01:01Z"),
    ] {
        let at = SimTime(seconds * NANOS_PER_SECOND);
        assert_eq!(sim_base::calendar::format_time(at), text);
        assert_eq!(parse_time(text), Some(at));
    }
    let later = Some(SimTime(5_400 * NANOS_PER_SECOND));
    assert_eq!(parse_time("1970-01-01T02:30:00.250+01:00"), later);
    assert_eq!(parse_time("1969-12-31T23:59:59Z"), None, "times before 1970 are rejected");
    assert_eq!(parse_time("yesterday"), None);
}
