//! Rates of the scheduler against published measurements.

use sim_api::spec::PodTerms;
use sim_policy::placement::{CycleWork, TermCounts};
use std::ops::Range;

/// A test of scheduler_perf or JobSet: pods with these terms are scheduled one after another, beside `before`.
struct RateCase {
    name: &'static str,
    terms: PodTerms,
    has_node_affinity: bool,
    claims: u64,
    before: TermCounts,
    measured: u64,
    /// Pods per second.
    expected: Range<f64>,
}

const NODES: u64 = 5_000;

fn case(name: &'static str, terms: PodTerms, all: u64, measured: u64, expected: Range<f64>) -> RateCase {
    let before = TermCounts { all, ..TermCounts::default() };
    RateCase { name, terms, has_node_affinity: false, claims: 0, before, measured, expected }
}

/// Thresholds of CI are minima: the rate is between the threshold and twice the threshold.
fn above(threshold: f64) -> Range<f64> {
    threshold..2.0 * threshold
}

/// A measured rate, with 15 %.
fn near(rate: f64) -> Range<f64> {
    rate * 0.85..rate * 1.15
}

/// Pods per second, with the terms of each scheduled pod in the counts of the next cycles.
fn rate(case: &RateCase) -> f64 {
    let cost = sim_inputs::presets::timing().scheduler;
    let (mut pods, mut seconds) = (case.before, 0.0);
    for _ in 0..case.measured {
        let work = CycleWork {
            // 10 % of the nodes are enough at this size, and all of them are feasible.
            examined: NODES / 10,
            feasible: NODES / 10,
            terms: case.terms,
            has_node_affinity: case.has_node_affinity,
            claims: case.claims,
            nodes: NODES,
            allowed: NODES,
            pods,
        };
        seconds += work.duration(&cost).seconds();
        pods.add(&case.terms);
    }
    case.measured as f64 / seconds
}

#[test]
fn the_rate_of_the_scheduler_follows_from_the_terms_of_the_pods() {
    let none = PodTerms::default();
    let affinity = PodTerms { required_affinity: 1, ..none };
    let anti_affinity = PodTerms { required_anti_affinity: 1, ..none };
    let preferred = PodTerms { preferred: 1, ..none };
    let soft = |soft_spread| PodTerms { soft_spread, ..none };
    let hard = PodTerms { hard_spread: 1, ..none };
    let old_exclusive = PodTerms { required_affinity: 1, required_anti_affinity: 1, soft_spread: 2, ..none };
    // Constants of the preset were derived from these.
    let calibrated = [
        RateCase {
            before: TermCounts { all: 10_000, repelling: 2_000, scored: 6_000 },
            ..case("MixedSchedulingBasePod", none, 10_000, 5_000, above(140.0))
        },
        RateCase {
            before: TermCounts { all: 5_000, repelling: 0, scored: 5_000 },
            ..case("SchedulingPreferredPodAffinity", preferred, 5_000, 5_000, above(90.0))
        },
        RateCase { has_node_affinity: true, ..case("SchedulingNodeAffinity", none, 5_000, 10_000, above(220.0)) },
        RateCase { claims: 1, ..case("SchedulingCSIPVs", none, 5_000, 5_000, above(100.0)) },
        case("TopologySpreading", hard, 5_000, 5_000, above(460.0)),
        case("250 Jobs of 15 pods", soft(2), 0, 3_750, near(266.0)),
        case("250 Jobs of 15 pods with affinity and anti-affinity", old_exclusive, 0, 3_750, near(58.0)),
    ];
    // These were not used.
    let scored = [
        case("SchedulingBasic", none, 1_000, 10_000, above(680.0)),
        case("SchedulingBasic with 50,000 pods", none, 5_000, 50_000, above(810.0)),
        case("SchedulingSecrets", none, 1_000, 10_000, above(790.0)),
        RateCase {
            before: TermCounts { all: 1_000, repelling: 1_000, scored: 0 },
            ..case("SchedulingPodAntiAffinity", anti_affinity, 1_000, 2_000, above(60.0))
        },
        RateCase {
            before: TermCounts { all: 1_000, repelling: 1_000, scored: 0 },
            ..case("SchedulingPodMatchingAntiAffinity", none, 1_000, 5_000, above(543.0))
        },
        RateCase {
            before: TermCounts { all: 5_000, repelling: 0, scored: 5_000 },
            ..case("SchedulingPodAffinity", affinity, 5_000, 5_000, above(35.0))
        },
        case("PreferredTopologySpreading", soft(1), 5_000, 5_000, above(340.0)),
        case("DefaultTopologySpreading", soft(2), 5_000, 50_000, above(160.0)),
    ];
    for case in calibrated.iter().chain(&scored) {
        let rate = rate(case);
        assert!(case.expected.contains(&rate), "{}: {rate:.1} pods/s, expected {:?}", case.name, case.expected);
    }
}
