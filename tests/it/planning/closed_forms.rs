//! The best checkpoint interval and rare-event probabilities against closed forms and Monte Carlo estimates.

use crate::fleet::{crashes, exponential, plain, s};
use sim_analysis::experiment::{ExperimentSubject, ReplicationLimits};
use sim_analysis::planning::interval::{IntervalSearch, best};
use sim_analysis::planning::rare::{RareEventSearch, RareQuestion, of_fleet};
use sim_analysis::planning::{ClosedForm, SampleMetric, SampleRow};
use sim_api::spec::*;
use sim_base::random::Distribution;
use sim_base::stats::{poisson_sf, proportion_interval};
use sim_surrogate::fleet::{FleetSimulation, SplitExcess};
use std::ops::Range;

/// Returns a Fleet of one node that is interrupted every `between` seconds on average while it runs; restarts take
/// ten minutes.
fn saving(every: f64, blocking: f64, between: f64) -> FleetSpec {
    let progress = ProgressSpec::Checkpoints { every: s(every), blocking: s(blocking) };
    let faults = vec![crashes(exponential(between), ExposureSpec::Running)];
    let mut fleet = plain(1, 4e5, progress, faults);
    fleet.job.recovery = Distribution::Fixed(s(600.0));
    fleet
}

#[test]
fn interval_search_agrees_with_lambert_w() {
    // reference 6.2: 617.8906 s for C = 60 s and M = 3,600 s, independent of the restart time; 1,777.08 s for 300 s
    // and 6,480 s.
    for (blocking, between, start) in [(60.0, 3600.0, 2400.0), (300.0, 6480.0, 400.0)] {
        let exact = ClosedForm::new(blocking, between).exact_s;
        let search = IntervalSearch { start_s: start, now_s: None, bounds_s: [1.0, 1e6], first: 40, most: 1280 };
        let mut play = |every: &u64, which: Range<u64>| -> Result<SampleMetric, ()> {
            let fleet = saving(*every as f64 / 1e3, blocking, between);
            let subject = ExperimentSubject::Fleet(Box::new(fleet));
            let all = subject.replicate((5, which), (0, &ReplicationLimits::unlimited()), &|_| ());
            let row = |r: &_| SampleRow::from_replications(r, &[], "effective_training_ratio", None).unwrap();
            Ok(all.unwrap().iter().map(row).collect())
        };
        let result = best(&search, "effective_training_ratio", &mut play).unwrap();
        let [low, high] = result.ci95_s.expect("the replications suffice for an interval");
        assert!(low <= exact && exact <= high, "{exact} is not in {low} to {high}");
        assert!(high < 1.35 * low, "{low} to {high} is too wide");
        assert!(!result.at_edge && !result.interrupted);
    }
}

fn rare(fleet: &FleetSpec, excess: SplitExcess, limit: u64, (runs, batches): (u32, u64)) -> RareEventSearch {
    let question = RareQuestion { excess, limit, runs, batches };
    let result = of_fleet((fleet, 11), &question, (0, &ReplicationLimits::unlimited()), &|_| ());
    result.unwrap().expect("the run was not stopped")
}

/// Returns a Fleet of four nodes whose failures interrupt the job without loss of work.
fn interrupted(life: Distribution, work: f64) -> FleetSpec {
    plain(4, work, ProgressSpec::Kept, vec![crashes(life, ExposureSpec::Running)])
}

#[track_caller]
fn assert_contains(what: &str, actual: &RareEventSearch, exact: f64) {
    // Three standard errors; the 95 % interval spans about two on each side.
    let [low, high] = actual.ci95.expect("a run reached the limit");
    let half = 1.5 * 0.5 * (high - low);
    assert!((actual.chance - exact).abs() < half, "{what}: {actual:?}, expected {exact}");
    assert!(half < 0.5 * exact, "{what}: {actual:?} the interval is too wide");
}

#[test]
fn splitting_finds_chances_of_one_in_a_million_that_poisson_says() {
    // lambda W = 1: the probability of nine or more restarts is 1.1e-6, that of seven or more is 8.3e-5.
    let fleet = interrupted(exponential(4000.0), 1000.0);
    for limit in [9, 7].into_iter().take(crate::support::cases(1, 2) as usize) {
        let result = rare(&fleet, SplitExcess::Restarts, limit, (500, 24));
        assert_contains("restarts", &result, poisson_sf(limit - 1, 1.0));
        assert_eq!(result.levels.last().unwrap().at, limit as f64);
        assert!(result.by_counting > Some(1e4), "{result:?}");
    }
}

#[test]
fn splitting_equals_counting_for_weibull_lifetimes() {
    // Weibull lifetimes with shape 2 rarely end early, so a method that ignores ages would report far too many
    // failures.
    let life = Distribution::Weibull { scale_s: 1000.0, shape: 2.0 };
    let mut fleet = interrupted(life, 800.0);
    fleet.training.progress = ProgressSpec::Checkpoints { every: s(100.0), blocking: s(5.0) };
    fleet.job.recovery = exponential(60.0);
    for (excess, limit) in [(SplitExcess::Restarts, 8), (SplitExcess::LostTime, s(1350.0).0)] {
        let result = rare(&fleet, excess, limit, (220, 16));
        let n = 12_000;
        let mut simulation = FleetSimulation::new(&fleet);
        let over = |i: &u64| {
            let outcome = simulation.run(2, *i);
            let output = |name: &str| outcome.outputs.get(name).unwrap();
            match excess {
                SplitExcess::Restarts => output("restarts") >= limit as f64,
                SplitExcess::LostTime => {
                    let lost = output("training_time_h") - output("compute_h");
                    lost * 3600.0 >= limit as f64 / 1e9
                }
            }
        };
        let k = (0..n).filter(over).count();
        let [low, high] = proportion_interval(k, n as usize, 0.999);
        let ci95 = result.ci95.expect("a run reached the limit");
        let found_low = result.chance - 1.5 * (result.chance - ci95[0]);
        let found_high = result.chance + 1.5 * (ci95[1] - result.chance);
        assert!((5e-4..8e-3).contains(&(k as f64 / n as f64)), "{k} of {n}");
        assert!(found_low < high && low < found_high, "{excess:?}: {result:?}, counted {low} to {high}");
        assert!(ci95[1] - ci95[0] < result.chance, "{result:?} the interval is too wide");
    }
}
