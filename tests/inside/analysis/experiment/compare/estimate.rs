//! Unit tests of `sim_analysis::experiment::compare::estimate`.

use super::*;

#[test]
fn replications_without_completed_work_are_the_worst_in_quantiles() {
    let mut column = vec![MeasuredMetric::Value(10.0); 40];
    column.extend([MeasuredMetric::Blocked; 3]);
    column.extend([MeasuredMetric::Censored; 2]);
    column.push(MeasuredMetric::Failed);
    column.push(MeasuredMetric::Absent);
    let of = column.len();
    let e = MetricEstimate::from_column("end.t_s", &column);
    assert_eq!((e.n, e.failed, e.blocked, e.censored, e.absent), (40, 1, 3, 2, 1));
    assert_eq!((e.mean, e.p50, e.p90), (Some(10.0), Some(10.0), None));
    let excluded = StatisticalWarning::Excluded { failed: 1, blocked: 3, censored: 2, of };
    assert_eq!(e.weaknesses, [excluded]);
    let none = MetricEstimate::from_column("end.t_s", &[MeasuredMetric::Blocked]);
    assert_eq!((none.n, none.mean, none.ci95), (0, None, None));
}

#[test]
fn intervals_of_means_contain_only_possible_values() {
    for (metric, values, low, high) in [
        ("end.t_s", [10.0, 10.0, 10_000.0], Some(0.0), None),
        ("train.goodput", [1.0, 1.0, 0.2], Some(0.0), Some(1.0)),
        ("ledger.idle", [0.0, 0.0, 5.0], Some(0.0), None),
        ("restarts", [100.0, 101.0, 102.0], None, None),
    ] {
        let e = MetricEstimate::from_column(metric, &values.map(MeasuredMetric::Value));
        let [from, to] = e.ci95.unwrap();
        assert!(low.is_none_or(|low| from == low) && high.is_none_or(|high| to == high), "{metric}: {from} to {to}");
        assert!(from >= 0.0 && from <= e.mean.unwrap() && to >= e.mean.unwrap(), "{metric}: {from} to {to}");
    }
}
