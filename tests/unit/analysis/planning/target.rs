//! Tests of `sim_analysis::planning::target`.

use sim_analysis::planning::sample::Row;
use sim_analysis::planning::target::*;
fn sample(values: impl IntoIterator<Item = f64>) -> Vec<Row> {
    let row = |(replication, value)| Row {
        replication,
        value: Some(value),
        cost: 0.0,
        left_out: false,
        digest: 0,
    };
    (0..).zip(values).map(row).collect()
}

#[test]
fn a_target_is_a_metric_a_quantile_and_a_bound() {
    let target: Target = "restartLatency_s.p50.p90 <= 2m".parse().unwrap();
    assert_eq!(target.metric, "restartLatency_s.p50");
    assert_eq!(target.statistic, Statistic::Quantile(0.9));
    assert!(!target.at_least && target.limit == 120.0);
    assert_eq!(target.statistic_name(), "p90");
    for (wrong, says) in [
        ("goodput >= 0.9", "goodput.p10"),
        ("goodput.p0 >= 0.9", "which quantile"),
        ("goodput.p10", "no operator"),
        ("goodput.p10 == 0.9", "use >= or <="),
        ("goodput.p10 >= +5%", "nothing to change from"),
        ("goodput.p10 >= much", "not a number"),
    ] {
        let error = wrong.parse::<Target>().unwrap_err();
        assert!(
            error.contains(says) && error.contains(wrong),
            "{wrong}: {error}"
        );
    }
}

#[test]
fn so_few_values_that_the_quantile_has_no_bound_leave_it_open() {
    let target: Target = "x.p10 >= 5".parse().unwrap();
    let twenty = sample([10.0; 20]);
    assert_eq!(target.judge(&twenty, 0.95), Judgement::Open);
    assert_eq!(target.judge(&sample([10.0; 40]), 0.95), Judgement::Meets);
    assert_eq!(target.judge(&sample([1.0; 40]), 0.95), Judgement::Misses);
    let mixed = sample((0..40).map(|i| if i < 4 { 1.0 } else { 10.0 }));
    assert_eq!(target.judge(&mixed, 0.95), Judgement::Open);
    assert_eq!(target.judge(&[], 0.95), Judgement::Open);
    let done: Target = "completed.mean >= 0.9".parse().unwrap();
    assert_eq!(done.judge(&sample([1.0; 20]), 0.95), Judgement::Open);
    assert_eq!(done.judge(&sample([1.0; 40]), 0.95), Judgement::Meets);
    let most: Target = "x.mean <= 5".parse().unwrap();
    assert_eq!(most.judge(&mixed, 0.95), Judgement::Misses);
}
