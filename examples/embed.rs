//! An example of embedding the simulator: which restart strategy restores the pods sooner?
//!
//! Run it with `cargo run --release --example embed`. It uses only the public API shown by `cargo doc`.

use jobset_sim::{
    Body, Duration, Fault, JobSet, MeanEstimate, Pool, Replications, Scenario, Simulation, SimulationError,
    SimulationOutcome, StopFlag, StopWhen, Topology,
};
use std::ops::ControlFlow;

const POOL_LABEL: &str = "cloud.google.com/gke-nodepool";

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    for strategy in ["Recreate", "BlockingRecreate"] {
        let scenario = scenario(strategy)?;
        println!("{strategy}: {} pods on {} nodes", scenario.pods(), scenario.nodes());

        // Run one simulation and print its restarts.
        let outcome = Simulation::new(&scenario)?.run(scenario.seed(), 0);
        print!("{}", describe_restarts(&outcome));

        // Estimate the latency from ten replications on all cores.
        let estimate = latency(&scenario, 10)?;
        let [low, high] = estimate.ci95;
        println!("  {:.2} s on average (95 %: {low:.2} to {high:.2} s)", estimate.mean);
    }

    // Observe the records, and end the run as soon as the question is answered.
    let (lines, outcome) = records_until_ready(&scenario("Recreate")?)?;
    println!("{} records, then {}:", lines.len(), outcome.end_reason().as_str());
    println!("  {}", lines.last().map_or("", String::as_str));

    // Stop a run from another thread.
    let events = events_before_external_stop(&scenario("Recreate")?)?;
    println!("stopped after {events} events");

    // Report errors with their positions.
    if let Err(error) = Scenario::builder("bad").jobset(JobSet::from_yaml("train.yaml", INVALID_MANIFEST)).build() {
        for one in error.diagnostics() {
            println!("{}:{}:{}: {}", one.file, one.line, one.column, one.message);
        }
    }
    Ok(())
}

pub const INVALID_MANIFEST: &str = "apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: workers
    replicaz: 4
";

/// Returns a scenario with four Jobs, each alone in a node pool. One worker fails a minute after all are ready.
pub fn scenario(strategy: &str) -> Result<Scenario, SimulationError> {
    let nodes = Pool::new("tpu-{node}", 8)
        .count(5)
        .allocatable("google.com/tpu", "4")
        .accelerator("google.com/tpu")
        .label(POOL_LABEL, "pool-{pool}");
    let train = JobSet::new("train")
        .replicated_job("workers", 4, 8)
        .limit("google.com/tpu", "4")
        .exclusive_topology(POOL_LABEL)
        .max_restarts(3)
        .restart_strategy(strategy);
    Scenario::builder("embedded")
        .topology(Topology::new("five-pools").pool(nodes))
        .preset("stock")
        .jobset(train)
        .run_for(Duration::from_secs(600))
        .fault(Fault::container_exit("train-workers-2-5", 1).after_ready(Duration::from_secs(60)))
        .stop_when(StopWhen::AllJobSetsFinished)
        .build()
}

/// Describes the restarts of a run and their phases.
pub fn describe_restarts(outcome: &SimulationOutcome) -> String {
    let mut text = String::new();
    for restart in outcome.restarts() {
        let pods = restart.pods();
        text += &format!("  {}: {pods} pods restarted\n", restart.cause());
        for piece in restart.pieces().iter().filter(|p| p.takes >= Duration::from_millis(100)) {
            let waited_for = piece.waited_for.as_deref().unwrap_or("no single cause");
            text += &format!("    {:>6.2} s  {}: {waited_for}\n", piece.takes.seconds(), piece.what);
        }
    }
    for jobset in &outcome.summary().job_sets {
        let state = jobset.terminal_state;
        text += &format!("  {} is {state} after {} restarts\n", jobset.name, jobset.restarts);
    }
    text
}

/// Estimates the latency of the first restart from `n` replications.
pub fn latency(scenario: &Scenario, n: u64) -> Result<MeanEstimate, SimulationError> {
    let seconds = Replications::new(scenario, scenario.seed(), n).run(|outcome| {
        let first = outcome.restarts().next().and_then(|r| r.latency());
        first.map(Duration::seconds)
    })?;
    let seconds: Vec<f64> = seconds.into_iter().flatten().collect();
    Ok(MeanEstimate::from_values(seconds).expect("every replication has a restart"))
}

/// Returns all records, as lines of JSON, up to the one at which all pods are ready again.
pub fn records_until_ready(scenario: &Scenario) -> Result<(Vec<String>, SimulationOutcome), SimulationError> {
    let (mut lines, mut ready) = (Vec::new(), 0);
    let mut simulation = Simulation::new(scenario)?;
    let outcome = simulation.observe(scenario.seed(), 0, |record| {
        lines.push(record.to_json());
        if let Body::AllReady { ready: true, .. } = record.body() {
            ready += 1;
        }
        match ready {
            2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    Ok((lines, outcome))
}

/// Returns the number of events that a run had processed when another thread stopped it.
pub fn events_before_external_stop(scenario: &Scenario) -> Result<u64, SimulationError> {
    let mut simulation = Simulation::new(scenario)?;
    let flag: StopFlag = simulation.stop_flag();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        // A real program would wait here for a user, a deadline or a signal.
        let _ = has_begun.recv();
        flag.raise();
    });
    let outcome = simulation.observe(1, 0, |_| {
        let _ = begun.send(());
        ControlFlow::Continue(())
    });
    drop(begun);
    let _ = other.join();
    Ok(outcome.events())
}
