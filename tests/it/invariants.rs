//! Small scenarios with the engine's consistency check after every event and the independent checker on every
//! record.

use crate::checker::Checker;
use crate::support;
use sim_api::spec::ScenarioSpec;

fn check(scenario: &ScenarioSpec) {
    let mut simulation = support::simulation(scenario);
    simulation.set_paranoid(true);
    for replication in 0..3 {
        let mut checker = Checker::new(scenario);
        let outcome = simulation.run(scenario.seed, replication, &mut checker);
        assert!(checker.is_ended(), "{}", scenario.name);
        assert_eq!(outcome.records as usize, checker.records.len());
        let sum: u128 = outcome.ledger.accelerator_ns.iter().sum();
        let installed = u128::from(outcome.ledger.accelerators) * u128::from(outcome.end.0);
        assert_eq!(sum, installed, "{}: the ledger does not add up", scenario.name);
    }
}

#[test]
fn shipped_scenarios_of_less_than_300_pods_keep_every_invariant() {
    let mut checked = 0;
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if support::simulation(&scenario).pod_count() < 300 {
            check(&scenario);
            checked += 1;
        }
    }
    assert!(checked >= 6, "only {checked} small scenarios");
}

#[test]
fn first_steps_keeps_every_invariant_with_every_strategy_preset_and_version() {
    for strategy in ["Recreate", "BlockingRecreate"] {
        for preset in ["stock", "scale-test", "kops"] {
            for version in ["1.30", "1.31", "1.36"] {
                check(&support::scenario(
                    "first-steps",
                    &[
                        ("jobSets[0].restartStrategy", strategy),
                        ("controlPlane.preset", preset),
                        ("controlPlane.kubernetes", &format!("\"{version}\"")),
                    ],
                ));
            }
        }
    }
}

#[test]
fn a_restart_of_200_exclusive_pods_keeps_every_invariant() {
    let sets = [("topology.pools[0].count", "20"), ("jobSets[0].set[0]", "spec.replicatedJobs[0].replicas=20")];
    check(&support::scenario("regime-algorithm-bound", &sets));
}
