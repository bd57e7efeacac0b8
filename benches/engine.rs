//! Measures the wall time of the event queue and of complete restarts. Simulated time is not measured.

#[path = "budget/workload.rs"]
mod workload;

use criterion::{Criterion, criterion_group, criterion_main};
use sim_analysis::experiment::{ExperimentRunner, ExperimentSubject, NodesExperiment, ReplicationLimits};
use sim_engine::SimulationInput;
use sim_engine::record::DiscardSink;
use sim_inputs::{LoadedScenario, SourceText, read_topology};
use std::time::Duration;
use workload::{filled_queue, hold, restart_time, root};

/// Loads a scenario by its path from the project's root.
fn load(name: &str, sets: &[(&str, &str)]) -> LoadedScenario {
    workload::load(name, sets).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the total wall time of `runs` restarts, without the initial creation.
fn restart_times(sim: &mut SimulationInput, runs: u64) -> Duration {
    let one = |_| restart_time(sim).expect("a restart");
    (0..runs).map(one).sum()
}

fn bench_event_queue(c: &mut Criterion) {
    for pending in [5_000u32, 100_000] {
        let mut queue = filled_queue(pending);
        c.bench_function(&format!("event queue, hold, {pending} pending, 100,000 operations"), |b| {
            b.iter(|| hold(&mut queue, 100_000));
        });
    }
}

fn bench_restarts(c: &mut Criterion) {
    let mut group = c.benchmark_group("restart, engine only");
    group.sample_size(10);
    for (label, file) in [
        ("5,000 nodes, Recreate", "scenarios/restart-5000-recreate.yaml"),
        ("5,000 nodes, BlockingRecreate", "scenarios/restart-5000-blocking-recreate.yaml"),
        ("5,000 nodes, InPlaceRestart", "scenarios/restart-5000-in-place.yaml"),
    ] {
        let mut sim = SimulationInput::new(&load(file, &[]).scenario).unwrap_or_else(|e| panic!("{e:?}"));
        group.bench_function(label, |b| b.iter_custom(|runs| restart_times(&mut sim, runs)));
    }
    let big = load(
        "scenarios/restart-5000-recreate.yaml",
        &[("topology", "../topologies/tpu-65k.yaml"), ("jobSets.0.set.5", "spec.replicatedJobs[0].replicas=65")],
    );
    let mut sim = SimulationInput::new(&big.scenario).unwrap_or_else(|e| panic!("{e:?}"));
    group.bench_function("65,000 nodes, Recreate", |b| b.iter_custom(|runs| restart_times(&mut sim, runs)));
    group.finish();
}

fn bench_complete_run(c: &mut Criterion) {
    let mut sim = SimulationInput::new(&load("scenarios/restart-5000-recreate.yaml", &[]).scenario)
        .unwrap_or_else(|e| panic!("{e:?}"));
    let events = sim.run(42, 0, &mut DiscardSink).events;
    c.bench_function(&format!("creation and Recreate restart of 5,000 pods, {events} events"), |b| {
        b.iter(|| sim.run(42, 0, &mut DiscardSink).digest);
    });
}

/// Measures 54 days at pod level. The same run as a Fleet is scenarios/published/llama3-405b.yaml.
fn bench_54_days(c: &mut Criterion) {
    let scenario = load("benches/llama3-54-days.yaml", &[]).scenario;
    let mut player = ExperimentRunner::new(&scenario).unwrap_or_else(|e| panic!("{e:?}"));
    let restarts = player.simulation(42, 0).run(42, 0, &mut DiscardSink).jobsets[0].restarts;
    let mut group = c.benchmark_group("with every pod");
    group.sample_size(10);
    let label = format!("54 days of 2,048 nodes, {restarts} restarts");
    group.bench_function(label, |b| {
        b.iter(|| player.simulation(42, 0).run(42, 0, &mut DiscardSink).digest);
    });
    group.finish();
}

/// Measures the same run at level `nodes`, including the data kept for each replication.
fn bench_level_nodes(c: &mut Criterion) {
    let one = [
        ("jobSets.0.restartStrategy", "BlockingRecreate"),
        ("spec.replicatedJobs[0].replicas", "1"),
        ("spec.replicatedJobs[0].template.spec.parallelism", "2048"),
        ("spec.replicatedJobs[0].template.spec.completions", "2048"),
    ];
    let scenario = load("benches/llama3-54-days.yaml", &one).scenario;
    let nodes = NodesExperiment::new(&scenario).unwrap_or_else(|e| panic!("{e}"));
    let subject = ExperimentSubject::Nodes(nodes);
    let mut player = subject.player().unwrap_or_else(|e| panic!("{e:?}"));
    let limits = ReplicationLimits::unlimited();
    let mut i = 0;
    c.bench_function("54 days of 2,048 nodes, level nodes", |b| {
        b.iter(|| {
            i += 1;
            player.simulate((42, i), &limits)
        });
    });
}

fn bench_reading(c: &mut Criterion) {
    c.bench_function("reading a scenario, a manifest and a 5,000-node topology, up to the first event", |b| {
        b.iter(|| {
            SimulationInput::new(&load("scenarios/restart-5000-recreate.yaml", &[]).scenario).map(|s| s.node_count())
        });
    });
    let file = "topologies/tpu-5000.yaml";
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    let source = SourceText { file: file.to_owned(), text };
    c.bench_function("reading a 5,000-node topology", |b| b.iter(|| read_topology(&source).map(|t| t.nodes()).ok()));
}

criterion_group!(
    benches, bench_event_queue, bench_restarts, bench_complete_run, bench_54_days, bench_level_nodes, bench_reading
);
criterion_main!(benches);
