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
