//! The crate as a library: the example `examples/embed.rs`, and the guarantees of the public API.

#[path = "../../examples/embed.rs"]
mod example;

use jobset_sim::{
    Duration, EndReason, Fault, JobSet, MeanEstimate, NodeRef, Pool, PrepareError, Replications, RestartOutcome,
    Scenario, Simulation, SimulationError, StopWhen, Topology, TrainingPhase,
};
use sim_engine::record::KeepSink;
use std::ops::ControlFlow;

fn lines_of(simulation: &mut Simulation, most: usize) -> (Vec<String>, EndReason) {
    let mut lines = Vec::new();
    let outcome = simulation.observe(1, 0, |record| {
        lines.push(record.to_json());
        if lines.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    (lines, outcome.end_reason())
}

fn simulation() -> Simulation {
    let scenario = example::scenario("Recreate").expect("the example's scenario is valid");
    Simulation::new(&scenario).expect("its pods can be placed")
}

fn diagnostics(built: Result<Scenario, SimulationError>) -> Vec<String> {
    let error = built.expect_err("the scenario is invalid");
    let one = |d: &jobset_sim::Diagnostic| format!("{}:{}: {}", d.file, d.line, d.message);
    error.diagnostics().iter().map(one).collect()
}

#[test]
fn the_example_runs_to_its_end_and_reports_one_restart() {
    example::main().expect("the example succeeds");
    let outcome = simulation().run(1, 0);
    let text = example::describe_restarts(&outcome);
    assert!(text.contains("32 pods restarted"), "{text}");
    assert!(text.contains("train is Completed after 1 restarts"), "{text}");
    let restarts: Vec<_> = outcome.restarts().collect();
    assert_eq!((restarts.len(), restarts[0].ending()), (1, RestartOutcome::Ready));
    let total: u64 = restarts[0].pieces().iter().map(|p| p.takes.0).sum();
    assert_eq!(Some(Duration(total)), restarts[0].latency());
    let ledger = outcome.ledger();
    let booked: u128 = ledger.accelerator_ns.iter().sum();
    assert_eq!(booked, u128::from(ledger.accelerators) * u128::from(outcome.end().0));
}

#[test]
fn a_training_job_shows_how_far_it_came() {
    let scenario = Scenario::from_file("scenarios/training.yaml").expect("a scenario");
    let outcome = Simulation::new(&scenario).expect("the scenario can run").run(1, 0);
    let [training] = outcome.training() else {
        panic!("expected exactly one training JobSet");
    };
    assert!(training.done && training.saved_steps == Some(28_800));
    assert_eq!(training.ns(TrainingPhase::Productive), Duration::from_secs(172_800).0);
    assert!(outcome.summary().job_sets[0].goodput.is_some());
}

#[test]
fn records_before_an_early_stop_are_a_prefix_of_the_complete_run() {
    let mut simulation = simulation();
    let (complete, end) = lines_of(&mut simulation, usize::MAX);
    assert_eq!(end, EndReason::AllJobSetsFinished);
    for most in [1, 2, 100, complete.len() / 2] {
        let (seen, end) = lines_of(&mut simulation, most);
        assert_eq!((seen.len(), end), (most, EndReason::Stopped));
        assert!(complete.starts_with(&seen), "{most}");
    }
    // A stopped run does not affect the next run.
    assert_eq!(lines_of(&mut simulation, usize::MAX).0, complete);
}

#[test]
fn a_limit_of_events_ends_a_run_after_exactly_that_number() {
    let mut simulation = simulation();
    let complete = lines_of(&mut simulation, usize::MAX).0;
    for most in [0, 1, 300, 1000] {
        simulation.max_events(most);
        let mut seen = Vec::new();
        let outcome = simulation.observe(1, 0, |record| {
            seen.push(record.to_json());
            ControlFlow::Continue(())
        });
        assert_eq!((outcome.events(), outcome.end_reason()), (most, EndReason::Stopped));
        // The records of a stopped run do not show that it was stopped.
        assert_eq!(outcome.records() as usize, seen.len());
        assert!(complete.starts_with(&seen), "{most}");
    }
}

#[test]
fn another_thread_stops_a_run_and_a_raised_flag_keeps_it_from_beginning() {
    let scenario = example::scenario("Recreate").unwrap();
    let complete = Simulation::new(&scenario).unwrap().run(1, 0).events();
    assert!(example::events_before_external_stop(&scenario).unwrap() <= complete);
    let mut simulation = simulation();
    let flag = simulation.stop_flag();
    flag.raise();
    let outcome = simulation.run(1, 0);
    assert_eq!((outcome.events(), outcome.end_reason()), (0, EndReason::Stopped));
    flag.lower();
    assert_eq!(simulation.run(1, 0).events(), complete);

    let replications = Replications::new(&scenario, 1, 4);
    replications.stop_flag().raise();
    assert_eq!(replications.run(|o| o.digest()).unwrap(), Vec::<String>::new());
}

/// The run itself raises the flag, so the position is known: the next check, at most 256 events later.
#[test]
fn a_flag_that_is_raised_is_seen_within_256_events() {
    let mut simulation = simulation();
    let flag = simulation.stop_flag();
    let complete = lines_of(&mut simulation, usize::MAX).0;
    let mut seen = Vec::new();
    let outcome = simulation.observe(1, 0, |record| {
        seen.push(record.to_json());
        flag.raise();
        ControlFlow::Continue(())
    });
    assert_eq!((outcome.events(), outcome.end_reason()), (256, EndReason::Stopped));
    assert!(seen.len() > 1 && complete.starts_with(&seen));
}

#[test]
fn replications_on_threads_equal_those_one_after_the_other() {
    let scenario = example::scenario("BlockingRecreate").unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let mut serial = Vec::new();
    for i in 0..6 {
        let outcome = simulation.run(7, i);
        serial.push((i, outcome.digest(), outcome.end()));
    }
    for threads in [1, 3] {
        let parallel = Replications::new(&scenario, 7, 6).threads(threads);
        let parallel = parallel.run(|o| (o.replication(), o.digest(), o.end()));
        assert_eq!(parallel.unwrap(), serial, "{threads} threads");
    }
    let digests: std::collections::BTreeSet<&String> = serial.iter().map(|(_, d, _)| d).collect();
    assert_eq!(digests.len(), 6, "all replications have different digests");
    let estimate: MeanEstimate = example::latency(&scenario, 6).unwrap();
    assert_eq!(estimate.n, 6);
}

#[test]
fn facade_and_program_give_equal_results() {
    let scenario = Scenario::from_file("scenarios/first-steps.yaml").unwrap();
    let outcome = Simulation::new(&scenario).unwrap().run(1, 0);
    let mut engine = sim_engine::SimulationInput::new(scenario.spec()).unwrap();
    let mut kept = KeepSink::default();
    let raw = engine.run(1, 0, &mut kept);
    assert_eq!(outcome.digest(), format!("{:016x}", raw.digest));
    assert_eq!(outcome.records() as usize, kept.0.len());
}

#[test]
fn errors_have_the_file_and_line_of_what_was_given_in_code() {
    let bad = JobSet::from_yaml("train.yaml", example::INVALID_MANIFEST);
    let result = diagnostics(Scenario::builder("x").jobset(bad).build());
    assert_eq!(result[1], "train.yaml:7: unknown field \"replicaz\" in spec.replicatedJobs[0]");

    let train = || JobSet::new("train").replicated_job("workers", 1, 2);
    let fault = Fault::delete_pod("train-workers-0-7");
    let result = diagnostics(Scenario::builder("x").jobset(train()).fault(fault).build());
    assert!(result.len() == 1 && result[0].starts_with("<builder>:"), "{result:?}");
    assert!(result[0].contains("train-workers-0-7"), "{result:?}");

    let set = train().set("spec.replicatedJobs[3].replicas", 2);
    assert_eq!(diagnostics(Scenario::builder("x").jobset(set).build()).len(), 1);
    let result = diagnostics(Scenario::builder("x").jobset(train()).preset("gke").build());
    assert!(result[0].contains("gke"), "{result:?}");
    let file = JobSet::from_file("no/such/file.yaml");
    let result = diagnostics(Scenario::builder("x").jobset(file).build());
    assert!(result[0].contains("no/such/file.yaml"), "{result:?}");
    let result = diagnostics(Scenario::builder("x").build());
    assert!(result[0].contains("jobSets is empty"), "{result:?}");
    let text = JobSet::from_yaml("a", "b: 1").replicated_job("w", 1, 1);
    let result = diagnostics(Scenario::builder("x").jobset(text).build());
    assert!(result[0].contains("replicated_job"), "{result:?}");
    let result = diagnostics(Scenario::from_file("no/such/scenario.yaml"));
    assert!(result[0].starts_with("no/such/scenario.yaml:0: cannot be read"), "{result:?}");
}

#[test]
fn what_can_never_be_placed_is_named_by_its_kind() {
    let small = Topology::new("small").pool(Pool::new("node", 2).allocatable("cpu", "1"));
    let train = JobSet::new("train").replicated_job("workers", 1, 2).limit("cpu", "2");
    let scenario = Scenario::builder("x").topology(small).jobset(train).build().unwrap();
    let error = Simulation::new(&scenario).unwrap_err();
    let [PrepareError::NeverFits { pod, explanation, .. }] = error.impossible() else {
        panic!("{error}");
    };
    assert_eq!(pod, "train-workers-0-0");
    assert!(explanation.message.contains("cpu"), "{explanation:?}");
    let replications = Replications::new(&scenario, 1, 3).run(|_| ());
    assert_eq!(replications.unwrap_err(), error);
}

/// Every fault, pool and JobSet that the builder can express is accepted by the file parser.
#[test]
fn everything_that_can_be_written_in_code_can_be_run() {
    let node = || NodeRef::of_pod("train-workers-0-0");
    let late = |fault: Fault, s: u64| fault.at(std::time::Duration::from_secs(s));
    let faults = [
        Fault::evict_pod("train-workers-0-1"),
        late(Fault::delete_pod("train-workers-0-1"), 60),
        late(Fault::cordon_node(node().alias("n")), 100),
        late(Fault::uncordon_node(NodeRef::known("n")), 110),
        late(Fault::drain_node(NodeRef::named("b-00000")), 120),
        late(Fault::partition_node(node()), 130),
        late(Fault::return_node(node()), 140),
        late(Fault::taint_node(node(), "k", "v", "NoExecute"), 150),
        late(Fault::crash_node(NodeRef::named("b-00001")), 160),
        late(Fault::delete_node(NodeRef::named("b-00001")), 170),
        late(Fault::suspend_jobset("train"), 200),
        late(Fault::resume_jobset("train"), 210),
        late(Fault::delete_jobset("train"), 300),
    ];
    let count = faults.len();
    let pool = Pool::new("b", 2)
        .count(2)
        .islands(2)
        .allocatable("example.com/accelerator", "4")
        .accelerator("example.com/accelerator")
        .price_per_node_hour(1.5)
        .label("zone", "z-{pool}")
        .feature("RestartAllContainersOnContainerExits")
        .field("islandKind", "Ici");
    let mut builder = Scenario::builder("all")
        .topology(Topology::new("t").pool(pool).currency("EUR"))
        .jobset(JobSet::new("train").replicated_job("workers", 1, 2).max_restarts(9))
        .jobset(
            JobSet::from_file("scenarios/manifests/workers.yaml")
                .set("metadata.name", "other")
                .submit_at(Duration::from_secs(5)),
        )
        .container(serde_json::json!({"jobSet": "other", "runFor": "20s"}))
        .set("containers[0].exitCode", 3)
        .stop_at(Duration::from_secs(900))
        .stop_when(StopWhen::Time)
        .seed(11);
    for fault in faults {
        builder = builder.fault(fault);
    }
    let scenario = builder.build().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((scenario.nodes(), scenario.seed()), (8, 11));
    assert_eq!(scenario.spec().faults.len(), count);
    assert_eq!(scenario.spec().jobsets[1].submit_at, Duration::from_secs(5));
    assert_eq!(scenario.spec().containers[0].exit_code, 3);
}

/// The builder generates the same cluster as `run -f`.
#[test]
fn a_generated_cluster_is_the_same_from_code_and_from_a_file() {
    let path = "scenarios/manifests/exclusive-workers.yaml";
    let file = Scenario::from_manifest(path).unwrap();
    let code = Scenario::builder("train").jobset(JobSet::from_file(path)).build().unwrap();
    let nodes = |s: &Scenario| format!("{:?}", s.spec().topology);
    assert_eq!(nodes(&code), nodes(&file));
    let digest = |s: &Scenario| Simulation::new(s).unwrap().run(1, 0).digest();
    assert_eq!(digest(&code), digest(&file));
}

#[test]
fn public_types_are_send_and_sync() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Simulation>();
    send::<jobset_sim::SimulationOutcome>();
    send::<SimulationError>();
    send::<Scenario>();
    sync::<Scenario>();
    sync::<jobset_sim::StopFlag>();
}
