//! Tests of `sim_analysis::planning::target`.

use sim_analysis::planning::sample::SampleRow;
use sim_analysis::planning::target::*;
fn sample(values: impl IntoIterator<Item = f64>) -> Vec<SampleRow> {
    let row =
        |(replication, value)| SampleRow { replication, value: Some(value), cost: 0.0, is_worst: false, digest: 0 };
    (0..).zip(values).map(row).collect()
}

#[test]
fn a_target_is_a_metric_a_quantile_and_a_bound() {
    let target: MetricTarget = "restartLatency_s.p50.p90 <= 2m".parse().unwrap();
    assert_eq!(target.metric, "restartLatency_s.p50");
    assert_eq!(target.statistic, TargetStatistic::Quantile(0.9));
    assert!(!target.at_least && target.limit == 120.0);
    assert_eq!(target.statistic_name(), "p90");
    for (wrong, message) in [
        ("goodput >= 0.9", "goodput.p10"),
        ("goodput.p0 >= 0.9", "add a statistic"),
        ("goodput.p10", "no operator"),
        ("goodput.p10 == 0.9", "use >= or <="),
        ("goodput.p10 >= +5%", "no reference for a relative change"),
        ("goodput.p10 >= much", "not a number"),
    ] {
        let error = wrong.parse::<MetricTarget>().unwrap_err().to_string();
        assert!(error.contains(message) && error.contains(wrong), "{wrong}: {error}");
    }
}

#[test]
fn so_few_values_that_the_quantile_has_no_bound_leave_it_open() {
    let target: MetricTarget = "x.p10 >= 5".parse().unwrap();
    let twenty = sample([10.0; 20]);
    assert_eq!(target.test_sample(&twenty, 0.95), TargetJudgement::Open);
    assert_eq!(target.test_sample(&sample([10.0; 40]), 0.95), TargetJudgement::Meets);
    assert_eq!(target.test_sample(&sample([1.0; 40]), 0.95), TargetJudgement::Misses);
    let mixed = sample((0..40).map(|i| if i < 4 { 1.0 } else { 10.0 }));
    assert_eq!(target.test_sample(&mixed, 0.95), TargetJudgement::Open);
    assert_eq!(target.test_sample(&[], 0.95), TargetJudgement::Open);
    let done: MetricTarget = "completed.mean >= 0.9".parse().unwrap();
    assert_eq!(done.test_sample(&sample([1.0; 20]), 0.95), TargetJudgement::Open);
    assert_eq!(done.test_sample(&sample([1.0; 40]), 0.95), TargetJudgement::Meets);
    let most: MetricTarget = "x.mean <= 5".parse().unwrap();
    assert_eq!(most.test_sample(&mixed, 0.95), TargetJudgement::Misses);
}
