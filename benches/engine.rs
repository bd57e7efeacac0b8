//! Wall time of the event queue and of whole restarts. Simulated seconds are not measured here.

use criterion::{Criterion, criterion_group, criterion_main};
use jobset_sim::base::{JobId, Time};
use jobset_sim::engine::Simulation;
use jobset_sim::engine::event::Event;
use jobset_sim::engine::queue::EventQueue;
use jobset_sim::experiment::Player;
use jobset_sim::manifest::{LoadedScenario, Source, read_scenario, read_topology};
use jobset_sim::record::{Body, Discard, Names, Record, Sink};
use std::path::Path;
use std::time::{Duration, Instant};

/// A scenario of `scenarios/`, or one that is for a bench alone.
fn load(name: &str, sets: &[(&str, &str)]) -> LoadedScenario {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = match name.starts_with("benches/") {
        true => root.join(name),
        false => root.join("scenarios").join(name),
    };
    let sets: Vec<(String, String)> = sets
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    read_scenario(&path, &sets).unwrap_or_else(|e| panic!("{e}"))
}

/// Notes when the restart's fault fires and when all pods are ready again.
#[derive(Default)]
struct Stopwatch {
    fault: Option<Instant>,
    ready_again: Option<Instant>,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
impl Sink for Stopwatch {
    fn record(&mut self, record: &Record, _: &Names) {
        match record.body {
            Body::Fault { .. } => self.fault = Some(Instant::now()),
            Body::AllReady { ready: true, .. } if self.fault.is_some() => {
                self.ready_again = Some(Instant::now())
            }
            _ => {}
        }
    }
}

/// Time of the restart alone, without the first creation.
fn restart_time(sim: &mut Simulation, runs: u64) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..runs {
        let mut watch = Stopwatch::default();
        sim.run(42, 0, &mut watch);
        let (Some(from), Some(to)) = (watch.fault, watch.ready_again) else {
            panic!("no restart seen")
        };
        total += to - from;
    }
    total
}

/// Hold model: pop one, push one later: a quarter at once, a quarter within 1,000 ns, the rest within 2^28 ns.
fn hold(queue: &mut EventQueue, operations: u32) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut sum = 0;
    for i in 0..operations {
        let Some((at, _, _, _)) = queue.pop() else {
            return sum;
        };
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let later = match state & 3 {
            0 => 0,
            1 => state >> 32 & 1023,
            _ => state >> 32 & ((1 << 28) - 1),
        };
        queue.push(Time(at.0 + later), Event::JobDue(JobId(i)), i);
        sum ^= at.0;
    }
    sum
}

fn event_queue(c: &mut Criterion) {
    for pending in [5_000u32, 100_000] {
        let mut queue = EventQueue::default();
        for i in 0..pending {
            queue.push(
                Time(u64::from(i).wrapping_mul(2_654_435_761) & ((1 << 28) - 1)),
                Event::JobDue(JobId(i)),
                i,
            );
        }
        c.bench_function(
            &format!("event queue, hold, {pending} pending, 100,000 operations"),
            |b| {
                b.iter(|| hold(&mut queue, 100_000));
            },
        );
    }
}

fn restarts(c: &mut Criterion) {
    let mut group = c.benchmark_group("restart, engine only");
    group.sample_size(10);
    for (label, file) in [
        ("5,000 nodes, Recreate", "restart-5000-recreate.yaml"),
        (
            "5,000 nodes, BlockingRecreate",
            "restart-5000-blocking-recreate.yaml",
        ),
        ("5,000 nodes, InPlaceRestart", "restart-5000-in-place.yaml"),
    ] {
        let mut sim =
            Simulation::new(&load(file, &[]).scenario).unwrap_or_else(|e| panic!("{e:?}"));
        group.bench_function(label, |b| {
            b.iter_custom(|runs| restart_time(&mut sim, runs))
        });
    }
    let big = load(
        "restart-5000-recreate.yaml",
        &[
            ("topology", "../topologies/tpu-65k.yaml"),
            ("jobSets.0.set.5", "spec.replicatedJobs[0].replicas=65"),
        ],
    );
    let mut sim = Simulation::new(&big.scenario).unwrap_or_else(|e| panic!("{e:?}"));
    group.bench_function("65,000 nodes, Recreate", |b| {
        b.iter_custom(|runs| restart_time(&mut sim, runs))
    });
    group.finish();
}

fn whole_run(c: &mut Criterion) {
    let mut sim = Simulation::new(&load("restart-5000-recreate.yaml", &[]).scenario)
        .unwrap_or_else(|e| panic!("{e:?}"));
    let events = sim.run(42, 0, &mut Discard).events;
    c.bench_function(
        &format!("creation and Recreate restart of 5,000 pods, {events} events"),
        |b| {
            b.iter(|| sim.run(42, 0, &mut Discard).digest);
        },
    );
}

/// The same run in the collapsed model is scenarios/published/llama3-405b.yaml.
fn months(c: &mut Criterion) {
    let scenario = load("benches/llama3-54-days.yaml", &[]).scenario;
    let mut player = Player::new(&scenario).unwrap_or_else(|e| panic!("{e:?}"));
    let restarts = player.simulation(42, 0).run(42, 0, &mut Discard).jobsets[0].restarts;
    let mut group = c.benchmark_group("with every pod");
    group.sample_size(10);
    let label = format!("54 days of 2,048 nodes, {restarts} restarts");
    group.bench_function(label, |b| {
        b.iter(|| player.simulation(42, 0).run(42, 0, &mut Discard).digest);
    });
    group.finish();
}

fn reading(c: &mut Criterion) {
    c.bench_function(
        "reading scenario, manifest and 5,000-node topology, to first event",
        |b| {
            b.iter(|| {
                Simulation::new(&load("restart-5000-recreate.yaml", &[]).scenario)
                    .map(|s| s.nodes())
            });
        },
    );
    let file = "topologies/tpu-5000.yaml";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .unwrap_or_default();
    let source = Source {
        file: file.to_owned(),
        text,
    };
    c.bench_function("reading the 5,000-node topology", |b| {
        b.iter(|| read_topology(&source).map(|t| t.nodes()).ok())
    });
}

criterion_group!(benches, event_queue, restarts, whole_run, months, reading);
criterion_main!(benches);
