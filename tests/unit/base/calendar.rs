//! Tests of `sim_base::calendar`.

use sim_base::Time;
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
        let at = Time(seconds * NANOS_PER_SECOND);
        assert_eq!(sim_base::calendar::text(at), text);
        assert_eq!(instant(text), Some(at));
    }
    let later = Some(Time(5_400 * NANOS_PER_SECOND));
    assert_eq!(instant("1970-01-01T02:30:00.250+01:00"), later);
    assert_eq!(instant("1969-12-31T23:59:59Z"), None, "before the run");
    assert_eq!(instant("yesterday"), None);
}
