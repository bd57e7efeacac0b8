//! Tests of the quarantine of missing Nodes, one sweep at a time.

use super::sweep::quarantine;
use sim_base::*;

fn at(s: u64) -> SimTime {
    SimTime(s * 1_000_000_000)
}

#[test]
fn pods_of_a_missing_node_go_two_sweeps_after_the_one_that_missed_it() {
    let (mut until, mut gone) = (SimTime::NEVER, Vec::new());
    for s in (15..200).step_by(20) {
        let (next, now) = quarantine(until, at(s), false);
        until = next;
        if now {
            gone.push(s);
        }
    }
    // Pods that are not removed are collected again every 40 s.
    assert_eq!(gone, [55, 95, 135, 175]);
}

#[test]
fn a_missing_node_without_pods_is_not_put_aside() {
    for (until, expected) in [(SimTime::NEVER, SimTime::NEVER), (at(40), at(40)), (at(20), SimTime::NEVER)] {
        assert_eq!(quarantine(until, at(30), true), (expected, false), "{until:?}");
    }
}
