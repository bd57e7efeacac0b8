//! Rare-event probabilities of scenarios with pods at level `nodes`, against a closed form and Monte Carlo
//! estimates.

use crate::support;
use sim_analysis::experiment::{NodesExperiment, ReplicationLimits};
use sim_analysis::planning::rare::{RareEventSearch, RareQuestion, of_nodes};
use sim_base::random::MixtureDistribution;
use sim_base::stats::{poisson_sf, proportion_interval};
use sim_surrogate::fleet::SplitExcess;

/// Returns a scenario of four nodes and a JobSet of four pods for twenty days, without a restart limit.
fn scenario(faults: &str) -> NodesExperiment {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: rare}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  currency: USD\n  pools:\n  - {{name: \
         \"n-{{node}}\", nodesPerIsland: 4, accelerator: a.com/chip, pricePerNodeHour: 1, allocatable: {{cpu: 8, \
         a.com/chip: 1}}}}\njobSets: [{{manifest: jobset.yaml}}]\ntraining: {{step: 6s, checkpoint: {{every: 2h, blocking: \
         600ms, restore: 3m}}, initialization: 2m}}\nfaultProcesses:\n{faults}\nstop: {{at: 20d, when: Time}}\n"
    );
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train}\nspec:\n  failurePolicy: \
         {maxRestarts: 100000}\n  replicatedJobs:\n  - name: w\n    template: {spec: {parallelism: 4, completions: 4, \
         backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: w, image: x, resources: {limits: \
         {a.com/chip: 1}}}]}}}}\n";
    let scenario = support::parse(&scenario, jobset).unwrap_or_else(|e| panic!("{e}"));
    NodesExperiment::new(&scenario).unwrap_or_else(|why| panic!("{why}"))
}

fn rare(of: &NodesExperiment, excess: SplitExcess, limit: u64, (runs, batches): (u32, u64)) -> RareEventSearch {
    let question = RareQuestion { excess, limit, runs, batches };
    let result = of_nodes((of, 11), &question, (0, &ReplicationLimits::unlimited()), &|_| ());
    result.unwrap().expect("the run was not stopped")
}

/// Asserts agreement within three standard errors; the 95 % interval spans about two on each side.
#[track_caller]
fn assert_in_range(what: &str, actual: &RareEventSearch, [low, high]: [f64; 2]) {
    let [low_limit, high_limit] = actual.ci95.expect("a run reached the limit");
    let half = 1.5 * 0.5 * (high_limit - low_limit);
    assert!(actual.chance - half < high && low < actual.chance + half, "{what}: {actual:?}, expected {low} to {high}");
    assert!(half < actual.chance, "{what}: {actual:?} the interval is too wide");
}

#[test]
fn one_in_a_million_budget_exhaustion_agrees_with_poisson() {
    // `closed_forms` has a case that takes less time.
    if !support::runs_long_tests() {
        return;
    }
    // Processes exit by themselves, on average once in twenty days for all four, and recover within a minute.
    let of = scenario("- {cause: software, on: Pod, mtbf: 80d, exitCode: 1}");
    let result = rare(&of, SplitExcess::Restarts, 9, (120, 12));
    let exact = poisson_sf(8, 1.0);
    assert_in_range("restarts", &result, [exact, exact]);
    assert!(result.whole_runs && result.by_counting > Some(1e5), "{result:?}");
}

#[test]
fn resampling_equals_counting_for_weibull_lifetimes() {
    // Weibull lifetimes with shape 2 rarely end early. A failed node blocks the JobSet, sometimes for a long time.
    let of = scenario(
        "- {cause: host, mtbf: 35d, distribution: {weibull: {shape: 2}}, asNew: true, deletedAfter: 10m, backAfter: \
         {logNormal: {median: 6h, sigma: 1}}}",
    );
    let kinds = [(SplitExcess::Restarts, 4, 60), (SplitExcess::LostTime, 3 * 86_400_000_000_000, 160)];
    for (excess, limit, runs) in kinds.into_iter().take(support::cases(1, 2) as usize) {
        let result = rare(&of, excess, limit, (runs, 12));
        let n = 4_000;
        let mut player = of.player();
        let over = |i: &u64| {
            let numbers = MixtureDistribution::single(*i);
            let outcome = player.run_until(2, numbers, &|_| false).expect("the run is never stopped");
            let training = of.replication(&outcome, *i).jobsets[0].training.clone();
            match excess {
                SplitExcess::Restarts => u64::from(outcome.jobsets[0].budget_used) >= limit,
                // The lost share of the time from submission to the end, from the effective training time ratio.
                SplitExcess::LostTime => {
                    let training = training.expect("the JobSet trains");
                    let wall = outcome.jobsets[0].training.end.since(outcome.jobsets[0].training.submitted);
                    let lost = wall.seconds() * (1.0 - training.ettr.unwrap_or(0.0));
                    lost * 1e9 >= limit as f64
                }
            }
        };
        let k = (0..n).filter(over).count();
        let share = k as f64 / n as f64;
        assert!((5e-4..2e-2).contains(&share), "{excess:?}: {k} of {n}");
        assert_in_range("counted", &result, proportion_interval(k, n as usize, 0.999));
    }
}
