//! Planning functions against closed forms and exhaustive search, and the planning commands.

mod closed_forms;
mod failing_runs;
mod rare;
mod shell;
mod signals;

use crate::fleet::{crashes, exponential, plain, s};
use crate::support;
use sim_analysis::experiment::{
    CountedRun, ExperimentSubject, ReplicationLimits, count_restarts, with_maintenance_rule, without_limit,
};
use sim_analysis::planning::budget::{BudgetQuestion, LossBudget, RuleMatch, RuledBudget};
use sim_analysis::planning::minimum_multi::{ParameterCombination, find_minimums};
use sim_analysis::planning::{
    MetricTarget, SampleMetric, SampleRow, SearchAnswer, SearchPlan, TargetJudgement, find_minimum,
};
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_base::stats::{negative_binomial_cdf, planned_looks, poisson_cdf, proportion_interval};
use std::collections::BTreeMap;
use std::ops::Range;

fn runs(mut subject: ExperimentSubject, n: u64) -> (Vec<CountedRun>, Option<u32>, Duration) {
    let (limit, until) = without_limit(&mut subject, 0, None).unwrap();
    let runs = count_restarts((&subject, 0), (7, 0..n), (0, &ReplicationLimits::unlimited()), &|_| ());
    (runs.unwrap(), limit, until)
}

fn budget(fleet: FleetSpec, n: u64) -> LossBudget {
    let (runs, limit, until) = runs(ExperimentSubject::Fleet(Box::new(fleet)), n);
    let question = BudgetQuestion { horizon_s: until.seconds(), limit, probability: 0.9, node_failures: Vec::new() };
    LossBudget::from_runs(&question, &runs, None).unwrap()
}

/// Asserts that the probability of every restart limit agrees with the formula, within a 99.9 % interval.
fn assert_survival(what: &str, result: &LossBudget, n: u64, chance: impl Fn(u64) -> f64) {
    let mut looked = 0;
    for row in &result.limits {
        let k = (row.lasts.share * n as f64).round() as usize;
        let [low, high] = proportion_interval(k, n as usize, 0.999);
        let exact = chance(u64::from(row.max_restarts));
        assert!(low <= exact && exact <= high, "{what}: {row:?}, expected {exact}");
        looked += usize::from(high - low < 0.1 && exact > 0.05 && exact < 0.95);
    }
    assert!(looked > 1, "{what}: fewer than two limits have a meaningful probability: {:?}", result.limits);
}

#[test]
fn budget_survival_agrees_with_poisson_under_continuous_checkpoints() {
    // reference 6.3: P(Poisson(lambda W) <= m), here with lambda W = 2 for four nodes.
    let faults = vec![crashes(exponential(4000.0), ExposureSpec::Running)];
    let mut fleet = plain(4, 2000.0, ProgressSpec::Kept, faults);
    (fleet.job.max_restarts, fleet.stop_at) = (Some(2), s(1e6));
    let text = budget(fleet, 3000);
    assert_survival("perfect checkpoints", &text, 3000, |m| poisson_cdf(m, 2.0));
    assert_eq!((text.completed, text.max_restarts), (3000, Some(2)));
    assert!((0.9..1.1).contains(&text.dispersion.unwrap()), "{:?}", text.dispersion);
    // P(Poisson(2) <= 4) = 0.947, <= 3 = 0.857.
    assert_eq!((text.least.low, text.least.high), (4, Some(4)));
}

#[test]
fn budget_survival_agrees_with_negative_binomial_with_checkpoints() {
    // reference 6.3: each segment succeeds with probability exp(-lambda (tau + C)), and s segments must succeed; one
    // segment means "from scratch".
    for (segments, every, blocking) in [(1.0, 1000.0, 0.0), (5.0, 300.0, 20.0)] {
        let progress = ProgressSpec::Checkpoints { every: s(every), blocking: s(blocking) };
        let faults = vec![crashes(exponential(1000.0), ExposureSpec::Running)];
        let mut fleet = plain(1, every * segments, progress, faults);
        fleet.stop_at = s(1e7);
        let text = budget(fleet, 3000);
        let p = libm::exp(-(every + blocking) / 1000.0);
        assert_survival("checkpoints", &text, 3000, |m| negative_binomial_cdf(m, segments, p));
        assert!(text.dispersion > Some(1.3), "{:?}", text.dispersion);
    }
}

