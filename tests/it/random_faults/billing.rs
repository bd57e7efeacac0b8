//! Billing of machines: reserved ones always, on-demand ones while they exist.

use crate::support;
use sim_api::spec::{MachineBilling, ScenarioSpec};
use sim_engine::record::{DiscardSink, TimeLedger};
use sim_reliability::faults::draw_faults;

const HOUR_NS: u128 = 3_600_000_000_000;

/// Ten nodes with four accelerators at 1 per hour. One fails after 1 h, is deleted after 2 h and replaced after 3 h.
fn priced(pool: &str) -> ScenarioSpec {
    let nodes = "allocatable: {cpu: 8, a.com/chip: 4}\n    accelerator: a.com/chip\n    pricePerNodeHour: 4";
    let faults = "faults:\n- {at: 1h, crashNode: {node: n-009}}\n- {at: 2h, deleteNode: {node: n-009}}\n\
                  - {at: 3h, newNode: {node: n-009}}\n";
    let text = super::text(10, "5h, when: Time", faults);
    let text = text.replace("allocatable: {cpu: 8}", &format!("{nodes}\n    {pool}"));
    support::parse(&text, super::JOBSET).unwrap_or_else(|e| panic!("{e}"))
}

fn ledger(scenario: &ScenarioSpec, replication: u64) -> TimeLedger {
    let drawn = draw_faults(scenario, scenario.seed, replication);
    support::simulation(&drawn).run(scenario.seed, replication, &mut DiscardSink).ledger
}

#[test]
fn an_on_demand_machine_costs_nothing_between_its_deletion_and_its_replacement() {
    let spot = "labels: {cloud.google.com/gke-spot: \"true\", example.com/x: z}";
    for (pool, cost, not_billed_h) in
        [("billing: reserved", 200, 0), ("billing: onDemand", 196, 4), ("features: []", 200, 0)]
    {
        let ledger = ledger(&priced(pool), 0);
        assert_eq!(ledger.cost_micros.iter().sum::<u128>(), cost * 1_000_000, "{pool}");
        assert_eq!(ledger.not_billed_ns, not_billed_h * HOUR_NS, "{pool}");
        assert_eq!(ledger.accelerator_ns.iter().sum::<u128>(), 200 * HOUR_NS, "{pool}");
    }
    let text = super::text(10, "5h", "").replace("labels: {example.com/rack: all}", spot);
    let spot = support::parse(&text, super::JOBSET).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(spot.topology.pools[0].billing, MachineBilling::OnDemand, "machines with a spot label");
}

#[test]
fn reclaimed_machines_and_cold_spares_cost_nothing_and_the_ledger_still_closes() {
    let scenario = support::scenario("spot-spares-repair", &[("stop.at", "2d")]);
    let hot = support::scenario("spot-spares-repair", &[("stop.at", "2d"), ("nodeSpares.takeOver", "0s")]);
    let price = 1_680_000;
    for replication in 0..6 {
        let [cold, hot] = [&scenario, &hot].map(|scenario| ledger(scenario, replication));
        for ledger in [&cold, &hot] {
            let installed: u128 = ledger.accelerator_ns.iter().sum();
            let cost: u128 = ledger.cost_micros.iter().sum();
            let all = (installed - ledger.not_billed_ns) * price / HOUR_NS;
            assert!(cost <= all && all - cost <= 16, "replication {replication}: {cost} of {all}");
        }
        assert!(cold.not_billed_ns > hot.not_billed_ns, "replication {replication}: an idle cold spare is free");
    }
}
