//! What takes very long is not stuck.

use super::{POD, scenario, workers};
use crate::support;
use jobset_sim::record::Discard;

/// The cache of the pod webhook learns of the leader without an event, and nothing else happens until then; and a
/// slow answer tells what the webhook knew long before.
#[test]
fn a_follower_that_waits_for_a_slow_cache_or_a_slow_answer_is_not_stuck() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let timings = [
        "watchLag: {uniform: [1s, 1h]}",
        "watchLag: {uniform: [1s, 1m]}, apiPodCreate: {logNormal: {p50: 1s, p95: 30m}}",
    ];
    for timing in timings {
        let scenario = scenario(
            2,
            "0s",
            &format!("timing: {{{timing}}}\nstop: {{at: 30d}}"),
            &format!(
                "  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}\nspec:\n  \
                 replicatedJobs:\n{jobs}"
            ),
        );
        let mut simulation = support::simulation(&scenario);
        for seed in 0..100 {
            let outcome = simulation.run(seed, 0, &mut Discard);
            assert_eq!(outcome.stuck, Vec::<String>::new(), "seed {seed}, {timing}");
            assert_eq!(outcome.jobsets[0].jobs[0].ready, 2, "seed {seed}, {timing}");
        }
    }
}