/// Returns a scenario of sixteen hosts that are drained and fail far more often than real ones.
fn drained_scenario(rules: &str) -> ScenarioSpec {
    let rules = format!("spec.failurePolicy.rules={rules}");
    let (path, value) = rules.split_once('=').unwrap();
    support::scenario(
        "stories/restart-budget",
        &[
            (
                "jobSets[0].set",
                "[\"spec.replicatedJobs[0].replicas=4\", \"spec.replicatedJobs[0].template.spec.parallelism=4\", \"spec.replicatedJobs[0].template.spec.completions=4\", \"spec.failurePolicy.maxRestarts=80\"]",
            ),
            ("faultProcesses[0].times", "120"),
            ("faultProcesses[0].takesAlong", "null"),
            ("faultProcesses[1].times", "120"),
            ("stop.at", "4d"),
            (path, value),
        ],
    )
}

/// The scope of the restart after a disruption, the JobSet or a single Job, stays the same under the rule.
#[test]
fn a_rule_leaves_disruptions_uncounted_and_changes_nothing_else() {
    leaves_disruptions_uncounted("[]");
    leaves_disruptions_uncounted("[{name: single, action: RestartJob}]");
}

fn leaves_disruptions_uncounted(rules: &str) {
    let subject = ExperimentSubject::from(drained_scenario(rules));
    let (plain, limit, _) = runs(subject.clone(), 6);
    assert_eq!(limit, Some(80));
    let mut ruled = subject;
    with_maintenance_rule(&mut ruled, 0).expect("the manifest distinguishes disruptions");
    let (ruled, _, _) = runs(ruled, 6);
    let mut ignored = 0;
    for (plain, ruled) in plain.iter().zip(&ruled) {
        let of = |run: &CountedRun, cause: &str| {
            let own = run.used.iter().filter(|u| &*u.cause == cause);
            own.cloned().collect::<Vec<_>>()
        };
        // A program that exits is not a disruption: restarts occur at the same times and are counted.
        assert_eq!(of(plain, "software"), of(ruled, "software"));
        assert_eq!(of(ruled, "host_maintenance"), []);
        assert!(ruled.used.iter().all(|u| plain.used.contains(u)));
        ignored += of(plain, "host_maintenance").len();
    }
    assert!(ignored > 2, "{ignored}");
    let rule = RuledBudget { what: String::new(), runs: ruled.clone(), matches: RuleMatch::PodFailurePolicy };
    let node_failures = vec!["gpu".to_owned(), "none".to_owned()];
    let question = BudgetQuestion { horizon_s: 4.0 * 86_400.0, limit, probability: 0.5, node_failures };
    let budget = LossBudget::from_runs(&question, &plain, Some(&rule)).unwrap();
    assert_eq!((budget.uncounted, budget.exempt_failures), (0.0, vec!["gpu".to_owned()]));
    let text = budget.rule.unwrap();
    assert_eq!(text.already_uncounted, BTreeMap::new());
    // If the inputs have the rule, it matches the same restarts and changes nothing.
    let budget = LossBudget::from_runs(&question, &ruled, Some(&rule)).unwrap();
    let same = budget.rule.unwrap();
    assert_eq!(same.uncounted, BTreeMap::new());
    let near = |(a, b): ((&String, &f64), (&String, &f64))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-9;
    assert_eq!(same.already_uncounted.len(), text.uncounted.len());
    assert!(same.already_uncounted.iter().zip(&text.uncounted).all(near), "{same:?} {text:?}");
    assert_eq!(budget.exempt_failures, ["gpu"]);
    let of = |cause: &str| budget.causes.iter().find(|c| c.cause == cause).unwrap();
    assert_eq!((of("host_maintenance").used.mean, of("software").uncounted), (0.0, 0.0));
    assert!((budget.uncounted - text.uncounted.values().sum::<f64>()).abs() < 1e-9);
    assert!(text.uncounted["host_maintenance"] > 0.0 && !text.uncounted.contains_key("software"));
    // The Node of a crashed host is deleted after ten minutes, and the loss of a pod's Node is a disruption as well.
    assert!(text.uncounted["gpu"] > 0.0, "{:?}", text.uncounted);
}

/// Returns a Fleet for a job of 20 nodes that fail often and take long to repair, with this number of spares.
fn fleet_with_spares(spares: u64) -> FleetSpec {
    let mut faults = vec![crashes(exponential(40.0 * 3600.0), ExposureSpec::Assigned)];
    faults[0].needs_repair = true;
    let mut fleet = plain(20, 60.0 * 3600.0, ProgressSpec::Kept, faults);
    fleet.spares.nodes = spares as u32;
    fleet.job.recovery = Distribution::Fixed(s(600.0));
    fleet.repair.stages = vec![RepairStage {
        name: "repair".to_owned(),
        duration: exponential(10.0 * 3600.0),
        escalates: 0.0,
        fails: 0.0,
    }];
    fleet
}

