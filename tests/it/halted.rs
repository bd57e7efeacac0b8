//! A run that is halted and then continued with the rest of its script equals the uninterrupted run.

use crate::support;
use sim_api::spec::{FaultTime, Scenario, ScriptedFault, StopWhen};
use sim_base::{Duration, Time};
use sim_engine::record::{Keep, Record, RunOutcome};
use sim_engine::{Halted, Simulation};

/// Splits a scenario: without the actions that its script performs at given times, and these actions in order of
/// time. The scenario then ends only by its time limit.
fn parts(mut scenario: Scenario) -> (Scenario, Vec<(Duration, ScriptedFault)>) {
    scenario.stop.when = StopWhen::Time;
    scenario.stop.at = scenario.stop.at.min(Duration::from_secs(7200));
    let (mut timed, mut others) = (Vec::new(), Vec::new());
    for fault in std::mem::take(&mut scenario.faults) {
        match fault.at {
            FaultTime::At(at) => timed.push((at, fault)),
            _ => others.push(fault),
        }
    }
    timed.sort_by_key(|(at, _)| *at);
    scenario.faults = others;
    (scenario, timed)
}

fn told(outcome: &RunOutcome, records: &[Record]) -> String {
    format!("{outcome:?}\n{records:?}")
}

fn whole(scenario: &Scenario, script: &[(Duration, ScriptedFault)]) -> String {
    let mut scenario = scenario.clone();
    let timed = script.iter().map(|(_, fault)| fault.clone());
    scenario.faults.extend(timed);
    let mut records = Keep::default();
    let mut simulation = Simulation::new(&scenario).expect("it can be run");
    let outcome = simulation.run(scenario.seed, 0, &mut records);
    told(&outcome, &records.0)
}

/// Halts a run before each scripted action, shortly after it, and at regular intervals. Returns the result of
/// continuing from each of these points.
fn in_pieces(scenario: &Scenario, script: &[(Duration, ScriptedFault)]) -> Vec<String> {
    let begun = script.iter().map(|(at, _)| *at);
    let mut halts: Vec<Duration> = begun
        .flat_map(|at| [at, at + Duration::from_millis(700)])
        .chain((0..=9).map(|tenth| Duration(scenario.stop.at.0 / 9 * tenth)))
        .filter(|at| *at <= scenario.stop.at)
        .collect();
    halts.sort_unstable();
    halts.dedup();
    let mut records = Keep::default();
    let simulation = Simulation::new(scenario).expect("it can be run");
    let mut halted = Halted::start(simulation, (scenario.seed, 0), &mut records);
    let (mut ends, mut told_of) = (Vec::new(), 0);
    let faults = |from: usize, to: usize| script[from..to].iter().map(|(_, fault)| fault.clone());
    for halt in halts {
        let next = script.partition_point(|(at, _)| *at < halt);
        halted.expect(faults(told_of, next), &mut records);
        told_of = next;
        assert!(halted.run_to(Time::ZERO + halt, &mut records));
        let (mut alone, mut of_it) = (halted.clone(), Keep(records.0.clone()));
        alone.expect(faults(told_of, script.len()), &mut of_it);
        let outcome = alone.finish(scenario.stop.at, &mut of_it);
        ends.push(told(&outcome, &of_it.0));
    }
    ends
}

#[test]
fn a_run_that_was_halted_anywhere_is_the_run_that_never_was() {
    let mut halts = 0;
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if support::simulation(&scenario).pods() > 300 {
            continue;
        }
        let drawn = sim_engine::faults::drawn(&scenario, scenario.seed, 0);
        if !drawn.clocks.is_empty() {
            continue;
        }
        let (scenario, mut script) = parts(drawn);
        script.truncate(40);
        let whole = whole(&scenario, &script);
        for (nth, halted) in in_pieces(&scenario, &script).iter().enumerate() {
            assert!(*halted == whole, "{name}: from the {nth}th instant on");
            halts += 1;
        }
    }
    assert!(halts > 100, "only {halts}");
}
