//! Tests of `sim_analysis::sweep::results`.

use sim_analysis::experiment::{MeasuredMetric, ReplicationOutcome};
use sim_analysis::sweep::points::SweepPoints;
use sim_analysis::sweep::results::*;
use sim_analysis::sweep::row::SweepRow;
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};
use std::sync::Arc;
fn results(values: &[&[f64]]) -> SweepResults {
    results_with(values, &|_| ReplicationOutcome::Completed)
}

fn results_with(values: &[&[f64]], outcome: &dyn Fn(usize) -> ReplicationOutcome) -> SweepResults {
    let target = SweepTarget::Values((0..values.len()).map(|i| i.to_string()).collect());
    let axes = vec![SweepAxis { path: "a".to_owned(), target, is_uncertain: false }];
    let points = SweepPoints::expand(&SweepSpec { axes, hypercube: None }, 1).unwrap();
    let mut rows = Vec::new();
    for (point, own) in values.iter().enumerate() {
        for (i, v) in own.iter().enumerate() {
            let names =
                if v.is_nan() { vec!["other".to_owned()] } else { vec!["goodput".to_owned(), "other".to_owned()] };
            let values = names.iter().map(|n| match n.as_str() {
                "goodput" => MeasuredMetric::Value(*v),
                _ => MeasuredMetric::Value(1.0),
            });
            rows.push(SweepRow {
                point,
                replication: i as u64,
                digest: 0,
                end_reason: "x".to_owned(),
                outcome: outcome(point),
                values: values.collect(),
                names: Arc::new(names),
                warnings: Vec::new(),
                never_placed: None,
            });
        }
    }
    SweepResults::new(points, rows)
}

#[test]
fn the_best_point_has_the_best_mean_and_those_that_are_inconclusive_against_it_are_named() {
    let noise = [0.0, 0.2, -0.1, 0.3, -0.2];
    let at = |mean: f64| noise.map(|n| mean + n);
    // The third point differs from the second by independent noise.
    let third = [0.9, 1.3, 1.0, 0.8, 1.0];
    let result = results(&[&at(0.5), &at(1.0), &third]).best("goodput").unwrap();
    assert_eq!((result.point, result.inconclusive), (1, vec![2]));
    let clear = results(&[&at(0.5), &at(1.0), &at(0.9)]).best("goodput").unwrap();
    assert_eq!((clear.point, clear.inconclusive), (1, vec![]));
    let same = results(&[&at(1.0), &at(0.5), &at(1.0)]).best("goodput").unwrap();
    assert_eq!((same.point, same.inconclusive, same.equal), (0, vec![], vec![2]));
    let other = results(&[&at(0.5), &at(1.0)]);
    assert_eq!(other.best("other"), None, "all points have equal values of this metric");
    assert_eq!(other.names(), ["goodput", "other"]);
}

#[test]
fn a_point_without_a_number_in_some_replication_is_not_ranked() {
    let result = results(&[&[2.0, f64::NAN], &[1.0, 1.5], &[0.5, 0.6]]);
    assert_eq!(result.means("goodput"), [None, Some(1.25), Some(0.55)]);
    assert_eq!(result.best("goodput").unwrap().point, 1);
    assert_eq!(result.estimate(0, "goodput").absent, 1);
}

#[test]
fn point_that_completes_fewer_replications_is_never_best() {
    let outcome = |point: usize| match point {
        0 => ReplicationOutcome::Failed,
        _ => ReplicationOutcome::Completed,
    };
    let result = results_with(&[&[2.0, 2.1], &[1.0, 1.1], &[0.5, 0.6]], &outcome);
    assert_eq!(result.best("goodput").unwrap().point, 1);
}

/// A run that fails early has had less time for restarts. Only points without such runs are compared, and a point with
/// fewer completed replications is never counted among the worse ones.
#[test]
fn points_with_runs_that_fail_or_are_blocked_are_not_ranked_in_metrics_that_add_up() {
    let renamed = |outcomes: &'static [ReplicationOutcome], values: &[&[f64]]| {
        let mut all = Vec::new();
        let result = results_with(values, &|point| outcomes[point]);
        for point in 0..values.len() {
            for row in result.rows(point) {
                all.push(SweepRow { names: Arc::new(vec!["restarts".to_owned(), "other".to_owned()]), ..row.clone() });
            }
        }
        SweepResults::new(result.points().clone(), all)
    };
    use ReplicationOutcome::{Blocked, Completed, Failed, Unfinished};
    let values: [&[f64]; 3] = [&[0.0, 1.0, 0.0], &[4.0, 5.0, 4.0], &[6.0, 7.0, 6.0]];
    for cut in [Failed, Blocked] {
        let outcomes: &'static [ReplicationOutcome] = match cut {
            Failed => &[Failed, Completed, Completed],
            _ => &[Blocked, Completed, Completed],
        };
        let best = renamed(outcomes, &values).best("restarts").unwrap();
        assert_eq!((best.point, best.inconclusive, best.unranked), (1, vec![], vec![0]), "{cut:?}");
    }
    let failing = renamed(&[Failed, Failed, Completed], &values);
    assert_eq!(failing.best_or_reason("restarts"), Err(NoBestPoint::CutShort));
    // A run that reaches the time limit had more time than the others.
    let best = renamed(&[Unfinished, Completed, Completed], &values).best("restarts").unwrap();
    assert_eq!((best.point, best.unranked), (1, vec![0]));
    // The latency of a restart does not add up.
    let fewer = results_with(&[&[2.0, 2.1, 2.0], &[1.0, 1.1, 1.0]], &|point| [Failed, Completed][point]);
    let best = fewer.best("goodput").unwrap();
    assert_eq!((best.point, best.unranked), (1, vec![0]), "the other point is not worse");
}
