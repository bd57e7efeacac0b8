//! Traps about capacity compared with runs: on random small clusters, exclusive Jobs that restart once are permanently
//! blocked exactly if a trap says that they do not fit.

use super::notation;
use crate::support;
use serde_json::json;
use sim_engine::record::{DiscardSink, EndReason};
use sim_lint::FindingKind;

/// Traps that mean that not all Jobs fit at the same time, or that a Job fits nowhere.
const BLOCKING: [&str; 3] = ["domains-fewer-than-jobs", "domain-too-small", "pods-stay-pending"];

/// The pools of a cluster as (racks, nodes per rack), and the Jobs with their pods.
struct Draw {
    pools: Vec<(u64, u64)>,
    jobs: u64,
    pods: u64,
}

impl Draw {
    /// Reads the digits of a number as a mixed-radix number, so that all combinations are enumerated.
    fn new(mut number: u64) -> Draw {
        let mut digit = |radix: u64| {
            let value = number % radix;
            number /= radix;
            value
        };
        let mut pools = vec![(1 + digit(3), 1 + digit(3))];
        pools.extend([(digit(3), 1 + digit(3))].into_iter().filter(|(racks, _)| *racks > 0));
        Draw { pools, jobs: 1 + digit(4), pods: 1 + digit(3) }
    }

    fn pools(&self) -> serde_json::Value {
        let pool = |(at, (racks, nodes)): (usize, &(u64, u64))| {
            json!({
                "name": format!("p{at}"), "count": racks, "nodesPerIsland": nodes, "allocatable": {"cpu": 1},
                "labels": {"rack": format!("p{at}-{{pool}}")},
            })
        };
        self.pools.iter().enumerate().map(pool).collect()
    }

    fn jobset(&self) -> serde_json::Value {
        notation::jobset(&json!({
            "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"},
            "spec": {"failurePolicy": {"maxRestarts": 1}},
            "rjs": [{
                "name": "w", "replicas": self.jobs, "job": {"parallelism": self.pods, "completions": self.pods},
                "pod": {"restartPolicy": "Never"}, "container": {"resources": {"requests": {"cpu": 1}}},
            }],
        }))
    }

    fn is_reported(&self) -> bool {
        let report = notation::on_topology(&self.jobset(), &self.pools());
        report.findings.iter().any(|f| f.kind == FindingKind::Trap && BLOCKING.contains(&f.name))
    }

    fn is_stuck(&self, seed: u64) -> bool {
        let scenario = json!({
            "apiVersion": "jobset-sim/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"},
            "topology": {
                "apiVersion": "jobset-sim/v1alpha1", "kind": "Topology", "metadata": {"name": "t"},
                "pools": self.pools(),
            },
            "jobSets": [{"manifest": "jobset.yaml"}],
            "faults": [{"at": "20s", "containerExit": {"pod": "js-w-0-0", "exitCode": 1}}],
            "stop": {"at": "1h"}, "seed": seed,
        });
        let mut scenario = support::parse(&scenario.to_string(), &self.jobset().to_string()).expect("a scenario");
        scenario.admit_unplaceable = true;
        let mut simulation = support::simulation(&scenario);
        let outcome = simulation.run(seed, 0, &mut DiscardSink);
        outcome.end_reason == EndReason::Stuck
    }
}

#[test]
fn exclusive_jobs_are_blocked_exactly_if_a_trap_says_so() {
    let (mut reported, mut free) = (0_u64, 0_u64);
    // Every fifth or every tenth one of 972; the first digits have an odd number of values, so all values of all digits
    // are drawn.
    for number in (0..3 * 3 * 3 * 3 * 4 * 3).step_by(if support::runs_long_tests() { 5 } else { 10 }) {
        let draw = Draw::new(number);
        // Racks of different sizes: whether a leader finds a large one depends on the order of the search.
        let large = draw.pools.iter().filter(|(_, nodes)| *nodes >= draw.pods);
        let is_a_gamble = large.clone().count() > 0 && large.count() < draw.pools.len();
        if is_a_gamble {
            continue;
        }
        let is_reported = draw.is_reported();
        assert_eq!(draw.is_stuck(number), is_reported, "{:?}, {} Jobs of {} pods", draw.pools, draw.jobs, draw.pods);
        *(if is_reported { &mut reported } else { &mut free }) += 1;
    }
    let least = support::cases(10, 20);
    assert!(reported > least && free > least, "{reported} reported, {free} not");
}
