//! Table tests of the node lifecycle controller: eviction rates of zones, tolerations.

use super::evict::toleration_period;
use super::zones::{EvictionPace, ZoneLimiters, zone_pace};
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

/// One zone of a number of nodes; time passes as events say.
struct Zone {
    limiters: ZoneLimiters,
    size: u32,
    next: u32,
    /// The event that takes the next token.
    event: Option<SimTime>,
}

const ZONE: ZoneId = ZoneId(0);

impl Zone {
    fn new(size: u32) -> Zone {
        let mut limiters = ZoneLimiters::default();
        limiters.resize(1);
        Zone { limiters, size, next: 0, event: None }
    }

    /// The monitor runs and notices silent nodes. Returns whether all have become silent.
    fn silent(&mut self, at_s: u64, nodes: u32) -> bool {
        for _ in 0..nodes {
            self.limiters.count(ZONE, 1, 0);
            self.limiters.push(ZONE, NodeId(self.next));
            self.next += 1;
        }
        self.limiters.adapt(at(at_s), &[self.size])
    }

    fn returns(&mut self, at_s: u64, node: u32) {
        self.limiters.count(ZONE, -1, 0);
        self.limiters.remove(NodeId(node));
        self.limiters.adapt(at(at_s), &[self.size]);
    }

    /// Times in seconds and numbers of the nodes that are tainted before a time.
    fn tainted(&mut self, from_s: u64, until_s: u64) -> Vec<(u64, u32)> {
        let (mut now, mut all) = (at(from_s), Vec::new());
        loop {
            self.event = self.limiters.due(now).pop().map(|(_, due)| due).or(self.event);
            now = match self.event {
                Some(event) if event < at(until_s) => event,
                _ => break,
            };
            self.event = None;
            all.extend(self.limiters.take(now, ZONE).map(|node| (now.seconds() as u64, node.0)));
        }
        all
    }
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(seconds)
}

#[test]
fn nodes_of_a_zone_are_tainted_one_after_another() {
    let mut zone = Zone::new(100);
    zone.silent(100, 4);
    assert_eq!(zone.tainted(100, 111), [(100, 0), (110, 1)]);
    // A node that returns keeps no place in the queue.
    zone.returns(115, 2);
    assert_eq!(zone.tainted(115, 300), [(120, 3)]);
}

#[test]
fn the_slow_rate_applies_to_nodes_that_wait_already() {
    let mut zone = Zone::new(100);
    zone.silent(100, 50);
    assert_eq!(zone.tainted(100, 111), [(100, 0), (110, 1)]);
    // The bucket of 0.01/s starts empty, because the other one is.
    zone.silent(115, 10);
    assert_eq!(zone.tainted(115, 400), [(215, 2), (315, 3)]);
}

#[test]
fn a_stopped_limiter_starts_again_with_an_empty_bucket() {
    let mut zone = Zone::new(10);
    zone.silent(100, 6);
    assert_eq!(zone.tainted(100, 200), []);
    zone.returns(205, 5);
    assert_eq!(zone.tainted(205, 240), [(215, 0), (225, 1), (235, 2)]);
}

#[test]
fn no_node_waits_once_no_node_of_the_cluster_is_ready() {
    let mut zone = Zone::new(10);
    zone.silent(100, 2);
    assert_eq!(zone.tainted(100, 105), [(100, 0)]);
    assert!(zone.silent(105, 8), "the last ready node is lost");
    assert!(!zone.limiters.is_waiting());
    assert!(!zone.silent(110, 0), "once only");
    // The manager of the taints adds the silent nodes again.
    (0..10).for_each(|node| zone.limiters.push(ZONE, NodeId(node)));
    assert_eq!(zone.tainted(110, 400), []);
    zone.returns(405, 0);
    // 90 % of a small zone are silent.
    assert_eq!(zone.tainted(405, 500), []);
    (1..6).for_each(|node| zone.returns(505, node));
    assert_eq!(zone.tainted(505, 530), [(515, 6), (525, 7)]);
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
