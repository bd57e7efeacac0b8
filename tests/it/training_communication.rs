//! Step times of training jobs that communicate: the placement, degraded links and other jobs decide them. Two blocks
//! of four nodes with 8 accelerators; a node has 1 GB/s, the uplinks of a block 0.5 GB/s.

use crate::support;
use crate::training::{Log, play};
use sim_analysis::experiment::simulate_replication;
use sim_analysis::metrics::step_time::{MeanStep, OVERLAPPED};
use sim_analysis::metrics::{MetricFolds, RestartBlocker};
use sim_api::spec::ScenarioSpec;
use sim_base::Duration;
use sim_engine::SimulationInput;
use sim_engine::record::{Body, RunOutcome, StepOutcome, TrainingPhase};
use sim_reliability::faults::draw_faults;
use sim_report::console::main_events::event_lines;

const TOPOLOGY: &str = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: communication}\n\
                        controlPlane: {kubeScheduler: {ties: InOrder}}\ntopology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  dcnLevels: [{name: block, label: block, gbitsPerSecond: 8, oversubscription: 8}]
  pools:
  - name: n-{node}
    count: 2
    islands: 4
    nodesPerIsland: 1
    interconnect: {kind: Switch, gbitsPerSecond: 8}
    accelerator: a.com/chip
    allocatable: {cpu: 8, a.com/chip: 8}
    labels: {block: \"b-{pool}\"}
stop: {at: 2h, when: AllJobSetsFinished}\n";

/// Returns a JobSet whose pods take `chips` accelerators each.
fn jobset(name: &str, pods: u32, chips: u32) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 10}}\n  replicatedJobs:\n  - name: w\n    replicas: 1\n    \
         template: {{spec: {{parallelism: {pods}, completions: {pods}, backoffLimit: 0, template: {{spec: \
         {{restartPolicy: Never, containers: [{{name: w, image: x, resources: {{limits: {{a.com/chip: \
         {chips}}}}}}}]}}}}}}}}\n"
    )
}

/// Returns the scenario of one job with four pods, which fit into a block.
fn scenario(rest: &str) -> ScenarioSpec {
    let text = format!("{TOPOLOGY}jobSets: [{{manifest: job.yaml}}]\n{rest}");
    let files = [("job.yaml", &*jobset("train", 4, 8)), ("nic.csv", "node,time,duration\nn-0,100s,200s\n")];
    support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}"))
}

/// An AllReduce of 2 GB over the islands of the job.
const RING: &str = "checkpoint: Continuous, parallelism: [{axis: data, over: Islands}], communication: [{axis: data, \
     collective: AllReduce, bytes: 2G}]";

fn training(work: &str, more: &str) -> String {
    format!("training: {{work: {work}, step: 10s, {RING}{more}}}\n")
}

/// Returns the seconds of each step time of a job, and what limits it.
fn step_times(outcome: &RunOutcome, nth: usize) -> Vec<(f64, &str)> {
    let of = |step: &'_ StepOutcome| step.step.seconds();
    let limit = |step: &'_ StepOutcome| step.limit.clone().map_or("", |limit| limit.leak());
    outcome.training[nth].steps.iter().map(|step| (of(step), limit(step))).collect()
}

#[test]
fn work_takes_as_many_steps_as_before_and_each_is_longer_by_the_exposed_communication() {
    let (outcome, log) = play(&scenario(&training("1000s", "")), 1);
    assert_eq!(step_times(&outcome, 0), [(13.0, "network of the nodes")]);
    let job = &outcome.training[0];
    assert_eq!(job.ns(TrainingPhase::Productive), 1_000_000_000_000);
    assert_eq!(job.ns(TrainingPhase::Communication), 300_000_000_000);
    let started = log.first(|body| matches!(body, Body::TrainingStarted { .. }));
    let done = log.first(|body| matches!(body, Body::TrainingDone { .. }));
    assert_eq!(done.since(started), Duration::from_secs(1_300));
}

