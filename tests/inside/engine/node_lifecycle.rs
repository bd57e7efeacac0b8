//! Table tests of the node lifecycle controller: eviction rates of zones, tolerations.

use super::evict::toleration_period;
use super::zones::{EvictionPace, zone_pace};
use super::{NOT_READY, UNREACHABLE};
use sim_api::spec::{TaintEffect, TaintSpec, TolerationSpec};
use sim_base::*;

#[test]
fn most_of_a_zone_must_be_silent_before_its_limiter_slows_down() {
    for (size, silent, expected) in [
        (6, 1, EvictionPace::Normal),
        // Two nodes are never a majority of a zone.
        (3, 2, EvictionPace::Normal),
        (6, 3, EvictionPace::Normal),
        (6, 4, EvictionPace::Stopped),
        // A zone without any ready node keeps its rate.
        (6, 6, EvictionPace::Normal),
        (50, 28, EvictionPace::Stopped),
        (51, 28, EvictionPace::Normal),
        (51, 29, EvictionPace::Slow),
        (5_000, 2_749, EvictionPace::Normal),
        (5_000, 2_750, EvictionPace::Slow),
    ] {
        assert_eq!(zone_pace(size, silent), expected, "{silent} of {size}");
    }
}

fn taint(key: &str, effect: TaintEffect) -> TaintSpec {
    TaintSpec { key: key.to_owned(), value: String::new(), effect }
}

fn tolerates(key: &str, seconds: Option<i64>) -> TolerationSpec {
    TolerationSpec {
        key: Some(key.to_owned()),
        exists: true,
        value: String::new(),
        effect: None,
        toleration_seconds: seconds,
    }
}

#[test]
fn a_pod_stays_as_long_as_its_shortest_toleration() {
    let (execute, schedule) = (TaintEffect::NoExecute, TaintEffect::NoSchedule);
    let unreachable = taint(UNREACHABLE, execute);
    let own = taint("example.com/maintenance", execute);
    let s = Duration::from_secs;
    for (what, taints, tolerations, expected) in [
        ("no taint", vec![], vec![], None),
        ("NoSchedule does not evict", vec![taint(UNREACHABLE, schedule)], vec![], None),
        ("admission tolerates 300 s", vec![unreachable.clone()], vec![], Some(s(300))),
        ("not-ready, too", vec![taint(NOT_READY, execute)], vec![], Some(s(300))),
        ("another taint evicts at once", vec![own.clone()], vec![], Some(s(0))),
        ("for ever", vec![unreachable.clone()], vec![tolerates(UNREACHABLE, None)], None),
        ("10 s", vec![unreachable.clone()], vec![tolerates(UNREACHABLE, Some(10))], Some(s(10))),
        (
            "a negative time evicts at once",
            vec![unreachable.clone()],
            vec![tolerates(UNREACHABLE, Some(-1))],
            Some(s(0)),
        ),
        (
            "the shorter of two",
            vec![unreachable.clone(), own.clone()],
            vec![tolerates(UNREACHABLE, Some(10)), tolerates("example.com/maintenance", Some(5))],
            Some(s(5)),
        ),
        (
            "the first of two that match one taint",
            vec![unreachable.clone()],
            vec![tolerates(UNREACHABLE, Some(20)), tolerates(UNREACHABLE, Some(5))],
            Some(s(20)),
        ),
        (
            "a first one without a limit",
            vec![unreachable.clone()],
            vec![tolerates(UNREACHABLE, None), tolerates(UNREACHABLE, Some(5))],
            None,
        ),
        ("one taint is not tolerated", vec![unreachable, own], vec![tolerates(UNREACHABLE, Some(10))], Some(s(0))),
    ] {
        assert_eq!(toleration_period(&tolerations, taints.iter()), expected, "{what}");
    }
}
