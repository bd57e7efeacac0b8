//! Coverage of confidence intervals in simulated samples, within the binomial error.

use crate::support;
use sim_analysis::planning::breakeven::{BreakEvenCrossing, BreakEvenSide, SearchEffort, SearchPoint, break_even};
use sim_analysis::planning::minimum::{SearchAnswer, SearchPlan, find_minimum};
use sim_analysis::planning::range::ParameterRange;
use sim_analysis::planning::sample::{SampleMetric, SampleRow};
use sim_analysis::planning::target::MetricTarget;
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::stats::{
    InterimLook, InterimLooks, SampleKind, StatisticalWarning, StudentMean, TargetPrecision, planned_looks,
    quantile_interval, sorted, statistical_warnings, values_for_quantile_interval,
};

const TRIALS: u32 = 2000;

/// Returns three standard errors of a share of this many trials around 0.95.
fn binomial_error(trials: u32) -> f64 {
    3.0 * (0.95 * 0.05 / f64::from(trials)).sqrt()
}

/// Returns a value of a trial: exponential with mean 1, as skewed as waiting times for faults.
fn value(draws: &mut DrawSequence, trial: u32, i: usize) -> f64 {
    let draw =
        UniformDraw { purpose: StreamPurpose::Test, entity: StreamKey(3), occurrence: trial, substream: i as u32 };
    let dist = Distribution::Exponential { mean_s: 1.0 };
    draws.sample(draw, &dist).seconds()
}

fn share(trials: u32, covers: impl FnMut(&u32) -> bool) -> f64 {
    (0..trials).filter(covers).count() as f64 / f64::from(trials)
}

#[test]
fn the_sequential_rule_keeps_its_coverage_and_looking_again_and_again_does_not() {
    let mut draws = DrawSequence::new(1, 0);
    let mut covered = |precision: f64, looks: &[InterimLook], naive: bool| {
        share(TRIALS, |trial| {
            let mut values = Vec::new();
            let ends = looks.iter().find_map(|look| {
                values.extend((values.len()..look.n).map(|i| value(&mut draws, *trial, i)));
                let mean = StudentMean::from_values(&values)?;
                let interval = mean.interval(look.level);
                let precision = TargetPrecision::Relative(precision);
                let narrow = naive && precision.is_reached_by(mean.mean, interval);
                let ends = look.sufficient_interval((&values, SampleKind::Number), precision).filter(|_| !naive);
                ends.or(narrow.then_some(interval))
            });
            let [low, high] = ends.expect("an interval was narrow enough");
            low <= 1.0 && 1.0 <= high
        })
    };
    for precision in [0.25, 0.1] {
        let looks: Vec<InterimLook> = InterimLooks::new(16, 0.95).looks().take(12).collect();
        let kept = covered(precision, &looks, false);
        assert!(kept >= 0.95 - binomial_error(TRIALS), "{precision}: {kept}");
    }
    let level = 0.95;
    let each: Vec<InterimLook> = (16..2000).map(|n| InterimLook { n, level }).collect();
    let lost = covered(0.35, &each, true);
    assert!(lost < 0.95 - binomial_error(TRIALS), "{lost}");
}

#[test]
fn the_chances_of_all_looks_add_up_to_that_of_one_interval() {
    let looks: Vec<_> = InterimLooks::new(10, 0.95).looks().collect();
    assert_eq!([looks[0].n, looks[1].n, looks[4].n], [10, 20, 160]);
    assert!((looks[0].level - 0.975).abs() < 1e-12);
    let wrong: f64 = looks.iter().map(|l| 1.0 - l.level).sum();
    assert!(wrong < 0.05 && wrong > 0.048, "{wrong}");
}

/// The interval of sorted values at a level.
type SampleInterval<'a> = dyn Fn(&[f64], f64) -> [Option<f64>; 2] + 'a;

