//! Injects each fault at every moment of a start and of a restart; the JobSet must survive it.
//!
//! The cluster has spare capacity and all damage is repaired, so every run must come to rest by itself.

use crate::checker::Checker;
use crate::support;
use rayon::prelude::*;
use sim_api::spec::{FaultTime, ScenarioSpec};
use sim_engine::SimulationInput;
use sim_engine::record::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Instants of a fault, 139 ms apart; a quick run tries every fifth.
const MOMENTS: u64 = 50;

/// (name, fault, repair). In each Job, the first pod is a leader and the second a follower.
const FAULTS: [(&str, &str, &str); 15] = [
    ("exit", "containerExit: {pod: a-w-0-1, exitCode: 1}", ""),
    ("exit of a leader", "containerExit: {pod: a-w-0-0, exitCode: 1}", ""),
    ("delete", "deletePod: {pod: a-w-0-1}", ""),
    ("delete of a leader", "deletePod: {pod: a-w-0-0}", ""),
    ("force", "deletePod: {pod: a-w-0-1, force: true}", ""),
    ("evict", "evictPod: {pod: a-w-0-0}", ""),
    ("crash", "crashNode: {node: node-00, alias: lost}", "returnNode: {alias: lost}"),
    ("partition", "partitionNode: {node: node-00, alias: lost}", "returnNode: {alias: lost}"),
    ("partition of a follower", "partitionNode: {node: node-01, alias: lost}", "returnNode: {alias: lost}"),
    ("node deleted", "deleteNode: {node: node-00}", ""),
    ("node of a follower deleted", "deleteNode: {node: node-01}", ""),
    ("drain", "drainNode: {node: node-00, alias: lost}", "uncordonNode: {alias: lost}"),
    ("taint", "taintNode: {node: node-01, key: example.com/broken, effect: NoExecute}", ""),
    ("suspend", "suspendJobSet: {name: a}", "resumeJobSet: {name: a}"),
    ("JobSet deleted", "deleteJobSet: {name: a}", ""),
];

/// Delays between fault and repair in milliseconds.
const REPAIRS_MS: [u64; 5] = [1, 150, 900, 4_000, 70_000];

const EXCLUSIVE: &str = "  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}\n";
const AGENT: &str = "env: [{name: JOBSET_NAME, value: js}, {name: POD_NAME, value: pod}";

/// Returns a manifest: exclusive Recreate, BlockingRecreate with retries inside the Job, or in-place restarts with
/// either kind of agent.
fn jobset(which: &str) -> String {
    let (annotations, strategy, job, pod) = match which {
        "Recreate" => (
            EXCLUSIVE,
            "Recreate",
            "backoffLimit: 0".to_owned(),
            "terminationGracePeriodSeconds: 0\n              containers: [{name: w, image: \"x:1\"}]".to_owned(),
        ),
        "retries" => (
            EXCLUSIVE,
            "BlockingRecreate",
            "backoffLimit: 3".to_owned(),
            "terminationGracePeriodSeconds: 1\n              containers: [{name: w, image: \"x:1\"}]".to_owned(),
        ),
        agent => (
            if agent == "sidecar" { EXCLUSIVE } else { "" },
            "InPlaceRestart",
            "backoffLimit: 2147483647\n          podReplacementPolicy: Failed".to_owned(),
            format!("terminationGracePeriodSeconds: 0\n{}", in_place_containers(agent)),
        ),
    };
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: a\n{annotations}spec:\n  \
         failurePolicy: {{maxRestarts: 10, restartStrategy: {strategy}}}\n  replicatedJobs:\n    - name: w\n      \
         replicas: 2\n      template:\n        spec:\n          parallelism: 3\n          completions: 3\n          \
         {job}\n          template:\n            spec:\n              restartPolicy: Never\n              {pod}\n"
    )
}

fn in_place_containers(agent: &str) -> String {
    let rule = |action: &str| {
        format!("restartPolicyRules: [{{action: {action}, exitCodes: {{operator: NotIn, values: [0]}}}}]")
    };
    let all = rule("RestartAllContainers");
    match agent {
        "sidecar" => format!(
            "              initContainers: [{{name: agent, image: \"x:1\", restartPolicy: Always, {all}, \
             startupProbe: {{httpGet: {{path: /barrier-is-down, port: 8081}}, periodSeconds: 1}}, {AGENT}]}}]\n              containers: [{{name: w, image: \"x:1\", \
             restartPolicy: Never, {all}}}]"
        ),
        _ => format!(
            "              containers: [{{name: w, image: \"x:1\", restartPolicy: Never, {}, {AGENT}, \
             {{name: WORKER_COMMAND, value: train}}]}}]",
            rule("Restart")
        ),
    }
}

