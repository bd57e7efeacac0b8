//! Tests of `sim_recordings::observe::timestamp`.

use sim_recordings::observe::timestamp::*;
#[test]
fn fractions_of_a_second_are_kept() {
    let complete = parse_nanoseconds("2026-11-21T22:12:52Z").unwrap();
    assert_eq!(parse_nanoseconds("2026-11-21T22:12:52.063405Z"), Some(complete + 63_405_000));
    assert_eq!(parse_nanoseconds("yesterday"), None);
    assert_eq!(ClockTime::parse("2026-11-21T22:12:52Z").unwrap().uncertainty_ns, SECOND / 2);
    assert_eq!(ClockTime::parse("2026-11-21T22:12:52.5Z").unwrap().uncertainty_ns, 0);
}

#[test]
fn the_name_of_an_event_reports_its_nanosecond() {
    let near = parse_nanoseconds("2026-11-21T22:12:51Z");
    let ns = time_in_event_name("js-w-0.18ea2f15c3c48967", near).unwrap();
    assert_eq!(ns - near.unwrap(), 985_820_007);
    assert_eq!(time_in_event_name("js-w-0.18ea2f15c3c48967", parse_nanoseconds("2026-11-21T22:13:51Z")), None);
    assert_eq!(time_in_event_name("my.event", near), None);
}
