//! Unit tests of `sim_surrogate::reduced::measurement::curve`.

use super::*;

fn sample(ready: u64, counts: u32) -> CurveSample {
    CurveSample {
        interrupt: 0,
        ready,
        bind: ready / 2,
        counted: 1,
        restarts: 1,
        counts,
        moves: CurveShift::All,
        failed: NEVER,
        is_repeated: false,
    }
}

fn point(outage: u64, ready: &[u64], counts: u32) -> CurvePoint {
    let samples = ready.iter().map(|r| sample(*r, counts)).collect();
    CurvePoint { outage, samples }
}

#[test]
fn between_two_points_is_a_straight_line_and_beyond_the_last_what_was_there() {
    let curve =
        LossCurve::new(vec![point(100, &[50, 60], 1), point(200, &[150, 170], 1), point(NEVER, &[180, 190], 1)], 100);
    for (outage, u, ready) in [(100, 0.1, 50), (150, 0.1, 100), (150, 0.9, 115), (200, 0.9, 170), (50, 0.1, 50)] {
        assert_eq!(curve.at(outage, u).0.ready, ready, "{outage} {u}");
        assert!(!curve.at(outage, u).1);
    }
    assert_eq!(curve.at(NEVER, 0.9).0.ready, 190);
    assert_eq!(curve.spread(), 20);
}

#[test]
fn between_points_of_another_kind_it_is_reported_that_it_is_unknown() {
    let curve = LossCurve::new(vec![point(100, &[50], 0), point(200, &[150], 1)], 100);
    assert_eq!((curve.at(110, 0.5).0.counts, curve.at(110, 0.5).1), (0, true));
    assert_eq!((curve.at(190, 0.5).0.counts, curve.at(190, 0.5).1), (1, true));
    assert!(!curve.at(200, 0.5).1 && !curve.at(300, 0.5).1);
}

#[test]
fn a_restart_waits_for_its_node_where_longer_away_is_bound_later() {
    let bound = |outage: u64, bind: u64| {
        let at = |bind: u64| CurveSample { bind, ..sample(bind + 50, 1) };
        let samples = vec![at(bind), at(bind + 2)];
        CurvePoint { outage, samples }
    };
    let points = [(100, 105), (200, 205), (400, 250), (NEVER, 250)];
    let curve = LossCurve::new(points.map(|(outage, bind)| bound(outage, bind)).to_vec(), 100);
    for (outage, waits) in [(100, true), (150, true), (300, false), (400, false)] {
        assert_eq!(curve.binds_with(outage), waits, "{outage}");
    }
    assert!(!curve.binds_with(NEVER));
}
