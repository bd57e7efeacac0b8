//! Tests of `sim_analysis::planning::budget`.

use sim_analysis::experiment::{CountedRun, UsedAt};
use sim_analysis::planning::budget::*;
use std::sync::Arc;
/// Returns a run with restarts on these days and with these causes.
fn run(replication: u64, used: &[(f64, &str)]) -> CountedRun {
    let one = |(day, cause): &(f64, &str)| UsedAt {
        at_s: day * 86_400.0,
        times: 1,
        cause: Arc::from(*cause),
        is_pod_failure_policy: false,
    };
    CountedRun {
        replication,
        end_s: 30.0 * 86_400.0,
        completed: false,
        ended_otherwise: None,
        never_placed: None,
        used: used.iter().map(one).collect(),
        uncounted: Vec::new(),
        digest: 0,
    }
}

fn budget_question(limit: u32) -> BudgetQuestion {
    BudgetQuestion { horizon_s: 30.0 * 86_400.0, limit: Some(limit), probability: 0.5, node_failures: Vec::new() }
}

#[test]
fn all_limits_and_rules_use_the_same_runs() {
    let runs = [
        run(0, &[(1.0, "gpu"), (2.0, "maintenance"), (20.0, "gpu")]),
        run(1, &[(5.0, "maintenance"), (6.0, "maintenance"), (40.0, "gpu")]),
        run(2, &[(5.0, "gpu")]),
        run(3, &[]),
    ];
    let ruled = RuledBudget::ignoring(&["maintenance".to_owned()], &runs);
    let result = LossBudget::from_runs(&budget_question(1), &runs, Some(&ruled)).unwrap();
    // There are 3, 2, 1 and 0 restarts within thirty days.
    assert_eq!(result.used.mean, 1.5);
    assert_eq!(result.lasts.unwrap().share, 0.5);
    let rule = result.rule.unwrap();
    assert_eq!((rule.used.mean, rule.lasts.unwrap().share), (0.75, 0.75));
    assert_eq!(rule.uncounted, [("maintenance".to_owned(), 0.75)].into());
    let gpu = &result.causes[0];
    assert_eq!((gpu.cause.as_str(), gpu.share, gpu.last_straw), ("gpu", 0.5, 0));
    let maintenance = &result.causes[1];
    assert_eq!(maintenance.last_straw, 2);
    assert_eq!(result.curve.last().unwrap().lasts.share, 0.5);
    assert_eq!(result.curve[0].lasts.share, 1.0);
    assert_eq!(result.limits.len(), 4);
}

#[test]
fn the_least_limit_is_a_range_where_so_few_runs_are_inconclusive() {
    let used = |n: u64| vec![(1.0, "a"); (n % 5) as usize];
    let runs: Vec<CountedRun> = (0..1000).map(|n| run(n, &used(n))).collect();
    let mut question = budget_question(2);
    question.probability = 0.7;
    let clear = LossBudget::from_runs(&question, &runs, None).unwrap().least;
    assert_eq!((clear.low, clear.high), (3, Some(3)));
    let open = LossBudget::from_runs(&question, &runs[..20], None).unwrap().least;
    assert_eq!((open.low, open.high), (2, Some(4)));
    question.probability = 0.99;
    let few = LossBudget::from_runs(&question, &runs[..20], None).unwrap().least;
    assert_eq!((few.high, few.replications_needed), (None, 368));
}