fn scenario(which: &str, fault: &str, repair: &str, restarting: bool) -> ScenarioSpec {
    let clock = if restarting { "afterReady" } else { "at" };
    let mut faults = format!("  - {{{clock}: 0s, {fault}}}\n");
    if !repair.is_empty() {
        faults += &format!("  - {{{clock}: 0s, {repair}}}\n");
    }
    if restarting {
        faults += "  - {afterReady: 0s, containerExit: {pod: a-w-1-1, exitCode: 1}}\n";
    }
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: moments}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: moments}}\n  pools:\n    \
         - name: node-{{node:02}}\n      count: 5\n      nodesPerIsland: 5\n      \
         labels: {{example.com/rack: \"rack-{{pool}}\"}}\n      allocatable: {{cpu: 8}}\n      \
         features: [RestartAllContainersOnContainerExits]\ncontrolPlane: {{preset: kops}}\n\
         timing: {{cleanup: 300ms, apiWrite: {{uniform: [0.001, 0.2]}}}}\n\
         jobSets: [{{manifest: jobset.yaml}}]\nfaults:\n{faults}stop: {{at: 6h}}\nseed: 1\n"
    );
    support::parse(&text, &jobset(which)).unwrap_or_else(|e| panic!("{e}"))
}

/// Sets the time of the fault to `ms` and that of its repair to `repair_ms` later. The disturbed restart begins at
/// 0.
fn place_fault(scenario: &mut ScenarioSpec, ms: u64, repair_ms: u64, repaired: bool) {
    let times = [ms, ms + repair_ms];
    let placed = if repaired { 2 } else { 1 };
    for (fault, ms) in scenario.faults.iter_mut().take(placed).zip(times) {
        let at = sim_base::Duration::from_millis(ms);
        fault.at = match fault.at {
            FaultTime::At(_) => FaultTime::At(at),
            FaultTime::AfterReady(_) => FaultTime::AfterReady(at),
            other => other,
        };
    }
}

fn run(scenario: &ScenarioSpec, seed: u64) -> Result<(), String> {
    let mut simulation = SimulationInput::new(scenario).map_err(|e| e.to_string())?;
    simulation.set_paranoid(true);
    let mut checker = Checker::new(scenario);
    let outcome = catch_unwind(AssertUnwindSafe(|| simulation.run(seed, 0, &mut checker))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
    })?;
    let js = &outcome.jobsets[0];
    let rests = js.deleted || !js.terminal_state.is_empty() || checker.is_all_ready(0);
    if !rests || outcome.end_reason == EndReason::TimeLimit || !outcome.blocked.is_empty() {
        return Err(format!("{:?} {:?}", outcome.end_reason, outcome.blocked));
    }
    Ok(())
}

fn every_moment(which: &str) {
    let cases: Vec<(usize, bool)> = (0..FAULTS.len()).flat_map(|f| [(f, false), (f, true)]).collect();
    let problems: Vec<String> = cases
        .par_iter()
        .flat_map_iter(|&(f, restarting)| {
            let (what, fault, repair) = FAULTS[f];
            let base = scenario(which, fault, repair, restarting);
            let step = (MOMENTS / support::cases(MOMENTS / 20, MOMENTS / 4)) as usize;
            // Steps of five would always have the same delay of the repair.
            (0..MOMENTS).step_by(step).filter_map(move |k| {
                let mut scenario = base.clone();
                // Covers about 7 s in uneven steps, so that no phase of a periodic clock is always hit or always
                // missed.
                let ms = k * 139;
                let repair_ms = REPAIRS_MS[((k / step as u64) % 5) as usize];
                place_fault(&mut scenario, ms, repair_ms, !repair.is_empty());
                let problem = run(&scenario, k).err()?;
                let phase = if restarting { "restart" } else { "start" };
                Some(format!(
                    "{which}, {what} {ms} ms into the {phase}, repaired {repair_ms} ms later, seed {k}: {problem}"
                ))
            })
        })
        .collect();
    for problem in problems.iter().take(20) {
        println!("{problem}");
    }
    assert!(problems.is_empty(), "{} moments", problems.len());
}

#[test]
fn recreate_survives_every_fault_at_every_moment() {
    every_moment("Recreate");
}

#[test]
fn a_job_that_retries_survives_every_fault_at_every_moment() {
    every_moment("retries");
}

#[test]
fn in_place_with_a_sidecar_survives_every_fault_at_every_moment() {
    every_moment("sidecar");
}

#[test]
fn in_place_with_a_main_container_agent_survives_every_fault_at_every_moment() {
    every_moment("main");
}