/// Returns the share of trials whose looks against `limit` end with an interval that contains the truth, and of those
/// whose looks all contain it.
fn covered_by_looks(
    (truth, limit): (f64, f64), draw: &mut dyn FnMut(u32, usize) -> f64, interval: &SampleInterval<'_>, trials: u32,
) -> [f64; 2] {
    let design = planned_looks(40, 160, 0.95);
    let contains = |[low, high]: [Option<f64>; 2]| low.is_none_or(|v| v <= truth) && high.is_none_or(|v| v >= truth);
    let mut all = 0;
    let last = share(trials, |trial| {
        let mut values: Vec<f64> = Vec::new();
        let (mut together, mut last) = (true, None);
        for (stage, look) in design.looks.iter().enumerate() {
            values.extend((values.len()..look.n).map(|i| draw(*trial, i)));
            values.sort_by(f64::total_cmp);
            let at_level = |level: f64| interval(&values, level);
            let [low, high] = at_level(look.level);
            together &= contains([low, high]);
            let stops = low.is_some_and(|v| v >= limit) || high.is_some_and(|v| v < limit);
            if last.is_none() && (stops || look.n == 160) {
                last = Some(contains(design.final_interval(stage, limit, at_level)));
            }
        }
        all += u32::from(together);
        last == Some(true)
    });
    [last, f64::from(all) / f64::from(trials)]
}

/// The intervals of all planned looks hold together, and the interval after a stop has the level of the design wherever
/// the limit is: stops at the first look, at later ones, and never.
#[test]
fn intervals_after_planned_looks_have_the_level_of_the_design() {
    assert_eq!(planned_looks(40, 40, 0.95).looks.len(), 1);
    assert!((planned_looks(40, 30, 0.95).looks[0].level - 0.95).abs() < 1e-9);
    let looks = planned_looks(40, 160, 0.95).looks;
    assert_eq!(looks.iter().map(|look| look.n).collect::<Vec<_>>(), [40, 80, 160]);
    assert!((looks[0].level - 0.965).abs() < 1e-6, "{looks:?}");
    // Wider than a third of the rest, because looks depend on each other.
    assert!(looks[1..].iter().all(|look| look.level < 1.0 - 0.0075), "{looks:?}");
    let mut draws = DrawSequence::new(8, 0);
    let mut draw = |trial, i| value(&mut draws, trial, i);
    let trials = support::cases(60, 200) as u32;
    let near = |share: f64| (share - 0.95).abs() < binomial_error(trials);
    for probability in [0.1, 0.5] {
        let truth: f64 = -libm::log(1.0 - probability);
        let interval = |values: &[f64], level| quantile_interval(values, probability, level);
        for limit in [0.5, 1.0, 1.3] {
            let [last, all] = covered_by_looks((truth, limit * truth), &mut draw, &interval, trials);
            println!("p{probability}, limit {limit}: {last}, all looks {all}");
            assert!(near(last), "p{probability}, limit {limit}: {last}");
            assert!(limit != 1.0 || near(all), "p{probability}: {all}");
        }
    }
    // Means of 8 exponential values are not very skewed.
    let mut mean = |trial, i: usize| (8 * i..8 * i + 8).map(|i| value(&mut draws, trial, i)).sum::<f64>() / 8.0;
    let interval = |values: &[f64], level| StudentMean::from_values(values).unwrap().interval(level).map(Some);
    for limit in [0.95, 1.08] {
        let [last, _] = covered_by_looks((1.0, limit), &mut mean, &interval, trials);
        println!("mean, limit {limit}: {last}");
        assert!(near(last), "mean, limit {limit}: {last}");
    }
}

/// A sample has both bounds if the smallest and the largest value are improbable enough; otherwise one side is open
/// and the interval misses only on the other.
#[test]
fn intervals_of_quantiles_cover_them_in_93_to_97_percent() {
    let mut draws = DrawSequence::new(2, 0);
    for n in [10, 20, 40, 200] {
        for p in [0.05, 0.1, 0.3, 0.5, 0.9] {
            let truth: f64 = -libm::log1p(-p);
            let mut bounds = [true; 2];
            let kept = share(TRIALS, |trial| {
                let values = (0..n).map(|i| value(&mut draws, *trial, i)).collect();
                let [low, high] = quantile_interval(&sorted(values), p, 0.95);
                bounds = [low.is_some(), high.is_some()];
                low.is_none_or(|v| v <= truth) && high.is_none_or(|v| truth <= v)
            });
            println!("{n} values, p{p}: {kept}, bounds {bounds:?}");
            let one_sided = bounds != [true; 2];
            assert_eq!(one_sided, n < values_for_quantile_interval(p, 0.95), "{n}, p{p}");
            let expected = if one_sided { 0.96..=0.985 } else { 0.93..=0.97 };
            assert!(expected.contains(&kept), "{n} values, p{p}: {kept}");
        }
    }
}

