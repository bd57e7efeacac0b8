//! Coverage of the intervals of rare events, with known probabilities.

use super::*;
use sim_base::fnv;
use sim_base::stats::poisson_sf;

/// One node that fails again and again, with lifetimes from a gamma distribution with shape 3 and mean 3.
struct WearingOut {
    experiment: u64,
    horizon: f64,
}

impl BranchFactor for WearingOut {
    /// Time and number of the last failure. The age of the node is 0 at that time.
    type State = (f64, u64);

    fn start(&mut self, _: u64) -> (f64, u64) {
        (0.0, 0)
    }

    fn resume(&mut self, from: &(f64, u64), branch: u64, level: u64) -> (Option<(f64, u64)>, u64) {
        let mut state = fnv::fnv1a_words([self.experiment, branch]);
        // SplitMix64 by S. Vigna.
        let mut uniform = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let (mut at, mut failures) = *from;
        while failures < level {
            at -= libm::log(uniform() * uniform() * uniform());
            if at > self.horizon {
                return (None, failures);
            }
            failures += 1;
        }
        (Some((at, failures)), failures)
    }
}

fn estimate((experiment, horizon): (u64, f64), limit: u64) -> RareEventSearch {
    let question = RareQuestion { excess: SplitExcess::Restarts, limit, runs: 400, batches: 20 };
    let make = || WearingOut { experiment, horizon };
    let on = (1, &ReplicationLimits::unlimited());
    let result = split(&make, &question, on, &|_| ());
    result.unwrap().expect("the run was not stopped")
}

#[test]
fn intervals_of_rare_events_cover_known_probabilities() {
    // Eight lifetimes are 24 exponential stages. Student's interval covers 92, 86 and 80 %.
    let known = [(9.875_853_11, 1e-4), (8.502_138_74, 1e-5), (7.395_235_31, 1e-6)];
    for (horizon, expected) in known.into_iter().take(crate::cases::cases(1, 3) as usize) {
        let exact = poisson_sf(23, horizon);
        assert!((exact / expected - 1.0).abs() < 1e-6, "{exact}");
        let (mut covered, mut sum) = (0, 0.0);
        for experiment in 0..200 {
            let actual = estimate((experiment, horizon), 8);
            let [low, high] = actual.ci95.expect("a run reached the limit");
            covered += u32::from(low <= exact && exact <= high);
            sum += actual.chance / exact;
        }
        // Over 1,000 experiments it is 96.5, 96.8 and 93.8 %; the standard error of 200 experiments is 1.5 %.
        let coverage = f64::from(covered) / 200.0;
        assert!((0.92..=0.985).contains(&coverage), "{expected}: {coverage}");
        assert!((sum / 200.0 - 1.0).abs() < 0.1, "{expected}: {sum}");
    }
}

#[test]
fn limit_that_no_run_reaches_has_no_probability() {
    let result = estimate((1, 0.001), 8);
    assert_eq!((result.chance, result.ci95, result.by_counting), (0.0, None, None));
    let json = serde_json::to_value(&result).unwrap();
    assert!(json["chance"].is_null() && json["ci95"].is_null() && json["byCounting"].is_null());
    assert!(json["levels"][0]["chance"].is_null());
}