fn sample_metric(value: u64, which: Range<u64>) -> SampleMetric {
    let subject = ExperimentSubject::Fleet(Box::new(fleet_with_spares(value)));
    let all = subject.replicate((3, which), (0, &ReplicationLimits::unlimited()), &|_| ());
    let row = |r: &_| SampleRow::from_replications(r, &[], "effective_training_ratio", None).unwrap();
    all.unwrap().iter().map(row).collect()
}

#[test]
fn spares_search_equals_exhaustive_search() {
    let plan = SearchPlan { min: 0, max: 16, first_look: 40, most: 120 };
    // Samples of all values, with the maximum number of replications of the search.
    let all: Vec<SampleMetric> = (plan.min..=plan.max).map(|v| sample_metric(v, 0..plan.most)).collect();
    for limit in ["0.5", "0.7", "0.8", "0.85"] {
        let text = format!("effective_training_ratio.p10 >= {limit}");
        let target: MetricTarget = text.parse().unwrap();
        let mut play = |value: &u64, which: Range<u64>| {
            let rows = &all[*value as usize];
            Ok::<_, ()>(rows[which.start as usize..which.end as usize].to_vec())
        };
        let result = find_minimum(&plan, &target, &mut play).unwrap();
        let all: Vec<TargetJudgement> = all.iter().map(|sample| target.test_sample(sample, 0.95)).collect();
        let first = |is: &dyn Fn(&TargetJudgement) -> bool| all.iter().position(is).unwrap() as u64;
        let (low, high) = (first(&|j| *j != TargetJudgement::Misses), first(&|j| *j == TargetJudgement::Meets));
        match result.answer {
            SearchAnswer::Least { value } => {
                assert!(low <= value && value <= high, "{value} {all:?}")
            }
            SearchAnswer::Between { low: a, high: b } => {
                assert!(a <= high && low <= b && b <= high + 1, "{a} {b} {all:?}")
            }
            other => panic!("{other:?}"),
        }
        assert!(result.candidates.len() <= 10, "{}", result.candidates.len());
        assert!(result.not_monotone.is_empty());
    }
}

#[test]
fn two_field_search_equals_exhaustive_search() {
    let plan = SearchPlan { min: 0, max: 8, first_look: 40, most: 80 };
    let plans = [SearchPlan { max: 4, ..plan }, plan];
    let of = |values: &[u64]| {
        let mut fleet = fleet_with_spares(values[1]);
        fleet.nodes += values[0] as u32;
        let subject = ExperimentSubject::Fleet(Box::new(fleet));
        let all = subject.replicate((3, 0..plan.most), (0, &ReplicationLimits::unlimited()), &|_| ());
        let row = |r: &_| SampleRow::from_replications(r, &[], "effective_training_ratio", None).unwrap();
        let all: SampleMetric = all.unwrap().iter().map(row).collect();
        all
    };
    let grid = (0..=4u64).flat_map(|a| (0..=8u64).map(move |b| vec![a, b]));
    let all: BTreeMap<Vec<u64>, SampleMetric> = grid.map(|values| (values.clone(), of(&values))).collect();
    for limit in ["0.6", "0.8"] {
        let text = format!("effective_training_ratio.mean >= {limit}");
        let target: MetricTarget = text.parse().unwrap();
        let mut play = |values: &[u64], which: Range<u64>| {
            let rows = &all[values];
            Ok::<_, ()>(rows[which.start as usize..which.end as usize].to_vec())
        };
        let result = find_minimums(&plans, &target, &mut play).unwrap();
        // Judged like the search does it: an early decision is final.
        let judged = |values: &Vec<u64>| {
            let each = planned_looks(40, plan.most as usize, 0.95).looks.into_iter();
            let each = each.map(|look| target.test_sample(&all[values][..look.n], look.level));
            each.into_iter().find(|judged| *judged != TargetJudgement::Open)
        };
        let meets = |values: &Vec<u64>| judged(values) == Some(TargetJudgement::Meets);
        let good: Vec<&Vec<u64>> = all.keys().filter(|values| meets(values)).collect();
        let below = |a: &Vec<u64>, b: &Vec<u64>| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
        let least = good.iter().filter(|one| !good.iter().any(|other| below(other, one)));
        let mut least: Vec<Vec<u64>> = least.map(|values| values.to_vec()).collect();
        let mut output: Vec<Vec<u64>> = result.least.iter().map(|c| c.values.clone()).collect();
        least.sort();
        output.sort();
        assert_eq!(output, least, "{limit}");
        assert!(output.len() > 1 && result.simulated < all.len(), "{output:?}");
        let cost = |c: &ParameterCombination| c.candidate.sample[..40].iter().map(|row| row.cost).sum::<f64>();
        let cheapest = result.least.iter().map(cost).fold(f64::MAX, f64::min);
        assert_eq!(cost(&result.least[0]), cheapest);
    }
}
