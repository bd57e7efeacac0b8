//! Random scenarios at both levels: without boundary cases, counts are equal and goodput is within its error bound.
//!
//! `REDUCED_SEEDS=2000` tries more seeds, from `REDUCED_FROM` on, and `REDUCED_SEED=434` one of them.

use super::generate::drawn_scenario;
use crate::support::{self, number};
use sim_analysis::experiment::{CountedEvents, ModelAgreement, ReducedExperiment, ReplicationLimits, check_reduced};

/// Number of seeds in the usual test run. A third of them is supported.
/// Number of seeds; a quick run tries a third.
const SEEDS: u64 = 18;
const REPLICATIONS: u64 = 3;

/// Results of one seed: supported or not, and the numbers of equal and of close replications.
#[derive(Default)]
struct SeedResult {
    supported: u64,
    equal: u64,
    close: u64,
    differences: Vec<String>,
}

fn checked(seed: u64) -> SeedResult {
    let drawn = drawn_scenario(seed);
    let text = format!("{}\n{}", drawn.scenario, drawn.jobset);
    let scenario =
        support::parse(&drawn.scenario, &drawn.jobset).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    let Ok(reduced) = ReducedExperiment::new(&scenario) else {
        return SeedResult::default();
    };
    let limits = ReplicationLimits::unlimited();
    let all = check_reduced(&reduced, (scenario.seed, REPLICATIONS), (1, &limits), &|_| {}).expect("the run succeeds");
    let mut result = SeedResult { supported: 1, ..SeedResult::default() };
    for one in &all {
        let goodput = one.goodput();
        assert!((0.0..=1.0).contains(&goodput.1), "seed {seed}: goodput {goodput:?}");
        match one.agreement() {
            ModelAgreement::Equal => result.equal += 1,
            ModelAgreement::Close => result.close += 1,
            ModelAgreement::Different => {
                let counts = [&one.pods, &one.reduced].map(CountedEvents::from_replication);
                let at = format!("seed {seed}, replication {}", one.pods.replication);
                result.differences.push(format!("{at}: {counts:?}, goodput {goodput:?}, bound {}", one.bound));
            }
        }
    }
    if number("REDUCED_SEED").is_some() && !result.differences.is_empty() {
        println!("{text}");
    }
    result
}

#[test]
fn random_scenarios_differ_only_in_announced_cases() {
    let seeds = match number("REDUCED_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            number("REDUCED_FROM").unwrap_or(0)..number("REDUCED_SEEDS").unwrap_or(support::cases(SEEDS / 6, SEEDS))
        }
    };
    let (mut all, count) = (SeedResult::default(), seeds.end - seeds.start);
    for seed in seeds {
        let one = checked(seed);
        all.supported += one.supported;
        all.equal += one.equal;
        all.close += one.close;
        all.differences.extend(one.differences);
    }
    println!("{} supported scenarios, {} equal and {} close replications", all.supported, all.equal, all.close);
    assert!(
        all.differences.is_empty(),
        "differences without a boundary case; repeat one with REDUCED_SEED=N:\n{}",
        all.differences.join("\n")
    );
    if count > 1 {
        assert!(all.supported > count / 4, "only {} scenarios are supported", all.supported);
        assert!(all.equal > 4 * all.close, "{} of {} replications differ", all.close, all.close + all.equal);
    }
}

/// Seeds that differed in earlier versions. In 1701 the JobSet fails after the time limit.
#[test]
fn seeds_that_differed_are_equal() {
    for seed in [465, 1701] {
        assert!(checked(seed).differences.is_empty(), "seed {seed}: {:?}", checked(seed).differences);
    }
}