#[test]
fn a_job_that_restarts_in_two_blocks_has_longer_steps() {
    let fault = "faults: [{at: 100s, cordonNode: {node: n-5}}, {at: 100s, cordonNode: {node: n-6}}, {at: 100s, \
         cordonNode: {node: n-7}}, {at: 200s, deleteNode: {node: n-0}}]\n";
    let (outcome, _) = play(&scenario(&format!("{}{fault}", training("1000s", ""))), 1);
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
    assert_eq!(step_times(&outcome, 0), [(13.0, "network of the nodes"), (16.0, "uplinks of level block")]);
    assert_eq!(outcome.training[0].steps.iter().map(|step| step.groups[0]).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_degraded_port_slows_all_steps_until_its_repair() {
    let fault = "faultProcesses: [{cause: nic, does: Degrade, bandwidth: 0.5, trace: nic.csv}]\n";
    let (outcome, _) = play(&scenario(&format!("{}{fault}", training("1000s", ""))), 1);
    let port = "network of the nodes";
    assert_eq!(step_times(&outcome, 0), [(13.0, port), (16.0, port), (13.0, port)]);
    let at: Vec<f64> = outcome.training[0].steps[1..].iter().map(|step| step.at.seconds()).collect();
    assert_eq!(at, [100.0, 300.0]);
}

#[test]
fn degraded_links_of_one_island_slow_the_steps_of_the_job() {
    let within = "parallelism: [{axis: tensor, over: Island}], communication: [{axis: tensor, collective: AllReduce, \
                  bytes: 2G}]";
    let job = format!("training: {{work: 1000s, step: 10s, checkpoint: Continuous, {within}}}\n");
    let fault = "faultProcesses: [{cause: switch, does: Degrade, bandwidth: 0.5, links: Island, trace: nic.csv}]\n";
    let (outcome, _) = play(&scenario(&format!("{job}{fault}")), 1);
    // 2 × 7/8 of 2 GB at 1 GB/s.
    let links = "links of the islands";
    assert_eq!(step_times(&outcome, 0), [(13.5, links), (17.0, links), (13.5, links)]);
}

#[test]
fn a_slow_machine_lengthens_the_computation_and_leaves_the_exposed_communication() {
    let slow = "faultProcesses: [{cause: nic, does: Slow, factor: 1.5, trace: nic.csv}]\n";
    let (outcome, _) = play(&scenario(&format!("{}{slow}", training("1000s", ""))), 1);
    let seconds: Vec<f64> = step_times(&outcome, 0).iter().map(|(seconds, _)| *seconds).collect();
    assert_eq!(seconds, [13.0, 18.0, 13.0]);
    let ratio = |phase| outcome.training[0].ns(phase) as f64 / 1e9;
    // 200 s of 18 s each: 5 s are slower computation, and 3 s are communication.
    assert!((ratio(TrainingPhase::Slow) - 200.0 * 5.0 / 18.0).abs() < 1e-3, "{}", ratio(TrainingPhase::Slow));
    assert!((ratio(TrainingPhase::Communication) - 300.0).abs() < 1e-3, "{}", ratio(TrainingPhase::Communication));
}

#[test]
fn jobs_divide_the_uplinks_that_they_share() {
    let ring = RING.replace("bytes: 2G", "bytes: 2G, order: Hierarchical");
    let text = format!(
        "{TOPOLOGY}jobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml}}]\ntraining: [{{jobSet: a, work: 500s, step: \
         10s, {ring}}}, {{jobSet: b, work: 1000s, step: 10s, {ring}}}]\n"
    );
    let files = [("a.yaml", &*jobset("a", 8, 4)), ("b.yaml", &*jobset("b", 8, 4))];
    let scenario = support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}"));
    let (outcome, log): (RunOutcome, Log) = play(&scenario, 1);
    let uplinks = "uplinks of level block";
    let all = [step_times(&outcome, 0), step_times(&outcome, 1)];
    assert_eq!(all[0].last(), Some(&(18.0, uplinks)), "two jobs share");
    assert_eq!(all[1].last(), Some(&(14.0, uplinks)), "the other job is alone");
    let done = log.first(|body| matches!(body, Body::TrainingDone { .. }));
    assert_eq!(outcome.training[1].steps.last().map(|step| step.at), Some(done));
    // At the end of the run, no job gets the links of another.
    let cut = text.replace("at: 2h, when: AllJobSetsFinished", "at: 300s");
    let scenario = support::parse_with(&cut, &files).unwrap_or_else(|e| panic!("{e}"));
    let (outcome, _) = play(&scenario, 1);
    let last = |job| step_times(&outcome, job).last().copied();
    assert_eq!([last(0), last(1)], [Some((18.0, uplinks)); 2]);
}

/// The other job sends 1 kB in each step. A row has the oversubscription and the step time. Each node has two pods, one
/// of each job.
#[test]
fn a_neighbor_that_sends_a_few_bytes_changes_nothing() {
    let ring = RING.replace("bytes: 2G", "bytes: 2G, order: Hierarchical");
    let few = ring.replace("2G", "1k");
    for (oversubscription, seconds, limit) in [(1, 13.5, "network of the nodes"), (8, 14.0, "uplinks of level block")] {
        let topology = TOPOLOGY.replace("oversubscription: 8", &format!("oversubscription: {oversubscription}"));
        let text = format!(
            "{topology}jobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml}}]\ntraining: [{{jobSet: a, work: 1000s, \
             step: 10s, {ring}}}, {{jobSet: b, work: 500s, step: 10s, {few}}}]\n"
        );
        let files = [("a.yaml", &*jobset("a", 8, 4)), ("b.yaml", &*jobset("b", 8, 4))];
        let scenario = support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}"));
        let (outcome, _) = play(&scenario, 1);
        // The bytes take 2 µs.
        let times = step_times(&outcome, 0);
        assert!(matches!(&times[..], [(step, by)] if (step - seconds).abs() < 3e-6 && *by == limit), "{times:?}");
    }
}

