//! Closed forms of the calibration reference that involve several components: each test names the section and the
//! formula.

use crate::support;
use sim_api::spec::{FaultAction, ScenarioSpec};
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::faults::draw_faults;
use std::collections::BTreeMap;

/// Returns the maximum of `n` samples of a distribution in one replication, in seconds.
fn slowest(dist: &Distribution, n: u32, replication: u64) -> f64 {
    let mut draws = DrawSequence::new(11, replication);
    let one = |entity: u32| UniformDraw {
        purpose: StreamPurpose::ContainerStart,
        entity: StreamKey(u64::from(entity)),
        occurrence: 0,
        substream: 0,
    };
    let all = (0..n).map(|entity| draws.sample(one(entity), dist).seconds());
    all.fold(0.0, f64::max)
}

const REPLICATIONS: u64 = 300;

/// 6.7: for exponential start times with mean m, the slowest of n starts takes m H_n on average.
#[test]
fn slowest_of_n_exponential_starts_is_mean_times_harmonic_number() {
    let dist = Distribution::Exponential { mean_s: 2.0 };
    for (n, harmonic) in [(1_000, 7.4855), (5_000, 9.0945)] {
        let actual = (0..REPLICATIONS).map(|i| slowest(&dist, n, i)).sum::<f64>() / REPLICATIONS as f64;
        // The variance of the maximum is m² Σ 1/k², nearly m² π²/6.
        let error = 3.0 * 2.0 * (std::f64::consts::PI / 6.0_f64.sqrt()) / (REPLICATIONS as f64).sqrt();
        let expected = 2.0 * harmonic;
        assert!((actual - expected).abs() < error, "n = {n}: mean {actual}, expected {expected}");
    }
}

/// 6.7: P(max <= t) = F(t)^n. Checks the medians of the slowest of n log-normal starts with median 2 s and p99 5 s.
#[test]
fn slowest_of_n_log_normal_starts_agrees_with_the_order_statistic() {
    let dist = Distribution::LogNormal { median_s: 2.0, sigma: 0.39389 };
    for (n, median) in [(1_000, 7.05), (3_000, 7.94), (5_000, 8.37)] {
        let below = (0..REPLICATIONS).filter(|i| slowest(&dist, n, *i) <= median).count() as f64;
        let (half, error) = (REPLICATIONS as f64 / 2.0, 3.0 * (REPLICATIONS as f64 / 4.0).sqrt());
        assert!((below - half).abs() < error, "{n}: {below} of {REPLICATIONS} below {median} s");
    }
}

/// Returns a scenario of 64 cubes of 16 hosts that fail and are repaired, each available for this share of the time.
fn cubes(availability: f64) -> ScenarioSpec {
    let mtbf = 1.0 / (1.0 - availability) - 1.0;
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train}\nspec:\n  replicatedJobs:\n  - \
        name: w\n    replicas: 1\n    template: {spec: {parallelism: 1, completions: 1, template: {spec: {restartPolicy: \
        Never, containers: [{name: w, image: x}]}}}}\n";
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: cubes}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - {{name: \"n-{{node:04}}\", \
         nodesPerIsland: 1024, allocatable: {{cpu: 8}}}}\njobSets: [{{manifest: jobset.yaml}}]\nfaultProcesses:\n- {{cause: \
         host, mtbf: {mtbf:.6}h, backAfter: {{exponential: {{mean: 1h}}}}}}\nstop: {{at: 12h}}\n"
    );
    support::parse(&text, jobset).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns for each cube whether all of its hosts are available at the end.
fn complete_cubes(scenario: &ScenarioSpec, replication: u64) -> Vec<bool> {
    let mut outage: BTreeMap<String, bool> = BTreeMap::new();
    for fault in &draw_faults(scenario, 5, replication).faults {
        let (node, lost) = match &fault.action {
            FaultAction::CrashNode(node) => (node, true),
            FaultAction::ReturnNode(node) => (node, false),
            other => panic!("{other:?}"),
        };
        outage.insert(node.name.clone().unwrap_or_default(), lost);
    }
    let lost = |host: usize| outage.get(&format!("n-{host:04}")) == Some(&true);
    (0..64).map(|cube| !(0..16).any(|host| lost(16 * cube + host))).collect()
}

/// 6.5: with G complete cubes, a reconfigurable fabric has goodput E[floor(G/k)] k/n, and fixed wiring has q^k
/// floor(n/k) k/n.
#[test]
fn available_slices_agree_with_the_binomial_formula() {
    for (availability, rows) in [
        (0.99, [(1, 0.8515, 0.8515), (4, 0.8280, 0.5256), (8, 0.7957, 0.2763), (48, 0.7420, 0.0003)]),
        (0.999, [(1, 0.9841, 0.9841), (16, 0.8397, 0.7740), (32, 0.6795, 0.5991), (48, 0.7500, 0.3478)]),
    ] {
        let scenario = cubes(availability);
        let all: Vec<Vec<bool>> = (0..200).map(|i| complete_cubes(&scenario, i)).collect();
        for (k, reconfigurable, fixed) in rows {
            let free = |cubes: &Vec<bool>| {
                let good = cubes.iter().filter(|full| **full).count();
                (good / k * k) as f64 / 64.0
            };
            let wired = |cubes: &Vec<bool>| {
                let complete = |part: &&[bool]| part.len() == k && part.iter().all(|full| *full);
                (cubes.chunks(k).filter(complete).count() * k) as f64 / 64.0
            };
            assert_mean(&format!("reconfigurable {availability} {k}"), all.iter().map(free), reconfigurable);
            assert_mean(&format!("fixed {availability} {k}"), all.iter().map(wired), fixed);
        }
    }
}

/// Asserts that the sample mean is within three standard errors plus the rounding of the reference.
fn assert_mean(what: &str, samples: impl Iterator<Item = f64>, expected: f64) {
    let all: Vec<f64> = samples.collect();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    // If almost no samples differ, the error is at least the contribution of one differing sample.
    let error = 3.0 * (variance / n).sqrt().max(0.25 / n) + 5e-5;
    assert!((mean - expected).abs() < error, "{what}: {mean} ± {error}, expected {expected}");
}