#[test]
fn few_and_skewed_values_are_called_weak() {
    let normal: Vec<f64> = (1..40).map(|i| f64::from((i * 17) % 40)).collect();
    assert_eq!(statistical_warnings(&normal, SampleKind::Number), []);
    let few = statistical_warnings(&normal[..35], SampleKind::Number);
    assert_eq!(few, [StatisticalWarning::TooFew { n: 35, needed: 36 }]);
    let mut skewed = vec![1.0; 60];
    skewed[7] = 1000.0;
    let result = statistical_warnings(&skewed, SampleKind::Number);
    assert!(matches!(result[..], [StatisticalWarning::HeavyTail { n: 60, needed, .. }] if needed > 1000), "{result:?}");
}

/// Number of searches whose answers are compared with the known one.
fn searches() -> u32 {
    support::cases(10, 20) as u32
}

fn row(replication: u64, value: f64) -> SampleRow {
    SampleRow { replication, value: Some(value), cost: 0.0, is_worst: false, digest: 0 }
}

/// Returns the share of searches whose answer holds.
fn answers(mut holds: impl FnMut(u32) -> bool) -> f64 {
    share(searches(), |search| holds(*search))
}

/// As in `plan spares`: the value rises by 0.1 per candidate and has exponential noise, so its tenth percentile is
/// known. The candidate 8 meets the target by a margin that few replications can distinguish from zero.
#[test]
fn the_answer_of_a_search_for_the_smallest_number_holds() {
    let target: MetricTarget = "x.p10 >= 0.9".parse().unwrap();
    let plan = SearchPlan { min: 0, max: 20, first_look: 40, most: 640 };
    let mut draws = DrawSequence::new(5, 0);
    let share = answers(|search| {
        let mut play = |candidate: &u64, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
            let shift = 0.1 * *candidate as f64;
            Ok(which.map(|i| row(i, shift + value(&mut draws, search, i as usize))).collect())
        };
        match find_minimum(&plan, &target, &mut play).unwrap().answer {
            SearchAnswer::Least { value } => value == 8,
            SearchAnswer::Between { low, high } => low <= 8 && 8 <= high,
            SearchAnswer::Open { low } => low <= 8,
            SearchAnswer::Nothing => false,
        }
    });
    println!("smallest number: {share}");
    assert!(share >= 0.95 - binomial_error(searches()), "{share}");
}

/// As in `plan breakeven`: the second choice gains 0.1 per unit of the parameter over the first, from 3.3 on.
#[test]
fn the_answer_of_a_search_for_a_break_even_point_holds() {
    let range: ParameterRange = "x=0.0..10.0".parse().unwrap();
    let effort = SearchEffort { first_look: 32, most: 512 };
    let mut draws = DrawSequence::new(6, 0);
    let share = answers(|search| {
        let mut play = |point: &SearchPoint, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
            let gain = if point.is_b { 0.1 * (point.value - 3.3) } else { 0.0 };
            let noise = |i: u64| value(&mut draws, search, 2 * i as usize + usize::from(point.is_b));
            let values: Vec<f64> = which.clone().map(noise).collect();
            Ok(which.zip(values).map(|(i, noise)| row(i, gain + noise)).collect())
        };
        match break_even((&range, "goodput"), effort, &mut play).unwrap().crossing {
            BreakEvenCrossing::At { below, low, high, .. } => below == BreakEvenSide::A && low <= 3.3 && 3.3 <= high,
            BreakEvenCrossing::OneEnd { side: BreakEvenSide::A, lower: true, until } => until <= 3.3,
            BreakEvenCrossing::OneEnd { side: BreakEvenSide::B, lower: false, until } => until >= 3.3,
            BreakEvenCrossing::NotTold => true,
            _ => false,
        }
    });
    println!("break-even point: {share}");
    assert!(share >= 0.95 - binomial_error(searches()), "{share}");
}