/// Two equal jobs have half of a link each; ports of nodes are links as well.
#[test]
fn two_equal_jobs_on_the_same_ports_have_half_each() {
    let topology = TOPOLOGY.replace("oversubscription: 8", "oversubscription: 1");
    let text = format!(
        "{topology}jobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml}}]\ntraining: [{{jobSet: a, work: 500s, step: \
         10s, {RING}}}, {{jobSet: b, work: 500s, step: 10s, {RING}}}]\n"
    );
    let files = [("a.yaml", &*jobset("a", 8, 4)), ("b.yaml", &*jobset("b", 8, 4))];
    let scenario = support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}"));
    let (outcome, _) = play(&scenario, 1);
    // 2 × 7/8 of 2 GB at 1 GB/s, and at half of it.
    assert!(step_times(&outcome, 0).iter().any(|(seconds, _)| *seconds == 17.0), "{:?}", step_times(&outcome, 0));
}

/// A model with 70 billion parameters: two replicas, each sharded by four and with tensor parallelism of two.
#[test]
fn the_size_of_a_model_determines_the_communication_of_its_axes() {
    let training = "training: {step: 10s, checkpoint: Continuous, parallelism: [{axis: data, role: Data, over: Islands, \
         size: 2}, {axis: fsdp, role: Sharded, over: Island, size: 4, overlap: 1}, {axis: tensor, role: Tensor, over: \
         Island, size: 2}], model: {parameters: 70G, layers: 80, width: 8192, tokens: 16M, microbatches: 4}}\n";
    let scenario = scenario(training);
    let communication = scenario.training[0].communication.as_ref().expect("it communicates");
    let all = communication.traffic.iter();
    let all: Vec<_> = all.map(|one| (one.axis, one.collective.as_str(), one.bytes, one.calls, one.overlap)).collect();
    let activations = 16e6 / 8.0 * 8192.0 * 2.0;
    let expected = [
        (0, "AllReduce", 140e9, 1, 0.0),
        (1, "AllGather", 140e9, 160, 1.0),
        (1, "ReduceScatter", 70e9, 80, 1.0),
        (2, "AllReduce", 4.0 * 80.0 * activations, 1_280, 0.0),
    ];
    assert_eq!(all, expected);
}

#[test]
fn the_mean_step_weighs_each_step_of_the_run_equally() {
    let fault = "faultProcesses: [{cause: nic, does: Degrade, bandwidth: 0.5, trace: nic.csv}]\n";
    let scenario = scenario(&format!("{}{fault}", training("1000s", "")));
    let (outcome, _) = play(&scenario, 1);
    let mean = MeanStep::from_outcome(&outcome.training[0], &scenario.training[0]).expect("it has steps");
    // 100 steps in all, of which 200 s ÷ 16 s are slower.
    let slow = 200.0 / 16.0;
    let expected = (slow * 16.0 + (100.0 - slow) * 13.0) / 100.0;
    assert!((mean.step_s - expected).abs() < 0.05, "{} instead of {expected}", mean.step_s);
    assert!((mean.exposed_share - (mean.step_s - 10.0) / mean.step_s).abs() < 1e-6);
    assert_eq!(mean.limit.as_deref(), Some("network of the nodes"));
    let parts: Vec<&str> = mean.exposed.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(parts, ["data AllReduce"]);
    assert!((mean.exposed[0].mean_s - mean.exposed_s).abs() < 1e-6);
}

#[test]
fn overlapped_communication_beyond_the_computation_is_a_part_of_its_own() {
    let overlap = RING.replace("bytes: 2G", "bytes: 20G, overlap: 0.9");
    let scenario = scenario(&format!("training: {{work: 1000s, step: 10s, {overlap}}}\n"));
    let (outcome, _) = play(&scenario, 1);
    let mean = MeanStep::from_outcome(&outcome.training[0], &scenario.training[0]).expect("it has steps");
    // 30 s of communication: 27 s beside 10 s of computation, and 3 s after it.
    let parts: Vec<(&str, f64)> = mean.exposed.iter().map(|part| (part.name.as_str(), part.mean_s.round())).collect();
    assert_eq!(parts, [("data AllReduce", 3.0), (OVERLAPPED, 17.0)]);
    assert_eq!(mean.step_s.round(), 30.0);
}

#[test]
fn what_happened_lists_a_changed_step_time_but_not_the_first() {
    let fault = "faultProcesses: [{cause: nic, does: Degrade, bandwidth: 0.5, trace: nic.csv}]\n";
    let scenario = scenario(&format!("{}{fault}", training("1000s", "")));
    let mut simulation = SimulationInput::new(&draw_faults(&scenario, 1, 0)).expect("a simulation");
    let folds = MetricFolds::new(&scenario, false);
    let (run, _) = simulate_replication(&mut simulation, (1, 0), folds, RestartBlocker::default());
    let lines = event_lines(&run.view(1, &[]));
    let steps = lines.iter().filter(|(_, line)| line.contains("steps take"));
    let steps: Vec<&str> = steps.map(|(_, line)| line.as_str()).collect();
    let limit = "limited by the network of the nodes";
    let expected = [
        format!("JobSet train: steps take 16.0 s instead of 13.0 s, with 6.00 s of exposed communication, {limit}"),
        format!("JobSet train: steps take 13.0 s instead of 16.0 s, with 3.00 s of exposed communication, {limit}"),
    ];
    assert_eq!(steps, expected);
}
