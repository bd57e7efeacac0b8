//! A run that is halted and then continued with the rest of its script equals the uninterrupted run.

use crate::support;
use sim_api::spec::{FaultTime, ScenarioSpec, ScriptedFault, StopWhen};
use sim_base::{Duration, SimTime};
use sim_engine::record::{KeepSink, RunOutcome, SimulationRecord};
use sim_engine::{SimulationInput, SnapshotOutcome};

/// Splits a scenario: without the actions that its script performs at given times, and these actions in order of
/// time. The scenario then ends only by its time limit.
fn without_script(mut scenario: ScenarioSpec) -> (ScenarioSpec, Vec<(Duration, ScriptedFault)>) {
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

fn outcome_text(outcome: &RunOutcome, records: &[SimulationRecord]) -> String {
    format!("{outcome:?}\n{records:?}")
}

fn uninterrupted_run(scenario: &ScenarioSpec, script: &[(Duration, ScriptedFault)]) -> String {
    let mut scenario = scenario.clone();
    let timed = script.iter().map(|(_, fault)| fault.clone());
    scenario.faults.extend(timed);
    let mut records = KeepSink::default();
    let mut simulation = SimulationInput::new(&scenario).expect("the scenario can run");
    let outcome = simulation.run(scenario.seed, 0, &mut records);
    outcome_text(&outcome, &records.0)
}

/// Halts a run before each scripted action, shortly after it, and at regular intervals. Returns the result of
/// continuing from each of these points.
fn resumed_runs(scenario: &ScenarioSpec, script: &[(Duration, ScriptedFault)]) -> Vec<String> {
    let begun = script.iter().map(|(at, _)| *at);
    let mut halts: Vec<Duration> = begun
        .flat_map(|at| [at, at + Duration::from_millis(700)])
        .chain((0..=9).map(|tenth| Duration(scenario.stop.at.0 / 9 * tenth)))
        .filter(|at| *at <= scenario.stop.at)
        .collect();
    halts.sort_unstable();
    halts.dedup();
    let mut records = KeepSink::default();
    let simulation = SimulationInput::new(scenario).expect("the scenario can run");
    let mut halted = SnapshotOutcome::start(simulation, (scenario.seed, 0), &mut records);
    let (mut ends, mut told_of) = (Vec::new(), 0);
    let faults = |from: usize, to: usize| script[from..to].iter().map(|(_, fault)| fault.clone());
    for halt in halts {
        let next = script.partition_point(|(at, _)| *at < halt);
        halted.extend_script(faults(told_of, next), &mut records);
        told_of = next;
        assert!(halted.run_until(SimTime::ZERO + halt, &mut records));
        let (mut alone, mut of_it) = (halted.clone(), KeepSink(records.0.clone()));
        alone.extend_script(faults(told_of, script.len()), &mut of_it);
        let outcome = alone.finish(scenario.stop.at, &mut of_it);
        ends.push(outcome_text(&outcome, &of_it.0));
    }
    ends
}

#[test]
fn run_resumed_at_any_time_equals_the_uninterrupted_run() {
    let mut halts = 0;
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if support::simulation(&scenario).pod_count() > 300 {
            continue;
        }
        let drawn = sim_reliability::faults::draw_faults(&scenario, scenario.seed, 0);
        if !drawn.clocks.is_empty() {
            continue;
        }
        let (scenario, mut script) = without_script(drawn);
        script.truncate(40);
        let complete = uninterrupted_run(&scenario, &script);
        for (nth, halted) in resumed_runs(&scenario, &script).iter().enumerate() {
            assert!(*halted == complete, "{name}: continued from halt {nth}");
            halts += 1;
        }
    }
    assert!(halts > 100, "only {halts}");
}
