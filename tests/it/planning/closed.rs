//! The best checkpoint interval and rare-event probabilities against closed forms and Monte Carlo estimates.

use crate::fleet::{crashes, exponential, plain, s};
use sim_analysis::experiment::{Limits, Subject};
use sim_analysis::fleet::{Excess, FleetSimulation};
use sim_analysis::planning::interval::{Search, best};
use sim_analysis::planning::rare::{Question, Rare, of_fleet};
use sim_analysis::planning::{ClosedForm, Row, Sample};
use sim_api::spec::*;
use sim_base::random::Dist;
use sim_base::stats::{poisson_sf, share_interval};
use std::ops::Range;

/// Returns a Fleet of one node that is interrupted every `between` seconds on average while it runs; restarts take
/// ten minutes.
fn saving(every: f64, blocking: f64, between: f64) -> Fleet {
    let progress = Progress::Checkpoints {
        every: s(every),
        blocking: s(blocking),
    };
    let faults = vec![crashes(exponential(between), Exposure::Running)];
    let mut fleet = plain(1, 4e5, progress, faults);
    fleet.job.recovery = Dist::Fixed(s(600.0));
    fleet
}

#[test]
fn a_search_finds_the_interval_that_lambert_says_within_its_own() {
    // reference 6.2: 617.8906 s for C = 60 s and M = 3,600 s, independent of the restart time; 1,777.08 s for 300 s
    // and 6,480 s.
    for (blocking, between, start) in [(60.0, 3600.0, 2400.0), (300.0, 6480.0, 400.0)] {
        let exact = ClosedForm::of(blocking, between).exact_s;
        let search = Search {
            start_s: start,
            bounds_s: [1.0, 1e6],
            first: 40,
            most: 1280,
        };
        let mut play = |every: &u64, which: Range<u64>| -> Result<Sample, ()> {
            let fleet = saving(*every as f64 / 1e3, blocking, between);
            let subject = Subject::Fleet(Box::new(fleet));
            let all = subject.replicate((5, which), (0, &Limits::none()), &|_| ());
            let row = |r: &_| Row::of(r, &[], "effective_training_ratio", None).unwrap();
            Ok(all.unwrap().iter().map(row).collect())
        };
        let found = best(&search, "effective_training_ratio", &mut play).unwrap();
        let [low, high] = found.ci95_s.expect("so many replications give it bounds");
        assert!(
            low <= exact && exact <= high,
            "{exact} is not in {low} to {high}"
        );
        assert!(high < 1.35 * low, "{low} to {high} says little");
        assert!(!found.at_edge && !found.interrupted);
    }
}

fn rare(fleet: &Fleet, excess: Excess, limit: u64, (runs, batches): (u32, u64)) -> Rare {
    let question = Question {
        excess,
        limit,
        runs,
        batches,
    };
    let found = of_fleet((fleet, 11), &question, (0, &Limits::none()), &|_| ());
    found.unwrap().expect("it was not stopped")
}

/// Returns a Fleet of four nodes whose failures interrupt the job without loss of work.
fn interrupted(life: Dist, work: f64) -> Fleet {
    plain(
        4,
        work,
        Progress::Kept,
        vec![crashes(life, Exposure::Running)],
    )
}

#[track_caller]
fn contains(what: &str, found: &Rare, exact: f64) {
    // Three standard errors; the 95 % interval spans about two on each side.
    let half = 1.5 * 0.5 * (found.ci95[1] - found.ci95[0]);
    assert!(
        (found.chance - exact).abs() < half,
        "{what}: {found:?}, not {exact}"
    );
    assert!(half < 0.5 * exact, "{what}: {found:?} says little");
}

#[test]
fn splitting_finds_chances_of_one_in_a_million_that_poisson_says() {
    // lambda W = 1: the probability of nine or more restarts is 1.1e-6, that of seven or more is 8.3e-5.
    let fleet = interrupted(exponential(4000.0), 1000.0);
    for limit in [7, 9] {
        let found = rare(&fleet, Excess::Restarts, limit, (500, 24));
        contains("restarts", &found, poisson_sf(limit - 1, 1.0));
        assert_eq!(found.levels.last().unwrap().at, limit as f64);
        assert!(found.by_counting > 1e4, "{found:?}");
    }
}

#[test]
fn splitting_finds_what_counting_finds_where_lives_remember_their_age() {
    // Weibull lifetimes with shape 2 rarely end early, so a method that ignores ages would report far too many
    // failures.
    let life = Dist::Weibull {
        scale_s: 1000.0,
        shape: 2.0,
    };
    let mut fleet = interrupted(life, 800.0);
    fleet.training.progress = Progress::Checkpoints {
        every: s(100.0),
        blocking: s(5.0),
    };
    fleet.job.recovery = exponential(60.0);
    for (excess, limit) in [(Excess::Restarts, 8), (Excess::LostTime, s(1350.0).0)] {
        let found = rare(&fleet, excess, limit, (150, 16));
        let n = 12_000;
        let mut simulation = FleetSimulation::new(&fleet);
        let over = |i: &u64| {
            let outcome = simulation.run(2, *i);
            let output = |name: &str| outcome.outputs.iter().find(|(n, _)| n == name).unwrap().1;
            match excess {
                Excess::Restarts => output("restarts") >= limit as f64,
                Excess::LostTime => {
                    let lost = output("training_time_h") - output("compute_h");
                    lost * 3600.0 >= limit as f64 / 1e9
                }
            }
        };
        let k = (0..n).filter(over).count();
        let [low, high] = share_interval(k, n as usize, 0.999);
        let found_low = found.chance - 1.5 * (found.chance - found.ci95[0]);
        let found_high = found.chance + 1.5 * (found.ci95[1] - found.chance);
        assert!((5e-4..8e-3).contains(&(k as f64 / n as f64)), "{k} of {n}");
        assert!(
            found_low < high && low < found_high,
            "{excess:?}: {found:?}, counted {low} to {high}"
        );
        assert!(
            found.ci95[1] - found.ci95[0] < found.chance,
            "{found:?} says little"
        );
    }
}
