//! Tickets: chains of waits without gaps in every scenario. Collecting them does not change results.

use crate::support;
use sim_analysis::metrics::RestartFold;
use sim_base::{Duration, SimTime};
use sim_engine::record::*;
use std::collections::BTreeMap;

/// A sink that keeps every ticket and compares it with its parent.
#[derive(Default)]
struct Chains {
    ends: Vec<SimTime>,
    tickets: Vec<WorkTicket>,
    /// Records that were written at another time than the end of their ticket.
    astray: Vec<(SimulationRecord, SimTime)>,
}

impl RecordSink for Chains {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if record.ticket != NO_TICKET {
            let end = self.ends[record.ticket as usize];
            if end != record.at {
                self.astray.push((*record, end));
            }
        }
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        assert_eq!(ticket.id as usize, self.ends.len(), "ids ascend without gaps");
        assert!(ticket.from <= ticket.granted && ticket.granted <= ticket.to, "{ticket:?}");
        if ticket.parent != NO_TICKET {
            let end = self.ends[ticket.parent as usize];
            assert_eq!(end, ticket.from, "a gap before {ticket:?}");
        }
        self.ends.push(ticket.to);
        self.tickets.push(*ticket);
    }
}

#[test]
fn no_chain_of_tickets_has_a_gap() {
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if !support::is_tried(&scenario) {
            continue;
        }
        let mut chains = Chains::default();
        support::simulation(&scenario).run(scenario.seed, 0, &mut chains);
        assert!(!chains.tickets.is_empty(), "{name} has no tickets");
        let first = chains.astray.first();
        assert!(first.is_none(), "{name}: {} records at the wrong time: {first:?}", chains.astray.len());
    }
}

#[test]
fn a_restarts_path_adds_up_to_the_restart_in_every_scenario() {
    let mut seen = 0;
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if !support::is_tried(&scenario) {
            continue;
        }
        let mut fold = RestartFold::new(&scenario);
        let mut simulation = support::simulation(&scenario);
        let outcome = simulation.run(scenario.seed, 0, &mut fold);
        for restart in fold.finish(&outcome, simulation.names()) {
            let sum: u64 = restart.path.steps.iter().map(|s| s.duration().0).sum();
            assert_eq!(Duration(sum), restart.total(), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} restarts are too few");
}

#[test]
fn asking_for_tickets_changes_nothing() {
    for name in ["first-steps", "regime-grace-bound", "regime-dead-node-bound"] {
        let scenario = support::scenario(name, &[]);
        let mut simulation = support::simulation(&scenario);
        let without = simulation.run(scenario.seed, 0, &mut DiscardSink).digest;
        let with = simulation.run(scenario.seed, 0, &mut Chains::default()).digest;
        assert_eq!(without, with, "{name}");
    }
}

#[test]
fn every_kind_of_request_of_a_restart_has_tickets() {
    let scenario = support::scenario("restart-5000-recreate", &[]);
    let mut chains = Chains::default();
    support::simulation(&scenario).run(scenario.seed, 0, &mut chains);
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    for ticket in &chains.tickets {
        if let TicketWait::Request(call) = ticket.wait {
            *requests.entry(call.text()).or_default() += 1;
        }
    }
    for (call, at_least) in [
        ("job-controller create pods", 10_000),
        ("generic-garbage-collector delete pods", 4_000),
        ("kube-scheduler create pods/binding", 10_000),
        ("jobset create jobs", 2),
    ] {
        let n = requests.get(call).copied().unwrap_or(0);
        assert!(n >= at_least, "{call}: {n} of {requests:?}");
    }
}
