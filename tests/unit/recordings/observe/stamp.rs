//! Tests of `sim_recordings::observe::stamp`.

use sim_recordings::observe::stamp::*;
#[test]
fn fractions_of_a_second_are_kept() {
    let whole = nanos("2026-11-21T22:12:52Z").unwrap();
    assert_eq!(
        nanos("2026-11-21T22:12:52.063405Z"),
        Some(whole + 63_405_000)
    );
    assert_eq!(nanos("yesterday"), None);
    assert_eq!(At::of("2026-11-21T22:12:52Z").unwrap().off, SECOND / 2);
    assert_eq!(At::of("2026-11-21T22:12:52.5Z").unwrap().off, 0);
}

#[test]
fn the_name_of_an_event_tells_its_nanosecond() {
    let near = nanos("2026-11-21T22:12:51Z");
    let ns = in_name("js-w-0.18ea2f15c3c48967", near).unwrap();
    assert_eq!(ns - near.unwrap(), 985_820_007);
    assert_eq!(
        in_name("js-w-0.18ea2f15c3c48967", nanos("2026-11-21T22:13:51Z")),
        None
    );
    assert_eq!(in_name("my.event", near), None);
}
