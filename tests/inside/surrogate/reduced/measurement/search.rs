//! Unit tests of `sim_surrogate::reduced::measurement::search`.

use super::super::fault_pairs::PairMembership;
use super::*;

const ALONG: PairZone = PairZone { adds: (0, 0), waits: true };
const NEXT: PairZone = PairZone { adds: (1, 1), waits: true };
const SECOND: u64 = 1_000_000_000;

/// Searches with binding at 645 s, in every replication, and at 400 s for the other case.
fn search(play: &(dyn Fn(u64, u64, bool) -> Result<PairZone, NotMeasured> + Sync)) -> FaultPair {
    let search = CurveSearch {
        play,
        alone: (1, 1),
        ready: vec![650 * SECOND; 3],
        bind: vec![645 * SECOND; 3],
        spread: 0,
        seen_after: 20 * SECOND,
        other_bind: Some(vec![400 * SECOND; 3]),
    };
    search.find().expect("it runs")
}

#[test]
fn an_edge_is_found_and_moves_with_the_binding() {
    let pair = search(&|_, offset, other| {
        let bind = if other { 400 } else { 645 };
        Ok(if offset < (bind - 45) * SECOND { ALONG } else { NEXT })
    });
    assert!(pair.open < 0.01);
    for (offset, bind, overlapping_curves) in [(599, 645, true), (601, 645, false), (354, 400, true), (356, 400, false)]
    {
        let expected = if overlapping_curves { PairMembership::Along(ALONG) } else { PairMembership::Next };
        assert_eq!(pair.membership(offset * SECOND, bind * SECOND), (expected, false, false), "{offset} of {bind}");
    }
    assert!(pair.membership(600 * SECOND, 645 * SECOND).1, "ambiguous at the edge");
}

/// A second fault 100 s before an edge that is always at 500 s is not a boundary case.
#[test]
fn nothing_is_close_because_chance_moves_the_end_of_a_wait() {
    let behind = PairZone { adds: (0, 0), waits: false };
    let pair = search(&|look, offset, _| {
        Ok(match offset {
            _ if offset < (200 + 60 * look) * SECOND => ALONG,
            _ if offset < 500 * SECOND => behind,
            _ => NEXT,
        })
    });
    assert!(!pair.membership(400 * SECOND, 645 * SECOND).1, "{pair:?}");
    assert!(pair.membership(499 * SECOND, 645 * SECOND).1);
    assert!(pair.membership(250 * SECOND, 645 * SECOND).2, "the waiting JobSet is ambiguous");
}

#[test]
fn an_edge_that_counts_from_the_fault_stays_where_it_is() {
    let first = PairZone { adds: (0, -1), waits: true };
    let pair = search(&|_, offset, other| {
        let bind = if other { 400 } else { 645 };
        Ok(match offset {
            _ if offset < 345 * SECOND => first,
            _ if offset < (bind - 2) * SECOND => ALONG,
            _ => NEXT,
        })
    });
    for (offset, bind, expected) in [
        (344, 645, PairMembership::Along(first)),
        (346, 645, PairMembership::Along(ALONG)),
        (344, 500, PairMembership::Along(first)),
        (497, 500, PairMembership::Along(ALONG)),
        (499, 500, PairMembership::Next),
    ] {
        assert_eq!(pair.membership(offset * SECOND, bind * SECOND).0, expected, "{offset} of {bind}");
    }
}
